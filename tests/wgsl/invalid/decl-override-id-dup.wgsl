// expect: wgsl/attribute 3
@id(1) override a: f32;
@id(1) override b: f32;
