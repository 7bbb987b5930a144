// args: 3
// args: -7
// greens:
// greens: 0
use hueshift::prelude::*;

pub fn entry(x: i32) -> (u32, u8, i64) {
    let a = ('a: {
        if x > 0 {
            break 'a x;
        }
        -5i32
    }) as u32;
    let b = (loop {
        break x;
    }) as u8;
    let c = (if x > 1 { 300 } else { x }) as u8 as i64;
    (a, b, c)
}
