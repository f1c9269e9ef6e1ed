const a = 4294967295u;
