//! Going over from tier 0 to compiled code, and back: what the macros put in the place of `merge_point!()`.
//!
//! Tier 0 is the interpreter as rustc has compiled it, so a merge point must cost next to nothing there: a countdown
//! ([`super::sampler`]), and now and then a hash of the greens, and a counter. Only behind a full counter are the
//! greens and reds made words, and compiled code is looked for, or made by tracing this very run. In the end tier 0
//! goes on at the merge point with what the reds have become, or returns.

use super::compiled::Compiled;
use super::drivers::{Drivers, Evicted};
use super::interpreter::{Entry, Interpreter};
use super::jit::{Error, Jit};
use super::sampler::Sampler;
use super::trap::Trap;
use super::trials::{Trials, Verdict};
use super::values::WordReader;
use crate::again::comes_back;
use crate::clock::Tier;
use crate::compiler::{CompileError, Compiler};
use crate::jit::{Arrival, Inside};
use crate::tier0;
use flowgraph::eval::Outcome;
use flowgraph::ir::{Module, Word};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::collections::hash_map::Entry as Slot;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// What is hot for less than this isn't worth a compiler, which takes some milliseconds of another core.
const PATIENCE: Duration = Duration::from_micros(1500);

/// A run that is to stay in tier 0 for now asks again at what is hot after it has come there so many times.
const SOON: u32 = 250;

/// How many counters there are. Greens that share one are counted together: the loop is traced a little sooner.
const COUNTERS: usize = 1 << 12;

/// No threshold is raised above this.
const MOST_THRESHOLD: u32 = 1 << 24;

/// Where more of the time than this goes into making code that had been there before, thresholds are raised; where less
/// than that, they are lowered again.
const MUCH_REMADE: f64 = 0.5;
const LITTLE_REMADE: f64 = 1.0 / 16.0;

/// Where tier 0 goes on behind a merge point.
#[derive(Debug)]
pub enum Entered<'a> {
    /// Behind the merge point, with these words in the parameters' leaves.
    At(WordReader<'a>),
    /// The portal returns these words.
    Returned(WordReader<'a>),
}

/// How a run comes back from a driver.
enum Through {
    /// It hasn't been there: its words.
    Not(Vec<Word>),
    /// At the merge point again.
    At(Vec<Word>),
    /// The portal has returned.
    Returned(Vec<Word>),
}

/// What a [`Jit`] knows of runs that begin in tier 0.
pub(super) struct Tiers {
    /// A function that isn't a portal has said that the guest jumps back.
    jumped: bool,
    /// Which arrivals are counted.
    sampler: Sampler,
    /// How often each is come to yet before it is hot.
    counters: Box<[u32; COUNTERS]>,
    /// How often a merge point is come to before it is hot: what the options say, or more.
    threshold: u32,
    /// For each portal, by its number among the entries: which words of its parameters' leaves are those of greens, and
    /// of greens that are references.
    shapes: FxHashMap<usize, Rc<Shape>>,
    pub drivers: Drivers,
    /// Since when something is hot.
    hot_since: Option<Instant>,
    /// The compilers that are being made on threads of their own.
    coming: FxHashMap<&'static str, Receiver<Result<Compiler, CompileError>>>,
    /// Why tier 0 is being unwound.
    raised: Option<Error>,
    /// Which calls are so short that they stay in tier 0; none where no time is measured.
    trials: Option<Trials>,
}

/// What there is to know of a portal's words.
struct Shape {
    greens: Vec<usize>,
    references: Vec<usize>,
}

impl Shape {
    fn new(module: &Module, portal: &Entry) -> Shape {
        let (mut greens, mut references, mut at) = (Vec::new(), Vec::new(), 0);
        for (i, param) in module.graphs[portal.function].signature.params.iter().enumerate() {
            let own = at..at + module.leaves(&param.ty).len();
            at = own.end;
            if portal.greens.contains(&i) {
                greens.extend(own.clone());
                references.extend(own.filter(|_| module.has_reference(&param.ty)));
            }
        }
        Shape { greens, references }
    }
}

impl Tiers {
    /// Nothing is known yet.
    pub fn new(threshold: u32, measures: bool) -> Tiers {
        Tiers {
            jumped: false,
            sampler: Sampler::new(threshold),
            counters: Box::new([threshold; COUNTERS]),
            threshold,
            shapes: FxHashMap::default(),
            drivers: Drivers::default(),
            hot_since: None,
            coming: FxHashMap::default(),
            raised: None,
            trials: measures.then(Trials::new),
        }
    }

    /// What is hot must be twice as hot from now on.
    fn raise_threshold(&mut self) {
        self.threshold = self.threshold.max(self.threshold.max(1).saturating_mul(2).min(MOST_THRESHOLD));
    }

    /// Half as hot is enough from now on, if that isn't less than the options say.
    fn lower_threshold(&mut self, least: u32) {
        self.threshold = (self.threshold / 2).max(least);
    }
}

/// What unwinds tier 0; the reason is in the [`Jit`].
struct Raised;

impl<'p> Jit<'p> {
    /// For the macros: runs an entry in tier 0, from where compiled code is entered. A panic is an error.
    #[doc(hidden)]
    pub fn interpret<T>(
        &mut self,
        interpreter: &'static Interpreter,
        run: impl FnOnce(&mut Jit<'p>) -> T,
    ) -> Result<T, Error> {
        self.check(interpreter)?;
        let within = self.events.clock().enter_if_it_stays(Tier::Tier0);
        let ran = tier0::catch(interpreter, || run(self));
        drop(within);
        if let Some(trials) = &mut self.tiers.trials {
            trials.call_ends(usize::MAX);
        }
        match self.tiers.raised.take() {
            Some(error) => Err(error),
            None => Ok(ran?),
        }
    }

    /// For the macros: the guest jumps back, in a function that isn't a portal.
    #[doc(hidden)]
    #[inline(always)]
    pub fn jump(&mut self) {
        self.tiers.jumped = true;
    }

    /// For the macros: whether it has since it was asked last.
    #[doc(hidden)]
    #[inline(always)]
    pub fn has_jumped(&mut self) -> bool {
        std::mem::take(&mut self.tiers.jumped)
    }

    /// For the macros: a run comes to a merge point, behind a jump back of the guest or where a portal begins. Gives
    /// whether it is to say to which.
    #[doc(hidden)]
    #[inline(always)]
    pub fn arrives(&mut self) -> bool {
        self.tiers.sampler.takes()
    }

    /// For the macros: whether the merge point that it has come to, with a key of this hash, is worth the words of its
    /// parameters. `begins` is a local of the portal, true until it is asked for the first time.
    #[doc(hidden)]
    #[inline(always)]
    pub fn is_hot(&mut self, hash: u64, begins: &mut bool) -> bool {
        let weight = self.tiers.sampler.weight();
        let left = &mut self.tiers.counters[counter_of(hash)];
        match left.checked_sub(weight) {
            Some(less) => *left = less,
            None => return self.goes_over(hash, weight, begins),
        }
        false
    }

    /// Whether a run goes over to code where it is hot.
    #[cold]
    #[inline(never)]
    fn goes_over(&mut self, hash: u64, weight: u32, begins: &mut bool) -> bool {
        let (at, begins) = (std::ptr::from_ref(begins).addr(), std::mem::take(begins));
        if let Some(verdict) = self.tiers.trials.as_mut().and_then(|trials| trials.stays(hash, begins, weight, at)) {
            return self.abides_by(verdict, hash);
        }
        if self.events.clock().costs_too_much() {
            self.tiers.sampler.take_some();
            self.tiers.counters[counter_of(hash)] = self.tiers.threshold.min(SOON);
            return false;
        }
        let Some(trials) = &mut self.tiers.trials else { return true };
        let verdict = trials.goes_over(hash, begins, at);
        self.abides_by(verdict, hash)
    }

    /// Whether an arrival goes over, of which that has been found.
    fn abides_by(&mut self, Verdict { goes_over, pause, is_timed }: Verdict, hash: u64) -> bool {
        self.tiers.counters[counter_of(hash)] = pause;
        if !goes_over && !is_timed {
            // Calls that are better off here had better not be counted one by one either.
            self.tiers.sampler.take_some();
        } else if self.tiers.drivers.has_code() {
            self.tiers.sampler.take_all();
        }
        goes_over
    }

    /// For the macros: goes on from the merge point of the portal that is this entry of the interpreter, in compiled
    /// code if there can be any. `words` gives those of the portal's parameters. It is called in here, so that the
    /// interpreter's loop has nothing of it: what it takes of code and registers is taken of the steps between
    /// arrivals, too.
    #[doc(hidden)]
    #[cold]
    #[inline(never)]
    pub fn enter<'a>(&mut self, entry: usize, hash: u64, words: impl FnOnce() -> Vec<Word>) -> Entered<'a> {
        self.enter_with(entry, hash, words())
    }

    fn enter_with<'a>(&mut self, entry: usize, hash: u64, words: Vec<Word>) -> Entered<'a> {
        let _driving = self.events.clock().enter(Tier::Driving);
        let driver = tier0::outside(|| self.driver(entry, &words)).unwrap_or_else(|error| self.raise(error));
        let Some(driver) = driver else {
            self.not_in_code();
            self.tiers.counters[counter_of(hash)] = self.tiers.threshold;
            return Entered::At(WordReader::owned(words));
        };
        let inside = self.tiers.drivers.enter(driver);
        let entered = self.go_through(driver, words);
        drop(inside);
        if self.tiers.drivers.left(driver, self.options.code_bytes) {
            tier0::outside(|| self.throw_away());
        }
        if self.tiers.drivers.has_code() {
            self.tiers.sampler.take_all();
        }
        match entered {
            Ok(Through::Not(words)) => {
                self.not_in_code();
                self.tiers.counters[counter_of(hash)] = self.tiers.threshold;
                Entered::At(WordReader::owned(words))
            }
            Ok(Through::At(words)) => Entered::At(WordReader::owned(words)),
            Ok(Through::Returned(words)) => Entered::Returned(WordReader::owned(words)),
            Err(error) => self.raise(error),
        }
    }

    /// The run has come to where there is no code yet.
    fn not_in_code(&mut self) {
        if let Some(trials) = &mut self.tiers.trials {
            trials.is_void();
        }
    }

    /// A run that stands at the merge point of a driver's portal.
    fn go_through(&mut self, driver: usize, words: Vec<Word>) -> Result<Through, Error> {
        let compiled = self.tiers.drivers.compiled(driver);
        let mut arrived = tier0::outside(|| compiled.with(|driver| driver.at_merge_point(&words)));
        loop {
            arrived = match arrived? {
                None => return Ok(Through::Not(words)),
                Some(Arrival::At(words)) => return Ok(Through::At(words)),
                Some(Arrival::Inside(inside)) => {
                    let (inside, results) = self.finish(inside);
                    let compiled = self.tiers.drivers.compiled(driver);
                    tier0::outside(|| compiled.with(|driver| driver.go_on_behind(inside, &results)).map(Some))
                }
                Some(Arrival::Ended(Outcome::Returned(words))) => return Ok(Through::Returned(words)),
                Some(Arrival::Ended(Outcome::Trapped(report))) => {
                    return Err(Trap::of_report(report, self.interpreter().module()).into());
                }
                Some(Arrival::Ended(Outcome::Exited { .. } | Outcome::Stopped { .. })) => {
                    unreachable!("the driver goes on behind exits and merge points")
                }
            };
        }
    }

    /// There is too much code: the coldest goes, and what is hot must become hot again.
    fn throw_away(&mut self) {
        let (evicted, remade) = self.tiers.drivers.evict(self.options.code_bytes);
        if evicted == Evicted::None {
            return; // all have runs inside
        }
        // Without `background` no time has a say, so that runs are the same each time.
        let measured = self.options.background;
        if evicted == Evicted::AtOnce || measured && remade > MUCH_REMADE {
            // It would be compiled and thrown away again and again.
            self.tiers.raise_threshold();
        } else if measured && remade < LITTLE_REMADE {
            self.tiers.lower_threshold(self.options.threshold);
        }
        self.tiers.counters.fill(self.tiers.threshold);
    }

    /// Finishes a portal that compiled code has called. Gives the words that it returns.
    fn finish(&mut self, mut inside: Inside) -> (Inside, Vec<Word>) {
        let Some(portal) = self.interpreter().portal(inside.function()) else {
            unreachable!("the driver has been told which portals there are")
        };
        let _within = self.events.clock().enter(Tier::Tier0);
        let mut results = Vec::new();
        (portal.call)(self, inside.take_words(), &mut results);
        (inside, results)
    }

    fn raise(&mut self, error: Error) -> ! {
        self.tiers.raised = Some(error);
        std::panic::resume_unwind(Box::new(Raised))
    }

    /// The driver of a portal, which is this entry of the interpreter, for the greens among these words; none while its
    /// compiler is being made.
    #[allow(
        unsafe_code,
        reason = "the functions that the macros make vouch for the words, and borrow the greens for 'p"
    )]
    fn driver(&mut self, entry: usize, words: &[Word]) -> Result<Option<usize>, Error> {
        let interpreter = self.interpreter();
        let portal = &interpreter.entries()[entry];
        let Some(compiler) = self.coming_compiler(portal)? else { return Ok(None) };
        let shape = || Rc::new(Shape::new(interpreter.module(), portal));
        let shape = self.tiers.shapes.entry(entry).or_insert_with(shape).clone();
        let key = (entry, shape.references.iter().map(|at| words[*at]).collect());
        if let Some(driver) = self.tiers.drivers.find(&key) {
            return Ok(Some(driver));
        }
        let _making = self.events.clock().enter(Tier::Making);
        let greens: Vec<Word> = shape.greens.iter().map(|at| words[*at]).collect();
        // SAFETY: the functions that the macros make are typed as the source is, and what greens refer to is borrowed
        // for `'p`, which this `Jit` can't outlive.
        let mut driver =
            unsafe { Compiled::of_portal(&compiler, interpreter.constants(), &greens, &self.options, &self.events)? };
        let graphs = &interpreter.module().graphs;
        let finished = interpreter.portals().iter().map(|portal| portal.function);
        let finished = finished.filter(|function| graphs.get(*function).is_some_and(comes_back));
        driver.with(|driver| driver.finishes_inner_portals(finished));
        Ok(Some(self.tiers.drivers.add(key, driver)))
    }

    /// The compiler of a portal; none while another thread is making it.
    fn coming_compiler(&mut self, portal: &'static Entry) -> Result<Option<Rc<Compiler>>, Error> {
        if !self.options.background || self.has_compiler(portal.function) {
            return self.compiler(portal.function).map(Some);
        }
        if self.tiers.hot_since.get_or_insert_with(Instant::now).elapsed() < PATIENCE {
            return Ok(None);
        }
        let interpreter = self.interpreter();
        let coming = match self.tiers.coming.entry(portal.function) {
            Slot::Occupied(coming) => coming.into_mut(),
            Slot::Vacant(vacant) => {
                let (sender, receiver) = sync_channel(1);
                let make = move || drop(sender.send(interpreter.flow_compiler(portal)));
                if thread::Builder::new().name("hueshift compiler".to_owned()).spawn(make).is_err() {
                    return self.compiler(portal.function).map(Some);
                }
                vacant.insert(receiver)
            }
        };
        match coming.try_recv() {
            Ok(compiler) => Ok(Some(self.has_come(portal, compiler?))),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => self.compiler(portal.function).map(Some),
        }
    }
}

/// The counter of a key.
#[inline(always)]
fn counter_of(hash: u64) -> usize {
    // Fibonacci hashing (Knuth, volume 3, section 6.4): the product's highest bits depend on all bits of the key.
    (hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - COUNTERS.trailing_zeros())) as usize
}

/// Something that can be part of a merge point's key: mixes itself into a hash. What it doesn't tell apart shares a
/// counter.
pub trait Green {
    /// The hash with this in it.
    fn mix(&self, hash: u64) -> u64;
}

#[inline(always)]
fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(5) ^ word).wrapping_mul(0x517C_C1B7_2722_0A95)
}

macro_rules! scalars {
    ($($ty:ty)*) => {$(
        impl Green for $ty {
            #[inline(always)]
            fn mix(&self, hash: u64) -> u64 {
                mix(hash, *self as u64)
            }
        }
    )*};
}

scalars! { i8 i16 i32 i64 isize u8 u16 u32 u64 usize bool char }

impl<T> Green for &T {
    #[inline(always)]
    fn mix(&self, hash: u64) -> u64 {
        mix(hash, std::ptr::from_ref::<T>(self).addr() as u64)
    }
}

impl<T> Green for &[T] {
    #[inline(always)]
    fn mix(&self, hash: u64) -> u64 {
        mix(hash, self.as_ptr().addr() as u64)
    }
}

impl Green for &str {
    #[inline(always)]
    fn mix(&self, hash: u64) -> u64 {
        mix(hash, self.as_ptr().addr() as u64)
    }
}

impl<T: Green + Copy> Green for Cell<T> {
    #[inline(always)]
    fn mix(&self, hash: u64) -> u64 {
        self.get().mix(hash)
    }
}
