//! The tracing policy: one pass executes and emits.
//!
//! Red operands carry the values of this very run. A split becomes a guard on the side that the run takes, the other
//! side a lazy exit; a promotion takes the value seen; joins are passed. At a merge point the trace closes if the state
//! implies a version of its key; else, as long as it pays, another version is made, which is loop peeling.
//!
//! However a trace ends, the run goes on from exactly the state that it has reached: nothing is done twice, and nothing
//! is left out.
//!
//! ```text
//! heads    the merge points that it has come by, and the first round of a loop
//! nests    how traced loops lie inside of each other
//! profile  which ways traces have taken, and which loops they were around
//! region   what has been traced from a loop on, again as one graph with joins
//! unroll   loops of the interpreter that end soon
//! ```

pub(super) mod heads;
pub(super) mod nests;
pub(super) mod profile;
pub(super) mod region;
pub(super) mod unroll;

use crate::specialize::chaos::Choice;
use crate::specialize::engine::{Engine, Version};
use crate::specialize::entry::Argument;
use crate::specialize::error::{Limits, SpecError};
use crate::specialize::event::{Beginning, Stop, What};
use crate::specialize::merge::merges::Merge;
use crate::specialize::merge::{Keeps, operand_of};
use crate::specialize::residual::SameOp;
use crate::specialize::state::{Key, Red, State, VersionId};
use crate::specialize::step::Outcome;
use crate::specialize::step::calls::Emitted;
use crate::specialize::trace::heads::Heads;
use flowgraph::eval::{self, Evaluator, TrapReport};
use flowgraph::ir::{
    BlockId, CallMode, Const, Edge, Graph, Loc, MarkKind, Op, Opcode, Operand, Terminator, Time, Trap, Type, ValueId,
    Word,
};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// How a trace ended: where the run goes on.
#[derive(Clone, Debug)]
pub enum TraceEnd {
    /// The outermost function returned.
    Returned(Vec<Word>),
    /// The run trapped.
    Trapped(TrapReport),
    /// In compiled code: the fragment, and the words of its parameters.
    Enter(String, Vec<Word>),
    /// In the interpreter, at these frames of the compiler module.
    Interpret(Vec<eval::Frame>),
}

/// How far a trace has come.
#[derive(Debug)]
pub enum Traced {
    /// To its end.
    Ended(TraceEnd),
    /// To a call, which is to be carried out: with
    /// [`Settings::calls_compiled`](crate::specialize::Settings::calls_compiled).
    Calls(Box<Calling>),
}

/// A trace that stands at a call of a function specialized for its green arguments. It goes on with
/// [`Engine::trace_behind`].
#[derive(Debug)]
pub struct Calling {
    trace: Trace,
    call: Emitted,
}

impl Calling {
    /// The key of the residual graph that is called.
    pub fn function(&self) -> &str {
        self.call.function()
    }
}

/// A trace under way.
#[derive(Debug)]
struct Trace {
    st: State,
    heads: Heads,
    /// Its steps.
    traced: u64,
}

/// A version is worth making while it knows more than its predecessor, this often.
const ROUNDS: usize = 3;

impl Engine<'_> {
    /// Traces a run of the graph `key` from its entry. Gives the unit and how far the trace has come.
    ///
    /// # Errors
    /// As [`Engine::specialize`].
    pub fn trace_entry(&mut self, key: &str, args: &[Argument], words: &[Word]) -> Result<(usize, Traced), SpecError> {
        let unit = self.new_unit(key)?;
        self.units[unit].exits = true;
        let mut st = self.start(unit, args, &[])?;
        let unknown = args.iter().zip(words).filter(|(a, _)| **a == Argument::Unknown).map(|(_, w)| *w);
        let params = self.fragments[st.fragment].graph.entry_params().to_vec();
        st.concrete = Some(params.into_iter().zip(unknown).collect());
        self.units[unit].done = true;
        Ok((unit, self.trace_from(Beginning::Entry, st)?))
    }

    /// Traces on from an exit with the values that it handed over: the bridge. Gives the key of the fragment that the
    /// exit is to be patched to.
    ///
    /// # Errors
    /// As [`Engine::specialize`].
    pub fn trace_exit(&mut self, exit: u32, words: &[Word]) -> Result<(String, Traced), SpecError> {
        let mut st = self.state_at_exit(exit);
        let fragment = st.fragment;
        self.tracing.bridges.entry(exit).or_default().push(fragment);
        let params = self.fragments[fragment].graph.entry_params().to_vec();
        st.concrete = Some(params.into_iter().zip(words.iter().copied()).collect());
        let key = self.fragments[fragment].graph.key.clone();
        Ok((key, self.trace_from(Beginning::Bridge(exit), st)?))
    }

    /// Traces on from a promotion's exit: the value seen becomes a case. Gives the key of the fragment to enter for it.
    ///
    /// # Errors
    /// As [`Engine::specialize`].
    pub fn trace_case(&mut self, exit: u32, words: &[Word]) -> Result<(String, Traced), SpecError> {
        let position = self.exits[exit as usize].promoted_position();
        let mut st = self.state_at_exit(exit);
        let fragment = st.fragment;
        self.tracing.bridges.entry(exit).or_default().push(fragment);
        let params = self.fragments[fragment].graph.entry_params().to_vec();
        let mut beginning = Beginning::Bridge(exit);
        if let Some(position) = position {
            let seen = words[position] as i64;
            self.record(&st, Some(seen));
            self.learn_equal(&mut st, Red::Value(params[position]), Const::Int(seen));
            beginning = Beginning::Case(exit, seen);
        }
        st.concrete = Some(params.into_iter().zip(words.iter().copied()).collect());
        let key = self.fragments[fragment].graph.key.clone();
        Ok((key, self.trace_from(beginning, st)?))
    }

    pub(crate) fn stands_at_merge_point(&self, st: &State) -> bool {
        let f = st.frame();
        self.program.is_merge_point(f.graph, f.block, f.index)
    }

    /// Traces from a state on.
    pub(crate) fn trace_from(&mut self, of: Beginning, mut st: State) -> Result<Traced, SpecError> {
        st.at = Some(self.guest_position(&st));
        self.fragments[st.fragment].at = st.at;
        self.happened(What::TraceBegun { of }, &st);
        self.tracing.traces += 1;
        self.quiet_steps = 0;
        self.functions.copied.clear();
        self.functions.recursive.values_mut().for_each(|copies| *copies = 0);
        self.tracing.decisions.clear();
        let at_first = of == Beginning::MergePoint;
        self.trace(Trace { st, heads: Heads::new(self.tracing.traces, at_first), traced: 0 })
    }

    fn trace(&mut self, trace: Trace) -> Result<Traced, SpecError> {
        let Trace { mut st, mut heads, mut traced } = trace;
        let stop = self.next_stop();
        let end = loop {
            traced += 1;
            self.tracing.longest = self.tracing.longest.max(traced);
            if self.settings.abort_at == Some(traced) {
                self.settings.abort_at = None;
                break self.abort(st, Stop::Asked(traced))?;
            }
            if stop == Some(traced) {
                break self.abort(st, Stop::Chaos(traced))?;
            }
            if let Some(stop) = self.limit_of_trace(&st, traced) {
                break self.abort(st, stop)?;
            }
            let stepped = match self.step_once(&mut st) {
                Err(error @ (SpecError::EndlessRecursion { .. } | SpecError::Refused { .. }))
                    if self.settings.calls_compiled =>
                {
                    break self.abort(st, Stop::Call(error.to_string(), error.loc()))?;
                }
                // It has no effects, and hasn't been carried out.
                Err(error @ SpecError::EndlessCall { .. }) if self.settings.limits_stop_traces => {
                    break self.abort(st, Stop::Call(error.to_string(), error.loc()))?;
                }
                stepped => stepped?,
            };
            match stepped {
                None => {}
                Some(Outcome::Mark(kind)) => {
                    if let Some(end) = self.trace_mark(&mut st, kind, &mut heads)? {
                        break end;
                    }
                }
                Some(Outcome::Split { cond, then, otherwise, loc }) => {
                    let taken = self.concrete_word(&st, operand_of(cond)) != 0;
                    self.record(&st, Some(i64::from(taken)));
                    self.keep_to(&mut st, cond, taken, (then, otherwise), loc)?;
                }
                Some(Outcome::SwitchSplit { value, cases, default, loc }) => {
                    self.trace_switch(&mut st, value, cases, default, loc)?;
                }
                Some(Outcome::Promotion { value, loc }) => {
                    self.trim_registers(&mut st);
                    self.trace_promotion(&mut st, value, loc);
                }
                Some(Outcome::Returned(values, loc)) => {
                    let words = self.words(&mut st, &values, loc)?;
                    self.end_in_return(st, &values, loc)?;
                    break TraceEnd::Returned(words);
                }
                Some(Outcome::Trapped(trap, args)) => {
                    let words = self.words(&mut st, &args, trap.loc)?;
                    let report = report(&trap, &words);
                    self.end_in_trap(st, *trap, &args)?;
                    break TraceEnd::Trapped(report);
                }
                Some(Outcome::Calls(call)) => return self.before_call(Trace { st, heads, traced }, *call),
                Some(Outcome::CallTrapped(trap)) => {
                    self.end_in_own_exit(&st);
                    break TraceEnd::Trapped(trap);
                }
            }
        };
        self.run_functions_or_refuse()?;
        Ok(Traced::Ended(end))
    }

    /// The limit that a trace has met, if it has: here, between two ops, the run can go on in the interpreter.
    fn limit_of_trace(&self, st: &State, traced: u64) -> Option<Stop> {
        let Limits { trace_steps, green_steps, unrolled_ops, .. } = self.limits;
        if traced > trace_steps {
            return Some(Stop::TooLong);
        }
        let (quiet, size) = (self.quiet_steps, self.fragments[st.fragment].size);
        match self.settings.limits_stop_traces {
            true if quiet >= green_steps => Some(Stop::Quiet),
            true if size > unrolled_ops => Some(Stop::TooLarge),
            _ => None,
        }
    }

    fn words(&mut self, st: &mut State, reds: &[Red], loc: Loc) -> Result<Vec<Word>, SpecError> {
        let mut words = Vec::with_capacity(reds.len());
        for red in reds {
            let operand = self.real(st, *red, loc)?;
            words.push(self.concrete_word(st, operand));
        }
        Ok(words)
    }

    // ---- guards

    pub(crate) fn next_block(&mut self, st: &State) -> BlockId {
        self.fragments[st.fragment].new_block(Some(st.block))
    }

    /// The edge to the exit of the state's snapshot, with a guard number of its own. Consecutive guards share a
    /// snapshot, and the block that leaves through its exit. The first of them may be a branch, on a condition that
    /// goes the other way.
    pub(crate) fn guard_exit(&mut self, st: &mut State, branch: Option<(Red, bool)>, loc: Loc) -> Edge {
        self.trim_registers(st);
        match st.snapshot {
            Some(exit) if !self.flips(Choice::Share) => self.exit_edge(st, exit),
            _ => {
                let exit = self.new_guard_exit(st, branch, None, loc);
                st.snapshot = Some(exit);
                let edge = self.exit_edge(st, exit);
                self.first_exit_edge(exit, edge)
            }
        }
    }

    /// Registers an exit with a block for the guards that share it.
    pub(crate) fn new_guard_exit(
        &mut self,
        st: &State,
        branch: Option<(Red, bool)>,
        promoted: Option<ValueId>,
        loc: Loc,
    ) -> u32 {
        let exit = self.new_exit(st, promoted, loc);
        let fragment = &mut self.fragments[st.fragment];
        let block = fragment.new_block(None);
        let guard = fragment.new_param(block, Type::Int);
        let site = &mut self.exits[exit as usize];
        let mut args: Vec<Operand> = site.values.iter().map(|v| Operand::Value(*v)).collect();
        if let Some((Red::Value(cond), taken)) = branch
            && let Some(at) = site.values.iter().position(|value| *value == cond)
        {
            args[at] = fragment.new_param(block, Type::Int).into();
            site.decided = Some((cond, taken));
        }
        site.block = Some(block);
        fragment.end(block, Terminator::Exit { exit, guard: guard.into(), args }, loc);
        exit
    }

    /// The edge of a guard to the exit of its snapshot. A condition that was branched on before has come out so that
    /// the branch didn't leave.
    pub(crate) fn exit_edge(&mut self, st: &State, exit: u32) -> Edge {
        let site = &self.exits[exit as usize];
        let Some(block) = site.block else { unreachable!("a guard's exit has a block") };
        debug_assert_eq!(site.fragment, st.fragment);
        let decided = site.decided.map(|(cond, taken)| match taken {
            false => Operand::int(0),
            true if self.fragments[st.fragment].info(cond).bound.is_bool() => Operand::int(1),
            true => cond.into(),
        });
        let guard = i64::from(self.guards);
        self.guards += 1;
        Edge::new(block, [Operand::int(guard)].into_iter().chain(decided))
    }

    /// The same for the branch on the condition itself: if it leaves, that has come out otherwise, as the code
    /// generator knows. A guard that fails for a test must hand over what it is.
    fn first_exit_edge(&self, exit: u32, mut edge: Edge) -> Edge {
        if let (Some((cond, _)), Some(last)) = (self.exits[exit as usize].decided, edge.args.last_mut()) {
            *last = cond.into();
        }
        edge
    }

    fn trace_switch(
        &mut self,
        st: &mut State,
        value: Red,
        cases: &[(i64, Edge)],
        default: &Edge,
        loc: Loc,
    ) -> Result<(), SpecError> {
        let operand = operand_of(value);
        let seen = self.concrete_word(st, operand) as i64;
        let taken = cases.iter().find(|(case, _)| *case == seen);
        self.record(st, taken.map(|(case, _)| *case));
        let exit = self.guard_exit(st, None, loc);
        let next = self.next_block(st);
        let on = Edge::new(next, []);
        let (guarded, otherwise) = match taken {
            Some(_) => (vec![(seen, on)], exit),
            None => (cases.iter().map(|(case, _)| (*case, exit.clone())).collect(), on),
        };
        let term = Terminator::Switch {
            value: operand,
            cases: guarded,
            default: otherwise,
            time: Time::Now,
            promotion: false,
        };
        self.fragments[st.fragment].end(st.block, term, loc);
        st.block = next;
        if taken.is_some() {
            self.learn_equal(st, value, Const::Int(seen));
        }
        self.go(st, taken.map_or(default, |(_, e)| e), loc)
    }

    /// The value seen is the first case; the promotion has a snapshot of its own, since new cases start exactly there.
    fn trace_promotion(&mut self, st: &mut State, value: ValueId, loc: Loc) {
        let seen = self.concrete_word(st, value.into()) as i64;
        self.record(st, Some(seen));
        let exit = self.new_guard_exit(st, None, Some(value), loc);
        self.exits[exit as usize].cases = 1;
        self.happened_at(What::Promoted { value: seen, exit }, st, loc);
        let edge = self.exit_edge(st, exit);
        let next = self.next_block(st);
        let cases = vec![(seen, Edge::new(next, []))];
        let term = Terminator::Switch { value: value.into(), cases, default: edge, time: Time::Now, promotion: true };
        self.fragments[st.fragment].end(st.block, term, loc);
        st.block = next;
        st.snapshot = None;
        self.learn_equal(st, Red::Value(value), Const::Int(seen));
    }

    pub(crate) fn end_in_own_exit(&mut self, st: &State) -> u32 {
        let loc = self.loc(st);
        let exit = self.new_exit(st, None, loc);
        let term = self.exit_terminator(exit);
        self.fragments[st.fragment].end(st.block, term, loc);
        exit
    }

    /// Stops the trace: compiled code leaves here, and this run goes on in the interpreter.
    fn abort(&mut self, st: State, why: Stop) -> Result<TraceEnd, SpecError> {
        let (dead_end, loc) = match &why {
            Stop::Call(_, loc) => (true, *loc),
            _ => (false, Loc::UNKNOWN),
        };
        self.happened_at(What::TraceStopped(why), &st, loc);
        let exit = self.end_in_own_exit(&st);
        self.exits[exit as usize].dead_end = dead_end;
        let concrete = st.concrete.clone().unwrap_or_default();
        let frames = self.frames_of(&st, &|v| concrete[&v])?;
        Ok(TraceEnd::Interpret(frames))
    }

    // ---- merge points

    fn trace_mark(&mut self, st: &mut State, kind: MarkKind, heads: &mut Heads) -> Result<Option<TraceEnd>, SpecError> {
        let f = st.frame();
        let guest = self.program.is_merge_point(f.graph, f.block, f.index);
        if kind == MarkKind::LocalMerge || (!guest && self.program.loop_has_merge_point(f.graph, f.block)) {
            return Ok(self.passes(st, kind));
        }
        if !guest && self.ends_soon(st) && !self.flips(Choice::Loop) {
            return Ok(self.passes(st, kind));
        }
        let begins_loop = std::mem::take(&mut st.jumped) || !guest || !self.program.marks_jumps();
        let begins_loop = begins_loop != self.flips(Choice::Loop);
        self.trim(st);
        let key = self.key(st, kind);
        if guest {
            self.stand_at(st);
            // What is hot here by itself is traced.
            if !heads.at_first && self.is_known_from_elsewhere(st, &key) {
                return self.enter_known_loop(st, key, heads);
            }
        }
        if !begins_loop && !self.versions.contains_key(&key) {
            // No backward jump of the guest leads here, or none that has been seen: straight on.
            self.pass_head(st, key, heads);
            return Ok(self.passes(st, kind));
        }
        // Of a loop without greens that doesn't say where it jumps back, every round comes by here.
        let has_greens = !key.frame.greens.is_empty() || self.stacks.has_greens(key.outer);
        let straight = guest && (self.program.marks_jumps() || has_greens);
        if straight && !std::mem::take(&mut heads.at_first) && !self.is_joined(&key, heads) {
            // Nothing says yet that a loop begins here, or that paths join.
            self.pass_head(st, key, heads);
            return Ok(self.passes(st, kind));
        }
        let index = match self.versions.get_index_of(&key) {
            Some(index) => index,
            None => self.versions.insert_full(key.clone(), Vec::new()).0,
        };
        self.ends_round(&key, heads);
        let round = heads.rounds.get(&key).copied().unwrap_or_default();
        let may_pay = round > 0 && round < ROUNDS && !self.flips(Choice::Peel);
        let (closes, decides) = self.close_in_any(st, index, may_pay)?;
        if let Some((id, end)) = closes {
            self.merges.see(kind, Merge::Jumped);
            self.closed(st, id, round > 0);
            self.cut_first_round(&key, heads)?;
            return Ok(Some(end));
        }
        if !begins_loop {
            return Ok(self.passes(st, kind));
        }
        heads.rounds.insert(key.clone(), round + 1);
        let top = round == 0 || !decides && !knows_something(st);
        let widens = round >= 2 && (round >= ROUNDS || !self.alternates(st, index));
        let from = st.fragment;
        let id = self.trace_into_version(st, index, widens, top)?;
        self.made_version(key, id, from, heads);
        Ok(None)
    }

    /// The trace goes straight on past a mark.
    fn passes(&mut self, st: &mut State, kind: MarkKind) -> Option<TraceEnd> {
        self.merges.see(kind, Merge::Passed);
        st.passed = true;
        None
    }

    /// Closes the trace in a version of a key, if one fits, but for those that another round (`may_pay`) would know
    /// more than; rather in one to which nothing has to be forced. Gives also whether constants decide a branch that a
    /// version has to take.
    fn close_in_any(
        &mut self,
        st: &mut State,
        key: usize,
        may_pay: bool,
    ) -> Result<(Option<(VersionId, TraceEnd)>, bool), SpecError> {
        let knows = may_pay && knows_something(st);
        let mut decides = false;
        for may_force in [false, true] {
            for version in (0..self.versions[key].len()).rev() {
                let id = VersionId { key, version };
                let knows_more = knows && (may_force || !knows_something(&self.version(id).template));
                let decides_more = !knows_more && may_pay && self.decides_more(st, id);
                decides |= decides_more;
                if knows_more || decides_more || self.makes_another(key) {
                    continue;
                }
                if let Some(end) = self.close(st, id, may_force)? {
                    return Ok((Some((id, end)), decides));
                }
            }
        }
        Ok((None, decides))
    }

    /// Whether constants of a state decide a branch that the code of a version, for any values, has to take.
    fn decides_more(&self, st: &State, id: VersionId) -> bool {
        let Version { template, fragment, block, .. } = self.version(id);
        let graph = &self.fragments[*fragment].graph;
        let params = &graph.block(*block).params;
        let (mut constant, mut varies) = (FxHashSet::default(), FxHashSet::default());
        for (given, wanted) in st.red_registers().zip(template.red_registers()) {
            if let Red::Value(param) = wanted
                && params.contains(&param)
            {
                let known = if given.constant().is_some() { &mut constant } else { &mut varies };
                known.insert(param);
            }
        }
        constant.retain(|param| !varies.contains(param));
        !constant.is_empty() && decides_a_branch(graph, constant)
    }

    /// Whether widening a state against the last version of a key would lose a constant that decides a branch there:
    /// as a state that is promoted, and another one in every other round.
    fn alternates(&self, st: &State, key: usize) -> bool {
        let Some(Version { template: last, .. }) = self.versions[key].last() else { return false };
        (0..self.versions[key].len()).any(|version| {
            let Version { template, fragment, block, .. } = self.version(VersionId { key, version });
            let graph = &self.fragments[*fragment].graph;
            let params = &graph.block(*block).params;
            let others = template.red_registers().zip(last.red_registers());
            let lost = st.red_registers().zip(others).filter_map(|(given, (wanted, last))| match wanted {
                Red::Value(param) if params.contains(&param) => {
                    let differs = last.constant().is_some() && last.constant() != given.constant();
                    (differs && given.constant().is_some()).then_some(param)
                }
                _ => None,
            });
            let lost: FxHashSet<ValueId> = lost.collect();
            !lost.is_empty() && decides_a_branch(graph, lost)
        })
    }

    /// Whether a path has come to a key before the one that a trace follows: an earlier trace, or this one since it
    /// made its last version. Then there is a loop, or a join.
    fn is_joined(&mut self, key: &Key, heads: &Heads) -> bool {
        let first = *self.tracing.passed_heads.entry(key.clone()).or_insert(heads.trace);
        self.versions.contains_key(key) || heads.has_passed(key) || first != heads.trace
    }

    /// Ends the trace in a jump to a version, if the state implies it.
    fn close(&mut self, st: &mut State, id: VersionId, may_force: bool) -> Result<Option<TraceEnd>, SpecError> {
        let loc = self.loc(st);
        let (template, block) = (self.version(id).template.clone(), self.version(id).block);
        let Some(args) = self.bind(st, &template, block, may_force, loc)? else { return Ok(None) };
        let words = args.iter().map(|a| self.concrete_word(st, *a)).collect();
        self.link(st, id, args, loc);
        let target = self.version(id).fragment;
        Ok(Some(TraceEnd::Enter(self.fragments[target].graph.key.clone(), words)))
    }

    /// The trace has ended in a jump to a version.
    fn closed(&mut self, st: &State, id: VersionId, is_loop: bool) {
        let fragment = self.fragments[self.version(id).fragment].graph.key.clone();
        self.happened(What::Closed { fragment, is_loop }, st);
    }

    /// Makes another version of the key, and goes on in it. The first keeps slots, all else are plain variables; the
    /// second is the arriving state itself, and so is the third if a constant alternates; others are widened against
    /// the last one (`widens`). `top`: keeps no constants.
    pub(crate) fn trace_into_version(
        &mut self,
        st: &mut State,
        key: usize,
        widens: bool,
        top: bool,
    ) -> Result<VersionId, SpecError> {
        let loc = self.loc(st);
        let (fragment, block) = self.version_head(st, true);
        let last = self.versions[key].last().map(|v| v.template.clone());
        let versions = self.versions[key].len();
        let top = top || versions > self.limits.versions;
        let base = if widens { last.as_deref() } else { None };
        let is_wider = base.is_some() || versions > self.limits.versions;
        self.merges.see(
            MarkKind::GlobalMerge,
            match (&last, base) {
                (None, _) => Merge::New,
                _ if top => Merge::Topped,
                (_, Some(_)) => Merge::Widened,
                (_, None) => Merge::Peeled,
            },
        );
        let mut states = [std::mem::replace(st, State::empty())];
        let keeps = if top { Keeps::Nothing } else { Keeps::All };
        let template = self.meet(&mut states, base, (fragment, block), keeps, loc)?;
        self.note_ranges(&template);
        let [mut arriving] = states;
        if is_wider {
            let forgotten = last.map(|last| self.forgotten(&last, &template)).unwrap_or_default();
            self.happened(What::Widened { versions, top, forgotten }, &arriving);
        }
        let id = self.add_version(key, template, true);
        let template = self.version(id).template.clone();
        self.record_loop(&template);
        let Some(args) = self.bind(&mut arriving, &template, block, true, loc)? else {
            return Err(SpecError::Malformed("a state does not imply what it was met into".to_owned(), loc));
        };
        let words: Vec<Word> = args.iter().map(|a| self.concrete_word(&arriving, *a)).collect();
        self.link(&arriving, id, args, loc);
        let params = self.fragments[fragment].graph.block(block).params.clone();
        *st = template.continued();
        st.concrete = Some(params.into_iter().zip(words).collect());
        st.passed = true;
        st.snapshot = None;
        Ok(id)
    }

    // ---- calls

    /// Carries out a call on the callee's compiler graph with all its arguments.
    pub(crate) fn interpret_call(
        &mut self,
        st: &mut State,
        op: &Op,
        call: &Emitted,
    ) -> Result<Result<Vec<Word>, TrapReport>, SpecError> {
        let words = self.words(st, &call.all_args, op.loc)?;
        let callee = self.program.graph(call.evaluated);
        let mut evaluator = Evaluator::new(self.program.module, self.memory);
        evaluator.jitted = op.callee().is_some_and(|c| c.mode != CallMode::Residual);
        let failed = |reason: String| SpecError::Evaluation { function: callee.key.clone(), reason, loc: op.loc };
        match evaluator.call(&callee.key, &words).map_err(|e| failed(e.to_string()))? {
            eval::Outcome::Returned(words) => Ok(Ok(words)),
            // What a function of the host fails at is blamed on its call: it has no lines.
            eval::Outcome::Trapped(trap) if callee.is_host() => Ok(Err(TrapReport { loc: op.loc, ..trap })),
            eval::Outcome::Trapped(trap) => Ok(Err(trap)),
            _ => Err(failed("it did not come to its end".to_owned())),
        }
    }

    /// Emits a call that has been carried out, and has returned these words.
    pub(crate) fn emit_called(
        &mut self,
        st: &mut State,
        op: &Op,
        call: &Emitted,
        words: Vec<Word>,
    ) -> SmallVec<[Red; 2]> {
        self.quiet_steps = 0;
        let Emitted { opcode, imm, operands, types, .. } = call;
        let values = self.fragments[st.fragment].push(st.block, *opcode, operands, imm.clone(), types, op.loc);
        if *opcode == Opcode::CallElidable {
            self.fragments[st.fragment].remember(st.block, SameOp { opcode: *opcode, args: operands, imm });
        }
        if let Some(concrete) = &mut st.concrete {
            concrete.extend(values.iter().copied().zip(words));
        }
        st.snapshot = None;
        values.into_iter().map(Red::Value).collect()
    }

    /// The trace stands at a call of a specialized function. The function is specialized now, so that it can be called;
    /// if it can't be, the trace ends before the call.
    fn before_call(&mut self, trace: Trace, call: Emitted) -> Result<Traced, SpecError> {
        match self.run_functions_or_refuse() {
            Ok(()) => Ok(Traced::Calls(Box::new(Calling { trace, call }))),
            Err(error) if error.is_limit() => {
                self.abort(trace.st, Stop::Call(error.to_string(), error.loc())).map(Traced::Ended)
            }
            Err(error) => Err(error),
        }
    }

    /// The words that a residual call is handed in the run that a trace follows.
    pub fn handed(&self, calling: &Calling) -> Vec<Word> {
        calling.call.operands.iter().map(|operand| self.concrete_word(&calling.trace.st, *operand)).collect()
    }

    /// Goes on with a trace behind a call, which has returned, or trapped; nothing if it is to be interpreted.
    ///
    /// # Errors
    /// As [`Engine::specialize`].
    pub fn trace_behind(
        &mut self,
        calling: Calling,
        came: Option<Result<Vec<Word>, TrapReport>>,
    ) -> Result<Traced, SpecError> {
        let Calling { mut trace, call } = calling;
        let frame = trace.st.frame();
        let code = self.program.graph(frame.graph).block(frame.block);
        let op = &code.ops[frame.index as usize];
        let came = match came {
            Some(came) => came,
            None => self.interpret_call(&mut trace.st, op, &call)?,
        };
        match came {
            Ok(words) => {
                let results = self.emit_called(&mut trace.st, op, &call, words);
                self.called(&mut trace.st, op, call.opcode, call.evaluated, results)?;
                self.trace(trace)
            }
            Err(trap) => {
                self.end_in_own_exit(&trace.st);
                Ok(Traced::Ended(TraceEnd::Trapped(trap)))
            }
        }
    }
}

/// Whether a state has what a version without it would lose.
fn knows_something(st: &State) -> bool {
    !st.slots.is_empty() || !st.memory.places.is_empty()
}

/// Whether a branch of a graph depends on nothing but these of its values.
fn decides_a_branch(graph: &Graph, mut known: FxHashSet<ValueId>) -> bool {
    let is_known = |known: &FxHashSet<ValueId>, operand: &Operand| operand.value().is_none_or(|v| known.contains(&v));
    for block in &graph.blocks {
        for op in &block.ops {
            if op.opcode.is_pure() && op.args.iter().all(|arg| is_known(&known, arg)) {
                known.extend(&op.results);
            }
        }
        let on = match &block.term {
            Terminator::Branch { cond: on, .. } | Terminator::Switch { value: on, .. } => on.value(),
            _ => None,
        };
        if on.is_some_and(|value| known.contains(&value)) {
            return true;
        }
    }
    false
}

fn report(trap: &Trap, words: &[Word]) -> TrapReport {
    TrapReport { kind: trap.kind, message: trap.render(words), loc: trap.loc }
}
