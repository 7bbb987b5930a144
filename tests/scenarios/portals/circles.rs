use hueshift::prelude::*;

/// A guest whose jumps lead in a circle: a run that doesn't come there is not stopped by it.
#[portal(greens(code, pc), reds(acc))]
pub fn jumps(code: &[u8], mut pc: usize, mut acc: i64) -> i64 {
    loop {
        merge_point!();
        match code[pc] {
            0 => { pc = code[pc + 1] as usize; }
            1 => { if acc == code[pc + 1] as i64 { pc = code[pc + 2] as usize; } else { pc += 3; } }
            2 => { return acc; }
            _ => { acc += 1; pc += 1; }
        }
    }
}
