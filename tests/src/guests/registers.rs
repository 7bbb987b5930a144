//! Random programs of the register machine.
//!
//! A program is some subroutines, each of which may call those before it, and what calls them. Registers have their
//! uses:
//!
//! ```text
//! 0..6    data, which anything may change
//! 6       -1
//! 7       a small number that isn't 0
//! 8       the number of a register, or a position to go on at
//! 9..13   where the subroutines return to
//! 13..24  counters of loops, by subroutine and nesting
//! ```

use super::{Language, Program};
use flowgraph::testing::Source;

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

/// How many registers a program has.
pub const REGISTERS: usize = 24;

const DATA: usize = 6;
const MINUS_ONE: u8 = 6;
const SMALL: u8 = 7;
const POINTER: u8 = 8;
const LINKS: u8 = 9;
const COUNTERS: u8 = 13;

/// How deep loops are nested in one subroutine.
const NESTING: u8 = 3;

/// So long is the code, nearly: positions are bytes.
const MOST_BYTES: usize = 210;

/// So often may the body of the innermost loop be run, in all.
const MOST_ROUNDS: u64 = 2000;

/// A place in the code.
#[derive(Clone, Copy)]
struct Label(usize);

struct Writer<'s, 'b> {
    source: &'s mut Source<'b>,
    code: Vec<u8>,
    labels: Vec<usize>,
    /// The operands that are to become positions.
    jumps: Vec<(usize, Label)>,
    /// Where the subroutines begin, and how much one does.
    routines: Vec<(Label, u64)>,
    /// What the one does that is written.
    cost: u64,
    /// How often what is written here is run.
    rounds: u64,
    end: usize,
}

/// A program.
pub fn program(source: &mut Source<'_>) -> Program {
    let count = source.below(4);
    let runs =
        (0..2 + source.below(3)).map(|_| if source.chance(1, 4) { source.int() } else { source.below(30) as i64 });
    let runs = runs.map(|a| a.to_string()).collect();
    let (code, labels, jumps, routines) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut writer = Writer { source, code, labels, jumps, routines, cost: 1, rounds: 1, end: 0 };
    writer.ops(&[ALLOCATE, REGISTERS as u8, MOV_A_R, 0, SET_A, 1, NEG_A, MOV_A_R, MINUS_ONE]);
    let small = 1 + writer.source.below(9) as u8;
    writer.ops(&[SET_A, small, MOV_A_R, SMALL]);
    let start = writer.label();
    if count > 0 {
        writer.go(start);
    }
    for routine in 0..count {
        let label = writer.label();
        writer.place(label);
        writer.body(routine, count);
        writer.ops(&[RETURN_TO, LINKS + routine as u8]);
        let cost = writer.cost;
        writer.routines.push((label, cost));
    }
    writer.place(start);
    writer.body(count, count);
    let result = writer.source.below(DATA) as u8;
    writer.ops(&[MOV_R_A, result, RETURN_A]);
    let code = writer.finish();
    let text = Language::Tlr.interpreter().disassemble(&code).unwrap_or_default();
    Program { language: Language::Tlr, text, runs, input: String::new() }
}

impl Writer<'_, '_> {
    fn ops(&mut self, bytes: &[u8]) {
        self.code.extend_from_slice(bytes);
    }

    fn label(&mut self) -> Label {
        self.labels.push(0);
        Label(self.labels.len() - 1)
    }

    fn place(&mut self, label: Label) {
        self.labels[label.0] = self.code.len();
    }

    /// Jumps if `a` isn't 0.
    fn jump(&mut self, to: Label) {
        self.ops(&[JUMP_IF_A, 0]);
        self.jumps.push((self.code.len() - 1, to));
    }

    /// Jumps.
    fn go(&mut self, to: Label) {
        self.ops(&[SET_A, 1]);
        self.jump(to);
    }

    fn finish(mut self) -> Vec<u8> {
        for (at, label) in self.jumps {
            // What is too far ahead is a jump that isn't made, or a position that traps.
            match u8::try_from(self.labels[label.0]) {
                Ok(to) => self.code[at] = to,
                Err(_) if self.code[at - 1] == JUMP_IF_A => self.code[at - 1..=at].copy_from_slice(&[SET_A, 0]),
                Err(_) => self.code[at] = u8::MAX,
            }
        }
        self.code
    }

    fn goes_on(&self) -> bool {
        self.code.len() < self.end && !self.source.is_empty()
    }

    fn body(&mut self, routine: usize, count: usize) {
        self.end = MOST_BYTES * (routine + 1) / (count + 1);
        (self.cost, self.rounds) = (1, 1);
        while self.goes_on() {
            self.statement(routine, 0);
        }
    }

    fn data(&mut self) -> u8 {
        self.source.below(DATA) as u8
    }

    fn statement(&mut self, routine: usize, nesting: u8) {
        match self.source.below(16) {
            0..=4 => self.assignment(),
            5 | 6 => self.branch(routine, nesting),
            7..=9 if nesting < NESTING.min(if routine == 3 { 2 } else { 3 }) => self.repeat(routine, nesting),
            10 | 11 => self.call(routine),
            12 => self.indirect(),
            13 => self.computed_jump(),
            14 if self.source.chance(1, 4) => self.accident(),
            _ => self.assignment(),
        }
    }

    fn assignment(&mut self) {
        self.value();
        let to = self.data();
        self.ops(&[MOV_A_R, to]);
    }

    /// Leaves something in `a`.
    fn value(&mut self) {
        let from = self.data();
        match self.source.below(3) {
            0 => {
                let n = self.source.byte();
                self.ops(&[SET_A, n]);
            }
            _ => self.ops(&[MOV_R_A, from]),
        }
        for _ in 0..self.source.below(4) {
            let with = self.data();
            match self.source.below(12) {
                0..=3 => self.ops(&[ADD_R_TO_A, with]),
                4 => self.ops(&[MUL_R_TO_A, with]),
                5 => self.ops(&[DIV_A_BY_R, SMALL]),
                6 => self.ops(&[ADD_R_TO_A, MINUS_ONE]),
                7 => self.ops(&[NEG_A]),
                8 => self.ops(&[EQUAL_A_R, with]),
                9 if self.source.chance(1, 4) => self.ops(&[DIV_A_BY_R, with]),
                _ => self.ops(&[LESS_A_R, with]),
            }
        }
    }

    fn block(&mut self, routine: usize, nesting: u8) {
        for _ in 0..1 + self.source.below(3) {
            if self.goes_on() {
                self.statement(routine, nesting);
            }
        }
    }

    fn branch(&mut self, routine: usize, nesting: u8) {
        let (then, end) = (self.label(), self.label());
        self.value();
        self.jump(then);
        if self.source.chance(1, 2) {
            self.block(routine, nesting);
        }
        self.go(end);
        self.place(then);
        self.block(routine, nesting);
        self.place(end);
    }

    fn repeat(&mut self, routine: usize, nesting: u8) {
        let times = 1 + self.source.below(12) as u64;
        if self.rounds * times > MOST_ROUNDS {
            return self.assignment();
        }
        let counter = COUNTERS + 3 * routine as u8 + nesting;
        let (head, out) = (self.label(), self.label());
        self.ops(&[SET_A, times as u8, MOV_A_R, counter]);
        self.place(head);
        self.rounds *= times;
        if times < DATA as u64 && self.source.chance(1, 2) {
            // A register by the number of the round.
            let with = self.data();
            self.ops(&[MOV_RR_A, counter, ADD_R_TO_A, with, MOV_A_RR, counter]);
        }
        self.block(routine, nesting + 1);
        if self.source.chance(1, 4) {
            self.value();
            self.jump(out);
        }
        self.ops(&[MOV_R_A, counter, ADD_R_TO_A, MINUS_ONE, MOV_A_R, counter]);
        self.jump(head);
        self.place(out);
        self.cost += self.rounds;
        self.rounds /= times;
    }

    /// Calls a subroutine before this one.
    fn call(&mut self, routine: usize) {
        let at = self.source.below(routine);
        let Some((label, cost)) = self.routines.get(at).copied() else { return self.assignment() };
        if self.rounds * cost > MOST_ROUNDS {
            return self.assignment();
        }
        self.cost += self.rounds * cost;
        self.ops(&[CALL, LINKS + at as u8, 0]);
        self.jumps.push((self.code.len() - 1, label));
    }

    /// Goes by a register's number: one of those of data, or one that there isn't.
    fn indirect(&mut self) {
        let number = if self.source.chance(1, 16) { 200 } else { self.data() };
        self.ops(&[SET_A, number, MOV_A_R, POINTER]);
        self.value();
        let op = if self.source.chance(1, 2) { MOV_A_RR } else { MOV_RR_A };
        let to = self.data();
        self.ops(&[op, POINTER, MOV_A_R, to]);
    }

    /// Goes on at one of two positions that a register holds.
    fn computed_jump(&mut self) {
        let (chosen, first, second, end) = (self.label(), self.label(), self.label(), self.label());
        self.set_position(first);
        self.value();
        self.jump(chosen);
        self.set_position(second);
        self.place(chosen);
        self.ops(&[RETURN_TO, POINTER]);
        self.place(first);
        self.assignment();
        self.go(end);
        self.place(second);
        self.assignment();
        self.place(end);
    }

    fn set_position(&mut self, label: Label) {
        self.ops(&[SET_A, 0]);
        self.jumps.push((self.code.len() - 1, label));
        self.ops(&[MOV_A_R, POINTER]);
    }

    /// Something that traps, on some condition.
    fn accident(&mut self) {
        let past = self.label();
        self.value();
        self.jump(past);
        match self.source.below(4) {
            0 => self.ops(&[99, 0]),
            1 => self.ops(&[MOV_R_A, 250]),
            2 => self.ops(&[SET_A, 0, MOV_A_R, POINTER, DIV_A_BY_R, POINTER]),
            _ => self.ops(&[MOV_R_A, MINUS_ONE, MOV_A_R, POINTER, RETURN_TO, POINTER]),
        }
        self.place(past);
    }
}
