//! Traps, as a program sees them that embeds an interpreter.

use flowgraph::eval::TrapReport;
use flowgraph::ir::{Module, TrapKind};
use std::fmt;

/// The guest's run has ended as by a panic. Shown, it is the message of the panic that the same source has under rustc.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// Why.
    pub kind: TrapKind,
    /// The message: `index out of bounds: the len is 3 but the index is 3`.
    pub message: String,
    /// The file, as it was given; empty where it isn't known.
    pub file: String,
    /// The line in the file, from 1; 0 where it isn't known.
    pub line: u32,
    /// The column, from 1; 0 where it isn't known.
    pub column: u32,
}

impl Trap {
    /// A trap of compiled code, or of the evaluator.
    pub(crate) fn of_report(report: TrapReport, module: &Module) -> Trap {
        let TrapReport { kind, message, loc } = report;
        let file = module.files.get(loc.file.0 as usize).map(|file| file.name.clone()).unwrap_or_default();
        Trap { kind, message, file, line: loc.line, column: loc.column }
    }

    /// `file:line:column`, if that is known.
    pub fn place(&self) -> Option<String> {
        (self.line > 0).then(|| format!("{}:{}:{}", self.file, self.line, self.column))
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Trap {}
