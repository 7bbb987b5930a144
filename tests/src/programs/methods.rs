//! The number methods of the dialect, by what they are called on, take and give.

use super::types::{BOOL, INTEGERS, SCALARS, Ty, U32};
use flowgraph::ir::Scalar;

/// What a method is called on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// Every integer.
    Integer,
    /// The signed ones.
    Signed,
    /// The unsigned ones.
    Unsigned,
    /// `f64` and `f32`.
    Float,
    /// `u8` and `char`.
    Ascii,
}

/// What a method takes or gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// The type that it is called on.
    Same,
    /// `u32`.
    U32,
    /// `i32`.
    I32,
    /// `bool`.
    Bool,
    /// The unsigned integer as wide.
    Unsigned,
    /// The signed integer as wide.
    Signed,
    /// The unsigned integer as wide as a float.
    Bits,
    /// `Option` of the type.
    Maybe,
    /// The type and a `bool`.
    WithFlag,
    /// Bytes, as many as the type has.
    Bytes,
}

/// A method.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// Its name.
    pub name: &'static str,
    /// What it is called on.
    pub on: On,
    /// What it takes.
    pub params: &'static [Of],
    /// What it gives.
    pub result: Of,
}

macro_rules! taken {
    (($($param:ident),*)) => {
        &[$(Of::$param),*]
    };
}

macro_rules! methods {
    ($($on:ident $params:tt -> $result:ident: $($name:literal)*;)*) => {
        /// The methods.
        pub const METHODS: &[Method] = &[$($(
            Method { name: $name, on: On::$on, params: taken!($params), result: Of::$result },
        )*)*];
    };
}

methods! {
    Integer (Same) -> Same: "wrapping_add" "wrapping_sub" "wrapping_mul" "wrapping_div" "wrapping_rem" "saturating_add"
        "saturating_sub" "saturating_mul" "min" "max" "rem_euclid" "div_euclid";
    Integer () -> Same: "wrapping_neg" "swap_bytes" "reverse_bits";
    Signed () -> Same: "wrapping_abs" "abs" "signum";
    Integer (U32) -> Same: "wrapping_shl" "wrapping_shr" "wrapping_pow" "pow" "rotate_left" "rotate_right";
    Unsigned (Signed) -> Same: "wrapping_add_signed" "wrapping_sub_signed";
    Signed (Unsigned) -> Same: "wrapping_add_unsigned" "wrapping_sub_unsigned";
    Integer (Same) -> Maybe: "checked_add" "checked_sub" "checked_mul" "checked_div" "checked_rem";
    Integer () -> Maybe: "checked_neg";
    Signed () -> Maybe: "checked_abs";
    Integer (U32) -> Maybe: "checked_shl" "checked_shr" "checked_pow";
    Integer (Same) -> WithFlag: "overflowing_add" "overflowing_sub" "overflowing_mul" "overflowing_div" "overflowing_rem";
    Integer () -> WithFlag: "overflowing_neg";
    Signed () -> WithFlag: "overflowing_abs";
    Integer (U32) -> WithFlag: "overflowing_shl" "overflowing_shr" "overflowing_pow";
    Integer () -> U32: "count_ones" "count_zeros" "leading_zeros" "trailing_zeros" "leading_ones" "trailing_ones";
    Integer (Same, Same) -> Same: "clamp";
    Integer (Same) -> Unsigned: "abs_diff";
    Signed () -> Unsigned: "unsigned_abs" "cast_unsigned";
    Unsigned () -> Signed: "cast_signed";
    Signed () -> Bool: "is_positive" "is_negative";
    Unsigned () -> Bool: "is_power_of_two";
    Integer () -> Bytes: "to_le_bytes" "to_be_bytes";
    Float () -> Same: "sqrt" "abs" "floor" "ceil" "trunc" "round_ties_even" "signum" "recip";
    Float (Same) -> Same: "min" "max" "copysign";
    Float (Same, Same) -> Same: "mul_add";
    Float () -> Bits: "to_bits";
    Float () -> Bool: "is_nan" "is_finite" "is_infinite" "is_sign_negative" "is_sign_positive";
    Ascii () -> Bool: "is_ascii_digit" "is_ascii_lowercase" "is_ascii_uppercase" "is_ascii_alphabetic"
        "is_ascii_alphanumeric" "is_ascii_whitespace";
}

/// The functions of the mathematics library that aren't exact: what each takes besides the number.
pub const MATHEMATICS: &[(&str, &[Of])] = &[
    ("exp", &[]),
    ("ln", &[]),
    ("sin", &[]),
    ("cos", &[]),
    ("tan", &[]),
    ("atan", &[]),
    ("asin", &[]),
    ("acos", &[]),
    ("sinh", &[]),
    ("cosh", &[]),
    ("tanh", &[]),
    ("exp2", &[]),
    ("log2", &[]),
    ("log10", &[]),
    ("cbrt", &[]),
    ("powf", &[Of::Same]),
    ("powi", &[Of::I32]),
    ("atan2", &[Of::Same]),
    ("hypot", &[Of::Same]),
];

/// The unsigned (signed) integer as wide as this one.
pub fn as_wide(scalar: Scalar, signed: bool) -> Scalar {
    use Scalar::*;
    match (scalar, signed) {
        (I8 | U8, true) => I8,
        (I16 | U16, true) => I16,
        (I32 | U32 | F32, true) => I32,
        (Isize | Usize, true) => Isize,
        (_, true) => I64,
        (I8 | U8, false) => U8,
        (I16 | U16, false) => U16,
        (I32 | U32 | F32, false) => U32,
        (Isize | Usize, false) => Usize,
        (_, false) => U64,
    }
}

impl Of {
    /// The type, where the method is called on `on`.
    pub fn ty(self, on: Scalar) -> Ty {
        match self {
            Of::Same => Ty::Scalar(on),
            Of::U32 => U32,
            Of::I32 => Ty::Scalar(Scalar::I32),
            Of::Bool => BOOL,
            Of::Unsigned | Of::Bits => Ty::Scalar(as_wide(on, false)),
            Of::Signed => Ty::Scalar(as_wide(on, true)),
            Of::Maybe => Ty::Option(Box::new(Ty::Scalar(on))),
            Of::WithFlag => Ty::Tuple(vec![Ty::Scalar(on), BOOL]),
            Of::Bytes => Ty::Array(Box::new(Ty::Scalar(Scalar::U8)), on.bits() as usize / 8),
        }
    }
}

impl On {
    /// Whether methods of this row are called on a scalar.
    pub fn takes(self, scalar: Scalar) -> bool {
        match self {
            On::Integer => scalar.is_integer(),
            On::Signed => scalar.is_integer() && scalar.is_signed(),
            On::Unsigned => scalar.is_integer() && !scalar.is_signed(),
            On::Float => scalar.is_float(),
            On::Ascii => matches!(scalar, Scalar::U8 | Scalar::Char),
        }
    }
}

/// The methods that give a value of the type, with what each is called on.
pub fn giving(ty: &Ty) -> Vec<(&'static Method, Scalar)> {
    let mut found = Vec::new();
    for method in METHODS {
        for on in SCALARS.into_iter().filter(|on| method.on.takes(*on)) {
            if method.result.ty(on) == *ty {
                found.push((method, on));
            }
        }
    }
    found
}

/// Whether `to::from(from)` is there, and loses nothing.
pub fn is_lossless(from: Scalar, to: Scalar) -> bool {
    match (from, to) {
        (Scalar::Bool, to) => INTEGERS.contains(&to),
        (Scalar::U8, Scalar::Char) | (Scalar::F32, Scalar::F64) => true,
        (Scalar::Char, to) => matches!(to, Scalar::U32 | Scalar::U64),
        (from, to) if from.is_integer() && to.is_float() => {
            let wide = matches!(from, Scalar::Isize | Scalar::Usize);
            !wide && from.bits() <= if to == Scalar::F64 { 32 } else { 16 }
        }
        (from, to) if from.is_integer() && to.is_integer() => {
            let fits = to.bits() > from.bits() && (!from.is_signed() || to.is_signed());
            let pointer = match to {
                Scalar::Usize => matches!(from, Scalar::U8 | Scalar::U16),
                Scalar::Isize => matches!(from, Scalar::U8 | Scalar::I8 | Scalar::I16),
                _ => true,
            };
            fits && pointer && !matches!(from, Scalar::Isize | Scalar::Usize)
        }
        _ => false,
    }
}

/// Whether `from as to` is there.
pub fn is_castable(from: Scalar, to: Scalar) -> bool {
    let number = |s: Scalar| s.is_integer() || s.is_float();
    match (from, to) {
        (Scalar::Bool | Scalar::Char, to) => to.is_integer() || to == from,
        (Scalar::U8, Scalar::Char) => true,
        (from, to) => number(from) && number(to),
    }
}
