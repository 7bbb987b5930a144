//! The op table: one row an op, from which everything that depends on the set of ops derives.
//!
//! A row gives the name in text, the operands and results with their types, the effect, whether the first two operands
//! commute, and, for ops that only compute, *the* definition of what they compute. The evaluator, the specializer
//! (folding, and executing while tracing), the blackhole, the verifier, the printer, the parser and the drawings use
//! the row; the code generator matches on [`Opcode`] without a wildcard, so that a new row fails to compile until it
//! has a lowering.
//!
//! All ops are total: `x / 0` is 0, `x % 0` is `x`, `MIN / -1` is `MIN`; shift amounts are taken modulo 64. Where the
//! language traps, the graph has an explicit branch before the op.
//!
//! Names are RPython's where it has one (`rpython/jit/metainterp/resoperation.py`). Division truncates, as Rust's does,
//! in spite of RPython's name for it.

use super::Type;
use crate::math;
use smallvec::{SmallVec, smallvec};

/// The bits of a value: an `i64`, an `f64`, or an `f32` in the low half.
pub type Word = u64;

/// The words that an op gives.
pub type Words = SmallVec<[Word; 2]>;

/// What an op does besides computing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Effect {
    /// Nothing: its results depend on its operands alone.
    Pure,
    /// Reads memory.
    Read,
    /// Writes memory.
    Write,
    /// Makes a place in memory.
    Allocate,
    /// May do anything that its callee does.
    Call,
    /// A call that only computes, as far as anybody can see.
    ElidableCall,
    /// Speaks to the compiler; when run, it is a copy or nothing.
    Hint,
}

/// The type that a row asks of an operand or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandType {
    /// This type.
    Is(Type),
    /// Any type; equal to that of all other `Any` of the row.
    Any,
    /// The type that the descriptor's access gives.
    Accessed,
    /// Any number of operands of any types, to the end.
    Rest,
}

trait Bits {
    fn from_word(w: Word) -> Self;
    fn to_word(self) -> Word;
}
impl Bits for i64 {
    fn from_word(w: Word) -> i64 {
        w as i64
    }
    fn to_word(self) -> Word {
        self as Word
    }
}
impl Bits for f64 {
    fn from_word(w: Word) -> f64 {
        f64::from_bits(w)
    }
    fn to_word(self) -> Word {
        self.to_bits()
    }
}
impl Bits for f32 {
    fn from_word(w: Word) -> f32 {
        f32::from_bits(w as u32)
    }
    fn to_word(self) -> Word {
        u64::from(self.to_bits())
    }
}

trait IntoWords {
    fn into_words(self) -> Words;
}
impl<T: Bits> IntoWords for T {
    fn into_words(self) -> Words {
        smallvec![self.to_word()]
    }
}
impl IntoWords for bool {
    fn into_words(self) -> Words {
        smallvec![u64::from(self)]
    }
}
impl IntoWords for (i64, bool) {
    fn into_words(self) -> Words {
        smallvec![self.0 as Word, u64::from(self.1)]
    }
}

macro_rules! operand_type {
    (int) => {
        OperandType::Is(Type::Int)
    };
    (float) => {
        OperandType::Is(Type::Float)
    };
    (single) => {
        OperandType::Is(Type::Single)
    };
    (any) => {
        OperandType::Any
    };
    (accessed) => {
        OperandType::Accessed
    };
    (rest) => {
        OperandType::Rest
    };
}

macro_rules! rust_type {
    (int) => {
        i64
    };
    (float) => {
        f64
    };
    (single) => {
        f32
    };
}

macro_rules! commutes {
    () => {
        false
    };
    (commutative) => {
        true
    };
}

macro_rules! compute {
    ($words:ident;) => {{
        let _ = $words;
        None
    }};
    ($words:ident; |$($arg:ident : $ty:ident),*| $body:expr) => {{
        let mut words = $words.iter().copied();
        $(let $arg = <rust_type!($ty) as Bits>::from_word(words.next().unwrap_or_default());)*
        debug_assert!(words.next().is_none());
        Some(IntoWords::into_words($body))
    }};
}

macro_rules! op_table {
    ($(
        $(#[$doc:meta])*
        $variant:ident = $name:literal ($($arg:ident : $ty:ident),*) -> ($($result:ident),*) $effect:ident $($commutative:ident)?
            $(= $body:expr)? ;
    )*) => {
        /// An op of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Opcode { $($(#[$doc])* $variant,)* }

        impl Opcode {
            /// Every op, in the order of the table.
            pub const ALL: &'static [Opcode] = &[$(Opcode::$variant,)*];

            /// The name in text.
            pub fn name(self) -> &'static str {
                match self { $(Opcode::$variant => $name,)* }
            }

            /// The types of the operands.
            pub fn operands(self) -> &'static [OperandType] {
                match self { $(Opcode::$variant => &[$(operand_type!($ty)),*],)* }
            }

            /// The names of the operands, for help and messages.
            pub fn operand_names(self) -> &'static [&'static str] {
                match self { $(Opcode::$variant => &[$(stringify!($arg)),*],)* }
            }

            /// The types of the results.
            #[inline]
            pub fn results(self) -> &'static [OperandType] {
                match self { $(Opcode::$variant => &[$(operand_type!($result)),*],)* }
            }

            /// What it does besides computing.
            #[inline]
            pub fn effect(self) -> Effect {
                match self { $(Opcode::$variant => Effect::$effect,)* }
            }

            /// Whether the first two operands may be exchanged.
            #[inline]
            pub fn is_commutative(self) -> bool {
                match self { $(Opcode::$variant => commutes!($($commutative)?),)* }
            }

            /// What the op computes from the words of its operands: *the* definition. `None` for ops that do more than
            /// compute (memory, calls, hints).
            pub fn compute(self, words: &[Word]) -> Option<Words> {
                match self { $(Opcode::$variant => op_table!(@compute words ($($arg : $ty),*) $($body)?),)* }
            }
        }
    };
    (@compute $words:ident ($($arg:ident : $ty:ident),*)) => { compute!($words;) };
    (@compute $words:ident ($($arg:ident : $ty:ident),*) $body:expr) => { compute!($words; |$($arg : $ty),*| ($body)) };
}

// A body's names must come from the same macro expansion as the parameters', so bodies are written as expressions over
// the names of the row.
op_table! {
    // ---- integers
    /// Sum, wrapping.
    IntAdd = "int_add" (a: int, b: int) -> (int) Pure commutative = i64::wrapping_add(a, b);
    /// Difference, wrapping.
    IntSub = "int_sub" (a: int, b: int) -> (int) Pure = i64::wrapping_sub(a, b);
    /// Product, wrapping.
    IntMul = "int_mul" (a: int, b: int) -> (int) Pure commutative = i64::wrapping_mul(a, b);
    /// High half of the unsigned 128-bit product.
    UintMulHigh = "uint_mul_high" (a: int, b: int) -> (int) Pure commutative
        = ((u128::from(a as u64) * u128::from(b as u64)) >> 64) as i64;
    /// Sum and whether it overflowed as signed.
    IntAddOvf = "int_add_ovf" (a: int, b: int) -> (int, int) Pure commutative = i64::overflowing_add(a, b);
    /// Difference and whether it overflowed as signed.
    IntSubOvf = "int_sub_ovf" (a: int, b: int) -> (int, int) Pure = i64::overflowing_sub(a, b);
    /// Product and whether it overflowed as signed.
    IntMulOvf = "int_mul_ovf" (a: int, b: int) -> (int, int) Pure commutative = i64::overflowing_mul(a, b);
    /// Quotient, truncating; 0 for a zero divisor, wrapping for `MIN / -1`.
    IntFloordiv = "int_floordiv" (a: int, b: int) -> (int) Pure = if b == 0 { 0 } else { i64::wrapping_div(a, b) };
    /// Remainder with the sign of the dividend; the dividend for a zero divisor, 0 for `MIN % -1`.
    IntMod = "int_mod" (a: int, b: int) -> (int) Pure = if b == 0 { a } else { i64::wrapping_rem(a, b) };
    /// Unsigned quotient; 0 for a zero divisor.
    UintFloordiv = "uint_floordiv" (a: int, b: int) -> (int) Pure = (a as u64).checked_div(b as u64).unwrap_or(0) as i64;
    /// Unsigned remainder; the dividend for a zero divisor.
    UintMod = "uint_mod" (a: int, b: int) -> (int) Pure = (a as u64).checked_rem(b as u64).unwrap_or(a as u64) as i64;
    /// Bitwise and.
    IntAnd = "int_and" (a: int, b: int) -> (int) Pure commutative = a & b;
    /// Bitwise or.
    IntOr = "int_or" (a: int, b: int) -> (int) Pure commutative = a | b;
    /// Bitwise exclusive or.
    IntXor = "int_xor" (a: int, b: int) -> (int) Pure commutative = a ^ b;
    /// Shift left.
    IntLshift = "int_lshift" (a: int, b: int) -> (int) Pure = a << (b & 63);
    /// Shift right, copying the sign.
    IntRshift = "int_rshift" (a: int, b: int) -> (int) Pure = a >> (b & 63);
    /// Shift right, filling with zeros.
    UintRshift = "uint_rshift" (a: int, b: int) -> (int) Pure = ((a as u64) >> (b & 63)) as i64;
    /// Negation, wrapping.
    IntNeg = "int_neg" (a: int) -> (int) Pure = i64::wrapping_neg(a);
    /// Bitwise not.
    IntInvert = "int_invert" (a: int) -> (int) Pure = !a;
    /// Sign extension of the low `bytes` (1, 2 or 4; 8 leaves all as it is) bytes.
    IntSignext = "int_signext" (a: int, bytes: int) -> (int) Pure
        = { let unused = 64 - 8 * bytes.clamp(1, 8); (a << unused) >> unused };
    /// `a` where it isn't negative, else 0.
    IntForceGeZero = "int_force_ge_zero" (a: int) -> (int) Pure = a.max(0);
    /// The number of ones.
    IntPopcount = "int_popcount" (a: int) -> (int) Pure = i64::from(a.count_ones());
    /// The number of leading zeros, 64 for zero.
    IntClz = "int_clz" (a: int) -> (int) Pure = i64::from(a.leading_zeros());
    /// The number of trailing zeros, 64 for zero.
    IntCtz = "int_ctz" (a: int) -> (int) Pure = i64::from(a.trailing_zeros());
    /// The bytes in opposite order.
    IntBswap = "int_bswap" (a: int) -> (int) Pure = a.swap_bytes();
    /// The bits in opposite order.
    IntBitreverse = "int_bitreverse" (a: int) -> (int) Pure = a.reverse_bits();
    /// `a` if `cond` isn't zero, else `b`.
    IntSelect = "int_select" (cond: int, a: int, b: int) -> (int) Pure = if cond != 0 { a } else { b };

    // ---- comparisons of integers
    /// Equal.
    IntEq = "int_eq" (a: int, b: int) -> (int) Pure commutative = a == b;
    /// Not equal.
    IntNe = "int_ne" (a: int, b: int) -> (int) Pure commutative = a != b;
    /// Less.
    IntLt = "int_lt" (a: int, b: int) -> (int) Pure = a < b;
    /// Less or equal.
    IntLe = "int_le" (a: int, b: int) -> (int) Pure = a <= b;
    /// Greater.
    IntGt = "int_gt" (a: int, b: int) -> (int) Pure = a > b;
    /// Greater or equal.
    IntGe = "int_ge" (a: int, b: int) -> (int) Pure = a >= b;
    /// Less, unsigned.
    UintLt = "uint_lt" (a: int, b: int) -> (int) Pure = (a as u64) < b as u64;
    /// Less or equal, unsigned.
    UintLe = "uint_le" (a: int, b: int) -> (int) Pure = a as u64 <= b as u64;
    /// Greater, unsigned.
    UintGt = "uint_gt" (a: int, b: int) -> (int) Pure = a as u64 > b as u64;
    /// Greater or equal, unsigned.
    UintGe = "uint_ge" (a: int, b: int) -> (int) Pure = a as u64 >= b as u64;
    /// Not zero.
    IntIsTrue = "int_is_true" (a: int) -> (int) Pure = a != 0;
    /// Zero.
    IntIsZero = "int_is_zero" (a: int) -> (int) Pure = a == 0;

    // ---- floats
    /// Sum.
    FloatAdd = "float_add" (a: float, b: float) -> (float) Pure commutative = a + b;
    /// Difference.
    FloatSub = "float_sub" (a: float, b: float) -> (float) Pure = a - b;
    /// Product.
    FloatMul = "float_mul" (a: float, b: float) -> (float) Pure commutative = a * b;
    /// Quotient.
    FloatTruediv = "float_truediv" (a: float, b: float) -> (float) Pure = a / b;
    /// Remainder, exact (`fmod`).
    FloatMod = "float_mod" (a: float, b: float) -> (float) Pure = libm::fmod(a, b);
    /// Negation (of NaNs too: the sign bit).
    FloatNeg = "float_neg" (a: float) -> (float) Pure = -a;
    /// Absolute value.
    FloatAbs = "float_abs" (a: float) -> (float) Pure = a.abs();
    /// Square root.
    FloatSqrt = "float_sqrt" (a: float) -> (float) Pure = a.sqrt();
    /// Largest integer not above.
    FloatFloor = "float_floor" (a: float) -> (float) Pure = a.floor();
    /// Smallest integer not below.
    FloatCeil = "float_ceil" (a: float) -> (float) Pure = a.ceil();
    /// The integer part.
    FloatTrunc = "float_trunc" (a: float) -> (float) Pure = a.trunc();
    /// The nearest integer, ties to even.
    FloatNearest = "float_nearest" (a: float) -> (float) Pure = a.round_ties_even();
    /// `a * b + c` with one rounding.
    FloatFma = "float_fma" (a: float, b: float, c: float) -> (float) Pure = libm::fma(a, b, c);
    /// `a` with the sign of `b`.
    FloatCopysign = "float_copysign" (a: float, b: float) -> (float) Pure = a.copysign(b);
    /// The smaller; the other one if one is NaN; -0 before +0.
    FloatMin = "float_min" (a: float, b: float) -> (float) Pure commutative = math::min(a, b);
    /// The larger; the other one if one is NaN; +0 before -0.
    FloatMax = "float_max" (a: float, b: float) -> (float) Pure commutative = math::max(a, b);
    /// `a` if `cond` isn't zero, else `b`.
    FloatSelect = "float_select" (cond: int, a: float, b: float) -> (float) Pure = if cond != 0 { a } else { b };
    /// Equal.
    FloatEq = "float_eq" (a: float, b: float) -> (int) Pure commutative = a == b;
    /// Not equal (true of NaNs).
    FloatNe = "float_ne" (a: float, b: float) -> (int) Pure commutative = a != b;
    /// Less.
    FloatLt = "float_lt" (a: float, b: float) -> (int) Pure = a < b;
    /// Less or equal.
    FloatLe = "float_le" (a: float, b: float) -> (int) Pure = a <= b;
    /// Greater.
    FloatGt = "float_gt" (a: float, b: float) -> (int) Pure = a > b;
    /// Greater or equal.
    FloatGe = "float_ge" (a: float, b: float) -> (int) Pure = a >= b;

    // ---- singles
    /// Sum.
    SingleAdd = "single_add" (a: single, b: single) -> (single) Pure commutative = a + b;
    /// Difference.
    SingleSub = "single_sub" (a: single, b: single) -> (single) Pure = a - b;
    /// Product.
    SingleMul = "single_mul" (a: single, b: single) -> (single) Pure commutative = a * b;
    /// Quotient.
    SingleTruediv = "single_truediv" (a: single, b: single) -> (single) Pure = a / b;
    /// Remainder, exact (`fmod`).
    SingleMod = "single_mod" (a: single, b: single) -> (single) Pure = libm::fmodf(a, b);
    /// Negation.
    SingleNeg = "single_neg" (a: single) -> (single) Pure = -a;
    /// Absolute value.
    SingleAbs = "single_abs" (a: single) -> (single) Pure = a.abs();
    /// Square root.
    SingleSqrt = "single_sqrt" (a: single) -> (single) Pure = a.sqrt();
    /// Largest integer not above.
    SingleFloor = "single_floor" (a: single) -> (single) Pure = a.floor();
    /// Smallest integer not below.
    SingleCeil = "single_ceil" (a: single) -> (single) Pure = a.ceil();
    /// The integer part.
    SingleTrunc = "single_trunc" (a: single) -> (single) Pure = a.trunc();
    /// The nearest integer, ties to even.
    SingleNearest = "single_nearest" (a: single) -> (single) Pure = a.round_ties_even();
    /// `a * b + c` with one rounding.
    SingleFma = "single_fma" (a: single, b: single, c: single) -> (single) Pure = libm::fmaf(a, b, c);
    /// `a` with the sign of `b`.
    SingleCopysign = "single_copysign" (a: single, b: single) -> (single) Pure = a.copysign(b);
    /// The smaller; the other one if one is NaN; -0 before +0.
    SingleMin = "single_min" (a: single, b: single) -> (single) Pure commutative = math::min_f32(a, b);
    /// The larger; the other one if one is NaN; +0 before -0.
    SingleMax = "single_max" (a: single, b: single) -> (single) Pure commutative = math::max_f32(a, b);
    /// `a` if `cond` isn't zero, else `b`.
    SingleSelect = "single_select" (cond: int, a: single, b: single) -> (single) Pure = if cond != 0 { a } else { b };
    /// Equal.
    SingleEq = "single_eq" (a: single, b: single) -> (int) Pure commutative = a == b;
    /// Not equal (true of NaNs).
    SingleNe = "single_ne" (a: single, b: single) -> (int) Pure commutative = a != b;
    /// Less.
    SingleLt = "single_lt" (a: single, b: single) -> (int) Pure = a < b;
    /// Less or equal.
    SingleLe = "single_le" (a: single, b: single) -> (int) Pure = a <= b;
    /// Greater.
    SingleGt = "single_gt" (a: single, b: single) -> (int) Pure = a > b;
    /// Greater or equal.
    SingleGe = "single_ge" (a: single, b: single) -> (int) Pure = a >= b;

    // ---- casts
    /// Signed integer to float.
    CastIntToFloat = "cast_int_to_float" (a: int) -> (float) Pure = a as f64;
    /// Unsigned integer to float.
    CastUintToFloat = "cast_uint_to_float" (a: int) -> (float) Pure = a as u64 as f64;
    /// Signed integer to single.
    CastIntToSingle = "cast_int_to_single" (a: int) -> (single) Pure = a as f32;
    /// Unsigned integer to single.
    CastUintToSingle = "cast_uint_to_single" (a: int) -> (single) Pure = a as u64 as f32;
    /// Float to signed integer, saturating; 0 for NaN.
    CastFloatToInt = "cast_float_to_int" (a: float) -> (int) Pure = a as i64;
    /// Float to unsigned integer, saturating; 0 for NaN.
    CastFloatToUint = "cast_float_to_uint" (a: float) -> (int) Pure = a as u64 as i64;
    /// Single to signed integer, saturating; 0 for NaN.
    CastSingleToInt = "cast_single_to_int" (a: single) -> (int) Pure = a as i64;
    /// Single to unsigned integer, saturating; 0 for NaN.
    CastSingleToUint = "cast_single_to_uint" (a: single) -> (int) Pure = a as u64 as i64;
    /// Float to single, rounding.
    CastFloatToSingle = "cast_float_to_single" (a: float) -> (single) Pure = a as f32;
    /// Single to float, exact.
    CastSingleToFloat = "cast_single_to_float" (a: single) -> (float) Pure = f64::from(a);
    /// The bits of a float.
    FloatToBits = "float_to_bits" (a: float) -> (int) Pure = a.to_bits() as i64;
    /// A float of these bits.
    BitsToFloat = "bits_to_float" (a: int) -> (float) Pure = f64::from_bits(a as u64);
    /// The bits of a single, zero-extended.
    SingleToBits = "single_to_bits" (a: single) -> (int) Pure = i64::from(a.to_bits());
    /// A single of the low 32 bits.
    BitsToSingle = "bits_to_single" (a: int) -> (single) Pure = f32::from_bits(a as u32);

    // ---- memory
    /// Loads from `base + offset`.
    Getfield = "getfield" (base: int) -> (accessed) Read;
    /// Stores to `base + offset`.
    Setfield = "setfield" (base: int, value: accessed) -> () Write;
    /// Loads from `base + offset + index * stride`.
    Getarrayitem = "getarrayitem" (base: int, index: int) -> (accessed) Read;
    /// Stores to `base + offset + index * stride`.
    Setarrayitem = "setarrayitem" (base: int, index: int, value: accessed) -> () Write;
    /// Loads from `base + offset + at`, unaligned, in bytes.
    RawLoad = "raw_load" (base: int, at: int) -> (accessed) Read;
    /// Stores to `base + offset + at`, unaligned, in bytes.
    RawStore = "raw_store" (base: int, at: int, value: accessed) -> () Write;
    /// The address of a new local aggregate, all zero.
    StackSlot = "stack_slot" () -> (int) Allocate;

    // ---- calls
    /// Calls a function.
    Call = "call" (args: rest) -> (rest) Call;
    /// Calls a function that only computes.
    CallElidable = "call_elidable" (args: rest) -> (rest) ElidableCall;

    // ---- hints
    /// The operand, which must be green, with all that it takes to compute it.
    Concrete = "concrete" (a: any) -> (any) Hint;
    /// The operand, red from here on.
    Variable = "variable" (a: any) -> (any) Hint;
    /// The operand, green from here on: a switch that grows a case for each value seen.
    Promote = "promote" (a: int) -> (int) Hint;
    /// A merge point. In a portal its operands are the values of all parameters' leaves, in order.
    MergePoint = "merge_point" (args: rest) -> () Hint;
    /// A backward jump of the guest comes next.
    CanEnterJit = "can_enter_jit" () -> () Hint;
    /// Whether this runs compiled.
    WeAreJitted = "we_are_jitted" () -> (int) Hint;
    /// Whether the operand is known while compiling; 0 when run.
    IsConstant = "is_constant" (a: any) -> (int) Hint;
    /// Whether the operand is virtual while compiling; 0 when run.
    IsVirtual = "is_virtual" (a: any) -> (int) Hint;
    /// The operand, which is usually true.
    Likely = "likely" (a: int) -> (int) Hint;
    /// From here on the function that is named gives the first operand, or the first few if it gives several values,
    /// for the others: so its author says. An immediate names it.
    RecordKnownResult = "record_known_result" (args: rest) -> () Hint;
    /// From here on `a` is `b`: so the author says.
    RecordExactValue = "record_exact_value" (a: any, b: any) -> () Hint;
}

impl Opcode {
    /// The op with this name in text.
    pub fn from_name(name: &str) -> Option<Opcode> {
        Opcode::ALL.iter().copied().find(|op| op.name() == name)
    }

    /// The types of its results, where its row says them; integers else.
    pub fn result_types(self) -> SmallVec<[Type; 2]> {
        let ty = |ty: &OperandType| match ty {
            OperandType::Is(ty) => *ty,
            _ => Type::Int,
        };
        self.results().iter().map(ty).collect()
    }

    /// Whether it only computes: it may be folded, shared, dropped and repeated.
    #[inline]
    pub fn is_pure(self) -> bool {
        self.effect() == Effect::Pure
    }

    /// Whether it is a comparison, giving 0 or 1.
    #[inline]
    pub fn is_comparison(self) -> bool {
        use Opcode::*;
        matches!(
            self,
            IntEq | IntNe | IntLt | IntLe | IntGt | IntGe | UintLt | UintLe | UintGt | UintGe | IntIsTrue | IntIsZero
        ) || matches!(self, FloatEq | FloatNe | FloatLt | FloatLe | FloatGt | FloatGe)
            || matches!(self, SingleEq | SingleNe | SingleLt | SingleLe | SingleGt | SingleGe)
    }

    /// Of an op that says whether it overflows, the one whose result its first is.
    pub fn without_overflow(self) -> Option<Opcode> {
        Some(match self {
            Opcode::IntAddOvf => Opcode::IntAdd,
            Opcode::IntSubOvf => Opcode::IntSub,
            Opcode::IntMulOvf => Opcode::IntMul,
            _ => return None,
        })
    }

    /// The comparison that holds exactly where this one doesn't; of floats an order has none, because of NaNs.
    pub fn negated(self) -> Option<Opcode> {
        use Opcode::*;
        Some(match self {
            IntEq => IntNe,
            IntNe => IntEq,
            IntLt => IntGe,
            IntGe => IntLt,
            IntLe => IntGt,
            IntGt => IntLe,
            UintLt => UintGe,
            UintGe => UintLt,
            UintLe => UintGt,
            UintGt => UintLe,
            IntIsTrue => IntIsZero,
            IntIsZero => IntIsTrue,
            FloatEq => FloatNe,
            FloatNe => FloatEq,
            SingleEq => SingleNe,
            SingleNe => SingleEq,
            _ => return None,
        })
    }

    /// The order that holds of two operands exactly where this one holds of them the other way around.
    pub fn mirrored(self) -> Option<Opcode> {
        use Opcode::*;
        Some(match self {
            IntLt => IntGt,
            IntLe => IntGe,
            IntGt => IntLt,
            IntGe => IntLe,
            UintLt => UintGt,
            UintLe => UintGe,
            UintGt => UintLt,
            UintGe => UintLe,
            FloatLt => FloatGt,
            FloatLe => FloatGe,
            FloatGt => FloatLt,
            FloatGe => FloatLe,
            SingleLt => SingleGt,
            SingleLe => SingleGe,
            SingleGt => SingleLt,
            SingleGe => SingleLe,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pure_op_computes_its_results() {
        for op in Opcode::ALL {
            let words: Vec<Word> = op.operands().iter().map(|_| 3).collect();
            match op.compute(&words) {
                Some(results) => {
                    assert!(op.is_pure(), "{op:?}");
                    assert_eq!(results.len(), op.results().len(), "{op:?}");
                }
                None => assert!(!op.is_pure(), "{op:?}"),
            }
        }
    }

    #[test]
    fn comparisons_negated_and_mirrored_are_what_they_say() {
        let words =
            [0, 1, 3, u64::MAX, 1.5f64.to_bits(), (-0.0f64).to_bits(), f64::NAN.to_bits(), 0x7FC0_0000, 0x3FC0_0000];
        for op in Opcode::ALL.iter().filter(|op| op.is_comparison()) {
            let first = |op: Opcode, words: &[Word]| op.compute(words).map(|results| results[0]);
            for (a, b) in words.iter().flat_map(|a| words.map(|b| (*a, b))) {
                let given = &[a, b][..op.operands().len()];
                if let Some(negated) = op.negated() {
                    assert_ne!(first(*op, given), first(negated, given), "{op:?} {given:x?}");
                }
                if let Some(mirrored) = op.mirrored() {
                    assert_eq!(first(*op, &[a, b]), first(mirrored, &[b, a]), "{op:?} {given:x?}");
                }
            }
        }
    }

    #[test]
    fn names_are_distinct() {
        for op in Opcode::ALL {
            assert_eq!(Opcode::from_name(op.name()), Some(*op));
        }
    }

    #[test]
    fn comparisons_have_names_of_such() {
        for op in Opcode::ALL.iter().filter(|op| op.is_pure()) {
            let named = ["_eq", "_ne", "_lt", "_le", "_gt", "_ge"].iter().any(|end| op.name().ends_with(end));
            let tests = ["int_is_true", "int_is_zero"].contains(&op.name());
            assert_eq!(op.is_comparison(), named || tests, "{op:?}");
        }
    }

    #[test]
    fn division_is_total() {
        let min = i64::MIN as u64;
        let minus_one = u64::MAX;
        assert_eq!(Opcode::IntFloordiv.compute(&[min, minus_one]).unwrap()[0], min);
        assert_eq!(Opcode::IntMod.compute(&[min, minus_one]).unwrap()[0], 0);
        assert_eq!(Opcode::IntFloordiv.compute(&[7, 0]).unwrap()[0], 0);
        assert_eq!(Opcode::UintMod.compute(&[7, 0]).unwrap()[0], 7);
    }

    #[test]
    fn zeros_and_nans_of_min_and_max() {
        let (zero, minus_zero, nan, one) = (0f64.to_bits(), (-0f64).to_bits(), f64::NAN.to_bits(), 1f64.to_bits());
        assert_eq!(Opcode::FloatMin.compute(&[zero, minus_zero]).unwrap()[0], minus_zero);
        assert_eq!(Opcode::FloatMax.compute(&[minus_zero, zero]).unwrap()[0], zero);
        assert_eq!(Opcode::FloatMin.compute(&[nan, one]).unwrap()[0], one);
        assert_eq!(Opcode::FloatMax.compute(&[one, nan]).unwrap()[0], one);
    }
}
