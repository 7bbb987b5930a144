// args: 3
// args: 0
// args: 7
// greens:
// greens: 0
use hueshift::prelude::*;

pub fn entry(x: i32) -> i32 {
    let a = (match x {
        0 => None,
        _ => Some(x),
    })
    .expect("not nothing");
    let b: Result<i32, u8> = if a > 5 { Err(1) } else { Ok(a) };
    (match b {
        Ok(n) => Ok(n + 1),
        Err(e) => Err(e),
    })
    .unwrap()
}
