//! Random programs in Brainfuck.
//!
//! A program goes about on a few cells, those of data and those of loops' counters, and always knows where it is; only
//! at the end it may run away.

use super::{Language, Program};
use flowgraph::testing::Source;

/// The cells of data; those behind them count rounds of loops.
const DATA: usize = 6;

/// How deep loops are nested that count in cells of their own.
const NESTING: usize = 3;

/// So many commands a program has, nearly.
const MOST_COMMANDS: usize = 300;

/// So often may the body of the innermost loop be run, in all.
const MOST_ROUNDS: u64 = 3000;

/// How often a loop is run that counts a cell of data down, mostly.
const MANY: u64 = 100;

struct Writer<'s, 'b> {
    source: &'s mut Source<'b>,
    text: String,
    at: usize,
    /// The cells of data that a loop around here counts in.
    reserved: Vec<usize>,
    rounds: u64,
    end: usize,
}

/// A program.
pub fn program(source: &mut Source<'_>) -> Program {
    let runs = (0..2 + source.below(2)).map(|_| if source.chance(1, 6) { 7 } else { 10 + source.below(20) });
    let runs = runs.map(|cells| cells.to_string()).collect();
    let input = (0..source.below(9)).map(|_| char::from(32 + source.below(95) as u8)).collect();
    let end = MOST_COMMANDS;
    let mut writer = Writer { source, text: String::new(), at: 0, reserved: Vec::new(), rounds: 1, end };
    while writer.goes_on() {
        writer.statement(0);
    }
    if writer.source.chance(1, 2) {
        writer.run_away();
    }
    Program { language: Language::Bf, text: writer.text, runs, input }
}

impl Writer<'_, '_> {
    fn goes_on(&self) -> bool {
        self.text.len() < self.end && !self.source.is_empty()
    }

    fn go(&mut self, to: usize) {
        let (command, count) = if to < self.at { ('<', self.at - to) } else { ('>', to - self.at) };
        self.text.extend(std::iter::repeat_n(command, count));
        self.at = to;
    }

    fn add(&mut self, by: usize) {
        let sign = if self.source.chance(1, 3) { '-' } else { '+' };
        self.text.extend(std::iter::repeat_n(sign, by));
    }

    /// A cell of data that no loop counts in.
    fn data(&mut self) -> Option<usize> {
        let free: Vec<usize> = (0..DATA).filter(|cell| !self.reserved.contains(cell)).collect();
        self.source.pick(&free).copied()
    }

    fn statement(&mut self, nesting: usize) {
        let Some(cell) = self.data() else { return };
        self.go(cell);
        match self.source.below(16) {
            0..=3 => {
                let by = 1 + self.source.below(12);
                self.add(by);
            }
            4 => self.text.push_str("[-]"),
            5 | 6 => self.text.push('.'),
            7 => self.text.push(','),
            8 | 9 => self.shift(cell),
            10..=12 if nesting < NESTING => self.repeat(nesting),
            13 => self.count_down(cell, nesting),
            14 => self.once(cell, nesting),
            15 => self.echo(cell, nesting),
            _ => self.add(1),
        }
    }

    fn block(&mut self, nesting: usize) {
        for _ in 0..1 + self.source.below(3) {
            if self.goes_on() {
                self.statement(nesting);
            }
        }
    }

    /// Adds a cell, some times over, to one or two others.
    fn shift(&mut self, cell: usize) {
        self.text.push_str("[-");
        self.reserved.push(cell);
        for _ in 0..1 + self.source.below(3) {
            let Some(to) = self.data() else { break };
            self.go(to);
            let by = 1 + self.source.below(3);
            self.add(by);
        }
        self.reserved.pop();
        self.go(cell);
        self.text.push(']');
    }

    /// A loop with a counter of its own.
    fn repeat(&mut self, nesting: usize) {
        let times = 1 + self.source.below(12) as u64;
        if self.rounds * times > MOST_ROUNDS {
            return self.text.push('.');
        }
        let counter = DATA + nesting;
        self.go(counter);
        self.text.push_str("[-]");
        self.text.extend(std::iter::repeat_n('+', times as usize));
        self.text.push('[');
        self.rounds *= times;
        self.block(nesting + 1);
        self.rounds /= times;
        self.go(counter);
        self.text.push_str("-]");
    }

    /// A loop that counts a cell of data down, whatever is in it.
    fn count_down(&mut self, cell: usize, nesting: usize) {
        if self.rounds * MANY > MOST_ROUNDS {
            return self.text.push('.');
        }
        self.text.push('[');
        self.reserved.push(cell);
        self.rounds *= MANY;
        self.block(nesting);
        self.rounds /= MANY;
        self.reserved.pop();
        self.go(cell);
        self.text.push_str("-]");
    }

    /// Something that is done if a cell isn't 0, which it is then.
    fn once(&mut self, cell: usize, nesting: usize) {
        self.text.push('[');
        self.block(nesting);
        self.go(cell);
        self.text.push_str("[-]]");
    }

    /// Something that is done for each byte of the input.
    fn echo(&mut self, cell: usize, nesting: usize) {
        if self.rounds * 8 > MOST_ROUNDS {
            return self.text.push(',');
        }
        self.text.push_str(",[");
        self.reserved.push(cell);
        self.rounds *= 8;
        self.block(nesting);
        self.rounds /= 8;
        self.reserved.pop();
        self.go(cell);
        self.text.push_str(".,]");
    }

    /// Goes to a cell that is 0, or off the tape.
    fn run_away(&mut self) {
        for _ in 0..1 + self.source.below(4) {
            let text = ["[>]", "[<]", "+[>>+]", "<<<", ">>>>", "[-<]", "+.", "[.>]"][self.source.below(8)];
            self.text.push_str(text);
        }
    }
}
