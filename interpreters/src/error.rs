//! What is wrong with a guest program or its arguments: where, what, why, and what to do instead.
//!
//! All problems of a program are reported at once, in the order of the text:
//!
//! ```
//! let tl = interpreters::find("tl").unwrap();
//! let error = tl.load_text("    push 1\n    pusch 2\n    br_cond back\n", &["5"]).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "2:5: unknown instruction `pusch`\n\
//!      \x20 tl has no instruction of this name\n\
//!      \x20 help: did you mean `push`?\n\
//!      3:13: unknown label `back`\n\
//!      \x20 no line begins with `back:`\n\
//!      \x20 help: write `back:` in front of the instruction to jump to"
//! );
//! ```

use std::fmt;
use thiserror::Error;

/// The place of a problem in the text of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// Bytes from the start of the text.
    pub offset: usize,
    /// Length in bytes.
    pub len: usize,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum ProblemKind {
    #[error("unknown instruction `{name}`")]
    UnknownInstruction { language: &'static str, name: String, nearest: Option<&'static str> },
    #[error("`{instruction}` needs {expected}, not {given}")]
    OperandCount { instruction: &'static str, expected: String, given: usize },
    #[error("`{text}` is neither a number nor a label")]
    NotAnOperand { text: String },
    #[error("{value} does not fit")]
    OutOfRange { value: i64, least: i64, greatest: i64 },
    #[error("unknown label `{name}`")]
    UnknownLabel { name: String },
    #[error("the label `{name}` is there twice")]
    DuplicateLabel { name: String, first_line: u32 },
    #[error("`{name}` can't be a label")]
    BadLabel { name: String },
    #[error("`{name}` is too far away: {distance} bytes")]
    TooFar { name: String, distance: i64 },
    #[error("`{name}` lies at byte {at}, out of reach")]
    TooHigh { name: String, at: usize },
    #[error("`{found}` is not an instruction of plus_minus")]
    NotPlusOrMinus { found: char },
    #[error("{count} instructions are too many")]
    TooMany { count: usize },
    #[error("the program is not text")]
    NotText,
    #[error("programs of {interpreter} are not assembled to bytes")]
    NotAssembled { interpreter: &'static str },
    #[error("this `]` has no `[`")]
    Unopened,
    #[error("this `[` has no `]`")]
    Unclosed,
    #[error("the pattern is not text")]
    PatternNotText { at: usize },
    #[error("this is no regular expression: {message}")]
    Pattern { message: String },
    #[error("the pattern has {what}")]
    PatternUnsupported { what: &'static str },
    #[error("the pattern comes to more than {most} {what}")]
    PatternTooLarge { what: &'static str, most: usize },
    #[error("a tape can't have `{text}` cells")]
    BadCells { text: String, most: usize },
    #[error("{interpreter} takes {} for its program, here are {given}", count_arguments(.parameters.len(), *.optional))]
    ArgumentCount { interpreter: &'static str, parameters: Vec<&'static str>, optional: usize, given: usize },
    #[error("the argument `{name}` can't be `{text}`")]
    BadArgument { name: &'static str, text: String },
}

fn count_arguments(n: usize, optional: usize) -> String {
    if optional > 0 {
        return format!("{} to {}", n - optional, count_arguments(n, 0));
    }
    if n == 1 { "1 argument".to_owned() } else { format!("{n} arguments") }
}

impl ProblemKind {
    /// Why this is a problem.
    pub fn reason(&self) -> String {
        use ProblemKind::*;
        match self {
            UnknownInstruction { language, .. } => format!("{language} has no instruction of this name"),
            OperandCount { .. } => "an instruction has a fixed number of operands".to_owned(),
            NotAnOperand { .. } => "an operand is a decimal or hexadecimal number, or a label for a jump".to_owned(),
            OutOfRange { least, greatest, .. } => format!("the operand is one byte, {least} to {greatest}"),
            UnknownLabel { name } => format!("no line begins with `{name}:`"),
            DuplicateLabel { first_line, .. } => format!("it is already in line {first_line}"),
            BadLabel { .. } => "a label is a letter or `_`, then letters, digits and `_`".to_owned(),
            TooFar { .. } => "a relative jump reaches from -128 to 127 bytes from the next instruction".to_owned(),
            TooHigh { .. } => "an absolute jump reaches the first 256 bytes".to_owned(),
            NotPlusOrMinus { .. } => "a program of plus_minus is a row of `+` and `-`".to_owned(),
            TooMany { .. } => "a program of plus_minus is one 64-bit word, four bits for each instruction".to_owned(),
            NotText => "it is no valid UTF-8".to_owned(),
            NotAssembled { .. } => "they are run as they are".to_owned(),
            Unopened => "a loop ends here that has not begun".to_owned(),
            Unclosed => "the loop that begins here does not end".to_owned(),
            PatternNotText { at } => format!("byte {at} is no valid UTF-8"),
            Pattern { .. } => "patterns are written as for the crate `regex`".to_owned(),
            PatternUnsupported { .. } => {
                "an automaton over bytes knows only what it has read, and the ends of the text".to_owned()
            }
            PatternTooLarge { .. } => "an automaton has a state for all that may be remembered".to_owned(),
            BadCells { most, .. } => format!("it is a number from 1 to {most}"),
            ArgumentCount { parameters, .. } if parameters.is_empty() => "it needs nothing".to_owned(),
            ArgumentCount { parameters, .. } => format!("they are: {}", parameters.join(", ")),
            BadArgument { .. } => "it is a 64-bit integer, decimal or hexadecimal".to_owned(),
        }
    }

    /// What to write instead.
    pub fn remedy(&self) -> String {
        use ProblemKind::*;
        match self {
            UnknownInstruction { nearest: Some(name), .. } => format!("did you mean `{name}`?"),
            UnknownInstruction { language, nearest: None, .. } => {
                let set = crate::find(language).and_then(|i| i.instructions);
                let names: Vec<&str> = set.iter().flat_map(|s| s.instructions).map(|i| i.name).collect();
                format!("its instructions are {}", names.join(", "))
            }
            OperandCount { expected, .. } => format!("write {expected} after it"),
            NotAnOperand { .. } => "write a number such as 7, -7 or 0x7".to_owned(),
            OutOfRange { .. } => {
                "compute larger numbers from smaller ones, as in `push 100`, `push 10`, `mul`".to_owned()
            }
            UnknownLabel { name } => format!("write `{name}:` in front of the instruction to jump to"),
            DuplicateLabel { .. } => "rename one of them, and the jumps to it".to_owned(),
            BadLabel { .. } => "write a name such as `loop:`".to_owned(),
            TooFar { .. } => "move the target nearer, or jump there in two steps".to_owned(),
            TooHigh { .. } => "move the target to the front of the program".to_owned(),
            NotPlusOrMinus { .. } => "write `+` or `-`; a comment goes from `;` to the end of the line".to_owned(),
            TooMany { .. } => "write at most 16".to_owned(),
            NotText => "give a program in assembly text, or a file that does not end in .asm for bytes".to_owned(),
            NotAssembled { .. } => "give the text itself".to_owned(),
            Unopened => "write a `[` before it, or take it away".to_owned(),
            Unclosed => "write a `]` behind it, or take it away".to_owned(),
            PatternNotText { .. } => "save the pattern as UTF-8".to_owned(),
            Pattern { .. } => "write for example `[a-z]+[0-9]*`".to_owned(),
            PatternUnsupported { .. } => "leave it out: `^` and `$` without `(?m)` are the ends of the text".to_owned(),
            PatternTooLarge { .. } => {
                "repeat less often, or leave classes of Unicode out: `(?-u:\\w)` is `[0-9A-Za-z_]`".to_owned()
            }
            BadCells { .. } => "write a number such as 30000".to_owned(),
            ArgumentCount { .. } => "write them after `--`".to_owned(),
            BadArgument { .. } => "write a number such as 7, -7 or 0x7".to_owned(),
        }
    }
}

/// One thing that is wrong, and where. Problems with arguments have no place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub span: Option<Span>,
    /// What.
    pub kind: ProblemKind,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(span) = self.span {
            write!(f, "{}:{}: ", span.line, span.column)?;
        }
        write!(f, "{}\n  {}\n  help: {}", self.kind, self.kind.reason(), self.kind.remedy())
    }
}

/// Why a program could not be loaded: all of its problems, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", .problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct LoadError {
    /// The problems; never empty.
    pub problems: Vec<Problem>,
}

impl From<ProblemKind> for LoadError {
    fn from(kind: ProblemKind) -> LoadError {
        LoadError { problems: vec![Problem { span: None, kind }] }
    }
}
