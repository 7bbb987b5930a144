use hueshift::prelude::*;

pub fn what_was_first(s: &mut [u8], i: usize, n: i64) -> i64 {
    let mut r = 0u8;
    if s.len() > 3 && i < s.len() {
        if n != 0 {
            let first = s[0];
            let mut x = first;
            loop {
                s[i] = x.wrapping_add(1);
                if x >= 10 { r = first; break; }
                x = s[0];
            }
        }
    }
    r as i64 * 3 + 1
}
