//! The text format: what is printed is what was read, nonsense is refused in words, and nothing panics.

use flowgraph::ir::*;
use flowgraph::text::*;
use proptest::prelude::*;

const EVERY: &str = include_str!("text/every.txt");

#[test]
fn a_text_with_everything_in_it_is_read_and_printed_the_same() {
    let module = parse_module(EVERY).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(module.graphs["plus_minus#gr"].attributes.doc, "\n A \"doc\"\ttext.");
    let printed = print_module(&module);
    assert_eq!(parse_module(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}")), module);
    for graph in module.graphs.values() {
        let text = print_graph(&module, graph);
        assert_eq!(&parse_graph(&text, &module).unwrap_or_else(|e| panic!("{e}\n{text}")), graph);
        let short = print_graph_short(&module, graph);
        let again = parse_graph(&short, &module).unwrap_or_else(|e| panic!("{e}\n{short}"));
        assert_eq!(print_graph_short(&module, &again), short);
        assert_eq!(again.blocks.len(), graph.blocks.len());
    }
}

#[test]
fn the_short_form_is_that_of_the_book() {
    let text = "graph plus_minus(x: int, y: int) -> int {
b0(v0: int, v1: int):
    v2 = int_add v0, v1
    v3 = int_sub v2, v1
    return v3
}
";
    let module = Module::default();
    let graph = parse_graph(text, &module).unwrap();
    assert_eq!(print_graph_short(&module, &graph), text);
    assert_eq!(print_graph(&module, &graph), text);
}

#[test]
fn renumbering_follows_the_reader() {
    let text = "graph f(x: int) -> int {
b0(v9: int):
    branch v9, b5, b2
b1:
    return v3
b2:
    v3 = int_neg v9
    jump b1
b3:
    jump b3
b4:
    return v7
b5:
    v7 = int_add v9, 1
    jump b4
name gone = v12
name y = v7
    unused v12: int
}
";
    let module = Module::default();
    let graph = renumber(&parse_graph(text, &module).unwrap());
    let expected = "graph f(x: int) -> int {
b0(v0: int):
    branch v0, b1, b3
b1:
    v1 = int_add v0, 1
    jump b2
b2:
    return v1
b3:
    v2 = int_neg v0
    jump b4
b4:
    return v2
name y = v1
}
";
    assert_eq!(print_graph(&module, &graph), expected);
    assert_eq!(renumber(&graph), graph);
}

/// Each line: a body of a graph, and what is said about it.
const REFUSED: &[(&str, &str)] = &[
    ("b0:\n v1 = int_ad 1, 2\n return", "2:7: there is no op `int_ad`; did you mean `int_add`?"),
    ("b0:\n v1 = int_add 1, v7\n return", "2:18: v7 is not defined; define it, or use another value"),
    ("b0:\n jump b3", "2:7: there is no block b3"),
    ("b1:\n return", "block b0 is missing"),
    ("b0:\n return\nb0:\n return", "3:1: block b0 is there twice"),
    ("b0:\n v1 = call f()\n return", "2:2: the type of v1 isn't said; write `v1: int`"),
    ("b0:\n v1 = concrete v1\n return", "the type of v1 can't be found out"),
    ("b0:\n v1 = int_add 1, 2", "block b0 has no end"),
    ("b0:\n return 99999999999999999999", "`99999999999999999999` is no number"),
    ("b0:\n trap panic \"x\n", "a text without end"),
    ("b0:\n trap oops\n", "there is no trap `oops`"),
    ("b0:\n return &NONE\n", "there is no data `NONE`"),
    ("b0:\n v4000000000 = int_neg 1\n return", "v4000000000 is too large a number"),
    ("b0:\n v1 = int_neg 1\n v1: float = int_neg 1\n return", "v1 is defined twice, differently"),
    ("b0:\n return 1 2", "expected the end of the line, found `2`"),
    ("signature fn(x: i64", "expected `,`, found the end of the line"),
    ("b0:\n return float:0xg", "these are no bits of a float"),
];

#[test]
fn nonsense_is_refused_in_words() {
    for (body, expected) in REFUSED {
        let error = parse_graph(&format!("graph f() {{\n{body}\n}}"), &Module::default()).unwrap_err();
        // The lines are counted in the body.
        let shown = format!("{}:{}: {}; {}", error.line - 1, error.column, error.reason, error.remedy);
        assert!(shown.contains(expected), "{body}\n{shown}\ninstead of\n{expected}");
    }
    let deep = format!("data X: {}u8{} = x\"\"", "[".repeat(100_000), "; 1]".repeat(100_000));
    assert!(parse_module(&deep).unwrap_err().reason.contains("nested too deeply"));
    assert!(parse_module("graph f() {\n}\ngraph f() {\n}").unwrap_err().reason.contains("twice"));
    for references in ["@0 &T", "@4294967295 &T", "@1 &T", "@0 &T+1", "@0 &U"] {
        let text = format!("data T: u8 = x\"00\"\ndata P: &u8 = x\"{}\" {references}", "00".repeat(8));
        assert_eq!(parse_module(&text).is_ok(), references == "@0 &T", "{text}");
    }
}

/// The text with some of its words and lines gone, doubled, or put in each other's place.
fn mutate(text: &str, choices: &[(u8, u32, u32)]) -> String {
    let mut pieces: Vec<String> = Vec::new();
    for c in text.chars() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        match pieces.last_mut() {
            Some(last) if word(c) && last.ends_with(word) => last.push(c),
            _ => pieces.push(c.to_string()),
        }
    }
    for (kind, from, to) in choices {
        let (from, to) = (*from as usize % pieces.len(), *to as usize % pieces.len());
        match kind % 6 {
            0 => pieces[from] = String::new(),
            1 => pieces[from] = pieces[to].clone(),
            2 => pieces.swap(from, to),
            3 => pieces[from] = pieces[from].repeat(2),
            4 => {
                let line = pieces[from..].iter().position(|p| p == "\n").map_or(pieces.len(), |n| from + n);
                pieces[from..line].iter_mut().for_each(String::clear);
            }
            _ => pieces[from].push(char::from_u32(to as u32 % 0x300).unwrap_or('\u{1f600}')),
        }
    }
    pieces.concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn broken_texts_are_refused_or_read(choices in prop::collection::vec(any::<(u8, u32, u32)>(), 1..6)) {
        let text = mutate(EVERY, &choices);
        match parse_module(&text) {
            Ok(module) => {
                let printed = print_module(&module);
                prop_assert_eq!(parse_module(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}")), module);
            }
            Err(error) => {
                prop_assert!(!error.reason.is_empty() && !error.remedy.is_empty());
                prop_assert!(error.line as usize <= text.lines().count().max(1));
            }
        }
    }

    #[test]
    fn any_text_is_refused_or_read(text in "(graph f\\(\\) \\{\n)?\\PC{0,200}") {
        let _ = parse_module(&text);
    }
}

#[test]
fn a_function_of_the_host_is_its_signature() {
    let text = "module flow

graph prelude::put_byte(b: int) {
    doc \"Writes a byte to the output.\"
    signature fn(b: u8)
    attributes dont_look_inside pub
}

graph mixed(a.0: float, a.1: int, s: int, s.len: int) -> (int, float) {
    signature fn(a: (f64, i64), s: &[u8]) -> (i64, f64)
    attributes dont_look_inside
}
";
    let module = parse_module(text).unwrap_or_else(|e| panic!("{e}"));
    assert!(module.graphs.values().all(Graph::is_host));
    assert_eq!(print_module(&module), text);
}
