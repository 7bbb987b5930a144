use hueshift::prelude::*;

pub struct Stack {
    pub cells: [i64; 8],
}

/// The position behind the `[` that belongs to the `]` at `end`.
#[elidable]
fn opening(code: &[u8], end: usize) -> usize {
    let mut open = 1;
    let mut at = end;
    while open > 0 {
        at -= 1;
        if code[at] == b']' {
            open += 1;
        } else if code[at] == b'[' {
            open -= 1;
        }
    }
    at + 1
}

fn push(stack: &mut Stack, sp: usize, value: i64) -> usize {
    stack.cells[sp] = value;
    sp + 1
}

#[portal(greens(code, pc, sp), reds(x, stack))]
fn run(code: &[u8], mut pc: usize, mut sp: usize, x: i64, stack: &mut Stack) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return stack.cells[sp - 1];
        }
        let op = concrete(code[pc]);
        pc += 1;
        match op {
            b'x' => sp = push(stack, sp, x),
            b'0'..=b'9' => sp = push(stack, sp, (op - b'0') as i64),
            b'+' | b'-' | b'*' => {
                sp -= 1;
                let right = stack.cells[sp];
                let left = stack.cells[sp - 1];
                stack.cells[sp - 1] = match op {
                    b'+' => left + right,
                    b'-' => left - right,
                    _ => left * right,
                };
            }
            // s swaps the two topmost values, o copies the one below the top, p drops the top.
            b's' => {
                let top = stack.cells[sp - 1];
                stack.cells[sp - 1] = stack.cells[sp - 2];
                stack.cells[sp - 2] = top;
            }
            b'o' => {
                let copy = stack.cells[sp - 2];
                sp = push(stack, sp, copy);
            }
            b'p' => sp -= 1,
            b'[' => {}
            b']' => {
                if stack.cells[sp - 1] != 0 {
                    pc = opening(code, pc - 1);
                    can_enter_jit!();
                }
            }
            _ => panic!("what is the character {}?", op),
        }
    }
}

/// A program in reverse Polish notation: `[ ... ]` is repeated until the top of the stack is 0.
pub fn rpn(code: &[u8], x: i64) -> i64 {
    let mut stack = Stack { cells: [0; 8] };
    run(code, 0, 0, x, &mut stack)
}
