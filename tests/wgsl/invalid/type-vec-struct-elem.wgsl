// expect: wgsl/template 5
struct S {
  a: i32
}
var<private> a: vec2<S>;
