//! Finding rules: short sequences of ops that occur in residual graphs, and cheaper terms that give the same.
//!
//! A sequence is an op on what other ops give, two or three ops in all, with variables for everything else. Terms that weigh less are gone
//! through, the lightest first; those that give the same for some inputs are proven (as in S. Bansal, A. Aiken, "Automatic generation of
//! peephole superoptimizers", 2006).

use crate::eval::Bindings;
use crate::order::{Ends, ends};
use crate::prove::{Solver, Verdict, prove};
use crate::rule::{Literal, Rule, Term, Var, VarKind};
use crate::sample::Random;
use flowgraph::ir::{Graph, Op, Opcode, Operand, OperandType, Type, ValueId};
use std::collections::{BTreeMap, HashMap};

/// More variables than these make too many terms.
const VARIABLES: usize = 3;
/// How many inputs candidates are tried on before they are proven.
const INPUTS: usize = 24;

/// Ops that candidates are made of.
const UNARY: [Opcode; 4] = [Opcode::IntNeg, Opcode::IntInvert, Opcode::IntIsTrue, Opcode::IntIsZero];
const BINARY: [Opcode; 18] = [
    Opcode::IntAdd,
    Opcode::IntSub,
    Opcode::IntAnd,
    Opcode::IntOr,
    Opcode::IntXor,
    Opcode::IntLshift,
    Opcode::UintRshift,
    Opcode::IntRshift,
    Opcode::IntEq,
    Opcode::IntNe,
    Opcode::IntLt,
    Opcode::IntLe,
    Opcode::IntGt,
    Opcode::IntGe,
    Opcode::UintLt,
    Opcode::UintLe,
    Opcode::UintGt,
    Opcode::UintGe,
];

/// Sequences of ops, and how often they occur.
#[derive(Debug, Default)]
pub struct Mined {
    found: BTreeMap<String, (Term, usize)>,
}

impl Mined {
    /// Takes what is in a graph.
    pub fn look_at(&mut self, graph: &Graph) {
        let ops: HashMap<ValueId, &Op> = graph
            .blocks
            .iter()
            .flat_map(|block| &block.ops)
            .filter(|op| is_sought(op))
            .map(|op| (op.results[0], op))
            .collect();
        for op in graph.blocks.iter().flat_map(|block| &block.ops).filter(|op| is_sought(op)) {
            // Each operand as it is computed, or as a variable.
            let inner: Vec<usize> = (0..op.args.len())
                .filter(|at| op.args[*at].value().is_some_and(|value| ops.contains_key(&value)))
                .collect();
            for chosen in 1..1usize << inner.len() {
                let mut names = Vec::new();
                let args = op.args.iter().enumerate().map(|(at, arg)| {
                    let is_chosen = inner.iter().position(|own| *own == at).is_some_and(|bit| chosen >> bit & 1 != 0);
                    match arg.value().and_then(|value| ops.get(&value)).filter(|_| is_chosen) {
                        Some(inner) => {
                            Term::Op(inner.opcode, inner.args.iter().map(|arg| leaf(*arg, &mut names)).collect())
                        }
                        None => leaf(*arg, &mut names),
                    }
                });
                let term = Term::Op(op.opcode, args.collect());
                if names.len() <= VARIABLES {
                    self.found.entry(format!("{term:?}")).or_insert((term, 0)).1 += 1;
                }
            }
        }
    }

    /// Those that occur often enough, the most frequent first.
    pub fn sequences(self, least: usize) -> Vec<(Term, usize)> {
        let mut all: Vec<(Term, usize)> = self.found.into_values().filter(|(_, count)| *count >= least).collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        all
    }
}

/// Whether an op computes one integer from integers.
fn is_sought(op: &Op) -> bool {
    let is_int = |ty: &OperandType| *ty == OperandType::Is(Type::Int);
    op.opcode.is_pure() && op.results.len() == 1 && op.opcode.operands().iter().chain(op.opcode.results()).all(is_int)
}

fn leaf(operand: Operand, names: &mut Vec<Operand>) -> Term {
    if let Some(number) = operand.as_int() {
        return Term::Int(Literal::Number(number));
    }
    let at = names.iter().position(|name| *name == operand).unwrap_or_else(|| {
        names.push(operand);
        names.len() - 1
    });
    Term::Var(at)
}

/// A rule that makes a sequence cheaper, as text with its proof, if one is found.
pub fn cheaper(pattern: &Term, solver: &Solver) -> Option<(String, Verdict)> {
    let vars = pattern.vars().into_iter().max().map_or(0, |most| most + 1);
    let mut rule = Rule {
        name: "found".to_owned(),
        span: (0, 0),
        line: 0,
        vars: (0..vars)
            .map(|var| Var { name: ["x", "y", "z"][var].to_owned(), kind: VarKind::Any(Type::Int) })
            .collect(),
        matched: vars,
        pattern: pattern.clone(),
        steps: Vec::new(),
        target: Term::Int(Literal::Number(0)),
        sorry: false,
        exceptions: Vec::new(),
        text: String::new(),
    };
    let mut random = Random::new(7);
    let inputs: Vec<Bindings<64>> = (0..INPUTS)
        .map(|_| {
            let mut bindings = Bindings::<64>::new(&rule);
            bindings.values.iter_mut().for_each(|value| *value = random.int::<64>(&[0, 1, -1, i64::MIN, i64::MAX]));
            bindings
        })
        .collect();
    let wanted: Vec<i64> = inputs.iter().map(|input| input.value(pattern)).collect::<Option<_>>()?;
    for target in candidates(pattern, vars) {
        if !inputs.iter().zip(&wanted).all(|(input, wanted)| input.value(&target) == Some(*wanted)) {
            continue;
        }
        rule.target = target;
        if ends(&rule) != Ends::Smaller {
            continue;
        }
        let verdict = prove(&rule, solver);
        if matches!(verdict, Verdict::Proven | Verdict::Exhaustive(_)) {
            let name: Vec<&str> = pattern_ops(pattern).iter().map(|op| op.name()).collect();
            let text = format!("{}: {}\n    => {}\n", name.join("_"), rule.show(pattern), rule.show(&rule.target));
            return Some((text, verdict));
        }
    }
    None
}

fn pattern_ops(term: &Term) -> Vec<Opcode> {
    let mut ops = Vec::new();
    term.each(&mut |term| {
        if let Term::Op(op, _) = term {
            ops.push(*op);
        }
    });
    ops
}

/// Terms to try, the cheapest first: operands and numbers, one op on these, and where the sequence has three ops, two.
fn candidates(pattern: &Term, vars: usize) -> Vec<Term> {
    let mut numbers = vec![0, 1, -1];
    pattern.each(&mut |term| {
        if let Term::Int(Literal::Number(number)) = term {
            numbers.extend([*number, number.wrapping_neg(), !number]);
        }
    });
    let own: Vec<i64> = numbers[3..].to_vec();
    for a in &own {
        for b in &own {
            numbers.extend([a.wrapping_add(*b), a.wrapping_sub(*b), a & b, a | b, a ^ b, a.wrapping_mul(*b)]);
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    let mut leaves: Vec<Term> = (0..vars).map(Term::Var).collect();
    leaves.extend(numbers.into_iter().map(|number| Term::Int(Literal::Number(number))));
    let mut found = leaves.clone();
    for a in leaves.iter().filter(|term| matches!(term, Term::Var(_))) {
        found.extend(UNARY.iter().map(|op| Term::Op(*op, vec![a.clone()])));
    }
    for a in &leaves {
        for b in &leaves {
            if matches!((a, b), (Term::Int(_), Term::Int(_))) {
                continue;
            }
            // What is added or subtracted is positive.
            let is_negative = matches!(b, Term::Int(Literal::Number(number)) if *number < 0);
            let is_normal = |op: &&Opcode| !(is_negative && matches!(op, Opcode::IntAdd | Opcode::IntSub));
            found.extend(BINARY.iter().filter(is_normal).map(|op| Term::Op(*op, vec![a.clone(), b.clone()])));
        }
    }
    found
}
