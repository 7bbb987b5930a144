use hueshift::prelude::*;

// Two arrays of one type side by side: what is stored in one at an index that is not known is not in the other.

pub struct Frame {
    pub stack: [i64; 8],
    pub locals: [i64; 8],
    pub sp: usize,
}

pub fn again(f: &mut Frame, i: usize, j: usize) -> i64 {
    let a = f.locals[i];
    f.stack[j] = a + 1;
    f.locals[i] + a
}

pub fn fixed(f: &mut Frame, j: usize) -> i64 {
    let a = f.locals[2];
    f.stack[j] = a + 1;
    f.locals[2] + a
}

pub fn masked(f: &mut Frame, j: usize) -> i64 {
    let a = f.locals[2];
    f.stack[j & 7] = a + 1;
    f.locals[2] + a
}

/// In the same array it may be the same element.
pub fn same_array(f: &mut Frame, j: usize) -> i64 {
    let a = f.stack[2];
    f.stack[j] = a + 1;
    f.stack[2] + a
}

/// The mask lets through more than the first array has; the check doesn't.
pub fn wide_mask(f: &mut Frame, j: usize) -> i64 {
    let a = f.locals[0];
    f.stack[j & 15] = a + 1;
    f.locals[0] + a
}

/// The last and the first element of neighbours.
pub fn neighbours(f: &mut Frame, j: usize) -> i64 {
    f.stack[7] = 1;
    f.locals[j] = 2;
    f.sp = 3;
    f.stack[7] + f.sp as i64
}

pub fn popped(f: &mut Frame) -> i64 {
    f.locals[1] = 5;
    f.sp -= 1;
    f.stack[f.sp] = 7;
    f.locals[1]
}

/// A sum in one array, while the other is filled.
pub fn in_a_loop(f: &mut Frame, n: usize) -> i64 {
    let mut i = 0;
    while i < n {
        f.locals[2] += i as i64;
        f.stack[i & 7] = i as i64;
        i += 1;
    }
    f.locals[2]
}

/// Within one array half and half: the indices say which.
pub fn halves(f: &mut Frame, i: usize, j: usize) -> i64 {
    let low = i & 3;
    let high = 4 + (j & 3);
    f.stack[low] = 10;
    f.stack[high] = 20;
    f.stack[low]
}
