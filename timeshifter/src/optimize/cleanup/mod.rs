//! What needs no knowledge of dominance: parameters that are always the same, dead code, jumps to jumps.
//!
//! A residual block takes all live values as parameters, so that the engine need not think of dominance; most of them
//! are redundant, and go here. Each round is linear; rounds repeat until nothing changes.

pub(super) mod dead;
pub(super) mod equal;
pub(super) mod handed;
pub(super) mod in_step;
pub(super) mod latches;
pub(super) mod threads;

use super::rewrites::{Kind, Rewrites, shown, shown_op};
use crate::optimize::graph::replacements::Replacements;
use dead::drop_dead;
use flowgraph::analysis::reverse_postorder;
use flowgraph::ir::{Block, BlockId, Const, Edge, Graph, NO_GUARD, Op, Opcode, Operand, Terminator, ValueId};
use handed::fold_handed;
use rustc_hash::{FxHashSet, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use threads::thread_jumps;

/// Someone who cleans a graph, and who may find something new where they have.
struct Cleaner {
    clean: fn(&mut Graph, &mut Rewrites) -> Cleaned,
    /// The bits of those.
    wakes: u16,
}

/// What a cleaner has done.
pub(crate) enum Cleaned {
    Nothing,
    Something,
    /// Values have become constants, too.
    Constants,
}

impl From<bool> for Cleaned {
    fn from(changed: bool) -> Cleaned {
        if changed { Cleaned::Something } else { Cleaned::Nothing }
    }
}

impl Cleaned {
    /// Carries out what has been replaced, for which there was something to do.
    pub(crate) fn replacing(replaced: Replacements, graph: &mut Graph) -> Cleaned {
        let constants = replaced.has_constants();
        replaced.apply(graph);
        if constants { Cleaned::Constants } else { Cleaned::Something }
    }
}

const DECIDED: u16 = 1;
const UNREACHABLE: u16 = 1 << 1;
const APPEND: u16 = 1 << 2;
const PARAMS: u16 = 1 << 3;
const CONSTANTS: u16 = 1 << 4;
const BRANCHES: u16 = 1 << 5;
const DEAD: u16 = 1 << 6;
const JUMPS: u16 = 1 << 7;
const THREADS: u16 = 1 << 8;
const HANDED: u16 = 1 << 9;

/// In their order, by bit: first what leaves the others the least to go over. What goes with an edge: arrivals and
/// arguments, and so the last use of a value. What comes with a value in place of another: constants, tests, and
/// parameters that are always the same. What comes with less in a block: nothing but a jump, or two sides that are
/// alike. Ops over constants come with constants alone.
const CLEANERS: [Cleaner; 10] = [
    Cleaner { clean: decide, wakes: UNREACHABLE | APPEND | PARAMS | BRANCHES | DEAD | JUMPS | HANDED },
    Cleaner { clean: |graph, _| drop_unreachable(graph).into(), wakes: APPEND | PARAMS | DEAD | HANDED },
    Cleaner { clean: append_single_successors, wakes: PARAMS | BRANCHES | DEAD | DECIDED | THREADS | HANDED },
    Cleaner { clean: drop_redundant_params, wakes: PARAMS | BRANCHES | DEAD | JUMPS | DECIDED | THREADS | HANDED },
    Cleaner { clean: fold_constants, wakes: PARAMS | BRANCHES | DEAD | DECIDED | THREADS | HANDED },
    Cleaner {
        clean: |graph, rewrites| simplify_branches(graph, rewrites).into(),
        wakes: PARAMS | DEAD | DECIDED | HANDED,
    },
    Cleaner {
        clean: |graph, rewrites| drop_dead(graph, rewrites).into(),
        wakes: PARAMS | BRANCHES | JUMPS | DECIDED | THREADS | HANDED,
    },
    Cleaner { clean: shorten_jumps, wakes: APPEND | PARAMS | BRANCHES | DEAD | JUMPS | DECIDED | THREADS | HANDED },
    Cleaner {
        clean: |graph, rewrites| thread_jumps(graph, rewrites).into(),
        wakes: UNREACHABLE | APPEND | PARAMS | BRANCHES | DEAD | JUMPS | DECIDED | THREADS | HANDED,
    },
    Cleaner { clean: fold_handed, wakes: PARAMS | BRANCHES | DEAD | JUMPS | DECIDED | THREADS },
];

/// Cleans a graph: one after the other goes over it until nobody can find anything any more. Gives whether ways have
/// been led past blocks that decide: more is known where they lead.
pub(crate) fn simplify(graph: &mut Graph, rewrites: &mut Rewrites) -> bool {
    let mut awake = (1 << CLEANERS.len()) - 1;
    let mut threaded = false;
    while awake != 0 && !rewrites.is_spent() {
        for (number, cleaner) in CLEANERS.iter().enumerate() {
            let bit = 1 << number;
            if awake & bit != 0 {
                awake &= !bit;
                let cleaned = (cleaner.clean)(graph, rewrites);
                threaded |= bit == THREADS && !matches!(cleaned, Cleaned::Nothing);
                awake |= match cleaned {
                    Cleaned::Nothing => 0,
                    Cleaned::Something => cleaner.wakes,
                    Cleaned::Constants => cleaner.wakes | CONSTANTS,
                };
            }
        }
    }
    threaded
}

/// Numbers the values that are left anew, in the order of the blocks, if most have gone: everything that is kept by
/// value is so much smaller then. Else they keep their names, for those who read what is done to them.
pub(crate) fn drop_unused_values(graph: &mut Graph) {
    const GONE: u32 = u32::MAX;
    let defined = |block: &Block| block.params.len() + block.ops.iter().map(|op| op.results.len()).sum::<usize>();
    if graph.blocks.iter().map(defined).sum::<usize>() * 2 > graph.values.len() {
        return;
    }
    let mut numbers = vec![GONE; graph.values.len()];
    let mut values = Vec::new();
    for block in &mut graph.blocks {
        let own = block.params.iter_mut().chain(block.ops.iter_mut().flat_map(|op| op.results.iter_mut()));
        for value in own {
            let info = graph.values[value.index()];
            let number = std::mem::replace(&mut numbers[value.index()], values.len() as u32);
            debug_assert_eq!(number, GONE, "{value} has two definitions");
            *value = ValueId(values.len() as u32);
            values.push(info);
        }
    }
    graph.values = values;
    let renumber = |operand: &mut Operand| {
        if let Operand::Value(value) = operand {
            *value = ValueId(numbers[value.index()]);
        }
    };
    for block in &mut graph.blocks {
        block.ops.iter_mut().flat_map(|op| op.args.iter_mut()).for_each(renumber);
        block.term.for_each_operand_mut(renumber);
    }
    graph.names.clear();
}

/// What authors say of values has served its purpose, and needn't keep them any longer. Gives whether anything was
/// said.
pub(crate) fn drop_recorded(graph: &mut Graph, rewrites: &mut Rewrites) -> bool {
    let mut dropped = false;
    for block in &mut graph.blocks {
        block.ops.retain(|op| {
            let goes = matches!(op.opcode, Opcode::RecordKnownResult | Opcode::RecordExactValue)
                && rewrites
                    .may(Kind::Said, op.loc, || (shown_op(op.opcode, &op.args), "it is known by now".to_owned()));
            dropped |= goes;
            !goes
        });
    }
    dropped
}

/// Blocks that nothing leads to go, and the others move up. That is no rewrite of its own, but part of what has led
/// elsewhere: a graph must not have any.
pub(crate) fn drop_unreachable(graph: &mut Graph) -> bool {
    let mut reached = vec![false; graph.blocks.len()];
    let mut todo = vec![BlockId::ENTRY];
    while let Some(id) = todo.pop() {
        if !std::mem::replace(&mut reached[id.index()], true) {
            todo.extend(graph.block(id).term.edges().map(|e| e.block));
        }
    }
    if reached.iter().all(|r| *r) {
        return false;
    }
    let mut next = 0;
    let moved: Vec<BlockId> = reached
        .iter()
        .map(|r| {
            let id = BlockId(next);
            next += u32::from(*r);
            id
        })
        .collect();
    let mut at = 0;
    graph.blocks.retain(|_| {
        at += 1;
        reached[at - 1]
    });
    for edge in graph.blocks.iter_mut().flat_map(|b| b.term.edges_mut()) {
        edge.block = moved[edge.block.index()];
    }
    true
}

/// What a parameter is.
#[derive(Clone, Copy, PartialEq)]
enum Incoming {
    /// Nothing has come yet.
    Nothing,
    /// The same operand has always come.
    Always(Operand),
    /// A value of its own.
    Own,
}

impl Incoming {
    fn and(self, given: Operand) -> Incoming {
        match self {
            Incoming::Nothing => Incoming::Always(given),
            Incoming::Always(other) if other == given => self,
            _ => Incoming::Own,
        }
    }
}

/// The edges of a graph in few words, by where they lead, and what is handed over along each.
pub(crate) struct Edges {
    /// By block, and one more: where the edges that lead there begin.
    into: Vec<usize>,
    /// By edge: where its arguments begin.
    starts: Vec<usize>,
    args: Vec<Operand>,
}

impl Edges {
    pub(crate) fn new(graph: &Graph) -> Edges {
        let mut into = vec![0; graph.blocks.len() + 1];
        let mut sizes = 0;
        for edge in graph.edges() {
            into[edge.block.index() + 1] += 1;
            sizes += edge.args.len();
        }
        for at in 1..into.len() {
            into[at] += into[at - 1];
        }
        let mut next = into.clone();
        let mut starts = vec![0; into[graph.blocks.len()]];
        let mut args = Vec::with_capacity(sizes);
        for edge in graph.edges() {
            starts[next[edge.block.index()]] = args.len();
            next[edge.block.index()] += 1;
            args.extend_from_slice(&edge.args);
        }
        Edges { into, starts, args }
    }

    /// What all edges to a block hand over for its parameter number `at`.
    pub(crate) fn given(&self, block: usize, at: usize) -> impl Iterator<Item = Operand> + '_ {
        self.starts[self.into[block]..self.into[block + 1]].iter().map(move |start| self.args[start + at])
    }

    /// A number that parameters have in common that are handed the same.
    fn hash(&self, block: usize, at: usize) -> u64 {
        let mut hasher = FxHasher::default();
        self.given(block, at).for_each(|given| given.hash(&mut hasher));
        hasher.finish()
    }
}

/// After so many sweeps over all parameters one that is a value of its own stays one: then the rest have an end.
const FREE_SWEEPS: usize = 10;

/// After so many nothing is known: parameters stay as they are.
const SWEEPS: usize = 100;

/// Parameters that are always the same operand go, also those of loops, which hand them back to themselves: all are
/// taken to be what comes first, until something else does.
fn drop_redundant_params(graph: &mut Graph, rewrites: &mut Rewrites) -> Cleaned {
    if graph.blocks.iter().skip(1).all(|block| block.params.is_empty()) {
        return Cleaned::Nothing;
    }
    let edges = Edges::new(graph);
    let order = reverse_postorder(graph);
    let mut incoming = vec![Incoming::Own; graph.values.len()];
    for param in graph.blocks.iter().skip(1).flat_map(|b| &b.params) {
        incoming[param.index()] = Incoming::Nothing;
    }
    let params: Vec<(usize, usize, ValueId)> = order
        .into_iter()
        .map(BlockId::index)
        .filter(|block| *block != 0)
        .flat_map(|block| graph.blocks[block].params.iter().enumerate().map(move |(at, param)| (block, at, *param)))
        .collect();
    let mut changed = true;
    for sweep in 0..SWEEPS {
        changed = false;
        for (block, at, param) in params.iter().copied() {
            // What looked like two values may have been one that was on its way; but not for ever.
            if sweep >= FREE_SWEEPS && incoming[param.index()] == Incoming::Own {
                continue;
            }
            let given = edges.given(block, at).filter_map(|given| match given {
                Operand::Value(v) => match incoming[v.index()] {
                    Incoming::Nothing => None,
                    Incoming::Always(operand) => Some(operand),
                    Incoming::Own => Some(given),
                },
                constant => Some(constant),
            });
            let found = given.filter(|given| *given != Operand::Value(param)).fold(Incoming::Nothing, Incoming::and);
            if found != incoming[param.index()] {
                incoming[param.index()] = found;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    if changed {
        return Cleaned::Nothing;
    }
    let mut replaced = Replacements::new(graph);
    let mut goes: FxHashSet<ValueId> = FxHashSet::default();
    for block in &graph.blocks {
        for param in block.params.iter().copied() {
            if let Incoming::Always(operand) = incoming[param.index()]
                && replaced.find(operand) != param.into()
                && rewrites.may(Kind::Parameter, block.loc, || is_always(param, operand))
                && replaced.replace(param, operand)
            {
                goes.insert(param);
            }
        }
    }
    if goes.is_empty() {
        return drop_equal_params(graph, &edges, rewrites);
    }
    remove_params(graph, |param| goes.contains(&param));
    Cleaned::replacing(replaced, graph)
}

fn is_always(param: ValueId, operand: Operand) -> (String, String) {
    (format!("{param} -> {}", shown(operand)), "that is handed over along all ways".to_owned())
}

/// Takes out the parameters of which this is said, but for those of the entry, and what is handed over for them.
pub(crate) fn remove_params(graph: &mut Graph, goes: impl Fn(ValueId) -> bool) {
    let mut params: Vec<Vec<ValueId>> =
        graph.blocks.iter_mut().map(|block| std::mem::take(&mut block.params)).collect();
    for edge in graph.blocks.iter_mut().flat_map(|b| b.term.edges_mut()) {
        let mut params = params[edge.block.index()].iter();
        edge.args.retain(|_| params.next().is_none_or(|param| !goes(*param)));
    }
    params.iter_mut().skip(1).for_each(|params| params.retain(|param| !goes(*param)));
    graph.blocks.iter_mut().zip(params).for_each(|(block, params)| block.params = params);
}

/// Branches that can only go one way: such as on constants.
fn decide(graph: &mut Graph, rewrites: &mut Rewrites) -> Cleaned {
    let mut changed = false;
    for at in 0..graph.blocks.len() {
        let block = &graph.blocks[at];
        if let Some(edge) = decided(&block.term) {
            let told = || (format!("b{at} -> {}", edge.block), "it can't lead anywhere else".to_owned());
            if rewrites.may(Kind::Constant, block.loc, told) {
                graph.blocks[at].term = always(graph, edge);
                changed = true;
            }
        }
    }
    changed.into()
}

/// Ops over constants, that only show after substitution.
fn fold_constants(graph: &mut Graph, rewrites: &mut Rewrites) -> Cleaned {
    let mut replaced = Replacements::new(graph);
    for block in &mut graph.blocks {
        block.ops.retain_mut(|op| {
            // So a chain of them goes at once.
            op.args.iter_mut().for_each(|arg| *arg = replaced.find(*arg));
            let Some(constants) = folded(op) else { return true };
            let told = || {
                let results: Vec<String> = constants.iter().map(|constant| shown(*constant)).collect();
                let change = format!("{} -> {}", shown_op(op.opcode, &op.args), results.join(", "));
                (change, "its operands are constants".to_owned())
            };
            if !rewrites.may(Kind::Constant, op.loc, told) {
                return true;
            }
            for (result, constant) in op.results.iter().zip(constants) {
                replaced.replace(*result, constant);
            }
            false
        });
    }
    if replaced.is_empty() {
        return Cleaned::Nothing;
    }
    Cleaned::replacing(replaced, graph)
}

/// What an op over constants gives.
pub(crate) fn folded(op: &Op) -> Option<Vec<Operand>> {
    if op.opcode == Opcode::Likely {
        return op.args[0].constant().map(|c| vec![Operand::Const(c)]);
    }
    if !op.opcode.is_pure() {
        return None;
    }
    if op.args.iter().any(|arg| arg.constant().is_none()) {
        return None;
    }
    let words: Option<SmallVec<[u64; 3]>> = op.args.iter().map(|a| a.constant().and_then(Const::word)).collect();
    let words = words?;
    let bits_of_nan = matches!(op.opcode, Opcode::FloatToBits | Opcode::SingleToBits);
    if bits_of_nan {
        return None;
    }
    let given = op.opcode.compute(&words)?;
    let constants = given.iter().zip(op.opcode.result_types());
    Some(constants.map(|(word, ty)| Operand::Const(Const::from_word(ty, *word))).collect())
}

fn decided(term: &Terminator) -> Option<Edge> {
    match term {
        Terminator::Branch { cond, then, otherwise, .. } => match cond.constant() {
            Some(Const::Int(0)) => Some(otherwise.clone()),
            Some(_) => Some(then.clone()),
            None => (then == otherwise).then(|| then.clone()),
        },
        // A promotion may get more cases, so what it has none for stays undecided.
        Terminator::Switch { value, cases, default, promotion, .. } => match value.as_int() {
            Some(i) => match cases.iter().find(|(case, _)| *case == i) {
                Some((_, edge)) => Some(edge.clone()),
                None => (!promotion).then(|| default.clone()),
            },
            None => (!promotion && cases.iter().all(|(_, e)| e == default)).then(|| default.clone()),
        },
        _ => None,
    }
}

/// Goes along an edge in any case. An exit at its end is no longer that of a guard: the branch that then leads there
/// decides something else, and must not be made to fail in the guard's place.
fn always(graph: &Graph, edge: Edge) -> Terminator {
    let target = graph.block(edge.block);
    let Terminator::Exit { exit, args, .. } = &target.term else { return Terminator::Jump(edge) };
    if !target.ops.is_empty() {
        return Terminator::Jump(edge);
    }
    let given = |operand: &Operand| {
        let at = target.params.iter().position(|param| Operand::Value(*param) == *operand);
        at.map_or(*operand, |at| edge.args[at])
    };
    Terminator::Exit { exit: *exit, guard: Operand::int(NO_GUARD), args: args.iter().map(given).collect() }
}

/// A branch on `x != 0` is one on `x`, one on `x == 0` the same the other way round. One whose sides differ only by
/// what it says itself is none.
fn simplify_branches(graph: &mut Graph, rewrites: &mut Rewrites) -> bool {
    // The tests, and by value the number of its own and one more.
    let mut tests: Vec<Test> = Vec::new();
    let mut numbers = vec![0; graph.values.len()];
    for op in graph.blocks.iter().flat_map(|b| &b.ops) {
        let (of, is) = (op.args.first().copied(), op.args.get(1).and_then(|a| a.as_int()));
        let test = match (op.opcode, of, is) {
            (Opcode::IntIsTrue, Some(of), _) => Test { of, is: 0, holds: false },
            (Opcode::IntIsZero, Some(of), _) => Test { of, is: 0, holds: true },
            (Opcode::IntNe, Some(of), Some(is)) => Test { of, is, holds: false },
            (Opcode::IntEq, Some(of), Some(is)) => Test { of, is, holds: true },
            _ => continue,
        };
        tests.push(test);
        numbers[op.results[0].index()] = tests.len();
    }
    let test_of = |value: ValueId| tests.get(numbers[value.index()].checked_sub(1)?);
    let mut changed = false;
    for block in &mut graph.blocks {
        if let Terminator::Branch { cond, then, otherwise, .. } = &mut block.term {
            while let Operand::Value(v) = *cond
                && let Some(Test { of, is: 0, holds }) = test_of(v)
                && rewrites.may(Kind::Branch, block.loc, || asks(v, *of))
            {
                *cond = *of;
                if *holds {
                    std::mem::swap(then, otherwise);
                }
                changed = true;
            }
            if let Operand::Value(v) = *cond
                && then != otherwise
                && then.block == otherwise.block
            {
                // Behind a branch on a value that is 0 on the other side.
                let nonzero = Test { of: *cond, is: 0, holds: false };
                let test = test_of(v).unwrap_or(&nonzero);
                let (equal, other) = if test.holds { (&*then, &*otherwise) } else { (&*otherwise, &*then) };
                let given = |(here, there): (&Operand, &Operand)| {
                    here == there || (*here == Operand::int(test.is) && *there == test.of)
                };
                if equal.args.iter().zip(&other.args).all(given)
                    && rewrites.may(Kind::Branch, block.loc, || same_sides(v, other.block))
                {
                    let both = other.clone();
                    (*then, *otherwise) = (both.clone(), both);
                    changed = true;
                }
            }
        }
    }
    changed
}

fn asks(condition: ValueId, of: Operand) -> (String, String) {
    (format!("{condition} -> {}", shown(of)), "it says whether that is 0".to_owned())
}

fn same_sides(condition: ValueId, to: BlockId) -> (String, String) {
    (format!("branch {condition} -> {to}"), "its sides differ only by what it says itself".to_owned())
}

/// That a value is a constant, or isn't.
struct Test {
    of: Operand,
    is: i64,
    holds: bool,
}

/// Of parameters that are always the same as each other one is left.
fn drop_equal_params(graph: &mut Graph, edges: &Edges, rewrites: &mut Rewrites) -> Cleaned {
    let mut replaced = Replacements::new(graph);
    let mut goes: FxHashSet<ValueId> = FxHashSet::default();
    let mut given: Vec<(u64, usize)> = Vec::new();
    for (at, block) in graph.blocks.iter().enumerate().skip(1).filter(|(_, block)| block.params.len() > 1) {
        given.clear();
        given.extend((0..block.params.len()).map(|number| (edges.hash(at, number), number)));
        given.sort_unstable();
        for pair in given.windows(2) {
            let [(hash, first), (other_hash, number)] = *pair else { continue };
            let of_type = |number: usize| graph.values[block.params[number].index()].ty;
            if hash == other_hash
                && of_type(first) == of_type(number)
                && edges.given(at, first).eq(edges.given(at, number))
            {
                let (param, same) = (block.params[number], block.params[first].into());
                if replaced.find(same) != param.into()
                    && rewrites.may(Kind::Parameter, block.loc, || is_always(param, same))
                    && replaced.replace(param, same)
                {
                    goes.insert(param);
                }
            }
        }
    }
    if goes.is_empty() {
        return Cleaned::Nothing;
    }
    remove_params(graph, |param| goes.contains(&param));
    Cleaned::replacing(replaced, graph)
}

/// Edges to an empty block that only jumps on lead to where it jumps.
fn shorten_jumps(graph: &mut Graph, rewrites: &mut Rewrites) -> Cleaned {
    let onward = |(at, block): (usize, &Block)| match block {
        Block { params, ops, term: Terminator::Jump(edge), .. }
            if params.is_empty() && ops.is_empty() && edge.block.index() != at && at != 0 =>
        {
            Some(edge.block)
        }
        _ => None,
    };
    let onward: Vec<Option<BlockId>> = graph.blocks.iter().enumerate().map(onward).collect();
    if onward.iter().all(Option::is_none) {
        return Cleaned::Nothing;
    }
    let last = last_of_chains(&onward);
    let mut changed = false;
    for at in 0..graph.blocks.len() {
        let block = &mut graph.blocks[at];
        // No chain that ends leads through this block and to its last one again.
        let (loc, mut term) = (block.loc, std::mem::replace(&mut block.term, Terminator::Return(Vec::new())));
        for edge in term.edges_mut() {
            let Some(last) = last[edge.block.index()] else { continue };
            let Terminator::Jump(on) = &graph.block(last).term else { unreachable!("{last} only jumps on") };
            let told = || (format!("b{at} -> {}", on.block), format!("{} only jumps there", edge.block));
            if rewrites.may(Kind::Jump, loc, told) {
                *edge = on.clone();
                changed = true;
            }
        }
        graph.blocks[at].term = term;
    }
    if changed {
        drop_unreachable(graph);
    }
    changed.into()
}

/// The last block of each chain of jumps, by each of its blocks. One that leads into a circle has none.
fn last_of_chains(onward: &[Option<BlockId>]) -> Vec<Option<BlockId>> {
    let mut last = vec![None; onward.len()];
    let mut seen = vec![false; onward.len()];
    let mut chain: Vec<usize> = Vec::new();
    for start in 0..onward.len() {
        let (mut at, mut end) = (start, None);
        while let Some(next) = onward[at] {
            if std::mem::replace(&mut seen[at], true) {
                end = last[at]; // on a circle, if it is of this chain
                break;
            }
            chain.push(at);
            end = Some(BlockId(at as u32));
            at = next.index();
        }
        chain.drain(..).for_each(|at| last[at] = end);
    }
    last
}

/// A block that alone jumps to another takes it in.
fn append_single_successors(graph: &mut Graph, rewrites: &mut Rewrites) -> Cleaned {
    let mut arrivals = graph.arrivals();
    let mut replaced = Replacements::new(graph);
    let mut changed = false;
    for at in 0..graph.blocks.len() {
        while let Terminator::Jump(edge) = &graph.blocks[at].term {
            let next = edge.block;
            let told = || (format!("b{at} takes in {next}"), "nothing else leads there".to_owned());
            if next.index() == at
                || next == BlockId::ENTRY
                || arrivals[next.index()] != 1
                || !rewrites.may(Kind::Appended, graph.block(next).loc, told)
            {
                break;
            }
            let taken = graph.block_mut(next);
            let params = std::mem::take(&mut taken.params);
            let mut ops = std::mem::take(&mut taken.ops);
            let term = std::mem::replace(&mut taken.term, Terminator::Return(Vec::new()));
            let loc = taken.loc;
            let block = &mut graph.blocks[at];
            let jump = std::mem::replace(&mut block.term, term);
            block.ops.append(&mut ops);
            block.loc = loc;
            for (param, arg) in params.into_iter().zip(jump.edges().flat_map(|edge| &edge.args)) {
                replaced.replace(param, *arg);
            }
            arrivals[next.index()] = 0;
            changed = true;
        }
    }
    if !changed {
        return Cleaned::Nothing;
    }
    let cleaned = Cleaned::replacing(replaced, graph);
    drop_unreachable(graph);
    cleaned
}
