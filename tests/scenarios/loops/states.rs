//! Loops whose arms say by a constant how they go on.

/// A machine with two states that counts words.
pub fn words(text: &[u8]) -> i64 {
    let mut within = false;
    let mut i = 0;
    let mut n = 0;
    loop {
        if i >= text.len() {
            return if within { n + 1 } else { n };
        }
        let c = text[i];
        if within {
            if c == 32 {
                n += 1;
                within = false;
            }
        } else if c != 32 {
            within = true;
        }
        i += 1;
    }
}

/// A loop that goes on while a flag is set.
pub fn flag(code: &[u8]) -> i64 {
    let mut running = true;
    let mut pc = 0;
    let mut acc = 0i64;
    while running {
        match code[pc] {
            0 => running = false,
            1 => acc += 1,
            _ => acc *= 2,
        }
        pc += 1;
    }
    acc
}

/// Three states, each of which leads to others.
pub fn machine(code: &[u8]) -> i64 {
    let mut state = 0;
    let mut i = 0;
    let mut sum = 0;
    while i < code.len() {
        let c = code[i] as i64;
        match state {
            0 => {
                sum += c;
                state = if c > 9 { 1 } else { 0 };
            }
            1 => {
                sum -= c;
                state = if c > 5 { 2 } else { 1 };
            }
            _ => {
                sum ^= c;
                state = 0;
            }
        }
        i += 1;
    }
    sum * 4 + state
}

/// A loop of two rounds.
pub fn twice(v: i64, w: i64) -> i64 {
    let mut sum = v;
    for k in 0..2 {
        sum = sum * w + k;
    }
    sum
}
