//! Portals that are at their merge point again when they are called with what they have come there with.
//!
//! Tier 0 is a function, which can't be entered in its middle: so a run that stands at the merge point of an inner
//! portal is finished by calling that portal anew (the resume contract, section 4). Most portals begin with the merge
//! point, or with a test that has let the run pass already. But where a parameter is changed before, it would be
//! changed twice, and what is looked at but once would be looked at again:
//!
//! ```text
//! loop { merge_point!(); … }              yes       x += 1; loop { merge_point!(); … }          no
//! while n > 0 { merge_point!(); … }       yes       loop { x += 1; merge_point!(); … }          no
//! merge_point!(); …                       yes       assert!(x > 0); loop { merge_point!(); …    no
//! ```
//!
//! Those others stay where they are: the driver's interpreter finishes them.

use flowgraph::ir::{BlockId, Edge, Effect, Graph, Op, Opcode, Operand, Terminator, ValueId};
use rustc_hash::FxHashMap;

/// Whether a portal that is called with the words of its parameters at its merge point comes to that with just these.
pub(crate) fn comes_back(graph: &Graph) -> bool {
    let is_merge = |block: &BlockId| graph.block(*block).ops.first().is_some_and(|op| op.opcode == Opcode::MergePoint);
    let Some(merge) = graph.block_ids().find(is_merge) else { return false };
    let mut leaves = Leaves((0..).zip(graph.entry_params()).map(|(leaf, param)| (*param, leaf)).collect());
    let Some(head) = head(graph, merge, &mut leaves) else { return false };
    leaves.are_all(graph, head) && asks_only(graph, (head, merge), &mut leaves) && leaves.are_in_order(graph, merge)
}

/// By value: the leaf of the parameters that it is.
struct Leaves(FxHashMap<ValueId, usize>);

impl Leaves {
    fn of(&self, operand: Operand) -> Option<usize> {
        self.0.get(&operand.value()?).copied()
    }

    /// An edge hands leaves on. Gives whether it hands on the same ones as those before it.
    fn hand_on(&mut self, graph: &Graph, edge: &Edge, is_first: bool) -> bool {
        let mut same = true;
        for (param, arg) in graph.block(edge.block).params.iter().zip(&edge.args) {
            match self.of(*arg) {
                Some(leaf) if is_first => drop(self.0.insert(*param, leaf)),
                leaf => same &= leaf == self.0.get(param).copied(),
            }
        }
        same
    }

    /// Whether all that a block is handed are leaves.
    fn are_all(&self, graph: &Graph, block: BlockId) -> bool {
        graph.block(block).params.iter().all(|param| self.0.contains_key(param))
    }

    /// Whether the merge point has the leaves as the function takes them.
    fn are_in_order(&self, graph: &Graph, merge: BlockId) -> bool {
        let args = &graph.block(merge).ops[0].args;
        (0..graph.entry_params().len()).all(|leaf| args.get(leaf).is_some_and(|arg| self.of(*arg) == Some(leaf)))
    }
}

/// Where what every call does once ends: the merge point, the head of its loop, or the first question.
fn head(graph: &Graph, merge: BlockId, leaves: &mut Leaves) -> Option<BlockId> {
    let arrivals = graph.arrivals();
    let mut at = BlockId::ENTRY;
    for _ in 0..graph.blocks.len() {
        if at == merge || arrivals[at.index()] > 1 {
            return Some(at);
        }
        let block = graph.block(at);
        let Terminator::Jump(edge) = &block.term else { return Some(at) };
        if !block.ops.iter().all(leaves_no_trace) {
            return None;
        }
        leaves.hand_on(graph, edge, true);
        at = edge.block;
    }
    None
}

/// Whether from the head of the loop to the merge point nothing is done but asked, and all ways there come by the head.
fn asks_only(graph: &Graph, (head, merge): (BlockId, BlockId), leaves: &mut Leaves) -> bool {
    let mut asking = vec![false; graph.blocks.len()];
    let mut handed = vec![false; graph.blocks.len()];
    (asking[head.index()], handed[head.index()]) = (head != merge, true);
    let mut todo: Vec<BlockId> = [head].into_iter().filter(|head| *head != merge).collect();
    while let Some(at) = todo.pop() {
        let block = graph.block(at);
        if !block.ops.iter().all(leaves_no_trace) {
            return false;
        }
        for edge in block.term.edges() {
            if !leads_there(graph, edge.block, merge) {
                continue; // it isn't asked again: the run hasn't gone there
            }
            let is_first = !std::mem::replace(&mut handed[edge.block.index()], true);
            if !leaves.hand_on(graph, edge, is_first) {
                return false;
            }
            if edge.block != merge && !std::mem::replace(&mut asking[edge.block.index()], true) {
                todo.push(edge.block);
            }
        }
    }
    // Whatever else comes to the merge point, or to what asks, comes to the head.
    let comes_by = |(from, to): (BlockId, BlockId)| to == head || asking[from.index()];
    let edges = graph.block_ids().flat_map(|from| graph.block(from).term.edges().map(move |edge| (from, edge.block)));
    edges.filter(|(_, to)| *to == merge || asking[to.index()]).all(comes_by)
}

/// Whether a block leads to the merge point without having passed it.
fn leads_there(graph: &Graph, from: BlockId, merge: BlockId) -> bool {
    let mut seen = vec![false; graph.blocks.len()];
    let mut todo = vec![from];
    while let Some(at) = todo.pop() {
        if at == merge {
            return true;
        }
        if !std::mem::replace(&mut seen[at.index()], true) {
            todo.extend(graph.block(at).term.edges().map(|edge| edge.block));
        }
    }
    false
}

/// Whether it makes no difference how often an op is done.
fn leaves_no_trace(op: &Op) -> bool {
    matches!(op.opcode.effect(), Effect::Pure | Effect::Read | Effect::Allocate | Effect::Hint)
}

#[cfg(test)]
mod tests {
    use super::comes_back;
    use flowgraph::frontend::lift;

    #[test]
    fn what_is_done_before_the_merge_point_must_be_nothing_twice() {
        let says = |body: &str| {
            let source = format!(
                "use hueshift::prelude::*;
                #[portal(greens(code, pc), reds(n, x))]
                pub fn run(code: &[u8], mut pc: usize, mut n: i64, mut x: i64) -> i64 {{ {body} }}"
            );
            let module = lift(&[("run.rs", &source)]).unwrap_or_else(|e| panic!("{body}: {e:?}"));
            comes_back(&module.graphs["run"])
        };
        let step = "pc += 1; n -= 1; if code[pc] == 0 { pc = 0; can_enter_jit!(); } else if n == 7 { return x; }";
        for before in [
            "loop { merge_point!(); STEP }",
            "while n > 0 { merge_point!(); STEP } x",
            "while n > 0 && pc < code.len() { merge_point!(); STEP } x",
            "merge_point!(); STEP x",
        ] {
            assert!(says(&before.replace("STEP", step)), "{before}");
        }
        for before in [
            "x += 1; loop { merge_point!(); STEP }",
            "pc += 1; loop { merge_point!(); STEP }",
            "loop { x += 1; merge_point!(); STEP }",
            "while n > 0 { n -= 1; merge_point!(); STEP } x",
            "assert!(x > 0); loop { merge_point!(); STEP }",
            "if n == 0 { return 0; } loop { merge_point!(); STEP }",
            "loop { if n & 1 == 0 { x += 3; merge_point!(); } STEP }",
            "x = 0; merge_point!(); STEP x",
            "if n > 5 { x = n; } loop { merge_point!(); STEP }",
        ] {
            assert!(!says(&before.replace("STEP", step)), "{before}");
        }
    }
}
