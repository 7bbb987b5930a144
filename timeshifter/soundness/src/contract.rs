//! What functions of `bounds` promise.
//!
//! A promise says for which parameters it is made (mostly: each bound is as bounds are), and then that nothing panics
//! and what is true of the result and any members. Each is a theorem, proven from the function's own source
//! ([`crate::theorem`]); where another function calls it, it is taken for what it computes. So no formula grows large,
//! and none rests on more than the promises that are named with it.

use crate::explore::{Merge, fact, fresh, panics_if, terms_of};
use crate::set::{IntBound, Set, has_bits};
use crate::source::bits::Range;
use crate::source::tristate::Tristate;
use crate::term::{
    Op, Term, all, apply, at_most, at_most_unsigned, both, choice, either, extended, implies, isnt, number, same, truth,
};

/// What a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Bound,
    Tristate,
    /// A range without signs.
    Range,
    /// A number of so many bits.
    Word(u32),
}

/// What a function promises.
#[derive(Clone, Copy)]
pub struct Promise {
    /// The file, the type and the function.
    pub function: &'static str,
    /// What it is called with.
    pub kinds: &'static [Kind],
    /// How many numbers it speaks of.
    pub members: usize,
    /// For which parameters, besides those that are as they should be.
    pub given: fn(&[Term]) -> Term,
    /// What is true of parameters, result and numbers.
    pub says: fn(&[Term], &[Term], &[Term]) -> Term,
    /// The function: its result and where it panics.
    pub run: fn(&[Term]) -> (Vec<Term>, Term),
    /// The numbers that promises of what it calls are wanted of, and the pairs.
    pub about: fn(&[Term], &[Term]) -> About,
    /// Which functions are known by their promises alone.
    pub by: &'static [&'static str],
    /// Whether Z3 is asked for negative numbers and others by themselves.
    pub by_sign: bool,
    /// Whether it is asked for each value of the last parameter by itself, from one to another one.
    pub each: Option<(u32, u32)>,
}

/// Numbers, and pairs of numbers; and, where these are fewer, those that are wanted of `join`.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Numbers.
    pub numbers: Vec<Term>,
    /// Pairs.
    pub pairs: Vec<[Term; 2]>,
    /// What `join` is asked about, if not all of the numbers.
    pub joined: Option<Vec<Term>>,
}

fn about(numbers: Vec<Term>, pairs: Vec<[Term; 2]>) -> About {
    About { numbers, pairs, joined: None }
}

/// Of a bitwise op parts are joined, and only their results matter there.
fn bitwise(op: Op, m: &[Term], pairs: Vec<[Term; 2]>) -> About {
    About { numbers: vec![m[0], m[1], apply(op, m)], pairs, joined: Some(vec![apply(op, m)]) }
}

impl Kind {
    fn len(self) -> usize {
        match self {
            Kind::Bound => 4,
            Kind::Tristate | Kind::Range => 2,
            Kind::Word(_) => 1,
        }
    }

    /// Names for any.
    pub fn any(self, of: &str) -> Vec<Term> {
        let part = |part: &str, width| crate::term::name(&format!("{of}.{part}"), width);
        match self {
            Kind::Bound => vec![part("lower", 64), part("upper", 64), part("tvalue", 64), part("tmask", 64)],
            Kind::Tristate => vec![part("value", 64), part("mask", 64)],
            Kind::Range => vec![part("first", 64), part("last", 64)],
            Kind::Word(width) => vec![crate::term::name(of, width)],
        }
    }

    /// Whether it is as these are.
    pub fn valid(self, terms: &[Term]) -> Term {
        match self {
            Kind::Bound => Set::of(terms).valid(),
            Kind::Tristate => same(apply(Op::And, &[terms[0], terms[1]]), number(0, 64)),
            Kind::Range => at_most_unsigned(terms[0], terms[1]),
            Kind::Word(_) => truth(true),
        }
    }
}

impl Promise {
    /// For which parameters it is made.
    pub fn is_made(&self, parameters: &[Term]) -> Term {
        let mut rest = parameters;
        let mut holds = vec![(self.given)(parameters)];
        for kind in self.kinds {
            let (own, behind) = rest.split_at(kind.len());
            holds.push(kind.valid(own));
            rest = behind;
        }
        all(&holds)
    }

    /// A result of which only this is known.
    pub fn keep(&self, parameters: &[Term], widths: &[u32], about: &About) -> Vec<Term> {
        let short = self.function.rsplit("::").next().unwrap_or(self.function);
        let result: Vec<Term> = widths.iter().map(|width| fresh(short, *width)).collect();
        let is_made = self.is_made(parameters);
        let say = |members: &[Term]| fact(implies(is_made, (self.says)(parameters, &result, members)));
        match self.members {
            0 => say(&[]),
            1 => {
                let joined = about.joined.as_ref().filter(|_| short == "join");
                joined.unwrap_or(&about.numbers).iter().for_each(|member| say(&[*member]));
            }
            _ => about.pairs.iter().for_each(|pair| say(pair)),
        }
        panics_if(isnt(is_made));
        result
    }
}

fn sum(a: Term, b: Term) -> Term {
    apply(Op::Add, &[a, b])
}

fn difference(a: Term, b: Term) -> Term {
    apply(Op::Sub, &[a, b])
}

fn not(a: Term) -> Term {
    apply(Op::Not, &[a])
}

fn wide(a: Term) -> Term {
    extended(Op::Sext, a, 128)
}

fn always(_: &[Term]) -> Term {
    truth(true)
}

fn members(_: &[Term], members: &[Term]) -> About {
    about(members.to_vec(), Vec::new())
}

fn pair(_: &[Term], members: &[Term]) -> About {
    about(members.to_vec(), vec![[members[0], members[1]]])
}

/// A result that is there if a number is in it, and is as bounds are.
fn maybe_has(result: &[Term], if_: Term, member: Term) -> Term {
    let set = Set::of(&result[1..]);
    both(implies(result[0], set.valid()), implies(if_, both(result[0], set.has(member))))
}

macro_rules! run {
    (|$($name:ident: $ty:ty),*| $body:expr) => {
        |parameters: &[Term]| terms_of(|| {
            let mut parameters = parameters.iter().copied();
            $(let $name = <$ty as Merge>::take(&mut parameters);)*
            $body
        })
    };
}

type B = IntBound;
use crate::word::{I64, I128, U32};

/// All of them; what a promise rests on comes before it.
pub const PROMISES: &[Promise] = &[
    // For any ends and bits: what is in the result is just what lies between the ends and has the bits.
    Promise {
        function: "reduce::Bound::reduced",
        kinds: &[Kind::Word(64), Kind::Word(64), Kind::Tristate],
        members: 1,
        given: always,
        says: |p, r, m| {
            let set = Set::of(&r[1..]);
            let is_in = all(&[at_most(p[0], m[0]), at_most(m[0], p[1]), has_bits(p[2], p[3], m[0])]);
            let within = all(&[
                set.valid(),
                at_most(p[0], set.lower),
                at_most(set.upper, p[1]),
                has_bits(p[2], p[3], set.lower),
                has_bits(p[2], p[3], set.upper),
            ]);
            both(implies(r[0], within), same(is_in, both(r[0], set.has(m[0]))))
        },
        run: run!(|lower: I64, upper: I64, bits: Tristate| B::reduced(lower, upper, bits)),
        about: members,
        by: &[],
        by_sign: false,
        each: None,
    },
    Promise {
        function: "lattice::Bound::meet",
        kinds: &[Kind::Bound, Kind::Bound],
        members: 1,
        given: always,
        says: |p, r, m| {
            let set = Set::of(&r[1..]);
            let (a, b) = (Set::of(p), Set::of(&p[4..]));
            let is_in = both(a.has(m[0]), b.has(m[0]));
            let ends = all(&[a.has(set.lower), a.has(set.upper), b.has(set.lower), b.has(set.upper)]);
            both(implies(r[0], both(set.valid(), ends)), same(is_in, both(r[0], set.has(m[0]))))
        },
        run: run!(|a: B, b: B| a.meet(b)),
        about: members,
        by: &["reduce::Bound::reduced"],
        by_sign: false,
        each: None,
    },
    Promise {
        function: "lattice::Bound::join",
        kinds: &[Kind::Bound, Kind::Bound],
        members: 1,
        given: always,
        says: |p, r, m| {
            let is_in = either(Set::of(p).has(m[0]), Set::of(&p[4..]).has(m[0]));
            let less = |a, b| apply(Op::Slt, &[a, b]);
            let ends = both(
                same(r[0], choice(less(p[0], p[4]), p[0], p[4])),
                same(r[1], choice(less(p[1], p[5]), p[5], p[1])),
            );
            all(&[Set::of(r).valid(), ends, implies(is_in, Set::of(r).has(m[0]))])
        },
        run: run!(|a: B, b: B| a.join(b)),
        about: members,
        by: &[],
        by_sign: false,
        each: None,
    },
    Promise {
        function: "tristate::Tristate::add",
        kinds: &[Kind::Tristate, Kind::Tristate],
        members: 2,
        given: always,
        says: |p, r, m| {
            let are_in = both(has_bits(p[0], p[1], m[0]), has_bits(p[2], p[3], m[1]));
            both(Kind::Tristate.valid(r), implies(are_in, has_bits(r[0], r[1], sum(m[0], m[1]))))
        },
        run: run!(|a: Tristate, b: Tristate| a.add(b)),
        about: members,
        by: &[],
        by_sign: false,
        each: None,
    },
    Promise {
        function: "tristate::Tristate::sub",
        kinds: &[Kind::Tristate, Kind::Tristate],
        members: 2,
        given: always,
        says: |p, r, m| {
            let are_in = both(has_bits(p[0], p[1], m[0]), has_bits(p[2], p[3], m[1]));
            both(Kind::Tristate.valid(r), implies(are_in, has_bits(r[0], r[1], difference(m[0], m[1]))))
        },
        run: run!(|a: Tristate, b: Tristate| a.sub(b)),
        about: members,
        by: &[],
        by_sign: false,
        each: None,
    },
    // Sums that wrap upward once, not, or downward once.
    Promise {
        function: "arithmetic::Bound::sums_in_turn",
        kinds: &[Kind::Bound, Kind::Bound, Kind::Word(128)],
        members: 2,
        given: |p| lies_in_turns(p[8]),
        says: |p, r, m| {
            let (a, b) = (Set::of(p), Set::of(&p[4..]));
            // The exact sum is the wrapped one, so many turns away.
            let exact = sum(wide(m[0]), wide(m[1]));
            let wrapped = sum(m[0], m[1]);
            let away = apply(Op::Shl, &[p[8], number(64, 128)]);
            let is_turn = same(exact, sum(wide(wrapped), away));
            maybe_has(r, all(&[a.has(m[0]), b.has(m[1]), is_turn]), wrapped)
        },
        run: run!(|a: B, b: B, turn: I128| a.sums_in_turn(b, turn)),
        about: |_, m| about(vec![m[0], m[1], sum(m[0], m[1])], vec![[m[0], m[1]]]),
        by: &["reduce::Bound::reduced", "tristate::Tristate::add"],
        by_sign: false,
        each: None,
    },
    Promise {
        function: "arithmetic::Bound::add_bound",
        kinds: &[Kind::Bound, Kind::Bound],
        members: 2,
        given: always,
        says: |p, r, m| {
            let are_in = both(Set::of(p).has(m[0]), Set::of(&p[4..]).has(m[1]));
            both(Set::of(r).valid(), implies(are_in, Set::of(r).has(sum(m[0], m[1]))))
        },
        run: run!(|a: B, b: B| a.add_bound(b)),
        about: |_, m| about(vec![sum(m[0], m[1])], vec![[m[0], m[1]]]),
        by: &[
            "reduce::Bound::reduced",
            "tristate::Tristate::add",
            "arithmetic::Bound::sums_in_turn",
            "lattice::Bound::join",
        ],
        by_sign: false,
        each: None,
    },
    Promise {
        function: "arithmetic::Bound::sub_bound",
        kinds: &[Kind::Bound, Kind::Bound],
        members: 2,
        given: always,
        says: |p, r, m| {
            let are_in = both(Set::of(p).has(m[0]), Set::of(&p[4..]).has(m[1]));
            both(Set::of(r).valid(), implies(are_in, Set::of(r).has(difference(m[0], m[1]))))
        },
        run: run!(|a: B, b: B| a.sub_bound(b)),
        about: |_, m| about(vec![], vec![[not(m[0]), m[1]]]),
        by: &["arithmetic::Bound::add_bound"],
        by_sign: false,
        each: None,
    },
    Promise {
        function: "bits::Range::min_or",
        kinds: &[Kind::Range, Kind::Range],
        members: 2,
        given: always,
        says: |p, r, m| {
            let least = implies(are_between(p, m), at_most_unsigned(r[0], apply(Op::Or, m)));
            both(least, same(sign(r[0]), either(sign(p[0]), sign(p[2]))))
        },
        run: run!(|a: Range, b: Range| a.min_or(b)),
        about: pair,
        by: &[],
        by_sign: false,
        each: None,
    },
    Promise {
        function: "bits::Range::max_or",
        kinds: &[Kind::Range, Kind::Range],
        members: 2,
        given: always,
        says: |p, r, m| {
            let most = implies(are_between(p, m), at_most_unsigned(apply(Op::Or, m), r[0]));
            both(most, same(sign(r[0]), either(sign(p[1]), sign(p[3]))))
        },
        run: run!(|a: Range, b: Range| a.max_or(b)),
        about: pair,
        by: &[],
        by_sign: false,
        each: None,
    },
    // For each number of bits.
    Promise {
        function: "shifts::Bound::sign_extended",
        kinds: &[Kind::Bound, Kind::Word(32)],
        members: 1,
        given: |p| both(at_most_unsigned(number(1, 32), p[4]), at_most_unsigned(p[4], number(64, 32))),
        says: |p, r, m| {
            let fits = |end| same(extension(p[4], end), end);
            let holds = implies(Set::of(p).has(m[0]), Set::of(r).has(extension(p[4], m[0])));
            all(&[Set::of(r).valid(), fits(r[0]), fits(r[1]), holds])
        },
        run: run!(|a: B, n: U32| a.sign_extended(n)),
        about: |p, m| about(vec![m[0], extension(p[4], m[0])], Vec::new()),
        by: &["reduce::Bound::reduced", "lattice::Bound::join"],
        by_sign: false,
        each: Some((1, 64)),
    },
    Promise {
        function: "bits::Bound::and_bound",
        kinds: &[Kind::Bound, Kind::Bound],
        members: 2,
        given: always,
        says: |p, r, m| result_of(Op::And, p, r, m),
        run: run!(|a: B, b: B| a.and_bound(b)),
        about: |_, m| bitwise(Op::And, m, vec![[not(m[0]), not(m[1])]]),
        by: BITWISE,
        by_sign: true,
        each: None,
    },
    Promise {
        function: "bits::Bound::or_bound",
        kinds: &[Kind::Bound, Kind::Bound],
        members: 2,
        given: always,
        says: |p, r, m| result_of(Op::Or, p, r, m),
        run: run!(|a: B, b: B| a.or_bound(b)),
        about: |_, m| bitwise(Op::Or, m, vec![[m[0], m[1]]]),
        by: BITWISE,
        by_sign: true,
        each: None,
    },
    Promise {
        function: "bits::Bound::xor_bound",
        kinds: &[Kind::Bound, Kind::Bound],
        members: 2,
        given: always,
        says: |p, r, m| result_of(Op::Xor, p, r, m),
        run: run!(|a: B, b: B| a.xor_bound(b)),
        about: |_, m| {
            let only = [apply(Op::And, &[m[0], not(m[1])]), apply(Op::And, &[not(m[0]), m[1]])];
            bitwise(Op::Xor, m, vec![[m[0], not(m[1])], [not(m[0]), m[1]], only])
        },
        by: BITWISE,
        by_sign: true,
        each: None,
    },
    Promise {
        function: "shifts::Bound::lshift_const",
        kinds: &[Kind::Bound, Kind::Word(32)],
        members: 1,
        given: |p| is_amount(p[4]),
        says: |p, r, m| {
            let low = not(apply(Op::Shl, &[number(u128::MAX, 64), extended(Op::Zext, p[4], 64)]));
            let ones = apply(Op::Or, &[r[2], r[3]]);
            both(shifted(Op::Shl, p, r, m), same(apply(Op::And, &[ones, low]), number(0, 64)))
        },
        run: run!(|a: B, amount: U32| a.lshift_const(amount)),
        about: members,
        by: &["shifts::Bound::sign_extended"],
        by_sign: false,
        each: None,
    },
    Promise {
        function: "shifts::Bound::rshift_const",
        kinds: &[Kind::Bound, Kind::Word(32)],
        members: 1,
        given: |p| is_amount(p[4]),
        says: |p, r, m| {
            let end = |at: usize| same(r[at], apply(Op::Ashr, &[p[at], extended(Op::Zext, p[4], 64)]));
            all(&[shifted(Op::Ashr, p, r, m), end(0), end(1)])
        },
        run: run!(|a: B, amount: U32| a.rshift_const(amount)),
        about: members,
        by: &[],
        by_sign: false,
        each: None,
    },
    Promise {
        function: "shifts::Bound::urshift_const",
        kinds: &[Kind::Bound, Kind::Word(32)],
        members: 1,
        given: |p| is_amount(p[4]),
        says: |p, r, m| {
            let most = apply(Op::Lshr, &[number(u128::MAX, 64), extended(Op::Zext, p[4], 64)]);
            let fits = both(at_most_unsigned(r[0], most), at_most_unsigned(r[1], most));
            both(shifted(Op::Lshr, p, r, m), fits)
        },
        run: run!(|a: B, amount: U32| a.urshift_const(amount)),
        about: |p, m| about(vec![m[0], apply(Op::Lshr, &[m[0], extended(Op::Zext, p[4], 64)])], Vec::new()),
        by: &["reduce::Bound::reduced", "lattice::Bound::join"],
        by_sign: false,
        each: None,
    },
    Promise {
        function: "lattice::Bound::widen",
        kinds: &[Kind::Bound, Kind::Bound],
        members: 1,
        given: always,
        says: |p, r, m| {
            let is_in = either(Set::of(p).has(m[0]), Set::of(&p[4..]).has(m[0]));
            both(Set::of(r).valid(), implies(is_in, Set::of(r).has(m[0])))
        },
        run: run!(|a: B, b: B| a.widen(b)),
        about: members,
        by: &["lattice::Bound::join", "reduce::Bound::reduced"],
        by_sign: false,
        each: None,
    },
    comparison(
        "refine_compare::Bound::refine_eq",
        |p, r, m| related(same(m[0], m[1]), p, r, m),
        run!(|a: B, b: B| a.refine_eq(b)),
    ),
    comparison(
        "refine_compare::Bound::refine_ne",
        |p, r, m| related(isnt(same(m[0], m[1])), p, r, m),
        run!(|a: B, b: B| a.refine_ne(b)),
    ),
    comparison(
        "refine_compare::Bound::refine_lt",
        |p, r, m| related(apply(Op::Slt, m), p, r, m),
        run!(|a: B, b: B| a.refine_lt(b)),
    ),
    comparison(
        "refine_compare::Bound::refine_le",
        |p, r, m| related(at_most(m[0], m[1]), p, r, m),
        run!(|a: B, b: B| a.refine_le(b)),
    ),
    comparison(
        "refine_compare::Bound::refine_ult",
        |p, r, m| related(apply(Op::Ult, m), p, r, m),
        run!(|a: B, b: B| a.refine_ult(b)),
    ),
    comparison(
        "refine_compare::Bound::refine_ule",
        |p, r, m| related(at_most_unsigned(m[0], m[1]), p, r, m),
        run!(|a: B, b: B| a.refine_ule(b)),
    ),
];

type Says = fn(&[Term], &[Term], &[Term]) -> Term;

/// What a function promises that learns from a comparison.
const fn comparison(function: &'static str, says: Says, run: fn(&[Term]) -> (Vec<Term>, Term)) -> Promise {
    Promise {
        function,
        kinds: &[Kind::Bound, Kind::Bound],
        members: 2,
        given: always,
        says,
        run,
        about: pair,
        by: &["reduce::Bound::reduced", "lattice::Bound::meet"],
        by_sign: false,
        each: None,
    }
}

/// No two members for which it holds are lost, and what is left is as bounds are.
fn related(holds: Term, p: &[Term], r: &[Term], m: &[Term]) -> Term {
    let are_in = all(&[Set::of(p).has(m[0]), Set::of(&p[4..]).has(m[1]), holds]);
    let (a, b) = (Set::of(&r[1..]), Set::of(&r[5..]));
    let left = all(&[r[0], a.has(m[0]), b.has(m[1])]);
    both(implies(r[0], both(a.valid(), b.valid())), implies(are_in, left))
}

const BITWISE: &[&str] =
    &["reduce::Bound::reduced", "lattice::Bound::join", "bits::Range::min_or", "bits::Range::max_or"];

fn result_of(op: Op, p: &[Term], r: &[Term], m: &[Term]) -> Term {
    let are_in = both(Set::of(p).has(m[0]), Set::of(&p[4..]).has(m[1]));
    both(Set::of(r).valid(), implies(are_in, Set::of(r).has(apply(op, m))))
}

fn is_amount(amount: Term) -> Term {
    at_most_unsigned(amount, number(63, 32))
}

fn shifted(op: Op, p: &[Term], r: &[Term], m: &[Term]) -> Term {
    let value = apply(op, &[m[0], extended(Op::Zext, p[4], 64)]);
    both(Set::of(r).valid(), implies(Set::of(p).has(m[0]), Set::of(r).has(value)))
}

/// The low `n` bits, extended.
fn extension(n: Term, value: Term) -> Term {
    let unused = extended(Op::Zext, difference(number(64, 32), n), 64);
    apply(Op::Ashr, &[apply(Op::Shl, &[value, unused]), unused])
}

fn sign(word: Term) -> Term {
    apply(Op::Slt, &[word, number(0, 64)])
}

fn lies_in_turns(turn: Term) -> Term {
    [0, 1, u128::MAX].into_iter().map(|value| same(turn, number(value, 128))).fold(truth(false), either)
}

fn are_between(p: &[Term], m: &[Term]) -> Term {
    all(&[
        at_most_unsigned(p[0], m[0]),
        at_most_unsigned(m[0], p[1]),
        at_most_unsigned(p[2], m[1]),
        at_most_unsigned(m[1], p[3]),
    ])
}

/// The promise of a function.
pub fn promise(function: &str) -> &'static Promise {
    PROMISES.iter().find(|promise| promise.function == function).expect("it promises something")
}
