//! Settings of a driver, and what it counts.

use crate::clock::Clock;
use crate::events::Place;
use crate::forcing;
use std::ops::AddAssign;
use std::time::Duration;
use timeshifter::optimize::{Firings, Kinds};
use timeshifter::specialize::{Flipped, Limits};

/// Settings of a [`Jit`](super::Jit).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JitOptions {
    /// How often the interpreter comes to a merge point, behind a backward jump of the guest, before it is traced from
    /// there. An interpreter that is embedded counts by samples, one for each sixteenth of this: so from 32 on it is
    /// about as often.
    pub threshold: u32,
    /// How often an exit is taken before it gets a bridge.
    pub bridge: u32,
    /// How many values a promotion grows cases for at once. Further ones are interpreted until they have come about a
    /// hundred times, for each so many cases that there are; past 32 times as many cases always.
    pub cases: usize,
    /// How often bridges that lead around a loop are taken, for each 64 of its ops, before the loop is specialized
    /// again, as one graph with joins of all that traces have seen of it. Ahead of time: how often the cases of
    /// promotions are entered before one becomes one graph with all that it leads to. 0: never.
    pub region: u32,
    /// Whether machine code is generated on a second thread, while runs go on in tier 0. What is compiled when depends
    /// on the machine's mood then. Only for runs that begin in tier 0.
    pub background: bool,
    /// For so long, from when something is hot, a run stays in tier 0 when going to compiled code and back has cost it
    /// more than it can bear: so that a short one loses little by code that is left again at once, since what comes
    /// behind its exits isn't compiled yet. Zero: never, and then nothing limits the time of making code later either,
    /// nor do short calls stay in tier 0. Only with [`JitOptions::background`], as what is entered when depends on the
    /// machine's mood then.
    pub warm_up: Duration,
    /// Have the code generator refuse what comes at this number, from 1 on.
    pub refuse_code: Option<u64>,
    /// Whether a blackholed run goes on in compiled code at the next merge point that has some.
    pub reenter: bool,
    /// Stop the first trace at this step.
    pub abort_at: Option<u64>,
    /// Count every guard's executions, and fail the one with this number on its first, second and hundredth.
    pub force_guard: Option<u32>,
    /// On which executions: the first, second and hundredth unless said otherwise.
    pub force_at: Vec<u64>,
    /// No run reaches the guard to be failed: enter its fragment in states made up for it.
    pub make_up: bool,
    /// Count every guard's executions.
    pub count_guards: bool,
    /// What the optimizer leaves as it is: for measurements of what each part of it earns.
    pub rewrites_off: Kinds,
    /// Once in so many times compiled code looks whether what the author says of values (`record_known_result!` and its
    /// like) is true, and traps if it isn't; 0: never.
    pub check_hints: u64,
    /// The seed of a stream that makes choices otherwise than heuristics do, and fails guards at random; 0: none.
    /// Results stay.
    pub chaos: u64,
    /// Keep CLIF and assembly of what is compiled.
    pub keep_text: bool,
    /// Say in a report what memory is like after the run.
    pub show_memory: bool,
    /// Check every access of compiled code: for compiler graphs that come from text, and may have been edited.
    pub check_accesses: bool,
    /// How much Cranelift does about code that our own optimizer has been over.
    pub opt_level: jitcodegen::OptLevel,
    /// When the interpreter behind exits has taken so many steps in all, machine code of the interpreter itself goes on
    /// where there is none to enter; 0: never. Only for runs that don't begin in tier 0, which has machine code.
    pub forward: u64,
    /// How many bytes of machine code there may be of what is compiled just in time. Where there is more, the coldest
    /// code is thrown away as soon as no run is inside; until then nothing more is compiled. Runs that don't begin in
    /// tier 0 throw all code away, and go on.
    pub code_bytes: usize,
    /// How many bytes local arrays and structs of compiled code may use at a time.
    pub slot_bytes: u64,
    /// Where specializing stops, or goes on with less that is known.
    pub limits: Limits,
    /// How many events are kept: the latest.
    pub kept_events: usize,
    /// Whether to write a map of compiled code for the profiler `perf`, `/tmp/perf-PID.map`.
    pub perf_map: bool,
    /// Whether to write a dump of compiled code for `perf inject --jit`, `/tmp/jit-PID.dump`.
    pub jitdump: bool,
    /// Whether the time that runs spend in each tier is measured: some 50 ns each time that one goes over to another.
    pub time_tiers: bool,
}

impl Default for JitOptions {
    fn default() -> JitOptions {
        JitOptions {
            threshold: 2,
            bridge: 2,
            cases: 32,
            region: 0,
            background: false,
            warm_up: Duration::ZERO,
            refuse_code: None,
            reenter: true,
            abort_at: None,
            force_guard: None,
            force_at: forcing::FORCED_AT.to_vec(),
            make_up: false,
            count_guards: false,
            rewrites_off: Kinds::default(),
            check_hints: 0,
            chaos: 0,
            keep_text: false,
            show_memory: true,
            check_accesses: false,
            opt_level: jitcodegen::OptLevel::default(),
            forward: FORWARD,
            code_bytes: CODE_BYTES,
            slot_bytes: SLOT_BYTES,
            limits: Limits::default(),
            kept_events: 1000,
            perf_map: false,
            jitdump: false,
            time_tiers: false,
        }
    }
}

/// Some milliseconds, as making that code takes.
const FORWARD: u64 = 200_000;

/// How much machine code there may usually be.
const CODE_BYTES: usize = 8 << 20;

/// The usual size of the memory that local aggregates of compiled code lie in. So much is mapped afresh by any
/// allocator: its pages are neither cleared nor used before they are needed.
const SLOT_BYTES: u64 = 256 << 20;

/// What happened so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Exits taken that had no code behind them.
    pub exits: u64,
    /// Those among them that were taken to the interpreter.
    pub blackholed: u64,
    /// Ops and ends of blocks of compiler graphs that runs went through behind exits, in the interpreter.
    pub interpreted: u64,
    /// Runs that tier 0 has brought to a merge point with a full counter.
    pub arrived: u64,
    /// Those among them that went into compiled code without looking for it.
    pub entered: u64,
    /// Portals inside of others that tier 0 finished.
    pub finished: u64,
    /// How often machine code of the interpreter went on where there was no code to enter.
    pub forwarded: u64,
    /// Traces begun at merge points, or with the run.
    pub traces: u64,
    /// Bridges made.
    pub bridges: u64,
    /// Cases of promotion switches made.
    pub cases: u64,
    /// Loops specialized again as regions.
    pub regions: u64,
    /// What [`JitOptions::chaos`] has made otherwise.
    pub flipped: Flipped,
    /// How often code was thrown away.
    pub evictions: u64,
    /// Guards: branches of compiled code that may leave it.
    pub guards: usize,
    /// Snapshots that say how the interpreter goes on behind them: consecutive guards share one.
    pub snapshots: usize,
    /// About how many bytes the snapshots take.
    pub snapshot_bytes: usize,
    /// Time in the specializer.
    pub specializing: Duration,
    /// Time in code generation, and in what comes before it.
    pub compiling: Duration,
    /// The part of it in which residual graphs are linked, and what is redundant in them goes.
    pub optimizing: Duration,
    /// Which rules fired, as code was optimized.
    pub rules: Firings,
    /// The part of code generation that a second thread has spent.
    pub compiling_aside: Duration,
    /// Time in tier 0, the interpreter as rustc has compiled it. This and the next three: with
    /// [`JitOptions::time_tiers`].
    pub tier0: Duration,
    /// Time in compiled code, and in host functions that it calls.
    pub running: Duration,
    /// Time in the interpreter behind exits.
    pub interpreting: Duration,
    /// Time in which code is looked for and made.
    pub driving: Duration,
    /// Ops and ends of blocks of compiler graphs that the specializer has gone through.
    pub steps: u64,
    /// Residual ops emitted, before cleaning.
    pub emitted: usize,
    /// Residual ops that have been compiled, after cleaning.
    pub residual: usize,
    /// Bytes of machine code.
    pub code_bytes: usize,
    /// The steps of the longest trace: how far [`JitOptions::abort_at`] has a meaning.
    pub longest_trace: u64,
}

impl Stats {
    /// The same with the times that runs have spent in the tiers.
    pub(crate) fn timed(self, clock: &Clock) -> Stats {
        let [tier0, running, interpreting, driving, making] = clock.spent();
        Stats { tier0, running, interpreting, driving: driving + making, ..self }
    }
}

/// How much code there is for one place in the guest program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// The greens there, by name and value, as in [`Event::key`](crate::events::Event::key).
    pub key: String,
    /// The line of the interpreter's source.
    pub at: Option<Place>,
    /// Which compiler, as in [`Event::compiler`](crate::events::Event::compiler).
    pub compiler: u32,
    /// How many residual graphs begin there: loops, and what lies behind exits.
    pub graphs: usize,
    /// Their ops.
    pub ops: usize,
    /// Bytes of machine code.
    pub bytes: usize,
}

impl AddAssign for Stats {
    fn add_assign(&mut self, other: Stats) {
        // All are named, so that none is forgotten.
        let Stats {
            exits,
            blackholed,
            interpreted,
            arrived,
            entered,
            finished,
            forwarded,
            traces,
            bridges,
            cases,
            regions,
            flipped,
            evictions,
            guards,
            snapshots,
            snapshot_bytes,
            specializing,
            compiling,
            compiling_aside,
            rules,
            optimizing,
            tier0,
            running,
            interpreting,
            driving,
            steps,
            emitted,
            residual,
            code_bytes,
            longest_trace,
        } = other;
        self.exits += exits;
        self.blackholed += blackholed;
        self.interpreted += interpreted;
        self.arrived += arrived;
        self.entered += entered;
        self.finished += finished;
        self.forwarded += forwarded;
        self.traces += traces;
        self.bridges += bridges;
        self.cases += cases;
        self.regions += regions;
        self.flipped += flipped;
        self.evictions += evictions;
        self.guards += guards;
        self.snapshots += snapshots;
        self.snapshot_bytes += snapshot_bytes;
        self.specializing += specializing;
        self.compiling += compiling;
        self.compiling_aside += compiling_aside;
        self.rules += &rules;
        self.optimizing += optimizing;
        self.tier0 += tier0;
        self.running += running;
        self.interpreting += interpreting;
        self.driving += driving;
        self.steps += steps;
        self.emitted += emitted;
        self.residual += residual;
        self.code_bytes += code_bytes;
        self.longest_trace = self.longest_trace.max(longest_trace);
    }
}
