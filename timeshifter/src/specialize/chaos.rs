//! Chaos: a seed that flips heuristics, for tests.
//!
//! What is chosen for speed alone (when to trace, which version to enter, where a trace ends) must not change what a
//! run gives. A seed makes a stream of numbers, by which such choices are made otherwise now and then: the same seed
//! and the same runs, the same choices. Each seed has rates of its own, and leaves some choices as they are, so that
//! what one choice keeps from happening comes up with another seed (swarm testing: A. Groce and others, ISSTA 2012).
//!
//! ```
//! use timeshifter::specialize::{Chaos, Choice};
//! let mut chaos = Chaos::new(7).unwrap();
//! let flipped = (0..1000).filter(|_| chaos.flips(Choice::Share)).count() as u64;
//! assert_eq!(chaos.flipped.of(Choice::Share), flipped);
//! assert!(Chaos::new(0).is_none(), "0 is off");
//! ```
//!
//! Wherever it is asked there are two ways to go on that are both correct. What must be so for a loop to end, or for
//! code to stay bounded, is no choice.

use crate::specialize::engine::Engine;
use crate::specialize::state::State;
use flowgraph::ir::Op;
use std::ops::AddAssign;

macro_rules! choices {
    ($($name:ident: one in $rate:literal, $doc:literal;)*) => {
        /// A choice that chaos may make otherwise.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Choice { $(#[doc = $doc] $name,)* }

        impl Choice {
            /// All of them, in their order.
            pub const ALL: &[Choice] = &[$(Choice::$name),*];

            /// What comes of it when it is made otherwise, in a line.
            pub fn doc(self) -> &'static str {
                match self { $(Choice::$name => $doc,)* }
            }

            /// The bit that stands for it where a seed says which choices are left as they are.
            fn bit(self) -> u64 {
                1 << (self as u64)
            }

            /// Where the choice is made otherwise at all, it is so once in about so many times.
            fn rate(self) -> u64 {
                match self { $(Choice::$name => $rate,)* }
            }
        }
    };
}

choices! {
    Guard: one in 1, "a guard fails whose condition may hold";
    Stop: one in 8, "a trace is stopped at some step";
    Share: one in 4, "a guard has a snapshot of its own";
    Loop: one in 16, "a place is taken for the beginning of a loop, or isn't";
    Peel: one in 4, "a trace closes its loop in the first round";
    Version: one in 8, "a version that could be entered isn't";
    Drop: one in 4, "a round that was peeled off is dropped, or stays";
    Order: one in 4, "states are gone on with in another order";
    Alone: one in 4, "a state that comes alone is met like others";
    Ahead: one in 4, "states are merged though a split behind the join tells them apart";
    Cap: one in 32, "a join has its fill of greens";
    Twin: one in 128, "the rest goes on with everything red";
    Call: one in 8, "a call is made that could be copied in";
    Follow: one in 4, "the exit of an inner loop gets no bridge at once";
    Hot: one in 4, "a place or an exit is hot before its time";
    Full: one in 2, "a promotion has its fill of cases";
    Reenter: one in 4, "the interpreter goes on where compiled code could be entered";
    Leave: one in 4, "the evaluator goes on where tier 0 could";
    Arrive: one in 4, "tier 0 goes on where it was hot";
    Door: one in 4, "a version is looked for though there is a door";
    Retrace: one in 16, "a run is traced though there is code for it";
    Region: one in 4, "a region is made before its time";
    Way: one in 8, "a way that was traced is an exit of a region";
    Inner: one in 4, "a loop inside of another isn't in its region";
    End: one in 32, "a path of a region ends at a join";
    Forward: one in 4, "machine code of the interpreter goes on before its time";
    Anew: one in 8, "all code is thrown away in the midst of a run";
    Known: one in 2, "a loop that is known from elsewhere is traced";
    Function: one in 4, "a portal becomes a function before its time";
}

/// A seed, without what it says about choices that are left as they are.
const SEED_BITS: u32 = 32;

/// The seed that leaves a choice as it is, too.
pub fn without(seed: u64, choice: Choice) -> u64 {
    seed | choice.bit() << SEED_BITS
}

/// The choices that a seed doesn't leave as they are.
pub fn choices_of(seed: u64) -> impl Iterator<Item = Choice> {
    Choice::ALL.iter().copied().filter(move |choice| (seed >> SEED_BITS) & choice.bit() == 0)
}

/// How often each choice was made otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flipped([u64; Choice::ALL.len()]);

impl Flipped {
    /// How often this one was.
    pub fn of(&self, choice: Choice) -> u64 {
        self.0[choice as usize]
    }

    /// This one was, so many times.
    pub fn see(&mut self, choice: Choice, times: u64) {
        self.0[choice as usize] += times;
    }
}

impl AddAssign for Flipped {
    fn add_assign(&mut self, other: Flipped) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, n)| *sum += n);
    }
}

/// A stream of choices.
#[derive(Clone, Debug)]
pub struct Chaos {
    /// Each choice has a stream of its own, so that leaving one out changes no other.
    random: [Random; Choice::ALL.len()],
    /// Each choice is made otherwise once in so many times; 0: never.
    rates: [u64; Choice::ALL.len()],
    /// What was made otherwise so far.
    pub flipped: Flipped,
}

impl Chaos {
    /// The stream of a seed, which is 32 bits; none for 0. The bits above say which choices are left as they are.
    pub fn new(seed: u64) -> Option<Chaos> {
        let (left, seed) = (seed >> SEED_BITS, seed & ((1 << SEED_BITS) - 1));
        let mut streams = Random(seed);
        let mut random = [const { Random(0) }; Choice::ALL.len()].map(|_| Random(streams.word()));
        let mut rates = [0; Choice::ALL.len()];
        for ((rate, random), choice) in rates.iter_mut().zip(&mut random).zip(Choice::ALL) {
            let (never, seldom) = (random.word() % 4 == 0, random.word() % 4);
            *rate = if never || left & choice.bit() != 0 { 0 } else { choice.rate() << seldom };
        }
        (seed != 0).then_some(Chaos { random, rates, flipped: Flipped::default() })
    }

    /// Whether this choice is to be made otherwise this time.
    pub fn flips(&mut self, choice: Choice) -> bool {
        let rate = self.rates[choice as usize];
        let flips = rate > 0 && self.below(choice, rate) == 0;
        self.flipped.see(choice, u64::from(flips));
        flips
    }

    /// Whether this choice is ever made otherwise.
    pub fn may_flip(&self, choice: Choice) -> bool {
        self.rates[choice as usize] > 0
    }

    /// A number from 1 to `limit`, for a choice; small ones as often as large ones.
    pub fn up_to(&mut self, choice: Choice, limit: u64) -> u64 {
        let bits = u64::from(limit.max(1).ilog2()) + 1;
        let below = 1 << self.below(choice, bits + 1).min(63);
        (1 + self.below(choice, below)).min(limit.max(1))
    }

    /// A number below `n`, for a choice.
    pub fn below(&mut self, choice: Choice, n: u64) -> u64 {
        self.random[choice as usize].word() % n.max(1)
    }
}

/// splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014).
#[derive(Clone, Debug)]
struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// The longest way that a trace goes before chaos stops it.
const MOST_STEPS: u64 = 4096;

impl Engine<'_> {
    /// Whether a choice is to be made otherwise this time.
    pub fn flips(&mut self, choice: Choice) -> bool {
        self.chaos.as_mut().is_some_and(|chaos| chaos.flips(choice))
    }

    /// The limit, or under chaos a lower one.
    pub fn lowered(&mut self, choice: Choice, limit: u64) -> u64 {
        let Some(chaos) = &mut self.chaos else { return limit };
        if chaos.flips(choice) { chaos.up_to(choice, limit) } else { limit }
    }

    /// The step at which the next trace is to be stopped.
    pub(crate) fn next_stop(&mut self) -> Option<u64> {
        let chaos = self.chaos.as_mut()?;
        chaos.flips(Choice::Stop).then(|| chaos.up_to(Choice::Stop, MOST_STEPS))
    }

    /// Whether another version of a key is made though there may be one to enter. Their number is bounded all the same.
    pub(crate) fn makes_another(&mut self, key: usize) -> bool {
        self.versions[key].len() <= self.limits.versions && self.flips(Choice::Version)
    }

    /// The state to go on with: the last, or another one.
    pub(crate) fn take_state(&mut self, todo: &mut Vec<State>) -> Option<State> {
        if todo.len() > 1
            && let Some(chaos) = &mut self.chaos
            && chaos.flips(Choice::Order)
        {
            let other = chaos.below(Choice::Order, todo.len() as u64) as usize;
            return Some(todo.swap_remove(other));
        }
        todo.pop()
    }

    /// Whether a call is made that could be copied in: not if its result must be green, and only while there is room
    /// for functions.
    pub(crate) fn leaves_call(&mut self, st: &State, op: &Op) -> bool {
        self.chaos.is_some()
            && self.functions.made.len() < self.limits.functions / 4
            && !op.results.iter().any(|r| self.program.is_green(st.frame().graph, *r))
            && self.flips(Choice::Call)
    }
}
