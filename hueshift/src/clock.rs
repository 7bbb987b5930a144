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
    /// It runs on when the run is warm.
    stays: bool,
    /// How long the run takes to become warm, and since when it has been hot.
    warm_up: Duration,
    hot_since: Cell<Option<Instant>>,
    is_warm: Cell<bool>,
}

/// So much looking for code and leaving it may cost however short a run is.
const FREE: Duration = Duration::from_micros(1500);

/// What it takes to go over to compiled code and back, the clock included.
const ENTERING: Duration = Duration::from_nanos(80);

/// So many times as long as in compiled code a run would be in tier 0, as is supposed while it warms up.
const FASTER: u32 = 3;

impl Running {
    fn change(&self, tier: Option<Tier>) -> Option<Tier> {
        let now = Instant::now();
        let begun = self.since.replace(now);
        let before = self.tier.replace(tier);
        if let Some(before) = before {
            let mut spent = self.spent.get();
            spent[before as usize] += now - begun;
            self.spent.set(spent);
            if before == Tier::Compiled {
                self.paying.set(self.paying.get() + (now - begun).saturating_sub(ENTERING));
            }
        }
        before
    }

    fn goes_to_and_fro(&self) -> bool {
        if self.is_warm.get() {
            return false;
        }
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
            is_warm: Cell::new(warm_up.is_zero()),
        };
        Clock((stays || !warm_up.is_zero()).then(|| Rc::new(running())))
    }

    /// From here the run is in a tier, until what this gives is dropped: then it is where it was before.
    pub fn enter(&self, tier: Tier) -> Within {
        let running = self.0.as_ref().filter(|running| running.stays || !running.is_warm.get());
        Within(running.map(|running| (running.clone(), running.change(Some(tier)))))
    }

    /// Whether coming to compiled code and leaving it has cost more than can be borne by a run that has been hot for so
    /// short: then it is to go on in tier 0. The first time that this is asked the run becomes hot.
    pub fn goes_to_and_fro(&self) -> bool {
        self.0.as_ref().is_some_and(|running| running.goes_to_and_fro())
    }

    /// The time spent so far in tiers that have been left, or left for others; none if the clock doesn't stay.
    pub fn spent(&self) -> Spent {
        self.0.as_ref().filter(|running| running.stays).map(|running| running.spent.get()).unwrap_or_default()
    }
}

/// A stay in a tier.
#[must_use]
pub(crate) struct Within(Option<(Rc<Running>, Option<Tier>)>);

impl Drop for Within {
    fn drop(&mut self) {
        if let Some((running, before)) = &self.0 {
            running.change(*before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, Tier};
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
        assert!(!clock.goes_to_and_fro(), "it has just become hot");
        {
            let _driving = clock.enter(Tier::Driving);
            sleep(SHORT);
            assert!(clock.goes_to_and_fro(), "also before the tier has been left");
        }
        assert!(clock.goes_to_and_fro());
        {
            let _making = clock.enter(Tier::Making);
            sleep(SHORT);
        }
        let lost: Duration = clock.spent()[Tier::Driving as usize];
        while clock.spent()[Tier::Compiled as usize] * 2 < lost {
            let _compiled = clock.enter(Tier::Compiled);
            sleep(SHORT);
        }
        assert!(!clock.goes_to_and_fro(), "compiled code has earned it");
    }

    #[test]
    fn a_warm_run_is_not_looked_at() {
        let clock = Clock::new(false, SHORT);
        assert!(!clock.goes_to_and_fro());
        {
            let _driving = clock.enter(Tier::Driving);
            sleep(2 * SHORT);
        }
        assert!(!clock.goes_to_and_fro());
        assert!(clock.enter(Tier::Driving).0.is_none(), "the clock has stopped");
        assert_eq!(clock.spent(), [Duration::ZERO; 5], "part of the time is no figure");
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
