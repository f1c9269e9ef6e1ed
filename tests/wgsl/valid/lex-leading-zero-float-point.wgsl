const a = 01.5;
