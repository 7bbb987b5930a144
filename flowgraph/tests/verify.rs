//! The verifier: each line of the table breaks one rule, and the message names it with its place.

use flowgraph::ir::*;
use flowgraph::text::parse_module;
use flowgraph::verify::verify;

fn messages(module: &Module) -> Vec<String> {
    verify(module).err().into_iter().flatten().map(|violation| violation.to_string()).collect()
}

fn parse(text: &str) -> Module {
    parse_module(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Each case: `# expected message` lines, then the text of a module, up to an empty line.
const BROKEN: &str = include_str!("verify/broken.txt");

#[test]
fn every_broken_text_gives_its_messages_and_no_others() {
    let cases: Vec<&str> = BROKEN.split("\n\n").filter(|case| !case.trim().is_empty()).collect();
    assert!(cases.len() > 50);
    for case in cases {
        let expected: Vec<&str> = case.lines().filter_map(|line| line.strip_prefix("# ")).collect();
        let text: String = case.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
        assert_eq!(messages(&parse(&text)), expected, "{text}");
    }
}

const GOOD: &str = "module compiler
struct Frame { #[green] ip: i64 @0 } size 8 align 8
data T: [i64; 1] = x\"0000000000000000\"
graph run#gr(pc: int, x: int) -> int {
    attributes portal(greens(0), reds(1))
b0(v0: int g, v1: int r):
    jump b1(v0, v1)
b1(v2: int g, v3: int r):
    global_merge
    merge_point v2, v3
    v4 g = getarrayitem &T, v2 {[i64] i64 +0 *8 imm}
    v5 g = getfield v2 {Frame.ip i64 +0 excl}
    v6 g = emit promote v3
    v7: int g = inline g#r(v3)
    v8: int g = fold_elidable libm::oops(v4)
    v9: int r = emit residual g(v3)
    local_merge
    split v3, b2, b3(v4)
b2:
    jump b1(v4, v3)
b3(v10: int r):
    switch v5 [0: b4, 1: b2], b4
b4:
    return v10
}
graph g#r(x: int) -> int {
b0(v0: int r):
    v1 g = emit promote v0
    return v1
}
graph g(x: int) -> int {
b0(v0: int):
    return v0
}
";

#[test]
fn what_is_well_is_not_complained_about() {
    let module = parse(&GOOD.replace("fold_elidable libm::oops(v4)", "fold g(v4)"));
    assert_eq!(messages(&module), [""; 0]);
    assert_eq!(
        messages(&parse(GOOD)),
        ["graph run#gr, b1, op 5 (v8: int g = fold_elidable libm::oops(v4)): there is no function libm::oops"]
    );
}

/// What text can't express.
#[test]
fn broken_numbers_are_found() {
    let text = "graph f(x: int) -> int {\nb0(v0: int):\n v1 = int_neg v0\n jump b1\nb1:\n return v1\n}";
    let check = |change: fn(&mut Graph), expected: &str| {
        let mut module = parse(text);
        change(&mut module.graphs["f"]);
        let found = messages(&module);
        assert!(found.iter().any(|message| message.contains(expected)), "{expected}: {found:?}");
    };
    check(
        |g| g.blocks[0].ops[0].args[0] = Operand::Value(ValueId(9)),
        "b0, op 0 (v1 = int_neg v9): there is no value v9",
    );
    check(|g| g.blocks[0].params.push(ValueId(9)), "b0: there is no value v9");
    check(
        |g| g.blocks[0].term = Terminator::Jump(Edge::new(BlockId(7), [])),
        "b0, op 1 (jump b7): there is no block b7",
    );
    check(|g| g.blocks[0].ops[0].args[0] = Operand::Const(Const::Addr(DataId(3), 0)), "there is no data item 3");
    check(|g| g.blocks[0].ops[0].imm = Imm::Call(Callee::plain("f")), "int_neg needs nothing, but has a callee");
    check(|g| g.blocks[0].ops[0].opcode = Opcode::Call, "call needs a callee, but has nothing");
    check(|g| g.blocks.clear(), "the graph has no blocks");
    let names = |g: &mut Graph| {
        g.names.push(NameDef { name: "x".to_owned(), loc: Loc::UNKNOWN, values: vec![Operand::Value(ValueId(9))] });
    };
    check(names, "there is no value v9");
    let marks = |at: &[u32]| at.iter().map(|at| Mark { at: *at, kind: MarkKind::LocalMerge }).collect::<Vec<_>>();
    let mut module = parse(&text.replace("v0: int", "v0: int r").replace("v1 =", "v1 r = emit"));
    module.stage = Stage::Compiler;
    assert_eq!(messages(&module), [""; 0]);
    module.graphs["f"].blocks[0].marks = marks(&[1, 0]);
    assert_eq!(messages(&module), ["graph f, b0: the marks don't ascend"]);
    module.graphs["f"].blocks[0].marks = marks(&[2]);
    assert_eq!(messages(&module), ["graph f, b0: a mark before op 2 of 1"]);
}
