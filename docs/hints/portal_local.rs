use hueshift::prelude::*;

#[portal(greens(code, pc), reds(x))]
pub fn run(code: &[i64], mut pc: usize, mut x: i64) -> i64 {
    let mut steps = 0;
    loop {
        merge_point!();
        if pc >= code.len() {
            return steps;
        }
        x -= code[pc];
        pc += 1;
        steps += 1;
    }
}
