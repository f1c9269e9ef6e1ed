// expect: wgsl/bad-token 2
#version 300
