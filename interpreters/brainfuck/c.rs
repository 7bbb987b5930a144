//! The domain of programs in C: what the benchmarks measure against.

use super::{Domain, Sequence};
use std::fmt::Write;

/// A program means a function in C, with runs folded, places that are offsets from the pointer, and idioms.
#[derive(Clone, Copy, Debug, Default)]
pub struct C {
    /// Whether every access is checked, as `bf.rs` does.
    pub checked: bool,
}

/// A statement, its places relative to where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statement {
    /// Adds to the cell.
    Plus(u8),
    /// Moves.
    Right(i64),
    /// Reads.
    Input,
    /// Writes.
    Output,
    /// Begins a loop.
    Open,
    /// Ends a loop.
    Close,
    /// Sets the cell to 0.
    Zero,
    /// Adds a multiple of the cell elsewhere.
    Scale(i64, u8),
}

/// What a program needs around it.
const HEAD: &str = "#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char *tape;
static size_t cells;

__attribute__((noinline, noreturn, cold)) static void left_tape(size_t at)
{
    fflush(stdout);
    fprintf(stderr, \"index out of bounds: the len is %zu but the index is %zu\\n\", cells, at);
    exit(1);
}

static inline int read_byte(void)
{
    fflush(stdout);
    int b = getchar();
    return b == EOF ? 0 : b;
}
";

impl C {
    /// The program, with a tape of so many cells.
    pub fn finish(self, program: &Sequence<Statement>, cells: usize) -> String {
        let mut out = String::from(HEAD);
        if self.checked {
            out += "\n#define CELL(i) (*({ size_t at = p + (size_t)(i); if (__builtin_expect(at >= n, 0)) left_tape(at); &t[at]; }))\n";
            out += "\nstatic void run(unsigned char *restrict t, const size_t n)\n{\n    size_t p = 0;\n";
        } else {
            out += "\n#define CELL(i) (p[i])\n";
            out += "\nstatic void run(unsigned char *restrict p)\n{\n";
        }
        let mut depth = 1;
        let mut at = 0_i64; // not yet added to the pointer
        for statement in program.iter() {
            let mut line = |depth: usize, args: std::fmt::Arguments<'_>| {
                let _ = writeln!(out, "{:indent$}{args}", "", indent = 4 * depth.min(20));
            };
            match *statement {
                Statement::Plus(by) => line(depth, format_args!("CELL({at}) += {by};")),
                Statement::Right(by) => at += by,
                Statement::Input => line(depth, format_args!("CELL({at}) = read_byte();")),
                Statement::Output => line(depth, format_args!("putchar_unlocked(CELL({at}));")),
                Statement::Zero => line(depth, format_args!("CELL({at}) = 0;")),
                Statement::Scale(to, by) => {
                    let to = at + to;
                    // If the cell is 0, the other one is not touched.
                    let condition = if self.checked { format!("if (CELL({at})) ") } else { String::new() };
                    line(depth, format_args!("{condition}CELL({to}) += CELL({at}) * {by};"));
                }
                Statement::Open | Statement::Close => {
                    if at != 0 {
                        line(depth, format_args!("p += {at};"));
                        at = 0;
                    }
                    if *statement == Statement::Open {
                        line(depth, format_args!("while (CELL(0)) {{"));
                        depth += 1;
                    } else {
                        depth -= 1;
                        line(depth, format_args!("}}"));
                    }
                }
            }
        }
        let call = if self.checked { "run(tape, cells)" } else { "run(tape + room)" };
        // Unchecked, there is room on both sides for offsets that go astray.
        let room = if self.checked { 0 } else { cells };
        out += &format!(
            "}}\n\nint main(void)\n{{\n    const size_t room = {room};\n    (void)room;\n    cells = {cells};\n    \
             tape = calloc(cells + 2 * room, 1);\n    {call};\n    return fflush(stdout) != 0;\n}}\n"
        );
        out
    }
}

impl Domain for C {
    type Repr = Sequence<Statement>;

    fn unit(&mut self) -> Self::Repr {
        Sequence::default()
    }

    fn join(&mut self, first: Self::Repr, then: Self::Repr) -> Self::Repr {
        first.join(then)
    }

    fn plus(&mut self, by: u8) -> Self::Repr {
        Sequence::of(Statement::Plus(by))
    }

    fn right(&mut self, by: i64) -> Self::Repr {
        Sequence::of(Statement::Right(by))
    }

    fn input(&mut self) -> Self::Repr {
        Sequence::of(Statement::Input)
    }

    fn output(&mut self) -> Self::Repr {
        Sequence::of(Statement::Output)
    }

    fn loop_(&mut self, body: Self::Repr) -> Self::Repr {
        body.between(Statement::Open, Statement::Close)
    }

    fn zero(&mut self) -> Self::Repr {
        Sequence::of(Statement::Zero)
    }

    fn scale_move(&mut self, to: i64, by: u8) -> Self::Repr {
        Sequence::of(Statement::Scale(to, by)).join(Sequence::of(Statement::Zero))
    }

    fn scale_move2(&mut self, to: (i64, i64), by: (u8, u8)) -> Self::Repr {
        let first = Sequence::of(Statement::Scale(to.0, by.0)).join(Sequence::of(Statement::Scale(to.1, by.1)));
        first.join(Sequence::of(Statement::Zero))
    }
}
