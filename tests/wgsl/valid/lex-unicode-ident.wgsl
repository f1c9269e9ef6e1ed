fn f() { let größe = 1; let 変数 = größe; }
