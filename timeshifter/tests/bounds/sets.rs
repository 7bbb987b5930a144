//! Bounds of few bits as sets, and the ops of the table at that width, written out.

#![allow(dead_code)] // Each test uses its part.

use bounds::Bound;
use flowgraph::ir::Opcode;
use std::collections::HashSet;

/// The ops on one integer.
pub const UNARY: [Opcode; 11] = [
    Opcode::IntNeg,
    Opcode::IntInvert,
    Opcode::IntForceGeZero,
    Opcode::IntPopcount,
    Opcode::IntClz,
    Opcode::IntCtz,
    Opcode::IntBswap,
    Opcode::IntBitreverse,
    Opcode::IntIsTrue,
    Opcode::IntIsZero,
    Opcode::Promote,
];

/// The ops on two integers.
pub const BINARY: [Opcode; 28] = [
    Opcode::IntAdd,
    Opcode::IntSub,
    Opcode::IntMul,
    Opcode::UintMulHigh,
    Opcode::IntAddOvf,
    Opcode::IntSubOvf,
    Opcode::IntMulOvf,
    Opcode::IntFloordiv,
    Opcode::IntMod,
    Opcode::UintFloordiv,
    Opcode::UintMod,
    Opcode::IntAnd,
    Opcode::IntOr,
    Opcode::IntXor,
    Opcode::IntLshift,
    Opcode::IntRshift,
    Opcode::UintRshift,
    Opcode::IntSignext,
    Opcode::IntEq,
    Opcode::IntNe,
    Opcode::IntLt,
    Opcode::IntLe,
    Opcode::IntGt,
    Opcode::IntGe,
    Opcode::UintLt,
    Opcode::UintLe,
    Opcode::UintGt,
    Opcode::UintGe,
];

/// The low `W` bits, sign-extended.
pub fn wrap<const W: u32>(value: i64) -> i64 {
    Bound::<W>::wrap(value)
}

/// The results of an op at `W` bits.
pub fn compute<const W: u32>(op: Opcode, a: i64, b: i64) -> Vec<i64> {
    if op == Opcode::Promote {
        return vec![a];
    }
    let results = bounds::compute::<W>(op, &[a, b][..op.operands().len()]);
    results.unwrap_or_else(|| unreachable!("{op:?} isn't in the lists")).to_vec()
}

/// A set of integers of `W` bits: bit `i` stands for `MIN + i`.
pub type Set = u64;

/// All integers of `W` bits.
pub fn integers<const W: u32>() -> impl Iterator<Item = i64> + Clone {
    Bound::<W>::MIN..=Bound::<W>::MAX
}

/// The set of just this.
pub fn singleton<const W: u32>(value: i64) -> Set {
    1 << (value - Bound::<W>::MIN)
}

/// The set that the bound stands for.
pub fn set<const W: u32>(bound: Bound<W>) -> Set {
    integers::<W>().filter(|x| bound.contains(*x)).map(singleton::<W>).sum()
}

/// The tightest bound that holds the set.
pub fn best<const W: u32>(set: Set) -> Option<Bound<W>> {
    integers::<W>().filter(|x| set & singleton::<W>(*x) != 0).map(Bound::constant).reduce(Bound::join)
}

/// All bounds of `W` bits: each range with each set of known bits, without repetition.
pub fn all_bounds<const W: u32>() -> Vec<Bound<W>> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let bits = all_bits::<W>();
    for range in all_ranges::<W>() {
        for bits in &bits {
            if let Some(bound) = range.meet(*bits)
                && seen.insert(bound)
            {
                found.push(bound);
            }
        }
    }
    found
}

/// All ranges of `W` bits.
pub fn all_ranges<const W: u32>() -> Vec<Bound<W>> {
    integers::<W>().flat_map(|lower| integers::<W>().filter_map(move |upper| Bound::from_range(lower, upper))).collect()
}

/// All sets of known bits.
pub fn all_bits<const W: u32>() -> Vec<Bound<W>> {
    let all = 0..1u64 << W;
    all.clone()
        .flat_map(|mask| {
            all.clone().filter(move |value| value & mask == 0).map(move |value| Bound::from_bits(value, mask))
        })
        .collect()
}

/// Bounds with their sets.
pub struct Space<const W: u32> {
    pub bounds: Vec<Bound<W>>,
    pub sets: Vec<Set>,
}

impl<const W: u32> Space<W> {
    pub fn new(bounds: Vec<Bound<W>>) -> Self {
        let sets = bounds.iter().map(|b| set(*b)).collect();
        Space { bounds, sets }
    }

    /// `table[x][i]`: the results of an op on `x` and the members of bound number `i`, as first or second operand.
    pub fn images(&self, op: Opcode, result: usize, swapped: bool) -> Vec<Vec<Set>> {
        integers::<W>()
            .map(|x| {
                let row: Vec<(Set, Set)> = integers::<W>()
                    .map(|y| {
                        let results = if swapped { compute::<W>(op, y, x) } else { compute::<W>(op, x, y) };
                        (singleton::<W>(y), singleton::<W>(results[result]))
                    })
                    .collect();
                let image = |set: &Set| row.iter().filter(|(y, _)| set & y != 0).fold(0, |all, (_, r)| all | r);
                self.sets.iter().map(image).collect()
            })
            .collect()
    }
}

/// The elements of a set, as places in `images`.
pub fn places(mut set: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (set != 0).then(|| set.trailing_zeros() as usize);
        set &= set.wrapping_sub(1);
        place
    })
}

/// Numbers that look random, always the same.
pub struct Dice(pub u64);

impl Dice {
    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}
