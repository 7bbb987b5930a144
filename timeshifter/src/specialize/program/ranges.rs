//! What values of compiler graphs can be in any run.
//!
//! A version that is to fit whoever comes keeps nothing of the state that it was made of, bounds included. Some hold
//! whoever comes: a `u8` is less than 256 wherever it is handed on. Without them residual loops would mask what is
//! narrow in every round, as what they are handed comes from an interpreter of which the optimizer sees nothing.
//!
//! They don't follow from types alone, as graphs can be edited. Parameters and results are taken to be what their types
//! say, each graph is gone through for what follows ([`of_graph`]), and then each call and each return must hold to
//! what has been taken; what one doesn't is unbounded, and who counted on it is gone through again.

use crate::specialize::engine::Engine;
use crate::specialize::state::{Red, State};
use bounds::IntBound;
use flowgraph::ir::{
    Access, Effect, Graph, Leaf, MemDesc, Module, Op, Opcode, Operand, Scalar, Terminator, Type, ValueId,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// So many times bounds of parameters grow as they come; then they come to rest at the ends of types.
const EXACT: usize = 2;

/// After so many rounds a bound that still grows is none.
const ROUNDS: usize = 8;

/// By value: what it can be.
#[derive(Debug)]
pub(crate) struct Ranges(Vec<IntBound>);

/// What graphs are taken to be handed, and to give.
struct Assumed {
    params: Vec<IntBound>,
    results: Vec<IntBound>,
}

impl Ranges {
    /// Those of a module's graphs, in their order.
    pub fn of(module: &Module) -> Vec<Ranges> {
        let graphs: Vec<&Graph> = module.graphs.values().collect();
        let by_key: FxHashMap<&str, usize> = module.graphs.keys().enumerate().map(|(at, key)| (&**key, at)).collect();
        let callee = |op: &Op| by_key.get(&*op.callee()?.name).copied();
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); graphs.len()];
        for (at, graph) in graphs.iter().enumerate() {
            graph.blocks.iter().flat_map(|b| &b.ops).filter_map(callee).for_each(|callee| callers[callee].push(at));
        }
        let mut assumed: Vec<Assumed> = graphs.iter().map(|graph| Assumed::of(module, graph)).collect();
        let mut ranges: Vec<Ranges> = graphs.iter().map(|_| Ranges(Vec::new())).collect();
        let mut todo: BTreeSet<usize> = (0..graphs.len()).collect();
        while let Some(at) = todo.pop_first() {
            let given = |op: &Op| callee(op).map_or(&[][..], |callee| &assumed[callee].results);
            ranges[at] = of_graph(graphs[at], &assumed[at].params, given, |desc| of_access(desc.access));
            for block in &graphs[at].blocks {
                for op in &block.ops {
                    if let Some(callee) = callee(op)
                        && ranges[at].hold(&mut assumed[callee].params, &op.args)
                    {
                        todo.insert(callee);
                    }
                }
                if let Terminator::Return(values) = &block.term
                    && ranges[at].hold(&mut assumed[at].results, values)
                {
                    todo.extend(&callers[at]);
                }
            }
        }
        ranges
    }

    /// What the values of a graph usually are: what types say of parameters and results, and enums of their tags. None
    /// of it may be counted on.
    pub fn usual(module: &Module, graph: &Graph) -> Ranges {
        let results: FxHashMap<&str, Vec<IntBound>> = graph
            .called()
            .filter_map(|key| Some((key, Assumed::of(module, module.graphs.get(key)?).results)))
            .collect();
        let given = |op: &Op| op.callee().and_then(|callee| results.get(&*callee.name)).map_or(&[][..], Vec::as_slice);
        let loaded = |desc: &MemDesc| match module.enums.get(&*desc.class) {
            Some(of) if &*desc.field == "tag" => {
                let tags = of.variants.iter().map(|variant| IntBound::constant(variant.discriminant));
                tags.reduce(IntBound::join)
            }
            _ => of_access(desc.access),
        };
        of_graph(graph, &Assumed::of(module, graph).params, given, loaded)
    }

    /// What a value can be.
    pub fn get(&self, value: ValueId) -> IntBound {
        self.0[value.index()]
    }

    fn of_operand(&self, operand: Operand) -> IntBound {
        match operand {
            Operand::Value(value) => self.get(value),
            Operand::Const(constant) => constant.as_int().map_or(IntBound::unbounded(), IntBound::constant),
        }
    }

    /// Nothing is assumed where these operands don't hold to it. Gives whether there is such a place.
    fn hold(&self, assumed: &mut [IntBound], to: &[Operand]) -> bool {
        let mut changed = false;
        for (at, bound) in assumed.iter_mut().enumerate() {
            let holds = to.get(at).is_some_and(|operand| self.of_operand(*operand).implies(*bound));
            if !holds && !bound.is_unbounded() {
                *bound = IntBound::unbounded();
                changed = true;
            }
        }
        changed
    }
}

impl Assumed {
    /// What the types of a graph say. Not that lengths aren't negative: the optimizer knows that by itself, and here
    /// each check of an index would teach something of them, which makes versions. What functions of the host give
    /// nobody looks at.
    fn of(module: &Module, graph: &Graph) -> Assumed {
        let params = leaves(module, graph).into_iter().map(|leaf| of_leaf(&leaf));
        let mut assumed = Assumed { params: params.collect(), results: Vec::new() };
        assumed.params.resize(graph.entry_params().len(), IntBound::unbounded());
        if !graph.is_host() {
            let results = module.leaves(&graph.signature.result);
            assumed.results = results.iter().map(of_leaf).collect();
        }
        assumed.results.resize(graph.results.len(), IntBound::unbounded());
        assumed
    }
}

/// The leaves of a graph's parameters, by its signature.
fn leaves(module: &Module, graph: &Graph) -> Vec<Leaf> {
    graph.signature.params.iter().flat_map(|param| module.leaves(&param.ty)).collect()
}

/// What the arguments of a graph can be by its signature, whoever calls it from outside.
pub(crate) fn of_arguments(module: &Module, graph: &Graph) -> Vec<IntBound> {
    let leaves = leaves(module, graph);
    let bound = |at: usize| match leaves.get(at) {
        Some(leaf) if leaf.is_length => IntBound::nonnegative(),
        Some(leaf) => of_leaf(leaf),
        None => IntBound::unbounded(),
    };
    (0..graph.entry_params().len()).map(bound).collect()
}

/// The range of a tag, or of a narrow type.
fn of_leaf(leaf: &Leaf) -> IntBound {
    let tags = leaf.tags.and_then(|(least, greatest)| IntBound::from_range(least, greatest));
    tags.unwrap_or_else(|| of_scalar(leaf.scalar))
}

fn of_scalar(scalar: Scalar) -> IntBound {
    let (low, high) = match scalar {
        Scalar::Bool => (0, 1),
        Scalar::U8 => (0, i64::from(u8::MAX)),
        Scalar::U16 => (0, i64::from(u16::MAX)),
        Scalar::U32 => (0, i64::from(u32::MAX)),
        Scalar::Char => (0, i64::from(u32::from(char::MAX))),
        Scalar::I8 => (i64::from(i8::MIN), i64::from(i8::MAX)),
        Scalar::I16 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        Scalar::I32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => return IntBound::unbounded(),
    };
    IntBound::from_range(low, high).unwrap_or(IntBound::unbounded())
}

/// What the values of a graph can be that is handed this. `given` says what calls give, as far as that is known, and
/// `loaded` what loads do.
fn of_graph<'a>(
    graph: &Graph,
    params: &[IntBound],
    given: impl Fn(&Op) -> &'a [IntBound],
    loaded: impl Fn(&MemDesc) -> Option<IntBound>,
) -> Ranges {
    // Nothing has come yet.
    let mut found: Vec<Option<IntBound>> = vec![None; graph.values.len()];
    for (param, bound) in graph.entry_params().iter().zip(params) {
        found[param.index()] = Some(*bound);
    }
    let mut reached = vec![false; graph.blocks.len()];
    reached.iter_mut().take(1).for_each(|entry| *entry = true);
    let mut changed = true;
    for round in 0.. {
        if !std::mem::take(&mut changed) {
            break;
        }
        for (id, block) in graph.block_ids().zip(&graph.blocks) {
            if !reached[id.index()] {
                continue;
            }
            for op in &block.ops {
                let bounds = of_op(op, &found, &given, &loaded);
                for (at, result) in op.results.iter().enumerate() {
                    let is_int = graph.values[result.index()].ty == Type::Int;
                    let bound = bounds.get(at).copied().filter(|_| is_int).or(Some(IntBound::unbounded()));
                    changed |= std::mem::replace(&mut found[result.index()], bound) != bound;
                }
            }
            for edge in block.term.edges() {
                changed |= !std::mem::replace(&mut reached[edge.block.index()], true);
                for (param, arg) in graph.block(edge.block).params.iter().zip(&edge.args) {
                    let comes = of_operand(*arg, &found);
                    let before = found[param.index()];
                    let after = match before {
                        None => comes,
                        Some(before) if comes.implies(before) => before,
                        Some(before) if round < EXACT => before.join(comes),
                        Some(before) if round < ROUNDS => before.widen(comes),
                        Some(_) => IntBound::unbounded(),
                    };
                    changed |= before != Some(after);
                    found[param.index()] = Some(after);
                }
            }
        }
    }
    Ranges(found.into_iter().map(|bound| bound.unwrap_or(IntBound::unbounded())).collect())
}

fn of_operand(operand: Operand, found: &[Option<IntBound>]) -> IntBound {
    match operand {
        Operand::Value(value) => found[value.index()].unwrap_or(IntBound::unbounded()),
        Operand::Const(constant) => constant.as_int().map_or(IntBound::unbounded(), IntBound::constant),
    }
}

/// What an op gives, as far as anything is known of that.
fn of_op<'a>(
    op: &Op,
    found: &[Option<IntBound>],
    given: &impl Fn(&Op) -> &'a [IntBound],
    loaded: &impl Fn(&MemDesc) -> Option<IntBound>,
) -> SmallVec<[IntBound; 2]> {
    let args = || op.args.iter().map(|arg| of_operand(*arg, found)).collect::<SmallVec<[IntBound; 2]>>();
    match (op.opcode.effect(), op.opcode) {
        (Effect::Pure, opcode) => IntBound::transfer(opcode, &args()),
        (Effect::Read, _) => op.mem().and_then(loaded).into_iter().collect(),
        (Effect::Call | Effect::ElidableCall, _) => given(op).into(),
        // These give what they are handed.
        (_, Opcode::Promote | Opcode::Likely | Opcode::Concrete | Opcode::Variable) => args(),
        _ => SmallVec::new(),
    }
}

/// What is loaded from a place.
fn of_access(access: Access) -> Option<IntBound> {
    let (low, high) = access.range();
    IntBound::from_range(low, high)
}

impl Engine<'_> {
    /// Of the parameters that a state has in its registers and places, what these can be in any run is known from here
    /// on.
    pub(crate) fn note_ranges(&mut self, st: &State) {
        let mut ranges: SmallVec<[(ValueId, IntBound); 32]> = SmallVec::new();
        self.each_range(st, |red, range| {
            if let (Red::Value(param), false) = (red, range.is_unbounded()) {
                ranges.push((param, range));
            }
        });
        for (param, range) in ranges {
            let bound = &mut self.fragments[st.fragment].info[param.index()].bound;
            *bound = bound.meet(range).unwrap_or(*bound);
        }
    }

    /// What a parameter of a version can be in any run.
    pub(crate) fn in_any_run(&self, template: &State, param: ValueId) -> IntBound {
        let mut found = IntBound::unbounded();
        self.each_range(template, |red, range| {
            if red == Red::Value(param) {
                found = found.meet(range).unwrap_or(found);
            }
        });
        found
    }

    /// What a state has in its registers and places, with what can be there in any run.
    fn each_range(&self, st: &State, mut see: impl FnMut(Red, IntBound)) {
        for frame in &st.frames {
            let ranges = self.program.loaded(frame.graph).ranges;
            frame.regs.iter().for_each(|(value, reg)| see(reg.red(), ranges.get(*value)));
        }
        let mut lies_there = |access: Access, red: Red| {
            // What is stored is cut down to its bits, so a `bool` to those of a byte.
            let access = if access == Access::Bool { Access::U8 } else { access };
            see(red, of_access(access).unwrap_or(IntBound::unbounded()));
        };
        for cell in st.slots.values().flat_map(|slot| slot.cells.iter().map(|(_, cell)| cell)) {
            lies_there(cell.access, cell.value);
        }
        for ((_, _, access), location) in &st.memory.places {
            lies_there(*access, location.value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowgraph::text::parse_module;

    /// `f` halves `x` as often as it is told, and counts in `k`.
    const HALVED: &str = "module flow
graph half(x: int) -> int {
    signature fn(x: u8) -> u8
b0(v0: int):
    v1 = uint_floordiv v0, 2
    return v1
}
graph f(x: int, n: int) -> int {
    signature fn(x: u8, n: i64) -> u8
b0(v0: int, v1: int):
    jump b1(0, v0, 0)
b1(v2: int, v3: int, v4: int):
    v5 = int_lt v2, v1
    branch v5, b2, b3
b2:
    v6: int = call half(v3)
    v7 = int_add v4, 3
    v8 = int_and v7, 4294967295
    v9 = int_add v2, 1
    jump b1(v9, v6, v8)
b3:
    return v3
}
";

    fn ranges(text: &str, graph: &str, values: &[u32]) -> Vec<(i64, i64)> {
        let module = parse_module(text).expect("it is a module");
        let at = module.graphs.get_index_of(graph).expect("it has this graph");
        let ranges = &Ranges::of(&module)[at];
        let ends = |value: &u32| Some(ranges.get(ValueId(*value))).map(|bound| (bound.lower(), bound.upper()));
        values.iter().filter_map(ends).collect()
    }

    const ANY: (i64, i64) = (i64::MIN, i64::MAX);

    #[test]
    fn narrow_types_hold_around_loops_and_through_calls() {
        assert_eq!(ranges(HALVED, "half", &[0, 1]), [(0, 255), (0, 127)]);
        let u32s = (0, i64::from(u32::MAX));
        assert_eq!(ranges(HALVED, "f", &[0, 1, 2, 3, 4, 6]), [(0, 255), ANY, ANY, (0, 255), u32s, (0, 255)]);
    }

    #[test]
    fn what_a_call_hands_over_is_looked_at() {
        let wide = HALVED.replace("call half(v3)", "call half(v2)");
        assert_eq!(ranges(&wide, "half", &[0, 1]), [ANY, (0, i64::MAX)]);
        assert_eq!(ranges(&wide, "f", &[0, 3, 6]), [(0, 255), ANY, ANY], "nor does it give what its type says");
    }

    #[test]
    fn what_is_returned_is_looked_at() {
        let wide = HALVED.replace("v1 = uint_floordiv v0, 2", "v1 = int_mul v0, 3");
        assert_eq!(ranges(&wide, "half", &[0, 1]), [ANY, ANY], "it is handed what it has returned");
        let wide = wide.replace("call half(v3)", "call half(7)");
        assert_eq!(ranges(&wide, "half", &[0, 1]), [(0, 255), (0, 765)]);
        assert_eq!(ranges(&wide, "f", &[3, 6]), [ANY, ANY]);
    }

    #[test]
    fn blocks_in_any_order_are_looked_at_until_nothing_changes() {
        // What b1 uses is computed in b2, which comes later in the text, and of what only the second round brings.
        let text = "module flow
graph f(n: int) -> int {
    signature fn(n: i64) -> i64
b0(v0: int):
    jump b2(0)
b1:
    v1 = int_add v3, 1
    return v1
b2(v2: int):
    v3 = int_and v2, 65535
    v4 = int_add v3, 1001
    v5 = int_lt v4, v0
    branch v5, b2(v4), b1
}
";
        assert_eq!(ranges(text, "f", &[1, 3, 4]), [(1, 65536), (0, 65535), (1001, 66536)]);
    }
}
