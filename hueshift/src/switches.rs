//! Growing switches: what a promotion's exit is patched to.

use flowgraph::ir::{Edge, Graph, Loc, Operand, Terminator, Time, Type};

/// A fragment that takes the values of exit `exit`, and enters the case of the value at `position`, or leaves through the
/// same exit.
pub(crate) fn switch_graph(
    key: &str,
    leaves: &Graph,
    types: &[Type],
    position: usize,
    exit: u32,
    cases: &[(i64, String)],
) -> Graph {
    let mut graph = Graph::new(key, leaves.signature.clone());
    graph.function.clone_from(&leaves.function);
    graph.results.clone_from(&leaves.results);
    let entry = graph.new_block();
    let params: Vec<_> = types.iter().map(|ty| graph.new_value(*ty)).collect();
    graph.params = params.iter().map(ToString::to_string).collect();
    graph.block_mut(entry).params.clone_from(&params);
    let args: Vec<Operand> = params.iter().map(|p| Operand::Value(*p)).collect();
    let mut arms = Vec::new();
    for (value, target) in cases {
        let block = graph.new_block();
        graph.block_mut(block).term = Terminator::Enter { graph: target.as_str().into(), args: args.clone() };
        arms.push((*value, Edge::new(block, [])));
    }
    let other = graph.new_block();
    graph.block_mut(other).term = Terminator::Exit { exit, guard: Operand::int(-1), args };
    graph.block_mut(entry).term = Terminator::Switch {
        value: params[position].into(),
        cases: arms,
        default: Edge::new(other, []),
        time: Time::Now,
        promotion: true,
    };
    graph.loc = Loc::UNKNOWN;
    graph
}
