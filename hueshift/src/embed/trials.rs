//! Whether compiled code is worth entering where calls of portals are short.
//!
//! Going over to compiled code and back takes some hundred nanoseconds, and a call of a few dozen guest instructions
//! may take less in tier 0. Nobody can tell without trying: so where calls are short with code, a few of them stay in
//! tier 0 now and then, and both are timed, from where they come to code to where the next call does that isn't inside
//! of them, or to the end of the host's. If they take longer with code, those with the same greens stay in tier 0 from
//! then on, and one goes over now and then. Calls that turn out to be long there go over anyway.
//!
//! (The end of a portal's call isn't asked for: a local that is dropped there makes tier 0's loops twice as slow.)

use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};

/// So many calls are known apart. When there are more, all begin anew.
const KNOWN: usize = 4096;

/// Calls that take longer with code aren't short.
const SHORT: Duration = Duration::from_micros(20);

/// So many calls in a row stay in tier 0 for a trial, behind so many that go over the first time, and twice as many
/// each time, up to the most.
const IN_A_ROW: u32 = 8;
const FIRST_AFTER: u32 = 80;
const MOST_BETWEEN: u32 = 1 << 16;

/// One of so many calls is timed where there is no trial.
const TIMED: u32 = 8;

/// Where calls stay in tier 0, one of so many that are asked about goes over.
const ASKED: u32 = 32;

/// Behind one that stays, so many arrivals aren't asked about.
const PAUSE: u32 = 16;

/// A call that comes back so often isn't short. Where it stays, so many of its arrivals at another place than where it
/// began aren't asked about.
const MOST_PASSED: u32 = 250;
const UNASKED: u32 = 64;

/// A mean counts if there are so many times in it. Of a new one so much goes into it, and none counts for more than so
/// many times the mean.
const ENOUGH: u32 = 8;
const WEIGHT: f64 = 0.25;
const OUTLIER: f64 = 4.0;

/// What takes so many times as long is left for the other.
const WORSE: f64 = 1.1;

/// How long calls take, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    nanoseconds: f64,
    times: u32,
}

impl Mean {
    fn add(&mut self, time: Duration) {
        let new = time.as_nanos() as f64;
        if self.times == 0 {
            self.nanoseconds = new;
        }
        self.nanoseconds += (new.min(OUTLIER * self.nanoseconds) - self.nanoseconds) * WEIGHT;
        self.times = self.times.saturating_add(1);
    }

    fn is_worse_than(self, other: Mean) -> bool {
        self.times >= ENOUGH && other.times >= ENOUGH && self.nanoseconds > WORSE * other.nanoseconds
    }
}

/// What is known of the calls with some greens.
#[derive(Clone, Copy, Debug)]
struct Trial {
    /// How many calls have been asked about, and at how many the next ones are for the other side to be tried.
    came: u32,
    next: u32,
    between: u32,
    /// The time of those that went over to code, and that stayed in tier 0.
    with: Mean,
    without: Mean,
    /// They stay.
    stays: bool,
}

impl Default for Trial {
    fn default() -> Trial {
        let (came, next, between, stays) = (0, FIRST_AFTER, FIRST_AFTER, false);
        Trial { came, next, between, with: Mean::default(), without: Mean::default(), stays }
    }
}

impl Trial {
    /// A call has come to code. Gives whether it goes over, and whether it is timed.
    fn comes(&mut self) -> (bool, bool) {
        self.came = self.came.wrapping_add(1);
        if self.stays {
            let over = self.came.is_multiple_of(ASKED);
            return (over, over || self.came.is_multiple_of(TIMED));
        }
        let into = self.came.wrapping_sub(self.next);
        if into >= IN_A_ROW {
            return (true, self.came.is_multiple_of(TIMED));
        }
        if into == IN_A_ROW - 1 {
            self.between = (2 * self.between).min(MOST_BETWEEN);
            self.next = self.came.wrapping_add(self.between);
        }
        let is_short = self.with.times >= ENOUGH && self.with.nanoseconds < SHORT.as_nanos() as f64;
        (!is_short, true)
    }

    /// A call that was timed has ended.
    fn took(&mut self, went_over: bool, time: Duration) {
        let mean = if went_over { &mut self.with } else { &mut self.without };
        mean.add(time);
        if !self.stays && self.with.is_worse_than(self.without) {
            self.stays = true;
        } else if self.stays && self.without.is_worse_than(self.with) {
            *self = Trial { with: self.with, without: self.without, ..Trial::default() };
        }
    }
}

/// What becomes of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// It goes over to code.
    pub goes_over: bool,
    /// In how many arrivals from here to ask again.
    pub pause: u32,
    /// The call is timed: where it ends must not be overlooked.
    pub is_timed: bool,
}

/// What is known of calls of portals.
pub(super) struct Trials {
    /// By hash of greens, and place on the stack.
    known: FxHashMap<u64, Trial>,
    /// The outermost one that is timed or tried.
    call: Option<Call>,
}

/// A call that has come to code, until another begins that isn't inside of it.
#[derive(Clone, Copy, Debug)]
struct Call {
    key: u64,
    /// That of the greens alone.
    hash: u64,
    /// Where it is on the stack, which grows downwards: what is inside of it lies lower.
    at: usize,
    went_over: bool,
    /// How often it has come there since, and stayed in tier 0.
    passed: u32,
    /// When it first did, if it is timed.
    begun: Option<Instant>,
}

impl Trials {
    /// Nothing is known yet.
    pub fn new() -> Trials {
        Trials { known: FxHashMap::default(), call: None }
    }

    /// No call is under way any more that began at this place of the stack or below.
    pub fn call_ends(&mut self, at: usize) {
        if self.call.is_some_and(|call| call.at <= at)
            && let Some(Call { key, went_over, begun: Some(begun), .. }) = self.call.take()
            && let Some(trial) = self.known.get_mut(&key)
        {
            trial.took(went_over, begun.elapsed());
        }
    }

    /// The call says nothing: there was no code, or it has been in both.
    pub fn is_void(&mut self) {
        if let Some(call) = &mut self.call {
            call.begun = None;
        }
    }

    /// What becomes of an arrival in a call that stays in tier 0, as far as it stays there; else nothing, and
    /// [`Trials::goes_over`] says it. This is asked first, and takes next to no time, which would be part of what is
    /// timed. The arrival stands for so many as its `weight` says.
    pub fn stays(&mut self, hash: u64, begins: bool, weight: u32, at: usize) -> Option<Verdict> {
        if begins {
            self.call_ends(at);
        }
        let call = self.call.as_mut().filter(|call| !call.went_over && call.passed < MOST_PASSED)?;
        // The next call begins where it began, as a rule.
        let pause = if hash == call.hash { 0 } else { UNASKED };
        call.passed = call.passed.saturating_add(weight + pause);
        Some(Verdict { goes_over: false, pause, is_timed: call.begun.is_some() })
    }

    /// The run has come to a merge point with a key of this hash, where it may go over to code: for the first time in
    /// a call of a portal, if that `begins`, which has a local at this address. Gives whether it does, and in how many
    /// arrivals from here to ask again. Calls inside of each other, of a guest that recurses, are told apart by where
    /// they are on the stack: the outer ones are longer.
    pub fn goes_over(&mut self, hash: u64, begins: bool, at: usize) -> Verdict {
        if let Some(call) = &mut self.call {
            // It, or one inside of it.
            if !call.went_over {
                // It isn't as short as that.
                (call.went_over, call.begun) = (true, None);
            }
            return Verdict { goes_over: true, pause: 0, is_timed: call.begun.is_some() };
        }
        if !begins {
            return Verdict { goes_over: true, pause: 0, is_timed: false };
        }
        let key = (hash ^ at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        if self.known.len() >= KNOWN && !self.known.contains_key(&key) {
            self.known.clear();
        }
        let trial = self.known.entry(key).or_default();
        let (went_over, is_timed) = trial.comes();
        // Where the next one begins is where this one ends.
        let pause = if trial.stays && !went_over && !is_timed { PAUSE } else { 0 };
        self.call = Some(Call { key, hash, at, went_over, passed: 0, begun: is_timed.then(Instant::now) });
        Verdict { goes_over: went_over, pause, is_timed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAST: Duration = Duration::from_nanos(200);
    const SLOW: Duration = Duration::from_nanos(900);

    /// What becomes of an arrival.
    fn asked(trials: &mut Trials, hash: u64, begins: bool, weight: u32, at: usize) -> Verdict {
        trials.stays(hash, begins, weight, at).unwrap_or_else(|| trials.goes_over(hash, begins, at))
    }

    /// Has so many calls come, each of which takes so long with code and without. Gives how many went over.
    fn calls(trial: &mut Trial, count: u32, with: Duration, without: Duration) -> u32 {
        let mut went_over = 0;
        for _ in 0..count {
            let (over, is_timed) = trial.comes();
            went_over += u32::from(over);
            if is_timed {
                trial.took(over, if over { with } else { without });
            }
        }
        went_over
    }

    #[test]
    fn calls_stay_where_they_are_faster() {
        let mut trial = Trial::default();
        assert!(calls(&mut trial, 10_000, SLOW, FAST) < 500 && trial.stays);
        // Code has become better.
        calls(&mut trial, 1000, FAST, SLOW);
        assert!(!trial.stays && calls(&mut trial, 10_000, FAST, SLOW) > 9900);
        // It is as fast.
        let mut trial = Trial::default();
        assert!(calls(&mut trial, 100_000, FAST, FAST) > 99_900 && !trial.stays);
    }

    #[test]
    fn long_calls_are_not_tried() {
        let mut trial = Trial::default();
        assert_eq!(calls(&mut trial, 1000, 2 * SHORT, FAST), 1000);
    }

    #[test]
    fn one_that_takes_very_long_says_little() {
        let mut mean = Mean::default();
        (0..ENOUGH).for_each(|_| mean.add(FAST));
        mean.add(Duration::from_secs(1));
        assert!(mean.nanoseconds < 400.0);
    }

    #[test]
    fn a_call_that_is_longer_goes_over() {
        let mut trials = Trials::new();
        let mut stayed = 0;
        for _ in 0..200 {
            if asked(&mut trials, 7, true, 1, 1000).goes_over {
                assert!(asked(&mut trials, 7, false, 1, 1000).goes_over, "again, when it has come back");
                continue;
            }
            stayed += 1;
            let comes = (0..2 * MOST_PASSED).position(|_| asked(&mut trials, 7, false, 1, 1000).goes_over);
            assert_eq!(comes, Some(MOST_PASSED as usize));
            assert!(trials.call.is_some_and(|call| call.begun.is_none()), "it says nothing");
        }
        while asked(&mut trials, 7, true, 1, 1000).goes_over {}
        let times = (0..MOST_PASSED).take_while(|_| {
            let Verdict { goes_over, pause, .. } = asked(&mut trials, 8, false, 1, 1000);
            assert!(goes_over || pause == UNASKED, "in a loop behind where it began");
            !goes_over
        });
        assert_eq!(times.count(), MOST_PASSED.div_ceil(1 + UNASKED) as usize);
        assert!(stayed > 0 && trials.known.values().all(|trial| !trial.stays));
    }

    #[test]
    fn calls_that_stay_are_timed_from_one_to_the_next() {
        let mut trials = Trials::new();
        let stays = Trial { stays: true, ..Trial::default() };
        trials.known.insert((7 ^ 1000u64).wrapping_mul(0x9e37_79b9_7f4a_7c15), stays);
        for _ in 0..100 {
            let Verdict { goes_over, pause, is_timed } = asked(&mut trials, 7, true, 60, 1000);
            assert_eq!(pause, if goes_over || is_timed { 0 } else { PAUSE }, "else it would end with a later one");
            assert_eq!(is_timed, trials.call.is_some_and(|call| call.begun.is_some()));
        }
    }

    #[test]
    fn calls_inside_of_one_are_its_own() {
        let mut trials = Trials::new();
        while asked(&mut trials, 7, true, 1, 1000).goes_over {
            asked(&mut trials, 7, true, 1, 900);
        }
        // It is tried, with what is inside of it.
        assert!(!asked(&mut trials, 7, true, 1, 900).goes_over && !asked(&mut trials, 8, true, 1, 950).goes_over);
        assert_eq!(trials.call.map(|call| (call.at, call.passed)), Some((1000, 2 + UNASKED)));
        trials.call_ends(999);
        assert!(trials.call.is_some());
        trials.call_ends(1001);
        assert!(trials.call.is_none());
    }
}
