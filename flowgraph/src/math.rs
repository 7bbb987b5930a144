//! The mathematics library: functions that only compute, called as `libm::NAME` by `call_elidable`.
//!
//! One implementation (the `libm` crate) serves every tier and every machine, so that results agree in every bit. The
//! evaluator uses [`Function::compute`], generated code calls [`Function::address`].
//!
//! Names are Rust's method names; the functions of `f32` end in `_f32`: `2f64.ln()` is `libm::ln`, `2f32.powf(x)` is
//! `libm::powf_f32`.

use crate::ir::{Type, Word};
/// `min` and `max` of floats, in every tier: of a NaN and a number the number, and -0.0 is less than 0.0, which Rust
/// leaves open.
pub use libm::{fmaximum_num as max, fmaximum_numf as max_f32, fminimum_num as min, fminimum_numf as min_f32};

/// The code of a function, by its shape. The calling convention is C's, for generated code.
#[derive(Clone, Copy, Debug)]
pub enum Code {
    /// `f64 -> f64`
    Float(extern "C" fn(f64) -> f64),
    /// `f64, f64 -> f64`
    FloatFloat(extern "C" fn(f64, f64) -> f64),
    /// `f64, int -> f64`
    FloatInt(extern "C" fn(f64, i64) -> f64),
    /// `f32 -> f32`
    Single(extern "C" fn(f32) -> f32),
    /// `f32, f32 -> f32`
    SingleSingle(extern "C" fn(f32, f32) -> f32),
    /// `f32, int -> f32`
    SingleInt(extern "C" fn(f32, i64) -> f32),
}

/// A function of the library.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// Its name, after `libm::`.
    pub name: &'static str,
    /// The method of `f64` or `f32` that it is.
    pub method: &'static str,
    /// Its code.
    pub code: Code,
}

impl Function {
    /// The types of the arguments.
    pub fn params(&self) -> &'static [Type] {
        match self.code {
            Code::Float(_) => &[Type::Float],
            Code::FloatFloat(_) => &[Type::Float, Type::Float],
            Code::FloatInt(_) => &[Type::Float, Type::Int],
            Code::Single(_) => &[Type::Single],
            Code::SingleSingle(_) => &[Type::Single, Type::Single],
            Code::SingleInt(_) => &[Type::Single, Type::Int],
        }
    }

    /// The type of the result: that of the first argument.
    pub fn result(&self) -> Type {
        self.params()[0]
    }

    /// What the function computes. Missing arguments count as 0.
    pub fn compute(&self, words: &[Word]) -> Word {
        let word = |i: usize| words.get(i).copied().unwrap_or(0);
        let float = |i| f64::from_bits(word(i));
        let single = |i| f32::from_bits(word(i) as u32);
        match self.code {
            Code::Float(f) => f(float(0)).to_bits(),
            Code::FloatFloat(f) => f(float(0), float(1)).to_bits(),
            Code::FloatInt(f) => f(float(0), word(1) as i64).to_bits(),
            Code::Single(f) => u64::from(f(single(0)).to_bits()),
            Code::SingleSingle(f) => u64::from(f(single(0), single(1)).to_bits()),
            Code::SingleInt(f) => u64::from(f(single(0), word(1) as i64).to_bits()),
        }
    }

    /// Where the code lies, for generated code. Arguments and result are passed as C passes them.
    pub fn address(&self) -> usize {
        match self.code {
            Code::Float(f) => f as usize,
            Code::FloatFloat(f) => f as usize,
            Code::FloatInt(f) => f as usize,
            Code::Single(f) => f as usize,
            Code::SingleSingle(f) => f as usize,
            Code::SingleInt(f) => f as usize,
        }
    }
}

macro_rules! functions {
    ($($method:literal $name64:literal $name32:literal $shape:ident $f64:expr, $f32:expr;)*) => {
        /// Every function, those of `f64` and of `f32` in turn.
        pub const FUNCTIONS: &[Function] = &[$(
            Function { name: $name64, method: $method, code: functions!(@f64 $shape $f64) },
            Function { name: $name32, method: $method, code: functions!(@f32 $shape $f32) },
        )*];
    };
    (@f64 one $f:expr) => {{ extern "C" fn code(a: f64) -> f64 { $f(a) } Code::Float(code) }};
    (@f32 one $f:expr) => {{ extern "C" fn code(a: f32) -> f32 { $f(a) } Code::Single(code) }};
    (@f64 two $f:expr) => {{ extern "C" fn code(a: f64, b: f64) -> f64 { $f(a, b) } Code::FloatFloat(code) }};
    (@f32 two $f:expr) => {{ extern "C" fn code(a: f32, b: f32) -> f32 { $f(a, b) } Code::SingleSingle(code) }};
    (@f64 int $f:expr) => {{ extern "C" fn code(a: f64, n: i64) -> f64 { $f(a, n) } Code::FloatInt(code) }};
    (@f32 int $f:expr) => {{ extern "C" fn code(a: f32, n: i64) -> f32 { $f(a, n) } Code::SingleInt(code) }};
}

functions! {
    "exp" "exp" "exp_f32" one libm::exp, libm::expf;
    "exp2" "exp2" "exp2_f32" one libm::exp2, libm::exp2f;
    "exp_m1" "exp_m1" "exp_m1_f32" one libm::expm1, libm::expm1f;
    "ln" "ln" "ln_f32" one libm::log, libm::logf;
    "ln_1p" "ln_1p" "ln_1p_f32" one libm::log1p, libm::log1pf;
    "log2" "log2" "log2_f32" one libm::log2, libm::log2f;
    "log10" "log10" "log10_f32" one libm::log10, libm::log10f;
    "sin" "sin" "sin_f32" one libm::sin, libm::sinf;
    "cos" "cos" "cos_f32" one libm::cos, libm::cosf;
    "tan" "tan" "tan_f32" one libm::tan, libm::tanf;
    "asin" "asin" "asin_f32" one libm::asin, libm::asinf;
    "acos" "acos" "acos_f32" one libm::acos, libm::acosf;
    "atan" "atan" "atan_f32" one libm::atan, libm::atanf;
    "sinh" "sinh" "sinh_f32" one libm::sinh, libm::sinhf;
    "cosh" "cosh" "cosh_f32" one libm::cosh, libm::coshf;
    "tanh" "tanh" "tanh_f32" one libm::tanh, libm::tanhf;
    "asinh" "asinh" "asinh_f32" one libm::asinh, libm::asinhf;
    "acosh" "acosh" "acosh_f32" one libm::acosh, libm::acoshf;
    "atanh" "atanh" "atanh_f32" one libm::atanh, libm::atanhf;
    "cbrt" "cbrt" "cbrt_f32" one libm::cbrt, libm::cbrtf;
    "round" "round" "round_f32" one libm::round, libm::roundf;
    "atan2" "atan2" "atan2_f32" two libm::atan2, libm::atan2f;
    "hypot" "hypot" "hypot_f32" two libm::hypot, libm::hypotf;
    "powf" "powf" "powf_f32" two libm::pow, libm::powf;
    "powi" "powi" "powi_f32" int power, power_f32;
}

macro_rules! power {
    ($name:ident, $float:ty) => {
        /// `x` to the power of an integer by squaring, in the order of LLVM's `__powidf2`, which Rust's `powi` calls.
        fn $name(x: $float, n: i64) -> $float {
            let (mut square, mut left, mut product) = (x, n.unsigned_abs(), 1.0);
            loop {
                if left & 1 != 0 {
                    product *= square;
                }
                left >>= 1;
                if left == 0 {
                    return if n < 0 { 1.0 / product } else { product };
                }
                square *= square;
            }
        }
    };
}

power!(power, f64);
power!(power_f32, f32);

/// The function called `name` (`exp`, or `exp_f32`), without `libm::`.
pub fn function(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|f| f.name == name)
}

/// The function that `method` is on floats of type `ty`.
pub fn method(method: &str, ty: Type) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|f| f.method == method && f.result() == ty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_found() {
        for f in FUNCTIONS {
            let found = function(f.name).map(|g| (g.name, g.method, g.result()));
            assert_eq!(found, Some((f.name, f.method, f.result())));
            assert_eq!(method(f.method, f.result()).map(|g| g.name), Some(f.name));
        }
    }

    #[test]
    fn functions_compute() {
        let words = |a: f64, b: f64| [a.to_bits(), b.to_bits()];
        assert_eq!(function("powf").unwrap().compute(&words(2.0, 10.0)), 1024f64.to_bits());
        assert_eq!(function("powi").unwrap().compute(&[2f64.to_bits(), -2i64 as u64]), 0.25f64.to_bits());
        assert_eq!(function("ln").unwrap().compute(&words(1.0, 0.0)), 0);
        assert_eq!(function("round_f32").unwrap().compute(&[2.5f32.to_bits().into()]), u64::from(3f32.to_bits()));
    }
}
