//! Traps: the fixed table of ways in which a guest's run ends, worded as Rust's panics are.

use super::{Loc, Operand, Scalar};

macro_rules! trap_kinds {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $template:literal, $operands:literal;)*) => {
        /// Why generated code stops. The wording is that of Rust 1.95's panics.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum TrapKind { $($(#[$doc])* $variant,)* }

        impl TrapKind {
            /// Every kind.
            pub const ALL: &'static [TrapKind] = &[$(TrapKind::$variant,)*];

            /// The name in text.
            pub fn name(self) -> &'static str {
                match self { $(TrapKind::$variant => $name,)* }
            }

            /// The message, each `{}` standing for an operand and `{msg}` for the author's own text.
            pub fn template(self) -> &'static str {
                match self { $(TrapKind::$variant => $template,)* }
            }

            /// How many operands the template shows; `None` where the author's own text decides.
            pub fn operands(self) -> Option<usize> {
                if self.has_message() { None } else { Some($(if matches!(self, TrapKind::$variant) { $operands } else)* { 0 }) }
            }
        }
    };
}

trap_kinds! {
    /// `a[i]` beyond the end: operands are the length and the index.
    IndexOutOfBounds = "index_out_of_bounds", "index out of bounds: the len is {} but the index is {}", 2;
    /// `&s[a..]` with `a` beyond the end: operands are `a` and the length.
    SliceStart = "slice_start", "range start index {} out of range for slice of length {}", 2;
    /// `&s[..b]` with `b` beyond the end: operands are `b` and the length.
    SliceEnd = "slice_end", "range end index {} out of range for slice of length {}", 2;
    /// `&s[a..b]` with `a > b`: operands are `a` and `b`.
    SliceOrder = "slice_order", "slice index starts at {} but ends at {}", 2;
    /// `x / 0`.
    DivideByZero = "divide_by_zero", "attempt to divide by zero", 0;
    /// `x % 0`.
    RemainderByZero = "remainder_by_zero", "attempt to calculate the remainder with a divisor of zero", 0;
    /// `MIN / -1`.
    DivideOverflow = "divide_overflow", "attempt to divide with overflow", 0;
    /// `MIN % -1`.
    RemainderOverflow = "remainder_overflow", "attempt to calculate the remainder with overflow", 0;
    /// `.step_by(0)`.
    StepByZero = "step_by_zero", "assertion failed: step != 0", 0;
    /// `clamp` with `min > max`.
    ClampOrder = "clamp_order", "assertion failed: min <= max", 0;
    /// `unwrap()` of nothing.
    UnwrapNone = "unwrap_none", "called `Option::unwrap()` on a `None` value", 0;
    /// `expect("…")` of nothing.
    Expect = "expect", "{msg}", 0;
    /// `assert!`.
    Assert = "assert", "{msg}", 0;
    /// `panic!`.
    Panic = "panic", "{msg}", 0;
    /// `unreachable!`.
    Unreachable = "unreachable", "{msg}", 0;
    /// Recursion too deep for the native stack.
    StackExhausted = "stack_exhausted", "stack exhausted", 0;
}

impl TrapKind {
    /// Whether the author's own text is the message.
    pub fn has_message(self) -> bool {
        self.template() == "{msg}"
    }

    /// The kind with this name in text.
    pub fn from_name(name: &str) -> Option<TrapKind> {
        TrapKind::ALL.iter().copied().find(|k| k.name() == name)
    }
}

/// A trap as a terminator: what is said, about which operands, and where. Two traps are the same only if all is equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Trap {
    /// The kind.
    pub kind: TrapKind,
    /// The author's own text (only for kinds that have one), with `{}` and `{:?}` for operands and `{{`, `}}` escaped.
    pub message: Option<String>,
    /// The operands and the Rust types that they are shown as.
    pub args: Vec<(Operand, Scalar)>,
    /// The source line blamed.
    pub loc: Loc,
}

impl Trap {
    /// The message, with `words` (the bits of the operands) in place of the `{}`.
    pub fn render(&self, words: &[u64]) -> String {
        let mut out = String::new();
        for piece in self.pieces() {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Operand { index, debug } => {
                    if let (Some((_, ty)), Some(word)) = (self.args.get(index), words.get(index)) {
                        out.push_str(&if debug { ty.debug(*word) } else { ty.display(*word) });
                    }
                }
            }
        }
        out
    }

    /// What the message consists of, in order.
    pub fn pieces(&self) -> Vec<Piece<'_>> {
        let template = self.message.as_deref().unwrap_or(self.kind.template());
        let mut pieces = Vec::new();
        let (mut rest, mut index) = (template, 0);
        while let Some(at) = rest.find(['{', '}']) {
            pieces.push(Piece::Text(&rest[..at]));
            rest = &rest[at..];
            if rest.starts_with("{{") || rest.starts_with("}}") {
                pieces.push(Piece::Text(&rest[..1]));
                rest = &rest[2..];
            } else {
                let end = rest.find('}').map_or(rest.len(), |e| e + 1);
                pieces.push(Piece::Operand { index, debug: &rest[..end] == "{:?}" });
                index += 1;
                rest = &rest[end..];
            }
        }
        pieces.push(Piece::Text(rest));
        pieces
    }
}

/// A part of a trap's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text as it is.
    Text(&'a str),
    /// An operand of the trap.
    Operand {
        /// Which.
        index: usize,
        /// As `{:?}` prints it, and not as `{}`.
        debug: bool,
    },
}
