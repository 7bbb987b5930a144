//! The table row of the interpreter of rows, `bf.rs`.

use super::{CELLS, Insn, Peephole, Rows, parse};
use crate::{Guest, Interpreter, LoadError, Problem, ProblemKind, Program, assembler::number, run};

hueshift::interpreter_file!("brainfuck/bf.rs", pub(crate) mod lang, entry bf(program));

pub(crate) const BF: Interpreter = Interpreter {
    name: "bf",
    doc: "Brainfuck, as rows of instructions",
    file: "bf.rs",
    source: include_str!("bf.rs"),
    entry: "bf",
    greens: &[0],
    parameters: &["cells"],
    optional: 1,
    instructions: None,
    programs: PROGRAMS,
    shows_result: false,
    embedded: || &lang::INTERPRETER,
    guest: Guest::Text {
        arguments: |text, arguments| {
            let cells = cells(arguments)?;
            Ok(format!("{},[0; {cells}]", Rows::arguments(&rows(text)?)))
        },
        run: |tier, text, arguments| {
            let mut tape = vec![0; cells(arguments)?];
            let rows = rows(text)?;
            Ok(run!(tier, lang::bf(&rows, &mut tape)).map(|()| "()".to_owned()))
        },
    },
};

/// The optimized rows of a program.
///
/// # Errors
/// Each bracket without its partner.
pub fn rows(text: &[u8]) -> Result<Vec<Insn>, LoadError> {
    let mut rows = Peephole::new(Rows);
    let program = parse(&mut rows, &String::from_utf8_lossy(text))?;
    Ok(Rows::finish(rows.finish(program)))
}

macro_rules! programs {
    ($($name:literal $ends:expr;)*) => {
        &[$(Program {
            name: $name,
            text: include_str!(concat!("programs/", $name, ".b")),
            run: Some(crate::FileRun {
                input: include_bytes!(concat!("programs/", $name, ".input")),
                output: include_bytes!(concat!("programs/", $name, ".output")),
                ends: $ends,
            }),
        }),*]
    };
}

/// The bundled programs, for every interpreter of Brainfuck.
pub(super) const PROGRAMS: &[Program] = programs! {
    "hello" Ok("()");
    "reverse" Ok("()");
    "rot13" Ok("()");
    "squares" Ok("()");
    "sierpinski" Ok("()");
    "off_the_tape" Err("index out of bounds: the len is 30000 but the index is 18446744073709551615");
};

/// The most cells that there may be.
const MOST: usize = 1 << 28;

/// How many cells the tape is to have.
pub(super) fn cells(arguments: &[&str]) -> Result<usize, LoadError> {
    let Some(text) = arguments.first() else { return Ok(CELLS) };
    let cells = number(text.trim()).and_then(|n| usize::try_from(n).ok()).filter(|n| (1..=MOST).contains(n));
    let problem = ProblemKind::BadCells { text: (*text).to_owned(), most: MOST };
    cells.ok_or(LoadError { problems: vec![Problem { span: None, kind: problem }] })
}
