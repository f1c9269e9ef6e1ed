// plain comment
fn f() {}
