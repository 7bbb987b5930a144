//! Fragments without code of the guest's: growing switches, to which a promotion's exit is patched, and counters before
//! bridges.

use flowgraph::ir::{
    Access, BlockId, Edge, Graph, Imm, Loc, MemDesc, MemKind, NO_GUARD, Op, Opcode, Operand, Terminator, Time, Type,
    ValueId, Word,
};

/// Makes of an empty graph a fragment that takes the values of exit `exit`, and enters the case of the value at
/// `position`, or leaves through the same exit.
pub(crate) fn switch_graph(
    mut graph: Graph,
    types: &[Type],
    position: usize,
    exit: u32,
    cases: &[(i64, String)],
) -> Graph {
    let params = take(&mut graph, types);
    let args: Vec<Operand> = params.iter().map(|p| Operand::Value(*p)).collect();
    let mut arms = Vec::new();
    for (value, target) in cases {
        let block = graph.new_block();
        graph.block_mut(block).term = Terminator::Enter { graph: target.as_str().into(), args: args.clone() };
        arms.push((*value, Edge::new(block, [])));
    }
    let other = graph.new_block();
    graph.block_mut(other).term = Terminator::Exit { exit, guard: Operand::int(NO_GUARD), args };
    graph.block_mut(BlockId::ENTRY).term = Terminator::Switch {
        value: params[position].into(),
        cases: arms,
        default: Edge::new(other, []),
        time: Time::Now,
        promotion: true,
    };
    graph
}

/// Makes of an empty graph a fragment that takes the values of exit `exit`, counts down in the memory at `counter`, and
/// enters `target`; when the counter has become 0 it leaves through the exit.
pub(crate) fn counting_graph(mut graph: Graph, types: &[Type], counter: Word, exit: u32, target: &str) -> Graph {
    let params = take(&mut graph, types);
    let args: Vec<Operand> = params.iter().map(|p| Operand::Value(*p)).collect();
    let (before, after) = (graph.new_value(Type::Int), graph.new_value(Type::Int));
    let (going_on, counted) = (graph.new_block(), graph.new_block());
    let place = Imm::mem(MemDesc {
        class: "counter".into(),
        field: "left".into(),
        offset: 0,
        stride: 0,
        access: Access::I64,
        kind: MemKind::Shared,
    });
    let op = |opcode, args: &[Operand], imm, results: &[ValueId]| Op {
        opcode,
        args: args.into(),
        results: results.into(),
        imm,
        time: Time::Now,
        loc: Loc::UNKNOWN,
    };
    let address = Operand::int(counter as i64);
    graph.block_mut(BlockId::ENTRY).ops = vec![
        op(Opcode::Getfield, &[address], place.clone(), &[before]),
        op(Opcode::IntSub, &[before.into(), Operand::int(1)], Imm::None, &[after]),
        op(Opcode::Setfield, &[address, after.into()], place, &[]),
    ];
    graph.block_mut(BlockId::ENTRY).term = Terminator::Branch {
        cond: after.into(),
        then: Edge::new(going_on, []),
        otherwise: Edge::new(counted, []),
        time: Time::Now,
    };
    graph.block_mut(going_on).term = Terminator::Enter { graph: target.into(), args: args.clone() };
    graph.block_mut(counted).term = Terminator::Exit { exit, guard: Operand::int(NO_GUARD), args };
    graph
}

/// Lets an empty graph take values of these types.
fn take(graph: &mut Graph, types: &[Type]) -> Vec<ValueId> {
    let entry = graph.new_block();
    let params: Vec<_> = types.iter().map(|ty| graph.new_value(*ty)).collect();
    graph.params = params.iter().map(ToString::to_string).collect();
    graph.block_mut(entry).params.clone_from(&params);
    params
}
