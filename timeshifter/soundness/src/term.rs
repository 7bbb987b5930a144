//! Terms of bits: built once each, computed where all is known, written as SMT-LIB text.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write;

/// A term, by its number. It is of the thread that made it, until [`forget`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Term(u32);

/// What terms are made with. The names are SMT-LIB's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Udiv,
    Urem,
    Sdiv,
    Srem,
    And,
    Or,
    Xor,
    Not,
    Neg,
    Shl,
    Lshr,
    Ashr,
    Concat,
    Extract(u32, u32),
    Zext,
    Sext,
    Ite,
    Eq,
    Ult,
    Slt,
    Both,
    Either,
    Isnt,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Node {
    Number(u128),
    Name(String),
    Apply(Op, Vec<Term>),
}

#[derive(Default)]
struct Terms {
    /// With the number of bits; 0 is what is true or false.
    nodes: Vec<(Node, u32)>,
    numbers: HashMap<(Node, u32), Term>,
}

thread_local! {
    static TERMS: RefCell<Terms> = RefCell::default();
}

/// Forgets all terms.
pub fn forget() {
    TERMS.with_borrow_mut(|terms| *terms = Terms::default());
}

fn intern(node: Node, width: u32) -> Term {
    TERMS.with_borrow_mut(|terms| {
        let key = (node, width);
        if let Some(found) = terms.numbers.get(&key) {
            return *found;
        }
        let term = Term(u32::try_from(terms.nodes.len()).expect("terms are few"));
        terms.nodes.push(key.clone());
        terms.numbers.insert(key, term);
        term
    })
}

fn mask(width: u32) -> u128 {
    if width == 128 { u128::MAX } else { (1 << width.max(1)) - 1 }
}

fn signed(value: u128, width: u32) -> i128 {
    let unused = 128 - width;
    (value << unused) as i128 >> unused
}

/// A number of so many bits.
pub fn number(value: u128, width: u32) -> Term {
    intern(Node::Number(value & mask(width)), width)
}

/// What is true, or false.
pub fn truth(value: bool) -> Term {
    number(value.into(), 0)
}

/// Anything of so many bits.
pub fn name(name: &str, width: u32) -> Term {
    intern(Node::Name(name.to_owned()), width)
}

impl Term {
    fn node(self) -> (Node, u32) {
        TERMS.with_borrow(|terms| terms.nodes[self.0 as usize].clone())
    }

    /// Its number of bits; 0 for what is true or false.
    pub fn width(self) -> u32 {
        TERMS.with_borrow(|terms| terms.nodes[self.0 as usize].1)
    }

    /// The number that it is.
    pub fn value(self) -> Option<u128> {
        TERMS.with_borrow(|terms| match &terms.nodes[self.0 as usize].0 {
            Node::Number(value) => Some(*value),
            _ => None,
        })
    }

    /// The same as a signed one.
    pub fn signed(self) -> Option<i128> {
        self.value().map(|value| signed(value, self.width()))
    }

    /// What it is applied to, if it is made with an op.
    pub fn parts(self) -> Option<(Op, Vec<Term>)> {
        match self.node().0 {
            Node::Apply(op, args) => Some((op, args)),
            _ => None,
        }
    }
}

/// An op on terms.
pub fn apply(op: Op, args: &[Term]) -> Term {
    let width = match op {
        Op::Eq | Op::Ult | Op::Slt | Op::Both | Op::Either | Op::Isnt => 0,
        Op::Concat => args.iter().map(|arg| arg.width()).sum(),
        Op::Extract(high, low) => high - low + 1,
        Op::Zext | Op::Sext => panic!("these have a width: `extended`"),
        Op::Ite => args[1].width(),
        _ => args[0].width(),
    };
    made(op, args, width)
}

/// A term of more bits, or as many.
pub fn extended(op: Op, term: Term, width: u32) -> Term {
    if term.width() == width { term } else { made(op, &[term], width) }
}

fn made(op: Op, args: &[Term], width: u32) -> Term {
    let values: Option<Vec<u128>> = args.iter().map(|arg| arg.value()).collect();
    if let Some(value) = values.and_then(|values| computed(op, args, &values, width)) {
        return number(value, width);
    }
    if let Some(simple) = simpler(op, args, width) {
        return simple;
    }
    let mut args = args.to_vec();
    if matches!(op, Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Eq | Op::Both | Op::Either) {
        args.sort();
    }
    intern(Node::Apply(op, args), width)
}

fn computed(op: Op, args: &[Term], values: &[u128], width: u32) -> Option<u128> {
    let operand = args[0].width();
    let (a, b) = (values[0], values.get(1).copied().unwrap_or_default());
    let (sa, sb) = (signed(a, operand.max(1)), signed(b, operand.max(1)));
    Some(match op {
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Mul => a.wrapping_mul(b),
        Op::Udiv => a.checked_div(b)?,
        Op::Urem => a.checked_rem(b)?,
        Op::Sdiv => sa.checked_div(sb)? as u128,
        Op::Srem => sa.checked_rem(sb)? as u128,
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Not => !a,
        Op::Neg => a.wrapping_neg(),
        Op::Shl => {
            if b < width.into() {
                a << b
            } else {
                0
            }
        }
        Op::Lshr => {
            if b < width.into() {
                a >> b
            } else {
                0
            }
        }
        Op::Ashr => (sa >> b.min(127)) as u128,
        Op::Concat => args.iter().zip(values).fold(0, |all, (arg, value)| all << (arg.width() % 128) | value),
        Op::Extract(_, low) => a >> low,
        Op::Zext => a,
        Op::Sext => sa as u128,
        Op::Ite => {
            if a != 0 {
                b
            } else {
                values[2]
            }
        }
        Op::Eq => (a == b).into(),
        Op::Ult => (a < b).into(),
        Op::Slt => (sa < sb).into(),
        Op::Both => a & b,
        Op::Either => a | b,
        Op::Isnt => a ^ 1,
    })
}

/// What is the same and needs no op.
fn simpler(op: Op, args: &[Term], width: u32) -> Option<Term> {
    let (a, b) = (args[0], args.get(1).copied().unwrap_or(args[0]));
    let (va, vb) = (a.value(), b.value());
    let ones = Some(mask(a.width()));
    let zero = || number(0, width);
    match op {
        Op::Add | Op::Or | Op::Xor | Op::Either if va == Some(0) => Some(b),
        Op::Add | Op::Or | Op::Xor | Op::Either | Op::Sub | Op::Shl | Op::Lshr | Op::Ashr if vb == Some(0) => Some(a),
        Op::And | Op::Both if va == Some(0) || vb == Some(0) => Some(zero()),
        Op::Mul if va == Some(0) || vb == Some(0) => Some(zero()),
        Op::Mul | Op::Udiv if vb == Some(1) => Some(a),
        Op::Mul if va == Some(1) => Some(b),
        Op::And | Op::Both if va == ones => Some(b),
        Op::And | Op::Both if vb == ones => Some(a),
        Op::Or | Op::Either if va == ones => Some(a),
        Op::Or | Op::Either if vb == ones => Some(b),
        Op::Shl | Op::Lshr | Op::Ashr if va == Some(0) => Some(zero()),
        Op::And | Op::Or | Op::Both | Op::Either if a == b => Some(a),
        Op::Xor | Op::Sub | Op::Ult | Op::Slt if a == b => Some(zero()),
        Op::Eq if a == b => Some(truth(true)),
        Op::Ult if vb == Some(0) => Some(truth(false)),
        Op::Both if isnt(a) == b => Some(truth(false)),
        Op::Either if isnt(a) == b => Some(truth(true)),
        Op::Not | Op::Isnt => match a.parts() {
            Some((own, parts)) if own == op => Some(parts[0]),
            _ => None,
        },
        Op::Extract(high, 0) if high + 1 == a.width() => Some(a),
        Op::Extract(high, 0) => match a.parts() {
            Some((Op::Zext | Op::Sext, parts)) if parts[0].width() == high + 1 => Some(parts[0]),
            _ => None,
        },
        Op::Ite => {
            let c = args[2];
            match va {
                Some(1) => Some(b),
                Some(_) => Some(c),
                None if b == c => Some(b),
                None if width == 0 => match (b.value(), c.value()) {
                    (Some(1), _) => Some(either(a, c)),
                    (Some(_), _) => Some(both(isnt(a), c)),
                    (_, Some(1)) => Some(either(isnt(a), b)),
                    (_, Some(_)) => Some(both(a, b)),
                    _ => None,
                },
                None => None,
            }
        }
        _ => None,
    }
}

/// What isn't so.
pub fn isnt(a: Term) -> Term {
    if let Some(value) = a.value() {
        return truth(value == 0);
    }
    match a.parts() {
        Some((Op::Isnt, parts)) => parts[0],
        _ => intern(Node::Apply(Op::Isnt, vec![a]), 0),
    }
}

/// What both say.
pub fn both(a: Term, b: Term) -> Term {
    apply(Op::Both, &[a, b])
}

/// What all say.
pub fn all(terms: &[Term]) -> Term {
    terms.iter().copied().fold(truth(true), both)
}

/// What one of two says at least.
pub fn either(a: Term, b: Term) -> Term {
    apply(Op::Either, &[a, b])
}

/// What follows from another.
pub fn implies(a: Term, b: Term) -> Term {
    either(isnt(a), b)
}

/// Whether two are the same.
pub fn same(a: Term, b: Term) -> Term {
    apply(Op::Eq, &[a, b])
}

/// At most, with signs.
pub fn at_most(a: Term, b: Term) -> Term {
    isnt(apply(Op::Slt, &[b, a]))
}

/// At most, without signs.
pub fn at_most_unsigned(a: Term, b: Term) -> Term {
    isnt(apply(Op::Ult, &[b, a]))
}

/// Either of two.
pub fn choice(condition: Term, a: Term, b: Term) -> Term {
    apply(Op::Ite, &[condition, a, b])
}

/// Definitions of all that some terms stand on, the terms themselves, and the names that aren't `defined` elsewhere.
pub fn written(terms: &[Term], defined: &[(Term, String)]) -> (String, Vec<String>) {
    let mut text = String::new();
    let mut names: HashMap<Term, String> = HashMap::new();
    for (term, name) in defined {
        names.insert(*term, name.clone());
    }
    fn write(term: Term, text: &mut String, names: &mut HashMap<Term, String>) -> String {
        if let Some(name) = names.get(&term) {
            return name.clone();
        }
        let (node, width) = term.node();
        let sort = if width == 0 { "Bool".to_owned() } else { format!("(_ BitVec {width})") };
        let name = match node {
            Node::Number(value) => match width {
                0 => (value == 1).to_string(),
                _ if width % 4 == 0 => format!("#x{value:0digits$x}", digits = width as usize / 4),
                _ => format!("#b{value:0digits$b}", digits = width as usize),
            },
            Node::Name(name) => {
                let _ = writeln!(text, "(declare-const {name} {sort})");
                name
            }
            Node::Apply(op, args) => {
                let args: Vec<String> = args.iter().map(|arg| write(*arg, text, names)).collect();
                let operand = || {
                    TERMS.with_borrow(|terms| match &terms.nodes[term.0 as usize].0 {
                        Node::Apply(_, args) => terms.nodes[args[0].0 as usize].1,
                        _ => 0,
                    })
                };
                let mark = match op {
                    Op::Extract(high, low) => format!("(_ extract {high} {low})"),
                    Op::Zext => format!("(_ zero_extend {})", width - operand()),
                    Op::Sext => format!("(_ sign_extend {})", width - operand()),
                    Op::Ite => "ite".to_owned(),
                    Op::Eq => "=".to_owned(),
                    Op::Both => "and".to_owned(),
                    Op::Either => "or".to_owned(),
                    Op::Isnt => "not".to_owned(),
                    Op::Concat => "concat".to_owned(),
                    op => format!("bv{}", format!("{op:?}").to_lowercase()),
                };
                let name = format!("t{}", term.0);
                let _ = writeln!(text, "(define-fun {name} () {sort} ({mark} {}))", args.join(" "));
                name
            }
        };
        names.insert(term, name.clone());
        name
    }
    let found = terms.iter().map(|term| write(*term, &mut text, &mut names)).collect();
    (text, found)
}
