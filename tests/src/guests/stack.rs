//! Random programs of the stack machine.
//!
//! A program is a few functions, the first of which is the entry; each may call those behind it, and itself with less.
//! A function has locals at the bottom of its stack. All distances must fit a byte, so code is short.

use super::{Language, Program};
use flowgraph::testing::Source;

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
const LT: u8 = 14;
const LE: u8 = 15;
const BR_COND: u8 = 18;
const BR_COND_STK: u8 = 19;
const CALL: u8 = 20;
const RETURN: u8 = 21;
const PUSHARG: u8 = 22;

/// So long is the code of all functions together, nearly: jumps and calls go no further.
const MOST_BYTES: usize = 110;

/// So often may the body of the innermost loop be run, in all.
const MOST_ROUNDS: u64 = 1500;

/// A place in the code.
#[derive(Clone, Copy)]
struct Label(usize);

struct Writer<'s, 'b> {
    source: &'s mut Source<'b>,
    code: Vec<u8>,
    /// Where each label is.
    labels: Vec<Option<usize>>,
    /// The operands that are to become distances: their positions, and to where.
    jumps: Vec<(usize, Label)>,
    /// Where the functions begin; how often a call of one does something.
    functions: Vec<(Label, u64)>,
    /// The one that is written.
    function: usize,
    /// How many values are on the stack here.
    depth: usize,
    /// Those of them that are locals: any may be changed but for counters.
    locals: Vec<usize>,
    /// How often what is written here is run.
    rounds: u64,
    /// Until where the function may go.
    end: usize,
}

/// A program.
pub fn program(source: &mut Source<'_>) -> Program {
    let count = 1 + source.below(4);
    let runs = (0..2 + source.below(3)).map(|_| argument(source).to_string()).collect();
    let mut writer = Writer {
        source,
        code: Vec::new(),
        labels: vec![None; count],
        jumps: Vec::new(),
        functions: (0..count).map(|at| (Label(at), 1)).collect(),
        function: 0,
        depth: 0,
        locals: Vec::new(),
        rounds: 1,
        end: 0,
    };
    // What is called is written first, since a call costs what it does; the entry stands in front of all, by a jump.
    let start = writer.label();
    if count > 1 {
        writer.ops(&[PUSH, 1]);
        writer.jump(start);
    }
    for function in (0..count).rev() {
        if function == 0 && count > 1 {
            writer.place(start);
        }
        writer.function(function, count);
    }
    let code = writer.finish();
    let text = Language::Tl.interpreter().disassemble(&code).unwrap_or_default();
    Program { language: Language::Tl, text, runs, input: String::new() }
}

fn argument(source: &mut Source<'_>) -> i64 {
    match source.below(4) {
        0 => source.int(),
        _ => source.below(25) as i64 - 4,
    }
}

impl Writer<'_, '_> {
    fn ops(&mut self, bytes: &[u8]) {
        self.code.extend_from_slice(bytes);
    }

    fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    fn place(&mut self, label: Label) {
        self.labels[label.0] = Some(self.code.len());
    }

    /// Jumps if the top, which is taken, is not 0.
    fn jump(&mut self, to: Label) {
        self.ops(&[BR_COND, 0]);
        self.jumps.push((self.code.len() - 1, to));
    }

    fn finish(mut self) -> Vec<u8> {
        for (at, label) in self.jumps {
            let to = self.labels[label.0].unwrap_or(self.code.len());
            let distance = to as i64 - at as i64 - 1;
            match i8::try_from(distance) {
                Ok(distance) => self.code[at] = distance as u8,
                // Too far: what would be called gives its argument, what would be jumped to is not.
                Err(_) if self.code[at - 1] == CALL => self.code[at - 1..=at].fill(NOP),
                Err(_) => self.code[at] = 0,
            }
        }
        self.code
    }

    /// Whether there is room for more.
    fn goes_on(&self) -> bool {
        self.code.len() < self.end && !self.source.is_empty()
    }

    fn function(&mut self, function: usize, count: usize) {
        let written = count - 1 - function;
        (self.function, self.end) = (function, MOST_BYTES * (written + 1) / count);
        (self.depth, self.rounds) = (0, 1);
        self.place(self.functions[function].0);
        let recurses = function > 0 && self.source.chance(1, 2);
        if recurses {
            // With no more than nothing it doesn't go deeper.
            let deeper = self.label();
            self.ops(&[PUSH, 0, PUSHARG, LT]);
            self.jump(deeper);
            self.ops(&[PUSHARG, RETURN]);
            self.place(deeper);
        }
        self.locals.clear();
        for _ in 0..1 + self.source.below(3) {
            self.leaf();
            self.locals.push(self.depth - 1);
        }
        while self.goes_on() {
            self.statement(0);
        }
        if recurses {
            let less = 1 + self.source.below(2) as u8;
            self.ops(&[PUSHARG, PUSH, less, SUB, CALL, 0]);
            self.jumps.push((self.code.len() - 1, self.functions[function].0));
            self.ops(&[ADD]);
        }
        let cost = self.functions[function].1;
        // A recursion is at most as deep as what other functions hand over.
        self.functions[function].1 = if recurses { cost * 8 } else { cost };
        if function > 0 || self.source.chance(3, 4) {
            self.ops(&[RETURN]);
        } else {
            // Off the end of the code, which is the end of the run.
            self.jump_to_end();
        }
    }

    fn jump_to_end(&mut self) {
        let end = self.label();
        self.ops(&[PUSH, 1]);
        self.jump(end);
    }

    // ---- expressions: one value more

    fn leaf(&mut self) {
        match self.source.below(4) {
            0 | 1 if !self.locals.is_empty() => {
                let local = *self.source.pick(&self.locals).unwrap_or(&0);
                self.ops(&[PICK, (self.depth - 1 - local) as u8]);
            }
            2 => self.ops(&[PUSHARG]),
            _ => {
                let n = self.source.below(12) as i8 - 3;
                self.ops(&[PUSH, n as u8]);
            }
        }
        self.depth += 1;
    }

    fn expression(&mut self, nesting: u32) {
        if nesting >= 3 || self.source.chance(1, 3) {
            return self.leaf();
        }
        if self.source.chance(1, 6) && self.call() {
            return;
        }
        self.expression(nesting + 1);
        self.expression(nesting + 1);
        match self.source.below(8) {
            0 => self.ops(&[SWAP]),
            1 => self.ops(&[ROLL, 2]),
            2 => self.ops(&[ROLL, (-2i8) as u8]),
            3 => self.ops(&[NOP]),
            _ => {}
        }
        let op = match self.source.below(12) {
            0 => DIV,
            n @ 1..=5 => [ADD, SUB, MUL, ADD, SUB][n - 1],
            n => LT + (n as u8 - 6) - 2,
        };
        self.ops(&[op]);
        self.depth -= 1;
    }

    /// A value of which it is known that it isn't large.
    fn small(&mut self) {
        if self.source.chance(1, 3) {
            self.leaf();
            self.leaf();
            self.ops(&[LE]);
            self.depth -= 1;
        } else {
            let n = self.source.below(5) as u8;
            self.ops(&[PUSH, n]);
            self.depth += 1;
        }
    }

    /// Calls a function behind this one; not if that would take too long.
    fn call(&mut self) -> bool {
        let behind = &self.functions[self.function + 1..];
        let Some((label, cost)) = behind.get(self.source.below(behind.len())).copied() else { return false };
        if self.rounds * cost > MOST_ROUNDS {
            return false;
        }
        self.functions[self.function].1 += self.rounds * cost;
        self.small();
        self.ops(&[CALL, 0]);
        self.jumps.push((self.code.len() - 1, label));
        true
    }

    // ---- statements: as many values as before

    fn statement(&mut self, nesting: u32) {
        match self.source.below(16) {
            0..=5 => self.assignment(),
            6 | 7 => self.branch(nesting),
            8..=10 if nesting < 3 => self.repeat(nesting),
            11 => self.computed_jump(),
            12 => self.pile(),
            13 => self.turn(),
            14 if self.source.chance(1, 4) => self.accident(),
            _ => self.assignment(),
        }
    }

    fn assignment(&mut self) {
        self.expression(0);
        let local = *self.source.pick(&self.locals).unwrap_or(&0);
        self.depth -= 1;
        self.ops(&[PUT, (self.depth - 1 - local) as u8]);
    }

    fn block(&mut self, nesting: u32) {
        for _ in 0..1 + self.source.below(3) {
            if self.goes_on() {
                self.statement(nesting + 1);
            }
        }
    }

    fn branch(&mut self, nesting: u32) {
        let (then, end) = (self.label(), self.label());
        self.expression(1);
        self.depth -= 1;
        self.jump(then);
        if self.source.chance(1, 2) {
            self.block(nesting);
        }
        self.ops(&[PUSH, 1]);
        self.jump(end);
        self.place(then);
        self.block(nesting);
        self.place(end);
    }

    /// A loop that counts down, which may be left in the middle.
    fn repeat(&mut self, nesting: u32) {
        let times = 1 + self.source.below(12) as u64;
        if self.rounds * times > MOST_ROUNDS {
            return self.assignment();
        }
        let (head, out) = (self.label(), self.label());
        self.ops(&[PUSH, times as u8]);
        self.depth += 1;
        let counter = self.depth - 1;
        self.rounds *= times;
        self.place(head);
        self.block(nesting);
        if self.source.chance(1, 4) {
            self.expression(1);
            self.depth -= 1;
            self.jump(out);
        }
        // The counter is the top again.
        debug_assert_eq!(self.depth - 1, counter);
        self.ops(&[PUSH, 1, SUB, PICK, 0]);
        self.jump(head);
        self.place(out);
        self.ops(&[POP]);
        self.depth -= 1;
        self.functions[self.function].1 += self.rounds;
        self.rounds /= times;
    }

    /// Jumps by a distance that is computed, into one of a few arms of the same length.
    fn computed_jump(&mut self) {
        let arms = 2 + self.source.below(2);
        let mut codes = Vec::new();
        for _ in 0..arms {
            let at = self.code.len();
            self.leaf();
            let local = *self.source.pick(&self.locals).unwrap_or(&0);
            self.depth -= 1;
            self.ops(&[PUT, (self.depth - 1 - local) as u8]);
            codes.push(self.code.split_off(at));
        }
        let longest = codes.iter().map(Vec::len).max().unwrap_or(0) + 4;
        // Whether to jump at all, then how many arms further.
        self.ops(&[PUSH, 1]);
        self.depth += 1;
        for arm in 1..arms {
            self.leaf();
            self.leaf();
            self.ops(&[LT]);
            self.depth -= 1;
            if arm > 1 {
                self.ops(&[ADD]);
                self.depth -= 1;
            }
        }
        self.ops(&[PUSH, longest as u8, MUL, BR_COND_STK]);
        self.depth -= 2;
        let end = self.label();
        for mut code in codes {
            code.resize(longest - 4, NOP);
            self.ops(&code);
            self.ops(&[PUSH, 1]);
            self.jump(end);
        }
        self.place(end);
    }

    /// Piles values up in a loop, in each round of which the stack is another.
    fn pile(&mut self) {
        let height = 2 + self.source.below(4);
        let value = self.source.below(100) as u8;
        let head = self.label();
        self.ops(&[PUSH, height as u8]);
        self.place(head);
        self.ops(&[PUSHARG, PUSH, value, ADD, SWAP, PUSH, 1, SUB, PICK, 0]);
        self.jump(head);
        self.ops(&[POP]);
        for _ in 1..height {
            let op = [ADD, SUB, MUL, LE][self.source.below(4)];
            self.ops(&[op]);
        }
        let local = *self.source.pick(&self.locals).unwrap_or(&0);
        self.ops(&[PUT, (self.depth - 1 - local) as u8]);
        self.functions[self.function].1 += self.rounds * height as u64;
    }

    /// Turns all locals around, when they are all that there is.
    fn turn(&mut self) {
        let count = self.locals.len();
        if self.depth == count && count > 1 {
            let by = self.source.below(2 * count + 1) as i8 - count as i8;
            self.ops(&[ROLL, by as u8]);
        }
    }

    /// Something that traps, on some condition.
    fn accident(&mut self) {
        let past = self.label();
        self.expression(1);
        self.depth -= 1;
        self.jump(past);
        match self.source.below(4) {
            0 => self.ops(&[200]),
            1 => self.ops(&[PICK, 40]),
            2 => self.ops(&[PUSH, 1, PUSH, 0, DIV, POP]),
            _ => {
                let again = self.label();
                self.place(again);
                self.ops(&[PUSH, 1, PICK, 0]);
                self.jump(again);
            }
        }
        self.place(past);
    }
}
