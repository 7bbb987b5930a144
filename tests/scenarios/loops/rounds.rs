use hueshift::prelude::*;

// Loops of which machine code has copies of rounds: they look for something, up or down, and stop there, at a limit, or in a trap at the end of what they look at; or they store, and each round
// checks what the next one needs. Results by rustc.

/// Up, by one.
pub fn up(s: &[u8], mut i: usize) -> usize {
    while s[i] != 0 {
        i += 1;
    }
    i
}

/// Up, by three, from behind where it is.
pub fn up_by_three(s: &[u8], mut i: usize) -> usize {
    loop {
        i = i.wrapping_add(3);
        if s[i] == 0 {
            return i;
        }
    }
}

/// Down, by two; below the first element it wraps around.
pub fn down_by_two(s: &[u8], mut i: usize) -> usize {
    while s[i] != 0 {
        i = i.wrapping_sub(2);
    }
    i
}

/// How far it is to a number of four bytes, and what is behind it.
pub fn counted(s: &[u32], mut i: usize, wanted: u32) -> u32 {
    let mut rounds = 0;
    while s[i] != wanted {
        i += 1;
        rounds += 1;
    }
    rounds * 1000 + s[i + 1]
}

/// Up to a limit that may lie behind the end.
pub fn limited(s: &[u8], mut i: usize, end: usize) -> usize {
    while i < end && s[i] != 7 {
        i += 1;
    }
    i
}

/// Where two texts part.
pub fn common(s: &[u8], t: &[u8]) -> usize {
    let mut i = 0;
    while s[i] == t[i] {
        i += 1;
    }
    i
}

/// Back and forth, as often as there are places to begin with.
pub fn back_and_forth(s: &mut [u8], mut i: usize) -> usize {
    let mut sum = 0;
    while s[0] != 0 {
        while s[i] != 0 {
            i += 2;
        }
        sum = sum * 3 + i;
        i -= 1;
        while s[i] != 0 {
            i = i.wrapping_sub(2);
        }
        sum = sum * 3 + i;
        i += 1;
        s[0] -= 1;
    }
    sum
}

/// Down by nine, with a sum of what lies next to it ten behind it.
pub fn spread(tape: &mut [u8], mut p: usize) -> usize {
    while tape[p] != 0 {
        let cell = tape[p + 1];
        if cell != 0 {
            tape[p + 10] = tape[p + 10].wrapping_add(cell);
            tape[p + 1] = 0;
        }
        p = p.wrapping_sub(9);
    }
    let mut sum = p;
    let mut at = 0;
    while at < tape.len() {
        sum = sum * 7 % 65521 + tape[at] as usize;
        at += 1;
    }
    sum
}

/// Behind its store each round looks up the same, if that is there.
pub fn same_behind_a_store(s: &mut [u8], table: &[u8], k: usize) -> u32 {
    let mut i = 0;
    let mut sum = 0;
    while i < s.len() {
        s[i] = s[i].wrapping_mul(3);
        sum = sum * 5 % 65521 + table[k] as u32;
        i += 1;
    }
    sum * 256 + s[0] as u32
}
