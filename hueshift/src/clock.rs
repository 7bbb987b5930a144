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
    /// The driver: looking for code, and making it.
    Driving,
}

/// The time spent in each tier, by its number.
pub(crate) type Spent = [Duration; 4];

/// The clock. A clone is the same one. One that doesn't run costs a comparison.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock(Option<Rc<Running>>);

#[derive(Debug)]
struct Running {
    tier: Cell<Option<Tier>>,
    since: Cell<Instant>,
    spent: Cell<Spent>,
}

impl Running {
    fn change(&self, tier: Option<Tier>) -> Option<Tier> {
        let now = Instant::now();
        let begun = self.since.replace(now);
        let before = self.tier.replace(tier);
        if let Some(before) = before {
            let mut spent = self.spent.get();
            spent[before as usize] += now - begun;
            self.spent.set(spent);
        }
        before
    }
}

impl Clock {
    /// A clock that runs, if it is to.
    pub fn new(runs: bool) -> Clock {
        let running = || Running { tier: Cell::new(None), since: Cell::new(Instant::now()), spent: Cell::default() };
        Clock(runs.then(|| Rc::new(running())))
    }

    /// From here the run is in a tier, until what this gives is dropped: then it is where it was before.
    pub fn enter(&self, tier: Tier) -> Within {
        Within(self.0.as_ref().map(|running| (running.clone(), running.change(Some(tier)))))
    }

    /// The time spent so far in tiers that have been left, or left for others.
    pub fn spent(&self) -> Spent {
        self.0.as_ref().map(|running| running.spent.get()).unwrap_or_default()
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
        let clock = Clock::new(true);
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
        let [tier0, compiled, blackholing, driving] = clock.spent();
        assert!(tier0 >= SHORT && compiled >= 2 * SHORT, "{tier0:?} {compiled:?}");
        assert_eq!((blackholing, driving), (Duration::ZERO, Duration::ZERO));
        let before = clock.spent();
        sleep(SHORT);
        assert_eq!(before, clock.spent(), "outside of all tiers no time is counted");
    }

    #[test]
    fn a_clock_that_stands() {
        let clock = Clock::new(false);
        let within = clock.enter(Tier::Driving);
        sleep(SHORT);
        drop(within);
        assert_eq!(clock.spent(), [Duration::ZERO; 4]);
    }
}
