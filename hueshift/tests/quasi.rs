//! Cells that are read often and written rarely: what is in one is a constant of the code that is made of it, and is never used when
//! it has been written since.

use hueshift::JitOptions;
use hueshift::embed::Jit;

fn jits<'p>() -> impl Iterator<Item = Jit<'p>> {
    [(0, 1, 32, 0), (1, 2, 1, 5), (3, 1, 2, 0), (7, 5, 32, 20)].into_iter().flat_map(
        |(threshold, bridge, cases, region)| {
            [false, true].map(|background| {
                let slots = JitOptions { slot_bytes: 1 << 22, background, ..JitOptions::default() };
                Jit::with_options(&settings::INTERPRETER, JitOptions { threshold, bridge, cases, region, ..slots })
            })
        },
    )
}

#[hueshift::interpreter]
mod settings {
    use hueshift::prelude::*;

    pub struct Settings {
        pub step: QuasiCell<i64>,
        pub seen: Cell<i64>,
        pub scale: QuasiCell<f32>,
        pub on: QuasiCell<bool>,
    }

    #[portal(greens(code, pc, settings), reds(acc, left))]
    pub fn run(code: &[u8], mut pc: usize, settings: &Settings, mut acc: i64, mut left: i64) -> i64 {
        loop {
            merge_point!();
            match concrete(code[pc]) {
                b'+' => acc += settings.step.get(),
                b'*' if settings.on.get() => acc = (acc as f32 * settings.scale.get()) as i64 & 0xfff,
                b'*' => settings.seen.set(settings.seen.get() + acc),
                b'c' if left & 255 == 3 => change(settings, left),
                b'w' if left & 255 == 9 => settings.step.set(settings.step.get() + 1),
                b'j' => {
                    left -= 1;
                    if left > 0 {
                        pc = 0;
                        can_enter_jit!();
                        continue;
                    }
                    return acc;
                }
                _ => {}
            }
            pc += 1;
        }
    }

    #[dont_look_inside]
    fn change(settings: &Settings, to: i64) {
        settings.step.set(to);
        settings.on.set(!settings.on.get());
    }
}

fn settings() -> settings::Settings {
    use hueshift::prelude::{Cell, QuasiCell};
    let (step, scale) = (QuasiCell::new(3), QuasiCell::new(1.25));
    settings::Settings { step, seen: Cell::new(0), scale, on: QuasiCell::new(true) }
}

/// What code was made for a cell's value is never used with another: the host writes it between runs, the interpreter from
/// compiled code, and from what isn't looked into.
#[test]
fn cells_that_are_written_rarely() {
    for code in [&b"++*+j"[..], b"+*c+*j", b"+w*+c+*j"] {
        let (tier0, cells) = (settings(), settings());
        for mut jit in jits() {
            for round in 0..14 {
                for left in [3, 1500, 40] {
                    let wanted = settings::interp::run(code, 0, &tier0, round, left).unwrap();
                    let got = settings::jit::run(&mut jit, code, 0, &cells, round, left).unwrap();
                    assert_eq!((got, cells.seen.get()), (wanted, tier0.seen.get()), "{code:?} {round} {left}");
                    assert_eq!(format!("{:?}", cells.step), format!("{:?}", tier0.step));
                }
                for each in [&tier0, &cells] {
                    each.step.set(round * 5 - 7);
                    each.scale.set(round as f32 / 2.0);
                }
            }
        }
    }
}

#[test]
fn what_is_in_a_cell_that_is_written_rarely_is_not_read() {
    let cells = settings();
    let mut jit = Jit::new(&settings::INTERPRETER);
    assert_eq!(settings::aot::run(&mut jit, b"++j", 0, &cells, 0, 9).unwrap(), 54);
    let text = settings::residual::run(b"++j", 0, &cells).unwrap().to_string();
    assert!(!text.contains(".value ") && !text.contains("call"), "{text}");
}
