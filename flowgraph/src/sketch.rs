//! Graphs for unit tests, in a line or two each.

use crate::ir::*;

/// A graph of ints with `blocks` blocks, block 0 having `params` parameters.
pub fn graph(key: &str, params: usize, blocks: usize) -> Graph {
    let mut graph = Graph::new(key, Signature { params: Vec::new(), result: RustType::Scalar(Scalar::I64) });
    graph.results = vec![Type::Int];
    for _ in 0..blocks {
        graph.new_block();
    }
    for i in 0..params {
        graph.params.push(format!("p{i}"));
        param(&mut graph, 0);
    }
    graph
}

/// A new parameter of a block.
pub fn param(graph: &mut Graph, block: usize) -> Operand {
    let value = graph.new_value(Type::Int);
    graph.blocks[block].params.push(value);
    value.into()
}

/// A new op with one int for each result that its row has (one for calls).
pub fn op(graph: &mut Graph, block: usize, opcode: Opcode, args: &[Operand], imm: Imm) -> Operand {
    let results = match opcode {
        Opcode::Call | Opcode::CallElidable => 1,
        _ => opcode.results().len(),
    };
    let results: Vec<ValueId> = (0..results).map(|_| graph.new_value(Type::Int)).collect();
    let first = results.first().map_or(Operand::int(0), |v| (*v).into());
    let op = Op {
        opcode,
        args: args.iter().copied().collect(),
        results: results.into_iter().collect(),
        imm,
        time: Time::Now,
        loc: Loc::UNKNOWN,
    };
    graph.blocks[block].ops.push(op);
    first
}

/// A pure op.
pub fn pure(graph: &mut Graph, block: usize, opcode: Opcode, args: &[Operand]) -> Operand {
    op(graph, block, opcode, args, Imm::None)
}

/// A call.
pub fn call(graph: &mut Graph, block: usize, callee: &str, args: &[Operand]) -> Operand {
    op(graph, block, Opcode::Call, args, Imm::Call(Callee::plain(callee)))
}

/// An edge.
pub fn edge(to: usize, args: &[Operand]) -> Edge {
    Edge::new(BlockId(to as u32), args.iter().copied())
}

/// Ends a block with a jump.
pub fn jump(graph: &mut Graph, block: usize, to: usize, args: &[Operand]) {
    graph.blocks[block].term = Terminator::Jump(edge(to, args));
}

/// Ends a block with a branch.
pub fn branch(graph: &mut Graph, block: usize, cond: Operand, then: Edge, otherwise: Edge) {
    graph.blocks[block].term = Terminator::Branch { cond, then, otherwise, time: Time::Now };
}

/// Ends a block with a return.
pub fn ret(graph: &mut Graph, block: usize, value: Operand) {
    graph.blocks[block].term = Terminator::Return(vec![value]);
}

/// A module of these graphs.
pub fn module(graphs: impl IntoIterator<Item = Graph>) -> Module {
    let mut module = Module::default();
    for graph in graphs {
        module.graphs.insert(graph.key.clone(), graph);
    }
    module
}
