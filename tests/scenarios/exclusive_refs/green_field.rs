use hueshift::prelude::*;

/// A stack machine's state.
pub struct Frame {
    #[green]
    sp: usize,
    stack: [i64; 8],
}

fn push(frame: &mut Frame, value: i64) {
    frame.stack[frame.sp] = value;
    frame.sp += 1;
}

fn pop(frame: &mut Frame) -> i64 {
    frame.sp -= 1;
    frame.stack[frame.sp]
}

#[portal(greens(code, pc), reds(frame))]
pub fn run(code: &[u8], mut pc: usize, frame: &mut Frame) -> i64 {
    loop {
        merge_point!();
        let op = code[pc];
        pc += 1;
        match op {
            0 => {
                push(frame, code[pc] as i64);
                pc += 1;
            }
            1 => {
                let b = pop(frame);
                let a = pop(frame);
                push(frame, a + b);
            }
            2 => {
                let b = pop(frame);
                let a = pop(frame);
                push(frame, a - b);
            }
            3 => {
                let a = pop(frame);
                push(frame, a);
                push(frame, a);
            }
            4 => {
                let a = pop(frame);
                if a != 0 {
                    pc = code[pc] as usize;
                    can_enter_jit!();
                } else {
                    pc += 1;
                }
            }
            5 => {
                let a = pop(frame);
                let b = pop(frame);
                push(frame, a);
                push(frame, b);
            }
            _ => return pop(frame),
        }
    }
}

pub fn sum(code: &[u8], n: i64) -> i64 {
    let mut frame = Frame { sp: 0, stack: [0; 8] };
    push(&mut frame, 0);
    push(&mut frame, n);
    run(code, 0, &mut frame)
}
