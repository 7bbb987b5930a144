use hueshift::prelude::*;

// Registers a..d, three bytes an instruction: opcode, target, operand (register or number).
const MOV: u8 = 0;
const ADDR: u8 = 1;
const SUBI: u8 = 2;
const MULR: u8 = 3;
const JNZ: u8 = 4;
const HALT: u8 = 5;

/// Registers are an array by value: they go round in registers.
#[portal(greens(code, pc), reds(regs))]
fn regs_machine(code: &[u8], mut pc: usize, mut regs: [i64; 4]) -> i64 {
    loop {
        merge_point!();
        let op = code[pc];
        let t = code[pc + 1] as usize;
        let s = code[pc + 2];
        pc += 3;
        match op {
            MOV => regs[t] = s as i64,
            ADDR => regs[t] += regs[s as usize],
            SUBI => regs[t] -= s as i64,
            MULR => regs[t] *= regs[s as usize],
            JNZ => {
                if regs[t] != 0 {
                    pc = s as usize;
                    can_enter_jit!();
                }
            }
            HALT => return regs[t],
            _ => panic!("bad opcode {}", op),
        }
    }
}

pub fn registers(code: &[u8], a: i64, b: i64) -> i64 {
    regs_machine(code, 0, [a, b, 0, 0])
}

/// One instruction: mem[b] -= mem[a], jump to c if not positive.
#[portal(greens(pc), reds(mem, steps))]
fn subleq_at(mut pc: usize, mem: &mut [i64], mut steps: i64) -> i64 {
    loop {
        merge_point!();
        if pc + 2 >= mem.len() || pc > 9 || steps > 1000 {
            return steps;
        }
        let a = mem[pc] as usize;
        let b = mem[pc + 1] as usize;
        mem[b] -= mem[a];
        steps += 1;
        if mem[b] <= 0 {
            let c = promote(mem[pc + 2]);
            if c < 0 {
                return steps;
            }
            pc = c as usize;
            can_enter_jit!();
        } else {
            pc += 3;
        }
    }
}

pub fn subleq(mem: &mut [i64]) -> i64 {
    subleq_at(0, mem, 0)
}

/// A matcher with a known pattern: literal bytes, `.` for any, `*` for any number of what is before it.
fn match_here(pattern: &[u8], p: usize, text: &[u8], t: usize) -> bool {
    let p = concrete(p);
    if p >= pattern.len() {
        return t == text.len();
    }
    let c = concrete(pattern[p]);
    if p + 1 < pattern.len() && concrete(pattern[p + 1]) == b'*' {
        return match_star(pattern, p, c, text, t);
    }
    if t < text.len() && (c == b'.' || text[t] == c) {
        return match_here(pattern, p + 1, text, t + 1);
    }
    false
}

fn match_star(pattern: &[u8], p: usize, c: u8, text: &[u8], t: usize) -> bool {
    let mut t = t;
    loop {
        if match_here(pattern, p + 2, text, t) {
            return true;
        }
        if t < text.len() && (c == b'.' || text[t] == c) {
            t += 1;
        } else {
            return false;
        }
    }
}

pub fn matches(pattern: &[u8], text: &[u8]) -> bool {
    match_here(pattern, 0, text, 0)
}

/// Reverse Polish notation, the depth green: nothing is left of the stack.
#[portal(greens(code, pc, sp), reds(stack, x))]
fn rpn_at(code: &[u8], mut pc: usize, mut sp: usize, mut stack: [i64; 8], x: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return stack[sp - 1];
        }
        let c = code[pc];
        pc += 1;
        match c {
            b'0'..=b'9' => {
                stack[sp] = (c - b'0') as i64;
                sp += 1;
            }
            b'x' => {
                stack[sp] = x;
                sp += 1;
            }
            b'+' => {
                stack[sp - 2] += stack[sp - 1];
                sp -= 1;
            }
            b'-' => {
                stack[sp - 2] -= stack[sp - 1];
                sp -= 1;
            }
            b'*' => {
                stack[sp - 2] *= stack[sp - 1];
                sp -= 1;
            }
            b'd' => {
                stack[sp] = stack[sp - 1];
                sp += 1;
            }
            _ => panic!("not in the notation"),
        }
    }
}

pub fn rpn(code: &[u8], x: i64) -> i64 {
    rpn_at(code, 0, 0, [0; 8], x)
}

/// A rule of a cellular automaton, known; the cells are bits of a word.
pub fn automaton(rule: u8, cells: u64, steps: i64) -> u64 {
    let rule = concrete(rule);
    let mut cells = cells;
    let mut n = steps;
    while n > 0 {
        let l = cells.rotate_left(1);
        let r = cells.rotate_right(1);
        let mut next = 0;
        let mut k = concrete(0u32);
        while k < 8 {
            if rule >> k & 1 != 0 {
                let a = if k & 4 != 0 { l } else { !l };
                let b = if k & 2 != 0 { cells } else { !cells };
                let c = if k & 1 != 0 { r } else { !r };
                next |= a & b & c;
            }
            k += 1;
        }
        cells = next;
        n -= 1;
    }
    cells
}

/// A word count by a table-driven automaton whose table is known.
const NEXT: [[usize; 2]; 2] = [[0, 1], [0, 1]];

pub fn words(text: &[u8]) -> i64 {
    let mut state = 0;
    let mut count = 0;
    for &c in text {
        let class = (c.is_ascii_alphabetic()) as usize;
        let next = NEXT[state][class];
        if state == 0 && next == 1 {
            count += 1;
        }
        state = next;
    }
    count
}

/// A Turing machine: state and symbol choose what to do; the state is green, the symbol promoted.
#[portal(greens(state), reds(tape, at, steps))]
fn turing_at(mut state: u8, tape: &mut [u8], mut at: usize, mut steps: i64) -> i64 {
    loop {
        merge_point!();
        if state == 2 {
            return steps;
        }
        let symbol = promote(tape[at]);
        steps += 1;
        let right;
        if state == 0 {
            tape[at] = 1;
            right = symbol == 0;
            state = 1;
        } else {
            tape[at] = 1;
            right = symbol != 0;
            state = if symbol == 0 { 0 } else { 2 };
        }
        if right { at += 1; } else { at -= 1; }
        can_enter_jit!();
    }
}

/// The busy beaver with two states.
pub fn busy_beaver(tape: &mut [u8]) -> i64 {
    turing_at(0, tape, 3, 0)
}
