fn f(a: vec4f) -> vec4f {
  let b = a.xy;
  let c = a.bgr;
  let d = a.wwww;
  return a.xyzw.rgba.zyxw;
}
