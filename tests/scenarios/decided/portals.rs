use hueshift::prelude::*;

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Machine {
    pub stack: [i64; 3],
    pub depth: usize,
}

impl Machine {
    fn push(&mut self, x: i64) {
        self.stack[self.depth] = x;
        self.depth += 1;
    }

    fn pop(&mut self) -> i64 {
        self.depth -= 1;
        self.stack[self.depth]
    }
}

/// An array that is indexed by a red, and a struct whose methods take it by reference, go across the merge point by value.
#[portal(greens(code, pc), reds(regs, n, machine))]
pub fn by_value(code: &[u8], mut pc: usize, mut regs: [i64; 4], mut n: usize, mut machine: Machine) -> ([i64; 4], Machine) {
    loop {
        merge_point!();
        match code[pc] {
            b'+' => regs[n % 4] += 5,
            b'x' => regs[0] = regs[n % 4] * 3,
            b'n' => n += 1,
            b'p' => machine.push(regs[n % 4]),
            b'a' => regs[1] += machine.pop(),
            b'j' => {
                if regs[1] < 400 {
                    pc = 0;
                    can_enter_jit!();
                    continue;
                }
            }
            _ => return (regs, machine),
        }
        pc += 1;
    }
}
