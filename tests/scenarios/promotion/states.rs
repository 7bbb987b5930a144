use hueshift::prelude::*;

/// A promoted state that is another one in every other round.
pub fn alternate(n: i64, m: i64) -> i64 {
    let mut n = n;
    let mut state = m & 1;
    let mut sum = 0;
    while n > 0 {
        merge_point!();
        let s = promote(state);
        if s == 0 {
            sum = sum + 1;
        } else {
            sum = sum * 3;
        }
        state = 1 - s;
        n = n - 1;
    }
    sum
}

/// Three of them, one after the other.
pub fn in_turn(n: i64) -> i64 {
    let mut n = n;
    let mut state = 0;
    let mut sum = 0;
    while n > 0 {
        merge_point!();
        let s = promote(state);
        if s == 0 {
            sum = sum + 1;
        } else if s == 1 {
            sum = sum * 3;
        } else {
            sum = sum ^ n;
        }
        state = if s == 2 { 0 } else { s + 1 };
        n = n - 1;
    }
    sum
}
