//! Cells that are read often and written rarely: the settings of an interpreter.

use hueshift::prelude::*;

pub struct Settings {
    pub step: QuasiCell<i64>,
    pub scale: QuasiCell<f64>,
    pub narrow: QuasiCell<u8>,
    pub on: QuasiCell<bool>,
    pub seen: Cell<i64>,
}

#[dont_look_inside]
fn change(settings: &Settings, to: i64) {
    settings.step.set(to);
    settings.seen.set(settings.seen.get() + 1);
}

fn turn(settings: &Settings, by: u8) {
    settings.narrow.set(settings.narrow.get() + by);
    settings.on.set(!settings.on.get());
}

fn scaled(settings: &Settings, x: i64) -> i64 {
    if settings.on.get() { (x as f64 * settings.scale.get()) as i64 } else { x }
}

/// `+` adds the step, `*` scales, `n` adds what is narrow; `c` has the step changed now and then by what isn't looked into, `t` turns
/// two others by what is, `s` writes the scale itself; `j` jumps back.
#[portal(greens(code, pc, settings), reds(acc, left))]
pub fn run(code: &[u8], mut pc: usize, settings: &Settings, mut acc: i64, mut left: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return acc;
        }
        match concrete(code[pc]) {
            b'+' => acc += settings.step.get(),
            b'*' => acc = scaled(settings, acc) & 0xffff,
            b'n' => acc += settings.narrow.get() as i64,
            b'c' => {
                if left & 15 == 3 {
                    change(settings, left);
                }
            }
            b't' => {
                if left & 7 == 5 {
                    turn(settings, 3);
                }
            }
            b's' => {
                if left & 31 == 9 {
                    settings.scale.set(settings.scale.get() + 0.25);
                }
            }
            b'p' => acc = acc * 2 + promote(settings.step.get()),
            _ => {
                left -= 1;
                if left > 0 {
                    pc = 0;
                    can_enter_jit!();
                    continue;
                }
            }
        }
        pc += 1;
    }
}

/// Written in every round, and read right behind that: from some version on it is an ordinary cell.
pub fn always_written(settings: &Settings, n: i64) -> i64 {
    let mut i = 0;
    let mut sum = 0;
    while i < n {
        merge_point!();
        sum += settings.step.get();
        settings.step.set(i * 3);
        sum = sum * 2 + settings.step.get();
        i += 1;
    }
    sum
}

fn doubled(cell: &QuasiCell<i64>) -> i64 {
    cell.get() * 2
}

/// One that the compiler doesn't pub, and one behind a `&mut`.
pub fn of_either(a: &Settings, b: &mut Settings, n: i64) -> i64 {
    b.step.set(b.step.get() + n);
    let chosen = if n > 3 { a } else { &*b };
    chosen.step.set(chosen.step.get() * 2 + a.step.get());
    doubled(&chosen.step) + doubled(&a.step) + b.step.get()
}
