use hueshift::prelude::*;

// Brainfuck as a tree of nodes. Cells are bytes and wrap; one beyond the end of the tape is a trap where it is used.

/// A node. The nodes in a loop lie side by side.
#[allow(missing_docs)] // of fields
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// Adds to the cell.
    Plus { by: u8 },
    /// Moves.
    Right { by: i64 },
    /// Reads the cell.
    Input,
    /// Writes the cell.
    Output,
    /// Sets the cell to 0.
    Zero,
    /// Adds `by` times the cell to the one at `to`, and sets it to 0.
    ScaleMove { to: i64, by: u8 },
    /// The same with `by2` and `to2`, too.
    ScaleMove2 { to: i64, by: u8, to2: i64, by2: u8 },
    /// Does the nodes from `first` to before `end` as long as the cell is not 0.
    Loop { first: usize, end: usize },
}

/// So many cells further.
fn moved(at: usize, by: i64) -> usize {
    at.wrapping_add(by as usize)
}

/// Adds `by` times `value` to a cell. The number is known when compiling.
fn add(tape: &mut [u8], at: usize, value: u8, by: u8) {
    if by == 1 {
        tape[at] += value;
    } else if by == 255 {
        tape[at] -= value;
    } else {
        tape[at] += value * by;
    }
}

/// Does nodes one after the other. Gives the place where that ends.
fn row(nodes: &[Node], first: usize, end: usize, start: usize, tape: &mut [u8]) -> usize {
    let mut at = start;
    let mut i = concrete(first);
    while i < concrete(end) {
        match nodes[i] {
            Node::Plus { by } => tape[at] += by,
            Node::Right { by } => at = moved(at, by),
            Node::Input => {
                let b = get_byte();
                tape[at] = if b < 0 { 0 } else { b as u8 };
            }
            Node::Output => put_byte(tape[at]),
            Node::Zero => tape[at] = 0,
            Node::ScaleMove { to, by } => {
                let value = tape[at];
                if value != 0 {
                    add(tape, moved(at, to), value, by);
                    tape[at] = 0;
                }
            }
            Node::ScaleMove2 { to, by, to2, by2 } => {
                let value = tape[at];
                if value != 0 {
                    add(tape, moved(at, to), value, by);
                    add(tape, moved(at, to2), value, by2);
                    tape[at] = 0;
                }
            }
            Node::Loop { first, end } => at = repeat(nodes, first, end, at, tape),
        }
        i += 1;
    }
    at
}

/// A loop of the guest.
#[portal(greens(nodes, first, end), reds(at, tape))]
fn repeat(nodes: &[Node], first: usize, end: usize, mut at: usize, tape: &mut [u8]) -> usize {
    loop {
        merge_point!();
        if tape[at] == 0 {
            return at;
        }
        at = row(nodes, first, end, at, tape);
        can_enter_jit!();
    }
}

/// Runs the nodes from `first` to before `end` from the first cell of the tape.
pub fn bf_ast(nodes: &[Node], first: usize, end: usize, tape: &mut [u8]) {
    row(nodes, first, end, 0, tape);
}
