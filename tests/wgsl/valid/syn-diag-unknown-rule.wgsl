diagnostic(off, something_unknown);
fn f() {}
