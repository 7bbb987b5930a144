//! The optimizer's own rules: in one shape, right wherever they are tried, in the ledger, ending, confluent.
#![allow(missing_docs)]

use rules::{Ends, Interpreted, Joined, Ledger, Pairs, Rule, ends, inside_out, read, sample};

fn own() -> Vec<Rule> {
    read(rules::INTEGER).expect("integer.rules is well-formed")
}

#[test]
fn they_are_written_in_one_shape() {
    let file = rules::syntax::parse(rules::INTEGER).expect("integer.rules is well-formed");
    let printed = rules::syntax::print(&file);
    assert_eq!(printed, rules::INTEGER, "hueshift rules fmt timeshifter/rules/integer.rules");
    let again = rules::syntax::parse(&printed).expect("what is printed can be read");
    assert_eq!(rules::syntax::print(&again), printed);
}

/// With no Z3: at eight bits densely, at 64 on corners and at random.
#[test]
fn trying_them_finds_nothing_wrong() {
    for rule in own() {
        let wide = sample::<64>(&rule, 4_000);
        if let Some(found) = wide.counterexample {
            panic!("{}: {}\n{}", rule.name, rule.arrow(), found.describe(&rule));
        }
        if is_narrow(&rule)
            && let Some(found) = sample::<8>(&rule, 70_000).counterexample
        {
            panic!("{} at eight bits: {}\n{}", rule.name, rule.arrow(), found.describe(&rule));
        }
        assert!(wide.applied > 0, "{} was never tried: nothing was found to which it applies", rule.name);
    }
}

/// Whether a rule means the same at eight bits: it is about integers, and neither numbers of more bits nor bytes are in
/// it.
fn is_narrow(rule: &Rule) -> bool {
    use flowgraph::ir::{Opcode, Type};
    use rules::rule::Term;
    let mut narrow = rule.vars.iter().all(|var| var.ty() == Type::Int);
    for term in [&rule.pattern, &rule.target] {
        term.each(&mut |term| match term {
            Term::Int(literal) => narrow &= literal.fits::<8>(),
            Term::Float(_) => narrow = false,
            Term::Op(op, _) => {
                narrow &= !matches!(op, Opcode::IntSignext | Opcode::IntBswap) && !op.name().starts_with("float")
            }
            Term::Var(_) => {}
        });
    }
    narrow
}

#[test]
fn each_has_been_proven() {
    let ledger = Ledger::parse(rules::PROOFS);
    let missing: Vec<String> =
        own().into_iter().filter(|rule| ledger.how(rule).is_none()).map(|rule| rule.name).collect();
    assert!(missing.is_empty(), "not in the ledger: {missing:?}");
    let sorry = rules::PROOFS.lines().filter(|line| line.contains(" sorry ")).count();
    assert!(sorry <= 3, "{sorry} rules without proof");
}

#[test]
fn rewriting_ends() {
    for rule in own() {
        if let Ends::Not(why) = ends(&rule) {
            panic!("{}: {why}", rule.name);
        }
    }
}

#[test]
fn the_order_does_not_matter() {
    assert!(inside_out(rules::INTEGER).is_some());
    let rules = Interpreted::new(own());
    let (mut joined, mut undecided, mut apart) = (0, 0, Vec::new());
    let pairs = Pairs::new(&rules);
    for pair in (0..rules.rules().len()).flat_map(|at| pairs.of(at, None)) {
        let (one, other) = (&rules.rules()[pair.rules.0].name, &rules.rules()[pair.rules.1].name);
        match pair.verdict {
            Joined::Apart(witness) => apart.push(format!("{one} and {other}: {witness}")),
            Joined::Joined => joined += 1,
            Joined::Undecided => undecided += 1,
            Joined::NeverMeet | Joined::Believed(_) | Joined::ApartInside(_) => {}
        }
    }
    assert!(apart.is_empty(), "{}", apart.join("\n"));
    assert!(joined > 1000 && undecided < 150, "{joined} {undecided}");
}

/// The ledger knows a rule by what it says: not by its name or comments.
#[test]
fn a_changed_rule_is_not_in_the_ledger() {
    let ledger = Ledger::parse(rules::PROOFS);
    let known = |text: &str| ledger.how(&read(text).expect("a rule")[0]).is_some();
    assert!(known("another_name: int_add(x, 0) # nothing\n    => x\n"));
    assert!(!known("add_zero: int_add(x, 1)\n    => x\n"));
    assert!(!known("add_zero: int_add(x, 0)\n    check x.known_nonnegative()\n    => x\n"));
}
