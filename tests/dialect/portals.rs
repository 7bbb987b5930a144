//! Portals: a dispatch loop over a guest program and a machine's state, as DIALECT shows it, and others.

use hueshift::prelude::*;

#[derive(Clone, Copy, Debug)]
pub struct Cpu {
    pub regs: [u64; 32],
    pub pc: u64,
}

#[portal(greens(code, pc), reds(cpu, mem))]
pub fn run(code: &[u32], mut pc: usize, cpu: &mut Cpu, mem: &mut [u8]) -> u64 {
    loop {
        merge_point!();
        let insn = code[pc >> 2];
        let rd = ((insn >> 7) & 31) as usize;
        let rs1 = ((insn >> 15) & 31) as usize;
        let rs2 = ((insn >> 20) & 31) as usize;
        match insn & 0x7f {
            0x13 => {
                cpu.regs[rd] = cpu.regs[rs1] + ((insn as i32) >> 20) as u64;
                pc += 4;
            }
            0x33 => {
                cpu.regs[rd] = cpu.regs[rs1] * cpu.regs[rs2];
                pc += 4;
            }
            0x23 => {
                mem[cpu.regs[rs1] as usize] = cpu.regs[rs2] as u8;
                pc += 4;
            }
            0x63 => {
                if cpu.regs[rs1] != cpu.regs[rs2] {
                    pc = rd * 4;
                    can_enter_jit!();
                } else {
                    pc += 4;
                }
            }
            _ => {
                cpu.pc = pc as u64;
                return cpu.regs[10];
            }
        }
    }
}

/// Greens and reds by value, and a local that is computed behind the merge point.
#[portal(greens(text, at), reds(sum, pair))]
pub fn digits(text: &str, mut at: usize, mut sum: i64, mut pair: (u8, bool)) -> (i64, u8) {
    loop {
        merge_point!();
        let b = text.as_bytes();
        if at == b.len() {
            return (sum, pair.0);
        }
        let c = b[at];
        at += 1;
        match c {
            b'0'..=b'9' => sum = sum * 10 + (c - b'0') as i64,
            b'-' => {
                pair.1 = !pair.1;
                sum = -sum;
            }
            b'<' => {
                pair.0 += 1;
                if pair.0 < 5 {
                    at = 0;
                    can_enter_jit!();
                }
            }
            b'|' => can_enter_jit!(),
            _ => panic!("no digit: {:?} at {}", c as char, at - 1),
        }
    }
}

/// What is indexed by a red lies in the activation frame, also across the merge point.
#[portal(greens(code, pc), reds(regs, n))]
pub fn registers(code: &[u8], mut pc: usize, mut regs: [i64; 4], mut n: usize) -> [i64; 4] {
    loop {
        merge_point!();
        match code[pc] {
            b'+' => regs[n % 4] += 5,
            b'x' => regs[0] = regs[n] * 3,
            b'n' => n += 1,
            b'j' => {
                if regs[1] < 40 {
                    pc = 0;
                    can_enter_jit!();
                    continue;
                }
            }
            _ => return regs,
        }
        pc += 1;
    }
}

/// A merge point in a function that isn't a portal.
pub fn own_loop(n: i64, mut mode: u8) -> i64 {
    let mut i = 0;
    let mut sum = 0;
    let start = concrete(3);
    loop {
        merge_point!();
        if i >= n {
            return sum;
        }
        sum += if mode == 0 { i } else { start - i };
        mode ^= 1;
        i += 1;
    }
}

/// A portal that is called, and calls itself.
pub fn caller(text: &str, n: i64) -> i64 {
    let (sum, rounds) = digits(text, 0, n, (3, false));
    nested(text, 0, sum % 4 + 4) + rounds as i64
}

#[portal(greens(text, at), reds(depth))]
pub fn nested(text: &str, mut at: usize, depth: i64) -> i64 {
    loop {
        merge_point!();
        let b = text.as_bytes();
        if at >= b.len() || depth <= 0 {
            return depth;
        }
        if b[at] == b'-' {
            return nested(text, 0, depth - 3) * 2 + nested(text, at + 1, depth - 1);
        }
        at += 1;
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Mode {
    Add(i64),
    Off,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Machine {
    pub stack: [i64; 3],
    pub depth: usize,
    pub mode: Mode,
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

    fn top(&self) -> i64 {
        self.stack[self.depth - 1]
    }
}

/// A machine by value whose methods take it by reference: its address doesn't outlive a round, its value does.
#[portal(greens(code, pc), reds(machine, left, step))]
pub fn by_value(code: &str, mut pc: usize, mut machine: Machine, mut left: u8, step: Machine) -> (Machine, i64) {
    loop {
        merge_point!();
        let ops = code.as_bytes();
        match ops[pc] {
            b'+' => {
                let sum = machine.pop() + machine.pop();
                machine.push(sum);
            }
            b'd' => machine.push(machine.top()),
            b'm' => {
                machine.mode = match machine.mode {
                    Mode::Add(n) => Mode::Off,
                    Mode::Off => Mode::Add(machine.top()),
                }
            }
            b'a' => {
                if let Mode::Add(n) = &mut machine.mode {
                    *n += step.top();
                    left += 1;
                }
            }
            b'j' => {
                left -= 1;
                if left > 0 {
                    pc = 0;
                    can_enter_jit!();
                    continue;
                }
            }
            _ => return (machine, machine.top()),
        }
        pc += 1;
    }
}
