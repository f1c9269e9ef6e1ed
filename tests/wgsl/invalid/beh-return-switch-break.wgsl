// expect: wgsl/missing-return 11
fn f(a: i32) -> i32 {
  switch a {
    case 1 {
      break;
    }
    default {
      return 2;
    }
  }
}
