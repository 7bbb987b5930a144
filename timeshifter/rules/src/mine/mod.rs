//! Finding rules: short sequences of ops that occur in residual graphs, and cheaper terms that give the same.
//!
//! A sequence is an op, or one on what other ops give, three in all at most, with variables for everything else; of
//! each is kept how often it occurs, and which [`conditions`](Condition) the bounds of its variables satisfy there.
//! Terms that weigh less are computed on some hundred inputs; those that give the same are proven (as in S. Bansal, A.
//! Aiken, "Automatic generation of peephole superoptimizers", 2006). Where that is so only under a condition, the rule
//! checks it.
//!
//! ```text
//! 40 times int_add(int_popcount(x), y), and 31 times of these x is 0 or 1
//! int_add_int_popcount: int_add(int_popcount(x), y)
//!     check x.is_bool()
//!     => int_add(x, y)
//! ```

mod search;

pub use search::{Cheaper, Finder};

use crate::rule::{Literal, Term};
use bounds::IntBound;
use flowgraph::ir::{Graph, Op, Opcode, Operand, OperandType, Type, ValueId};
use std::collections::{BTreeMap, HashMap};

/// More variables than these make too many terms.
const VARIABLES: usize = 3;
/// The ops of the longest sequences.
const OPS: usize = 3;

/// Something that the bounds of one or two variables may say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Condition {
    /// `x.is_bool()`
    IsBool(usize),
    /// `x.known_nonnegative()`
    Nonnegative(usize),
    /// `x.and_bound(y).known_eq_const(0)`
    Apart(usize, usize),
    /// `x.known_lt(y)`
    Less(usize, usize),
    /// `x.known_unsigned_lt(y)`
    UnsignedLess(usize, usize),
    /// `x.add_bound_cannot_overflow(y)`
    AddFits(usize, usize),
    /// `x.sub_bound_cannot_overflow(y)`
    SubFits(usize, usize),
    /// `x.mul_bound_cannot_overflow(y)`
    MulFits(usize, usize),
}

impl Condition {
    /// All that can be asked of so many variables.
    fn all(vars: usize) -> Vec<Condition> {
        use Condition as C;
        let one = (0..vars).flat_map(|x| [C::IsBool(x), C::Nonnegative(x)]);
        let unordered = (0..vars).flat_map(move |x| (x + 1..vars).map(move |y| (x, y)));
        let either = unordered.clone().flat_map(|(x, y)| [C::Apart(x, y), C::AddFits(x, y), C::MulFits(x, y)]);
        let ordered = unordered.flat_map(|(x, y)| [(x, y), (y, x)]);
        let ordered = ordered.flat_map(|(x, y)| [C::Less(x, y), C::UnsignedLess(x, y), C::SubFits(x, y)]);
        one.chain(either).chain(ordered).collect()
    }

    /// Whether bounds satisfy it; of constants that is whether they do.
    fn holds(self, known: &[IntBound]) -> bool {
        match self {
            Condition::IsBool(x) => known[x].is_bool(),
            Condition::Nonnegative(x) => known[x].known_nonnegative(),
            Condition::Apart(x, y) => known[x].and_bound(known[y]) == IntBound::constant(0),
            Condition::Less(x, y) => known[x].known_lt(known[y]),
            Condition::UnsignedLess(x, y) => known[x].known_ult(known[y]),
            Condition::AddFits(x, y) => known[x].add_bound_cannot_overflow(known[y]),
            Condition::SubFits(x, y) => known[x].sub_bound_cannot_overflow(known[y]),
            Condition::MulFits(x, y) => known[x].mul_bound_cannot_overflow(known[y]),
        }
    }

    /// As a rule asks it.
    fn text(self) -> String {
        let name = |var: usize| NAMES[var];
        match self {
            Condition::IsBool(x) => format!("{}.is_bool()", name(x)),
            Condition::Nonnegative(x) => format!("{}.known_nonnegative()", name(x)),
            Condition::Apart(x, y) => format!("{}.and_bound({}).known_eq_const(0)", name(x), name(y)),
            Condition::Less(x, y) => format!("{}.known_lt({})", name(x), name(y)),
            Condition::UnsignedLess(x, y) => format!("{}.known_unsigned_lt({})", name(x), name(y)),
            Condition::AddFits(x, y) => format!("{}.add_bound_cannot_overflow({})", name(x), name(y)),
            Condition::SubFits(x, y) => format!("{}.sub_bound_cannot_overflow({})", name(x), name(y)),
            Condition::MulFits(x, y) => format!("{}.mul_bound_cannot_overflow({})", name(x), name(y)),
        }
    }
}

/// What variables are called.
const NAMES: [&str; VARIABLES] = ["x", "y", "z"];

/// A sequence of ops, and where it occurs.
#[derive(Clone, Debug)]
pub struct Sequence {
    /// The ops, with variables for their operands.
    pub pattern: Term,
    /// How often it occurs.
    pub count: usize,
    vars: usize,
    /// How often its conditions hold as these bits say, of [`Condition::all`].
    satisfied: BTreeMap<u64, usize>,
}

impl Sequence {
    /// How many ops it has.
    pub fn ops(&self) -> usize {
        self.pattern.ops()
    }

    /// How often all of these conditions hold.
    fn times(&self, bits: u64) -> usize {
        self.satisfied.iter().filter(|(satisfied, _)| *satisfied & bits == bits).map(|(_, count)| count).sum()
    }
}

/// Sequences of ops, and how often they occur.
#[derive(Debug, Default)]
pub struct Mined {
    found: HashMap<Vec<u64>, Sequence>,
}

/// The ops of a graph that compute one integer from integers, by what they give.
pub fn definitions(graph: &Graph) -> HashMap<ValueId, &Op> {
    let ops = graph.blocks.iter().flat_map(|block| &block.ops).filter(|op| is_sought(op));
    ops.map(|op| (op.results[0], op)).collect()
}

impl Mined {
    /// Takes the sequences that end in an op; `bound` is what is known of operands there.
    pub fn look_at(&mut self, op: &Op, ops: &HashMap<ValueId, &Op>, bound: &dyn Fn(Operand) -> IntBound) {
        if !is_sought(op) {
            return;
        }
        for (term, _) in expanded(op, ops, OPS - 1) {
            let mut leaves = Vec::new();
            let pattern = term.named(&mut leaves);
            if leaves.is_empty() || leaves.len() > VARIABLES {
                continue;
            }
            let known: Vec<IntBound> = leaves.iter().map(|leaf| bound(*leaf)).collect();
            let conditions = Condition::all(leaves.len());
            let bits =
                (0..conditions.len()).filter(|at| conditions[*at].holds(&known)).fold(0, |bits, at| bits | 1 << at);
            let mut key = Vec::new();
            term.key(&leaves, &mut key);
            let new = || Sequence { pattern, count: 0, vars: leaves.len(), satisfied: BTreeMap::new() };
            let sequence = self.found.entry(key).or_insert_with(new);
            sequence.count += 1;
            *sequence.satisfied.entry(bits).or_default() += 1;
        }
    }

    /// Those that occur often enough, the most frequent first.
    pub fn sequences(self, least: usize) -> Vec<Sequence> {
        let mut all: Vec<(Vec<u64>, Sequence)> =
            self.found.into_iter().filter(|(_, sequence)| sequence.count >= least).collect();
        all.sort_by(|(key, one), (other_key, other)| other.count.cmp(&one.count).then_with(|| key.cmp(other_key)));
        all.into_iter().map(|(_, sequence)| sequence).collect()
    }
}

/// Ops on operands of a graph.
#[derive(Clone)]
enum Found {
    Op(Opcode, Vec<Found>),
    Leaf(Operand),
}

impl Found {
    /// With variables for the operands that are no numbers, in the order in which they come.
    fn named(&self, leaves: &mut Vec<Operand>) -> Term {
        match self {
            Found::Op(op, args) => Term::Op(*op, args.iter().map(|arg| arg.named(leaves)).collect()),
            Found::Leaf(operand) => match operand.as_int() {
                Some(number) => Term::Int(Literal::Number(number)),
                None => Term::Var(leaves.iter().position(|leaf| leaf == operand).unwrap_or_else(|| {
                    leaves.push(*operand);
                    leaves.len() - 1
                })),
            },
        }
    }

    /// The same in few words.
    fn key(&self, leaves: &[Operand], key: &mut Vec<u64>) {
        match self {
            Found::Op(op, args) => {
                key.push(1 << 32 | *op as u64);
                args.iter().for_each(|arg| arg.key(leaves, key));
            }
            Found::Leaf(operand) => match operand.as_int() {
                Some(number) => key.extend([2 << 32, number as u64]),
                None => key.push(leaves.iter().position(|leaf| leaf == operand).unwrap_or_default() as u64),
            },
        }
    }
}

/// An op with each choice of operands as they are computed, in no more than so many ops besides; and how many are left.
fn expanded(op: &Op, ops: &HashMap<ValueId, &Op>, left: usize) -> Vec<(Found, usize)> {
    let mut lists: Vec<(Vec<Found>, usize)> = vec![(Vec::new(), left)];
    for arg in &op.args {
        let inner = arg.value().and_then(|value| ops.get(&value));
        lists = lists
            .into_iter()
            .flat_map(|(list, left)| {
                let with = |arg: Found| [list.clone(), vec![arg]].concat();
                let mut all = vec![(with(Found::Leaf(*arg)), left)];
                if let Some(inner) = inner.filter(|_| left > 0) {
                    all.extend(expanded(inner, ops, left - 1).into_iter().map(|(arg, left)| (with(arg), left)));
                }
                all
            })
            .collect();
    }
    lists.into_iter().map(|(args, left)| (Found::Op(op.opcode, args), left)).collect()
}

/// Whether an op computes one integer from integers.
fn is_sought(op: &Op) -> bool {
    let is_int = |ty: &OperandType| *ty == OperandType::Is(Type::Int);
    let sought = op.opcode.is_pure()
        && op.results.len() == 1
        && op.opcode.operands().iter().chain(op.opcode.results()).all(is_int);
    // An address is no number.
    sought && op.args.iter().all(|arg| arg.constant().is_none() || arg.as_int().is_some())
}
