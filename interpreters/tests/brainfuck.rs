//! The laws of the domains of Brainfuck, on random programs; and what the parser refuses.

use hueshift::io::{self, Io};
use interpreters::brainfuck::{C, Domain, Peephole, Rows, Sequence, Text, ast, lang, parse, rows, tree};
use interpreters::find;
use proptest::prelude::*;

/// How a program ends on the machine below: whether by itself, what it has written, where it stands, and its tape.
#[derive(Clone, Debug, PartialEq, Eq)]
enum End {
    Done(Vec<u8>, usize, Vec<u8>),
    LeftTape,
    TooLong,
}

/// The plainest machine there is: no folding, no idioms.
fn reference(text: &str, input: &[u8], cells: usize, mut steps: u64) -> End {
    let code: Vec<u8> = text.bytes().filter(|b| b"+-<>,.[]".contains(b)).collect();
    let mut partner = vec![0; code.len()];
    let mut open = Vec::new();
    for (at, command) in code.iter().enumerate() {
        match command {
            b'[' => open.push(at),
            b']' => {
                let start = open.pop().expect("brackets in pairs");
                (partner[start], partner[at]) = (at, start);
            }
            _ => {}
        }
    }
    let (mut tape, mut output, mut input) = (vec![0u8; cells], Vec::new(), input.iter());
    let (mut pc, mut at) = (0, 0usize);
    while let Some(command) = code.get(pc) {
        steps -= 1;
        if steps == 0 {
            return End::TooLong;
        }
        match command {
            b'>' => at = at.wrapping_add(1),
            b'<' => at = at.wrapping_sub(1),
            _ if at >= cells => return End::LeftTape,
            b'+' => tape[at] = tape[at].wrapping_add(1),
            b'-' => tape[at] = tape[at].wrapping_sub(1),
            b',' => tape[at] = input.next().copied().unwrap_or(0),
            b'.' => output.push(tape[at]),
            b'[' if tape[at] == 0 => pc = partner[pc],
            b']' if tape[at] != 0 => pc = partner[pc],
            _ => {}
        }
        pc += 1;
    }
    End::Done(output, at, tape)
}

fn text(program: &str) -> Sequence<u8> {
    parse(&mut Text, program).expect("brackets in pairs")
}

fn optimized(program: &str) -> String {
    let mut domain = Peephole::new(Text);
    let program = parse(&mut domain, program).expect("brackets in pairs");
    Text::show(&domain.finish(program))
}

/// Programs with brackets in pairs, and comments.
fn programs() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[+-]{1,4}",
        4 => "[<>]{1,3}",
        1 => "[,.]",
        1 => Just(" a comment\n".to_owned()),
        1 => Just("[-]".to_owned()),
        1 => Just("[->+<]".to_owned()),
        1 => Just("[->++>+++<<]".to_owned()),
        1 => Just("[<+>+]".to_owned()),
    ];
    let flat = prop::collection::vec(piece, 0..8).prop_map(|p| p.concat());
    flat.prop_recursive(3, 40, 4, |inner| {
        prop::collection::vec(prop_oneof![3 => inner.clone(), 2 => inner.prop_map(|p| format!("[{p}]"))], 1..4)
            .prop_map(|p| p.concat())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_text_of_a_program_is_the_program(program in programs()) {
        let bare: String = program.chars().filter(|c| "+-<>,.[]".contains(*c)).collect();
        prop_assert_eq!(Text::show(&text(&program)), bare);
    }

    #[test]
    fn texts_are_a_monoid(a in programs(), b in programs(), c in programs()) {
        let mut d = Text;
        let [a, b, c] = [a, b, c].map(|p| text(&p));
        let unit = d.unit();
        prop_assert_eq!(&d.join(unit.clone(), a.clone()), &a);
        prop_assert_eq!(&d.join(a.clone(), unit), &a);
        let (ab, bc) = (d.join(a.clone(), b.clone()), d.join(b, c.clone()));
        prop_assert_eq!(d.join(ab, c), d.join(a, bc));
    }

    #[test]
    fn what_the_optimizer_makes_is_a_monoid(a in programs(), b in programs(), c in programs()) {
        let mut d = Peephole::new(Text);
        let [a, b, c] = [a, b, c].map(|p| parse(&mut d, &p).expect("brackets in pairs"));
        let unit = d.unit();
        prop_assert_eq!(&d.join(unit.clone(), a.clone()), &a);
        prop_assert_eq!(&d.join(a.clone(), unit), &a);
        let (ab, bc) = (d.join(a.clone(), b.clone()), d.join(b, c.clone()));
        prop_assert_eq!(d.join(ab, c), d.join(a, bc));
    }

    #[test]
    fn optimizing_again_changes_nothing(program in programs()) {
        let once = optimized(&program);
        prop_assert_eq!(optimized(&once), once);
    }

    /// Output, tape and place are those of the program as it is, unless that leaves the tape.
    #[test]
    fn the_optimizer_keeps_the_meaning(program in programs(), input in prop::collection::vec(any::<u8>(), 0..4)) {
        let end = reference(&program, &input, 40, 20_000);
        if matches!(end, End::Done(..)) {
            prop_assert_eq!(reference(&optimized(&program), &input, 40, 20_000_000), end);
        }
    }

    /// All interpreters do what the optimized program does.
    #[test]
    fn interpreters_keep_the_meaning(program in programs(), input in prop::collection::vec(any::<u8>(), 0..4)) {
        let End::Done(output, _, tape) = reference(&program, &input, 40, 20_000) else { return Ok(()) };
        let (rows, tree) = (rows(program.as_bytes()).expect("pairs"), tree(program.as_bytes()).expect("pairs"));
        let mut own = vec![0; 40];
        let (_, io) = io::with(Io::bytes(&input[..]), || lang::bf(&rows, &mut own));
        prop_assert_eq!((io.output(), &own), (&output[..], &tape));
        let mut own = vec![0; 40];
        let (_, io) = io::with(Io::bytes(&input[..]), || ast::bf_ast(&tree.nodes, tree.first, tree.end, &mut own));
        prop_assert_eq!((io.output(), &own), (&output[..], &tape));
    }

    #[test]
    fn brackets_lead_to_their_partners(program in programs()) {
        let rows = Rows::finish(parse(&mut Rows, &program).expect("brackets in pairs"));
        for (at, insn) in rows.iter().enumerate() {
            use interpreters::brainfuck::Code::{Close, Open};
            if matches!(insn.code, Open | Close) {
                let partner = usize::try_from(insn.to).expect("a place") - 1;
                prop_assert_eq!(rows[partner].to, at as i64 + 1);
                prop_assert!((insn.code == Open) == (partner > at) && rows[partner].code != insn.code);
            }
        }
    }
}

#[test]
fn idioms_are_found() {
    for (program, wanted) in [
        ("+++---", ""),
        ("><", ""),
        ("+[-]", "[-]"),
        ("[+]", "[-]"),
        ("[+++]", "[-]"),
        ("[--]", "[--]"),
        ("[[-]]", "[-]"),
        ("[[[>]]]", "[>]"),
        ("[-][-][>+]", "[-]"),
        ("[>+<-]", "[->+<]"),
        ("[+>-<]", "[->+<]"),
        ("[-<<++>+>]", "[-<<++>+>]"),
        ("[>+>+<<-][-]", "[->+>+<<]"),
        ("[->+<+-]", "[->+<]"),
        ("[->+>+>+<<<]", "[->+>+>+<<<]"),
        (",[.,]", ",[.,]"),
    ] {
        assert_eq!(optimized(program), wanted, "{program}");
    }
}

#[test]
fn rows_are_arguments() {
    let bf = find("bf").expect("it is bundled");
    assert_eq!(
        bf.load_text("++ [->+++<] .", &["7"]),
        Ok("[{code:Code::Plus,by:2,by2:0,to:0,to2:0},{code:Code::ScaleMove,by:3,by2:0,to:1,to2:0},\
            {code:Code::Output,by:0,by2:0,to:0,to2:0}],[0; 7]"
            .to_owned())
    );
    assert!(bf.load_text("+", &[]).expect("cells are optional").ends_with("[0; 30000]"));
    for cells in ["0", "-1", "x", "99999999999"] {
        let error = bf.load_text("+", &[cells]).expect_err("no such tape").to_string();
        assert!(error.starts_with(&format!("a tape can't have `{cells}` cells")), "{error}");
    }
    let many = bf.load_text("+", &["1", "2"]).expect_err("too many").to_string();
    assert!(many.starts_with("bf takes 0 to 1 argument for its program, here are 2"), "{many}");
}

#[test]
fn brackets_without_a_partner_are_refused_with_their_places() {
    let bf = find("bf").expect("it is bundled");
    let error = bf.load_text("é]+[\n [[-]\n ]] ]", &[]).expect_err("three are wrong");
    let shown: Vec<String> =
        error.problems.iter().map(|p| p.to_string().lines().next().unwrap_or_default().to_owned()).collect();
    assert_eq!(shown, ["1:2: this `]` has no `[`", "3:5: this `]` has no `[`"]);
    let error = bf.load_text("[\n  +[", &[]).expect_err("two are wrong");
    let spans: Vec<_> = error.problems.iter().filter_map(|p| p.span).map(|s| (s.line, s.column, s.offset)).collect();
    assert_eq!(spans, [(1, 1, 0), (2, 4, 5)]);
}

#[test]
fn brackets_nest_as_deeply_as_there_is_memory() {
    let deep = 500_000;
    let program = format!("{}-{}", "[>".repeat(deep), "<]".repeat(deep));
    assert_eq!(Text::show(&text(&program)), program);
    assert_eq!(optimized(&program).len(), program.len());
    let mut rows = Peephole::new(Rows);
    let parsed = parse(&mut rows, &program).expect("brackets in pairs");
    assert_eq!(Rows::finish(rows.finish(parsed)).len(), 4 * deep + 1);
    let error = parse(&mut Text, &"[".repeat(deep)).expect_err("none is closed");
    assert_eq!(error.problems.len(), deep);
}

#[test]
fn programs_in_c() {
    let mut domain = Peephole::new(C { checked: false });
    let program = parse(&mut domain, "+>+[->++<]<[>.]").expect("brackets in pairs");
    let program = domain.finish(program);
    let text = C { checked: false }.finish(&program, 100);
    for line in
        ["CELL(0) += 1;", "CELL(1) += 1;", "CELL(2) += CELL(1) * 2;", "CELL(1) = 0;", "while (CELL(0)) {", "p += 1;"]
    {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}
