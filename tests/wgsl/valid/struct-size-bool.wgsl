struct S {
  @size(4) a: bool
}
var<private> s: S;
