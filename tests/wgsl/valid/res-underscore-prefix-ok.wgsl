const _a = 1;
