// expect: wgsl/attribute 2
@id(-1) override a: f32;
