use hueshift::prelude::*;

pub struct Seen {
    asked: i64,
    jitted: i64,
}

fn deeper(x: i64) -> bool {
    x > 0 && we_are_jitted()
}

#[dont_look_inside]
fn ask(seen: &mut Seen, x: i64) -> i64 {
    seen.asked += 1;
    if deeper(x) {
        seen.jitted += 1;
        x * 1000
    } else {
        x
    }
}

#[elidable]
fn ask_again(x: i64) -> i64 {
    if we_are_jitted() { x + 1000 } else { x + 1 }
}

/// What isn't looked into is what rustc makes of it, however it comes to be called.
pub fn asked_outside(seen: &mut Seen, n: i64) -> i64 {
    let mut n = n;
    let mut sum = 0;
    while n > 0 {
        merge_point!();
        if n % 3 == 0 {
            sum += ask(seen, n);
        } else {
            sum += ask_again(n);
        }
        n -= 1;
    }
    sum + ask_again(7)
}
