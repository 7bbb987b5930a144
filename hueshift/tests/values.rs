//! Values that are easily taken for others on their way between tiers: options inside of options, and zeros with a sign.

use hueshift::embed::Jit;

/// Options and results inside of each other, as arguments, greens, results, and through a function of the program.
#[hueshift::interpreter(entry of_result(k), entry of_option(k), entry of_results(k), entry of_tuple(k), entry of_enum(k), entry green(k))]
mod nested {
    use hueshift::prelude::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum Own {
        Nothing,
        Perhaps(Option<Result<i8, (char, Option<bool>)>>, u16),
        Named { at: Result<Option<f32>, Option<i64>> },
    }

    pub fn of_result(k: u8, x: Option<Result<i8, char>>) -> Option<Result<char, i8>> {
        match x {
            Some(Ok(n)) => Some(Err(n + concrete(k) as i8)),
            Some(Err(c)) => Some(Ok(c)),
            None => None,
        }
    }

    pub fn of_option(k: u8, x: Option<Option<i8>>) -> Option<Option<i8>> {
        match x {
            Some(Some(n)) => {
                if n == concrete(k) as i8 {
                    Some(None)
                } else {
                    asked(Some(Some(n)))
                }
            }
            Some(None) => None,
            None => Some(Some(concrete(k) as i8)),
        }
    }

    pub fn of_results(k: u8, x: Result<Option<i8>, u8>) -> Result<Option<u8>, Option<Result<(), i8>>> {
        match x {
            Ok(Some(n)) if n < 0 => Err(Some(Err(n - concrete(k) as i8))),
            Ok(Some(n)) => Ok(Some(n as u8)),
            Ok(None) => Err(Some(Ok(()))),
            Err(7) => Err(None),
            Err(_) => Ok(None),
        }
    }

    pub fn of_tuple(k: u8, x: Option<(u8, Option<i8>)>, rest: [Option<Option<u8>>; 2]) -> Option<(Option<u8>, u8)> {
        match x {
            Some((a, Some(b))) => Some((rest[concrete(k) as usize & 1].unwrap_or(Some(3)), a + b as u8)),
            Some((a, None)) => Some((None, a)),
            None => None,
        }
    }

    pub fn of_enum(k: u8, x: Own) -> Own {
        match x {
            Own::Nothing => Own::Perhaps(None, concrete(k) as u16),
            Own::Perhaps(Some(Ok(n)), m) => Own::Perhaps(Some(Err((n as u8 as char, Some(m > 5)))), m),
            Own::Perhaps(Some(Err((c, Some(_)))), _) => Own::Named { at: Err(Some(c as i64)) },
            Own::Perhaps(Some(Err(_)), m) => Own::Perhaps(Some(Ok(m as i8)), 0),
            Own::Perhaps(None, m) => Own::Named { at: Ok(Some(m as f32)) },
            Own::Named { at: Ok(Some(f)) } => Own::Perhaps(Some(Ok(f as i8)), 6),
            Own::Named { at: Ok(None) } => Own::Named { at: Err(None) },
            Own::Named { at: Err(Some(n)) } => Own::Perhaps(Some(Err(('é', None))), n as u16),
            Own::Named { at: Err(None) } => Own::Nothing,
        }
    }

    pub fn green(k: Option<Result<Option<i8>, u16>>, x: i64) -> i64 {
        match concrete(k) {
            Some(Ok(Some(n))) => n as i64 + x,
            Some(Ok(None)) => x * 2,
            Some(Err(n)) => n as i64 - x,
            None => x,
        }
    }

    #[dont_look_inside]
    fn asked(x: Option<Option<i8>>) -> Option<Option<i8>> {
        x.map(|x| x.filter(|n| n % 2 == 0).map(|n| n / 2))
    }
}

/// Runs an entry in tier 0 and compiled, and compares.
macro_rules! same {
    ($jit:ident, $module:ident::$entry:ident($($arg:expr),*)) => {
        let wanted = $module::$entry($($arg),*);
        let got = $module::aot::$entry(&mut $jit, $($arg),*).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(got, wanted, "{}{:?}", stringify!($entry), ($($arg,)*));
    };
}

#[test]
fn options_inside_of_options_are_handed_over() {
    use nested::Own;
    let mut jit = Jit::new(&nested::INTERPRETER);
    let small = [None, Some(None), Some(Some(-128)), Some(Some(0)), Some(Some(2)), Some(Some(7))];
    for k in [0, 1, 2] {
        for x in [None, Some(Ok(-5)), Some(Ok(127)), Some(Err('x')), Some(Err('\u{10ffff}'))] {
            same!(jit, nested::of_result(k, x));
        }
        for x in small {
            same!(jit, nested::of_option(k, x));
            same!(jit, nested::of_results(k, x.ok_or(k)));
            for rest in [[None, None], [Some(None), Some(Some(200))], [Some(Some(1)), Some(None)]] {
                same!(jit, nested::of_tuple(k, x.map(|inner| (250, inner)), rest));
            }
        }
        for error in [0, 7, 255] {
            same!(jit, nested::of_results(k, Err::<Option<i8>, u8>(error)));
        }
        for x in [
            Own::Nothing,
            Own::Perhaps(None, 65535),
            Own::Perhaps(Some(Ok(-1)), 9),
            Own::Perhaps(Some(Err(('z', None))), 3),
            Own::Perhaps(Some(Err(('Ł', Some(false)))), 3),
            Own::Named { at: Ok(Some(-2.5)) },
            Own::Named { at: Ok(None) },
            Own::Named { at: Err(Some(i64::MIN)) },
            Own::Named { at: Err(None) },
        ] {
            same!(jit, nested::of_enum(k, x));
        }
    }
    for k in [None, Some(Ok(None)), Some(Ok(Some(-3))), Some(Err(65535))] {
        same!(jit, nested::green(k, 40));
    }
    assert_eq!(jit.compiled(), 3 * 5 + 4);
}

/// Rust leaves open which of two zeros `min` and `max` give; here it is the same everywhere, and so are all bits.
#[hueshift::interpreter(entry doubles(k), entry singles(k), entry known(a, b), entry known_singles(a, b))]
mod zeros {
    use hueshift::prelude::*;

    pub fn doubles(k: u8, a: f64, b: f64) -> (f64, f64, f64, f64) {
        (a.min(b), double(&a, &b), f64::min(b, a), f64::max(b, a) + concrete(k) as f64 * 0.0 - 0.0)
    }

    fn double(a: &f64, b: &f64) -> f64 {
        a.max(*b)
    }

    fn single(a: &f32, b: &f32) -> f32 {
        a.max(*b)
    }

    pub fn singles(k: u8, a: f32, b: f32) -> (f32, f32, f32, f32) {
        (a.min(b), single(&a, &b), f32::min(b, a), f32::max(b, a) + concrete(k) as f32 * 0.0 - 0.0)
    }

    pub fn known(a: u64, b: u64, c: f64) -> (f64, f64, f64) {
        let (a, b) = (f64::from_bits(concrete(a)), f64::from_bits(concrete(b)));
        (a.min(b), a.max(b), c)
    }

    pub fn known_singles(a: u32, b: u32, c: f32) -> (f32, f32, f32) {
        let (a, b) = (f32::from_bits(concrete(a)), f32::from_bits(concrete(b)));
        (a.min(b), a.max(b), c)
    }
}

#[test]
fn zeros_of_min_and_max_have_their_sign() {
    // As text: with the sign of a zero, and all NaNs alike.
    macro_rules! same {
        ($entry:ident($($arg:expr),*)) => {{
            let wanted = format!("{:?}", zeros::$entry($($arg),*));
            assert_eq!(format!("{:?}", zeros::interp::$entry($($arg),*).unwrap()), wanted);
            let mut jit = Jit::new(&zeros::INTERPRETER);
            let got = format!("{:?}", zeros::aot::$entry(&mut jit, $($arg),*).unwrap());
            assert_eq!(got, wanted, "{}{:?}", stringify!($entry), ($($arg,)*));
            wanted
        }};
    }
    let all = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0, -1.0];
    for (a, b) in all.iter().flat_map(|a| all.iter().map(|b| (*a, *b))) {
        same!(doubles(0, a, b));
        same!(known(a.to_bits(), b.to_bits(), a));
        let (a, b) = (a as f32, b as f32);
        same!(singles(0, a, b));
        same!(known_singles(a.to_bits(), b.to_bits(), a));
    }
    for (a, b) in [(0.0, -0.0), (-0.0, 0.0)] {
        assert_eq!(same!(doubles(0, a, b)), "(-0.0, 0.0, -0.0, 0.0)");
        assert_eq!(same!(singles(0, a as f32, b as f32)), "(-0.0, 0.0, -0.0, 0.0)");
    }
    let graphs = zeros::residual::known(0, 0x8000_0000_0000_0000).unwrap();
    hueshift::assert_no_ops!(graphs, float_min, float_max);
}
