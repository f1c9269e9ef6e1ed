const a = 1.; const b = .5; const c = 1e5; const d = 1.5e-3f; const e = 0x1.8p3; const f = 0x1p-4; const g = 2f; const h = 1.e4; const i=0x.8p1; const j = 0xAp2f;
