use hueshift::prelude::*;

// TLR, a toy language with registers: one accumulator, and up to 255 registers in memory that belongs to the caller.
// An instruction is one byte, followed by the byte (or two) that it takes. Jumps are absolute.

const MOV_A_R: u8 = 1;
const MOV_R_A: u8 = 2;
const JUMP_IF_A: u8 = 3;
const SET_A: u8 = 4;
const ADD_R_TO_A: u8 = 5;
const RETURN_A: u8 = 6;
const ALLOCATE: u8 = 7;
const NEG_A: u8 = 8;
const MUL_R_TO_A: u8 = 9;
const DIV_A_BY_R: u8 = 10;
const LESS_A_R: u8 = 11;
const EQUAL_A_R: u8 = 12;
const MOV_A_RR: u8 = 13;
const MOV_RR_A: u8 = 14;
const CALL: u8 = 15;
const RETURN_TO: u8 = 16;

/// Sets the first `count` registers to 0.
fn clear(regs: &mut [i64], count: usize) {
    if count > regs.len() {
        panic!("{} registers are there, not {}", regs.len(), count);
    }
    let mut i = concrete(0);
    while i < concrete(count) {
        regs[i] = 0;
        i += 1;
    }
}

#[portal(greens(code, pc), reds(a, regs))]
fn run(code: &[u8], mut pc: usize, mut a: i64, regs: &mut [i64]) -> i64 {
    loop {
        merge_point!();
        let op = concrete(code[pc]);
        pc += 1;
        match op {
            NEG_A => {
                a = -a;
                continue;
            }
            RETURN_A => return a,
            _ => {}
        }
        let n = code[pc] as usize;
        pc += 1;
        match op {
            MOV_A_R => regs[n] = a,
            MOV_R_A => a = regs[n],
            JUMP_IF_A => {
                if a != 0 {
                    pc = n;
                    can_enter_jit!();
                }
            }
            SET_A => a = n as i64,
            ADD_R_TO_A => a += regs[n],
            ALLOCATE => clear(regs, n),
            MUL_R_TO_A => a *= regs[n],
            DIV_A_BY_R => a /= regs[n],
            LESS_A_R => a = (a < regs[n]) as i64,
            EQUAL_A_R => a = (a == regs[n]) as i64,
            MOV_A_RR => {
                let to = regs[n] as usize;
                regs[to] = a;
            }
            MOV_RR_A => {
                let from = regs[n] as usize;
                a = regs[from];
            }
            CALL => {
                regs[n] = pc as i64 + 1;
                pc = code[pc] as usize;
            }
            RETURN_TO => {
                pc = promote(regs[n]) as usize;
                can_enter_jit!();
            }
            _ => panic!("unknown opcode {}", op),
        }
    }
}

/// Runs the guest program `code` with `a` in the accumulator.
pub fn tlr(code: &[u8], a: i64, regs: &mut [i64]) -> i64 {
    run(code, 0, a, regs)
}
