const a = 01e5;
