//! Structure of drawings, on graphs made by hand and at random.

use super::layout::{Layout, Link, Node, layout};
use super::{Drawing, dot, html, no_reasons, svg};
use crate::ir::*;
use crate::testing::Random;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// Builds graphs in few words.
struct Builder {
    graph: Graph,
    at: BlockId,
    line: u32,
}

impl Builder {
    fn new(key: &str, params: &[(&str, Option<Color>)]) -> Builder {
        let scalar = |name: &str| Param { name: name.into(), ty: RustType::Scalar(Scalar::I64) };
        let signature = Signature {
            params: params.iter().map(|(name, _)| scalar(name)).collect(),
            result: RustType::Scalar(Scalar::I64),
        };
        let mut graph = Graph::new(key, signature);
        graph.params = params.iter().map(|(name, _)| (*name).to_owned()).collect();
        graph.results = vec![Type::Int];
        let entry = graph.new_block();
        let mut builder = Builder { graph, at: entry, line: 1 };
        for (_, color) in params {
            builder.param(*color);
        }
        builder
    }

    fn value(&mut self, color: Option<Color>) -> ValueId {
        let v = self.graph.new_value(Type::Int);
        self.graph.values[v.index()].color = color;
        v
    }

    fn param(&mut self, color: Option<Color>) -> ValueId {
        let v = self.value(color);
        self.graph.block_mut(self.at).params.push(v);
        v
    }

    fn block(&mut self) -> BlockId {
        self.graph.new_block()
    }

    fn op(&mut self, opcode: Opcode, args: &[Operand], color: Option<Color>) -> Operand {
        let v = self.value(color);
        let time = if color == Some(Color::Red) { Time::Emit } else { Time::Now };
        let loc = Loc { file: FileId(0), line: self.line, column: 5 };
        let results: SmallVec<[ValueId; 2]> = smallvec![v];
        let op = Op { opcode, args: args.iter().copied().collect(), results, imm: Imm::None, time, loc };
        self.graph.block_mut(self.at).ops.push(op);
        v.into()
    }

    fn end(&mut self, term: Terminator) {
        let loc = Loc { file: FileId(0), line: self.line, column: 1 };
        let block = self.graph.block_mut(self.at);
        (block.term, block.loc) = (term, loc);
    }

    fn branch(&mut self, cond: Operand, then: BlockId, otherwise: BlockId) {
        let (then, otherwise) = (Edge::new(then, []), Edge::new(otherwise, []));
        self.end(Terminator::Branch { cond, then, otherwise, time: Time::Now });
    }

    fn trap(&mut self, message: &str) {
        let trap = Trap { kind: TrapKind::Panic, message: Some(message.into()), args: vec![], loc: Loc::UNKNOWN };
        self.end(Terminator::Trap(trap));
    }
}

fn module(stage: Stage, source: &str, graphs: impl IntoIterator<Item = Graph>) -> Module {
    Module {
        stage,
        files: vec![SourceFile { name: "sample.rs".into(), text: Some(Arc::from(source)) }],
        graphs: graphs.into_iter().map(|g| (g.key.clone(), g)).collect(),
        ..Module::default()
    }
}

const SOURCE: &str = "fn run(code: i64, len: i64, acc: i64, limit: i64) -> i64 {
    let mut pc = 0;
    loop {
        merge_point!();
        if pc >= len { return acc; }
        let op = (code >> (pc * 4)) & 0xF;
        match op {
            0 => acc += limit,
            1 => acc -= 1,
            2 => { while acc > limit { acc -= limit } }
            3 => { let c = promote(acc); acc = c * 3 }
            4 => if acc < limit { pc = 0; can_enter_jit!(); continue; }
            _ => panic!(\"bad opcode {} <at> {}\", op, pc),
        }
        pc += 1;
    }
}
";

/// An interpreter loop over a switch, with a loop inside, two ways back and a trap.
fn interpreter(stage: Stage) -> Module {
    let (g, r) = (Some(Color::Green), Some(Color::Red));
    let mut b = Builder::new("run", &[("code", g), ("len", g), ("acc", r), ("limit", r)]);
    let [code, len, acc0, limit] = [0, 1, 2, 3].map(|i| Operand::Value(ValueId(i)));
    b.graph.attributes.portal = Some(Portal { greens: vec![0, 1], reds: vec![2, 3] });
    b.graph.attributes.doc = "Runs a program of hexadecimal digits.".into();
    let [head, exit, body, bad, next] = [(); 5].map(|()| b.block());
    let cases = [(); 5].map(|()| b.block());
    let [while_head, while_body, back] = [(); 3].map(|()| b.block());
    b.line = 2;
    b.end(Terminator::Jump(Edge::new(head, [Operand::int(0), acc0])));
    b.at = head;
    let (pc, acc) = (b.param(g), b.param(r));
    b.graph.names.push(NameDef { name: "pc".into(), loc: Loc::UNKNOWN, values: vec![pc.into()] });
    b.graph.names.push(NameDef { name: "acc".into(), loc: Loc::UNKNOWN, values: vec![acc.into()] });
    let (pc, acc) = (Operand::Value(pc), Operand::Value(acc));
    b.graph.block_mut(head).marks.push(Mark { at: 0, kind: MarkKind::GlobalMerge });
    b.line = 5;
    let done = b.op(Opcode::IntGe, &[pc, len], g);
    b.branch(done, exit, body);
    b.at = exit;
    b.end(Terminator::Return(vec![acc]));
    b.at = body;
    b.line = 6;
    let shift = b.op(Opcode::IntMul, &[pc, Operand::int(4)], g);
    let shifted = b.op(Opcode::IntRshift, &[code, shift], g);
    let op = b.op(Opcode::IntAnd, &[shifted, Operand::int(15)], g);
    b.graph.names.push(NameDef { name: "op".into(), loc: Loc::UNKNOWN, values: vec![op] });
    b.line = 7;
    let ways = cases.iter().enumerate().map(|(i, c)| (i as i64, Edge::new(*c, [])));
    let ways = ways.chain([(5, Edge::new(next, [acc])), (6, Edge::new(next, [acc]))]).collect();
    let default = Edge::new(bad, []);
    b.end(Terminator::Switch { value: op, cases: ways, default, time: Time::Now, promotion: false });
    for (i, opcode) in [(0, Opcode::IntAdd), (1, Opcode::IntSub)] {
        (b.at, b.line) = (cases[i], 8 + i as u32);
        let sum = b.op(opcode, &[acc, if i == 0 { limit } else { Operand::int(1) }], r);
        b.end(Terminator::Jump(Edge::new(next, [sum])));
    }
    (b.at, b.line) = (cases[2], 10);
    b.end(Terminator::Jump(Edge::new(while_head, [acc])));
    b.at = while_head;
    let inner = Operand::Value(b.param(r));
    let more = b.op(Opcode::IntGt, &[inner, limit], r);
    b.branch(more, while_body, next);
    if let Terminator::Branch { otherwise, time, .. } = &mut b.graph.block_mut(while_head).term {
        otherwise.args.push(inner);
        *time = Time::Emit;
    }
    b.graph.block_mut(while_head).marks.push(Mark { at: 0, kind: MarkKind::LocalMerge });
    b.at = while_body;
    let less = b.op(Opcode::IntSub, &[inner, limit], r);
    b.end(Terminator::Jump(Edge::new(while_head, [less])));
    (b.at, b.line) = (cases[3], 11);
    let c = b.op(Opcode::Promote, &[acc], g);
    let tripled = b.op(Opcode::IntMul, &[c, Operand::int(3)], g);
    b.end(Terminator::Jump(Edge::new(next, [tripled])));
    (b.at, b.line) = (cases[4], 12);
    let less = b.op(Opcode::IntLt, &[acc, limit], r);
    b.branch(less, back, next);
    if let Terminator::Branch { otherwise, time, .. } = &mut b.graph.block_mut(cases[4]).term {
        otherwise.args.push(acc);
        *time = Time::Emit;
    }
    b.at = back;
    b.end(Terminator::Jump(Edge::new(head, [Operand::int(0), acc])));
    (b.at, b.line) = (bad, 13);
    b.trap("bad opcode {} <at> {}");
    (b.at, b.line) = (next, 15);
    let acc = Operand::Value(b.param(r));
    let pc = b.op(Opcode::IntAdd, &[pc, Operand::int(1)], g);
    b.end(Terminator::Jump(Edge::new(head, [pc, acc])));
    b.graph.block_mut(next).marks.push(Mark { at: 0, kind: MarkKind::LocalMerge });
    module(stage, SOURCE, [b.graph])
}

/// An interpreter with one case for each of `cases` instructions, each with a check.
fn many_cases(cases: usize) -> Module {
    let (g, r) = (Some(Color::Green), Some(Color::Red));
    let mut b = Builder::new("dispatch", &[("op", g), ("x", r)]);
    let [op, x] = [0, 1].map(|i| Operand::Value(ValueId(i)));
    let [head, next, bad] = [(); 3].map(|()| b.block());
    b.end(Terminator::Jump(Edge::new(head, [x])));
    b.at = head;
    let x = Operand::Value(b.param(r));
    let ways: Vec<BlockId> = (0..cases).map(|_| b.block()).collect();
    let edges = ways.iter().enumerate().map(|(i, w)| (i as i64, Edge::new(*w, []))).collect();
    let default = Edge::new(bad, []);
    b.end(Terminator::Switch { value: op, cases: edges, default, time: Time::Now, promotion: false });
    for (i, way) in ways.into_iter().enumerate() {
        (b.at, b.line) = (way, 2 + i as u32 % 12);
        let mut y = x;
        for _ in 0..1 + i % 4 {
            y = b.op(Opcode::IntAdd, &[y, Operand::int(i as i64)], r);
        }
        if i % 3 == 0 {
            let (bad, fine) = (b.block(), b.block());
            let zero = b.op(Opcode::IntIsZero, &[y], r);
            b.branch(zero, bad, fine);
            b.at = bad;
            b.trap("zero");
            b.at = fine;
        }
        b.end(Terminator::Jump(Edge::new(next, [y])));
    }
    b.at = bad;
    b.end(Terminator::Return(vec![x]));
    b.at = next;
    let y = Operand::Value(b.param(r));
    b.end(Terminator::Jump(Edge::new(head, [y])));
    module(Stage::Colored, SOURCE, [b.graph])
}

#[test]
fn a_wide_switch_is_folded() {
    let m = many_cases(60);
    let drawing = Drawing::new(&m, &m.graphs["dispatch"]);
    let (nodes, links) = drawing.boxes();
    check_layout(&nodes, &links, &drawing.layout);
    assert!(drawing.layout.width < 7000, "{}", drawing.layout.width);
}

/// A graph of about `ops` ops whose blocks end in structured ways: sequences, branches, loops, switches and checks.
fn structured(ops: usize, seed: u64) -> Module {
    let mut b = Builder::new("big", &[("x", Some(Color::Red)), ("n", Some(Color::Green))]);
    let mut random = Random(seed | 1);
    let (mut total, mut open) = (0, Vec::new());
    let mut pool = vec![Operand::Value(ValueId(0)), Operand::Value(ValueId(1))];
    while total < ops {
        for _ in 0..1 + random.below(6) {
            b.line = 1 + (total as u32 / 3) % 16;
            let (x, y) = (pool[random.below(pool.len())], pool[random.below(pool.len())]);
            let opcode = [Opcode::IntAdd, Opcode::IntMul, Opcode::IntXor, Opcode::IntLt][random.below(4)];
            let color = [Some(Color::Red), Some(Color::Green), Some(Color::Red), Some(Color::Blue)][random.below(4)];
            pool.push(b.op(opcode, &[x, y], color));
            pool.drain(..pool.len().saturating_sub(6));
            total += 1;
        }
        let cond = pool[pool.len() - 1];
        let next = b.block();
        match random.below(6) {
            0 | 1 => {
                let bad = b.block();
                b.branch(cond, bad, next);
                b.at = bad;
                b.trap("out of luck");
            }
            2 => {
                let (then, other) = (b.block(), b.block());
                b.branch(cond, then, other);
                for side in [then, other] {
                    b.at = side;
                    let x = b.op(Opcode::IntNeg, &[cond], Some(Color::Red));
                    b.end(Terminator::Jump(Edge::new(next, [])));
                    total += 1;
                    pool.push(x);
                }
            }
            3 if open.len() < 3 => {
                let head = b.block();
                b.end(Terminator::Jump(Edge::new(head, [])));
                b.at = head;
                b.branch(cond, next, next);
                open.push(head);
            }
            4 if !open.is_empty() => {
                let head = open.pop().unwrap();
                b.end(Terminator::Jump(Edge::new(head, [])));
                if let Terminator::Branch { otherwise, .. } = &mut b.graph.block_mut(head).term {
                    otherwise.block = next;
                }
            }
            _ => {
                let sides: Vec<BlockId> = (0..3 + random.below(4)).map(|_| b.block()).collect();
                let cases = sides.iter().enumerate().map(|(i, s)| (i as i64 * 7, Edge::new(*s, []))).collect();
                let default = Edge::new(next, []);
                b.end(Terminator::Switch { value: cond, cases, default, time: Time::Now, promotion: false });
                for side in sides {
                    b.at = side;
                    b.op(Opcode::IntAdd, &[cond, Operand::int(3)], Some(Color::Red));
                    b.end(Terminator::Jump(Edge::new(next, [])));
                    total += 1;
                }
            }
        }
        b.at = next;
    }
    b.end(Terminator::Return(vec![pool[0]]));
    module(Stage::Colored, SOURCE, [b.graph])
}

fn random_nodes(random: &mut Random, n: usize, edges: usize) -> (Vec<Node>, Vec<Link>) {
    let nodes: Vec<Node> = (0..n)
        .map(|_| {
            let (width, height) = (40 + random.below(300) as i32, 20 + random.below(200) as i32);
            Node { width, height, aside: random.below(4) == 0 }
        })
        .collect();
    let mut used = std::collections::HashSet::new();
    let mut links = Vec::new();
    for _ in 0..edges {
        let (from, to) = (random.below(n), random.below(n));
        let port = random.below(nodes[from].width as usize) as i32;
        // Entries have no predecessors, and two edges don't leave through one port.
        if to != 0 && used.insert((from, port)) {
            links.push(Link { from, port, to });
        }
    }
    (nodes, links)
}

fn check_layout(nodes: &[Node], links: &[Link], layout: &Layout) {
    let rects: Vec<(i32, i32, i32, i32)> =
        nodes.iter().zip(&layout.nodes).map(|(n, (x, y))| (*x, *y, x + n.width, y + n.height)).collect();
    for (i, a) in rects.iter().enumerate() {
        assert!(a.0 >= 0 && a.1 >= 0 && a.2 <= layout.width && a.3 <= layout.height, "{i} is outside");
        for b in &rects[i + 1..] {
            assert!(a.2 <= b.0 || b.2 <= a.0 || a.3 <= b.1 || b.3 <= a.1, "blocks overlap: {a:?} {b:?}");
        }
    }
    for (link, line) in links.iter().zip(&layout.lines) {
        let (from, to) = (rects[link.from], rects[link.to]);
        assert_eq!(line.first(), Some(&(from.0 + link.port, from.3)));
        let end = line.last().unwrap();
        assert!(end.1 == to.1 && to.0 <= end.0 && end.0 <= to.2, "{link:?} ends elsewhere: {line:?}");
        for ends in line.windows(2) {
            let ((x0, y0), (x1, y1)) = (ends[0], ends[1]);
            assert!(x0 == x1 || y0 == y1, "not at right angles: {line:?}");
            let (x0, x1, y0, y1) = (x0.min(x1), x0.max(x1), y0.min(y1), y0.max(y1));
            for r in &rects {
                assert!(x1 <= r.0 || r.2 <= x0 || y1 <= r.1 || r.3 <= y0, "{line:?} runs through {r:?}");
            }
        }
    }
}

#[test]
fn nothing_overlaps_in_random_layouts() {
    let mut random = Random(12345);
    for round in 0..300 {
        let n = 1 + random.below(4 + round / 8);
        let edges = random.below(n * 2 + 1);
        let (nodes, links) = random_nodes(&mut random, n, edges);
        check_layout(&nodes, &links, &layout(&nodes, &links));
    }
}

/// Checks that elements are closed in order, that attributes are quoted and that nothing is left unescaped; gives the
/// names of the elements.
fn elements(text: &str) -> Vec<String> {
    let (mut open, mut all): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let between = &rest[..at];
        assert!(!between.contains('>') || open.last().is_some_and(|e| e == "style"), "stray > in {between:?}");
        for (i, _) in between.match_indices('&') {
            assert!(between[i..].find(';').is_some_and(|end| end < 8), "stray & in {between:?}");
        }
        let end = at + rest[at..].find('>').expect("an end of the tag");
        let tag = &rest[at + 1..end];
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes in {tag}");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap().to_owned();
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_ref(), Some(&name));
        } else {
            all.push(name.clone());
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "never closed: {open:?}");
    all
}

/// What is between the tags, with `parts` such as titles and styles left out.
fn visible(svg: &str) -> String {
    let (mut out, mut rest) = (String::new(), svg);
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        let hidden = ["title", "style"].iter().find(|t| rest[at + 1..].starts_with(**t));
        let end =
            hidden.map_or_else(|| rest[at..].find('>').unwrap() + 1, |t| rest[at..].find(&format!("</{t}>")).unwrap());
        rest = &rest[at + end..];
    }
    out + rest
}

#[test]
fn every_block_value_and_edge_is_drawn() {
    let m = interpreter(Stage::Compiler);
    let graph = &m.graphs["run"];
    let picture = svg(&m, None, &no_reasons);
    let names = elements(&picture);
    let edges: usize = graph.blocks.iter().map(|b| b.term.edges().count()).sum();
    assert_eq!(picture.matches("class=\"card\"").count(), graph.blocks.len());
    // Cases 5 and 6 of the switch are one way.
    assert_eq!(picture.matches("class=\"edge\"").count(), edges - 1);
    assert_eq!(picture.matches("class=\"line back\"").count(), 3);
    for v in 0..graph.values.len() {
        assert!(picture.contains(&format!("data-v=\"{v}\"")), "v{v}");
    }
    assert!(names.iter().filter(|n| *n == "svg").count() == 1);
    let text = visible(&picture);
    for said in [
        "global_merge",
        "local_merge",
        "emit int_add",
        "split v17r",
        "promote",
        "5, 6",
        "v18r := v10r",
        "let op = (code",
        "bad opcode {} &lt;at&gt; {}",
        "portal(greens(code, len), reds(acc, limit))",
        "; op",
    ] {
        assert!(text.contains(said), "{said} is not in {text}");
    }
}

#[test]
fn dot_has_a_table_for_each_block_and_an_edge_for_each_way() {
    let m = interpreter(Stage::Compiler);
    let text = dot(&m, None);
    let tables = text.lines().filter_map(|l| l.split_once(" [label=<")?.1.strip_suffix(">];"));
    assert_eq!(tables.inspect(|table| drop(elements(table))).count(), m.graphs["run"].blocks.len());
    assert_eq!(text.matches(" -> ").count(), svg(&m, None, &no_reasons).matches("class=\"edge\"").count());
    assert_eq!(text.matches("penwidth").count(), 3);
    assert!(text.contains("<font color=\"#00704a\">v9<sup>g</sup></font>"));
}

#[test]
fn a_color_is_a_class_and_a_letter() {
    let picture = svg(&interpreter(Stage::Colored), Some("run"), &no_reasons);
    assert!(picture.contains("<tspan class=\"value g\" data-v=\"9\">v9<title>"));
    assert!(picture.contains("</title></tspan><tspan class=\"letter g\" dy=\"-4\">g</tspan>"));
    assert!(picture.contains("<tspan class=\"letter r\" dy=\"-4\">r</tspan>"));
}

#[test]
fn reasons_are_told() {
    let m = interpreter(Stage::Colored);
    let reasons =
        |key: &str, v: ValueId| (key == "run" && v.0 == 9).then(|| "green because </script> & \"so\"".to_owned());
    let picture = svg(&m, None, &reasons);
    elements(&picture);
    assert!(picture.contains("green because &lt;/script&gt; &amp; &quot;so&quot;"));
    assert!(picture.contains("v9: int, green&#10;in the source: op&#10;defined in b3 at sample.rs:6:5"));
    let page = html(&m, None, &reasons);
    assert!(page.contains("green because \\u003c/script\\u003e \\u0026 \\\"so\\\""));
    assert_eq!(page.matches("</script>").count(), 2);
}

#[test]
fn hostile_text_stays_text() {
    let mut m = interpreter(Stage::Colored);
    let evil = "</text></title><script>alert(1)</script>\u{1}]]>&\"'";
    m.files[0] = SourceFile { name: evil.into(), text: Some(Arc::from(evil.repeat(6))) };
    let mut graph = m.graphs.shift_remove("run").unwrap();
    (graph.key, graph.function, graph.attributes.doc) = (evil.into(), evil.into(), evil.into());
    graph.names[0].name = evil.into();
    graph.params[0] = evil.into();
    graph.signature.params[0].name = evil.into();
    graph.blocks.iter_mut().for_each(|b| b.ops.iter_mut().for_each(|op| op.loc.line = 1));
    let callee = Imm::Call(Callee::plain(evil));
    graph.blocks[0].ops.push(Op {
        opcode: Opcode::Call,
        args: smallvec![],
        results: smallvec![],
        imm: callee,
        time: Time::Now,
        loc: Loc::UNKNOWN,
    });
    m.graphs.insert(evil.into(), graph);
    let reasons = |_: &str, _: ValueId| Some(evil.to_owned());
    let picture = svg(&m, None, &reasons);
    assert!(elements(&picture).iter().all(|n| n != "script"));
    let page = html(&m, None, &reasons);
    assert_eq!(page.matches("<script").count(), 2);
    assert!(!page.contains("alert(1)</script>"));
    let dots = dot(&m, None);
    assert!(!dots.contains("<script>"));
}

#[test]
fn the_same_graph_gives_the_same_drawing() {
    let (a, b) = (structured(150, 5), structured(150, 5));
    assert_eq!(svg(&a, None, &no_reasons), svg(&b, None, &no_reasons));
    assert_eq!(html(&a, None, &no_reasons), html(&b, None, &no_reasons));
    assert_eq!(dot(&a, None), dot(&b, None));
}

#[test]
fn nothing_overlaps_in_structured_graphs() {
    for seed in 0..12 {
        let m = structured(20 + 30 * seed as usize, seed);
        let drawing = Drawing::new(&m, &m.graphs["big"]);
        let (nodes, links) = drawing.boxes();
        check_layout(&nodes, &links, &drawing.layout);
        assert!(drawing.layout.back.iter().filter(|b| **b).count() <= 3 + m.graphs["big"].blocks.len() / 8);
        elements(&svg(&m, None, &no_reasons));
    }
}

#[test]
fn empty_modules_and_unknown_names() {
    let empty = Module::default();
    assert!(visible(&svg(&empty, None, &no_reasons)).contains("no graphs"));
    assert!(html(&empty, None, &no_reasons).contains("There are no graphs."));
    assert!(dot(&empty, None).starts_with("digraph"));
    let m = interpreter(Stage::Flow);
    assert!(visible(&svg(&m, Some("<x>"), &no_reasons)).contains("no graph named &lt;x&gt;"));
    // A graph without blocks, and one that refers to what isn't there.
    let mut broken = Builder::new("broken", &[]);
    broken.end(Terminator::Jump(Edge::new(BlockId(7), [Operand::Value(ValueId(99))])));
    let none = Graph::new("none", broken.graph.signature.clone());
    let m = module(Stage::Flow, "", [broken.graph, none]);
    elements(&svg(&m, None, &no_reasons));
    html(&m, None, &no_reasons);
    dot(&m, None);
}

#[test]
fn two_thousand_ops_are_quick_and_a_long_chain_is_no_recursion() {
    let m = structured(2000, 9);
    let start = std::time::Instant::now();
    let picture = svg(&m, None, &no_reasons);
    // A quarter of a second where it is optimized; tests aren't, and may share the machine.
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
    assert!(picture.len() > 100_000);
    let mut chain = Builder::new("chain", &[]);
    for _ in 0..5000 {
        let next = chain.block();
        chain.end(Terminator::Jump(Edge::new(next, [])));
        chain.at = next;
    }
    svg(&module(Stage::Residual, "", [chain.graph]), None, &no_reasons);
}
