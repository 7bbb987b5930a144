//! Rules tried on many values, without a prover: what is wrong mostly shows at once, on small numbers.

use crate::eval::Bindings;
use crate::rule::{Rule, Term, VarKind};
use bounds::Bound;
use flowgraph::ir::Type;
use std::fmt::Write;

/// What trying a rule has shown.
#[derive(Clone, Debug)]
pub struct Sampled<const W: u32> {
    /// How often it applied.
    pub applied: u64,
    /// Where both sides differ.
    pub counterexample: Option<Counterexample<W>>,
}

/// Values for which a rule applies and its two sides differ.
#[derive(Clone, Debug)]
pub struct Counterexample<const W: u32> {
    /// What variables stand for.
    pub bindings: Bindings<W>,
    /// What the pattern gives; 0 for a second result that there isn't.
    pub before: [i64; 2],
    /// What the target gives.
    pub after: [i64; 2],
}

impl<const W: u32> Counterexample<W> {
    /// What the values show, if they show anything: variables of the pattern have values, and bounds that hold these.
    pub fn of(rule: &Rule, mut bindings: Bindings<W>) -> Tried<W> {
        if !bindings.applies(rule) {
            return Tried::DoesNotApply;
        }
        match (bindings.results(&rule.pattern), bindings.results(&rule.target)) {
            (Some(before), Some(after)) if before != after => {
                Tried::Differs(Counterexample { bindings, before, after })
            }
            _ => Tried::Same,
        }
    }

    /// Inputs with their bounds, what was computed, and both results: a line each.
    pub fn describe(&self, rule: &Rule) -> String {
        let mut text = String::new();
        let looked_at = !rule.steps.is_empty();
        for (at, var) in rule.vars.iter().enumerate() {
            let _ = match var.kind {
                VarKind::Bound => writeln!(text, "  {} = {}", var.name, self.bindings.bounds[at]),
                VarKind::Bool => writeln!(text, "  {} = {}", var.name, self.bindings.truths[at]),
                VarKind::Any(Type::Int) if looked_at => {
                    writeln!(
                        text,
                        "  {} = {} (known of it: {})",
                        var.name,
                        number(self.bindings.values[at]),
                        self.bindings.bounds[at]
                    )
                }
                _ => writeln!(text, "  {} = {}", var.name, shown(self.bindings.values[at], var.ty())),
            };
        }
        for term in inner(&rule.pattern) {
            if let Some(value) = self.bindings.value(term) {
                let _ = writeln!(text, "  {} = {}", rule.show(term), shown(value, term.ty(&rule.vars)));
            }
        }
        let ty = rule.pattern.ty(&rule.vars);
        let flags = |term: &Term| matches!(term, Term::Op(op, _) if op.results().len() > 1);
        let sides = [("the pattern", &rule.pattern, self.before), ("the target", &rule.target, self.after)];
        for (side, term, results) in sides {
            let flag = match (flags(term), flags(&rule.pattern) != flags(&rule.target)) {
                (true, _) => format!(", overflow {}", results[1]),
                (false, true) => ", and there is no overflow".to_owned(),
                (false, false) => String::new(),
            };
            let _ = writeln!(text, "  {side} {} gives {}{flag}", rule.show(term), shown(results[0], ty));
        }
        text
    }
}

/// What trying a rule on values shows.
#[derive(Clone, Debug)]
pub enum Tried<const W: u32> {
    /// It doesn't apply to them.
    DoesNotApply,
    /// Both sides give the same.
    Same,
    /// They don't.
    Differs(Counterexample<W>),
}

/// The ops inside of a term.
fn inner(term: &Term) -> Vec<&Term> {
    let mut found = Vec::new();
    term.each(&mut |inner| {
        if matches!(inner, Term::Op(..)) {
            found.push(inner);
        }
    });
    found.remove(0);
    found.reverse();
    found
}

fn shown(value: i64, ty: Type) -> String {
    match ty {
        Type::Float => format!("{:?} ({value:#x})", f64::from_bits(value as u64)),
        Type::Single => format!("{:?} ({value:#x})", f32::from_bits(value as u32)),
        _ => number(value),
    }
}

fn number(value: i64) -> String {
    match value {
        i64::MIN => "MININT".to_owned(),
        i64::MAX => "MAXINT".to_owned(),
        -65536..=65536 => value.to_string(),
        _ => format!("{value} ({value:#x})"),
    }
}

/// Tries a rule on up to `tries` sets of values, the small ones first. Always the same ones.
pub fn sample<const W: u32>(rule: &Rule, tries: usize) -> Sampled<W> {
    let mut found = Sampled { applied: 0, counterexample: None };
    let mut random = Random::new(1);
    let values = candidates::<W>(rule);
    let vars = rule.matched.max(1) as u32;
    // As many of the first candidates as all combinations of them are half of the tries.
    let mut few = 1;
    while few < values.len() && ((few + 1) as u64).checked_pow(vars).is_some_and(|all| all <= tries as u64 / 2) {
        few += 1;
    }
    let systematic = (few as u64).pow(vars) as usize;
    for at in 0..tries {
        let mut rest = at;
        let mut bindings = Bindings::<W>::new(rule);
        for var in 0..rule.matched {
            let ty = rule.vars[var].ty();
            bindings.values[var] = match ty {
                Type::Int if at < systematic => values[rest % few],
                Type::Int => random.int::<W>(&values),
                ty => random.float(ty),
            };
            rest /= few;
        }
        // What is known: all, nothing, and something in between.
        for known in 0..3 {
            for var in 0..rule.matched {
                let value = bindings.values[var];
                bindings.bounds[var] = match known {
                    _ if rule.vars[var].ty() != Type::Int => Bound::unbounded(),
                    0 => Bound::constant(value),
                    1 => random.bound::<W>(value),
                    _ => Bound::unbounded(),
                };
            }
            match Counterexample::of(rule, bindings.clone()) {
                Tried::DoesNotApply => {}
                Tried::Same => found.applied += 1,
                Tried::Differs(counterexample) => {
                    found.applied += 1;
                    found.counterexample = Some(shrunk(rule, counterexample));
                    return found;
                }
            }
            if rule.steps.is_empty() {
                break;
            }
        }
    }
    found
}

/// How often all variables are made smaller.
const ROUNDS: usize = 64;

/// A counterexample with smaller numbers, one variable after the other, as long as that goes.
pub fn shrunk<const W: u32>(rule: &Rule, mut found: Counterexample<W>) -> Counterexample<W> {
    let before = |found: &Counterexample<W>, var: usize| found.bindings.values[var].unsigned_abs();
    for _ in 0..ROUNDS {
        let mut smaller = false;
        for var in (0..rule.matched).filter(|var| rule.vars[*var].ty() == Type::Int) {
            let value = found.bindings.values[var];
            let halves = (0..W).map(|by| value / (1i64.checked_shl(by).unwrap_or(1).max(1)));
            let tries = (0..4)
                .flat_map(|n| [n, -n])
                .chain(halves)
                // Less by a power of two, the large ones first: one by one would take forever.
                .chain((0..W - 1).rev().map(|by| value.wrapping_sub(value.signum() << by)))
                .map(Bound::<W>::wrap);
            for less in tries.filter(|less| less.unsigned_abs() < value.unsigned_abs()) {
                // What was known is known no more: of the new value nothing, or all.
                for bound in [found.bindings.bounds[var], Bound::constant(less), Bound::unbounded()] {
                    let mut bindings = found.bindings.clone();
                    (bindings.values[var], bindings.bounds[var]) = (less, bound);
                    if bound.contains(less)
                        && let Tried::Differs(next) = Counterexample::of(rule, bindings)
                        && before(&next, var) < before(&found, var)
                    {
                        found = next;
                        smaller = true;
                    }
                }
            }
        }
        if !smaller {
            break;
        }
    }
    found
}

/// Integers worth trying, the small ones first: also those that the rule speaks of, and their neighbours.
fn candidates<const W: u32>(rule: &Rule) -> Vec<i64> {
    let mut all: Vec<i64> = (0..=4).flat_map(|n| [n, -n]).collect();
    // What it speaks of is written in it.
    for word in rule.text.split(|c: char| !c.is_ascii_alphanumeric()) {
        if let Ok(number) = word.parse::<i64>() {
            let near = [number, number.wrapping_add(1), number.wrapping_sub(1)];
            all.extend(near.into_iter().flat_map(|number| [number, number.wrapping_neg()]));
        }
    }
    let bits = i64::from(W);
    all.extend([
        5,
        7,
        8,
        -8,
        bits - 1,
        bits,
        bits + 1,
        127,
        -128,
        255,
        256,
        1 << 15,
        0xffff,
        1 << 31,
        (1 << 31) - 1,
        0xffff_ffff,
    ]);
    all.extend([
        Bound::<W>::MIN,
        Bound::<W>::MAX,
        Bound::<W>::MIN + 1,
        Bound::<W>::MAX - 1,
        0x0f0f_0f0f_0f0f_0f0f,
        0x5555_5555_5555_5555,
    ]);
    let mut found = Vec::new();
    for value in all.into_iter().map(Bound::<W>::wrap) {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// Numbers that look random and are always the same (xorshift: G. Marsaglia, 2003).
pub(crate) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Any word.
    pub fn word(&mut self) -> u64 {
        self.next()
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() >> 16) as usize % n.max(1)
    }

    /// Corners, powers of two and their neighbours, small numbers, and any.
    pub fn int<const W: u32>(&mut self, corners: &[i64]) -> i64 {
        let any = self.next() as i64;
        Bound::<W>::wrap(match self.below(6) {
            0 => corners[self.below(corners.len())],
            1 => 1 << (any & 63),
            2 => (1i64 << (any & 63)).wrapping_sub(1),
            3 => (self.below(200) as i64) - 70,
            4 => any >> self.below(63),
            _ => any,
        })
    }

    pub fn float(&mut self, ty: Type) -> i64 {
        const CORNERS: [f64; 12] =
            [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e300, -1e-310, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX];
        let any = self.next();
        let corner = CORNERS[self.below(CORNERS.len())];
        match (ty, self.below(3)) {
            (Type::Single, 0) => i64::from(any as u32),
            (Type::Single, _) => i64::from((corner as f32).to_bits()),
            (_, 0) => any as i64,
            _ => corner.to_bits() as i64,
        }
    }

    /// A bound that holds a value.
    pub fn bound<const W: u32>(&mut self, value: i64) -> Bound<W> {
        let bits = Bound::from_bits(value as u64, self.next() & self.next());
        let near = |by: i64| Bound::from_range(value.saturating_sub(by), value.saturating_add(by));
        let found = match self.below(5) {
            0 => near(1),
            1 => near(100),
            2 if value >= 0 => Bound::from_range(0, Bound::<W>::MAX),
            2 => Bound::from_range(Bound::<W>::MIN, -1),
            3 => near(self.next() as i64 & 0xffff).and_then(|range| range.meet(bits)),
            _ => Some(bits),
        };
        found.unwrap_or(Bound::unbounded())
    }
}
