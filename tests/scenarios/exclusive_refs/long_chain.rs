use hueshift::prelude::*;

// A loop hands its values on by one in each round, fifty of them: what the first of them is shows after as many rounds.

pub struct Cells {
    pub all: [i64; 8],
}

/// What is stored at an index that is 0 for long may be what is loaded in the next round.
pub fn chained(cells: &mut Cells, n: i64, last: i64) -> i64 {
    let mut x1: i64 = 0;
    let mut x2: i64 = 0;
    let mut x3: i64 = 0;
    let mut x4: i64 = 0;
    let mut x5: i64 = 0;
    let mut x6: i64 = 0;
    let mut x7: i64 = 0;
    let mut x8: i64 = 0;
    let mut x9: i64 = 0;
    let mut x10: i64 = 0;
    let mut x11: i64 = 0;
    let mut x12: i64 = 0;
    let mut x13: i64 = 0;
    let mut x14: i64 = 0;
    let mut x15: i64 = 0;
    let mut x16: i64 = 0;
    let mut x17: i64 = 0;
    let mut x18: i64 = 0;
    let mut x19: i64 = 0;
    let mut x20: i64 = 0;
    let mut x21: i64 = 0;
    let mut x22: i64 = 0;
    let mut x23: i64 = 0;
    let mut x24: i64 = 0;
    let mut x25: i64 = 0;
    let mut x26: i64 = 0;
    let mut x27: i64 = 0;
    let mut x28: i64 = 0;
    let mut x29: i64 = 0;
    let mut x30: i64 = 0;
    let mut x31: i64 = 0;
    let mut x32: i64 = 0;
    let mut x33: i64 = 0;
    let mut x34: i64 = 0;
    let mut x35: i64 = 0;
    let mut x36: i64 = 0;
    let mut x37: i64 = 0;
    let mut x38: i64 = 0;
    let mut x39: i64 = 0;
    let mut x40: i64 = 0;
    let mut x41: i64 = 0;
    let mut x42: i64 = 0;
    let mut x43: i64 = 0;
    let mut x44: i64 = 0;
    let mut x45: i64 = 0;
    let mut x46: i64 = 0;
    let mut x47: i64 = 0;
    let mut x48: i64 = 0;
    let mut x49: i64 = 0;
    let mut x50: i64 = 0;
    let mut sum = 0;
    let mut i = 0;
    cells.all[4] = 7;
    while i < n {
        sum += cells.all[4];
        cells.all[(x1 & 7) as usize] = sum;
        x1 = x2;
        x2 = x3;
        x3 = x4;
        x4 = x5;
        x5 = x6;
        x6 = x7;
        x7 = x8;
        x8 = x9;
        x9 = x10;
        x10 = x11;
        x11 = x12;
        x12 = x13;
        x13 = x14;
        x14 = x15;
        x15 = x16;
        x16 = x17;
        x17 = x18;
        x18 = x19;
        x19 = x20;
        x20 = x21;
        x21 = x22;
        x22 = x23;
        x23 = x24;
        x24 = x25;
        x25 = x26;
        x26 = x27;
        x27 = x28;
        x28 = x29;
        x29 = x30;
        x30 = x31;
        x31 = x32;
        x32 = x33;
        x33 = x34;
        x34 = x35;
        x35 = x36;
        x36 = x37;
        x37 = x38;
        x38 = x39;
        x39 = x40;
        x40 = x41;
        x41 = x42;
        x42 = x43;
        x43 = x44;
        x44 = x45;
        x45 = x46;
        x46 = x47;
        x47 = x48;
        x48 = x49;
        x49 = x50;
        x50 = last;
        i += 1;
    }
    sum
}
