//! The optimizer's rules as they are compiled: each fires, and they answer what their interpreter answers.
#![allow(missing_docs)]

use flowgraph::ir::{Opcode, Operand, Type};
use rules::{Built, Fired, Interpreted, Subject, Terms, instance_of};
use timeshifter::optimize::integer::{RULES, rewrite};

fn interpreted() -> Interpreted {
    Interpreted::new(rules::read(rules::INTEGER).expect("integer.rules is well-formed"))
}

/// What has fired, with numbers for the operands that are known to be these: of operands that are the same the two may
/// choose either.
fn known(terms: &Terms, fired: Option<Fired>) -> Option<Fired> {
    fn target(terms: &Terms, built: Built) -> Built {
        match built {
            Built::Operand(operand) => Built::Operand(terms.constant(operand).map_or(operand, Operand::Const)),
            Built::Op(op, args) => Built::Op(op, args.into_iter().map(|arg| target(terms, arg)).collect()),
        }
    }
    fired.map(|fired| Fired { target: target(terms, fired.target), ..fired })
}

/// A rule that never fires, because of its checks or of those asked before it, is none.
#[test]
fn each_rule_fires_and_does_what_its_interpreter_does() {
    let interpreted = interpreted();
    assert_eq!(interpreted.rules().len(), RULES.len());
    let mut never = Vec::new();
    for (number, rule) in interpreted.rules().iter().enumerate() {
        assert_eq!(rule.name, RULES[number]);
        let fires = (0..20_000).any(|seed| {
            let Some((terms, op, args)) = instance_of(rule, seed) else { return false };
            let compiled = rewrite(op, &args, &terms);
            let wanted = known(&terms, interpreted.ask(op, &args, &terms));
            assert_eq!(known(&terms, compiled.clone()), wanted, "{} about {} {args:?}", rule.name, op.name());
            compiled.is_some_and(|fired| fired.rule == number)
        });
        if !fires {
            never.push(rule.name.as_str());
        }
    }
    assert!(never.is_empty(), "these never fire: {never:?}");
}

/// Where several rules could apply: ops on what the patterns of two others give.
#[test]
fn compiled_and_interpreted_rules_choose_the_same() {
    let interpreted = interpreted();
    let int_ops: Vec<Opcode> = interpreted.rules().iter().map(|rule| rule.root().0).collect();
    let (mut asked, mut fired) = (0, 0);
    for (number, rule) in interpreted.rules().iter().enumerate() {
        for seed in 0..150 {
            let Some((mut terms, op, args)) = instance_of(rule, seed + 100_000) else { continue };
            let inner = terms.op(op, &args);
            let outer = int_ops[(number * 31 + seed as usize * 7) % int_ops.len()];
            let is_int = |at: usize| outer.operands()[at] == flowgraph::ir::OperandType::Is(Type::Int);
            if !(0..outer.operands().len()).all(is_int) || terms.constant(inner).is_some() {
                continue;
            }
            let others = [inner, args[0], Operand::int(seed as i64 % 5 - 1), *args.last().expect("an op has operands")];
            for turn in 0..4 {
                let args: Vec<Operand> =
                    (0..outer.operands().len()).map(|at| others[(turn + at * (1 + seed as usize % 3)) % 4]).collect();
                if args.iter().any(|arg| !is_int_operand(&terms, *arg)) {
                    continue;
                }
                let compiled = rewrite(outer, &args, &terms);
                let wanted = known(&terms, interpreted.ask(outer, &args, &terms));
                asked += 1;
                fired += usize::from(compiled.is_some());
                assert_eq!(known(&terms, compiled), wanted, "{} {args:?}", outer.name());
            }
        }
    }
    assert!(asked > 20_000 && fired > 3_000, "{asked} asked, {fired} fired");
}

/// Whether an operand is an integer: it is no float's constant, and not computed as a float.
fn is_int_operand(terms: &Terms, operand: Operand) -> bool {
    match operand {
        Operand::Const(_) => operand.as_int().is_some(),
        Operand::Value(_) => {
            let gives = terms.definition(operand).and_then(|(op, _)| op.results().first().copied());
            gives.is_none_or(|ty| ty == flowgraph::ir::OperandType::Is(Type::Int))
        }
    }
}
