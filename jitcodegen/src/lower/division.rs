//! Division by constants without dividing: by a product with a reciprocal.
//!
//! Let `m · d = 2^k + e`. Then `x · m / 2^k` is `x / d + (x · e / 2^k) / d`, and where `x · e < 2^k` what is added to
//! the true quotient is less than `1 / d`, too little to reach the next integer: rounded down, both are the same (T.
//! Granlund and P. Montgomery, "Division by invariant integers using multiplication", 1994; H. Warren, "Hacker's
//! Delight", chapter 10). With `e > 0` the same holds of negative `x` one below the quotient, which is rounded to zero.
//!
//! No multiplier is used that these conditions haven't been checked for, in 128 bits without rounding; where none is
//! found, the division stays.
//!
//! ```text
//! x / 10 = high(x · 0xcccccccccccccccd) >> 3        e = 2, k = 67
//! ```

/// How an unsigned quotient is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unsigned {
    /// `x >> by`
    Shift(u32),
    /// 1 or 0: whether `x` is at least the divisor, which is more than half of all numbers.
    Reaches,
    /// `high((x >> before) · multiplier) >> after`
    Product { before: u32, multiplier: u64, after: u32 },
    /// The multiplier has a 65th bit: with `h = high(x · multiplier)`, `(((x - h) >> 1) + h) >> after`.
    Wide { multiplier: u64, after: u32 },
}

/// How a signed quotient by a positive number is found, apart from the one that is added where `x` is negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signed {
    /// `(x + (x < 0 ? 2^by - 1 : 0)) >> by`: no product, and nothing is added.
    Shift(u32),
    /// `high(x · multiplier) >> after`, and `x` is added to the high half where `multiplier` is negative.
    Product { multiplier: i64, after: u32 },
}

/// `2^k`
fn power(k: u32) -> u128 {
    1 << k
}

/// The `e` of a multiplier, if that isn't negative.
fn excess(multiplier: u128, divisor: u64, k: u32) -> Option<u128> {
    multiplier.checked_mul(u128::from(divisor))?.checked_sub(power(k))
}

/// Whether `x · multiplier >> k` is `x / divisor` for all `x` of so many bits.
fn divides(multiplier: u128, divisor: u64, k: u32, bits: u32) -> bool {
    excess(multiplier, divisor, k).is_some_and(|e| e <= power(k - bits))
}

/// The same for all `x` from -2^63 to 2^63 - 1, one less where `x` is negative.
fn divides_signed(multiplier: u128, divisor: u64, k: u32) -> bool {
    excess(multiplier, divisor, k).is_some_and(|e| e > 0 && e < power(k - 63))
}

/// The least multiplier that may do for `k`.
fn candidate(divisor: u64, k: u32) -> u128 {
    power(k) / u128::from(divisor) + 1
}

/// How numbers are divided by one that isn't 0.
pub(super) fn unsigned(divisor: u64) -> Option<Unsigned> {
    if divisor.is_power_of_two() {
        return Some(Unsigned::Shift(divisor.trailing_zeros()));
    }
    if divisor > 1 << 63 {
        return Some(Unsigned::Reaches);
    }
    let product = |before: u32| {
        let odd = divisor >> before;
        (0..64).find_map(|after| {
            let multiplier = candidate(odd, 64 + after);
            let multiplier = divides(multiplier, odd, 64 + after, 64 - before).then_some(multiplier)?;
            Some(Unsigned::Product { before, multiplier: multiplier.try_into().ok()?, after })
        })
    };
    let wide = || {
        (1..64).find_map(|k| {
            let multiplier = candidate(divisor, 64 + k);
            let wide = multiplier >> 64 == 1 && divides(multiplier, divisor, 64 + k, 64);
            wide.then_some(Unsigned::Wide { multiplier: multiplier as u64, after: k - 1 })
        })
    };
    product(0).or_else(|| product(divisor.trailing_zeros())).or_else(wide)
}

/// How signed numbers are divided by one that is more than 1.
pub(super) fn signed(divisor: u64) -> Option<Signed> {
    if divisor.is_power_of_two() {
        return Some(Signed::Shift(divisor.trailing_zeros()));
    }
    (0..63).find_map(|after| {
        let multiplier = candidate(divisor, 64 + after);
        let found = divides_signed(multiplier, divisor, 64 + after);
        found.then_some(Signed::Product { multiplier: u64::try_from(multiplier).ok()? as i64, after })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn high(x: u64, y: u64) -> u64 {
        ((u128::from(x) * u128::from(y)) >> 64) as u64
    }

    fn quotient(x: u64, divisor: u64) -> u64 {
        match unsigned(divisor).expect("there is always a way") {
            Unsigned::Shift(by) => x >> by,
            Unsigned::Reaches => u64::from(x >= divisor),
            Unsigned::Product { before, multiplier, after } => high(x >> before, multiplier) >> after,
            Unsigned::Wide { multiplier, after } => {
                let h = high(x, multiplier);
                (((x - h) >> 1) + h) >> after
            }
        }
    }

    fn signed_quotient(x: i64, divisor: u64) -> i64 {
        match signed(divisor).expect("there is always a way") {
            Signed::Shift(by) => ((i128::from(x) + if x < 0 { (1 << by) - 1 } else { 0 }) >> by) as i64,
            Signed::Product { multiplier, after } => {
                let high = ((i128::from(x) * i128::from(multiplier)) >> 64) as i64;
                let high = if multiplier < 0 { high.wrapping_add(x) } else { high };
                (high >> after) + i64::from(x < 0)
            }
        }
    }

    /// Divisors that are small, near powers of two, or any; dividends around multiples of them, where a quotient that
    /// is wrong anywhere is wrong.
    #[test]
    fn quotients_are_those_of_division() {
        let mut state = 1u64;
        let mut any = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state ^ (state >> 29)) >> ((state >> 58) & 63)
        };
        let near = (0..64).flat_map(|k| [-1i64, 0, 1].map(|by| (1u64 << k).wrapping_add_signed(by)));
        let mut divisors: Vec<u64> =
            (1..2000).chain(near).chain(std::iter::repeat_with(&mut any).take(20_000)).collect();
        divisors.retain(|divisor| *divisor != 0);
        for divisor in divisors {
            let last = u64::MAX / divisor * divisor;
            let some = any() / divisor * divisor;
            for multiple in [0, divisor, last, some, 1 << 63, (1u64 << 63) / divisor * divisor] {
                for x in [multiple, multiple.wrapping_sub(1), multiple.wrapping_add(1), u64::MAX, any()] {
                    assert_eq!(quotient(x, divisor), x / divisor, "{x} / {divisor}");
                    if (2..=1 << 63).contains(&divisor) {
                        for x in [x as i64, (x as i64).wrapping_neg()] {
                            let wanted = (i128::from(x) / i128::from(divisor)) as i64;
                            assert_eq!(signed_quotient(x, divisor), wanted, "{x} / {divisor}");
                        }
                    }
                }
            }
        }
    }

    /// A multiplier that is off by one, or a shift too short, is refused.
    #[test]
    fn multipliers_are_checked() {
        let Some(Unsigned::Product { before: 0, multiplier, after: 3 }) = unsigned(10) else { panic!() };
        let m = u128::from(multiplier);
        assert!(divides(m, 10, 67, 64));
        assert!(!divides(m + 1, 10, 67, 64) && !divides(m - 1, 10, 67, 64));
        assert!(!divides(candidate(10, 66), 10, 66, 64) && !divides(candidate(7, 66), 7, 66, 64));
        assert!(matches!(unsigned(7), Some(Unsigned::Wide { .. })));
        assert!(matches!(unsigned(14), Some(Unsigned::Product { before: 1, .. })));
        // A multiplier without an excess is right for what isn't negative only.
        assert!(divides(power(65) / 4, 4, 65, 63) && !divides_signed(power(65) / 4, 4, 65));
    }
}
