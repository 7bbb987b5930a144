//! What the driver tells of what it does: its own events, and the engine's facts among them.

use super::{Jit, JitError, Size, Stats};
use crate::clock::{Clock, Tier, Within};
use crate::code::{Compiling, Finished, Made};
use crate::events::facts::{self, At};
use crate::events::{End, Event, Place, Reason, Recorder, Sink, What, micros};
use flowgraph::eval;
use flowgraph::ir::Loc;
use jitcodegen::CodegenError;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use timeshifter::specialize::{self, Beginning, GuestPosition, SpecError, TraceEnd};

const NOWHERE: At = (GuestPosition::NONE, Loc::UNKNOWN);

/// What a driver has told so far.
pub(super) struct Teller {
    recorder: Recorder,
    /// The recorder's, or one that doesn't run.
    clock: Clock,
    /// Its number among those of the recorder.
    compiler: u32,
    /// The recorder is another's, who counts the time of all of them.
    is_shared: bool,
    /// Fragments and steps that have been told of.
    fragments: usize,
    steps: u64,
    /// Where the latest trace, or what was specialized last, begins.
    begun: At,
    /// Promotions that have as many cases as they may have.
    full: FxHashSet<u32>,
    /// Runs that found no room for their local aggregates.
    turned_away: u64,
    /// How often the interpreter has come by at merge points that can't be traced: graph, block and op.
    left_alone: FxHashMap<(usize, usize, usize), u32>,
    /// How often the interpreter had come to where the latest trace begins; nothing where tier 0 counts.
    came: Option<u32>,
    /// It has been told that there is too much code.
    too_much_code: bool,
    /// What is compiled in the background, by the number of its batch: a graph, and where it is.
    under_way: VecDeque<(u64, String, At)>,
}

impl Teller {
    /// Nothing has been told.
    pub fn new(recorder: Recorder) -> Teller {
        let compiler = recorder.next_compiler();
        Teller {
            clock: recorder.clock().clone(),
            recorder,
            compiler,
            is_shared: false,
            fragments: 0,
            steps: 0,
            begun: NOWHERE,
            full: FxHashSet::default(),
            turned_away: 0,
            left_alone: FxHashMap::default(),
            came: None,
            too_much_code: false,
            under_way: VecDeque::new(),
        }
    }

    /// All has been thrown away that has been told of: what comes is another compiler's.
    pub fn start_over(&mut self) {
        let (is_shared, clock) = (self.is_shared, self.clock.clone());
        *self = Teller { is_shared, clock, ..Teller::new(self.recorder.clone()) };
    }

    /// A trace begins where the interpreter has come so often; nothing where tier 0 counts.
    pub fn came(&mut self, times: Option<u32>) {
        self.came = times;
    }
}

/// What an engine has told of.
#[derive(Default)]
struct Told {
    /// What a trace was begun for, if one has been.
    beginning: Option<Beginning>,
    /// The ops of the loops that it has come to and that were known.
    known_ops: usize,
}

impl Jit<'_> {
    /// The latest events, oldest first: so many as [`JitOptions::kept_events`](super::JitOptions::kept_events) says.
    pub fn events(&self) -> Vec<Event> {
        self.teller.recorder.kept()
    }

    /// Those among them that are its own, where several drivers tell one recorder.
    pub(crate) fn own_events(&self) -> Vec<Event> {
        let own = |event: &Event| event.compiler == self.teller.compiler;
        self.events().into_iter().filter(own).collect()
    }

    /// Hands further events to a function, instead of the one before.
    pub fn on_event(&mut self, sink: impl FnMut(&Event) + 'static) {
        self.teller.recorder.set_sink(Some(Box::new(sink) as Sink));
    }

    /// Tells what happens to others' recorder from here on, and where the time goes to a clock.
    pub(crate) fn tell_to(&mut self, recorder: &Recorder, clock: Clock) {
        self.teller = Teller { is_shared: true, clock, ..Teller::new(recorder.clone()) };
    }

    /// Whether the run has gone to compiled code and back for too long, and tier 0 can go on for now.
    pub(super) fn goes_to_and_fro(&self) -> bool {
        self.tier0.goes_back && self.teller.clock.goes_to_and_fro()
    }

    /// Whether code has taken so long to make that tier 0 is to go on where more is hot.
    pub(super) fn makes_too_much(&self) -> bool {
        self.tier0.goes_back && self.teller.clock.makes_too_much()
    }

    /// The run is in a tier, until what this gives is dropped.
    pub(super) fn enter_tier(&self, tier: Tier) -> Within {
        self.teller.clock.enter(tier)
    }

    /// The same with the time in each tier, unless it is counted elsewhere.
    pub(super) fn timed(&self, stats: Stats) -> Stats {
        if self.teller.is_shared { stats } else { stats.timed(&self.teller.clock) }
    }

    /// How much code there is for each place in the guest program, largest first.
    pub fn sizes(&self) -> Vec<Size> {
        let mut sizes: FxHashMap<GuestPosition, Size> = FxHashMap::default();
        for fragment in &self.engine.fragments {
            let Some(graph) = self.code.graphs.get(&fragment.graph.key) else { continue };
            let position = fragment.at.unwrap_or(GuestPosition::NONE);
            let size = sizes.entry(position).or_insert_with(|| Size {
                key: self.engine.green_key(position).to_owned(),
                at: Place::of(self.engine.loc_of(position), &self.engine.program.module.files),
                compiler: self.teller.compiler,
                graphs: 0,
                ops: 0,
                bytes: 0,
            });
            size.graphs += 1;
            size.ops += graph.blocks.iter().map(|block| block.ops.len()).sum::<usize>();
            size.bytes += self.code.engine.code_bytes_of(&graph.key).unwrap_or_default();
        }
        largest_first(sizes.into_values().collect())
    }

    /// Something happens.
    pub(super) fn tell(&self, what: What, reason: Reason, at: At) {
        self.tell_event(self.event(what, reason, at, None));
    }

    fn tell_event(&self, event: Event) {
        self.teller.recorder.tell(event);
    }

    fn event(&self, what: What, reason: Reason, at: At, duration: Option<Duration>) -> Event {
        let Teller { recorder, compiler, .. } = &self.teller;
        let event = facts::event(&self.engine, (what, reason), at, recorder.now());
        Event { duration_us: duration.map(micros), compiler: *compiler, ..event }
    }

    /// Takes the engine's events and tells them. If a trace has been begun, its time is given.
    fn tell_engine(&mut self, traced: Duration) -> Told {
        let (events, lost) = (std::mem::take(&mut self.engine.log.events), std::mem::take(&mut self.engine.log.lost));
        let mut told = Told::default();
        for specialize::Event { what, loc, at } in events {
            if let specialize::What::TraceBegun { of } = what {
                self.teller.begun = (at, loc);
                told.beginning = Some(of);
            }
            if let specialize::What::KnownLoop { ops } = what {
                told.known_ops += ops;
                self.stats.regions += 1;
            }
            if let Some((what, reason)) = facts::told(what, &self.engine.limits) {
                self.tell(what, reason, (at, loc));
            } else if told.beginning == Some(Beginning::MergePoint) {
                let hot = What::Hot { count: self.teller.came.take().unwrap_or(self.options.threshold).into() };
                let event = self.event(hot, Reason::Threshold, (at, loc), None);
                self.tell_event(Event { us: event.us.saturating_sub(micros(traced)), ..event });
            }
        }
        self.teller.recorder.forget(lost);
        told
    }

    /// A run has been traced, since `begun`.
    pub(super) fn traced(&mut self, begun: Instant, end: &TraceEnd) {
        let duration = begun.elapsed();
        self.stats.specializing += duration;
        let Told { beginning, known_ops } = self.tell_engine(duration);
        let reason = match beginning {
            Some(Beginning::Entry) => Reason::FirstRun,
            Some(Beginning::Bridge(exit)) => self.bridge_reason(exit),
            Some(Beginning::Case(..)) => Reason::NewValue,
            Some(Beginning::MergePoint) | None => Reason::HotLoop,
        };
        let end = match end {
            TraceEnd::Returned(_) => End::Returned,
            TraceEnd::Trapped(_) => End::Trapped,
            TraceEnd::Enter(..) => End::Closed,
            TraceEnd::Interpret(_) => End::Stopped,
        };
        let (ops, steps) = self.new_ops();
        let ops = ops.saturating_sub(known_ops);
        self.tell_event(self.event(What::Traced { ops, steps, end }, reason, self.teller.begun, Some(duration)));
    }

    /// Something has been specialized eagerly, since `begun`.
    pub(super) fn specialized(&mut self, begun: Instant, reason: Reason) {
        let duration = begun.elapsed();
        self.stats.specializing += duration;
        self.tell_engine(Duration::ZERO);
        let first = self.engine.fragments.get(self.teller.fragments);
        let loc = first.map_or(Loc::UNKNOWN, |f| self.engine.program.graph(f.source).loc);
        self.teller.begun = (first.and_then(|f| f.at).unwrap_or(GuestPosition::NONE), loc);
        let (ops, steps) = self.new_ops();
        self.tell_event(self.event(What::Specialized { ops, steps }, reason, self.teller.begun, Some(duration)));
    }

    /// A region has been specialized, since `begun`, or refused.
    pub(super) fn region_made(&mut self, begun: Instant, made: bool) {
        let duration = begun.elapsed();
        self.stats.specializing += duration;
        self.tell_engine(duration);
        let at = self.engine.fragments.get(self.teller.fragments).and_then(|fragment| fragment.at);
        let at = at.unwrap_or(GuestPosition::NONE);
        self.teller.begun = (at, self.engine.loc_of(at));
        let (ops, steps) = self.new_ops();
        if made {
            let region = What::Region { ops, steps };
            self.tell_event(self.event(region, Reason::HotBridge, self.teller.begun, Some(duration)));
        }
    }

    /// Fragments with so many ops have become one graph, since `begun`.
    pub(super) fn joined(&mut self, begun: Instant, ops: usize) {
        let duration = begun.elapsed();
        self.stats.specializing += duration;
        let at = self.engine.fragments.last().and_then(|fragment| fragment.at).unwrap_or(GuestPosition::NONE);
        self.teller.begun = (at, self.engine.loc_of(at));
        self.new_ops();
        let what = What::Region { ops, steps: 0 };
        self.tell_event(self.event(what, Reason::HotCase, self.teller.begun, Some(duration)));
    }

    /// The ops emitted and the steps taken since something was told of them.
    fn new_ops(&mut self) -> (usize, u64) {
        let new = self.engine.fragments.get(self.teller.fragments..).unwrap_or_default();
        let counts = (new.iter().map(|f| f.size).sum(), self.engine.steps - self.teller.steps);
        (self.teller.fragments, self.teller.steps) = (self.engine.fragments.len(), self.engine.steps);
        counts
    }

    /// What has just been specialized has machine code, since `begun`, or will have it.
    pub(super) fn compiled(&mut self, begun: Instant, graph: &str, compiling: Compiling) {
        let duration = begun.elapsed();
        self.stats.compiling += duration;
        let (graph, at) = (graph.to_owned(), self.teller.begun);
        match compiling {
            Compiling::Done(made) => self.tell_compiled(graph, made, at, duration),
            Compiling::UnderWay(number) => self.teller.under_way.push_back((number, graph, at)),
        }
    }

    /// Tells of a function that was specialized for a trace as being there, and not where the trace begins.
    pub(super) fn within_function<T>(&mut self, key: &str, tell: impl FnOnce(&mut Self) -> T) -> T {
        let function = self.engine.fragment_of(key).and_then(|at| self.engine.fragments.get(at));
        let at = function.and_then(|fragment| fragment.at).unwrap_or(GuestPosition::NONE);
        let loc = function.map_or(Loc::UNKNOWN, |fragment| self.engine.program.graph(fragment.source).loc);
        let trace = std::mem::replace(&mut self.teller.begun, (at, loc));
        let told = tell(self);
        self.teller.begun = trace;
        told
    }

    /// Where the latest trace begins.
    pub(super) fn begun_at(&self) -> At {
        self.teller.begun
    }

    fn tell_compiled(&self, graph: String, made: Made, at: At, duration: Duration) {
        let Made { graphs, ops, bytes } = made;
        if bytes > 0 {
            let what = What::Compiled { graph, graphs, ops, bytes };
            self.tell_event(self.event(what, Reason::NewCode, at, Some(duration)));
        }
    }

    /// Installs what has been compiled in the background; waits for all that is under way, if it is to. What has been
    /// refused there stays interpreted.
    pub(super) fn install_finished(&mut self, wait: bool) -> Result<(), JitError> {
        if !self.code.is_busy() || !(wait || self.code.has_news()) {
            return Ok(());
        }
        let _making = self.enter_tier(Tier::Making);
        let begun = Instant::now();
        let finished = self.code.poll(&self.engine, wait)?;
        // What is waited for is counted below.
        if !wait {
            self.stats.compiling += begun.elapsed();
        }
        if finished.is_empty() {
            return Ok(());
        }
        self.tier0.doors.unlock();
        self.map_new_code();
        for Finished { number, result, duration } in finished {
            self.stats.compiling += duration;
            self.stats.compiling_aside += duration;
            let told = self.teller.under_way.iter().position(|(of, ..)| Some(*of) == number);
            let told = told.and_then(|at| self.teller.under_way.remove(at));
            match (result, told) {
                (Ok(made), Some((_, graph, at))) => self.tell_compiled(graph, made, at, duration),
                (Ok(_), None) => {}
                (Err(error), told) => {
                    let at = told.map_or(self.teller.begun, |(.., at)| at);
                    self.tell(What::Refused { message: error.to_string() }, Reason::CodeGeneration, at);
                }
            }
        }
        self.install_region()
    }

    // ---- exits

    /// The guest position and the line of an exit.
    pub(super) fn exit_at(&self, exit: u32) -> At {
        let site = &self.engine.exits[exit as usize];
        (site.at.unwrap_or(GuestPosition::NONE), site.loc)
    }

    pub(super) fn bridge_reason(&self, exit: u32) -> Reason {
        match self.exits.taken.get(&exit) {
            Some(taken) if taken.is_as_much_as(self.options.bridge.into()) => Reason::HotExit,
            _ => Reason::BehindLoop,
        }
    }

    /// An exit was taken to the interpreter.
    pub(super) fn left_through(&self, exit: u32, taken: u32, value: Option<i64>, full: bool) {
        if taken.is_power_of_two() {
            let reason = match value {
                _ if self.engine.exits[exit as usize].dead_end => Reason::DeadEnd,
                _ if full => Reason::NoRoom,
                Some(_) => Reason::ValueWithoutCase,
                None => Reason::GuardFailed,
            };
            self.tell(What::Exit { exit, taken: taken.into(), value }, reason, self.exit_at(exit));
        }
    }

    /// A promotion won't get more cases: told when it is met first.
    pub(super) fn full(&mut self, exit: u32) {
        if self.teller.full.insert(exit) {
            let limit = What::Limit { limit: self.options.cases as u64, name: None, exit: Some(exit) };
            self.tell(limit, Reason::Cases, self.exit_at(exit));
        }
    }

    /// The code generator has refused something that runs can go on without.
    pub(super) fn refused_code(&mut self, error: &CodegenError) {
        self.tell(What::Refused { message: error.to_string() }, Reason::CodeGeneration, self.begun_at());
    }

    /// The code for a value that has been promoted meets a limit: runs with that value go on in the interpreter.
    pub(super) fn refused_case(&mut self, exit: u32, value: i64, begun: Instant, error: SpecError) {
        self.exits.refused_cases.insert((exit, value));
        let (at, _) = self.exit_at(exit);
        self.refused_ahead(at, begun, error);
    }

    /// What was specialized eagerly in a run, since `begun`, meets a limit: the run goes on in the interpreter.
    pub(super) fn refused_ahead(&mut self, at: GuestPosition, begun: Instant, error: SpecError) {
        let duration = begun.elapsed();
        self.stats.specializing += duration;
        let error = JitError::Specialize(error);
        let (reason, loc) = refusal(&error);
        self.tell_engine(Duration::ZERO);
        self.new_ops();
        let refused = What::Refused { message: error.to_string() };
        self.tell_event(self.event(refused, reason, (at, loc), Some(duration)));
    }

    /// All of its code is thrown away. Gives what it has done so far.
    pub(crate) fn evicted(&mut self, reason: Reason) -> Stats {
        let at = self.engine.fragments.first().and_then(|fragment| fragment.at).unwrap_or(GuestPosition::NONE);
        let (graphs, bytes) = (self.code.graphs.len(), self.code.engine.code_bytes());
        self.tell(What::Evicted { graphs, bytes }, reason, (at, self.engine.loc_of(at)));
        let gone = Stats { residual: 0, code_bytes: 0, guards: 0, snapshots: 0, snapshot_bytes: 0, ..self.stats() };
        Stats { evictions: gone.evictions + 1, ..gone }
    }

    // ---- what is not compiled

    /// There is as much code as there may be, while a run is inside: told of the first time.
    pub(super) fn too_much_code(&mut self) {
        if !std::mem::replace(&mut self.teller.too_much_code, true) {
            let limit = What::Limit { limit: self.options.code_bytes as u64, name: None, exit: None };
            self.tell(limit, Reason::CodeBytes, self.teller.begun);
        }
    }

    /// There is no room for the local aggregates of a run that tier 0 has brought here: told of the first time, the
    /// second, fourth, and so on.
    pub(super) fn turned_away(&mut self) {
        self.teller.turned_away += 1;
        if self.teller.turned_away.is_power_of_two() {
            let limit = What::Limit { limit: self.options.slot_bytes, name: None, exit: None };
            let loc = self.engine.program.module.graphs.get(&self.key).map_or(Loc::UNKNOWN, |graph| graph.loc);
            self.tell(limit, Reason::SlotBytes, (GuestPosition::NONE, loc));
        }
    }

    /// The interpreter stands, behind a backward jump, where nothing can be traced: told when that is hot.
    pub(super) fn left_alone(&mut self, frames: &[eval::Frame]) {
        let Some(frame) = frames.last() else { return };
        let count = self.teller.left_alone.entry((frame.graph, frame.block, frame.index)).or_default();
        *count = count.saturating_add(1);
        if *count == self.options.threshold.max(1)
            && let Some((_, graph)) = self.engine.program.module.graphs.get_index(frame.graph)
        {
            let op = graph.blocks.get(frame.block).and_then(|block| block.ops.get(frame.index));
            let loc = op.map_or(graph.loc, |op| op.loc);
            let message =
                format!("a loop of `{}` is hot, but runs inside of a function that is not looked into", graph.function);
            self.tell(What::Refused { message }, Reason::NotLookedInto, (GuestPosition::NONE, loc));
        }
    }

    /// Tells of what can't be compiled.
    pub(super) fn noted<T>(&mut self, done: Result<T, JitError>) -> Result<T, JitError> {
        if let Err(error) = &done {
            let (reason, loc) = refusal(error);
            self.tell_engine(Duration::ZERO);
            let begun = self.engine.fragments.get(self.teller.fragments).and_then(|fragment| fragment.at);
            self.new_ops();
            let what = What::Refused { message: error.to_string() };
            self.tell(what, reason, (begun.unwrap_or(self.teller.begun.0), loc));
        }
        done
    }
}

/// Sorts sizes: the largest first.
pub(crate) fn largest_first(mut sizes: Vec<Size>) -> Vec<Size> {
    sizes.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| (a.compiler, &a.key).cmp(&(b.compiler, &b.key))));
    sizes
}

/// Why something can't be compiled, and which line is blamed.
fn refusal(error: &JitError) -> (Reason, Loc) {
    match error {
        JitError::Specialize(error) => {
            let reason = match error {
                SpecError::EndlessGreen { .. } => Reason::EndlessGreen,
                SpecError::TooMuch { .. } => Reason::TooMuch,
                SpecError::EndlessCall { .. } => Reason::EndlessCall,
                SpecError::EndlessRecursion { .. } => Reason::EndlessRecursion,
                _ => Reason::Internal,
            };
            (reason, error.loc())
        }
        JitError::Codegen(_) => (Reason::CodeGeneration, Loc::UNKNOWN),
        JitError::Interpreter(_) | JitError::NoEntry => (Reason::Internal, Loc::UNKNOWN),
    }
}
