// expect: wgsl/directive 3
diagnostic(off, derivative_uniformity);
diagnostic(error, derivative_uniformity);
