//! Which arrivals at merge points are counted.
//!
//! As long as there is no compiled code, counting is all that tier 0 does more than without a JIT, and a hash, a
//! counter and what is spilled for them are a fifth of the time of a short loop. So only some arrivals are counted
//! then, each for all since the one before it, too: the others cost the step of a countdown. When there is code each
//! arrival may lead into it, and is looked at.

/// A counter that gets full has been counted about so often.
const SAMPLES: u32 = 16;

/// The greatest mean distance between two arrivals that are counted. One takes some 80 cycles, since nobody predicts
/// where it is.
const MOST_DISTANCE: u32 = 64;

/// Picks the arrivals that are counted.
#[derive(Debug)]
pub(super) struct Sampler {
    /// The next arrival that is counted is this many from here.
    ahead: u32,
    /// So many arrivals it counts for.
    stride: u32,
    /// What the distances come from.
    seed: u32,
    /// The mean distance where some arrivals are passed over.
    mean: u32,
    /// Whether some are.
    skips: bool,
}

impl Sampler {
    /// For counters up to a threshold.
    pub fn new(threshold: u32) -> Sampler {
        let mean = (threshold / SAMPLES).min(MOST_DISTANCE);
        Sampler { ahead: 1, stride: 1, seed: 0, mean, skips: mean > 1 }
    }

    /// From here on each arrival is counted.
    pub fn take_all(&mut self) {
        *self = Sampler { ahead: 1, stride: 1, skips: false, ..*self };
    }

    /// From here on some are, if there are samples enough in the threshold.
    pub fn take_some(&mut self) {
        self.skips = self.mean > 1;
    }

    /// Whether the arrival is one of those.
    #[inline(always)]
    pub fn takes(&mut self) -> bool {
        self.ahead -= 1;
        self.ahead == 0
    }

    /// For how many arrivals the one counts that has been taken. Then comes the next one.
    #[inline(always)]
    pub fn weight(&mut self) -> u32 {
        let weight = self.stride;
        self.ahead = 1;
        if self.skips {
            self.draw();
        }
        weight
    }

    /// Draws the distance to the next. Distances don't repeat: else of a loop with as many jumps back always the same
    /// one would be counted. (The generator, and its highest bits: Knuth, volume 2, sections 3.3.4 and 3.4.1.)
    #[cold]
    #[inline(never)]
    fn draw(&mut self) {
        self.seed = self.seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let spread = self.mean / 2;
        let random = (u64::from(self.seed) * u64::from(spread + 1)) >> 32;
        self.stride = self.mean - spread / 2 + random as u32;
        self.ahead = self.stride;
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_DISTANCE, SAMPLES, Sampler};

    /// For each of so many arrivals what it counts for.
    fn weights(sampler: &mut Sampler, arrivals: usize) -> Vec<u32> {
        (0..arrivals).map(|_| if sampler.takes() { sampler.weight() } else { 0 }).collect()
    }

    #[test]
    fn what_is_counted_stands_for_what_is_not() {
        for threshold in [32, 100, 1000, 1 << 24] {
            let weights = weights(&mut Sampler::new(threshold), 100_000);
            let behind_last = weights.iter().rev().take_while(|weight| **weight == 0).count();
            assert_eq!(weights.iter().sum::<u32>() as usize, weights.len() - behind_last);
            let counted = weights.iter().filter(|weight| **weight > 0).count();
            let mean = (threshold / SAMPLES).min(MOST_DISTANCE) as usize;
            assert!((4 * mean..=6 * mean).contains(&(5 * weights.len() / counted)), "{threshold}: {counted}");
        }
    }

    #[test]
    fn no_jump_of_a_loop_is_overlooked() {
        for jumps in 1..=100 {
            let mut counted = vec![0; jumps];
            for (arrival, weight) in weights(&mut Sampler::new(1000), 20_000 * jumps).into_iter().enumerate() {
                counted[arrival % jumps] += weight;
            }
            let (least, most) = (counted.iter().min(), counted.iter().max());
            assert!(least >= Some(&15_000) && most <= Some(&25_000), "{jumps}: {counted:?}");
        }
    }

    #[test]
    fn few_are_counted_one_by_one() {
        let mut sampler = Sampler::new(2 * SAMPLES - 1);
        sampler.take_some();
        assert_eq!(weights(&mut sampler, 100), [1; 100]);
    }

    #[test]
    fn all_are_counted_from_one_arrival_to_another() {
        let mut sampler = Sampler::new(1000);
        let some = weights(&mut sampler, 100);
        assert!(some.contains(&0));
        sampler.take_all();
        assert_eq!(weights(&mut sampler, 100), [1; 100]);
        sampler.take_some();
        let again = weights(&mut sampler, 100);
        assert!(again[0] == 1 && again[1] == 0, "{again:?}");
    }
}
