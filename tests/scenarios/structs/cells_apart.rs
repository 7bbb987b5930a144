use hueshift::prelude::*;

pub struct Acc { pub n: Cell<i64>, pub hits: Cell<i64>, pub step: i64 }

/// Kept in a cell round the loop; the next round knows what this one wrote.
pub fn summed(c: &Acc, n: i64) -> i64 {
    let mut n = n;
    c.n.set(0);
    while n > 0 {
        c.n.set(c.n.get() + n);
        n -= 1;
    }
    c.n.get()
}

/// The immutable field is read once, whatever is written to cells.
pub fn immutable_between(c: &Acc) -> i64 {
    let a = c.step;
    c.n.set(7);
    c.hits.set(c.step);
    a + c.step
}

/// One cell is written, another read: not the same.
pub fn hits_apart(c: &Acc, d: &Acc) -> i64 {
    let h = c.hits.get();
    d.n.set(4);
    h + c.hits.get()
}

/// Stored twice, the first time for nothing.
pub fn stored_twice(c: &Acc, x: i64) -> i64 {
    c.n.set(x);
    c.n.set(x + 1);
    x
}

#[dont_look_inside]
fn count(c: &Acc) {
    c.hits.set(c.hits.get() + 1);
}

/// After the call the cell is read again, the field isn't.
pub fn around_a_call(c: &Acc) -> i64 {
    let a = c.hits.get() + c.step;
    count(c);
    a + c.hits.get() + c.step
}

#[portal(greens(pc), reds(c, n))]
fn counted(mut pc: i64, c: &Acc, mut n: i64) -> i64 {
    loop {
        merge_point!();
        if pc == 3 {
            if n <= 0 {
                return c.n.get();
            }
            pc = 0;
            can_enter_jit!();
            continue;
        }
        c.n.set(c.n.get() + c.step);
        n -= 1;
        pc += 1;
    }
}

/// Three instructions on one cell: one load and one store for the round.
pub fn three_on_a_cell(c: &Acc, n: i64) -> i64 {
    counted(0, c, n)
}
