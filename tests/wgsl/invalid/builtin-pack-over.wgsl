// expect: wgsl/const-error 2
const a = pack2x16float(vec2f(70000, 0));
