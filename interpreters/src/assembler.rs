//! An assembler: the text of a guest program to bytes, driven by a table of instructions.
//!
//! A line is `label:`s, then an instruction with its operands separated by commas or blanks, then a comment from `;` to
//! the end of the line; each part may be missing. Every instruction is one byte for its opcode and one byte for each
//! operand. `.byte N` is one byte as it is.
//!
//! ```text
//! ; sum: 1 + 2 + ... + n
//!     push 0
//!     pusharg
//! next:               ; total n
//!     swap
//!     pick 1
//!     add
//! ```
//!
//! [`InstructionSet::disassemble`] is the inverse.

use crate::error::{LoadError, Problem, ProblemKind, Span};
use std::collections::BTreeMap;

/// What the one byte of an operand stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A number from -128 to 127.
    Signed,
    /// A number from 0 to 255.
    Unsigned,
    /// A label, or the distance to it from the end of the instruction, from -128 to 127.
    Relative,
    /// A label, or its position in the program, from 0 to 255.
    Absolute,
}

impl Operand {
    /// The least and the greatest number that fit.
    pub fn range(self) -> (i64, i64) {
        match self {
            Operand::Signed | Operand::Relative => (-128, 127),
            Operand::Unsigned | Operand::Absolute => (0, 255),
        }
    }

    /// Whether a label may stand here.
    pub fn takes_label(self) -> bool {
        matches!(self, Operand::Relative | Operand::Absolute)
    }

    /// The number that `byte` stands for.
    pub fn value(self, byte: u8) -> i64 {
        match self {
            Operand::Signed | Operand::Relative => i64::from(byte as i8),
            Operand::Unsigned | Operand::Absolute => i64::from(byte),
        }
    }
}

/// One instruction of a guest language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its name in text, in lower case; in the dialect source the constant of the same name in upper case.
    pub name: &'static str,
    /// Its first byte.
    pub opcode: u8,
    /// What follows.
    pub operands: &'static [Operand],
    /// What it does, in one line.
    pub doc: &'static str,
}

impl Instruction {
    /// The bytes that it takes.
    pub fn size(&self) -> usize {
        1 + self.operands.len()
    }
}

/// The instructions of a guest language.
#[derive(Clone, Copy, Debug)]
pub struct InstructionSet {
    /// The name of the language, for messages.
    pub language: &'static str,
    /// The instructions by opcode.
    pub instructions: &'static [Instruction],
}

impl InstructionSet {
    /// The instruction of this name.
    pub fn by_name(&self, name: &str) -> Option<&'static Instruction> {
        self.instructions.iter().find(|i| i.name == name)
    }

    /// The instruction with this first byte.
    pub fn by_opcode(&self, opcode: u8) -> Option<&'static Instruction> {
        self.instructions.iter().find(|i| i.opcode == opcode)
    }

    /// The bytes of the program `text`.
    ///
    /// # Errors
    /// Every problem of the text, in its order.
    pub fn assemble(&self, text: &str) -> Result<Vec<u8>, LoadError> {
        let mut assembler = Assembler::new(self);
        for line in lines(text) {
            assembler.line(line);
        }
        assembler.finish()
    }
}

/// A piece of the text, with its place.
#[derive(Clone, Copy, Debug)]
struct Token<'t> {
    text: &'t str,
    span: Span,
}

/// The tokens of each line, comments and separators left out. A label keeps its colon.
fn lines(text: &str) -> impl Iterator<Item = Vec<Token<'_>>> {
    let mut offset = 0;
    text.split('\n').enumerate().map(move |(index, line)| {
        let start = offset;
        offset += line.len() + 1;
        let code = line.split(';').next().unwrap_or_default();
        let mut tokens = Vec::new();
        let mut rest = code;
        while let Some(from) = rest.find(|c: char| !c.is_whitespace() && c != ',') {
            let token = &rest[from..];
            let end = token
                .find([',', ':'])
                .into_iter()
                .chain(token.find(char::is_whitespace))
                .min()
                .map_or(token.len(), |end| if token[end..].starts_with(':') { end + 1 } else { end });
            let at = code.len() - token.len();
            tokens.push(Token {
                text: &token[..end],
                span: Span {
                    line: u32::try_from(index + 1).unwrap_or(u32::MAX),
                    column: u32::try_from(code[..at].chars().count() + 1).unwrap_or(u32::MAX),
                    offset: start + at,
                    len: end,
                },
            });
            rest = &token[end..];
        }
        tokens
    })
}

/// `7`, `-7`, `0x7`, `-0x7`.
pub(crate) fn number(text: &str) -> Option<i64> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let magnitude = match digits.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16),
        None => digits.parse::<i128>(),
    };
    let value = magnitude.ok()?;
    i64::try_from(if negative { -value } else { value }).ok()
}

fn is_label(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A place in the code that waits for the address of a label.
struct Fixup {
    at: usize,
    end: usize,
    operand: Operand,
    name: String,
    span: Span,
}

struct Assembler<'s> {
    set: &'s InstructionSet,
    code: Vec<u8>,
    labels: BTreeMap<String, (usize, u32)>,
    fixups: Vec<Fixup>,
    problems: Vec<Problem>,
}

impl<'s> Assembler<'s> {
    fn new(set: &'s InstructionSet) -> Assembler<'s> {
        Assembler { set, code: Vec::new(), labels: BTreeMap::new(), fixups: Vec::new(), problems: Vec::new() }
    }

    fn problem(&mut self, span: Span, kind: ProblemKind) {
        self.problems.push(Problem { span: Some(span), kind });
    }

    fn line(&mut self, tokens: Vec<Token<'_>>) {
        let mut rest = tokens.as_slice();
        while let [label, tail @ ..] = rest {
            let Some(name) = label.text.strip_suffix(':') else { break };
            self.label(name, label.span);
            rest = tail;
        }
        if let [name, operands @ ..] = rest {
            self.instruction(*name, operands);
        }
    }

    fn label(&mut self, name: &str, span: Span) {
        if !is_label(name) {
            return self.problem(span, ProblemKind::BadLabel { name: name.to_owned() });
        }
        match self.labels.get(name) {
            Some(&(_, first_line)) => {
                self.problem(span, ProblemKind::DuplicateLabel { name: name.to_owned(), first_line });
            }
            None => {
                self.labels.insert(name.to_owned(), (self.code.len(), span.line));
            }
        }
    }

    fn instruction(&mut self, name: Token<'_>, operands: &[Token<'_>]) {
        let known = match name.text {
            ".byte" => Some((".byte", [Operand::Unsigned].as_slice())),
            text => self.set.by_name(&text.to_ascii_lowercase()).map(|i| {
                self.code.push(i.opcode);
                (i.name, i.operands)
            }),
        };
        let Some((instruction, kinds)) = known else {
            let nearest = self.nearest(name.text);
            let (language, name_text) = (self.set.language, name.text.to_owned());
            return self.problem(name.span, ProblemKind::UnknownInstruction { language, name: name_text, nearest });
        };
        if operands.len() != kinds.len() {
            let expected = match kinds.len() {
                0 => "no operand".to_owned(),
                1 => "1 operand".to_owned(),
                n => format!("{n} operands"),
            };
            self.problem(name.span, ProblemKind::OperandCount { instruction, expected, given: operands.len() });
        }
        let end = self.code.len() + kinds.len();
        for (i, kind) in kinds.iter().enumerate() {
            let byte = operands.get(i).map_or(0, |token| self.operand(*token, *kind, end));
            self.code.push(byte);
        }
    }

    fn operand(&mut self, token: Token<'_>, operand: Operand, end: usize) -> u8 {
        if operand.takes_label() && is_label(token.text) {
            let name = token.text.to_owned();
            self.fixups.push(Fixup { at: self.code.len(), end, operand, name, span: token.span });
            return 0;
        }
        let Some(value) = number(token.text) else {
            self.problem(token.span, ProblemKind::NotAnOperand { text: token.text.to_owned() });
            return 0;
        };
        let (least, greatest) = operand.range();
        if !(least..=greatest).contains(&value) {
            self.problem(token.span, ProblemKind::OutOfRange { value, least, greatest });
        }
        value as u8
    }

    fn finish(mut self) -> Result<Vec<u8>, LoadError> {
        for fixup in std::mem::take(&mut self.fixups) {
            let name = fixup.name;
            let Some(&(target, _)) = self.labels.get(&name) else {
                self.problem(fixup.span, ProblemKind::UnknownLabel { name });
                continue;
            };
            let relative = fixup.operand == Operand::Relative;
            let value = target as i64 - if relative { fixup.end as i64 } else { 0 };
            let (least, greatest) = fixup.operand.range();
            if (least..=greatest).contains(&value) {
                self.code[fixup.at] = value as u8;
            } else if relative {
                self.problem(fixup.span, ProblemKind::TooFar { name, distance: value });
            } else {
                self.problem(fixup.span, ProblemKind::TooHigh { name, at: target });
            }
        }
        if self.problems.is_empty() {
            return Ok(self.code);
        }
        self.problems.sort_by_key(|p| p.span);
        Err(LoadError { problems: self.problems })
    }

    /// The instruction whose name is nearest to `name`, if it is near enough to be meant.
    fn nearest(&self, name: &str) -> Option<&'static str> {
        let name = name.to_ascii_lowercase();
        let scored = self.set.instructions.iter().map(|i| (distance(&name, i.name), i.name));
        scored.min().filter(|(d, near)| *d <= 2 && *d < near.len()).map(|(_, near)| near)
    }
}

/// How many single-character edits lead from `a` to `b` (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
