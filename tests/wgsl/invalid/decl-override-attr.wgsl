// expect: wgsl/attribute 2
@group(0) override a: f32;
