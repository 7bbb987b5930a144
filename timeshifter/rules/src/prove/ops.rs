//! The ops of the table as SMT-LIB formulas, at 64 bits. Results of comparisons are 0 or 1; floats and singles are
//! their bits.

use flowgraph::ir::Opcode;

/// A constant.
pub(super) fn word(value: i64) -> String {
    format!("#x{:016x}", value as u64)
}

/// 1 where something holds, else 0.
fn flag(holds: &str) -> String {
    format!("(ite {holds} {} {})", word(1), word(0))
}

/// What a comparison of integers says.
pub(super) fn comparison(op: Opcode, a: &str, b: &str) -> Option<String> {
    let mark = match op {
        Opcode::IntEq => "=",
        Opcode::IntNe => return Some(format!("(not (= {a} {b}))")),
        Opcode::IntLt => "bvslt",
        Opcode::IntLe => "bvsle",
        Opcode::IntGt => "bvsgt",
        Opcode::IntGe => "bvsge",
        Opcode::UintLt => "bvult",
        Opcode::UintLe => "bvule",
        Opcode::UintGt => "bvugt",
        Opcode::UintGe => "bvuge",
        _ => return None,
    };
    Some(format!("({mark} {a} {b})"))
}

/// Whether a sum, difference, product, negation or left shift of integers overflows.
pub(super) fn overflows(op: Opcode, a: &str, b: &str) -> Option<String> {
    let zero = word(0);
    Some(match op {
        Opcode::IntAdd | Opcode::IntAddOvf => {
            format!("(bvslt (bvand (bvxor {a} (bvadd {a} {b})) (bvxor {b} (bvadd {a} {b}))) {zero})")
        }
        Opcode::IntSub | Opcode::IntSubOvf => {
            format!("(bvslt (bvand (bvxor {a} {b}) (bvxor {a} (bvsub {a} {b}))) {zero})")
        }
        Opcode::IntMul | Opcode::IntMulOvf => {
            let wide = |x: &str| format!("((_ sign_extend 64) {x})");
            format!("(not (= {} (bvmul {} {})))", wide(&format!("(bvmul {a} {b})")), wide(a), wide(b))
        }
        Opcode::IntNeg => format!("(= {a} {})", word(i64::MIN)),
        Opcode::IntLshift => format!("(not (= {a} (bvashr (bvshl {a} {}) {})))", amount(b), amount(b)),
        _ => return None,
    })
}

/// A shift's amount, modulo 64.
fn amount(b: &str) -> String {
    format!("(bvand {b} {})", word(63))
}

/// The results of an op, or nothing if there is no formula for it. `fresh` gives a name for bits of which only what is
/// asserted is known: where an op gives a NaN, any NaN.
pub(super) fn results(
    op: Opcode,
    args: &[String],
    fresh: &mut impl FnMut(u32, &dyn Fn(&str) -> String) -> String,
) -> Option<Vec<String>> {
    use Opcode as O;
    let arg = |at: usize| args.get(at).map_or("", String::as_str);
    let (a, b) = (arg(0), arg(1));
    let apply = |name: &str| format!("({name} {a} {b})");
    let unless_zero = |name: &str, otherwise: &str| format!("(ite (= {b} {}) {otherwise} ({name} {a} {b}))", word(0));
    if let Some(holds) = comparison(op, a, b) {
        return Some(vec![flag(&holds)]);
    }
    let plain = match op {
        O::IntAddOvf => Some("bvadd"),
        O::IntSubOvf => Some("bvsub"),
        O::IntMulOvf => Some("bvmul"),
        _ => None,
    };
    if let Some(plain) = plain {
        return Some(vec![apply(plain), flag(&overflows(op, a, b)?)]);
    }
    Some(vec![match op {
        O::IntAdd => apply("bvadd"),
        O::IntSub => apply("bvsub"),
        O::IntMul => apply("bvmul"),
        O::UintMulHigh => format!("((_ extract 127 64) (bvmul ((_ zero_extend 64) {a}) ((_ zero_extend 64) {b})))"),
        O::IntFloordiv => unless_zero("bvsdiv", &word(0)),
        O::IntMod => unless_zero("bvsrem", a),
        O::UintFloordiv => unless_zero("bvudiv", &word(0)),
        O::UintMod => unless_zero("bvurem", a),
        O::IntAnd => apply("bvand"),
        O::IntOr => apply("bvor"),
        O::IntXor => apply("bvxor"),
        O::IntLshift => format!("(bvshl {a} {})", amount(b)),
        O::IntRshift => format!("(bvashr {a} {})", amount(b)),
        O::UintRshift => format!("(bvlshr {a} {})", amount(b)),
        O::IntNeg => format!("(bvneg {a})"),
        O::IntInvert => format!("(bvnot {a})"),
        O::IntSignext => {
            let bytes = format!(
                "(ite (bvslt {b} {one}) {one} (ite (bvsgt {b} {eight}) {eight} {b}))",
                one = word(1),
                eight = word(8)
            );
            let unused = format!("(bvsub {} (bvshl {bytes} {}))", word(64), word(3));
            format!("(bvashr (bvshl {a} {unused}) {unused})")
        }
        O::IntForceGeZero => format!("(ite (bvslt {a} {zero}) {zero} {a})", zero = word(0)),
        O::IntPopcount => {
            let bit = |i: u32| format!("((_ zero_extend 63) ((_ extract {i} {i}) {a}))");
            (1..64).fold(bit(0), |sum, i| format!("(bvadd {sum} {})", bit(i)))
        }
        // The first bit found from one end on decides.
        O::IntClz => {
            (0..64).fold(word(64), |rest, i| format!("(ite (= ((_ extract {i} {i}) {a}) #b1) {} {rest})", word(63 - i)))
        }
        O::IntCtz => (0..64)
            .rev()
            .fold(word(64), |rest, i| format!("(ite (= ((_ extract {i} {i}) {a}) #b1) {} {rest})", word(i))),
        O::IntBswap => {
            let bytes: Vec<String> =
                (0..8).map(|byte| format!("((_ extract {} {}) {a})", 8 * byte + 7, 8 * byte)).collect();
            format!("(concat {})", bytes.join(" "))
        }
        O::IntBitreverse => {
            let bits: Vec<String> = (0..64).map(|bit| format!("((_ extract {bit} {bit}) {a})")).collect();
            format!("(concat {})", bits.join(" "))
        }
        O::IntIsTrue => flag(&format!("(not (= {a} {}))", word(0))),
        O::IntIsZero => flag(&format!("(= {a} {})", word(0))),
        O::IntSelect | O::FloatSelect | O::SingleSelect => format!("(ite (= {a} {}) {} {b})", word(0), arg(2)),
        O::FloatNeg => format!("(bvxor {a} {})", word(i64::MIN)),
        O::FloatAbs => format!("(bvand {a} {})", word(i64::MAX)),
        O::FloatCopysign => format!("(bvor (bvand {a} {}) (bvand {b} {}))", word(i64::MAX), word(i64::MIN)),
        O::SingleNeg => format!("(bvxor {a} #x80000000)"),
        O::SingleAbs => format!("(bvand {a} #x7fffffff)"),
        O::SingleCopysign => format!("(bvor (bvand {a} #x7fffffff) (bvand {b} #x80000000))"),
        O::FloatToBits | O::BitsToFloat => a.to_owned(),
        O::SingleToBits => format!("((_ zero_extend 32) {a})"),
        O::BitsToSingle => format!("((_ extract 31 0) {a})"),
        O::CastIntToFloat => fresh(64, &|bits| format!("(= {} ((_ to_fp 11 53) RNE {a}))", number(64, bits))),
        O::CastUintToFloat => fresh(64, &|bits| format!("(= {} ((_ to_fp_unsigned 11 53) RNE {a}))", number(64, bits))),
        O::CastIntToSingle => fresh(32, &|bits| format!("(= {} ((_ to_fp 8 24) RNE {a}))", number(32, bits))),
        O::CastUintToSingle => fresh(32, &|bits| format!("(= {} ((_ to_fp_unsigned 8 24) RNE {a}))", number(32, bits))),
        O::CastFloatToInt => saturated(64, a, true),
        O::CastFloatToUint => saturated(64, a, false),
        O::CastSingleToInt => saturated(32, a, true),
        O::CastSingleToUint => saturated(32, a, false),
        O::CastFloatToSingle => {
            fresh(32, &|bits| format!("(= {} ((_ to_fp 8 24) RNE {}))", number(32, bits), number(64, a)))
        }
        O::CastSingleToFloat => {
            fresh(64, &|bits| format!("(= {} ((_ to_fp 11 53) RNE {}))", number(64, bits), number(32, a)))
        }
        _ => return floats(op, [a, b, arg(2)], fresh).map(|result| vec![result]),
    }])
}

/// The float or single of these bits, in Z3's theory.
fn number(width: u32, bits: &str) -> String {
    match width {
        64 => format!("((_ to_fp 11 53) {bits})"),
        _ => format!("((_ to_fp 8 24) {bits})"),
    }
}

/// A float's or single's integer part, as near as an integer comes to it; 0 for a NaN. (Z3 leaves open what doesn't
/// fit.)
fn saturated(width: u32, bits: &str, signed: bool) -> String {
    let x = number(width, bits);
    let power = |exponent: i32| match width {
        64 => number(width, &word(2f64.powi(exponent).to_bits() as i64)),
        _ => number(width, &format!("#x{:08x}", 2f32.powi(exponent).to_bits())),
    };
    let (converts, end, most, least) = match signed {
        true => ("fp.to_sbv", power(63), i64::MAX, i64::MIN),
        false => ("fp.to_ubv", power(64), -1, 0),
    };
    // Below the least: what is rounded to it is converted.
    let too_small = match signed {
        true => format!("(fp.lt {x} (fp.neg {end}))"),
        false => format!("(fp.leq {x} (fp.neg {}))", power(0)),
    };
    format!(
        "(ite (fp.isNaN {x}) {} (ite (fp.geq {x} {end}) {} (ite {too_small} {} ((_ {converts} 64) RTZ {x}))))",
        word(0),
        word(most),
        word(least)
    )
}

/// Comparisons and arithmetic of floats and singles, in Z3's theory of them.
fn floats(
    op: Opcode,
    [a, b, c]: [&str; 3],
    fresh: &mut impl FnMut(u32, &dyn Fn(&str) -> String) -> String,
) -> Option<String> {
    let (width, name) = match op.name().split_once('_')? {
        ("float", name) => (64, name),
        ("single", name) => (32, name),
        _ => return None,
    };
    let number = |bits: &str| number(width, bits);
    let (x, y) = (number(a), number(b));
    let holds = |mark: &str| flag(&format!("({mark} {x} {y})"));
    let value = match name {
        "eq" => return Some(holds("fp.eq")),
        "ne" => return Some(flag(&format!("(not (fp.eq {x} {y}))"))),
        "lt" => return Some(holds("fp.lt")),
        "le" => return Some(holds("fp.leq")),
        "gt" => return Some(holds("fp.gt")),
        "ge" => return Some(holds("fp.geq")),
        "add" => format!("(fp.add RNE {x} {y})"),
        "sub" => format!("(fp.sub RNE {x} {y})"),
        "mul" => format!("(fp.mul RNE {x} {y})"),
        "truediv" => format!("(fp.div RNE {x} {y})"),
        "sqrt" => format!("(fp.sqrt RNE {x})"),
        "floor" => format!("(fp.roundToIntegral RTN {x})"),
        "ceil" => format!("(fp.roundToIntegral RTP {x})"),
        "trunc" => format!("(fp.roundToIntegral RTZ {x})"),
        "nearest" => format!("(fp.roundToIntegral RNE {x})"),
        "fma" => format!("(fp.fma RNE {x} {y} {})", number(c)),
        // The number where the other one is NaN, and of two zeros by the sign: `fp.min` leaves that open. Where both
        // are NaN, any.
        "min" | "max" => {
            let (less, end) = if name == "min" { ("fp.lt", "bvor") } else { ("fp.gt", "bvand") };
            let nans = |bits: &str| format!("(and (fp.isNaN {x}) (fp.isNaN {y}) (fp.isNaN {}))", number(bits));
            let of_numbers =
                format!("(ite ({less} {x} {y}) {a} (ite ({less} {y} {x}) {b} (ite (= {a} {b}) {a} ({end} {a} {b}))))");
            let one = format!("(ite (fp.isNaN {x}) {b} (ite (fp.isNaN {y}) {a} {of_numbers}))");
            return Some(fresh(width, &|bits| {
                format!("(or {} (and (not (and (fp.isNaN {x}) (fp.isNaN {y}))) (= {bits} {one})))", nans(bits))
            }));
        }
        _ => return None,
    };
    Some(fresh(width, &|bits| format!("(= {} {value})", number(bits))))
}
