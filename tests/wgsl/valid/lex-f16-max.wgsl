enable f16; const a = 65504h;
