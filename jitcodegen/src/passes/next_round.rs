//! Behind a loop what counts in steps is counted from what the next round would begin with, where only that would still
//! be alive.
//!
//! A loop that moves on by a constant first, and then looks whether to stop, has two values at its end: where the round
//! began, and where the next one would. If the first one is used behind the loop, both need a register in it, and each
//! round copies the one to the other. They are a constant apart, so there the one is as good as the other; with that
//! the loop has one value, and moves on in place.
//!
//! ```text
//! b1(v1):                              b1(v1):
//!     v2 = int_add v1, 9                   v2 = int_add v1, 9
//!     v3 = getarrayitem v0, v2             v3 = getarrayitem v0, v2
//!     branch v3, b1(v2), b2        ->      branch v3, b1(v2), b2
//! b2: v4 = int_add v1, 10              b2: v4 = int_add v2, 1
//!     v5 = getarrayitem v0, v1             v6 = int_sub v2, 9
//!                                          v5 = getarrayitem v0, v6
//! ```
//!
//! Which of them is meant is all the same to a graph, and rules count from where a chain of sums begins: it is a matter
//! of registers. The induction variables of a loop are families all of which are as good as their basic one (F. E.
//! Allen, J. Cocke, K. Kennedy, "Reduction of operator strength", 1981); here the one is chosen that is alive anyway.

use flowgraph::analysis::Dominators;
use flowgraph::ir::{BlockId, Const, Edge, Graph, Imm, Op, Opcode, Operand, Terminator, Time, Type, ValueId};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// Loops of more blocks than these are left as they are.
const BLOCKS: usize = 64;

/// A parameter of a loop's head that each round moves on by a constant.
struct Step {
    param: ValueId,
    /// What the next round begins with.
    next: ValueId,
    /// The block that computes it, and which of its ops does.
    at: BlockId,
    number: usize,
    /// `next` is `param` and this.
    by: i64,
    /// The blocks of the loop, sorted.
    body: Vec<BlockId>,
}

/// Where the parameter is used when the next value is known already.
#[derive(Default)]
struct Uses {
    /// By op: sums of it and a constant, and whether it is one, behind the loop.
    sums: Vec<(BlockId, usize)>,
    /// Blocks behind the loop that use it otherwise.
    others: Vec<BlockId>,
    /// Ways out of the loop that hand it over.
    ways_out: Vec<(BlockId, usize)>,
}

/// The graph, counting from what the next round would begin with; nothing if there is nothing to count so.
pub(crate) fn counted_from_next_round(graph: &Graph) -> Option<Graph> {
    let moved = moved_on(graph);
    if moved.is_empty() {
        return None;
    }
    let tree = Dominators::new(graph);
    let steps: Vec<Step> = moved.into_iter().filter_map(|moved| step(graph, &tree, moved)).collect();
    let uses = uses(graph, &tree, &steps);
    if uses.iter().all(Option::is_none) {
        return None;
    }
    let mut graph = graph.clone();
    let mut changes = Changes { blocks: graph.blocks.len(), begun: Vec::new() };
    for (step, uses) in steps.iter().zip(uses) {
        if let Some(uses) = uses {
            changes.count(&mut graph, &tree, step, uses);
        }
    }
    for (block, op) in changes.begun {
        graph.block_mut(block).ops.insert(0, op);
    }
    Some(graph)
}

/// A parameter that an edge hands itself and a constant.
struct Moved {
    head: BlockId,
    param: ValueId,
    next: ValueId,
    /// Where that leads from.
    from: BlockId,
    at: BlockId,
    number: usize,
    by: i64,
}

/// Parameters that just one edge hands themselves and a constant.
fn moved_on(graph: &Graph) -> Vec<Moved> {
    let mut params: FxHashMap<ValueId, (BlockId, usize)> = FxHashMap::default();
    for id in graph.block_ids().skip(1) {
        params.extend(graph.block(id).params.iter().enumerate().map(|(at, param)| (*param, (id, at))));
    }
    let mut sums: FxHashMap<ValueId, Moved> = FxHashMap::default();
    for (at, block) in graph.block_ids().zip(&graph.blocks) {
        for (number, op) in block.ops.iter().enumerate() {
            if let Some(param) = op.args.first().and_then(|arg| arg.value())
                && let Some(by) = sum(op, param)
                && let Some((head, _)) = params.get(&param)
            {
                let next = op.results[0];
                sums.insert(next, Moved { head: *head, param, next, from: at, at, number, by });
            }
        }
    }
    let mut found: Vec<Moved> = Vec::new();
    for from in graph.block_ids() {
        for edge in graph.block(from).term.edges() {
            for (place, next) in edge.args.iter().enumerate().filter_map(|(place, arg)| Some((place, arg.value()?))) {
                if let Some(moved) = sums.get(&next)
                    && params[&moved.param] == (edge.block, place)
                {
                    found.push(Moved { from, ..*moved });
                }
            }
        }
    }
    found
}

/// Something that moves on is a step, if that is all that comes back to its loop.
fn step(graph: &Graph, tree: &Dominators, moved: Moved) -> Option<Step> {
    let Moved { head, param, next, from, at, number, by } = moved;
    let comes_back = |from: &BlockId| tree.dominates(head, *from);
    let is_only = tree.predecessors().of(head).iter().filter(|from| comes_back(from)).eq([&from]);
    let once = graph.block(from).term.edges().filter(|edge| edge.block == head).count() == 1;
    let body = (is_only && once).then(|| tree.predecessors().body(head, &[from], BLOCKS))??;
    Some(Step { param, next, at, number, by, body })
}

/// What an op adds to a value, if it is a sum of it and a constant.
fn sum(op: &Op, value: ValueId) -> Option<i64> {
    match (op.opcode, &op.args[..]) {
        (Opcode::IntAdd, [Operand::Value(of), Operand::Const(Const::Int(by))]) if *of == value => Some(*by),
        (Opcode::IntSub, [Operand::Value(of), Operand::Const(Const::Int(by))]) if *of == value => {
            Some(by.wrapping_neg())
        }
        _ => None,
    }
}

/// The constant that an op holds a value against, if it asks whether it is that.
fn equal(op: &Op, value: ValueId) -> Option<i64> {
    match (op.opcode, &op.args[..]) {
        (Opcode::IntEq | Opcode::IntNe, [Operand::Value(of), Operand::Const(Const::Int(to))]) if *of == value => {
            Some(*to)
        }
        _ => None,
    }
}

/// By step: where its parameter is used when the next value is known; nothing if it isn't, or if it has to stay alive
/// in the loop.
fn uses(graph: &Graph, tree: &Dominators, steps: &[Step]) -> Vec<Option<Uses>> {
    let mut found: Vec<Option<Uses>> = steps.iter().map(|_| Some(Uses::default())).collect();
    if steps.is_empty() {
        return found;
    }
    // By value: the number of the step whose parameter it is, and one more.
    let mut numbers = vec![0; graph.values.len()];
    for (number, step) in steps.iter().enumerate() {
        numbers[step.param.index()] = number + 1;
    }
    let step_of = |operand: Operand| operand.value().and_then(|value| numbers[value.index()].checked_sub(1));
    for (id, block) in graph.block_ids().zip(&graph.blocks) {
        for (number, op) in block.ops.iter().enumerate() {
            for of in op.args.iter().filter_map(|arg| step_of(*arg)) {
                let step = &steps[of];
                let Some(uses) = &mut found[of] else { continue };
                match step.place(id, Some(number), tree) {
                    Place::Before => {}
                    Place::Behind if sum(op, step.param).or(equal(op, step.param)).is_some() => {
                        uses.sums.push((id, number));
                    }
                    Place::Behind => uses.others.push(id),
                    Place::InLoop | Place::Elsewhere => found[of] = None,
                }
            }
        }
        for of in block.term.operands().filter_map(step_of) {
            let Some(uses) = &mut found[of] else { continue };
            match steps[of].place(id, None, tree) {
                Place::Before => {}
                Place::Behind => uses.others.push(id),
                Place::InLoop | Place::Elsewhere => found[of] = None,
            }
        }
        for (side, edge) in block.term.edges().enumerate() {
            for of in edge.args.iter().filter_map(|arg| step_of(*arg)) {
                let step = &steps[of];
                let Some(uses) = &mut found[of] else { continue };
                match step.place(id, None, tree) {
                    Place::Before => {}
                    Place::Behind => uses.others.push(id),
                    // A guard leads to its exit, and nowhere else.
                    Place::InLoop
                        if !step.holds(edge.block)
                            && !matches!(graph.block(edge.block).term, Terminator::Exit { .. }) =>
                    {
                        uses.ways_out.push((id, side));
                    }
                    Place::InLoop | Place::Elsewhere => found[of] = None,
                }
            }
        }
    }
    for uses in &mut found {
        let is_empty = |uses: &mut Uses| uses.sums.is_empty() && uses.others.is_empty() && uses.ways_out.is_empty();
        if uses.as_mut().is_some_and(is_empty) {
            *uses = None;
        }
    }
    found
}

/// Where a use is, seen from where the next value is computed.
enum Place {
    /// Not behind it in any round.
    Before,
    /// Behind it in a round.
    InLoop,
    /// Behind it, out of the loop.
    Behind,
    /// Out of the loop, and not always behind it.
    Elsewhere,
}

impl Step {
    fn holds(&self, block: BlockId) -> bool {
        self.body.binary_search(&block).is_ok()
    }

    /// Where an op of a block is, or the block's end.
    fn place(&self, block: BlockId, number: Option<usize>, tree: &Dominators) -> Place {
        let is_behind = tree.dominates(self.at, block);
        match (self.holds(block), is_behind) {
            (true, false) => Place::Before,
            (true, true) if block == self.at && number.is_some_and(|number| number <= self.number) => Place::Before,
            (true, true) => Place::InLoop,
            (false, true) => Place::Behind,
            (false, false) => Place::Elsewhere,
        }
    }

    /// Puts a value in place of the parameter.
    fn put(&self, own: ValueId, operand: &mut Operand) {
        if *operand == Operand::Value(self.param) {
            *operand = own.into();
        }
    }

    /// The first block behind the loop on the way to this one, which all ways there lead by.
    fn first_behind(&self, block: BlockId, tree: &Dominators) -> BlockId {
        let mut first = block;
        while let Some(above) = tree.immediate_dominator(first).filter(|above| !self.holds(*above)) {
            first = above;
        }
        first
    }
}

/// What is to be done to a graph.
struct Changes {
    /// How many blocks there were.
    blocks: usize,
    /// Ops that come first in blocks, once no op is known by its number any more.
    begun: Vec<(BlockId, Op)>,
}

impl Changes {
    /// Counts from the next value where the parameter was used.
    fn count(&mut self, graph: &mut Graph, tree: &Dominators, step: &Step, uses: Uses) {
        for (block, number) in uses.sums {
            let op = &mut graph.block_mut(block).ops[number];
            if let Some(to) = equal(op, step.param) {
                op.args = smallvec![step.next.into(), Operand::int(to.wrapping_add(step.by))];
            }
            if let Some(by) = sum(op, step.param) {
                (op.opcode, op.args) = plus(step.next, by.wrapping_sub(step.by));
            }
        }
        let Uses { mut others, mut ways_out, .. } = uses;
        others.dedup();
        ways_out.dedup();
        let mut begun: FxHashMap<BlockId, ValueId> = FxHashMap::default();
        for block in others {
            let first = step.first_behind(block, tree);
            let own = *begun.entry(first).or_insert_with(|| self.begun_with(graph, first, step));
            for op in &mut graph.block_mut(block).ops {
                op.args.iter_mut().for_each(|arg| step.put(own, arg));
            }
            graph.block_mut(block).term.for_each_operand_mut(|operand| step.put(own, operand));
        }
        for (from, side) in ways_out {
            let Some(way) = graph.block(from).term.edges().nth(side).map(|edge| edge.block) else { continue };
            // A way that hands over several parameters of a loop has a block already.
            let between = if way.index() >= self.blocks { way } else { on_the_way(graph, from, side) };
            let own = self.begun_with(graph, between, step);
            graph.block_mut(between).term.for_each_operand_mut(|operand| step.put(own, operand));
        }
    }

    /// At the beginning of a block: what the round began with.
    fn begun_with(&mut self, graph: &mut Graph, block: BlockId, step: &Step) -> ValueId {
        let own = graph.new_value(Type::Int);
        let (opcode, args) = plus(step.next, step.by.wrapping_neg());
        let loc = graph.block(block).loc;
        self.begun.push((block, Op { opcode, args, results: smallvec![own], imm: Imm::None, time: Time::Now, loc }));
        own
    }
}

/// A block on a way.
fn on_the_way(graph: &mut Graph, from: BlockId, side: usize) -> BlockId {
    let between = graph.new_block();
    let loc = graph.block(from).loc;
    let way = graph.block_mut(from).term.edges_mut().nth(side);
    let onward = way.map(|edge| std::mem::replace(edge, Edge::new(between, [])));
    let block = graph.block_mut(between);
    block.loc = loc;
    if let Some(onward) = onward {
        block.term = Terminator::Jump(onward);
    }
    between
}

/// A value and a constant.
fn plus(value: ValueId, by: i64) -> (Opcode, SmallVec<[Operand; 3]>) {
    match by.checked_neg() {
        Some(less) if by < 0 => (Opcode::IntSub, smallvec![value.into(), Operand::int(less)]),
        _ => (Opcode::IntAdd, smallvec![value.into(), Operand::int(by)]),
    }
}
