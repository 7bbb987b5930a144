//! A field that is called `len` and stands behind a reference is no slice's length: it may be as large as it likes.
use hueshift::prelude::*;

pub struct Item {
    pub v: u8,
}

#[derive(Clone, Copy)]
pub struct View<'a> {
    pub data: &'a Item,
    pub len: usize,
}

#[derive(Clone, Copy)]
pub struct Len {
    pub len: usize,
}

pub fn is_negative(s: View) -> i64 {
    let mut r = s.data.v as i64;
    if (s.len as i64) < 0 {
        r += 1;
    }
    r
}

/// The reference is another parameter.
pub fn behind_another(data: &Item, s: Len, i: usize) -> i64 {
    if i < s.len {
        if (i as i64) < 0 {
            return 1;
        }
        return 2;
    }
    data.v as i64
}

pub fn checked(s: View, xs: &mut [u8], i: usize) -> i64 {
    if i < s.len && (i as i64) < xs.len() as i64 {
        xs[i] = 7;
        return 1;
    }
    s.data.v as i64
}

#[portal(greens(code, pc), reds(s, n, x))]
pub fn run(code: &[u8], mut pc: usize, s: View, mut n: i64, mut x: i64) -> i64 {
    loop {
        merge_point!();
        if code[pc] == 0 {
            return x;
        }
        if (s.len as i64) < 0 {
            x += s.data.v as i64;
        }
        n -= 1;
        if n > 0 {
            pc = 0;
            can_enter_jit!();
        } else {
            pc += 1;
        }
    }
}
