//! Which bits of values anybody looks at: what only changes others is not done.
//!
//! Backward, to a fixed point: a store of a byte looks at eight bits, a sum's low bits depend on those of its operands
//! alone, a mask asks for no bit that it clears. So narrow arithmetic keeps one extension at its end (LLVM's
//! `DemandedBits` does the same).

use crate::optimize::graph::replacements::Replacements;
use crate::optimize::rewrites::{Kind, Rewrites, shown};
use flowgraph::analysis::reverse_postorder;
use flowgraph::ir::{BlockId, Graph, Op, Opcode, Operand, ValueId};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// All bits.
const ALL: u64 = u64::MAX;

/// If it isn't known after so many rounds, nothing is done.
const ROUNDS: usize = 20;

/// Drops what changes only bits that nobody looks at. Gives whether anything has changed.
pub(crate) fn drop_undemanded(graph: &mut Graph, rewrites: &mut Rewrites) -> bool {
    let Some(demanded) = demanded(graph) else { return false };
    let mut replaced = Replacements::new(graph);
    let mut changed = false;
    for op in graph.blocks.iter_mut().flat_map(|block| &mut block.ops) {
        if !op.opcode.is_pure() || op.results.is_empty() {
            continue;
        }
        let result = op.results[0];
        let bits = demanded[result.index()];
        op.args.iter_mut().for_each(|arg| *arg = replaced.find(*arg));
        let Some(instead) = instead(op, bits) else { continue };
        let change = || {
            let change = match &instead {
                Instead::Operand(operand) => shown(*operand),
                Instead::Shift(opcode, by) => format!("{} {}, {by}", opcode.name(), shown(op.args[0])),
            };
            (format!("{result} = {} -> {change}", op.opcode.name()), format!("only the bits {bits:#x} are looked at"))
        };
        if !rewrites.may(Kind::Undemanded, op.loc, change) {
            continue;
        }
        changed = true;
        match instead {
            Instead::Operand(operand) => {
                replaced.replace(result, operand);
            }
            Instead::Shift(opcode, by) => (op.opcode, op.args) = (opcode, smallvec![op.args[0], Operand::int(by)]),
        }
    }
    replaced.apply(graph);
    changed
}

/// Takes out extensions between ops that are cut off in the end all the same: what adds up to bytes, one after the
/// other, is one sum. This is less than all that nobody looks at, and so cheap that it comes before what finds out that
/// there is one. Gives whether anything has changed.
pub(crate) fn drop_between(graph: &mut Graph, rewrites: &mut Rewrites) -> bool {
    // By value: what it extends, and which bits of that it keeps.
    let mut extended: Vec<Option<(Operand, u64)>> = Vec::new();
    let mut is_between = false;
    for op in graph.blocks.iter().flat_map(|block| &block.ops) {
        if let Some(extension) = extension(op) {
            extended.resize(graph.values.len(), None);
            extended[op.results[0].index()] = Some(extension);
        } else if carries(op) {
            let is_extended = |value: ValueId| extended.get(value.index()).is_some_and(Option::is_some);
            is_between |= op.args.iter().filter_map(|arg| arg.value()).any(is_extended);
        }
    }
    if !is_between {
        return false;
    }
    let mut uses = vec![0u32; graph.values.len()];
    for block in &graph.blocks {
        let args = block.ops.iter().flat_map(|op| &op.args).chain(block.term.edges().flat_map(|edge| &edge.args));
        for value in args.copied().chain(block.term.operands()).filter_map(Operand::value) {
            uses[value.index()] += 1;
        }
    }
    // By value: the bits that its users look at, of those that are the only one, and of extensions that another use has
    // gone past. Whatever uses a value is met before what computes it.
    let mut asked: FxHashMap<ValueId, u64> = FxHashMap::default();
    let mut changed = false;
    let backward: Vec<(usize, usize)> = (reverse_postorder(graph).into_iter().rev())
        .map(BlockId::index)
        .flat_map(|block| (0..graph.blocks[block].ops.len()).rev().map(move |at| (block, at)))
        .collect();
    for (block, at) in backward {
        let op = &mut graph.blocks[block].ops[at];
        let bits = match extension(op) {
            Some((_, bits)) => bits,
            None if carries(op) => match asked.remove(&op.results[0]) {
                Some(bits) => bits,
                None => continue,
            },
            None => continue,
        };
        let (carries, opcode, loc) = (carries(op), op.opcode, op.loc);
        for arg in &mut op.args {
            while let Operand::Value(value) = *arg
                && let Some((of, kept)) = extended[value.index()]
                && carries
                && bits & !kept == 0
            {
                let told = || {
                    let change = format!("{} -> {}", shown(*arg), shown(of));
                    (change, format!("only the bits {bits:#x} of {} are looked at", opcode.name()))
                };
                if !rewrites.may(Kind::Undemanded, loc, told) {
                    break;
                }
                *arg = of;
                changed = true;
            }
            if let Operand::Value(value) = *arg
                && uses[value.index()] == 1
            {
                *asked.entry(value).or_insert(0) |= bits;
            }
        }
    }
    changed
}

/// Whether the low bits of what an op gives depend on those of its operands alone.
fn carries(op: &Op) -> bool {
    matches!(op.opcode, Opcode::IntAdd | Opcode::IntSub | Opcode::IntMul | Opcode::IntNeg)
}

/// What an op extends, and the low bits that it keeps as they are, if it does just that.
pub(super) fn extension(op: &Op) -> Option<(Operand, u64)> {
    let constant = || op.args.get(1)?.as_int();
    let bits = match op.opcode {
        Opcode::IntAnd => constant()? as u64,
        Opcode::IntSignext => low(8 * constant()?.clamp(1, 8) as u32),
        _ => return None,
    };
    (bits & bits.wrapping_add(1) == 0).then_some((op.args[0], bits))
}

enum Instead {
    Operand(Operand),
    Shift(Opcode, i64),
}

/// What gives the same where only these bits of the result are looked at.
fn instead(op: &Op, bits: u64) -> Option<Instead> {
    let constant = op.args.get(1).and_then(|arg| arg.as_int()).map(|c| c as u64);
    let is_zero = match (op.opcode, constant) {
        (Opcode::IntAnd, Some(mask)) => bits & mask == 0,
        (Opcode::IntLshift, Some(by)) => bits & (ALL << (by & 63)) == 0,
        _ => false,
    };
    if is_zero && bits != 0 {
        return Some(Instead::Operand(Operand::int(0)));
    }
    let same = match (op.opcode, constant) {
        (Opcode::IntAnd, Some(mask)) => bits & !mask == 0,
        (Opcode::IntOr | Opcode::IntXor, Some(set)) => bits & set == 0,
        // What is added above the bits that are looked at carries further up only.
        (Opcode::IntAdd | Opcode::IntSub, Some(more)) => low(64 - bits.leading_zeros()) & more == 0,
        (Opcode::IntSignext, Some(bytes)) => bits & !low(8 * (bytes as i64).clamp(1, 8) as u32) == 0,
        (Opcode::IntBswap, _) if bits != 0 => return shift_of_a_byte(bits),
        _ => false,
    };
    same.then_some(Instead::Operand(op.args[0]))
}

/// Of eight bytes in opposite order only one is looked at.
fn shift_of_a_byte(bits: u64) -> Option<Instead> {
    let byte = bits.trailing_zeros() / 8;
    if bits & !(0xff << (8 * byte)) != 0 {
        return None;
    }
    let by = 8 * (7 - 2 * i64::from(byte));
    Some(if by > 0 { Instead::Shift(Opcode::UintRshift, by) } else { Instead::Shift(Opcode::IntLshift, -by) })
}

/// So many low bits.
fn low(bits: u32) -> u64 {
    ALL.checked_shr(64 - bits.min(64)).unwrap_or(0)
}

/// By value: the bits that somebody looks at.
pub(super) fn demanded(graph: &Graph) -> Option<Vec<u64>> {
    let mut demanded = vec![0; graph.values.len()];
    // What has been looked at in the present round: what is asked of it now has to be passed on in another one.
    let mut passed = vec![false; graph.values.len()];
    for _ in 0..ROUNDS {
        let mut changed = false;
        passed.fill(false);
        let mut ask = |operand: Operand, bits: u64, demanded: &mut [u64], passed: &[bool]| {
            if let Operand::Value(value) = operand {
                let before = demanded[value.index()];
                changed |= before | bits != before && passed[value.index()];
                demanded[value.index()] |= bits;
            }
        };
        for block in graph.blocks.iter().rev() {
            for operand in block.term.operands() {
                ask(operand, ALL, &mut demanded, &passed);
            }
            for edge in block.term.edges() {
                for (param, arg) in graph.block(edge.block).params.iter().zip(&edge.args) {
                    passed[param.index()] = true;
                    let bits = demanded[param.index()];
                    ask(*arg, bits, &mut demanded, &passed);
                }
            }
            for op in block.ops.iter().rev() {
                let bits = op.results.first().map_or(0, |result| demanded[result.index()]);
                op.results.iter().for_each(|result| passed[result.index()] = true);
                for (arg, bits) in op.args.iter().zip(asked(op, bits)) {
                    ask(*arg, bits, &mut demanded, &passed);
                }
            }
        }
        if !changed {
            return Some(demanded);
        }
    }
    None
}

/// The bits of each operand that an op looks at for these bits of its result.
pub(super) fn asked(op: &Op, bits: u64) -> SmallVec<[u64; 3]> {
    use Opcode as O;
    let all = || smallvec![ALL; op.args.len()];
    if let Some(desc) = op.mem() {
        let mut asked: SmallVec<[u64; 3]> = all();
        if matches!(op.opcode, O::Setfield | O::Setarrayitem | O::RawStore)
            && let Some(stored) = asked.last_mut()
        {
            *stored = low(8 * desc.access.size());
        }
        return asked;
    }
    if !op.opcode.is_pure() || op.results.len() != 1 {
        return all();
    }
    if bits == 0 {
        return smallvec![0; op.args.len()];
    }
    let constant = op.args.get(1).and_then(|arg| arg.as_int());
    // Carries go upward only.
    let below = ALL >> bits.leading_zeros();
    match (op.opcode, constant) {
        (O::IntAnd, Some(mask)) => smallvec![bits & mask as u64, ALL],
        (O::IntOr, Some(set)) => smallvec![bits & !set as u64, ALL],
        (O::IntAnd | O::IntOr | O::IntXor, _) => smallvec![bits, bits],
        (O::IntInvert, _) => smallvec![bits],
        (O::IntAdd | O::IntSub | O::IntMul, _) => smallvec![below, below],
        (O::IntNeg, _) => smallvec![below],
        (O::IntLshift, Some(by)) => smallvec![bits >> (by & 63), ALL],
        (O::IntLshift, None) => smallvec![below, ALL],
        (O::UintRshift, Some(by)) => smallvec![bits << (by & 63), ALL],
        (O::IntRshift, Some(by)) => {
            let sign = if bits.leading_zeros() < (by & 63) as u32 { 1 << 63 } else { 0 };
            smallvec![bits << (by & 63) | sign, ALL]
        }
        (O::IntSignext, Some(bytes)) => {
            let width = 8 * bytes.clamp(1, 8) as u32;
            let sign = if bits & !low(width) != 0 { 1 << (width - 1) } else { 0 };
            smallvec![bits & low(width) | sign, ALL]
        }
        (O::IntSelect, _) => smallvec![ALL, bits, bits],
        (O::IntBswap, _) => smallvec![bits.swap_bytes()],
        (O::IntBitreverse, _) => smallvec![bits.reverse_bits()],
        _ => all(),
    }
}
