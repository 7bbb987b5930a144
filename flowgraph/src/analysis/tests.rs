use super::*;
use crate::ir::{BlockId, Graph, Imm, Opcode, Operand, Terminator, ValueId};
use crate::sketch::{branch, call, edge, graph, jump, module, op, param, pure, ret};

/// A graph of nothing but its shape: for each block the blocks that it leads to.
fn shape(edges: &[&[usize]]) -> Graph {
    let mut g = graph("f", 0, edges.len());
    for (from, to) in edges.iter().enumerate() {
        match to {
            [] => ret(&mut g, from, Operand::int(0)),
            [one] => jump(&mut g, from, *one, &[]),
            [one, two] => branch(&mut g, from, Operand::int(1), edge(*one, &[]), edge(*two, &[])),
            many => {
                let cases = many.iter().skip(1).enumerate().map(|(i, to)| (i as i64, edge(*to, &[]))).collect();
                let (value, default) = (Operand::int(0), edge(many[0], &[]));
                g.blocks[from].term =
                    Terminator::Switch { value, cases, default, time: crate::ir::Time::Now, promotion: false };
            }
        }
    }
    g
}

fn order(edges: &[&[usize]]) -> Vec<u32> {
    Order::new(&shape(edges)).blocks.iter().map(|b| b.0).collect()
}

fn b(i: u32) -> BlockId {
    BlockId(i)
}

#[test]
fn joins_come_after_their_arms() {
    assert_eq!(order(&[&[1, 2], &[3], &[3], &[]]), [0, 1, 2, 3]);
    assert_eq!(order(&[&[1, 3], &[2], &[3], &[]]), [0, 1, 2, 3]);
    assert_eq!(order(&[&[2, 1], &[2], &[]]), [0, 1, 2]);
}

#[test]
fn bodies_come_before_exits() {
    // A `while` whose head names the exit first: plain reverse postorder may take either first.
    assert_eq!(order(&[&[1], &[3, 2], &[1], &[]]), [0, 1, 2, 3]);
    assert_eq!(order(&[&[1], &[2, 3], &[1], &[]]), [0, 1, 2, 3]);
    // Nested, with a break out of both.
    let nested: &[&[usize]] = &[&[1], &[6, 2], &[5, 3], &[7, 4], &[2], &[1], &[7], &[]];
    let order = Order::new(&shape(nested));
    assert_eq!(order.blocks, [0, 1, 2, 3, 4, 5, 6, 7].map(b));
    let (outer, inner) = (order.loop_at(b(1)).unwrap(), order.loop_at(b(2)).unwrap());
    assert_eq!(outer.body.iter().collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(inner.body.iter().collect::<Vec<_>>(), [2, 3, 4]);
    assert_eq!((outer.depth, inner.depth, inner.parent), (0, 1, Some(0)));
    assert!(order.number_of(b(4)).unwrap() < inner.end && inner.end < order.number_of(b(5)).unwrap());
    assert!(order.number_of(b(5)).unwrap() < outer.end && outer.end < order.number_of(b(6)).unwrap());
    assert_eq!(order.loop_of(b(1)), Some(0));
    assert_eq!(order.loops_around(b(3)).collect::<Vec<_>>(), [1, 0]);
    assert!(order.is_back_edge(b(4), b(2)) && order.is_back_edge(b(5), b(1)));
    assert!(!order.is_back_edge(b(1), b(2)) && !order.is_back_edge(b(3), b(7)));
}

#[test]
fn loops_of_one_block_and_two_loops_in_a_row() {
    let order = Order::new(&shape(&[&[1], &[1, 2], &[3], &[4, 3], &[]]));
    assert_eq!(order.blocks, [0, 1, 2, 3, 4].map(b));
    assert_eq!(order.loops.len(), 2);
    assert_eq!(order.loops.iter().map(|l| l.head).collect::<Vec<_>>(), [b(1), b(3)]);
}

#[test]
fn irreducible_and_unreachable_blocks() {
    let order = Order::new(&shape(&[&[1, 2], &[2], &[1, 3], &[], &[3]]));
    assert_eq!(order.blocks.len(), 4);
    assert_eq!(order.number_of(b(4)), None);
    assert_eq!(order.loops.len(), 1);
    let l = &order.loops[0];
    assert!(l.body.contains(1) && l.body.contains(2) && l.end < order.number_of(b(3)).unwrap());
    assert_eq!(Order::new(&graph("empty", 0, 0)).blocks, []);
}

#[test]
fn dominators_and_predecessors() {
    let order = Order::new(&shape(&[&[1], &[2, 3], &[4], &[4], &[1, 5], &[]]));
    assert_eq!(order.immediate_dominator(b(4)), Some(b(1)));
    assert!(order.dominates(b(1), b(5)) && order.dominates(b(4), b(5)) && !order.dominates(b(2), b(4)));
    assert_eq!(order.predecessors(b(1)), [b(0), b(4)]);
    assert_eq!(order.immediate_dominator(b(0)), None);
}

#[test]
fn blocks_that_nothing_reaches_dominate_nothing() {
    let tree = Dominators::new(&shape(&[&[1, 2], &[2], &[1, 3], &[], &[3, 4]]));
    assert!(tree.has_loops() && tree.is_reachable(b(3)) && !tree.is_reachable(b(4)));
    assert!(tree.dominates(b(0), b(3)) && tree.dominates(b(2), b(3)) && !tree.dominates(b(1), b(2)));
    assert!([0, 4].iter().all(|other| !tree.dominates(b(*other), b(4)) && !tree.dominates(b(4), b(*other))));
    assert_eq!(tree.order(), [b(0), b(2), b(1), b(3)]);
    assert_eq!(tree.predecessors().of(b(3)), [b(2), b(4)]);
    assert_eq!(tree.children(b(0)), [b(2), b(1)]);
    assert_eq!(Dominators::new(&graph("empty", 0, 0)).order(), []);
}

/// In the body of a loop are those from which it comes back; of more than are asked for there is none.
#[test]
fn bodies_of_loops() {
    let before = Predecessors::new(&shape(&[&[1], &[2, 5], &[3, 4], &[1], &[1], &[]]));
    assert_eq!(before.body(b(1), &[b(3)], 8), Some(vec![b(1), b(2), b(3)]));
    assert_eq!(before.body(b(1), &[b(3), b(4)], 8), Some(vec![b(1), b(2), b(3), b(4)]));
    assert_eq!(before.body(b(1), &[b(3), b(4)], 3), None);
}

/// Every forward edge ascends, and every loop's numbers are contiguous, on many random shapes.
#[test]
fn the_order_is_weakly_topological() {
    let mut seed = 1u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % below
    };
    for _ in 0..500 {
        let n = 2 + random(12);
        let edges: Vec<Vec<usize>> = (0..n).map(|_| (0..random(3)).map(|_| 1 + random(n - 1)).collect()).collect();
        let g = shape(&edges.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let order = Order::new(&g);
        for from in &order.blocks {
            for to in g.block(*from).term.edges().map(|e| e.block) {
                let ascends = order.number_of(*from) < order.number_of(to);
                assert!(ascends || order.is_back_edge(*from, to), "{edges:?}: {from} {to}");
            }
        }
        for l in &order.loops {
            let head = order.number_of(l.head).unwrap();
            let last = l.body.iter().filter_map(|i| order.number_of(b(i as u32))).max().unwrap();
            assert_eq!(last, head + 2 * (l.body.len() as u32 - 1));
            assert_eq!(l.end, last + 1);
        }
    }
}

#[test]
fn liveness_at_every_position() {
    let mut g = graph("f", 2, 4);
    let (p0, p1): (Operand, Operand) = (g.entry_params()[0].into(), g.entry_params()[1].into());
    jump(&mut g, 0, 1, &[p0]);
    let i = param(&mut g, 1);
    op(&mut g, 1, Opcode::MergePoint, &[i], Imm::None);
    branch(&mut g, 1, p1, edge(2, &[]), edge(3, &[]));
    let less = pure(&mut g, 2, Opcode::IntSub, &[i, Operand::int(1)]);
    let unused = pure(&mut g, 2, Opcode::IntSub, &[i, Operand::int(2)]);
    jump(&mut g, 2, 1, &[less]);
    ret(&mut g, 3, Operand::int(1));
    let live = Liveness::new(&g);
    let ids = |vs: &[Operand]| vs.iter().filter_map(|v| v.value()).collect::<Vec<ValueId>>();
    assert_eq!(live.live_in(b(0)), ids(&[p0, p1]));
    assert_eq!(live.live_in(b(1)), ids(&[p1, i]));
    // The merge point is the last use of `i` on the way out, but the body still needs it.
    assert_eq!(live.live_before(b(1), 1), ids(&[p1, i]));
    assert_eq!(live.live_before(b(2), 1), ids(&[p1, i, less]));
    assert_eq!(live.live_before(b(2), 2), ids(&[p1, less]));
    assert_eq!(live.live_in(b(3)), []);
    assert!(!live.is_live_before(b(2), 2, unused.value().unwrap()));
}

#[test]
fn call_graphs() {
    let mut graphs = Vec::new();
    for (key, callee) in [("even", "odd"), ("odd", "even"), ("main", "even"), ("leaf", "libm::exp"), ("me", "me")] {
        let mut g = graph(key, 0, 1);
        let r = call(&mut g, 0, callee, &[]);
        ret(&mut g, 0, r);
        graphs.push(g);
    }
    let calls = CallGraph::new(&module(graphs));
    let at = |groups: &[Vec<usize>], graph| groups.iter().position(|group| group.contains(&graph)).unwrap();
    assert_eq!(at(calls.groups(), 0), at(calls.groups(), 1));
    assert!(at(calls.groups(), 0) < at(calls.groups(), 2));
    assert_eq!((0..5).map(|g| calls.is_recursive(g)).collect::<Vec<_>>(), [true, true, false, false, true]);
    assert_eq!((calls.callees(2), calls.reachable(2)), (vec![0], vec![0, 1, 2]));
}
