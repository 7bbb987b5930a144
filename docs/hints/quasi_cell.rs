use hueshift::prelude::*;

/// What may be set while a program runs, and hardly ever is.
pub struct Settings {
    pub step: QuasiCell<i64>,
}

/// `+` adds the step, `2` doubles it, anything else jumps back to the beginning while the sum is small.
#[portal(greens(code, pc, settings), reds(sum))]
pub fn run(code: &[u8], mut pc: usize, settings: &Settings, mut sum: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return sum;
        }
        let op = concrete(code[pc]);
        pc += 1;
        if op == b'+' {
            sum += settings.step.get();
        } else if op == b'2' {
            settings.step.set(settings.step.get() * 2);
        } else if sum < 100 {
            pc = 0;
            can_enter_jit!();
        }
    }
}
