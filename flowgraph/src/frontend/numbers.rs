//! The table of number methods: name, what it is called on, arguments, result. What each does is in
//! [`super::lower`]'s `number` module.

use crate::ir::Scalar;

/// What a method is called on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    Integer,
    Signed,
    Unsigned,
    Float,
    /// `u8` and `char`.
    Ascii,
}

/// The type of an argument or result, from that of the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Same,
    U32,
    Bool,
    /// The unsigned (signed) type of the same width.
    Unsigned,
    Signed,
    /// The integer type of a float's bits.
    Bits,
    /// `Option<Self>`.
    Maybe,
    /// `(Self, bool)`.
    WithFlag,
}

macro_rules! methods {
    ($($variant:ident = $name:literal $on:ident ($($arg:ident),*) -> $result:ident;)*) => {
        /// A number method.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(super) enum NumberMethod { $($variant,)* }

        /// The rows: name, receiver, arguments besides the receiver, result.
        pub(super) const METHODS: &[(&str, NumberMethod, On, &[Of], Of)] =
            &[$(($name, NumberMethod::$variant, On::$on, &[$(Of::$arg),*], Of::$result),)*];
    };
}

methods! {
    WrappingAdd = "wrapping_add" Integer (Same) -> Same;
    WrappingSub = "wrapping_sub" Integer (Same) -> Same;
    WrappingMul = "wrapping_mul" Integer (Same) -> Same;
    WrappingDiv = "wrapping_div" Integer (Same) -> Same;
    WrappingRem = "wrapping_rem" Integer (Same) -> Same;
    WrappingNeg = "wrapping_neg" Integer () -> Same;
    WrappingAbs = "wrapping_abs" Signed () -> Same;
    WrappingShl = "wrapping_shl" Integer (U32) -> Same;
    WrappingShr = "wrapping_shr" Integer (U32) -> Same;
    WrappingPow = "wrapping_pow" Integer (U32) -> Same;
    WrappingAddSigned = "wrapping_add_signed" Unsigned (Signed) -> Same;
    WrappingSubSigned = "wrapping_sub_signed" Unsigned (Signed) -> Same;
    WrappingAddUnsigned = "wrapping_add_unsigned" Signed (Unsigned) -> Same;
    WrappingSubUnsigned = "wrapping_sub_unsigned" Signed (Unsigned) -> Same;
    CheckedAdd = "checked_add" Integer (Same) -> Maybe;
    CheckedSub = "checked_sub" Integer (Same) -> Maybe;
    CheckedMul = "checked_mul" Integer (Same) -> Maybe;
    CheckedDiv = "checked_div" Integer (Same) -> Maybe;
    CheckedRem = "checked_rem" Integer (Same) -> Maybe;
    CheckedNeg = "checked_neg" Integer () -> Maybe;
    CheckedAbs = "checked_abs" Signed () -> Maybe;
    CheckedShl = "checked_shl" Integer (U32) -> Maybe;
    CheckedShr = "checked_shr" Integer (U32) -> Maybe;
    CheckedPow = "checked_pow" Integer (U32) -> Maybe;
    OverflowingAdd = "overflowing_add" Integer (Same) -> WithFlag;
    OverflowingSub = "overflowing_sub" Integer (Same) -> WithFlag;
    OverflowingMul = "overflowing_mul" Integer (Same) -> WithFlag;
    OverflowingDiv = "overflowing_div" Integer (Same) -> WithFlag;
    OverflowingRem = "overflowing_rem" Integer (Same) -> WithFlag;
    OverflowingNeg = "overflowing_neg" Integer () -> WithFlag;
    OverflowingAbs = "overflowing_abs" Signed () -> WithFlag;
    OverflowingShl = "overflowing_shl" Integer (U32) -> WithFlag;
    OverflowingShr = "overflowing_shr" Integer (U32) -> WithFlag;
    OverflowingPow = "overflowing_pow" Integer (U32) -> WithFlag;
    SaturatingAdd = "saturating_add" Integer (Same) -> Same;
    SaturatingSub = "saturating_sub" Integer (Same) -> Same;
    SaturatingMul = "saturating_mul" Integer (Same) -> Same;
    RotateLeft = "rotate_left" Integer (U32) -> Same;
    RotateRight = "rotate_right" Integer (U32) -> Same;
    CountOnes = "count_ones" Integer () -> U32;
    CountZeros = "count_zeros" Integer () -> U32;
    LeadingZeros = "leading_zeros" Integer () -> U32;
    TrailingZeros = "trailing_zeros" Integer () -> U32;
    LeadingOnes = "leading_ones" Integer () -> U32;
    TrailingOnes = "trailing_ones" Integer () -> U32;
    SwapBytes = "swap_bytes" Integer () -> Same;
    ReverseBits = "reverse_bits" Integer () -> Same;
    Abs = "abs" Signed () -> Same;
    UnsignedAbs = "unsigned_abs" Signed () -> Unsigned;
    Signum = "signum" Signed () -> Same;
    IsPositive = "is_positive" Signed () -> Bool;
    IsNegative = "is_negative" Signed () -> Bool;
    Min = "min" Integer (Same) -> Same;
    Max = "max" Integer (Same) -> Same;
    Clamp = "clamp" Integer (Same, Same) -> Same;
    Pow = "pow" Integer (U32) -> Same;
    RemEuclid = "rem_euclid" Integer (Same) -> Same;
    DivEuclid = "div_euclid" Integer (Same) -> Same;
    AbsDiff = "abs_diff" Integer (Same) -> Unsigned;
    IsPowerOfTwo = "is_power_of_two" Unsigned () -> Bool;
    CastSigned = "cast_signed" Unsigned () -> Signed;
    CastUnsigned = "cast_unsigned" Signed () -> Unsigned;
    FloatSqrt = "sqrt" Float () -> Same;
    FloatAbs = "abs" Float () -> Same;
    FloatFloor = "floor" Float () -> Same;
    FloatCeil = "ceil" Float () -> Same;
    FloatTrunc = "trunc" Float () -> Same;
    FloatNearest = "round_ties_even" Float () -> Same;
    FloatMin = "min" Float (Same) -> Same;
    FloatMax = "max" Float (Same) -> Same;
    FloatMulAdd = "mul_add" Float (Same, Same) -> Same;
    FloatCopysign = "copysign" Float (Same) -> Same;
    FloatToBits = "to_bits" Float () -> Bits;
    FloatIsNan = "is_nan" Float () -> Bool;
    FloatIsFinite = "is_finite" Float () -> Bool;
    FloatIsInfinite = "is_infinite" Float () -> Bool;
    FloatIsSignNegative = "is_sign_negative" Float () -> Bool;
    FloatIsSignPositive = "is_sign_positive" Float () -> Bool;
    FloatSignum = "signum" Float () -> Same;
    FloatRecip = "recip" Float () -> Same;
    IsAsciiDigit = "is_ascii_digit" Ascii () -> Bool;
    IsAsciiLowercase = "is_ascii_lowercase" Ascii () -> Bool;
    IsAsciiUppercase = "is_ascii_uppercase" Ascii () -> Bool;
    IsAsciiAlphabetic = "is_ascii_alphabetic" Ascii () -> Bool;
    IsAsciiAlphanumeric = "is_ascii_alphanumeric" Ascii () -> Bool;
    IsAsciiWhitespace = "is_ascii_whitespace" Ascii () -> Bool;
    IsAsciiHexdigit = "is_ascii_hexdigit" Ascii () -> Bool;
    IsAsciiPunctuation = "is_ascii_punctuation" Ascii () -> Bool;
    IsAsciiGraphic = "is_ascii_graphic" Ascii () -> Bool;
    IsAsciiControl = "is_ascii_control" Ascii () -> Bool;
    IsAscii = "is_ascii" Ascii () -> Bool;
    ToAsciiUppercase = "to_ascii_uppercase" Ascii () -> Same;
    ToAsciiLowercase = "to_ascii_lowercase" Ascii () -> Same;
}

/// The functions of the prelude, called by name.
pub(super) fn is_prelude_function(name: &str) -> bool {
    PRELUDE.contains(&name) || memory_helper(name).is_some() || super::host::prelude_host(name).is_some()
}

/// The names of those of them that are no family by types.
pub(super) fn prelude_functions<'n>() -> impl Iterator<Item = &'n str> {
    PRELUDE.iter().copied().chain(super::host::prelude_hosts()).map(|name| -> &'n str { name })
}

const PRELUDE: &[&str] =
    &["concrete", "variable", "promote", "promote_tag", "likely", "we_are_jitted", "is_constant", "is_virtual"];

/// `read_u16_le` and the like: whether it writes, and the scalar.
pub(super) fn memory_helper(name: &str) -> Option<(bool, crate::ir::Scalar)> {
    let (write, rest) = match (name.strip_prefix("read_"), name.strip_prefix("write_")) {
        (Some(rest), _) => (false, rest),
        (_, Some(rest)) => (true, rest),
        _ => return None,
    };
    let scalar = crate::ir::Scalar::from_name(rest.strip_suffix("_le")?)?;
    let wide = scalar.bits() > 8 && (scalar.is_integer() || scalar.is_float());
    (wide && !matches!(scalar, crate::ir::Scalar::Isize | crate::ir::Scalar::Usize)).then_some((write, scalar))
}

/// What to write where an unsigned number is negated.
pub(super) fn no_negation(unsigned: Scalar) -> String {
    let name = unsigned.name();
    format!(
        "`x.wrapping_neg()` is 0 - x without a trap; a negative number of a signed type becomes a `{name}` by `as`: `-1i64 as {name}`"
    )
}
