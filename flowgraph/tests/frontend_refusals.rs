//! What isn't in the dialect is refused, at its place, all at once; and nothing that can be typed panics.

use flowgraph::frontend::{Reason, lift, lift_for};
use flowgraph::testing::Random;
use std::collections::BTreeSet;

/// Every line with a comment `//~ reason` is refused for that reason, and no other is.
fn check(name: &str, text: &str) {
    let mut expected = BTreeSet::new();
    for (i, line) in text.lines().enumerate() {
        for reason in line.split("//~ ").skip(1) {
            expected.insert((i as u32 + 1, reason.trim().to_owned()));
        }
    }
    let refused = lift(&[(name, text)]).expect_err("refused");
    let found: BTreeSet<(u32, String)> =
        refused.refusals.iter().map(|r| (r.loc.line, r.reason.id().to_owned())).collect();
    for refusal in &refused.refusals {
        let (line, column) = (refusal.loc.line, refusal.loc.column);
        let shown = refusal.render();
        assert!(shown.starts_with(&format!("{name}:{line}:{column}: ")), "{shown}");
        assert!(
            line > 0 && column > 0 && Some(refusal.line.as_str()) == text.lines().nth(line as usize - 1),
            "{shown}"
        );
        assert!(shown.contains('^') && shown.ends_with(&format!("= {}", refusal.remedy)), "{shown}");
        assert!(!refusal.remedy.is_empty() && !refusal.message.contains("{}"), "{shown}");
    }
    let missing: Vec<_> = expected.difference(&found).collect();
    let unexpected: Vec<_> = refused
        .refusals
        .iter()
        .filter(|r| !expected.contains(&(r.loc.line, r.reason.id().to_owned())))
        .map(|r| r.render())
        .collect();
    assert!(
        missing.is_empty() && unexpected.is_empty(),
        "missing: {missing:?}\nunexpected:\n{}",
        unexpected.join("\n")
    );
}

#[test]
fn constructs_outside_of_the_dialect() {
    check("language.rs", include_str!("frontend/refused/language.rs"));
}

#[test]
fn what_only_lowering_finds() {
    check("lowering.rs", include_str!("frontend/refused/lowering.rs"));
}

#[test]
fn portals_that_break_the_contract() {
    check("portals.rs", include_str!("frontend/refused/portals.rs"));
}

#[test]
fn what_else_rust_has() {
    check("besides.rs", include_str!("frontend/refused/besides.rs"));
}

#[test]
fn hints_that_say_nothing() {
    check("hints.rs", include_str!("frontend/refused/hints.rs"));
}

#[test]
fn what_rustc_refuses_too() {
    check("rustc.rs", include_str!("frontend/refused/rustc.rs"));
}

/// Every reason is that of a line of these files; the others have tests of their own here and in `frontend_modules.rs`.
#[test]
fn every_reason_is_given() {
    let sources = [
        include_str!("frontend/refused/language.rs"),
        include_str!("frontend/refused/lowering.rs"),
        include_str!("frontend/refused/portals.rs"),
        include_str!("frontend/refused/besides.rs"),
        include_str!("frontend/refused/rustc.rs"),
        include_str!("frontend/refused/hints.rs"),
    ];
    let given = |reason: &Reason| sources.iter().any(|s| s.contains(&format!("//~ {}\n", reason.id())));
    let elsewhere = [Reason::Syntax, Reason::Nesting, Reason::ModuleFile, Reason::Entry];
    let never: Vec<_> = Reason::ALL.iter().filter(|r| !given(r) && !elsewhere.contains(r)).collect();
    assert!(never.is_empty(), "{never:?}");
}

#[test]
fn a_refusal_shows_place_line_caret_and_remedy() {
    let refused =
        lift(&[("x.rs", "fn f(x: i64) -> i64 {\n    let add = |y: i64| x + y;\n    add(3)\n}\n")]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "x.rs:2:15: closures are not supported [closure]\n  |\n2 |     let add = |y: i64| x + y;\n  |               ^^^^^^^^^^^^^^\n  = \
         write a function and hand it what the closure captures"
    );
}

#[test]
fn syntax_errors_have_places() {
    for (text, place) in [
        ("fn f( {", "x.rs:1:7"),
        ("fn f() { 1 + }", "x.rs:1:14"),
        ("fn f() {}\nfn g() { let = 3; }", "x.rs:2:14"),
        ("\u{feff}fn f() { @ }", "x.rs:1:"),
        ("fn f() { \"never ends", "x.rs:1:"),
        ("}", "x.rs:1:1"),
    ] {
        let refused = lift(&[("x.rs", text)]).unwrap_err();
        assert_eq!(refused.refusals[0].reason, Reason::Syntax, "{text}");
        assert!(refused.to_string().starts_with(place), "{text}: {refused}");
    }
}

/// What keeps a text from being split into words is named.
#[test]
fn unbalanced_brackets_are_named() {
    for (text, said) in [
        ("fn f(x: i64) -> i64 { x }}", "x.rs:1:26: this can't be parsed as Rust: this `}` closes nothing"),
        (
            "fn f() {\n  g((1);\n}",
            "x.rs:3:1: this can't be parsed as Rust: this `}` doesn't close the `(` in line 2, column 4",
        ),
        ("fn f() { /* {", "x.rs:1:10: this can't be parsed as Rust: this `/*` has no `*/`"),
        ("fn f() { \"a }", "x.rs:1:10: this can't be parsed as Rust: this `\"` has no other"),
        (
            "#!/bin/sh }\nfn f() { [ }",
            "x.rs:2:12: this can't be parsed as Rust: this `}` doesn't close the `[` in line 2, column 10",
        ),
    ] {
        let refused = lift(&[("x.rs", text)]).unwrap_err().to_string();
        assert!(refused.starts_with(said), "{refused}");
    }
}

#[test]
fn what_looks_odd_and_is_accepted() {
    let text = "#!/usr/bin/env x\n#![allow(dead_code)]\npub enum E {}\npub fn f(x: E) -> i64 { match x {} }\n\
                pub fn g(x: i64) -> i64 { <i64>::MAX - <u8>::from(true) as i64 - <i64>::min(x, 3) }";
    let module = lift(&[("x.rs", text)]).unwrap();
    assert_eq!(module.graphs["f"].loc.line, 4);
    let text = "#![allow(dead_code)]\npub fn f() {}";
    assert_eq!(lift(&[("x.rs", text)]).unwrap().graphs["f"].loc.line, 2);
}

/// A variable without `mut` may get its value later, once on each way.
#[test]
fn values_that_come_later_are_accepted() {
    let text = "pub fn f(n: i64) -> i64 {\n\
                    let mut sum = 0;\n\
                    let mut i = 0;\n\
                    while i < n { let x; if i % 2 == 0 { x = i; } else { x = -i; } sum += x; i += 1; }\n\
                    let y;\n\
                    loop { i += 1; if i > 10 { y = i; break; } }\n\
                    let z;\n\
                    match n { 0 => { z = 1; } 1 => return 5, _ => { z = y; } }\n\
                    let mut w;\n\
                    w = z; w += 1; w = w * 2;\n\
                    sum + w\n\
                }";
    let lifted = lift(&[("x.rs", text)]);
    assert!(lifted.is_ok(), "{}", lifted.unwrap_err());
}

/// Where there is more to say than what holds for all of a kind, it is said.
#[test]
fn remedies_fit_what_is_refused() {
    for (text, remedy) in [
        ("fn f(n: i64) -> i64 {\nlet y = 1;\ny += n; y }", "write `mut y` in line 2, where the variable begins"),
        ("fn f(n: i64) { n = 3; }", "write `mut n` in line 1, where the variable begins"),
        ("struct S { a: i64 }\nimpl S { fn f(self) { self.a = 2; } }", "take `mut self` or `&mut self` in line 2"),
        ("fn f(n: i64) -> i64 {\nlet y;\ny = n; y = 2; y }", "write `let mut y` in line 2, where the variable begins"),
        ("fn f(n: u8) -> u8 { -n }", "`x.wrapping_neg()` is 0 - x without a trap"),
        ("fn f(n: u8) -> u8 { let x = -1; n + x }", "`-1i64 as u8`"),
        ("fn f(n: u8) { println!(\"{n}\"); }", "`put_byte(b)` of `hueshift::prelude`"),
        ("fn f(n: u8) -> u8 { dbg!(n) }", "what only helps to find a mistake, leave out"),
        ("fn f(a: &[u8], i: usize) -> usize { let b = &a[i..=5]; b.len() }", "`&a[i..j + 1]`"),
        ("fn f() -> i64 { let mut n = 0; for c in 'a'..='e' { n += c as i64; } n }", "`for b in b'a'..=b'e'`"),
        ("use hueshift::prelude::*; fn f(n: &[Cell<i32>]) { }", "`pub struct Slot { pub value: Cell<i32> }`"),
        ("use hueshift::prelude::*; fn f(n: i64) -> i64 { promotee(n) }", "did you mean `promote`?"),
        ("fn twice(n: i64) -> i64 { n + n } fn f(n: i64) -> i64 { twize(n) }", "did you mean `twice`?"),
        ("fn f(input: i64) -> i64 { inputs + 1 }", "did you mean `input`?"),
        ("fn f(n: i64) -> i64 { x + n }", "check the spelling; "),
        ("fn f(n: i64) { merge_pt!(); }", "did you mean `merge_point`?"),
        ("fn h(x: Option<&mut i64>) { } fn f() { let mut n = 1; h(Some(&mut n)); }", "wrap it there"),
        ("fn f(n: &mut i64) -> i64 { let m = &mut n; 1 }", "is a reference already"),
        ("fn f(a: &mut [i64]) -> i64 { let (x, y) = a.split_at_mut(1); x[0] }", "with the indices of its parts"),
        ("fn f(n: i64) { merge_point!(n); }", "write `merge_point!()`"),
        ("fn f(n: i64) -> i64 { n as u128 as i64 }", "keep it in two `u64`s"),
        ("fn f() -> i64 { let x = 3u128; 1 }", "keep it in two `u64`s"),
        ("fn f(s: &str) -> i64 { if s.find('l') { 1 } else { 2 } }", "go over its bytes in a loop"),
        (
            "const T: [i64; 2] = { let mut t = [0; 2]; let mut i = 0; while i < 2 { t[i] = 1; i += 1; } t };",
            "constants are literals, tables of these",
        ),
    ] {
        let refused = lift(&[("x.rs", text)]).unwrap_err();
        assert_eq!(refused.refusals.len(), 1, "{refused}");
        assert!(refused.refusals[0].remedy.contains(remedy), "{refused}");
    }
}

/// Of what may stand in `#[inverse_of(..)]`, all is named.
#[test]
fn possible_inverses_are_named() {
    let source = |name: &str, more: &str| {
        format!(
            "use hueshift::prelude::*;\n#[elidable] #[inverse_of({name})] fn up(x: i64) -> u64 {{ x as u64 }}\n\
             fn plain(x: u64) -> i64 {{ 1 }}\n#[elidable] fn other(x: u64) -> u64 {{ x }}\n{more}"
        )
    };
    let down = "#[elidable] fn down(x: u64) -> i64 { x as i64 }\nmod m { use hueshift::prelude::*; #[elidable] pub fn back(x: u64) -> i64 { 2 } }";
    for name in ["nosuch", "plain", "other"] {
        let refused = lift(&[("x.rs", &source(name, ""))]).unwrap_err().refusals.remove(0);
        assert_eq!((refused.reason, refused.loc.line), (Reason::Recorded, 2), "{refused}");
        assert!(refused.remedy.contains("from `u64` to `i64`: there is none here yet"), "{}", refused.remedy);
        let refused = lift(&[("x.rs", &source(name, down))]).unwrap_err().refusals.remove(0);
        assert!(refused.remedy.ends_with("from `u64` to `i64`: `down`, `m::back`"), "{}", refused.remedy);
    }
}

/// `is_virtual` asks about what a reference leads to, as it is declared in the prelude.
#[test]
fn questions_about_what_is_virtual_take_references() {
    let program = |question: &str| {
        format!(
            "use hueshift::prelude::*;\npub struct S {{ pub a: i64 }}\npub fn f(p: &S, x: i64, l: &[i64]) -> bool {{ let s = S {{ a: x }}; {question} }}"
        )
    };
    for question in [
        "is_virtual(p)",
        "is_virtual(&p)",
        "is_virtual(&s)",
        "is_virtual(&x)",
        "is_virtual(&*p)",
        "is_virtual(l)",
        "is_virtual(&l[1..])",
    ] {
        let lifted = lift(&[("x.rs", &program(question))]);
        assert!(lifted.is_ok(), "{question}: {}", lifted.unwrap_err());
    }
    for (question, said) in
        [("is_virtual(s)", "found `S`"), ("is_virtual(x)", "found `i64`"), ("is_virtual(p.a)", "found `i64`")]
    {
        let refused = lift(&[("x.rs", &program(question))]).unwrap_err().to_string();
        assert!(refused.contains("expected a reference") && refused.contains(said), "{refused}");
        assert!(refused.contains(&question.replacen("(", "(&", 1)), "{refused}");
    }
}

#[test]
fn what_is_not_supported_yet_is_passed_over_where_the_entry_cannot_reach_it() {
    let text = "use hueshift::prelude::*;\nfn a(l: List<i64>) -> i64 { l.pop().unwrap() }\nfn b() -> i64 { a(List::new()) }\n\
                fn c(x: i64) -> i64 { d(x) }\nfn d(x: i64) -> i64 { x }\nfn e() -> i64 { let l = List::new(); l.len() }";
    let module = lift_for(&[("x.rs", text)], "c").unwrap();
    assert_eq!(module.graphs.keys().collect::<Vec<_>>(), ["c", "d"]);
    assert!(lift(&[("x.rs", text)]).is_err());
    for entry in ["a", "b", "e"] {
        let refused = lift_for(&[("x.rs", text)], entry).unwrap_err();
        assert!(refused.refusals.iter().all(|r| r.reason == Reason::NotYet), "{refused}");
    }
    let refused = lift_for(&[("x.rs", text)], "nowhere").unwrap_err();
    assert!(refused.to_string().contains("there is no function `nowhere`"));
}

/// Where a type is refused, what uses it isn't refused once more.
#[test]
fn what_uses_a_refused_type_is_not_refused_too() {
    let text = "pub enum E { A(E), B }\npub fn f() -> i64 { match E::B { E::A(_) => 1, E::B => 2 } }\n";
    for refused in [lift(&[("x.rs", text)]), lift_for(&[("x.rs", text)], "f")] {
        let places: Vec<_> = refused.expect_err("refused").refusals.iter().map(|r| (r.loc.line, r.reason)).collect();
        assert_eq!(places, [(1, Reason::Recursive)]);
    }
}

#[test]
fn deep_nesting_is_refused_or_lifted_but_does_not_overflow_the_stack() {
    for n in [50, 119, 1000, 2900, 20_000] {
        let programs = [
            format!("fn f(x: i64) -> i64 {{ {}x{} }}", "(".repeat(n), ")".repeat(n)),
            format!("fn f(x: i64) -> i64 {{ {}x }}", "-".repeat(n)),
            format!("fn f(x: bool) -> bool {{ {}x }}", "!".repeat(n)),
            format!("fn f(x: i64) -> i64 {{ x{} }}", " + x".repeat(n)),
            format!("fn f(x: i64) -> i64 {{ x{} }}", ".abs()".repeat(n)),
            format!("fn f(x: i64) -> i64 {{ {} {{ 0 }} }}", "if x > 0 { 1 } else ".repeat(n)),
            format!("fn f(x: i64) -> i64 {{ {}x{} }}", "{".repeat(n), "}".repeat(n)),
            format!("fn f(x: {}i64) {{ }}", "&".repeat(n)),
            format!("fn f() {{ {} }}", "return ".repeat(n)),
            format!("fn f() {{ {} }}", "break ".repeat(n)),
            format!("fn f(x: bool) -> bool {{ x{} }}", " && x".repeat(n)),
            format!("fn f(x: i64) {{ let _ = {}0{}; }}", "[".repeat(n), "]".repeat(n)),
            format!("fn f(x: u8) -> u8 {{ match x {{ 0{} => 1, _ => 2 }} }}", " | 1".repeat(n)),
            format!("fn f(x: u8) -> u8 {{ match x {{ {} }} }}", "0 => { 1 } ".repeat(n)),
            format!("fn f(x: u8) -> u8 {{ {} x }}", "if x == 7 { return 1; }".repeat(n.min(3000))),
            format!("fn f(x: i64) {{ let y = {}x; }}", "|x| ".repeat(n)),
            format!("fn f(x: {}i64{}) {{ }}", "Option<".repeat(n), ">".repeat(n)),
            format!("const A: [i64; {}] = [{}];", n, "1,".repeat(n)),
            (0..n.min(200)).map(|i| format!("const A{i}: i64 = A{} + 1;", i + 1)).collect::<String>(),
        ];
        for program in programs {
            let _ = lift(&[("deep.rs", &program)]);
        }
    }
}

/// Arms in braces have no comma between them, but are no one expression.
#[test]
fn a_match_may_have_many_arms() {
    for (open, close) in [("{ ", " }\n"), ("", ",\n")] {
        let arms: String = (0..2000).map(|i| format!("{i} => {open}x += {i}{close}")).collect();
        let program = format!("fn f(s: i64, mut x: i64) -> i64 {{ match s {{ {arms} _ => {{}} }} x }}");
        lift(&[("arms.rs", &program)]).expect("lifted");
    }
}

/// Programs with words dropped, doubled, exchanged and taken from elsewhere: whatever comes of it, it is an answer, and
/// what is lifted is well-formed.
#[test]
fn damaged_programs_do_not_panic() {
    let sources = [
        include_str!("frontend/programs/control.rs"),
        include_str!("frontend/programs/memory.rs"),
        include_str!("frontend/programs/items.rs"),
        include_str!("frontend/programs/enums.rs"),
        include_str!("frontend/refused/language.rs"),
        include_str!("frontend/refused/portals.rs"),
    ];
    let words = |text: &str| -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        let mut last = ' ';
        for c in text.chars() {
            let word = |c: char| c.is_alphanumeric() || c == '_';
            if word(c) && word(last) {
                out.last_mut().unwrap().push(c);
            } else {
                out.push(c.to_string());
            }
            last = c;
        }
        out
    };
    let rounds = std::env::var("HUESHIFT_DAMAGE").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let all: Vec<Vec<String>> = sources.iter().map(|s| words(s)).collect();
    for _ in 0..rounds {
        for (i, source) in all.iter().enumerate() {
            let mut damaged = source.clone();
            for _ in 0..=random.below(6) {
                let at = random.below(damaged.len());
                let other = random.below(damaged.len());
                let from = &all[random.below(all.len())];
                match random.below(5) {
                    0 => drop(damaged.remove(at)),
                    1 => damaged.swap(at, other),
                    2 => damaged.insert(at, damaged[other].clone()),
                    3 => damaged[at] = from[random.below(from.len())].clone(),
                    _ => {
                        let start = random.below(from.len());
                        let end = (start + 1 + random.below(12)).min(from.len());
                        damaged.splice(at..at, from[start..end].iter().cloned());
                    }
                }
            }
            let text: String = damaged.concat();
            if let Ok(module) = lift(&[("damaged.rs", &text)])
                && let Err(violations) = flowgraph::verify::verify(&module)
            {
                panic!("{i}: {}\n{text}", violations[0]);
            }
        }
    }
}

#[test]
fn types_that_are_too_large_are_refused_at_once() {
    for text in [
        "fn f(a: [(); 268435456]) -> i64 { 1 }",
        "fn f(a: &[[u64; 268435456]; 268435456]) -> u64 { a[1][2] }",
        "fn f(a: &mut S) -> u64 { a.x[1][2] }\nstruct S { x: [[u64; 268435456]; 268435456] }",
        "fn f(a: &S) -> u64 { 1 }\nstruct S { x: &[[T; 100000]] }\nstruct T { y: [u64; 100000] }",
    ] {
        let refused = lift(&[("x.rs", text)]).unwrap_err();
        assert!(refused.refusals.iter().all(|r| r.reason == Reason::LargeValue), "{refused}");
    }
    // Where it is only a variable, running it ends in a trap.
    lift(&[("x.rs", "fn f(i: usize) -> u64 { let a = [(); 268435456]; a[i]; 1 }")]).unwrap();
    lift(&[("x.rs", "fn f(i: usize) -> u64 { let mut a = [1u64; 268435456]; a[i] = 2; a[1] }")]).unwrap();
}
