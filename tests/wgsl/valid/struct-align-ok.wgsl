struct S {
  @align(16) a: f32, @size(32) b: vec2f, @align(8) @size(16) c: u32
}
