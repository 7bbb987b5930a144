//! plus_minus: the smallest interpreter that is worth compiling.
//!
//! A program is a row of `+` and `-`; assembled, it is one byte for each: 0xA and 0x5. The interpreter takes it as one
//! word, four bits an instruction, the first lowest.

use crate::{Guest, Interpreter, LoadError, Problem, ProblemKind, Span, argument, program::programs, run};

const PLUS: u8 = 0xA;
const MINUS: u8 = 0x5;

hueshift::interpreter_file!("plus_minus/plus_minus.rs", mod lang, entry plus_minus(encoded_insn, nb_insn));

pub(crate) const INTERPRETER: Interpreter = Interpreter {
    name: "plus_minus",
    doc: "a word of instructions that add y to x or subtract it",
    file: "plus_minus.rs",
    source: include_str!("plus_minus.rs"),
    entry: "plus_minus",
    greens: &[0, 1],
    parameters: &["x", "y"],
    optional: 0,
    instructions: None,
    programs: programs!("plus_minus": "plus_minus_plus" "all_plus" "nothing"),
    shows_result: true,
    embedded: || &lang::INTERPRETER,
    guest: Guest::Assembled {
        assemble,
        disassemble,
        arguments,
        run: |tier, code, guest, _| {
            run!(tier, lang::plus_minus(word(code), code.len() as i64, argument(guest, 0), argument(guest, 1)))
        },
        compiled: |jit, code, guest| {
            lang::aot::plus_minus(jit, word(code), code.len() as i64, argument(guest, 0), argument(guest, 1))
        },
    },
};

fn assemble(text: &str) -> Result<Vec<u8>, LoadError> {
    let (mut code, mut problems, mut offset) = (Vec::new(), Vec::new(), 0);
    for (index, line) in text.split('\n').enumerate() {
        let (mut column, mut at) = (0, offset);
        for c in line.split(';').next().unwrap_or_default().chars() {
            column += 1;
            match c {
                '+' => code.push(PLUS),
                '-' => code.push(MINUS),
                c if c.is_whitespace() => {}
                found => {
                    let line = u32::try_from(index + 1).unwrap_or(u32::MAX);
                    let span = Some(Span { line, column, offset: at, len: found.len_utf8() });
                    problems.push(Problem { span, kind: ProblemKind::NotPlusOrMinus { found } });
                }
            }
            at += c.len_utf8();
        }
        offset += line.len() + 1;
    }
    if code.len() > 16 {
        problems.push(Problem { span: None, kind: ProblemKind::TooMany { count: code.len() } });
    }
    if problems.is_empty() { Ok(code) } else { Err(LoadError { problems }) }
}

fn disassemble(code: &[u8]) -> String {
    let mut text: String = code.iter().map(|op| if *op == PLUS { '+' } else { '-' }).collect();
    text.push('\n');
    text
}

/// The program as one word, the first instruction lowest.
fn word(code: &[u8]) -> i64 {
    code.iter().rev().take(16).fold(0u64, |word, op| word << 4 | u64::from(op & 0xF)) as i64
}

fn arguments(code: &[u8], guest: &[i64]) -> String {
    let mut text = format!("{},{}", word(code), code.len());
    for value in guest {
        text.push_str(&format!(",{value}"));
    }
    text
}
