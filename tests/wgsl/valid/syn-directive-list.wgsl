enable f16, subgroups;
requires pointer_composite_access, packed_4x8_integer_dot_product;
fn f() {}
