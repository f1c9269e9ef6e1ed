// expect: wgsl/attribute 2
@diagnostic(off, derivative_uniformity) @diagnostic(error, derivative_uniformity) fn f() {}
