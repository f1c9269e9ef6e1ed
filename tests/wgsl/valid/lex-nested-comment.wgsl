/* a /* b */ c */ fn f() {}
