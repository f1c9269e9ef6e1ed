// expect: wgsl/directive 2
diagnostic(loud, derivative_uniformity);
