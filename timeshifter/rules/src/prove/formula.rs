//! A rule as a formula: what holds where it applies, and that both sides are the same.
//!
//! A bound is five words: its two ends, its two halves of known bits, and the member that it is asked about, which lies
//! in it. What an op makes of bounds is *any* bound that holds what the op gives for the members, and the constant if
//! they are constants: all that the transfers promise. So a proof needs none of their formulas; where this says too
//! little, facts about single cases are added ([`Formula::learn`]).

use super::ops::{comparison, overflows, results, word};
use super::transfers;
use crate::eval::{cannot_overflow, known, transfer_of};
use crate::methods::{Attribute, Overflow, Predicate, Transfer};
use crate::rule::{Bool, BoundExpr, Int, Rule, Step, Term, VarId};
use bounds::IntBound;
use flowgraph::ir::{Opcode, Type};
use std::collections::HashMap;
use std::fmt::Write;

/// A bound in the formula: its parts, and the member that is spoken of.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub lower: String,
    pub upper: String,
    pub tvalue: String,
    pub tmask: String,
    member: String,
}

/// Something that bounds are asked, and the answer's name.
#[derive(Clone, Debug)]
enum Asked {
    Transfer(Transfer, Vec<Parts>, Parts),
    Known(Opcode, Vec<Parts>, String),
    CannotOverflow(Overflow, Vec<Parts>, String),
}

/// A value and what must hold for it to be one.
type Defined = (String, Vec<String>);

/// How ops are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ops {
    /// As what they are.
    Exact,
    /// Each shift to the left as a product with a power of two, and each remainder as what the quotient leaves.
    Products,
    /// What is hard to ask about gives anything: the same for the same operands.
    HardOnesAny,
}

/// A rule's formula.
#[derive(Debug)]
pub(super) struct Formula {
    /// Declarations, definitions, and what holds where the rule applies.
    pub holds: String,
    /// That the sides differ.
    pub differs: String,
    /// The variables of the pattern, by the names of their values.
    pub inputs: Vec<(VarId, String)>,
    /// And of their bounds, where these are asked for.
    pub bounds: Vec<(VarId, Parts)>,
    /// Whether it speaks of floats.
    pub floats: bool,
    ops: Ops,
    /// What variables are, by their names.
    pub values: HashMap<VarId, String>,
    /// What is known of them, of those that are asked.
    pub computed: HashMap<VarId, Parts>,
    asked: Vec<Asked>,
    names: usize,
    terms: HashMap<String, String>,
}

impl Formula {
    /// The formula of a rule, or the op that there is none for.
    pub fn new(rule: &Rule) -> Result<Formula, Opcode> {
        Formula::of(rule, Ops::Exact, "v_", 0)
    }

    /// The same, with each shift to the left as a product with a power of two, and each remainder as what the quotient
    /// leaves.
    pub fn with_products(rule: &Rule) -> Result<Formula, Opcode> {
        Formula::of(rule, Ops::Products, "v_", 0)
    }

    /// That two rules apply at once. The variables of the second are numbered behind those of the first; `same` has by
    /// variable what it is besides. Of operands that are ops nothing is taken from what computes them but the value, so
    /// where this can't be, it can't.
    pub fn of_both(one: &Rule, other: &Rule, same: &[Option<Term>], ops: Ops) -> Result<Formula, Opcode> {
        /// The names of the second begin behind those of the first.
        const BEHIND: usize = 1 << 20;
        let mut both = Formula::of(one, ops, "v_", 0)?;
        let second = Formula::of(other, ops, "w_", BEHIND)?;
        let behind = |var: VarId| var + one.vars.len();
        both.holds.push_str(&second.holds);
        both.floats |= second.floats;
        both.inputs.extend(second.inputs.into_iter().map(|(var, name)| (behind(var), name)));
        both.bounds.extend(second.bounds.into_iter().map(|(var, parts)| (behind(var), parts)));
        both.asked.extend(second.asked);
        both.values.extend(second.values.into_iter().map(|(var, value)| (behind(var), value)));
        both.computed.extend(second.computed.into_iter().map(|(var, parts)| (behind(var), parts)));
        for (var, term) in same.iter().enumerate() {
            let (Some(term), Some(value)) = (term, both.values.get(&var).cloned()) else { continue };
            let is = both.sides(one, term)?.swap_remove(0);
            both.assert(&format!("(= {value} {is})"));
            // One operand has one bound.
            let Some(own) = both.computed.get(&var) else { continue };
            let holds = match term {
                Term::Var(is) => both.computed.get(is).map(|is| equal(own, is)),
                Term::Int(_) => Some(is_constant(own)),
                _ => None,
            };
            holds.iter().for_each(|holds| both.assert(holds));
        }
        Ok(both)
    }

    fn of(rule: &Rule, ops: Ops, prefix: &str, names: usize) -> Result<Formula, Opcode> {
        let mut formula = Formula {
            ops,
            holds: String::new(),
            differs: String::new(),
            inputs: Vec::new(),
            bounds: Vec::new(),
            floats: false,
            asked: Vec::new(),
            names,
            values: HashMap::new(),
            computed: HashMap::new(),
            terms: HashMap::new(),
        };
        for var in 0..rule.matched {
            let name = format!("{prefix}{}", rule.vars[var].name);
            formula.floats |= rule.vars[var].ty() != Type::Int;
            formula.declare(&name, if rule.vars[var].ty() == Type::Single { 32 } else { 64 });
            formula.values.insert(var, name.clone());
            formula.inputs.push((var, name));
        }
        for step in &rule.steps {
            formula.step(step);
        }
        let before = formula.sides(rule, &rule.pattern)?;
        let after = formula.sides(rule, &rule.target)?;
        let pairs = (0..rule.root().0.results().len()).map(|at| {
            let side = |side: &Vec<String>| side.get(at).cloned().unwrap_or_else(|| word(0));
            format!("(= {} {})", side(&before), side(&after))
        });
        formula.differs = format!("(assert (not (and {})))\n", pairs.collect::<Vec<_>>().join(" "));
        Ok(formula)
    }

    fn declare(&mut self, name: &str, width: u32) {
        let _ = writeln!(self.holds, "(declare-const {name} (_ BitVec {width}))");
    }

    pub fn assert(&mut self, holds: &str) {
        let _ = writeln!(self.holds, "(assert {holds})");
    }

    fn name(&mut self, what: &str) -> String {
        self.names += 1;
        format!("{what}{}", self.names)
    }

    /// A name for a value, so that what is large is written once.
    fn define(&mut self, value: String, sort: &str) -> String {
        let name = self.name("t");
        let _ = writeln!(self.holds, "(define-fun {name} () {sort} {value})");
        name
    }

    fn word(&mut self, value: String) -> String {
        self.define(value, "(_ BitVec 64)")
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Check(holds, _) => {
                let (holds, defined) = self.truth(holds);
                defined.iter().chain([&holds]).for_each(|holds| self.assert(holds));
            }
            Step::Int(var, int) => {
                let (value, defined) = self.int(int);
                defined.iter().for_each(|holds| self.assert(holds));
                let value = self.word(value);
                self.values.insert(*var, value);
            }
            Step::Bound(var, bound) => {
                let (parts, defined) = self.bound(bound);
                defined.iter().for_each(|holds| self.assert(holds));
                self.computed.insert(*var, parts);
            }
            Step::Bool(var, holds) => {
                let (holds, defined) = self.truth(holds);
                defined.iter().for_each(|holds| self.assert(holds));
                let name = self.define(holds, "Bool");
                self.values.insert(*var, name);
            }
        }
    }

    /// The results of a side of the rule.
    pub fn sides(&mut self, rule: &Rule, term: &Term) -> Result<Vec<String>, Opcode> {
        match term {
            Term::Var(var) => Ok(vec![self.values[var].clone()]),
            Term::Int(literal) => Ok(vec![word(literal.value::<64>())]),
            Term::Float(number) => Ok(vec![word(number.to_bits() as i64)]),
            Term::Op(op, args) => {
                let args = args
                    .iter()
                    .map(|arg| Ok(self.sides(rule, arg)?.swap_remove(0)))
                    .collect::<Result<Vec<_>, Opcode>>()?;
                self.floats |= op.name().starts_with("float") || op.name().starts_with("single");
                let mut asserted = String::new();
                let mut names = self.names;
                // The same op on the same operands gives the same bits.
                let terms = &mut self.terms;
                let mut fresh_for = |key: String, width: u32, says: &dyn Fn(&str) -> String| {
                    if let Some(name) = terms.get(&key) {
                        return name.clone();
                    }
                    names += 1;
                    let name = format!("f{names}");
                    let _ = writeln!(asserted, "(declare-const {name} (_ BitVec {width}))\n(assert {})", says(&name));
                    terms.insert(key, name.clone());
                    name
                };
                let found = match op {
                    _ if self.ops == Ops::HardOnesAny && transfers::is_hard(*op) => {
                        let key = |at: usize| format!("{} {at} {}", op.name(), args.join(" "));
                        (0..op.results().len()).map(|at| fresh_for(key(at), 64, &|_| "true".to_owned())).collect()
                    }
                    Opcode::IntLshift if self.ops == Ops::Products => vec![as_product(&args)],
                    Opcode::IntMod if self.ops == Ops::Products => {
                        vec![as_rest(Opcode::IntFloordiv, &args).ok_or(*op)?]
                    }
                    Opcode::UintMod if self.ops == Ops::Products => {
                        vec![as_rest(Opcode::UintFloordiv, &args).ok_or(*op)?]
                    }
                    _ => results(*op, &args, &mut |width, says| fresh_for(says("_"), width, says)).ok_or(*op)?,
                };
                self.names = names;
                self.holds.push_str(&asserted);
                let single = term.ty(&rule.vars) == Type::Single;
                Ok(found
                    .into_iter()
                    .map(|value| self.define(value, if single { "(_ BitVec 32)" } else { "(_ BitVec 64)" }))
                    .collect())
            }
        }
    }

    fn int(&mut self, int: &Int) -> Defined {
        match int {
            Int::Literal(literal) => (word(literal.value::<64>()), Vec::new()),
            Int::Var(var) => (self.values[var].clone(), Vec::new()),
            Int::Op(op, args) => {
                let mut defined = Vec::new();
                let args: Vec<String> = args.iter().map(|arg| self.int_into(arg, &mut defined)).collect();
                if self.ops == Ops::Products && *op == Opcode::IntLshift {
                    return (as_product(&args), defined);
                }
                let results = results(*op, &args, &mut |_, _| unreachable!("operators are of integers"));
                let value = results.and_then(|mut results| results.pop());
                (value.unwrap_or_else(|| unreachable!("operators are ops with formulas")), defined)
            }
            Int::Min(both) | Int::Max(both) => {
                let mut defined = Vec::new();
                let a = self.int_into(&both[0], &mut defined);
                let b = self.int_into(&both[1], &mut defined);
                let first = if matches!(int, Int::Min(_)) { "bvsle" } else { "bvsge" };
                (format!("(ite ({first} {a} {b}) {a} {b})"), defined)
            }
            Int::HighestBit(of) => {
                let (value, defined) = self.int(of);
                let value = self.word(value);
                let found = (0..64).fold(word(-1), |rest, i| {
                    format!("(ite (= ((_ extract {i} {i}) {value}) #b1) {} {rest})", word(i))
                });
                (found, defined)
            }
            Int::Attribute(attribute, of) => {
                let (parts, defined) = self.bound(of);
                let value = match attribute {
                    Attribute::Lower => parts.lower,
                    Attribute::Upper => parts.upper,
                    Attribute::Ones | Attribute::Tvalue => parts.tvalue,
                    Attribute::Zeros => format!("(bvnot (bvor {} {}))", parts.tvalue, parts.tmask),
                    Attribute::Tmask => parts.tmask,
                };
                (value, defined)
            }
            Int::ConstantOf(of) => {
                let (parts, mut defined) = self.bound(of);
                defined.push(is_constant(&parts));
                (parts.member, defined)
            }
        }
    }

    fn int_into(&mut self, int: &Int, defined: &mut Vec<String>) -> String {
        let (value, needs) = self.int(int);
        defined.extend(needs);
        value
    }

    fn truth(&mut self, holds: &Bool) -> Defined {
        match holds {
            Bool::Var(var) => (self.values[var].clone(), Vec::new()),
            Bool::Not(of) => {
                let (holds, defined) = self.truth(of);
                (format!("(not {holds})"), defined)
            }
            Bool::And(parts) => self.several(parts, "and", "true"),
            Bool::Or(parts) => self.several(parts, "or", "false"),
            Bool::Compare(op, both) => {
                let mut defined = Vec::new();
                let a = self.int_into(&both[0], &mut defined);
                let b = self.int_into(&both[1], &mut defined);
                (comparison(*op, &a, &b).unwrap_or_else(|| unreachable!("a comparison")), defined)
            }
            Bool::Predicate(predicate, of) => {
                let (parts, defined) = self.bound(of);
                let holds = match predicate {
                    Predicate::Nonnegative => format!("(bvsge {} {})", parts.lower, word(0)),
                    Predicate::Negative => format!("(bvslt {} {})", parts.upper, word(0)),
                    Predicate::Boolean => {
                        format!("(and (bvsge {} {}) (bvsle {} {}))", parts.lower, word(0), parts.upper, word(1))
                    }
                    Predicate::Constant => is_constant(&parts),
                };
                (holds, defined)
            }
            Bool::Known(op, both) => {
                let (args, defined) = self.bounds(&both[..]);
                let (a, b) = (&args[0], &args[1]);
                let exact = match op {
                    Opcode::IntEq => {
                        Some(format!("(and {} {} (= {} {}))", is_constant(a), is_constant(b), a.lower, b.lower))
                    }
                    Opcode::IntLt => Some(format!("(bvslt {} {})", a.upper, b.lower)),
                    Opcode::IntLe => Some(format!("(bvsle {} {})", a.upper, b.lower)),
                    Opcode::IntGt => Some(format!("(bvsgt {} {})", a.lower, b.upper)),
                    Opcode::IntGe => Some(format!("(bvsge {} {})", a.lower, b.upper)),
                    _ => None,
                };
                if let Some(exact) = exact {
                    return (exact, defined);
                }
                let holds = comparison(*op, &a.member, &b.member).unwrap_or_else(|| unreachable!("a comparison"));
                let name = self.answer(&args, &holds);
                self.asked.push(Asked::Known(*op, args, name.clone()));
                (name, defined)
            }
            Bool::CannotOverflow(overflow, args) => {
                let (args, defined) = self.bounds(args);
                let op = overflow_op(*overflow);
                let second = args.get(1).map_or("", |parts| parts.member.as_str());
                let overflows =
                    overflows(op, &args[0].member, second).unwrap_or_else(|| unreachable!("these have formulas"));
                let name = self.answer(&args, &format!("(not {overflows})"));
                self.asked.push(Asked::CannotOverflow(*overflow, args, name.clone()));
                (name, defined)
            }
        }
    }

    /// `true` only where something holds of the members; and if these are constants, just then.
    fn answer(&mut self, args: &[Parts], holds: &str) -> String {
        let name = self.name("k");
        let _ = writeln!(self.holds, "(declare-const {name} Bool)");
        let constants: Vec<String> = args.iter().map(is_constant).collect();
        self.assert(&format!("(=> {name} {holds})"));
        self.assert(&format!("(=> (and {}) (= {name} {holds}))", constants.join(" ")));
        name
    }

    /// From left to right: what comes later needs to be defined only where what comes before doesn't decide.
    fn several(&mut self, parts: &[Bool], word: &str, neutral: &str) -> Defined {
        let mut all: Vec<String> = Vec::new();
        let mut defined = Vec::new();
        for part in parts {
            let (holds, needs) = self.truth(part);
            let before = format!("({word} {neutral} {})", all.join(" "));
            let reached = if word == "and" { before } else { format!("(not {before})") };
            defined.extend(needs.into_iter().map(|need| format!("(=> {reached} {need})")));
            all.push(holds);
        }
        (format!("({word} {neutral} {})", all.join(" ")), defined)
    }

    fn bounds(&mut self, all: &[BoundExpr]) -> (Vec<Parts>, Vec<String>) {
        let mut defined = Vec::new();
        let parts = all.iter().map(|bound| {
            let (parts, needs) = self.bound(bound);
            defined.extend(needs);
            parts
        });
        (parts.collect(), defined)
    }

    fn bound(&mut self, bound: &BoundExpr) -> (Parts, Vec<String>) {
        match bound {
            BoundExpr::Constant(int) => {
                let (value, defined) = self.int(int);
                let value = self.word(value);
                let zero = word(0);
                (
                    Parts {
                        lower: value.clone(),
                        upper: value.clone(),
                        tvalue: value.clone(),
                        tmask: zero,
                        member: value,
                    },
                    defined,
                )
            }
            BoundExpr::Var(var) => (self.known_of(*var), Vec::new()),
            BoundExpr::Transfer(transfer, args) => {
                let (args, defined) = self.bounds(args);
                let members: Vec<String> = args.iter().map(|parts| parts.member.clone()).collect();
                let results = results(transfer.op(), &members, &mut |_, _| unreachable!("transfers are of integers"));
                let member = results
                    .and_then(|mut results| results.pop())
                    .unwrap_or_else(|| unreachable!("transfers are of ops with formulas"));
                let member = self.word(member);
                let name = self.name("b");
                let parts = self.any_bound(&name, member);
                let constants: Vec<String> = args.iter().map(is_constant).collect();
                self.assert(&format!("(=> (and {}) {})", constants.join(" "), is_constant(&parts)));
                self.asked.push(Asked::Transfer(*transfer, args, parts.clone()));
                (parts, defined)
            }
        }
    }

    /// What is known of a variable of the pattern.
    pub fn known_of(&mut self, var: VarId) -> Parts {
        if let Some(parts) = self.computed.get(&var) {
            return parts.clone();
        }
        let member = self.values[&var].clone();
        let parts = self.any_bound(&member, member.clone());
        self.computed.insert(var, parts.clone());
        self.bounds.push((var, parts.clone()));
        parts
    }

    /// What is known of a term with this value.
    pub fn known_of_value(&mut self, value: String) -> Parts {
        let name = self.name("b");
        self.any_bound(&name, value)
    }

    /// A bound that holds a member.
    fn any_bound(&mut self, name: &str, member: String) -> Parts {
        // No variable has a dot in its name.
        let part = |what: &str| format!("{name}.{what}");
        let parts =
            Parts { lower: part("lower"), upper: part("upper"), tvalue: part("tvalue"), tmask: part("tmask"), member };
        for part in parts.names() {
            self.declare(part, 64);
        }
        self.assert(&format!("(= (bvand {} {}) {})", parts.tvalue, parts.tmask, word(0)));
        self.assert(&contains(&parts, &parts.member));
        // One value has all its bits, and bits that are all known have one value.
        self.assert(&format!("(= {} (= {} {}))", is_constant(&parts), parts.tmask, word(0)));
        parts
    }

    /// Whether there are no bounds in it: nothing can be learnt of them.
    pub fn asks_nothing(&self) -> bool {
        self.asked.is_empty() && self.bounds.is_empty()
    }

    /// Facts about bounds in general: each is as tight as its other half makes it.
    pub fn reduced(&self) -> String {
        let results = self.asked.iter().filter_map(|asked| match asked {
            Asked::Transfer(_, _, parts) => Some(parts),
            _ => None,
        });
        self.bounds.iter().map(|(_, parts)| parts).chain(results).map(Parts::reduced).collect()
    }

    /// What is known of transfers that are asked for: `of` has it for an op, its operands' bounds and the one that it
    /// gives.
    pub fn of_transfers(&self, of: fn(Opcode, &[Parts], &Parts) -> Vec<String>) -> Vec<String> {
        let transfers = self.asked.iter().filter_map(|asked| match asked {
            Asked::Transfer(transfer, args, result) => Some(of(transfer.op(), args, result)),
            _ => None,
        });
        transfers.flatten().collect()
    }

    /// What is known of the other questions.
    pub fn of_answers(&self) -> Vec<String> {
        let answers = self.asked.iter().flat_map(|asked| match asked {
            Asked::Transfer(..) => Vec::new(),
            Asked::Known(op, args, name) => transfers::known(*op, args, name).into_iter().collect(),
            Asked::CannotOverflow(overflow, args, name) => {
                transfers::cannot_overflow(overflow_op(*overflow), args, name)
            }
        });
        answers.collect()
    }

    /// Facts about single cases: what each question is answered for the bounds that a model has.
    pub fn learn(&self, value_of: &impl Fn(&str) -> Option<i64>) -> String {
        let mut facts = String::new();
        for asked in &self.asked {
            let (Asked::Transfer(_, args, _) | Asked::Known(_, args, _) | Asked::CannotOverflow(_, args, _)) = asked;
            let Some(found) = args.iter().map(|parts| parts.bound(value_of)).collect::<Option<Vec<IntBound>>>() else {
                continue;
            };
            let case: Vec<String> = args.iter().zip(&found).map(|(parts, bound)| is(parts, bound)).collect();
            let answer = match asked {
                Asked::Transfer(transfer, _, result) => is(result, &transfer_of(*transfer, &found)),
                Asked::Known(op, _, name) => format!("(= {name} {})", known(*op, found[0], found[1])),
                Asked::CannotOverflow(overflow, _, name) => {
                    format!("(= {name} {})", cannot_overflow(*overflow, &found))
                }
            };
            let _ = writeln!(facts, "(assert (=> (and {}) {answer}))", case.join(" "));
        }
        facts
    }

    /// All names whose values a model is asked for.
    pub fn asked_for(&self) -> Vec<(String, u32)> {
        let mut names: Vec<(String, u32)> = Vec::new();
        for (_, name) in &self.inputs {
            let single = self.holds.contains(&format!("(declare-const {name} (_ BitVec 32))"));
            names.push((name.clone(), if single { 32 } else { 64 }));
        }
        let args = self.asked.iter().flat_map(|asked| match asked {
            Asked::Transfer(_, args, _) | Asked::Known(_, args, _) | Asked::CannotOverflow(_, args, _) => args,
        });
        for parts in self.bounds.iter().map(|(_, parts)| parts).chain(args) {
            for part in parts.names() {
                if !part.starts_with('#') && !names.iter().any(|(name, _)| name == part) {
                    names.push((part.to_owned(), 64));
                }
            }
        }
        names
    }
}

impl Parts {
    /// What is true of a bound whose halves have made each other as tight as they do.
    pub fn reduced(&self) -> String {
        let Parts { lower, upper, tmask, .. } = self;
        // No bit above the first in which the ends differ is unknown.
        let differing = format!("(bvxor {lower} {upper})");
        let unknown = format!("(bvule (bvand {tmask} (bvnot {differing})) {differing})");
        format!("(assert {})\n(assert {})\n(assert {unknown})\n", has_bits(self, lower), has_bits(self, upper))
    }

    /// The names of the ends and of the bits.
    pub fn names(&self) -> [&str; 4] {
        [&self.lower, &self.upper, &self.tvalue, &self.tmask]
    }

    /// This one.
    pub fn of(bound: &IntBound) -> Parts {
        let [lower, upper, tvalue, tmask] =
            [bound.lower(), bound.upper(), bound.tvalue() as i64, bound.tmask() as i64].map(word);
        Parts { member: lower.clone(), lower, upper, tvalue, tmask }
    }

    /// The bound that a model has here.
    pub fn bound(&self, value_of: &impl Fn(&str) -> Option<i64>) -> Option<IntBound> {
        let value = |name: &str| match name.strip_prefix("#x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok().map(|bits| bits as i64),
            None => value_of(name),
        };
        let range = IntBound::from_range(value(&self.lower)?, value(&self.upper)?)?;
        range.meet(IntBound::from_bits(value(&self.tvalue)? as u64, value(&self.tmask)? as u64))
    }
}

/// The op whose overflow is asked about.
pub(super) fn overflow_op(overflow: Overflow) -> Opcode {
    match overflow {
        Overflow::Add => Opcode::IntAdd,
        Overflow::Sub => Opcode::IntSub,
        Overflow::Mul => Opcode::IntMul,
        Overflow::Neg => Opcode::IntNeg,
        Overflow::Lshift => Opcode::IntLshift,
    }
}

/// A shift to the left as a product.
fn as_product(args: &[String]) -> String {
    format!("(bvmul {} (bvshl {} (bvand {} {})))", args[0], word(1), args[1], word(63))
}

/// A remainder as what the quotient leaves; also by 0, where the quotient is 0.
fn as_rest(quotient: Opcode, args: &[String]) -> Option<String> {
    let quotient = results(quotient, args, &mut |_, _| unreachable!("a quotient of integers"))?.pop()?;
    Some(format!("(bvsub {} (bvmul {quotient} {}))", args[0], args[1]))
}

/// Whether a bound has one member.
pub(super) fn is_constant(parts: &Parts) -> String {
    format!("(= {} {})", parts.lower, parts.upper)
}

/// Whether a bound is this one.
pub(super) fn is(parts: &Parts, bound: &IntBound) -> String {
    equal(parts, &Parts::of(bound))
}

/// Whether two bounds are the same.
pub(super) fn equal(one: &Parts, other: &Parts) -> String {
    let pairs = one.names().into_iter().zip(other.names());
    let all: Vec<String> = pairs.map(|(one, other)| format!("(= {one} {other})")).collect();
    format!("(and {})", all.join(" "))
}

/// Whether a bound holds a value.
pub(super) fn contains(parts: &Parts, value: &str) -> String {
    format!("(and (bvsle {} {value}) (bvsle {value} {}) {})", parts.lower, parts.upper, has_bits(parts, value))
}

/// Whether a value has the known bits.
fn has_bits(parts: &Parts, value: &str) -> String {
    format!("(= (bvand (bvxor {value} {}) (bvnot {})) {})", parts.tvalue, parts.tmask, word(0))
}
