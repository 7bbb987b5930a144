use hueshift::prelude::*;

// Brainfuck as rows of instructions. Cells are bytes and wrap; one beyond the end of the tape is a trap where it is used.

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Adds `by` to the cell.
    Plus,
    /// Moves by `to`.
    Right,
    /// Reads the cell.
    Input,
    /// Writes the cell.
    Output,
    /// Goes on at `to` if the cell is 0.
    Open,
    /// Goes on at `to` if the cell is not 0.
    Close,
    /// Sets the cell to 0.
    Zero,
    /// Adds `by` times the cell to the one at `to`, and sets it to 0.
    ScaleMove,
    /// The same with `by2` and `to2`, too.
    ScaleMove2,
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Insn {
    /// What it does.
    pub code: Code,
    /// A number.
    pub by: u8,
    /// Another number, for another place.
    pub by2: u8,
    /// A place: a distance on the tape; of `Open` and `Close` the instruction to go on at.
    pub to: i64,
    /// Another place.
    pub to2: i64,
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

#[portal(greens(program, pc), reds(at, tape))]
fn run(program: &[Insn], mut pc: usize, mut at: usize, tape: &mut [u8]) {
    loop {
        merge_point!();
        if pc >= program.len() {
            return;
        }
        let by = program[pc].by;
        let to = program[pc].to;
        match program[pc].code {
            Code::Plus => tape[at] += by,
            Code::Right => at = moved(at, to),
            Code::Input => {
                let b = get_byte();
                tape[at] = if b < 0 { 0 } else { b as u8 };
            }
            Code::Output => put_byte(tape[at]),
            Code::Open => {
                if tape[at] == 0 {
                    pc = to as usize;
                    continue;
                }
            }
            Code::Close => {
                if tape[at] != 0 {
                    pc = to as usize;
                    can_enter_jit!();
                    continue;
                }
            }
            Code::Zero => tape[at] = 0,
            Code::ScaleMove => {
                let value = tape[at];
                if value != 0 {
                    add(tape, moved(at, to), value, by);
                    tape[at] = 0;
                }
            }
            Code::ScaleMove2 => {
                let value = tape[at];
                if value != 0 {
                    add(tape, moved(at, to), value, by);
                    add(tape, moved(at, program[pc].to2), value, program[pc].by2);
                    tape[at] = 0;
                }
            }
        }
        pc += 1;
    }
}

/// Runs a program from the first cell of the tape.
pub fn bf(program: &[Insn], tape: &mut [u8]) {
    run(program, 0, 0, tape)
}
