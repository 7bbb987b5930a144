//! What the optimizer does, one rewrite after the other: counted, told of, and stopped after so many for whoever looks
//! for the one that is wrong.

use crate::optimize::forward::integer::{Asked, RULES};
use flowgraph::ir::{Const, Loc, Opcode, Operand};
use rules::{Built, Interpreted};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::AddAssign;

macro_rules! kinds {
    ($($kind:ident = $name:literal, $doc:literal;)*) => {
        /// What can be done.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Kind { $(#[doc = $doc] $kind,)* }

        impl Kind {
            /// All of them, in the order in which they are asked.
            pub const ALL: &[Kind] = &[$(Kind::$kind,)*];

            /// It in a word or two.
            pub fn name(self) -> &'static str {
                match self { $(Kind::$kind => $name,)* }
            }
        }
    };
}

kinds! {
    Known = "known", "An operand is a constant, by its bound.";
    Load = "load", "What is loaded was stored or loaded before.";
    LoadOverJoin = "load over a join", "Each way to a join knows what is loaded there.";
    OpOverJoin = "op over a join", "Each way to a join says what an op gives there.";
    Simpler = "simpler", "Another op, or an operand, gives the same.";
    Selected = "selected", "A comparison finds the lesser or the greater of two numbers.";
    Sign = "sign", "Only the sign of a float is seen, and something cheaper has that.";
    NoOverflow = "no overflow", "An op that looks for overflow needn't.";
    Fold = "fold", "The result is a constant.";
    SameOp = "same op", "It has been done before, or is said.";
    Decided = "decided", "A branch can go one way only.";
    DeadStore = "dead store", "What is stored is overwritten before anybody looks, or lies there already.";
    Hoisted = "hoisted", "It is the same in each round of a loop, and done before it.";
    Peeled = "peeled", "The first round of a loop is done before it, as that spares the later ones something.";
    Unrolled = "unrolled", "Rounds of a loop that only looks for its end have one check of an index.";
    Bit = "bit", "A branch whose arms hand over 1 and 0 is what it branches on.";
    AllWays = "all ways", "All ways from a branch, or to a block, do it: it is done before that, or there.";
    Sunk = "sunk", "Only one way out of the block needs it.";
    Straightened = "straightened", "What an arm stores lies there anyway where it isn't taken: it is always done.";
    Range = "range", "Of two tests whether a value lies in a range one says as much.";
    MergedChecks = "merged checks", "Of several checks at constant distances one says as much as all.";
    MergedGuards = "merged guards", "Of several guards of one exit the first one asks for all.";
    Undemanded = "undemanded", "It changes only bits that nobody looks at.";
    EqualBlock = "equal block", "Another block does the same.";
    Appended = "appended", "A block that only one jump leads to is done where that was.";
    Parameter = "parameter", "The same is handed over along all ways.";
    Constant = "constant", "What an op is handed, or what is branched on, is a constant.";
    Branch = "branch", "A branch asks the same more simply, or not at all.";
    Dead = "dead", "Nobody uses what is computed or handed over.";
    Jump = "jump", "A block only jumps on.";
    Said = "said", "What the author says of values has served its purpose.";
}

impl Kind {
    /// Whether it needs no knowledge of what the values are: what others leave behind is cleaned away by it, so it
    /// can't be switched off.
    pub fn is_cleaning(self) -> bool {
        use Kind::*;
        matches!(self, Appended | Parameter | Constant | Branch | Dead | Jump | Said)
    }
}

/// Some kinds of rewrites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds(u32);

impl Kinds {
    /// Whether a kind is one of them.
    pub fn contains(self, kind: Kind) -> bool {
        self.0 >> kind as u32 & 1 != 0
    }

    /// All kinds that can be switched off.
    pub fn all() -> Kinds {
        Kind::ALL.iter().copied().filter(|kind| !kind.is_cleaning()).collect()
    }
}

impl FromIterator<Kind> for Kinds {
    fn from_iter<T: IntoIterator<Item = Kind>>(kinds: T) -> Kinds {
        Kinds(kinds.into_iter().fold(0, |bits, kind| bits | 1 << kind as u32))
    }
}

/// One rewrite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// What was done.
    pub what: Kind,
    /// The op or branch as it was, and what there is instead.
    pub change: String,
    /// What allows it.
    pub why: String,
    /// Where the op comes from.
    pub loc: Loc,
}

/// How often each of the optimizer's own rules fired, by the op that it was asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Firings(BTreeMap<(Opcode, usize), u64>);

impl Firings {
    /// Op, rule and count, in the order of the table of ops and that of the rules.
    pub fn iter(&self) -> impl Iterator<Item = (Opcode, &'static str, u64)> {
        self.0.iter().map(|((op, rule), count)| (*op, RULES[*rule], *count))
    }
}

impl AddAssign<&Firings> for Firings {
    fn add_assign(&mut self, other: &Firings) {
        for (key, count) in &other.0 {
            *self.0.entry(*key).or_default() += count;
        }
    }
}

/// The rewrites of a graph.
#[derive(Debug, Default)]
pub struct Rewrites {
    fuel: Option<u64>,
    count: u64,
    told: Option<Vec<Rewrite>>,
    without: Kinds,
    pub(crate) rules: Asked,
    fired: Firings,
    endless: Option<usize>,
}

impl Rewrites {
    /// As many as there are, or no more than `fuel`; with a text of each if they are to be explained.
    pub fn new(fuel: Option<u64>, explain: bool) -> Rewrites {
        Rewrites { fuel, told: explain.then(Vec::new), ..Rewrites::default() }
    }

    /// As many as there are, but for some kinds that can be switched off.
    pub fn without(kinds: Kinds) -> Rewrites {
        Rewrites { without: kinds, ..Rewrites::default() }
    }

    /// With these rules instead of the optimizer's own.
    pub fn with_rules(mut self, rules: Interpreted) -> Rewrites {
        self.rules = Asked::Others(rules);
        self
    }

    /// How often each rule fired, by the op that it was asked about; in the order of the table of ops and that of the
    /// rules.
    pub fn fired(&self) -> Vec<(Opcode, String, u64)> {
        self.fired.0.iter().map(|((op, rule), count)| (*op, self.rules.name(*rule).into_owned(), *count)).collect()
    }

    /// The same, to be added up; where the optimizer's own rules were asked.
    pub fn firings(self) -> Firings {
        match self.rules {
            Asked::Own => self.fired,
            Asked::Others(_) => Firings::default(),
        }
    }

    /// The names of all rules that are asked.
    pub fn rules(&self) -> Vec<String> {
        self.rules.all()
    }

    /// A rule that would have been used without end, if one was: it was given up. The optimizer's own are none of
    /// these.
    pub fn endless(&self) -> Option<Cow<'static, str>> {
        self.endless.map(|rule| self.rules.name(rule))
    }

    /// A rule is given up.
    pub(crate) fn goes_on_forever(&mut self, rule: usize) {
        self.endless.get_or_insert(rule);
    }

    /// A rule has fired.
    pub(crate) fn fires(&mut self, op: Opcode, rule: usize) {
        *self.fired.0.entry((op, rule)).or_default() += 1;
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether all that can be switched off is.
    pub(crate) fn only_cleans(&self) -> bool {
        self.without == Kinds::all()
    }

    /// Whether there are no more.
    pub(crate) fn is_spent(&self) -> bool {
        self.fuel.is_some_and(|fuel| self.count >= fuel)
    }

    /// What they were, if they are explained.
    pub fn told(&self) -> &[Rewrite] {
        self.told.as_deref().unwrap_or_default()
    }

    /// Whether a rewrite may be done; then it is counted, and told of with its change and the reason.
    pub(crate) fn may(&mut self, what: Kind, loc: Loc, told: impl FnOnce() -> (String, String)) -> bool {
        if self.without.contains(what) && !what.is_cleaning() || self.is_spent() {
            return false;
        }
        self.count += 1;
        if let Some(all) = &mut self.told {
            let (change, why) = told();
            all.push(Rewrite { what, change, why, loc });
        }
        true
    }
}

/// An operand as text.
pub(crate) fn shown(operand: Operand) -> String {
    match operand {
        Operand::Value(value) => value.to_string(),
        Operand::Const(Const::Int(i)) => i.to_string(),
        Operand::Const(Const::Float(bits)) => format!("{:?}", f64::from_bits(bits)),
        Operand::Const(Const::Single(bits)) => format!("{:?}s", f32::from_bits(bits)),
        Operand::Const(Const::Addr(data, offset)) => format!("&{}{offset:+}", data.0),
    }
}

/// An op as text, without its results.
pub(crate) fn shown_op(opcode: Opcode, args: &[Operand]) -> String {
    let args: Vec<String> = args.iter().map(|arg| shown(*arg)).collect();
    format!("{} {}", opcode.name(), args.join(", "))
}

/// What a rule has made, as text: the ops that are made before in parentheses.
pub(crate) fn shown_built(built: &Built) -> String {
    let inner = |arg: &Built| match arg {
        Built::Operand(operand) => shown(*operand),
        Built::Op(..) => format!("({})", shown_built(arg)),
    };
    match built {
        Built::Operand(operand) => shown(*operand),
        Built::Op(opcode, args) => {
            format!("{} {}", opcode.name(), args.iter().map(inner).collect::<Vec<_>>().join(", "))
        }
    }
}
