use hueshift::prelude::*;

/// An operand stack, and how much of it is used.
pub struct Stack {
    #[green]
    pub depth: usize,
    pub cells: [i64; 8],
}

/// `1` pushes 1, `s` swaps the two cells on top, `+` and `-` replace them by what comes of them, and `l` goes back to the beginning
/// while the cell on top isn't 0.
#[portal(greens(code, pc), reds(stack))]
pub fn run(code: &[u8], mut pc: usize, stack: &mut Stack) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return stack.cells[0];
        }
        let op = code[pc];
        pc += 1;
        let top = stack.depth - 1;
        match op {
            b'1' => {
                stack.cells[top + 1] = 1;
                stack.depth += 1;
            }
            b's' => {
                let under = stack.cells[top - 1];
                stack.cells[top - 1] = stack.cells[top];
                stack.cells[top] = under;
            }
            b'+' | b'-' => {
                let (a, b) = (stack.cells[top - 1], stack.cells[top]);
                stack.cells[top - 1] = if op == b'+' { a + b } else { a - b };
                stack.depth -= 1;
            }
            _ => {
                if stack.cells[top] != 0 {
                    pc = 0;
                    can_enter_jit!();
                }
            }
        }
    }
}
