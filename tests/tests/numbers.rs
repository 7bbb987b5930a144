//! Operators, casts and number methods of every type, on many values: rustc, the evaluator of the flow graphs, machine
//! code where no operand is known, and folding where all are.

use flowgraph::eval::{Evaluator, Outcome};
use flowgraph::frontend::lift;
use flowgraph::ir::{Module, Word};
use flowgraph::memory::Memory;
use flowgraph::value::{Arguments, debug_words};
use hueshift::{Compiler, Jit, JitOptions};
use hueshift_tests::beside::ended;
use std::collections::BTreeSet;
use std::sync::Mutex;
use timeshifter::specialize::{Argument, Engine, Program};

type Native = Box<dyn Fn(usize, usize, usize) -> (String, String) + Send + Sync>;

/// One function: its source, and Rust's answer for the arguments with the given numbers.
struct Case {
    name: String,
    source: String,
    inputs: [usize; 3],
    run: Native,
}

/// Values that have shown bugs: ends of the range, their neighbours, powers of two, and some without pattern.
trait Values: Sized + Copy + std::fmt::Debug + 'static {
    fn values() -> Vec<Self>;
}

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl Values for $t {
            fn values() -> Vec<$t> {
                let minus_one = (0 as $t).wrapping_sub(1);
                let without_pattern = (0x5bd1_e995_9e37_79b9u64 >> 3) as $t;
                let mut all = vec![0, 1, minus_one, $t::MAX, $t::MIN, 3, $t::MAX / 2 + 1, without_pattern];
                all.extend([2, 7, 10, $t::MAX - 1, $t::MIN + 1, $t::MAX / 2, (1 as $t) << ($t::BITS / 2)]);
                all.push(((1 as $t) << ($t::BITS - 1)).wrapping_add(5));
                let mut seen = BTreeSet::new();
                all.retain(|value| seen.insert(*value));
                all
            }
        }
    )*};
}
integers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

macro_rules! floats {
    ($($t:ident)*) => {$(
        impl Values for $t {
            fn values() -> Vec<$t> {
                vec![0.0, -0.0, 1.0, $t::NAN, $t::INFINITY, $t::NEG_INFINITY, 2.5, -1e19, -1.0, 0.5, -0.5, 1.5, -2.5, 127.6, -128.9,
                    255.5, 256.0, 3e9, -3e9, 1e10, 1e19, 1e30, $t::MAX, $t::MIN, $t::MIN_POSITIVE, $t::EPSILON]
            }
        }
    )*};
}
floats!(f32 f64);

impl Values for bool {
    fn values() -> Vec<bool> {
        vec![false, true]
    }
}

impl Values for char {
    fn values() -> Vec<char> {
        vec!['\0', '0', '9', 'A', 'Z', 'a', 'z', '_', ' ', '\n', 'é', 'Ł', '\u{ffff}', '😀', char::MAX]
    }
}

/// Shift amounts and exponents.
#[derive(Clone, Copy, Debug)]
struct Amount(u32);

fn amounts() -> Vec<u32> {
    vec![0, 1, 8, 16, 33, 63, 64, u32::MAX, 2, 3, 5, 7, 9, 15, 17, 31, 32, 65, 200]
}

fn pick<T: Values>(i: usize) -> T {
    let all = T::values();
    all[i % all.len()]
}

fn argument<T: std::fmt::Debug>(value: T) -> String {
    format!("{value:?}")
}

macro_rules! case {
    // `f(a: T, b: U, ..) -> R { body }`, with the native body apart where debug builds would panic.
    ($out:ident, $t:ident, $name:expr, ($($a:ident : $at:ident),*) -> $r:ty, $body:expr) => {
        case!($out, $t, $name, ($($a : $at),*) -> $r, $body, $body)
    };
    ($out:ident, $t:ident, $name:expr, ($($a:ident : $at:ident),*) -> $r:ty, $body:expr, $native:expr) => {{
        let name = format!("{}_{}", $name, stringify!($t));
        let params = [$(concat!(stringify!($a), ": ", stringify!($at))),*].join(", ");
        let source = format!("pub fn {name}({params}) -> {} {{ {} }}\n", stringify!($r), stringify!($body));
        let counts = [$(<$at as Values>::values().len()),*];
        let mut inputs = [1; 3];
        inputs[..counts.len()].copy_from_slice(&counts);
        let run: Native = Box::new(|i: usize, j: usize, k: usize| {
            let mut at = [i, j, k].into_iter();
            $(let $a: $at = pick(at.next().unwrap());)*
            let text = [$(argument($a)),*].join(",");
            let _ = (j, k);
            #[allow(unused, clippy::all)]
            let result = native(move || -> $r { $native });
            (text, result)
        });
        $out.push(Case { name, source, inputs, run });
    }};
}

macro_rules! shift_case {
    ($out:ident, $t:ident, $name:literal, |$a:ident, $n:ident| $r:ty, $body:expr, $native:expr) => {{
        let name = concat!($name, "_", stringify!($t)).to_owned();
        let source = format!(
            "pub fn {name}({}: {}, {}: u32) -> {} {{ {} }}\n",
            stringify!($a),
            stringify!($t),
            stringify!($n),
            stringify!($r),
            stringify!($body)
        );
        let inputs = [<$t as Values>::values().len(), amounts().len(), 1];
        let run: Native = Box::new(|i: usize, j: usize, _| {
            let ($a, $n): ($t, u32) = (pick(i), Amount(amounts()[j]).0);
            let text = format!("{:?},{:?}", $a, $n);
            #[allow(unused, clippy::all)]
            let result = native(move || -> $r { $native });
            (text, result)
        });
        $out.push(Case { name, source, inputs, run });
    }};
}

/// The result as `{:?}` prints it, or the panic's message.
fn native<T: std::fmt::Debug>(code: impl FnOnce() -> T) -> String {
    ended(|| format!("{:?}", code())).unwrap_or_else(|(message, _)| format!("panic: {message}"))
}

/// So many of the first values are folded.
const FOLDED: [usize; 3] = [8, 8, 3];

fn check(cases: Vec<Case>) {
    let (next, wrong, total) = (Mutex::new(cases.iter()), Mutex::new(Vec::new()), Mutex::new([0; 2]));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some(case) = next.lock().expect("nobody panics with it").next() else { break };
                    let (runs, differences) = check_case(case);
                    let mut total = total.lock().expect("nobody panics with it");
                    *total = [total[0] + runs[0], total[1] + runs[1]];
                    wrong.lock().expect("nobody panics with it").extend(differences);
                }
            });
        }
    });
    let (mut wrong, [runs, folded]) = (wrong.into_inner().expect("done"), total.into_inner().expect("done"));
    wrong.truncate(40);
    assert!(wrong.is_empty(), "of {runs} runs:\n{}", wrong.join("\n"));
    println!("{} functions, {runs} runs, {folded} folded", cases.len());
    assert!(runs > 1000 && folded > 100, "{runs} runs, {folded} folded");
}

/// How many runs there were and how many of them were folded, too; and what was wrong.
fn check_case(case: &Case) -> ([usize; 2], Vec<String>) {
    let module = lift(&[("numbers.rs", &case.source)]).unwrap_or_else(|refused| panic!("{refused}"));
    let compiler = |known| Compiler::new(&module, &case.name, &known).unwrap_or_else(|e| panic!("{}: {e}", case.name));
    let params = module.graphs[&case.name].signature.params.len();
    let (red, green) = (compiler(BTreeSet::new()), compiler((0..params).collect()));
    let mut memory = red.memory();
    let mut jit = Jit::new(&red, &mut memory, JitOptions::default()).expect("a code generator");
    jit.specialize(&vec![Argument::Unknown; params]).expect("it ends");
    let (mut runs, mut wrong) = ([0; 2], Vec::new());
    let [n, m, l] = case.inputs;
    for (i, j, k) in (0..n).flat_map(|i| (0..m).flat_map(move |j| (0..l).map(move |k| (i, j, k)))) {
        let (args, expected) = (case.run)(i, j, k);
        let arguments = Arguments::parse(&module, &module.graphs[&case.name].signature, &args);
        let arguments = arguments.unwrap_or_else(|e| panic!("{}({args}): {e}", case.name));
        let mut memory = Memory::for_module(&module);
        let placed = arguments.place(&mut memory);
        let mut compare = |engine: &str, found: String| {
            // All NaNs count as equal.
            if found != expected {
                wrong.push(format!("{}({args}): rustc {expected}, {engine} {found}", case.name));
            }
        };
        compare("the evaluator", evaluate(&module, &case.name, &placed.words(), &module, &case.name));
        compare("native code", said(&module, &case.name, jit.run(&placed.words())));
        runs[0] += 1;
        if i < FOLDED[0] && j < FOLDED[1] && k < FOLDED[2] {
            let mut engine =
                Engine::new(Program::load(&green.module, &green.analyses).expect("compiler graphs"), &mut memory);
            let known = green.arguments(&arguments, &placed);
            let unit = engine.specialize(&green.entry, &known).expect("it ends");
            let residual = engine.residual_module(unit);
            let entry = residual.entry.clone().expect("an entry");
            compare("folding", evaluate(&residual, &entry, &[], &module, &case.name));
            let left: usize = residual.graphs.values().flat_map(|g| &g.blocks).map(|b| b.ops.len()).sum();
            // Powers are loops, and the bits of a NaN aren't the same on all machines.
            if left > 0 && !case.name.contains("pow") && !(case.name.contains("bits") && args.contains("NaN")) {
                compare("folding", format!("leaves {left} ops"));
            }
            runs[1] += 1;
        }
    }
    (runs, wrong)
}

/// What an evaluation of `entry` gives, as a result of `function` of the flow graphs.
fn evaluate(module: &Module, entry: &str, words: &[Word], flow: &Module, function: &str) -> String {
    let mut memory = Memory::for_module(module);
    said(flow, function, Evaluator::new(module, &mut memory).with_fuel(1_000_000).call(entry, words))
}

fn said<E: std::fmt::Debug>(flow: &Module, function: &str, outcome: Result<Outcome, E>) -> String {
    match outcome {
        Ok(Outcome::Returned(words)) => {
            let result = &flow.graphs[function].signature.result;
            debug_words(flow, &Memory::for_module(flow), result, &words).expect("no references")
        }
        Ok(Outcome::Trapped(trap)) => format!("panic: {}", trap.message),
        other => format!("{other:?}"),
    }
}

macro_rules! integer_cases {
    ($out:ident: $($t:ident)*) => {$(
        case!($out, $t, "add", (a: $t, b: $t) -> $t, a + b, a.wrapping_add(b));
        case!($out, $t, "sub", (a: $t, b: $t) -> $t, a - b, a.wrapping_sub(b));
        case!($out, $t, "mul", (a: $t, b: $t) -> $t, a * b, a.wrapping_mul(b));
        case!($out, $t, "div", (a: $t, b: $t) -> $t, a / b);
        case!($out, $t, "rem", (a: $t, b: $t) -> $t, a % b);
        case!($out, $t, "div3", (a: $t) -> $t, a / 3);
        case!($out, $t, "and", (a: $t, b: $t) -> $t, a & b);
        case!($out, $t, "or", (a: $t, b: $t) -> $t, a | b);
        case!($out, $t, "xor", (a: $t, b: $t) -> $t, a ^ b);
        case!($out, $t, "not", (a: $t) -> $t, !a);
        case!($out, $t, "compare", (a: $t, b: $t) -> (bool, bool, bool, bool, bool, bool),
            (a == b, a != b, a < b, a <= b, a > b, a >= b));
        case!($out, $t, "wrapping_add", (a: $t, b: $t) -> $t, a.wrapping_add(b));
        case!($out, $t, "wrapping_sub", (a: $t, b: $t) -> $t, a.wrapping_sub(b));
        case!($out, $t, "wrapping_mul", (a: $t, b: $t) -> $t, a.wrapping_mul(b));
        case!($out, $t, "wrapping_div", (a: $t, b: $t) -> $t, a.wrapping_div(b));
        case!($out, $t, "wrapping_rem", (a: $t, b: $t) -> $t, a.wrapping_rem(b));
        case!($out, $t, "wrapping_neg", (a: $t) -> $t, a.wrapping_neg());
        case!($out, $t, "checked_add", (a: $t, b: $t) -> (bool, $t), { let o = a.checked_add(b); (o.is_some(), o.unwrap_or(7)) });
        case!($out, $t, "checked_sub", (a: $t, b: $t) -> (bool, $t), match a.checked_sub(b) { Some(v) => (true, v), None => (false, 9) });
        case!($out, $t, "checked_mul", (a: $t, b: $t) -> $t, if let Some(v) = a.checked_mul(b) { v } else { 13 });
        case!($out, $t, "checked_div", (a: $t, b: $t) -> $t, a.checked_div(b).unwrap());
        case!($out, $t, "checked_rem", (a: $t, b: $t) -> $t, a.checked_rem(b).expect("no remainder"));
        case!($out, $t, "checked_neg", (a: $t) -> (bool, $t), (a.checked_neg().is_none(), a.checked_neg().unwrap_or(1)));
        case!($out, $t, "overflowing_add", (a: $t, b: $t) -> ($t, bool), a.overflowing_add(b));
        case!($out, $t, "overflowing_sub", (a: $t, b: $t) -> ($t, bool), a.overflowing_sub(b));
        case!($out, $t, "overflowing_mul", (a: $t, b: $t) -> ($t, bool), a.overflowing_mul(b));
        case!($out, $t, "overflowing_neg", (a: $t) -> ($t, bool), a.overflowing_neg());
        case!($out, $t, "overflowing_div", (a: $t, b: $t) -> ($t, bool), a.overflowing_div(b));
        case!($out, $t, "overflowing_rem", (a: $t, b: $t) -> ($t, bool), a.overflowing_rem(b));
        case!($out, $t, "saturating_add", (a: $t, b: $t) -> $t, a.saturating_add(b));
        case!($out, $t, "saturating_sub", (a: $t, b: $t) -> $t, a.saturating_sub(b));
        case!($out, $t, "saturating_mul", (a: $t, b: $t) -> $t, a.saturating_mul(b));
        case!($out, $t, "bits", (a: $t) -> (u32, u32, u32, u32, u32, u32),
            (a.count_ones(), a.count_zeros(), a.leading_zeros(), a.trailing_zeros(), a.leading_ones(), a.trailing_ones()));
        case!($out, $t, "swap", (a: $t) -> ($t, $t), (a.swap_bytes(), a.reverse_bits()));
        case!($out, $t, "min_max", (a: $t, b: $t) -> ($t, $t), (a.min(b), a.max(b)));
        case!($out, $t, "min_path", (a: $t, b: $t) -> ($t, $t), ($t::min(a, b), std::cmp::max(a, b)));
        case!($out, $t, "rem_euclid", (a: $t, b: $t) -> $t, a.rem_euclid(b));
        case!($out, $t, "div_euclid", (a: $t, b: $t) -> $t, a.div_euclid(b));
        case!($out, $t, "ranges", (a: $t) -> u8, match a { ..=0 => 0, 1 | 2 => 1, 3..=9 => 2, 10.. => 3 });
        case!($out, $t, "values", (a: $t) -> u8, match a { 0 => 5, 1 => 6, 7 => 8, $t::MAX => 9, x @ (2 | 3) => x as u8, _ => 0 });
        case!($out, $t, "assign", (a: $t, b: $t) -> $t, { let mut x = a; x ^= b; x &= 0x55; x |= b; x %= 100; x });
        case!($out, $t, "bytes", (a: $t) -> ($t, $t), ($t::from_le_bytes(a.to_le_bytes()), $t::from_be_bytes(a.to_le_bytes())));
        case!($out, $t, "limits", (a: $t) -> ($t, $t, u32), ($t::MIN & a, $t::MAX & a, $t::BITS));
        shift_case!($out, $t, "shl", |a, n| $t, a << n, a.wrapping_shl(n));
        shift_case!($out, $t, "shr", |a, n| $t, a >> n, a.wrapping_shr(n));
        shift_case!($out, $t, "wrapping_shl", |a, n| $t, a.wrapping_shl(n), a.wrapping_shl(n));
        shift_case!($out, $t, "wrapping_shr", |a, n| $t, a.wrapping_shr(n), a.wrapping_shr(n));
        shift_case!($out, $t, "checked_shl", |a, n| (bool, $t), (a.checked_shl(n).is_some(), a.checked_shr(n).unwrap_or(3)), (a.checked_shl(n).is_some(), a.checked_shr(n).unwrap_or(3)));
        shift_case!($out, $t, "overflowing_shl", |a, n| (($t, bool), ($t, bool)), (a.overflowing_shl(n), a.overflowing_shr(n)), (a.overflowing_shl(n), a.overflowing_shr(n)));
        shift_case!($out, $t, "rotate", |a, n| ($t, $t), (a.rotate_left(n), a.rotate_right(n)), (a.rotate_left(n), a.rotate_right(n)));
        shift_case!($out, $t, "shl_const", |a, n| ($t, $t), { let _ = n; (a << 3, a >> 5) }, (a.wrapping_shl(3), a.wrapping_shr(5)));
    )*};
}

/// `as` from one type to each of the others.
macro_rules! casts {
    ($out:ident: $($from:ident -> $($to:ident)*;)*) => {$($(
        case!($out, $from, concat!("as_", stringify!($to)), (a: $from) -> $to, a as $to);
    )*)*};
}

/// The lossless conversions.
macro_rules! conversions {
    ($out:ident: $($from:ident -> $($to:ident)*;)*) => {$($(
        case!($out, $from, concat!("into_", stringify!($to)), (a: $from) -> $to, $to::from(a));
    )*)*};
}

macro_rules! power_cases {
    ($out:ident: $($t:ident)*) => {$(
        case!($out, $t, "wrapping_pow", (a: $t, n: u8) -> $t, a.wrapping_pow(n as u32));
        case!($out, $t, "pow", (a: $t, n: u8) -> $t, a.pow(n as u32), a.wrapping_pow(n as u32));
        case!($out, $t, "checked_pow", (a: $t, n: u8) -> (bool, $t), { let o = a.checked_pow(n as u32); (o.is_some(), o.unwrap_or(0)) });
        case!($out, $t, "overflowing_pow", (a: $t, n: u8) -> ($t, bool), a.overflowing_pow(n as u32));
        case!($out, $t, "clamp", (a: $t, b: $t, c: $t) -> $t, a.clamp(b, c));
    )*};
}

macro_rules! signed_cases {
    ($out:ident: $($t:ident $u:ident)*) => {$(
        case!($out, $t, "neg", (a: $t) -> $t, -a, a.wrapping_neg());
        case!($out, $t, "abs", (a: $t) -> $t, a.abs(), a.wrapping_abs());
        case!($out, $t, "wrapping_abs", (a: $t) -> $t, a.wrapping_abs());
        case!($out, $t, "unsigned_abs", (a: $t) -> $u, a.unsigned_abs());
        case!($out, $t, "checked_abs", (a: $t) -> (bool, $t), (a.checked_abs().is_some(), a.checked_abs().unwrap_or(1)));
        case!($out, $t, "overflowing_abs", (a: $t) -> ($t, bool), a.overflowing_abs());
        case!($out, $t, "signum", (a: $t) -> ($t, bool, bool), (a.signum(), a.is_positive(), a.is_negative()));
        case!($out, $t, "abs_diff", (a: $t, b: $t) -> $u, a.abs_diff(b));
        case!($out, $t, "mixed", (a: $t, b: $u) -> ($t, $t), (a.wrapping_add_unsigned(b), a.wrapping_sub_unsigned(b)));
        case!($out, $t, "cast", (a: $t) -> $u, a.cast_unsigned());
        case!($out, $u, "abs_diff", (a: $u, b: $u) -> $u, a.abs_diff(b));
        case!($out, $u, "mixed", (a: $u, b: $t) -> $u, a.wrapping_add_signed(b));
        case!($out, $u, "cast", (a: $u) -> ($t, bool), (a.cast_signed(), a.is_power_of_two()));
    )*};
}

macro_rules! float_cases {
    ($out:ident: $($t:ident $b:ident)*) => {$(
        case!($out, $t, "arith", (a: $t, b: $t) -> ($t, $t, $t, $t), (a + b, a - b, a * b, a / b));
        case!($out, $t, "rem", (a: $t, b: $t) -> $t, a % b);
        case!($out, $t, "compare", (a: $t, b: $t) -> (bool, bool, bool, bool, bool, bool),
            (a == b, a != b, a < b, a <= b, a > b, a >= b));
        case!($out, $t, "branches", (a: $t, b: $t) -> u8,
            { let mut r = 0; if a < b { r += 1; } if !(a < b) { r += 2; } if !(a >= b) { r += 4; } if a != b { r += 8; } r });
        case!($out, $t, "round", (a: $t) -> ($t, $t, $t, $t, $t, $t), (a.floor(), a.ceil(), a.trunc(), a.round_ties_even(), a.abs(), -a));
        case!($out, $t, "half", (a: $t) -> $t, a.round());
        case!($out, $t, "sqrt", (a: $t) -> $t, a.sqrt());
        case!($out, $t, "minmax", (a: $t, b: $t) -> ($t, $t), (a.min(b), $t::max(a, b)), {
            use hueshift::tier0::$t::{max, min};
            (min(a, b), max(a, b))
        });
        case!($out, $t, "copysign", (a: $t, b: $t) -> $t, a.copysign(b));
        case!($out, $t, "fma", (a: $t, b: $t, c: $t) -> $t, a.mul_add(b, c));
        case!($out, $t, "class", (a: $t) -> (bool, bool, bool), (a.is_nan(), a.is_finite(), a.is_infinite()));
        case!($out, $t, "sign", (a: $t) -> (bool, bool, $t), if a.is_nan() { (false, false, 0.0) } else { (a.is_sign_negative(), a.is_sign_positive(), a.signum()) });
        case!($out, $t, "to_bits", (a: $t) -> $b, if a.is_nan() { 0 } else { a.to_bits() });
        case!($out, $t, "from_bits", (a: $b) -> $t, $t::from_bits(a));
        case!($out, $t, "constants", (a: $t) -> ($t, $t, $t, $t), (a + $t::EPSILON, $t::MAX, $t::MIN_POSITIVE, std::$t::consts::PI));
        case!($out, $t, "width", (a: $t) -> (f64, f32), (a as f64, a as f32));
    )*};
}

#[test]
fn integers_of_every_width() {
    let mut cases = Vec::new();
    integer_cases!(cases: i8 i16 i32 i64 isize u8 u16 u32 u64 usize);
    check(cases);
}

#[test]
fn powers_and_clamps() {
    let mut cases = Vec::new();
    power_cases!(cases: i8 i16 i32 i64 isize u8 u16 u32 u64 usize);
    check(cases);
}

#[test]
fn signed_and_unsigned() {
    let mut cases = Vec::new();
    signed_cases!(cases: i8 u8 i16 u16 i32 u32 i64 u64 isize usize);
    check(cases);
}

#[test]
fn floats_and_singles() {
    let mut cases = Vec::new();
    float_cases!(cases: f32 u32 f64 u64);
    check(cases);
}

/// The functions of the mathematics library: what the macros put into an interpreter is the same library.
macro_rules! mathematics {
    ($out:ident: $($t:ident)*) => {$(
        mathematics!(@one $out $t: exp exp2 exp_m1 ln ln_1p log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
            cbrt round);
        mathematics!(@two $out $t: atan2 hypot powf);
        case!($out, $t, "powi", (a: $t, n: i32) -> $t, a.powi(n), hueshift::tier0::$t::powi(a, n));
    )*};
    (@one $out:ident $t:ident: $($f:ident)*) => {$(
        case!($out, $t, stringify!($f), (a: $t) -> $t, a.$f(), hueshift::tier0::$t::$f(a));
    )*};
    (@two $out:ident $t:ident: $($f:ident)*) => {$(
        case!($out, $t, stringify!($f), (a: $t, b: $t) -> $t, a.$f(b), hueshift::tier0::$t::$f(a, b));
    )*};
}

#[test]
fn functions_of_mathematics() {
    let mut cases = Vec::new();
    mathematics!(cases: f32 f64);
    check(cases);
}

#[test]
fn casts_between_all_types() {
    let mut cases = Vec::new();
    casts!(cases:
        i8 -> i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64;
        i16 -> i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64;
        i32 -> i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64;
        i64 -> i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64;
        isize -> i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64;
        u8 -> i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64 char;
        u16 -> i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64;
        u32 -> i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64;
        u64 -> i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64;
        usize -> i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64;
        f32 -> i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64;
        f64 -> i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64;
        bool -> i8 i16 i32 i64 isize u8 u16 u32 u64 usize bool;
        char -> i8 i16 i32 i64 isize u8 u16 u32 u64 usize char;
    );
    conversions!(cases:
        i8 -> i8 i16 i32 i64 isize f32 f64;
        i16 -> i16 i32 i64 isize f32 f64;
        i32 -> i32 i64 f64;
        u8 -> i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64 char;
        u16 -> i32 i64 u16 u32 u64 usize f32 f64;
        u32 -> i64 u32 u64 f64;
        f32 -> f32 f64;
        bool -> i8 i16 i32 i64 isize u8 u16 u32 u64 usize bool;
        char -> u32 u64 char;
    );
    check(cases);
}

macro_rules! ascii_cases {
    ($out:ident: $($t:ident)*) => {$(
        case!($out, $t, "ascii", (c: $t) -> (bool, bool, bool, bool, bool), (c.is_ascii_hexdigit(), c.is_ascii_punctuation(),
            c.is_ascii_graphic(), c.is_ascii_control(), c.is_ascii()));
        case!($out, $t, "ascii_case", (c: $t) -> ($t, $t), (c.to_ascii_uppercase(), c.to_ascii_lowercase()));
    )*};
}

/// Every character that the methods for ASCII tell apart, and its neighbours.
#[test]
fn ascii() {
    use std::fmt::Write;
    let methods = [
        "digit",
        "lowercase",
        "uppercase",
        "alphabetic",
        "alphanumeric",
        "whitespace",
        "hexdigit",
        "punctuation",
        "graphic",
        "control",
    ];
    let mut source = String::new();
    for ty in ["u8", "char"] {
        let all: String = methods.iter().map(|method| format!("c.is_ascii_{method}(), ")).collect();
        let (result, values) = (format!("({}bool)", "bool, ".repeat(methods.len())), format!("({all}c.is_ascii())"));
        let _ = writeln!(source, "pub fn is_{ty}(c: {ty}) -> {result} {{ {values} }}");
        let _ = writeln!(
            source,
            "pub fn to_{ty}(c: {ty}) -> ({ty}, {ty}) {{ (c.to_ascii_uppercase(), c.to_ascii_lowercase()) }}"
        );
    }
    let module = lift(&[("ascii.rs", &source)]).unwrap_or_else(|refused| panic!("{refused}"));
    macro_rules! same {
        ($c:expr, $is:literal, $to:literal) => {{
            let c = $c;
            let wanted = (
                c.is_ascii_digit(),
                c.is_ascii_lowercase(),
                c.is_ascii_uppercase(),
                c.is_ascii_alphabetic(),
                c.is_ascii_alphanumeric(),
                c.is_ascii_whitespace(),
                c.is_ascii_hexdigit(),
                c.is_ascii_punctuation(),
                c.is_ascii_graphic(),
                c.is_ascii_control(),
                c.is_ascii(),
            );
            let word = [u64::from(c)];
            assert_eq!(evaluate(&module, $is, &word, &module, $is), format!("{wanted:?}"), "{c:?}");
            let wanted = (c.to_ascii_uppercase(), c.to_ascii_lowercase());
            assert_eq!(evaluate(&module, $to, &word, &module, $to), format!("{wanted:?}"), "{c:?}");
        }};
    }
    (0..=255u8).for_each(|c| same!(c, "is_u8", "to_u8"));
    let others = ['\u{100}', '\u{141}', '\u{161}', '\u{ffff}', '\u{10041}', char::MAX];
    (0..=255u8).map(char::from).chain(others).for_each(|c| same!(c, "is_char", "to_char"));
}

#[test]
fn bools_and_chars() {
    let mut cases = Vec::new();
    case!(cases, bool, "ops", (a: bool, b: bool) -> (bool, bool, bool, bool, bool), (a & b, a | b, a ^ b, !a, a && b || !a));
    case!(cases, bool, "order", (a: bool, b: bool) -> (bool, bool, bool, bool), (a < b, a <= b, a == b, a != b));
    case!(cases, bool, "matched", (a: bool, b: bool) -> u8, match (a, b) { (true, false) => 1, (false, _) => 2, (true, true) => 3 });
    case!(cases, char, "class", (c: char) -> (bool, bool, bool, bool, bool, bool), (c.is_ascii_digit(), c.is_ascii_lowercase(),
        c.is_ascii_uppercase(), c.is_ascii_alphabetic(), c.is_ascii_alphanumeric(), c.is_ascii_whitespace()));
    case!(cases, char, "matched", (c: char) -> u8, match c { 'a'..='f' => 1, '0' | '9' => 2, '\n' => 3, 'é' => 4, '\u{10000}'.. => 5, _ => 6 });
    case!(cases, char, "order", (a: char, b: char) -> (bool, bool, u32), (a < b, a == b, a as u32 ^ b as u32));
    case!(cases, u8, "class", (c: u8) -> (bool, bool, bool, char), (c.is_ascii_digit(), c.is_ascii_alphabetic(), c.is_ascii_whitespace(), c as char));
    ascii_cases!(cases: u8 char);
    case!(cases, u8, "letter", (c: u8) -> u8, match c { b'0'..=b'9' => c - b'0', b'a'..=b'f' => c - b'a' + 10, _ => 255 });
    case!(cases, u8, "all", (c: u8, d: u8, e: u8) -> bool, c == d && d != e || c > e);
    check(cases);
}
