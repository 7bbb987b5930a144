//! The driver: specializes an entry, compiles the fragments, and runs them, serving their exits.
//!
//! An exit that has no code behind it is *blackholed* at first: the compiler graphs are executed from its snapshot, not
//! emitting, until a merge point has compiled code for the state, or to the end. An exit that is taken again gets a
//! bridge, a promotion's exit a case of its growing switch, and is patched.

mod anew;
mod calls;
mod exits;
mod forward;
mod heat;
mod hints;
mod interpret;
mod jitdump;
mod joins;
mod made_up;
mod options;
mod perf_map;
mod portal;
mod regions;
pub(crate) mod telling;

use crate::clock::Tier;
use crate::code::{Code, Compiling, residual_tier};
use crate::compiler::Compiler;
use crate::events::{Reason, Recorder};
use crate::forcing::{self, GuardCounts};
use anew::Generation;
use calls::Calls;
use exits::Exits;
use flowgraph::eval::{self, EvalError, Scratch, TrapReport};
use flowgraph::ir::{Graph, Module, Word};
use flowgraph::memory::Memory;
use forward::Forward;
use heat::Heat;
use jitcodegen::{Activation, CodegenError, Outcome as Ran};
pub use made_up::{MadeUp, Observe};
use made_up::{Start, Waiting};
pub use options::{JitOptions, Size, Stats};
use portal::FromTier0;
pub use portal::{Arrival, Inside};
use regions::Regions;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::rc::Rc;
use std::time::{Duration, Instant};
use telling::Teller;
use timeshifter::specialize::{
    Argument, Calling, Chaos, Choice, Engine, Flipped, Program, SpecError, TraceEnd, Traced,
};

/// How to specialize.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Both sides of every red branch.
    #[default]
    Eager,
    /// The path that the run takes; the rest are exits.
    Tracing,
}

/// Why a run could not be carried out. A trap of the guest is no such reason.
#[derive(Debug, thiserror::Error)]
pub enum JitError {
    /// Specializing stopped.
    #[error(transparent)]
    Specialize(#[from] SpecError),
    /// No machine code could be made.
    #[error(transparent)]
    Codegen(#[from] CodegenError),
    /// The interpreter failed, other than by a trap.
    #[error(transparent)]
    Interpreter(#[from] EvalError),
    /// Nothing has been specialized yet.
    #[error("nothing has been specialized yet")]
    NoEntry,
}

/// The residual code of the entry, for people and tests.
#[derive(Clone, Debug)]
pub struct Residual {
    /// All residual graphs, functions called as they are included.
    pub module: Module,
    /// The keys of the entry's graph, its bridges and switch cases.
    pub own: Vec<String>,
    /// The keys of the bridges behind exits, of regions, which are entered in place of loops, and of the switches over
    /// the values that promotions have seen.
    pub behind_exits: Vec<String>,
    /// How many promotions have at least one case.
    pub switches: usize,
}

/// How many bridges are made behind the loops inside of one that is traced, unless these take so many steps: what lies
/// there may be a guest's text that is gone through once.
const FOLLOWED: u32 = 100;
const FOLLOWED_STEPS: u64 = 20_000;

/// The bridges that are made at once behind loops that have been closed.
struct Following {
    /// The fragment that the first trace began with: loops in later ones are new.
    from: usize,
    /// How many may be made yet.
    left: u32,
    /// None is made any more when specializing has taken so many steps.
    until: u64,
}

/// How much of the slots' memory a loop has with all that is compiled for its exits. Runs inside of runs have as much
/// each.
const FRAME_BYTES: u64 = 1 << 20;

/// A specialized entry and its machine code.
pub struct Jit<'m> {
    engine: Engine<'m>,
    code: Code,
    options: JitOptions,
    key: String,
    unit: Option<usize>,
    /// What there is to know of runs that come from tier 0.
    tier0: FromTier0,
    /// The graphs that are in the profilers' map.
    mapped: FxHashSet<String>,
    /// What has become of the exits.
    exits: Exits,
    /// The exit that the run has left compiled code by, last.
    left_by: Option<u32>,
    /// The bytes of code that have been made before the run.
    ahead: usize,
    guards: Option<Rc<GuardCounts>>,
    waiting: Option<Waiting<'m>>,
    made_up: Option<MadeUp>,
    policy: Policy,
    /// Local aggregates of interpreted frames that compiled code has gone on from.
    left_slots: Vec<Word>,
    /// The loops that bridges lead back to.
    regions: Regions,
    /// The run is in a loop that has just been closed.
    following: Option<Following>,
    /// Arrivals of the interpreter at merge points.
    heat: Heat,
    /// Calls of portals there.
    calls: Calls,
    /// Machine code of the interpreter, for where it has been for long.
    forward: Forward,
    /// What the interpreter behind exits has left for the next time.
    scratch: Scratch,
    /// What has been done since code was thrown away last, and before that.
    stats: Stats,
    past: Stats,
    /// How often code was thrown away in the midst of runs, and how the first run began.
    generation: Generation,
    teller: Teller,
    /// Where the local aggregates of compiled code lie.
    slots: u64,
}

impl Drop for Jit<'_> {
    fn drop(&mut self) {
        self.free_abandoned();
        let left = self.left_slots.drain(..).chain(self.engine.traced_slots.drain(..));
        for slot in left.chain([self.slots]) {
            self.engine.memory.free(slot);
        }
        for counter in self.regions.counters() {
            self.engine.memory.free(counter);
        }
    }
}

/// Where a run goes on.
enum Next {
    Code(String, Vec<Word>),
    Entry(Rc<jitcodegen::Entry>, SmallVec<[Word; 8]>),
    Frames(Vec<eval::Frame>),
    /// In the interpreter, when all code has been thrown away, of which there is too much.
    Anew(Vec<eval::Frame>),
    /// In tier 0, with these words in the portal's parameters.
    Tier0(Vec<Word>),
    /// In tier 0, which finishes the portal that the innermost frame is in: its function, and the words of its
    /// parameters.
    Inside(Vec<eval::Frame>, &'static str, Vec<Word>),
    Done(eval::Outcome),
}

impl<'m> Jit<'m> {
    /// A driver for a compiler, over memory that has the compiler module's data.
    ///
    /// # Errors
    /// If there is no code generator for this machine, or the module is not one of compiler graphs.
    pub fn new(compiler: &'m Compiler, memory: &'m mut Memory, options: JitOptions) -> Result<Jit<'m>, JitError> {
        let mut engine = Engine::new(Program::load(&compiler.module, &compiler.analyses)?, memory);
        engine.settings.abort_at = options.abort_at;
        engine.chaos = Chaos::new(options.chaos);
        engine.limits = options.limits.clone();
        engine.settings.calls_compiled = true;
        engine.settings.known_loops = options.region > 0;
        // Local aggregates lie where the interpreter can reach them, too: their addresses may be among an exit's
        // values.
        let slots = engine.memory.allocate(options.slot_bytes);
        let (code, guards) = code_generator(engine.memory, &options, (slots, options.slot_bytes), None)?;
        engine.settings.rewrites_off = options.rewrites_off;
        engine.settings.check_hints = options.check_hints > 0;
        Ok(Jit {
            engine,
            code,
            teller: Teller::new(Recorder::new(options.kept_events, options.time_tiers, Duration::ZERO)),
            options,
            key: compiler.entry.clone(),
            unit: None,
            tier0: FromTier0::default(),
            scratch: Scratch::default(),
            mapped: FxHashSet::default(),
            exits: Exits::default(),
            left_by: None,
            ahead: 0,
            guards,
            waiting: None,
            made_up: None,
            policy: Policy::Eager,
            left_slots: Vec::new(),
            regions: Regions::default(),
            following: None,
            heat: Heat::default(),
            calls: Calls::default(),
            forward: Forward::default(),
            stats: Stats::default(),
            past: Stats::default(),
            generation: Generation::default(),
            slots,
        })
    }

    /// The engine.
    pub fn engine(&mut self) -> &mut Engine<'m> {
        &mut self.engine
    }

    /// The memory that runs work on.
    pub fn memory(&mut self) -> &mut Memory {
        self.engine.memory
    }

    /// What happened so far.
    pub fn stats(&self) -> Stats {
        let mut stats = self.past.clone();
        stats += self.latest_stats();
        // These count on.
        stats.flipped = self.flipped();
        self.timed(stats)
    }

    /// What happened since code was thrown away last.
    fn latest_stats(&self) -> Stats {
        let emitted = self.engine.fragments.iter().map(|f| f.size).sum();
        let (steps, longest_trace) = (self.engine.steps, self.engine.tracing.longest);
        let blocks = self.code.graphs.values().flat_map(|graph| &graph.blocks);
        let residual = blocks.map(|block| block.ops.len()).sum();
        let (code_bytes, optimizing) = (self.code.engine.code_bytes(), self.code.linking);
        let guards = self.generation.guards(self.engine.guards_made());
        let snapshots = self.engine.exits.len();
        let snapshot_bytes = self.engine.snapshot_bytes();
        let rules = self.engine.firings.borrow().clone();
        let stats = Stats { guards, snapshots, snapshot_bytes, rules, ..self.stats.clone() };
        Stats { steps, emitted, longest_trace, residual, code_bytes, optimizing, ..stats }
    }

    /// Which choices were made otherwise, and how often.
    fn flipped(&self) -> Flipped {
        let mut flipped = self.engine.chaos.as_ref().map(|chaos| chaos.flipped).unwrap_or_default();
        flipped.see(Choice::Guard, self.guards.as_ref().map_or(0, |guards| guards.failed()));
        flipped
    }

    /// The time that its code took to make.
    pub(crate) fn making(&self) -> Duration {
        self.past.specializing + self.past.compiling + self.stats.specializing + self.stats.compiling
    }

    /// How often each guard was executed, where that is counted.
    pub fn guards(&self) -> Option<&GuardCounts> {
        self.guards.as_deref()
    }

    /// The code generator, for texts.
    pub fn code(&self) -> &jitcodegen::Engine {
        &self.code.engine
    }

    /// Specializes the entry eagerly, and compiles it.
    ///
    /// # Errors
    /// See [`JitError`].
    pub fn specialize(&mut self, args: &[Argument]) -> Result<(), JitError> {
        let done = self.specialize_entry(args);
        self.noted(done)
    }

    fn specialize_entry(&mut self, args: &[Argument]) -> Result<(), JitError> {
        let begun = Instant::now();
        let key = self.key.clone();
        let unit = self.engine.specialize(&key, args)?;
        self.unit = Some(unit);
        self.specialized(begun, Reason::AheadOfTime);
        self.policy = Policy::Eager;
        let key = self.entry_of(unit);
        self.compile_new(&key)?;
        self.ahead = self.code.engine.code_bytes();
        Ok(())
    }

    /// Runs the entry once while tracing it, and compiles the trace. `words` are those of all its parameters' leaves.
    ///
    /// # Errors
    /// See [`JitError`].
    pub fn trace(&mut self, args: &[Argument], words: &[Word]) -> Result<eval::Outcome, JitError> {
        self.generation.begins(args, words);
        let next = self.trace_entry(args, words);
        let next = self.noted(next)?;
        self.go_on(next)
    }

    fn trace_entry(&mut self, args: &[Argument], words: &[Word]) -> Result<Next, JitError> {
        let beginning = self.beginning(|| Start::Entry(words.to_vec()));
        let begun = Instant::now();
        let key = self.key.clone();
        let (unit, traced) = self.engine.trace_entry(&key, args, words)?;
        self.unit = Some(unit);
        let end = self.follow_to_its_end(traced, begun)?;
        self.stats.traces += 1;
        self.policy = Policy::Tracing;
        let key = self.entry_of(unit);
        self.compile_new(&key)?;
        let unknown = args.iter().zip(words).filter(|(a, _)| **a == Argument::Unknown).map(|(_, w)| *w);
        let unknown: Vec<Word> = unknown.collect();
        self.engine.begin_run(unit, &unknown);
        self.rehearse(beginning, &key, &unknown)?;
        Ok(self.after_trace(usize::MAX, end))
    }

    /// Runs the compiled entry. `words` are those of its unknown parameters' leaves.
    ///
    /// # Errors
    /// See [`JitError`].
    pub fn run(&mut self, words: &[Word]) -> Result<eval::Outcome, JitError> {
        let unit = self.unit.ok_or(JitError::NoEntry)?;
        if self.generation.is_gone() {
            return self.begin_anew(words);
        }
        self.engine.begin_run(unit, words);
        self.engine.memory.open_foreign(true);
        let key = &self.engine.fragments[self.engine.units[unit].fragment].graph.key;
        let arrived = match self.code.entry(key) {
            Ok(entry) => match entry.activation() {
                Ok(activation) => self.run_in(&entry, words, activation),
                Err(_) => self.go_on_to(Next::Entry(entry, words.into()), None),
            },
            // It isn't there yet.
            Err(_) => self.go_on_to(Next::Code(key.clone(), words.to_vec()), None),
        };
        Ok(ended(arrived?))
    }

    /// A run through code that is there, which most runs never leave: the shortest way into it and out again.
    fn run_in(
        &mut self,
        entry: &jitcodegen::Entry,
        words: &[Word],
        activation: Activation,
    ) -> Result<Arrival, JitError> {
        let next = self.install_finished(false).and_then(|()| self.run_and_serve(entry, words, &activation));
        match next {
            Ok(Next::Done(outcome)) => {
                self.is_over();
                Ok(Arrival::Ended(outcome))
            }
            Ok(next) => self.go_on_to(next, Some(activation)),
            Err(error) => {
                self.is_over();
                self.noted(Err(error))
            }
        }
    }

    /// Runs code. Gives where the run goes on, or its end.
    fn run_and_serve(
        &mut self,
        entry: &jitcodegen::Entry,
        words: &[Word],
        activation: &Activation,
    ) -> Result<Next, JitError> {
        let within = self.enter_tier(Tier::Compiled);
        let ran = entry.call_in(activation, words)?;
        drop(within);
        Ok(match ran {
            Ran::Returned(words) => Next::Done(eval::Outcome::Returned(words)),
            Ran::Trapped(trap) => Next::Done(eval::Outcome::Trapped(trap)),
            Ran::Exited(exit) => self.serve_exit(exit.exit, exit.args)?,
        })
    }

    /// Goes on to the end.
    fn go_on(&mut self, next: Next) -> Result<eval::Outcome, JitError> {
        Ok(ended(self.go_on_to(next, None)?))
    }

    /// Goes on to the end, or to where tier 0 can go on. At the end nobody needs the local aggregates any more that
    /// were left to compiled code.
    fn go_on_to(&mut self, next: Next, activation: Option<Activation>) -> Result<Arrival, JitError> {
        let arrived = self.go_on_in_one_activation(next, activation);
        self.is_over();
        self.noted(arrived)
    }

    /// A run has ended, or goes on in tier 0.
    fn is_over(&mut self) {
        (self.following, self.left_by) = (None, None);
        self.engine.memory.open_foreign(false);
        for slot in self.left_slots.drain(..).chain(self.engine.traced_slots.drain(..)) {
            self.engine.memory.free(slot);
        }
    }

    /// Local aggregates of compiled code stay where they are from fragment to fragment.
    fn go_on_in_one_activation(&mut self, mut next: Next, activation: Option<Activation>) -> Result<Arrival, JitError> {
        // Those of code that has been thrown away. What was made later is dropped first.
        let mut before: Vec<Activation> = Vec::new();
        let mut activation = activation;
        loop {
            self.install_finished(false)?;
            next = match next {
                Next::Done(outcome) => return Ok(Arrival::Ended(outcome)),
                Next::Tier0(words) => return Ok(Arrival::At(words)),
                Next::Inside(frames, function, words) => {
                    return Ok(Arrival::Inside(self.inside(frames, function, words, activation)));
                }
                Next::Frames(frames) => self.interpret(frames)?,
                Next::Anew(frames) => {
                    self.start_over(&frames, activation.take(), &mut before)?;
                    Next::Frames(frames)
                }
                Next::Code(key, words) => self.enter_graph(key, words)?,
                Next::Entry(entry, words) => {
                    let frame = match activation.take().map_or_else(|| entry.activation(), Ok) {
                        Ok(frame) => activation.insert(frame),
                        Err(trap) => {
                            // Stores that are pending in the words are made where these are what the interpreter has.
                            self.engine.frames_at(entry.key(), &words)?;
                            return Ok(Arrival::Ended(eval::Outcome::Trapped(trap)));
                        }
                    };
                    self.run_and_serve(&entry, &words, frame)?
                }
            };
        }
    }

    /// Goes on in a graph, or where it begins in the interpreter while it is being compiled.
    fn enter_graph(&mut self, key: String, words: Vec<Word>) -> Result<Next, JitError> {
        if !self.code.is_ready(&key) {
            if let Some(frames) = self.engine.frames_at(&key, &words)? {
                return Ok(Next::Frames(frames));
            }
            self.install_finished(true)?;
        }
        Ok(Next::Entry(self.code.entry(&key)?, words.into()))
    }

    /// Carries out the calls that a trace comes to, in compiled code: a function may run for long, and would in the
    /// interpreter for a hundred times as long.
    fn follow_to_its_end(&mut self, mut traced: Traced, mut begun: Instant) -> Result<TraceEnd, JitError> {
        loop {
            match traced {
                Traced::Ended(end) => {
                    self.traced(begun, &end);
                    return Ok(end);
                }
                Traced::Calls(calling) => {
                    let called = Instant::now();
                    let came = self.call(&calling)?;
                    begun += called.elapsed();
                    traced = self.engine.trace_behind(*calling, came)?;
                }
            }
        }
    }

    /// Calls the function that a trace stands at; nothing if it is to be interpreted.
    fn call(&mut self, calling: &Calling) -> Result<Option<Result<Vec<Word>, TrapReport>>, JitError> {
        let key = calling.function();
        if !self.is_function_ready(key)? {
            return Ok(None);
        }
        let entry = self.code.engine.entry(key)?;
        // Each run has local aggregates of its own: there may be too many inside of each other.
        let Some(activation) = self.code.engine.activation() else { return Ok(None) };
        let _within = self.enter_tier(Tier::Compiled);
        Ok(match entry.call_in(&activation, &self.engine.handed(calling))? {
            Ran::Returned(words) => Some(Ok(words)),
            Ran::Trapped(trap) => Some(Err(trap)),
            Ran::Exited(_) => unreachable!("functions that are called have no exits"),
        })
    }

    /// Compiles a function, and waits for it. Gives whether it is there.
    fn is_function_ready(&mut self, key: &str) -> Result<bool, JitError> {
        let begun = Instant::now();
        let done = self.code.compile_function(&self.engine, key);
        self.within_function(key, |jit| jit.made_or_refused(done, key, begun))?;
        self.install_finished(true)?;
        Ok(self.code.is_ready(key))
    }

    /// Where the run goes on behind a trace. A loop that the trace has made and closed, but for the one that it began
    /// with, will be left in this very run by an exit that is as hot as what was traced: that one gets its bridge at
    /// once, and so forth until the loop is closed that the first trace began with. Else each loop inside of a loop
    /// would have to become hot in its exits before the outer one is compiled behind it.
    fn after_trace(&mut self, from: usize, end: TraceEnd) -> Next {
        let until = self.engine.steps + FOLLOWED_STEPS;
        let following = self.following.take().unwrap_or(Following { from, left: FOLLOWED, until });
        if let TraceEnd::Enter(key, _) = &end
            && self.code.is_ready(key)
            && self.engine.fragment_of(key).is_some_and(|fragment| fragment > following.from)
            && following.left > 0
            && self.engine.steps < following.until
            && !self.engine.flips(Choice::Follow)
        {
            self.following = Some(Following { left: following.left - 1, ..following });
        }
        match end {
            TraceEnd::Returned(words) => Next::Done(eval::Outcome::Returned(words)),
            TraceEnd::Trapped(trap) => Next::Done(eval::Outcome::Trapped(trap)),
            TraceEnd::Enter(key, words) => Next::Code(key, words),
            TraceEnd::Interpret(frames) => Next::Frames(frames),
        }
    }

    // ---- code

    /// Whether there is as much code as there may be.
    fn is_full(&mut self) -> bool {
        let full = self.code.engine.code_bytes().saturating_sub(self.ahead) > self.options.code_bytes;
        if full {
            self.too_much_code();
        }
        full
    }

    /// Compiles the fragment `key`, which has just been made, and what it leads to.
    fn compile_new(&mut self, key: &str) -> Result<(), JitError> {
        self.compile_with(key, Vec::new()).map(|_| ())
    }

    /// Compiles others that enter it together with it. Gives whether code is there or under way.
    fn compile_with(&mut self, key: &str, others: Vec<Graph>) -> Result<bool, JitError> {
        let begun = Instant::now();
        self.engine.finish_fragments();
        let done = self.code.compile(&self.engine, self.policy, key, others);
        self.made_or_refused(done, key, begun)?;
        if self.policy == Policy::Eager || self.waiting.is_some() {
            self.install_finished(true)?;
        }
        self.map_new_code();
        Ok(!self.code.is_refused(key))
    }

    /// Tells of code that has been made since `begun`. Without what the code generator has refused tier 0 goes on where
    /// it can, or the interpreter behind exits: but a whole program of which not even the beginning can be compiled is
    /// refused.
    fn made_or_refused(
        &mut self,
        done: Result<Compiling, JitError>,
        key: &str,
        begun: Instant,
    ) -> Result<(), JitError> {
        match done {
            Ok(compiling) => self.compiled(begun, key, compiling),
            Err(JitError::Codegen(error)) if self.policy == Policy::Tracing && !self.is_first_trace(key) => {
                self.refused_code(&error);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Whether this is the key of the trace that a run of a whole program has begun with.
    fn is_first_trace(&self, key: &str) -> bool {
        !self.tier0.goes_back && self.unit.is_some_and(|unit| self.entry_of(unit) == key)
    }

    /// The key of the fragment that a unit begins with.
    fn entry_of(&self, unit: usize) -> String {
        self.engine.fragments[self.engine.units[unit].fragment].graph.key.clone()
    }

    /// The residual code so far.
    ///
    /// # Errors
    /// If nothing has been specialized yet.
    pub fn residual(&self) -> Result<Residual, JitError> {
        let unit = self.unit.ok_or(JitError::NoEntry)?;
        let compiled = self.engine.fragments.iter().filter_map(|f| self.code.graphs.get(&f.graph.key)).cloned();
        let mut module = self.engine.residual_module_of(unit, compiled);
        if self.generation.is_gone() {
            module.entry = None;
        }
        let own: Vec<String> = (self.engine.fragments.iter())
            .filter(|f| f.unit == unit && self.code.graphs.contains_key(&f.graph.key))
            .map(|f| f.graph.key.clone())
            .collect();
        let promoting = |graph: &Graph| {
            graph
                .blocks
                .iter()
                .filter(|b| matches!(b.term, flowgraph::ir::Terminator::Switch { promotion: true, .. }))
                .count()
        };
        let in_code: usize = own.iter().filter_map(|key| module.graphs.get(key)).map(promoting).sum();
        let grown = match self.policy {
            Policy::Eager => self.exits.switches.len(),
            Policy::Tracing => 0,
        };
        let mut behind_exits: Vec<String> = self.exits.bridged.values().cloned().chain(self.regions.made()).collect();
        // What the background hasn't finished isn't there yet.
        behind_exits.retain(|key| module.graphs.contains_key(key));
        behind_exits.sort();
        for exit in self.exits.switches.keys() {
            let Some(position) = self.engine.exits[*exit as usize].promoted_position() else { continue };
            let graph = self.switch_graph(*exit, position, false);
            behind_exits.push(graph.key.clone());
            module.graphs.insert(graph.key.clone(), graph);
        }
        Ok(Residual { module, own, behind_exits, switches: in_code + grown })
    }
}

/// How a run has ended that nobody takes out of compiled code before: only portals that tier 0 has brought here go back.
fn ended(arrived: Arrival) -> eval::Outcome {
    match arrived {
        Arrival::Ended(outcome) => outcome,
        Arrival::At(_) | Arrival::Inside(_) => unreachable!("this run has not come from tier 0"),
    }
}

/// A code generator, whose local aggregates lie in these bytes of memory; and what counts guards, if anything is to:
/// what did before goes on.
fn code_generator(
    memory: &mut Memory,
    options: &JitOptions,
    slots: (u64, u64),
    guards: Option<Rc<GuardCounts>>,
) -> Result<(Code, Option<Rc<GuardCounts>>), CodegenError> {
    let settings = jitcodegen::Options {
        slot_memory: Some(slots),
        tier: residual_tier(),
        keep_text: options.keep_text,
        frame_bytes: FRAME_BYTES,
        bounds: options.check_accesses.then(|| memory.bounds()),
        opt_level: options.opt_level,
        background: options.background,
        refuse: options.refuse_code,
        ..jitcodegen::Options::default()
    };
    let mut code = jitcodegen::Engine::new(settings)?;
    let guards = forcing::register(&mut code, options, guards)?;
    hints::register(&mut code, options.check_hints)?;
    Ok((Code::new(code, guards.is_some()), guards))
}
