// expect: wgsl/attribute 2
@id(65536) override a: f32;
