// expect: wgsl/attribute 2
@id override a: f32;
