use hueshift::prelude::*;

pub struct Acc { pub n: Cell<i64>, pub k: i64 }
pub struct Reg { pub x: i64, pub k: i64 }

/// A cell is summed up in; what the round before has written is known.
#[portal(greens(), reds(c, n))]
pub fn cell_summed(c: &Acc, mut n: i64) -> i64 {
    loop {
        merge_point!();
        if n <= 0 {
            return c.k;
        }
        c.n.set(c.n.get() + n);
        n -= 1;
        can_enter_jit!();
    }
}

#[portal(greens(), reds(c, n))]
pub fn field_summed(c: &mut Reg, mut n: i64) -> i64 {
    loop {
        merge_point!();
        if n <= 0 {
            return c.k;
        }
        c.x += n;
        n -= 1;
        can_enter_jit!();
    }
}
