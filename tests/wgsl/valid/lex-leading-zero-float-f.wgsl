const a = 01f;
