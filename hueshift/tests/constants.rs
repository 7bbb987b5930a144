//! References to constants: to the program they are `'static`, wherever they come from.

use hueshift::JitOptions;
use hueshift::embed::Jit;

#[hueshift::interpreter]
mod lang {
    use hueshift::prelude::*;

    const NUMBERS: [u8; 8] = [11, 22, 33, 44, 55, 66, 77, 88];
    const LETTERS: &[u8] = b"abcdefgh";

    /// A constant in a red, which goes over and back.
    #[portal(greens(code, pc), reds(sum, left, text))]
    pub fn run(code: &[u8], mut pc: usize, mut sum: i64, mut left: i64, mut text: &[u8]) -> i64 {
        loop {
            merge_point!();
            match concrete(code[pc]) {
                0 => text = LETTERS,
                1 => text = &NUMBERS,
                2 => sum = (sum * 3 + text[(left & 7) as usize] as i64) & 0xffffff,
                3 => {
                    left -= 1;
                    if left <= 0 {
                        return sum;
                    }
                    pc = 0;
                    can_enter_jit!();
                    continue;
                }
                4 if left & 3 == 0 => text = &text[..8],
                // A constant, and a part of it, that are greens of another portal.
                5 if left & 7 == 3 => sum += row(&NUMBERS, 0, left & 15) + row(LETTERS, 1, left & 7),
                6 if left & 7 == 5 => sum += row(&NUMBERS[2..6], 0, left & 15),
                _ => {}
            }
            pc += 1;
        }
    }

    #[portal(greens(code, at), reds(count, sum))]
    fn row_from(code: &[u8], mut at: usize, mut count: i64, mut sum: i64) -> i64 {
        while at < code.len() {
            merge_point!();
            sum += concrete(code[at]) as i64 + turns(code, at, count);
            count += 1;
            at += 1;
        }
        sum
    }

    fn row(code: &[u8], at: usize, count: i64) -> i64 {
        row_from(code, at, count, 0)
    }

    #[portal(greens(code, at), reds(count))]
    fn turns(code: &[u8], at: usize, mut count: i64) -> i64 {
        loop {
            merge_point!();
            count -= concrete(code[at]) as i64 & 3 | 1;
            if count < 0 {
                return count;
            }
        }
    }
}

fn options(code_bytes: usize) -> JitOptions {
    JitOptions { threshold: 3, bridge: 1, code_bytes, slot_bytes: 1 << 22, ..JitOptions::default() }
}

const PROGRAMS: [&[u8]; 5] =
    [&[0, 2, 1, 2, 4, 2, 3], &[2, 0, 2, 3], &[2, 4, 2, 1, 2, 3], &[5, 1, 2, 6, 3], &[6, 5, 0, 2, 4, 3]];

/// Also when the code that has handed them on is thrown away.
#[test]
fn constants_outlive_code() {
    for code_bytes in [1, 300, 2000, 1 << 20] {
        for code in PROGRAMS {
            let mut jit = Jit::with_options(&lang::INTERPRETER, options(code_bytes));
            for left in [3, 100, 1000] {
                let wanted = lang::interp::run(code, 0, 1, left, b"12345678").expect("no trap");
                let got = lang::jit::run(&mut jit, code, 0, 1, left, b"12345678").expect("no trap");
                assert_eq!(wanted, got, "{code:?}, {left}, {code_bytes} bytes");
            }
            assert!(code_bytes > 300 || jit.stats().evictions > 0, "{:?}", jit.stats());
        }
    }
}

#[hueshift::interpreter]
mod keeping {
    use hueshift::prelude::*;

    const NAMES: [u8; 6] = *b"monday";

    pub struct Kept<'a> {
        pub text: &'a [u8],
    }

    #[portal(greens(code, pc), reds(left, kept))]
    pub fn run(code: &[u8], mut pc: usize, mut left: i64, kept: &mut Kept) -> i64 {
        loop {
            merge_point!();
            match concrete(code[pc]) {
                0 => kept.text = &NAMES,
                _ => {
                    left -= 1;
                    if left <= 0 {
                        return kept.text.len() as i64;
                    }
                    pc = 0;
                    can_enter_jit!();
                    continue;
                }
            }
            pc += 1;
        }
    }
}

/// Compiled code has put a constant into the program's own memory, which is there when the `Jit` is gone.
#[test]
fn constants_outlive_a_jit() {
    let mut kept = keeping::Kept { text: b"" };
    for _ in 0..20 {
        let mut jit = Jit::with_options(&keeping::INTERPRETER, options(1 << 20));
        assert_eq!(keeping::jit::run(&mut jit, &[0, 1], 0, 50, &mut kept).expect("no trap"), 6);
        assert!(jit.stats().code_bytes > 0);
        drop(jit);
        // What has been freed would be used again.
        let others: Vec<Vec<u8>> = (0..200).map(|n| vec![n as u8; 6 + n % 40]).collect();
        assert_eq!((kept.text, others.len()), (&b"monday"[..], 200));
    }
}
