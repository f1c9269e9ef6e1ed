var<workgroup> a: bool;
var<private> b: array<vec2<bool>, 3>;
