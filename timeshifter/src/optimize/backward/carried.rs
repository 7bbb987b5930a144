//! Extensions that rounds carry: what a loop computes of narrow numbers is extended where it is left, not in each round.
//!
//! ```text
//! b1(v1):                            b1(v1):
//!     branch v9, b2, b3(v1)              branch v9, b2, b3(v1)
//! b2: v2 = int_mul v1, 5             b2: v2 = int_mul v1, 5
//!     v3 = int_and v2, 255     ->        jump b1(v2)
//!     jump b1(v3)                    b3(v4):
//! b3(v4): return v4                      v5 = int_and v4, 255
//!                                        return v5
//! ```
//!
//! A parameter that only extended numbers come to may as well be handed what they are extended of, if whoever uses it
//! looks at no other bits, hands it on to another such parameter, or extends it. All parameters are taken to be such
//! at first, and what is found to be wrong goes. Those that hand on to each other change together, if less is extended
//! in loops then.

use super::demanded::{asked, demanded, extension};
use crate::optimize::facts::known::uses;
use crate::optimize::graph::loops::may_repeat;
use crate::optimize::int_bound::IntBound;
use crate::optimize::rewrites::{Kind, Rewrites};
use crate::specialize::FxIndexMap;
use flowgraph::ir::{BlockId, Graph, Imm, Op, Opcode, Operand, Time, Type, ValueId};
use petgraph::unionfind::UnionFind;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

/// For no more parameters and blocks than these something is extended anew.
const ANEW: usize = 16;

/// What is done in a loop counts so many times.
const OFTEN: i64 = 1000;

/// If it isn't known after so many rounds which parameters there are, there are none.
const ROUNDS: usize = 20;

/// How an op extends.
type How = (Opcode, i64);

/// By value: what an op that extends it is given, and how it does.
type Extended = FxHashMap<ValueId, (Operand, How)>;

/// Parameters that may be handed more bits, and how these are extended.
type Wide = FxHashMap<ValueId, How>;

/// Hands on numbers in loops as they are computed. Gives whether there were any.
pub(crate) fn extend_later(graph: &mut Graph, entry: &[IntBound], rewrites: &mut Rewrites) -> bool {
    let extended = extended(graph);
    if extended.is_empty() || !comes_round(graph, &extended) {
        return false;
    }
    let wide = wide(graph, entry, &extended);
    let (false, Some(bits)) = (wide.is_empty(), demanded(graph)) else { return false };
    let exact = exact_uses(graph, &wide, &bits);
    let mut changed = false;
    for Group { params, .. } in groups(graph, &extended, &wide, &exact) {
        let Some(first) = params.iter().min().copied() else { continue };
        let (opcode, by) = wide[&first];
        let change = || {
            let names: Vec<String> = params.iter().map(ToString::to_string).collect();
            (
                format!("{} {by} of {} -> where it is looked at", opcode.name(), names.join(", ")),
                "rounds look at no other bits".to_owned(),
            )
        };
        let loc = graph.blocks.iter().find(|block| block.params.contains(&first)).map(|block| block.loc);
        if rewrites.may(Kind::Undemanded, loc.unwrap_or_default(), change) {
            widen(graph, &extended, &wide, &exact, &params);
            changed = true;
        }
    }
    changed
}

/// How an op extends its operand, if it does nothing else.
fn how(op: &Op) -> Option<(Operand, How)> {
    extension(op)?;
    let by = op.args[1].as_int().filter(|by| *by > 0)?;
    Some((op.args[0], (op.opcode, by)))
}

fn extended(graph: &Graph) -> Extended {
    let ops = graph.blocks.iter().flat_map(|block| &block.ops);
    ops.filter_map(|op| how(op).map(|how| (op.results[0], how))).collect()
}

/// Whether anything that has been extended in a round comes to the head of its loop.
fn comes_round(graph: &Graph, extended: &Extended) -> bool {
    let repeats = may_repeat(graph);
    graph.block_ids().filter(|block| repeats[block.index()]).any(|block| {
        let mut edges = graph.block(block).term.edges().filter(|edge| repeats[edge.block.index()]);
        edges.any(|edge| edge.args.iter().any(|arg| arg.value().is_some_and(|value| extended.contains_key(&value))))
    })
}

/// The bits that an extension leaves as they are.
fn kept((opcode, by): How) -> u64 {
    match opcode {
        Opcode::IntAnd => by as u64,
        _ => u64::MAX >> (64 - 8 * by.clamp(1, 8)),
    }
}

/// Whether an operand is what an extension gives of it.
fn is_fixed(graph: &Graph, entry: &[IntBound], operand: Operand, (opcode, by): How) -> bool {
    let range = match opcode {
        Opcode::IntAnd => IntBound::from_range(0, by),
        _ => IntBound::from_range(i64::MIN >> (64 - 8 * by.clamp(1, 8)), i64::MAX >> (64 - 8 * by.clamp(1, 8))),
    };
    let Some(range) = range else { return false };
    match operand {
        Operand::Const(constant) => constant.as_int().is_some_and(|i| range.contains(i)),
        Operand::Value(value) => {
            let at = graph.entry_params().iter().position(|param| *param == value);
            at.and_then(|at| entry.get(at)).is_some_and(|bound| bound.implies(range))
        }
    }
}

/// All parameters to which nothing comes but what is extended in one way.
fn wide(graph: &Graph, entry: &[IntBound], extended: &Extended) -> Wide {
    let handed =
        || graph.edges().flat_map(|edge| graph.block(edge.block).params.iter().copied().zip(edge.args.iter().copied()));
    let comes = |wide: &Wide, arg: ValueId| extended.get(&arg).map(|(_, how)| *how).or_else(|| wide.get(&arg).copied());
    let mut wide = Wide::default();
    for _ in 0..ROUNDS {
        let before = wide.len();
        for (param, arg) in handed() {
            if let Some(how) = arg.value().and_then(|arg| comes(&wide, arg)) {
                wide.entry(param).or_insert(how);
            }
        }
        if wide.len() == before {
            break;
        }
    }
    for _ in 0..ROUNDS {
        let before = wide.len();
        for (param, arg) in handed() {
            if let Some(how) = wide.get(&param).copied()
                && arg.value().and_then(|arg| comes(&wide, arg)) != Some(how)
                && !is_fixed(graph, entry, arg, how)
            {
                wide.remove(&param);
            }
        }
        if wide.len() == before {
            return wide;
        }
    }
    Wide::default()
}

/// The blocks in which more bits of a parameter are looked at than an extension keeps.
fn exact_uses(graph: &Graph, wide: &Wide, demanded: &[u64]) -> FxHashSet<(ValueId, BlockId)> {
    let mut exact = FxHashSet::default();
    for block in graph.block_ids() {
        let code = graph.block(block);
        for op in &code.ops {
            exact.extend(exact_args(op, wide, demanded).into_iter().map(|at| (op.args[at].value(), block)));
        }
        exact.extend(code.term.operands().map(|operand| (operand.value(), block)));
        for edge in code.term.edges() {
            let params = graph.block(edge.block).params.iter().zip(&edge.args);
            exact.extend(params.filter(|(param, _)| !wide.contains_key(param)).map(|(_, arg)| (arg.value(), block)));
        }
    }
    exact.into_iter().filter_map(|(value, block)| Some((value?, block))).filter(|(v, _)| wide.contains_key(v)).collect()
}

/// The operands of an op of which it looks at more bits than an extension keeps.
fn exact_args(op: &Op, wide: &Wide, demanded: &[u64]) -> SmallVec<[usize; 3]> {
    // Of what has been made since nothing is known.
    let bits = op.results.first().map_or(0, |result| demanded.get(result.index()).copied().unwrap_or(u64::MAX));
    let asked = asked(op, bits);
    let is_exact = |at: &usize| {
        let how = op.args[*at].value().and_then(|value| wide.get(&value));
        how.is_some_and(|how| asked.get(*at).is_none_or(|bits| bits & !kept(*how) != 0))
    };
    (0..op.args.len()).filter(is_exact).collect()
}

/// Parameters that hand on to each other.
#[derive(Default)]
struct Group {
    params: FxHashSet<ValueId>,
    /// How much less is extended if they are handed more bits.
    gain: i64,
    /// For how many of them and blocks something is extended anew.
    anew: usize,
}

/// Parameters that hand on to each other, of which less is extended in loops if they are handed more bits.
fn groups(graph: &Graph, extended: &Extended, wide: &Wide, exact: &FxHashSet<(ValueId, BlockId)>) -> Vec<Group> {
    let mut members: Vec<ValueId> = wide.keys().copied().collect();
    members.sort_unstable();
    let number: FxHashMap<ValueId, usize> = members.iter().copied().zip(0..).collect();
    let mut together = UnionFind::new(members.len());
    // By value that has been extended: the parameters that it is handed to, once for each edge.
    let mut handed: FxHashMap<ValueId, SmallVec<[usize; 2]>> = FxHashMap::default();
    for edge in graph.edges() {
        for (param, arg) in graph.block(edge.block).params.iter().zip(&edge.args) {
            let (Some(param), Operand::Value(arg)) = (number.get(param), *arg) else { continue };
            if let Some(other) = number.get(&arg) {
                together.union(*param, *other);
            }
            if extended.contains_key(&arg) {
                handed.entry(arg).or_default().push(*param);
            }
        }
    }
    let mut groups: FxIndexMap<usize, Group> = FxIndexMap::default();
    for (at, param) in members.iter().enumerate() {
        groups.entry(together.find(at)).or_default().params.insert(*param);
    }
    let (uses, repeats) = (uses(graph), may_repeat(graph));
    let weight = |block: BlockId| if repeats[block.index()] { OFTEN } else { 1 };
    for block in graph.block_ids() {
        for result in graph.block(block).ops.iter().flat_map(|op| &op.results) {
            // An extension goes if all that it is used for is to be handed to one group.
            if let Some(to) = handed.get(result).filter(|to| uses[result.index()] as usize == to.len())
                && to.iter().all(|param| together.equiv(*param, to[0]))
            {
                groups.entry(together.find(to[0])).or_default().gain += weight(block);
            }
        }
    }
    for (param, block) in exact {
        let group = groups.entry(together.find(number[param])).or_default();
        group.gain -= weight(*block);
        group.anew += 1;
    }
    // Outside of loops there is nothing to be gained.
    groups.into_values().filter(|group| group.gain > OFTEN / 2 && group.anew <= ANEW).collect()
}

/// Hands on what has been extended as it was before, and extends it where more bits are looked at.
fn widen(
    graph: &mut Graph,
    extended: &Extended,
    wide: &Wide,
    exact: &FxHashSet<(ValueId, BlockId)>,
    group: &FxHashSet<ValueId>,
) {
    // What is looked at is as it was: only of which values may have changed.
    let bits = demanded(graph).unwrap_or_else(|| vec![u64::MAX; graph.values.len()]);
    let own: Wide = wide.iter().filter(|(param, _)| group.contains(param)).map(|(param, how)| (*param, *how)).collect();
    let params: Vec<Vec<ValueId>> = graph.blocks.iter().map(|block| block.params.clone()).collect();
    let mut places: Vec<(ValueId, BlockId)> =
        exact.iter().copied().filter(|(param, _)| group.contains(param)).collect();
    places.sort_unstable();
    for (param, block) in places {
        let (opcode, by) = wide[&param];
        let result = graph.new_value(Type::Int);
        let code = graph.block_mut(block);
        let this = Operand::Value(param);
        for op in &mut code.ops {
            for at in exact_args(op, &own, &bits) {
                if op.args[at] == this {
                    op.args[at] = result.into();
                }
            }
        }
        code.term.for_each_operand_mut(|operand| {
            if *operand == this {
                *operand = result.into();
            }
        });
        for edge in code.term.edges_mut() {
            for (to, arg) in params[edge.block.index()].iter().zip(&mut edge.args) {
                if *arg == result.into() && wide.contains_key(to) {
                    *arg = this;
                }
            }
        }
        let args = smallvec![this, Operand::int(by)];
        let loc = code.loc;
        let op = Op { opcode, args, results: smallvec![result], imm: Imm::None, time: Time::Now, loc };
        code.ops.insert(0, op);
    }
    for block in &mut graph.blocks {
        for edge in block.term.edges_mut() {
            for (param, arg) in params[edge.block.index()].iter().zip(&mut edge.args) {
                if group.contains(param)
                    && let Some((of, _)) = arg.value().and_then(|value| extended.get(&value))
                {
                    *arg = *of;
                }
            }
        }
    }
}
