//! A machine whose guest programs are hard on traces, and these programs: for measurements, and for tests under chaos.

/// A register machine. An instruction is an opcode and what it works on.
#[hueshift::interpreter]
#[allow(missing_docs, reason = "the opcodes say what they are")]
pub mod machine {
    use hueshift::prelude::*;

    pub const ADD: u16 = 0;
    pub const ADD_CONST: u16 = 1;
    pub const MUL: u16 = 2;
    pub const AND_CONST: u16 = 3;
    pub const SHIFT: u16 = 4;
    pub const MOVE: u16 = 5;
    pub const XOR: u16 = 6;
    pub const LOAD: u16 = 7;
    pub const JUMP: u16 = 8;
    pub const JUMP_IF: u16 = 9;
    pub const JUMP_IF_LESS: u16 = 10;
    pub const DISPATCH: u16 = 11;
    pub const TYPED_ADD: u16 = 12;
    pub const TO_FLOAT: u16 = 13;
    pub const RANDOM: u16 = 14;
    pub const RETURN: u16 = 15;

    #[portal(greens(code, pc), reds(r))]
    pub fn run(code: &[u16], mut pc: usize, r: &mut [i64; 12]) -> i64 {
        loop {
            merge_point!();
            let op = concrete(code[pc]);
            let (a, b) = (concrete(code[pc + 1] as usize), concrete(code[pc + 2] as usize));
            pc += 3;
            match op {
                ADD => r[a] += r[b],
                ADD_CONST => r[a] += b as i64,
                MUL => r[a] *= r[b],
                AND_CONST => r[a] &= b as i64,
                SHIFT => r[a] >>= b as i64,
                MOVE => r[a] = r[b],
                XOR => r[a] ^= r[b],
                LOAD => r[a] = b as i64,
                JUMP => {
                    if b < pc {
                        can_enter_jit!();
                    }
                    pc = b;
                }
                JUMP_IF => {
                    if r[a] != 0 {
                        if b < pc {
                            can_enter_jit!();
                        }
                        pc = b;
                    }
                }
                // Of this register and the next.
                JUMP_IF_LESS => {
                    if r[a] < r[a + 1] {
                        if b < pc {
                            can_enter_jit!();
                        }
                        pc = b;
                    }
                }
                DISPATCH => pc = b + promote(r[a]) as usize * 3,
                // A value is a register with its type in the one behind it: 0 for integers, 1 for floats.
                TYPED_ADD => {
                    if r[a + 1] == 0 && r[b + 1] == 0 {
                        r[a] += r[b];
                    } else {
                        let x = if r[a + 1] == 0 { r[a] as f64 } else { f64::from_bits(r[a] as u64) };
                        let y = if r[b + 1] == 0 { r[b] as f64 } else { f64::from_bits(r[b] as u64) };
                        r[a] = (x + y).to_bits() as i64;
                        r[a + 1] = 1;
                    }
                }
                TO_FLOAT => {
                    r[a] = (r[a] as f64).to_bits() as i64;
                    r[a + 1] = 1;
                }
                RANDOM => r[a] = (r[a] * 1_103_515_245 + 12_345) & 0x7FFF_FFFF,
                RETURN => return r[a],
                _ => panic!("no opcode {}", op),
            }
        }
    }
}

use machine::*;
pub use machine::{INTERPRETER, aot, interp, jit};

/// A guest program under construction.
#[derive(Default)]
struct Code(Vec<u16>);

impl Code {
    /// Adds an instruction. Gives its place.
    fn op(&mut self, op: u16, a: usize, b: usize) -> usize {
        let at = self.here();
        self.0.extend([op, a as u16, b as u16]);
        at
    }

    fn here(&self) -> usize {
        self.0.len()
    }

    /// Lets a jump lead to here.
    fn lands(&mut self, jump: usize) {
        self.0[jump + 2] = self.0.len() as u16;
    }

    /// Counts register 0 up to register 1: the loop began at `head`.
    fn again(&mut self, head: usize) {
        self.op(ADD_CONST, 0, 1);
        self.op(JUMP_IF_LESS, 0, head);
    }

    fn returns(mut self, register: usize) -> Vec<u16> {
        self.op(RETURN, register, 0);
        self.0
    }
}

/// A program.
pub struct Hard {
    /// What it is.
    pub name: &'static str,
    /// Its code.
    pub code: Vec<u16>,
    /// How many rounds its outermost loop makes when it is measured.
    pub rounds: i64,
}

/// A loop with a branch that goes both ways, and one that no run takes, behind which is the only multiplication.
pub fn never_taken() -> Vec<u16> {
    let mut c = Code::default();
    let head = c.here();
    c.op(MOVE, 4, 0);
    c.op(AND_CONST, 4, 1);
    both_sides(&mut c);
    let taken = c.op(JUMP_IF, 6, 0);
    let joined = c.op(JUMP, 0, 0);
    c.lands(taken);
    c.op(MUL, 2, 2);
    c.lands(joined);
    c.again(head);
    c.returns(2)
}

/// The registers that a run of so many rounds begins with.
pub fn registers(rounds: i64) -> [i64; 12] {
    let mut registers = [0; 12];
    (registers[1], registers[3]) = (rounds, 42);
    registers
}

/// All of them. Register 0 counts the rounds up to register 1; the result is in register 2.
pub fn programs() -> Vec<Hard> {
    let hard = |name, rounds, code: Vec<u16>| Hard { name, code, rounds };
    vec![
        hard("a branch that goes either way by turns", 2_000_000, turns()),
        hard("a branch that goes either way at random", 2_000_000, either_way()),
        hard("a machine of 16 states", 1_000_000, states()),
        hard("30 opcodes in random order", 1_000_000, opcodes()),
        hard("an interpreter, interpreted", 100_000, interpreter()),
        hard("triangular nested loops", 2000, triangle()),
        hard("types that change phase by phase", 2_000_000, phases()),
    ]
}

/// The guard on the branch fails every other time.
fn turns() -> Vec<u16> {
    let mut c = Code::default();
    let head = c.here();
    c.op(MOVE, 4, 0);
    c.op(AND_CONST, 4, 1);
    both_sides(&mut c);
    c.again(head);
    c.returns(2)
}

fn either_way() -> Vec<u16> {
    let mut c = Code::default();
    let head = c.here();
    c.op(RANDOM, 3, 0);
    c.op(MOVE, 4, 3);
    c.op(SHIFT, 4, 11);
    c.op(AND_CONST, 4, 1);
    both_sides(&mut c);
    c.again(head);
    c.returns(2)
}

/// Goes by register 4.
fn both_sides(c: &mut Code) {
    let odd = c.op(JUMP_IF, 4, 0);
    c.op(ADD_CONST, 2, 3);
    let joined = c.op(JUMP, 0, 0);
    c.lands(odd);
    c.op(XOR, 2, 0);
    c.lands(joined);
}

/// The next state is promoted, 16 arms, each of which does something else.
fn states() -> Vec<u16> {
    let mut c = Code::default();
    let head = c.here();
    c.op(RANDOM, 3, 0);
    c.op(MOVE, 5, 3);
    c.op(SHIFT, 5, 9);
    c.op(ADD, 4, 5);
    c.op(AND_CONST, 4, 15);
    arms(&mut c, 4, 16);
    c.again(head);
    c.returns(2)
}

/// As many opcodes, one of which a round carries out.
fn opcodes() -> Vec<u16> {
    let mut c = Code::default();
    let head = c.here();
    c.op(RANDOM, 3, 0);
    c.op(MOVE, 4, 3);
    c.op(SHIFT, 4, 8);
    c.op(AND_CONST, 4, 0xFFF);
    c.op(LOAD, 5, 30);
    c.op(MUL, 4, 5);
    c.op(SHIFT, 4, 12);
    arms(&mut c, 4, 30);
    c.again(head);
    c.returns(2)
}

/// A jump table over a register, and so many arms.
fn arms(c: &mut Code, register: usize, count: usize) {
    let table = c.op(DISPATCH, register, 0);
    c.lands(table);
    let jumps: Vec<usize> = (0..count).map(|_| c.op(JUMP, 0, 0)).collect();
    let mut joined = Vec::new();
    for (number, jump) in jumps.into_iter().enumerate() {
        c.lands(jump);
        match number % 3 {
            0 => c.op(ADD_CONST, 2, number + 1),
            1 => c.op(XOR, 2, 3),
            _ => c.op(ADD, 2, 4),
        };
        c.op(ADD_CONST, 2, number);
        joined.push(c.op(JUMP, 0, 0));
    }
    for jump in joined {
        c.lands(jump);
    }
}

/// A program of four opcodes, two bits each in register 6, is carried out from its first to its last in each round.
fn interpreter() -> Vec<u16> {
    let mut c = Code::default();
    // The program: 12 instructions.
    c.op(LOAD, 6, 0b01_00_11_10_01_00);
    c.op(LOAD, 7, 1 << 12);
    c.op(MUL, 6, 7);
    c.op(ADD_CONST, 6, 0b10_01_00_00_11_10);
    let head = c.here();
    c.op(LOAD, 8, 0);
    c.op(LOAD, 9, 12);
    c.op(MOVE, 7, 6);
    let next = c.here();
    c.op(MOVE, 4, 7);
    c.op(SHIFT, 7, 2);
    c.op(AND_CONST, 4, 3);
    let not_0 = c.op(JUMP_IF, 4, 0);
    c.op(ADD_CONST, 2, 5);
    let done_0 = c.op(JUMP, 0, 0);
    c.lands(not_0);
    c.op(MOVE, 10, 4);
    c.op(AND_CONST, 10, 1);
    let odd = c.op(JUMP_IF, 10, 0);
    c.op(XOR, 2, 0);
    let done_2 = c.op(JUMP, 0, 0);
    c.lands(odd);
    c.op(AND_CONST, 4, 2);
    let is_3 = c.op(JUMP_IF, 4, 0);
    c.op(ADD, 2, 0);
    let done_1 = c.op(JUMP, 0, 0);
    c.lands(is_3);
    c.op(SHIFT, 2, 1);
    for done in [done_0, done_1, done_2] {
        c.lands(done);
    }
    c.op(ADD_CONST, 8, 1);
    c.op(JUMP_IF_LESS, 8, next);
    c.again(head);
    c.returns(2)
}

fn triangle() -> Vec<u16> {
    let mut c = Code::default();
    let head = c.here();
    c.op(LOAD, 4, 0);
    c.op(MOVE, 5, 0);
    let inner = c.here();
    c.op(ADD, 2, 4);
    c.op(XOR, 2, 0);
    c.op(ADD_CONST, 4, 1);
    c.op(JUMP_IF_LESS, 4, inner);
    c.again(head);
    c.returns(2)
}

/// The sum in registers 4 and 5 begins as an integer, and is a float from the second eighth on; in the third the
/// summand becomes one, in the fifth the sum begins anew.
fn phases() -> Vec<u16> {
    let mut c = Code::default();
    c.op(LOAD, 6, 3);
    c.op(MOVE, 9, 1);
    c.op(SHIFT, 9, 3);
    let head = c.here();
    c.op(TYPED_ADD, 4, 6);
    c.op(ADD, 2, 5);
    c.op(ADD_CONST, 8, 1);
    let same = c.op(JUMP_IF_LESS, 8, 0);
    c.op(LOAD, 8, 0);
    c.op(ADD_CONST, 10, 1);
    c.op(MOVE, 11, 10);
    c.op(AND_CONST, 11, 3);
    let table = c.op(DISPATCH, 11, 0);
    c.lands(table);
    let jumps: Vec<usize> = (0..4).map(|_| c.op(JUMP, 0, 0)).collect();
    let mut joined = Vec::new();
    for (number, jump) in jumps.into_iter().enumerate() {
        c.lands(jump);
        match number {
            0 => c.op(LOAD, 5, 0),
            1 => c.op(TO_FLOAT, 4, 0),
            2 => c.op(TO_FLOAT, 6, 0),
            _ => c.op(LOAD, 7, 0),
        };
        joined.push(c.op(JUMP, 0, 0));
    }
    for jump in joined.into_iter().chain([same]) {
        c.lands(jump);
    }
    c.again(head);
    c.returns(2)
}
