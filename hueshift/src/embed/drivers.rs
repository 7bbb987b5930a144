//! The drivers of portals, and which of them go when there is too much code, or are too many.
//!
//! Code of one driver is full of what leads from graph to graph: jumps, cells, versions that states are matched with.
//! So it isn't thrown away by the graph but by the driver, with all that is known of it, as LuaJIT flushes its traces:
//! what is still hot is soon there again, and what isn't is gone. The coldest go first: those that have been entered
//! least since the last time.

use super::compiled::Compiled;
use crate::events::Reason;
use crate::jit::Stats;
use flowgraph::ir::Word;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A portal, by its number among the entries, and the words of its greens that are references: those of scalars are
/// keys inside of a driver.
pub(super) type Key = (usize, SmallVec<[Word; 4]>);

struct Driver {
    key: Key,
    compiled: Compiled,
    /// How many runs are inside of it.
    inside: Rc<Cell<usize>>,
    /// How often it has been entered since code was thrown away, half of what was before.
    entered: u64,
    /// The bytes of its code when it was left last.
    bytes: usize,
    /// There was one for the same key before, and its code was thrown away.
    again: bool,
    /// The part of the time for making its code that [`Drivers::remade`] has told of.
    told: Duration,
}

/// A run is inside of a driver until this is dropped.
pub(super) struct Inside(Rc<Cell<usize>>);

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// The drivers, by number.
#[derive(Default)]
pub(super) struct Drivers {
    all: Vec<Option<Driver>>,
    by_key: FxHashMap<Key, usize>,
    bytes: usize,
    /// The keys whose code was thrown away, the latest [`MOST_KEYS`] or fewer.
    gone: FxHashSet<Key>,
    /// When [`Drivers::remade`] was asked last.
    asked: Option<Instant>,
    /// What those have done that are gone.
    past: Stats,
}

/// So many drivers there may be at a time. Each has mappings of memory of its own, and mostly a thread, of which a
/// system has some ten thousand.
const MOST_DRIVERS: usize = 256;

/// So many keys are remembered whose code was thrown away.
const MOST_KEYS: usize = 4096;

/// What has been thrown away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Evicted {
    None,
    /// Drivers that have grown.
    Some,
    /// One that had hardly begun: there is no room even for that.
    AtOnce,
}

/// So many traces and bridges are hardly a beginning.
const FEW: u64 = 4;

impl Drivers {
    /// The driver for a key.
    pub fn find(&self, key: &Key) -> Option<usize> {
        self.by_key.get(key).copied()
    }

    /// Another driver.
    pub fn add(&mut self, key: Key, compiled: Compiled) -> usize {
        let free = self.all.iter().position(Option::is_none);
        let number = free.unwrap_or_else(|| {
            self.all.push(None);
            self.all.len() - 1
        });
        self.by_key.insert(key.clone(), number);
        self.asked.get_or_insert_with(Instant::now);
        let (again, told) = (self.gone.contains(&key), Duration::ZERO);
        self.all[number] = Some(Driver { key, compiled, inside: Rc::default(), entered: 0, bytes: 0, again, told });
        number
    }

    /// A run enters a driver.
    pub fn enter(&mut self, number: usize) -> Inside {
        let driver = self.driver(number);
        driver.entered += 1;
        driver.inside.set(driver.inside.get() + 1);
        Inside(driver.inside.clone())
    }

    /// What a driver compiles.
    pub fn compiled(&mut self, number: usize) -> &mut Compiled {
        &mut self.driver(number).compiled
    }

    fn driver(&mut self, number: usize) -> &mut Driver {
        match self.all.get_mut(number) {
            Some(Some(driver)) => driver,
            _ => unreachable!("drivers stay while a run is inside"),
        }
    }

    /// A run has left a driver, or its code. Gives whether there is more code than so many bytes, or are too many
    /// drivers.
    pub fn left(&mut self, number: usize, most: usize) -> bool {
        let driver = self.driver(number);
        let bytes = driver.compiled.with(|driver| driver.code().code_bytes());
        let before = std::mem::replace(&mut driver.bytes, bytes);
        self.bytes = self.bytes - before + bytes;
        self.bytes > most || self.are_too_many()
    }

    fn are_too_many(&self) -> bool {
        self.by_key.len() > MOST_DRIVERS
    }

    /// Whether a run may come to code. What a driver has is known since it has been left last.
    pub fn has_code(&self) -> bool {
        self.bytes > 0
    }

    /// Throws the coldest drivers away that no run is inside of: if there is more code than so many bytes, until there
    /// is half as much, and if they are too many, until they are half as many. Gives what has gone, and the share of
    /// the time since some went last that was spent on code that had been there before.
    pub fn evict(&mut self, most: usize) -> (Evicted, f64) {
        let (too_much, too_many) = (self.bytes > most, self.are_too_many());
        let goes = |driver: &Driver| driver.inside.get() == 0 && (driver.bytes > 0 || too_many);
        let mut idle: Vec<(u64, usize)> = (self.all.iter().enumerate())
            .filter_map(|(number, driver)| driver.as_ref().filter(|d| goes(d)).map(|d| (d.entered, number)))
            .collect();
        if idle.is_empty() {
            return (Evicted::None, 0.0);
        }
        idle.sort_unstable();
        let remade = self.remade();
        let mut evicted = Evicted::None;
        for (_, number) in idle {
            let still_too_much = too_much && self.bytes > most / 2;
            let still_too_many = too_many && self.by_key.len() > MOST_DRIVERS / 2;
            if !still_too_much && !still_too_many {
                break;
            }
            let reason = if still_too_much { Reason::CodeBytes } else { Reason::GuestPrograms };
            let Some(Driver { key, mut compiled, bytes, .. }) = self.all[number].take() else { continue };
            self.by_key.remove(&key);
            if self.gone.len() >= MOST_KEYS {
                self.gone.clear();
            }
            self.gone.insert(key);
            self.bytes -= bytes;
            let stats = compiled.with(|driver| driver.evicted(reason));
            let little = bytes > most && stats.traces + stats.bridges <= FEW;
            evicted = if little { Evicted::AtOnce } else { evicted.max(Evicted::Some) };
            self.past += stats;
        }
        for driver in self.all.iter_mut().flatten() {
            driver.entered /= 2;
        }
        (evicted, remade)
    }

    /// The share of the time since this was asked last that went into making code which had been there before.
    fn remade(&mut self) -> f64 {
        let now = Instant::now();
        let since = self.asked.replace(now).unwrap_or(now);
        let mut remade = Duration::ZERO;
        for driver in self.all.iter_mut().flatten().filter(|driver| driver.again) {
            let made = driver.compiled.with(|driver| driver.making());
            remade += made.saturating_sub(std::mem::replace(&mut driver.told, made));
        }
        remade.div_duration_f64((now - since).max(Duration::from_micros(1)))
    }

    /// All of them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Compiled> {
        self.all.iter_mut().flatten().map(|driver| &mut driver.compiled)
    }

    /// What those have done that are gone.
    pub fn past(&self) -> &Stats {
        &self.past
    }
}
