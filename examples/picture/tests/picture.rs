//! A picture that is known is one straight function, and draws what the evaluator draws.

use hueshift::embed::Jit;
use hueshift::flowgraph::ir::{Effect, Graph, Opcode};
use picture::{lang, read};

const FACE: &str = include_str!("../pictures/face.vm");

/// Another picture, which is not part of this crate.
const OTHER: &str = "HUESHIFT_PICTURE";

fn straight(text: &str) -> Graph {
    let ops = read(text).expect("a picture");
    let graphs = lang::residual::value(&ops).expect("it is compiled");
    assert_eq!(graphs.module().graphs.len(), 1, "nothing is called");
    graphs.module().graphs[0].clone()
}

fn drawn(text: &str, size: usize) {
    let ops = read(text).expect("a picture");
    let (mut compiled, mut wanted) = (vec![0; size * size], vec![0; size * size]);
    lang::interp::draw(&ops, size, &mut wanted).expect("no trap");
    lang::aot::draw(&mut Jit::new(&lang::INTERPRETER), &ops, size, &mut compiled).expect("no trap");
    assert_eq!(compiled, wanted);
    assert!(wanted.contains(&0) && wanted.contains(&255), "there is something to be seen");
}

#[test]
fn a_face_is_one_straight_function() {
    let graph = straight(FACE);
    assert_eq!(graph.blocks.len(), 1);
    let ops = || graph.blocks[0].ops.iter().map(|op| op.opcode);
    assert!(ops().all(|opcode| opcode.effect() == Effect::Pure), "{:?}", ops().collect::<Vec<_>>());
    assert_eq!(ops().filter(|opcode| *opcode == Opcode::SingleSqrt).count(), 5);
    drawn(FACE, 40);
}

/// Whoever draws sees only which side of 0 a point is on: a distance is held against a radius as squares.
#[test]
fn a_face_is_drawn_without_roots() {
    let ops = read(FACE).expect("a picture");
    let graphs = lang::residual::draw(&ops).expect("it is compiled");
    let all = graphs.module().graphs.iter().flat_map(|(_, graph)| &graph.blocks).flat_map(|block| &block.ops);
    let count = |opcode| all.clone().filter(|op| op.opcode == opcode).count();
    assert_eq!(count(Opcode::SingleSqrt), 0);
    assert!(count(Opcode::SingleMul) > 5);
}

#[test]
fn another_picture() {
    let Some(path) = std::env::var_os(OTHER) else {
        eprintln!("{OTHER} names no other picture: skipped");
        return;
    };
    let text = std::fs::read_to_string(path).expect("it can be read");
    assert_eq!(straight(&text).blocks.len(), 1);
    drawn(&text, 16);
}

#[test]
fn what_is_no_picture_is_refused_where_it_is_wrong() {
    let wrong = |text: &str| read(text).expect_err("refused").to_string();
    assert_eq!(wrong("\n# nothing\n"), "1: there are no operations");
    assert_eq!(wrong("_0 const 1\n_1 add _0"), "2: `add` takes 2 operands, 1 are given");
    assert_eq!(wrong("_0 const one"), "1: `one` is no number");
    assert_eq!(wrong("_0 neg _1"), "1: there is no `_1` above");
    assert_eq!(wrong("_0 var-x\n\n_0 var-y"), "3: `_0` is there twice");
    assert_eq!(wrong("_0"), "1: a line is a name, an operation and its operands: `_2 add _0 _1`");
}
