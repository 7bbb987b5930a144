//! Where a run's time goes: a clock that is in one tier at a time, and gives each the time that was spent in it alone.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// What a run is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tier {
    /// The interpreter as rustc has compiled it.
    Tier0,
    /// Compiled code, with the host functions that it calls.
    Compiled,
    /// The interpreter of compiler graphs, behind exits.
    Blackholing,
    /// The driver, looking for code.
    Driving,
    /// The driver, making code, or installing what is made in the background.
    Making,
}

/// The time spent in each tier, by its number.
pub(crate) type Spent = [Duration; 5];

/// The clock. A clone is the same one. One that doesn't run costs a comparison.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock(Option<Rc<Running>>);

#[derive(Debug)]
struct Running {
    tier: Cell<Option<Tier>>,
    since: Cell<Instant>,
    spent: Cell<Spent>,
    /// The time in compiled code, but for what it takes to get there and back.
    paying: Cell<Duration>,
    /// All of the time is measured when the run is warm, too, as somebody wants to see it.
    stays: bool,
    /// How long the run takes to become warm, and since when it has been hot.
    warm_up: Duration,
    hot_since: Cell<Option<Instant>>,
    is_warm: Cell<bool>,
    /// Whether the time in tiers is measured until the run comes here again, and for how many times that it does so.
    measures: Cell<bool>,
    stands_for: Cell<u32>,
    /// How often it has come since it was measured last.
    came: Cell<u32>,
    /// How many runs inside of each other are with the driver, since when the outermost is, and whether the one before
    /// it was so for a short time.
    inside: Cell<u32>,
    came_at: Cell<Instant>,
    was_short: Cell<bool>,
}

/// So much looking for code and leaving it may cost however short a run is.
const FREE: Duration = Duration::from_micros(800);

/// What it takes to go over to compiled code and back, the clock included.
const ENTERING: Duration = Duration::from_nanos(80);

/// So many times as long as in compiled code a run would be in tier 0, as is supposed while it warms up, and later,
/// when that is better.
const FASTER: u32 = 3;
const FASTER_WARM: u32 = 15;

/// Of the whole time a warm run may spend so much on making code, on the way there and back, and behind its exits, though
/// that hasn't paid yet.
const SHARE: f64 = 0.25;

/// So much making code may take however short a run is.
const FREE_MAKING: Duration = Duration::from_millis(2);

/// Measuring takes a part of what going to compiled code and back does. Where a warm run comes here for a short time,
/// one of so many times is measured, for all of them.
const SAMPLED: u32 = 8;
const SHORT: Duration = Duration::from_micros(16);

impl Running {
    fn change(&self, tier: Option<Tier>) -> Option<Tier> {
        let now = Instant::now();
        let begun = self.since.replace(now);
        let before = self.tier.replace(tier);
        let before = before?;
        let was_in = now - begun;
        // Making code is measured each time.
        let others = if before == Tier::Making { 0 } else { self.stands_for.get() - 1 };
        let in_all = |time: Duration| time + time.min(SHORT) * others;
        let mut spent = self.spent.get();
        spent[before as usize] += in_all(was_in);
        self.spent.set(spent);
        if before == Tier::Compiled {
            self.paying.set(self.paying.get() + in_all(was_in.saturating_sub(ENTERING)));
        }
        Some(before)
    }

    /// The run has come to the driver, or leaves it.
    fn drives(&self, comes: bool) {
        let inside = self.inside.get();
        match comes {
            true if inside == 0 => self.came_at.set(self.since.get()),
            false if inside == 1 => self.was_short.set(self.since.get() - self.came_at.get() < SHORT),
            _ => {}
        }
        self.inside.set(if comes { inside + 1 } else { inside - 1 });
    }

    fn is_warming_up(&self) -> bool {
        !self.warm_up.is_zero() && !self.is_warm.get()
    }

    fn costs_too_much(&self) -> bool {
        if self.is_warming_up() {
            return self.goes_to_and_fro() || self.makes_too_much();
        }
        if self.inside.get() > 0 {
            return false; // a run within one that has been looked at
        }
        let is_sampled = self.was_short.get() && !self.stays;
        let came = self.came.get() + 1;
        self.measures.set(!is_sampled || came >= SAMPLED);
        if !self.measures.get() {
            self.came.set(came);
            return false;
        }
        self.stands_for.set(if is_sampled { SAMPLED } else { 1 });
        let too_much = self.brings_too_little();
        // One that is turned away is looked at again when it comes next.
        self.came.set(if too_much { came } else { 0 });
        too_much
    }

    /// Whether all that isn't the guest's own has taken more of a warm run than its time in code can have brought.
    fn brings_too_little(&self) -> bool {
        let [_, _, blackholing, driving, making] = self.spent.get();
        let whole = self.hot_since.get().map_or(Duration::ZERO, |since| since.elapsed());
        blackholing + driving + making > FREE + self.paying.get() * FASTER_WARM + whole.mul_f64(SHARE)
    }

    fn makes_too_much(&self) -> bool {
        let Some(since) = self.hot_since.get() else { return false };
        let mut making = self.spent.get()[Tier::Making as usize];
        if self.tier.get() == Some(Tier::Making) {
            making += self.since.get().elapsed();
        }
        making > FREE_MAKING + self.paying.get() * FASTER_WARM + since.elapsed().mul_f64(SHARE)
    }

    fn goes_to_and_fro(&self) -> bool {
        let now = Instant::now();
        let whole = now - self.hot_since.get().unwrap_or(now);
        if whole >= self.warm_up {
            self.is_warm.set(true);
            return false;
        }
        self.hot_since.set(Some(now - whole));
        let mut spent = self.spent.get();
        if let Some(tier) = self.tier.get() {
            spent[tier as usize] += now - self.since.get();
        }
        let [_, _, blackholing, driving, _] = spent;
        // Next to nothing at first, all of the time in the end.
        let share = whole.div_duration_f64(self.warm_up).powi(4);
        blackholing + driving > FREE + self.paying.get() * FASTER + whole.mul_f64(share)
    }
}

impl Clock {
    /// A clock that runs, if it is to stay, or until the run is warm.
    pub fn new(stays: bool, warm_up: Duration) -> Clock {
        let running = || Running {
            tier: Cell::new(None),
            since: Cell::new(Instant::now()),
            spent: Cell::default(),
            paying: Cell::default(),
            stays,
            warm_up,
            hot_since: Cell::default(),
            is_warm: Cell::new(false),
            measures: Cell::new(true),
            stands_for: Cell::new(1),
            came: Cell::default(),
            inside: Cell::default(),
            came_at: Cell::new(Instant::now()),
            was_short: Cell::new(false),
        };
        Clock((stays || !warm_up.is_zero()).then(|| Rc::new(running())))
    }

    /// The same clock if it stays, else one that doesn't run.
    pub fn if_it_stays(&self) -> Clock {
        Clock(self.0.as_ref().filter(|running| running.stays).cloned())
    }

    /// From here the run is in a tier, until what this gives is dropped: then it is where it was before.
    pub fn enter(&self, tier: Tier) -> Within {
        let running = self.0.as_ref().filter(|running| running.measures.get() || tier == Tier::Making);
        Within(running.map(|running| {
            let before = running.change(Some(tier));
            if tier == Tier::Driving {
                running.drives(true);
            }
            Stay { running: running.clone(), tier, before }
        }))
    }

    /// The same where nobody need know it but who wants to see where time goes.
    #[inline]
    pub fn enter_if_it_stays(&self, tier: Tier) -> Within {
        match &self.0 {
            Some(running) if running.stays => self.enter(tier),
            _ => Within(None),
        }
    }

    /// Whether a run that comes here to go over to compiled code has spent more on that than it can bear: then it is to
    /// go on in tier 0. The first time that this is asked the run becomes hot. As long as it isn't warm, coming to
    /// compiled code and leaving it counts, for a time that is so short, and what is done behind exits; making the code has
    /// a limit of its own then, and counts with all else from then on.
    pub fn costs_too_much(&self) -> bool {
        self.0.as_ref().is_some_and(|running| !running.warm_up.is_zero() && running.costs_too_much())
    }

    /// The same of a run that has just left compiled code.
    pub fn goes_to_and_fro(&self) -> bool {
        self.0.as_ref().is_some_and(|running| match running.is_warming_up() {
            true => running.goes_to_and_fro(),
            false => !running.warm_up.is_zero() && running.measures.get() && running.brings_too_little(),
        })
    }

    /// Whether a run has spent more on making code than it can bear: then what is hot is to wait.
    pub fn makes_too_much(&self) -> bool {
        self.0.as_ref().is_some_and(|running| !running.warm_up.is_zero() && running.makes_too_much())
    }

    /// The time spent so far in tiers that have been left, or left for others; none if the clock doesn't stay.
    pub fn spent(&self) -> Spent {
        self.0.as_ref().filter(|running| running.stays).map(|running| running.spent.get()).unwrap_or_default()
    }
}

/// A stay in a tier.
#[must_use]
pub(crate) struct Within(Option<Stay>);

struct Stay {
    running: Rc<Running>,
    tier: Tier,
    /// The one that it was in before.
    before: Option<Tier>,
}

impl Drop for Within {
    #[inline]
    fn drop(&mut self) {
        if let Some(stay) = &self.0 {
            stay.ends();
        }
    }
}

impl Stay {
    fn ends(&self) {
        self.running.change(self.before);
        if self.tier == Tier::Driving {
            self.running.drives(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, SAMPLED, Tier};
    use std::thread::sleep;
    use std::time::Duration;

    const SHORT: Duration = Duration::from_millis(3);

    #[test]
    fn each_tier_gets_its_own_time() {
        let clock = Clock::new(true, Duration::ZERO);
        let same = clock.clone();
        {
            let _outer = clock.enter(Tier::Tier0);
            sleep(SHORT);
            for _ in 0..2 {
                let _inner = same.enter(Tier::Compiled);
                sleep(SHORT);
            }
        }
        sleep(4 * SHORT);
        let [tier0, compiled, blackholing, driving, making] = clock.spent();
        assert!(tier0 >= SHORT && compiled >= 2 * SHORT, "{tier0:?} {compiled:?}");
        assert_eq!([blackholing, driving, making], [Duration::ZERO; 3]);
        let before = clock.spent();
        sleep(SHORT);
        assert_eq!(before, clock.spent(), "outside of all tiers no time is counted");
    }

    #[test]
    fn a_run_goes_to_and_fro_until_compiled_code_pays() {
        let clock = Clock::new(true, Duration::from_secs(3600));
        assert!(!clock.costs_too_much(), "it has just become hot");
        {
            let _driving = clock.enter(Tier::Driving);
            sleep(SHORT);
            assert!(clock.goes_to_and_fro(), "also before the tier has been left");
        }
        assert!(clock.costs_too_much());
        {
            let _making = clock.enter(Tier::Making);
            sleep(SHORT);
        }
        let lost: Duration = clock.spent()[Tier::Driving as usize];
        while clock.spent()[Tier::Compiled as usize] * 2 < lost {
            let _compiled = clock.enter(Tier::Compiled);
            sleep(SHORT);
        }
        assert!(!clock.costs_too_much(), "compiled code has earned it");
    }

    /// A clock whose run is warm.
    fn warm() -> Clock {
        let clock = Clock::new(false, Duration::from_nanos(1));
        assert!(!clock.costs_too_much(), "it has just become hot");
        sleep(Duration::from_nanos(10));
        assert!(!clock.costs_too_much() && !clock.goes_to_and_fro());
        clock
    }

    #[test]
    fn a_warm_run_makes_code_while_that_is_a_small_part() {
        let clock = warm();
        let stay = |tier: Tier| {
            let _within = clock.enter(tier);
            sleep(SHORT);
        };
        while !clock.costs_too_much() {
            stay(Tier::Making);
        }
        assert!(clock.goes_to_and_fro(), "also where it has just left compiled code");
        while clock.costs_too_much() {
            stay(Tier::Compiled); // which earns it
        }
        while !clock.costs_too_much() {
            stay(Tier::Making);
        }
        while clock.costs_too_much() {
            sleep(SHORT); // in tier 0, until it is a small part of the whole again
        }
        assert_eq!(clock.spent(), [Duration::ZERO; 5], "part of the time is no figure");
    }

    #[test]
    fn making_code_has_a_limit_while_a_run_warms_up() {
        let clock = Clock::new(false, Duration::from_secs(3600));
        assert!(!clock.costs_too_much() && !clock.makes_too_much());
        let stay = |tier: Tier| {
            let _within = clock.enter(tier);
            sleep(SHORT);
        };
        stay(Tier::Making);
        while !clock.makes_too_much() {
            stay(Tier::Making);
        }
        assert!(clock.costs_too_much() && !clock.goes_to_and_fro());
        while clock.makes_too_much() {
            stay(Tier::Compiled); // which earns it
        }
        assert!(!clock.costs_too_much());
    }

    #[test]
    fn of_short_stays_some_are_measured() {
        let clock = warm();
        let mut measured = 0;
        for _ in 0..100 {
            clock.costs_too_much();
            let within = clock.enter(Tier::Driving);
            measured += u32::from(within.0.is_some());
            if within.0.is_some() {
                // As if it had taken no time, however busy the machine is.
                clock.0.as_ref().unwrap().came_at.set(std::time::Instant::now());
            }
            drop(within);
        }
        assert!((100 / SAMPLED..60).contains(&measured), "{measured}");
        let whole = Clock::new(true, Duration::from_nanos(1));
        for _ in 0..100 {
            whole.costs_too_much();
            assert!(whole.enter(Tier::Driving).0.is_some(), "somebody wants to see it");
        }
    }

    #[test]
    fn a_clock_that_stands() {
        let clock = Clock::new(false, Duration::ZERO);
        let within = clock.enter(Tier::Driving);
        sleep(SHORT);
        drop(within);
        assert_eq!(clock.spent(), [Duration::ZERO; 5]);
    }
}
