//! Automata against a matcher that tries everything, on random patterns and texts; and what is refused.

use interpreters::regex::{Dfa, lang};
use interpreters::{find, regex};
use proptest::prelude::*;
use regex_syntax::hir::{Class, Hir, HirKind, Look};
use std::collections::BTreeSet;

/// Where matches of `hir` may end that begin at one of `from`.
fn ends(hir: &Hir, text: &[u8], from: &BTreeSet<usize>) -> BTreeSet<usize> {
    match hir.kind() {
        HirKind::Empty => from.clone(),
        HirKind::Literal(l) => {
            from.iter().filter(|at| text[**at..].starts_with(&l.0)).map(|at| at + l.0.len()).collect()
        }
        HirKind::Class(Class::Bytes(c)) => {
            let has = |b: &u8| c.ranges().iter().any(|r| (r.start()..=r.end()).contains(b));
            from.iter().filter(|at| text.get(**at).is_some_and(has)).map(|at| at + 1).collect()
        }
        HirKind::Class(Class::Unicode(c)) => from
            .iter()
            .filter_map(|at| {
                let c_at =
                    (1..=4).filter_map(|n| std::str::from_utf8(text.get(*at..at + n)?).ok()).next()?.chars().next()?;
                c.ranges().iter().any(|r| (r.start()..=r.end()).contains(&c_at)).then_some(at + c_at.len_utf8())
            })
            .collect(),
        HirKind::Look(Look::Start) => from.iter().copied().filter(|at| *at == 0).collect(),
        HirKind::Look(Look::End) => from.iter().copied().filter(|at| *at == text.len()).collect(),
        HirKind::Look(look) => panic!("{look:?}"),
        HirKind::Capture(c) => ends(&c.sub, text, from),
        HirKind::Concat(parts) => parts.iter().fold(from.clone(), |from, part| ends(part, text, &from)),
        HirKind::Alternation(arms) => arms.iter().flat_map(|arm| ends(arm, text, from)).collect(),
        HirKind::Repetition(r) => {
            let mut at = (0..r.min).fold(from.clone(), |at, _| ends(&r.sub, text, &at));
            let mut all = at.clone();
            let more = r.max.map_or(text.len() + 1, |max| (max - r.min) as usize);
            for _ in 0..more {
                at = ends(&r.sub, text, &at);
                all.extend(&at);
            }
            all
        }
    }
}

fn reference(pattern: &str, text: &[u8]) -> i64 {
    let hir = regex_syntax::ParserBuilder::new().utf8(false).build().parse(pattern).expect("a pattern");
    let all = (0..=text.len()).collect();
    ends(&hir, text, &all).first().map_or(-1, |at| *at as i64)
}

fn matched(pattern: &str, text: &[u8]) -> i64 {
    let dfa = Dfa::of_pattern(pattern).unwrap_or_else(|e| panic!("{pattern}: {e}"));
    lang::regex(&dfa.states, &dfa.ranges, text)
}

fn patterns() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        6 => "[abc]",
        1 => Just(".".to_owned()),
        1 => Just("[^a]".to_owned()),
        1 => Just("[a-bé-ü]".to_owned()),
        1 => Just("(?-u:[\\x00-\\xFF])".to_owned()),
        1 => Just("^".to_owned()),
        1 => Just("$".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 1..4).prop_map(|p| p.concat()),
            2 => prop::collection::vec(inner.clone(), 1..4).prop_map(|p| format!("(?:{})", p.join("|"))),
            2 => (inner, prop_oneof![Just("*"), Just("+"), Just("?"), Just("{2}"), Just("{1,3}"), Just("*?")])
                .prop_map(|(p, times)| format!("(?:{p}){times}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn automata_find_what_trying_finds(
        pattern in patterns(),
        texts in prop::collection::vec(prop_oneof![4 => "[abcdéz]{0,7}".prop_map(String::into_bytes), 1 => prop::collection::vec(any::<u8>(), 0..5)], 8),
    ) {
        for text in texts {
            prop_assert_eq!(matched(&pattern, &text), reference(&pattern, &text), "{} on {:?}", pattern, text);
        }
    }

    #[test]
    fn nothing_typed_panics(pattern in "[a-c\\\\\\[\\](){}|*+?^$.,0-9bB-]{0,14}") {
        let _ = Dfa::of_pattern(&pattern);
    }

    #[test]
    fn tables_are_sound(pattern in patterns()) {
        let dfa = Dfa::of_pattern(&pattern).expect("a pattern");
        for state in &dfa.states {
            let ranges = &dfa.ranges[state.first..=state.last];
            prop_assert!(ranges.is_sorted_by(|a, b| a.to < b.to) && ranges[ranges.len() - 1].to == 255);
            prop_assert!(ranges.iter().all(|r| r.next < dfa.states.len()));
        }
    }
}

#[test]
fn minimal() {
    assert_eq!(Dfa::of_pattern("").expect("a pattern").states.len(), 1);
    assert_eq!(Dfa::of_pattern("abc").expect("a pattern").states.len(), 4);
    assert_eq!(Dfa::of_pattern("^(a|b|aa|ab|ba|bb)*c").expect("a pattern").states.len(), 3);
}

#[test]
fn what_is_refused() {
    let message =
        |pattern: &str| Dfa::of_pattern(pattern).expect_err("refused").to_string().lines().next().map(str::to_owned);
    for (pattern, said) in [
        ("a(b", "1:2: this is no regular expression: unclosed group"),
        ("x\\by", "the pattern has boundaries of words"),
        ("(?m)^a$", "the pattern has `^` and `$` for the ends of lines"),
        ("(a{100}){100}{100}", "the pattern comes to more than 20000 nodes"),
        ("(?-u)[ab]*a[ab]{12}c", "the pattern comes to more than 2000 states"),
        (
            "(?<=a)b",
            "1:1: this is no regular expression: look-around, including look-ahead and look-behind, is not supported",
        ),
    ] {
        assert_eq!(message(pattern).as_deref(), Some(said), "{pattern}");
    }
    let deep = "(".repeat(100_000);
    assert!(Dfa::of_pattern(&deep).is_err());
}

#[test]
fn as_arguments() {
    let regex = find("regex").expect("it is bundled");
    let wanted = "[{accepts:false,accepts_at_end:false,dead:false,first:0,last:2},\
                  {accepts:true,accepts_at_end:true,dead:false,first:3,last:3}],\
                  [{to:96,next:0},{to:97,next:1},{to:255,next:0},{to:255,next:1}],[98,97]";
    assert_eq!(regex.load_text("a\n", &["ba"]), Ok(wanted.to_owned()));
    assert!(regex::Nfa::of_pattern("a").is_ok_and(|nfa| nfa.nodes.len() == 2));
}
