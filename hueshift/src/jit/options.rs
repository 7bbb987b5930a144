//! Settings of a driver, and what it counts.

use crate::forcing;
use std::ops::AddAssign;
use std::time::Duration;

/// Settings of a [`Jit`](super::Jit).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JitOptions {
    /// How often the interpreter comes to a merge point, behind a backward jump of the guest, before it is traced from there.
    pub threshold: u32,
    /// How often an exit is taken before it gets a bridge.
    pub bridge: u32,
    /// How many values a promotion grows cases for; further ones are interpreted.
    pub cases: usize,
    /// How often a bridge that leads back to a loop is taken before the loop is specialized again, as one graph with joins of
    /// all that traces have seen of it; 0: never.
    pub region: u32,
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
    /// Keep CLIF and assembly of what is compiled.
    pub keep_text: bool,
    /// Check every access of compiled code: for compiler graphs that come from text, and may have been edited.
    pub check_accesses: bool,
    /// How much Cranelift does.
    pub opt_level: jitcodegen::OptLevel,
    /// How many bytes local arrays and structs of compiled code may use at a time.
    pub slot_bytes: u64,
}

impl Default for JitOptions {
    fn default() -> JitOptions {
        JitOptions {
            threshold: 2,
            bridge: 2,
            cases: 32,
            region: 0,
            reenter: true,
            abort_at: None,
            force_guard: None,
            force_at: forcing::FORCED_AT.to_vec(),
            make_up: false,
            count_guards: false,
            keep_text: false,
            check_accesses: false,
            opt_level: jitcodegen::OptLevel::Speed,
            slot_bytes: SLOT_BYTES,
        }
    }
}

/// The usual size of the memory that local aggregates of compiled code lie in. So much is mapped afresh by any allocator: its pages
/// are neither cleared nor used before they are needed.
const SLOT_BYTES: u64 = 256 << 20;

/// What happened so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Exits taken to the interpreter.
    pub blackholed: u64,
    /// Ops and ends of blocks of compiler graphs that runs went through behind exits, in the interpreter.
    pub interpreted: u64,
    /// Runs that tier 0 has brought to a merge point with a full counter.
    pub arrived: u64,
    /// Those among them that went into compiled code without looking for it.
    pub entered: u64,
    /// Portals inside of others that tier 0 finished.
    pub finished: u64,
    /// Traces begun at merge points.
    pub traces: u64,
    /// Bridges made.
    pub bridges: u64,
    /// Cases of promotion switches made.
    pub cases: u64,
    /// Loops specialized again as regions.
    pub regions: u64,
    /// Time in the specializer.
    pub specializing: Duration,
    /// Time in code generation.
    pub compiling: Duration,
    /// Ops and ends of blocks of compiler graphs that the specializer has gone through.
    pub steps: u64,
    /// Residual ops emitted, before cleaning.
    pub emitted: usize,
    /// The steps of the longest trace: how far [`JitOptions::abort_at`] has a meaning.
    pub longest_trace: u64,
}

impl AddAssign for Stats {
    fn add_assign(&mut self, other: Stats) {
        self.blackholed += other.blackholed;
        self.interpreted += other.interpreted;
        self.arrived += other.arrived;
        self.entered += other.entered;
        self.finished += other.finished;
        self.traces += other.traces;
        self.bridges += other.bridges;
        self.cases += other.cases;
        self.regions += other.regions;
        self.specializing += other.specializing;
        self.compiling += other.compiling;
        self.steps += other.steps;
        self.emitted += other.emitted;
        self.longest_trace = self.longest_trace.max(other.longest_trace);
    }
}
