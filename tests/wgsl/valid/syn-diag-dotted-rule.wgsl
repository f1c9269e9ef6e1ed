diagnostic(off, vendor.rule);
fn f() {}
