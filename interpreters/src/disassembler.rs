//! The inverse of the assembler: bytes to text that assembles to the same bytes.
//!
//! Targets of jumps that are the beginning of an instruction get a label `L` and their position; others stay numbers.
//! Bytes that are no instruction become `.byte N`.

use crate::assembler::{Instruction, InstructionSet, Operand};
use std::collections::BTreeSet;
use std::fmt::Write;

enum Item<'s> {
    Instruction { at: usize, instruction: &'s Instruction },
    Byte { at: usize },
}

impl InstructionSet {
    /// The text of the program `code`.
    pub fn disassemble(&self, code: &[u8]) -> String {
        let items = self.split(code);
        let starts: BTreeSet<usize> = items.iter().map(Item::at).chain([code.len()]).collect();
        let mut labels = BTreeSet::new();
        for item in &items {
            if let Item::Instruction { at, instruction } = item {
                for (i, operand) in instruction.operands.iter().enumerate() {
                    let target = target(*at, instruction, *operand, code[at + 1 + i]);
                    labels.extend(target.filter(|t| starts.contains(t)));
                }
            }
        }
        let mut out = String::new();
        for item in &items {
            if labels.contains(&item.at()) {
                let _ = writeln!(out, "L{}:", item.at());
            }
            match item {
                Item::Byte { at } => {
                    let _ = writeln!(out, "    .byte {}", code[*at]);
                }
                Item::Instruction { at, instruction } => {
                    let _ = write!(out, "    {}", instruction.name);
                    for (i, operand) in instruction.operands.iter().enumerate() {
                        let byte = code[at + 1 + i];
                        let separator = if i == 0 { " " } else { ", " };
                        let _ = match target(*at, instruction, *operand, byte).filter(|t| labels.contains(t)) {
                            Some(label) => write!(out, "{separator}L{label}"),
                            None => write!(out, "{separator}{}", operand.value(byte)),
                        };
                    }
                    out.push('\n');
                }
            }
        }
        if labels.contains(&code.len()) {
            let _ = writeln!(out, "L{}:", code.len());
        }
        out
    }

    fn split(&self, code: &[u8]) -> Vec<Item<'static>> {
        let (mut items, mut at) = (Vec::new(), 0);
        while at < code.len() {
            match self.by_opcode(code[at]).filter(|i| at + i.size() <= code.len()) {
                Some(instruction) => {
                    items.push(Item::Instruction { at, instruction });
                    at += instruction.size();
                }
                None => {
                    items.push(Item::Byte { at });
                    at += 1;
                }
            }
        }
        items
    }
}

impl Item<'_> {
    fn at(&self) -> usize {
        match self {
            Item::Instruction { at, .. } | Item::Byte { at } => *at,
        }
    }
}

/// Where the operand `byte` of the instruction at `at` leads, if it is a jump.
fn target(at: usize, instruction: &Instruction, operand: Operand, byte: u8) -> Option<usize> {
    match operand {
        Operand::Relative => (at + instruction.size()).checked_add_signed(isize::from(byte as i8)),
        Operand::Absolute => Some(usize::from(byte)),
        Operand::Signed | Operand::Unsigned => None,
    }
}
