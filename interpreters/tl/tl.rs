use hueshift::prelude::*;

// TL, a toy language: a stack machine over 64-bit integers. An instruction is one byte, followed by one for its operand
// where it takes one: signed, but for the depths of PICK and PUT. Jumps and calls are relative to the next instruction.

const NOP: u8 = 1;
const PUSH: u8 = 2;
const POP: u8 = 3;
const SWAP: u8 = 4;
const ROLL: u8 = 5;
const PICK: u8 = 6;
const PUT: u8 = 7;
const ADD: u8 = 8;
const SUB: u8 = 9;
const MUL: u8 = 10;
const DIV: u8 = 11;
const EQ: u8 = 12;
const NE: u8 = 13;
const LT: u8 = 14;
const LE: u8 = 15;
const GT: u8 = 16;
const GE: u8 = 17;
const BR_COND: u8 = 18;
const BR_COND_STK: u8 = 19;
const CALL: u8 = 20;
const RETURN: u8 = 21;
const PUSHARG: u8 = 22;

/// How many values the stack of one guest function holds.
const DEPTH: usize = 32;

/// The stack of one call of a guest function. The stack pointer is apart from it, because it is green: a guest position
/// has one stack depth, or few, and every access below goes to a place that is known when compiling.
pub struct Frame {
    pub cells: [i64; DEPTH],
}

fn operand(code: &[u8], pc: usize) -> i64 {
    code[pc] as i8 as i64
}

/// The stack pointer without the topmost `count` values.
fn below(sp: usize, count: usize) -> usize {
    if count > sp {
        panic!("stack underflow");
    }
    sp - count
}

/// Reads a cell that nobody reads again. It is cleared: then compiled code has nothing to keep there.
fn take(frame: &mut Frame, at: usize) -> i64 {
    let value = frame.cells[at];
    frame.cells[at] = 0;
    value
}

/// Stores on top, and returns the new stack pointer.
fn push(frame: &mut Frame, sp: usize, value: i64) -> usize {
    if sp >= DEPTH {
        panic!("stack overflow");
    }
    frame.cells[sp] = value;
    sp + 1
}

/// A positive `by` raises the value at that depth to the top, a negative one sinks the top to that depth. The top itself
/// is at depth 1.
fn roll(frame: &mut Frame, sp: usize, by: i64) {
    let top = concrete(below(sp, 1));
    if by > 1 {
        let mut at = concrete(below(sp, by as usize));
        let raised = frame.cells[at];
        while at < top {
            frame.cells[at] = frame.cells[at + 1];
            at += 1;
        }
        frame.cells[top] = raised;
    } else if by < -1 {
        let bottom = concrete(below(sp, -by as usize));
        let mut at = top;
        let sunk = frame.cells[top];
        while at > bottom {
            frame.cells[at] = frame.cells[at - 1];
            at -= 1;
        }
        frame.cells[bottom] = sunk;
    }
}

fn binary(op: u8, left: i64, right: i64) -> i64 {
    match op {
        ADD => left + right,
        SUB => left - right,
        MUL => left * right,
        DIV => left / right,
        EQ => (left == right) as i64,
        NE => (left != right) as i64,
        LT => (left < right) as i64,
        LE => (left <= right) as i64,
        GT => (left > right) as i64,
        _ => (left >= right) as i64,
    }
}

/// One call of a guest function: from `pc` on, with `arg` for its argument.
#[portal(greens(code, pc, sp), reds(arg, frame))]
fn run(code: &[u8], mut pc: usize, mut sp: usize, arg: i64, frame: &mut Frame) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return frame.cells[below(sp, 1)];
        }
        let op = concrete(code[pc]);
        pc += 1;
        match op {
            NOP => {}
            PUSH => {
                sp = push(frame, sp, operand(code, pc));
                pc += 1;
            }
            POP => {
                sp = below(sp, 1);
                take(frame, sp);
            }
            SWAP => {
                let under = below(sp, 2);
                let top = frame.cells[under + 1];
                frame.cells[under + 1] = frame.cells[under];
                frame.cells[under] = top;
            }
            ROLL => {
                roll(frame, sp, operand(code, pc));
                pc += 1;
            }
            PICK => {
                let value = frame.cells[below(sp, code[pc] as usize + 1)];
                sp = push(frame, sp, value);
                pc += 1;
            }
            PUT => {
                sp = below(sp, 1);
                let to = below(sp, code[pc] as usize + 1);
                frame.cells[to] = take(frame, sp);
                pc += 1;
            }
            ADD | SUB | MUL | DIV | EQ | NE | LT | LE | GT | GE => {
                let under = below(sp, 2);
                sp = under + 1;
                let right = take(frame, sp);
                frame.cells[under] = binary(op, frame.cells[under], right);
            }
            BR_COND => {
                let target = (pc as i64 + 1 + operand(code, pc)) as usize;
                pc += 1;
                sp = below(sp, 1);
                if take(frame, sp) != 0 {
                    pc = target;
                    can_enter_jit!();
                }
            }
            BR_COND_STK => {
                sp = below(sp, 2);
                let offset = promote(take(frame, sp + 1));
                if take(frame, sp) != 0 {
                    pc = (pc as i64 + offset) as usize;
                    can_enter_jit!();
                }
            }
            CALL => {
                let target = (pc as i64 + 1 + operand(code, pc)) as usize;
                pc += 1;
                sp = below(sp, 1);
                let argument = take(frame, sp);
                let mut callee = Frame { cells: [0; DEPTH] };
                let result = run(code, target, 0, argument, &mut callee);
                sp = push(frame, sp, result);
            }
            RETURN => return frame.cells[below(sp, 1)],
            PUSHARG => sp = push(frame, sp, arg),
            _ => panic!("unknown opcode {}", op),
        }
    }
}

/// Runs the guest program `code` from `pc` with an empty stack.
pub fn tl(code: &[u8], pc: usize, arg: i64) -> i64 {
    let mut frame = Frame { cells: [0; DEPTH] };
    run(code, pc, 0, arg, &mut frame)
}
