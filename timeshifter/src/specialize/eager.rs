//! The eager policy, and the scheduling of states: both sides of every split, each join once.
//!
//! A state that reaches a mark waits under its key. One rule decides which key is taken up next: the lowest, comparing
//! the stacks from the outermost frame, each by the number of its position in a weak topological order, then by its
//! greens; an arrival over a back edge counts as the end of its loop. So a join is taken up after all its arms, and a
//! loop's exit after all of its body.

use super::engine::{Engine, FunctionKey, FxIndexMap, RootKind, Unit, Version};
use super::error::{Event, SpecError};
use super::memory::{Origin, Provenance};
use super::merge::operand_of;
use super::residual::Fragment;
use super::state::{Frame, GraphIx, Key, KeyFrame, Red, Reg, Regs, State, VersionId};
use super::step::{Outcome, show_const};
use flowgraph::ir::{BlockId, Const, Edge, Loc, MarkKind, Operand, Scalar, Terminator, Time, Trap, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// An argument of the entry, one for each leaf of its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// Known when compiling (whether green or not).
    Known(Const),
    /// Known when running.
    Unknown,
}

/// A stack of positions.
type Positions = Vec<(GraphIx, BlockId, u32)>;

type Priority = Vec<((u32, u32), Vec<Const>)>;

/// States that wait under one key, and the highest of their priorities.
#[derive(Default)]
struct Waiting {
    priority: Priority,
    states: Vec<State>,
}

/// States that wait, by key. Keys keep their place once they have one, so that an index names a key.
#[derive(Default)]
pub(super) struct Schedule {
    todo: Vec<State>,
    waiting: FxIndexMap<Rc<Key>, Waiting>,
    order: BTreeSet<(Priority, usize)>,
    joins: FxHashMap<(Positions, Option<usize>), FxHashSet<Key>>,
    loop_keys: FxHashMap<(GraphIx, BlockId, u32), usize>,
}

impl<'m> Engine<'m> {
    /// Specializes the graph `key` eagerly, with all functions that its residual code calls. Gives the unit.
    ///
    /// # Errors
    /// Endless green loops and recursions, and compiler graphs that break the engine's rules.
    pub fn specialize(&mut self, key: &str, args: &[Argument]) -> Result<usize, SpecError> {
        let unit = self.new_unit(key)?;
        let st = self.start(unit, args)?;
        self.run_unit(unit, vec![st])?;
        self.run_functions()?;
        Ok(unit)
    }

    /// Makes the unit of an entry.
    pub(super) fn new_unit(&mut self, key: &str) -> Result<usize, SpecError> {
        let Some(graph) = self.program.find(key) else {
            let keys: Vec<&str> = self.program.module.graphs.keys().map(String::as_str).collect();
            return Err(SpecError::UnknownGraph(key.to_owned(), keys.join(", ")));
        };
        let name = self.fresh_name(graph);
        let unit = self.units.len();
        let fragment = self.new_fragment(graph, &name, unit);
        self.units.push(Unit { fragment, graph, exits: self.program.promotes(), done: false });
        Ok(unit)
    }

    /// Specializes the functions that residual code calls and that haven't been.
    pub(super) fn run_functions(&mut self) -> Result<(), SpecError> {
        let mut next = 0;
        while let Some((key, unit)) = self.functions.get_index(next).map(|(k, u)| (k.clone(), *u)) {
            next += 1;
            if self.units[unit].done {
                continue;
            }
            let args = self.function_arguments(&key);
            let st = self.start(unit, &args)?;
            self.run_unit(unit, vec![st])?;
        }
        Ok(())
    }

    fn function_arguments(&self, key: &FunctionKey) -> Vec<Argument> {
        let params = self.program.graph(key.graph).entry_params();
        let green = |p: &ValueId| key.greens.iter().find(|(v, _)| v == p).map(|(_, c)| *c);
        params.iter().map(|p| green(p).map_or(Argument::Unknown, Argument::Known)).collect()
    }

    /// A name for a residual graph made from `graph`: the function's, then with numbers. A function that is also called as
    /// it is keeps its name for itself.
    pub(super) fn fresh_name(&mut self, graph: GraphIx) -> String {
        let function = &self.program.graph(graph).function;
        let reserved = self.program.module.graphs.contains_key(function);
        let taken = self.names.entry(function.clone()).or_insert(usize::from(reserved));
        *taken += 1;
        if *taken == 1 { function.clone() } else { format!("{function}#{}", *taken - 1) }
    }

    /// A new fragment for code of `graph`.
    pub(super) fn new_fragment(&mut self, graph: GraphIx, name: &str, unit: usize) -> usize {
        let source = self.program.graph(graph);
        let mut fragment = Fragment::new(name, &source.function, source.signature.clone(), unit);
        fragment.graph.results = self.units.get(unit).map_or(source, |u| self.program.graph(u.graph)).results.clone();
        fragment.graph.loc = source.loc;
        fragment.graph.attributes.doc.clone_from(&source.attributes.doc);
        self.fragments.push(fragment);
        self.fragments.len() - 1
    }

    /// The state at the entry of a unit.
    pub(super) fn start(&mut self, unit: usize, args: &[Argument]) -> Result<State, SpecError> {
        let Unit { fragment, graph, .. } = self.units[unit];
        let source = self.program.graph(graph);
        if source.entry_params().len() != args.len() {
            return Err(SpecError::WrongArguments { expected: source.entry_params().len(), got: args.len() });
        }
        let leaves: Vec<_> = source.signature.params.iter().flat_map(|p| self.program.module.leaves(&p.ty)).collect();
        let mut st = State { fragment, ..State::empty() };
        let mut regs = Regs::default();
        let mut greens = Vec::new();
        for (i, (param, arg)) in source.entry_params().iter().zip(args).enumerate() {
            let leaf = leaves.get(i);
            let red = match arg {
                Argument::Known(c) => Red::Const(*c),
                Argument::Unknown => {
                    let value = self.fragments[fragment].new_param(BlockId::ENTRY, source.values[param.index()].ty);
                    let name = source.params.get(i).cloned().unwrap_or_else(|| value.to_string());
                    self.fragments[fragment].graph.params.push(name);
                    if let Some(range) = leaf.and_then(|l| scalar_range(l.scalar)) {
                        self.fragments[fragment].info[value.index()].range = range;
                    }
                    Red::Value(value)
                }
            };
            if leaf.is_some_and(|l| l.reference == Some(true)) {
                self.root_of_argument(&mut st, red);
            }
            let reg = match red {
                Red::Const(c) if self.program.is_green(graph, *param) => {
                    greens.push(c);
                    Reg::Green(c)
                }
                _ if self.program.is_green(graph, *param) => {
                    let op = format!("parameter {}", source.params.get(i).map_or("?", String::as_str));
                    return Err(SpecError::NotGreen { op, loc: source.loc });
                }
                red => Reg::Red(red),
            };
            regs.set(*param, reg);
        }
        st.frames.push(Frame { graph, block: BlockId::ENTRY, index: 0, regs, greens: greens.into() });
        Ok(st)
    }

    /// A `&mut` argument is a root.
    fn root_of_argument(&mut self, st: &mut State, red: Red) {
        let root = match red {
            Red::Const(Const::Addr(data, _)) => match self.data_roots.get(&data) {
                Some(root) => *root,
                None => {
                    let root = self.new_root(RootKind::Outside);
                    self.data_roots.insert(data, root);
                    root
                }
            },
            Red::Value(v) => {
                let root = self.new_root(RootKind::Outside);
                self.fragments[st.fragment].info[v.index()].origin = Origin::Root(Provenance { root, offset: Some(0) });
                root
            }
            _ => return,
        };
        st.memory.roots.insert(root, red);
    }

    /// Runs states, and all that comes of them, to their ends.
    pub(super) fn run_unit(&mut self, unit: usize, states: Vec<State>) -> Result<(), SpecError> {
        let first_key = self.versions.len();
        let mut schedule = Schedule { todo: states, ..Schedule::default() };
        loop {
            if let Some(st) = schedule.todo.pop() {
                self.run(&mut schedule, st)?;
            } else if let Some((_, at)) = schedule.order.pop_first() {
                let key = schedule.waiting.get_index(at).map(|(key, _)| key.clone());
                let states = std::mem::take(&mut schedule.waiting[at].states);
                if let Some(key) = key {
                    self.take(&mut schedule, &key, states)?;
                }
            } else {
                break;
            }
        }
        self.units[unit].done = true;
        self.drop_peeled_versions(first_key)
    }

    /// Runs one state until it ends, splits or waits.
    fn run(&mut self, schedule: &mut Schedule, mut st: State) -> Result<(), SpecError> {
        loop {
            match self.step(&mut st)? {
                Outcome::Mark(kind) => return self.park(schedule, st, kind),
                Outcome::Split { cond, then, otherwise, loc } => {
                    let mut other = st.clone();
                    let parent = st.block;
                    let fragment = &mut self.fragments[st.fragment];
                    st.block = fragment.new_block(Some(parent));
                    other.block = fragment.new_block(Some(parent));
                    let branch = Terminator::Branch {
                        cond: operand_of(cond),
                        then: Edge::new(st.block, []),
                        otherwise: Edge::new(other.block, []),
                        time: Time::Now,
                    };
                    fragment.end(parent, branch, loc);
                    self.learn(&mut st, cond, true);
                    self.learn(&mut other, cond, false);
                    self.go(&mut st, &then, loc)?;
                    self.go(&mut other, &otherwise, loc)?;
                    schedule.todo.push(other);
                }
                Outcome::SwitchSplit { value, cases, default, loc } => {
                    return self.split_switch(schedule, st, value, &cases, &default, loc);
                }
                Outcome::Promotion { loc, .. } => {
                    if self.units[self.fragments[st.fragment].unit].exits {
                        return self.end_in_exit(st, loc);
                    }
                    self.enter_twin(&mut st, loc)?;
                }
                Outcome::Returned(values, loc) => return self.end_in_return(st, &values, loc),
                Outcome::Trapped(trap, args) => return self.end_in_trap(st, trap, &args),
                Outcome::CallTrapped(_) => unreachable!("the eager policy does not run calls"),
            }
        }
    }

    fn split_switch(
        &mut self,
        schedule: &mut Schedule,
        st: State,
        value: Red,
        cases: &[(i64, Edge)],
        default: &Edge,
        loc: Loc,
    ) -> Result<(), SpecError> {
        let (low, high) = self.range(&st, value);
        let mut made = Vec::new();
        let possible = cases.iter().filter(|(case, _)| low <= *case && *case <= high);
        for (case, edge) in possible.map(|(c, e)| (Some(*c), e)).chain([(None, default)]) {
            let mut arm = st.clone();
            arm.block = self.fragments[st.fragment].new_block(Some(st.block));
            if let Some(case) = case {
                self.learn_equal(&mut arm, value, Const::Int(case));
            }
            made.push((case, Edge::new(arm.block, [])));
            self.go(&mut arm, edge, loc)?;
            schedule.todo.push(arm);
        }
        let Some((_, default)) = made.pop() else { unreachable!("the default is always made") };
        let cases = made.into_iter().filter_map(|(case, edge)| Some((case?, edge))).collect();
        let term = Terminator::Switch { value: operand_of(value), cases, default, time: Time::Now, promotion: false };
        self.fragments[st.fragment].end(st.block, term, loc);
        Ok(())
    }

    /// The outermost function returns.
    pub(super) fn end_in_return(&mut self, mut st: State, values: &[Red], loc: Loc) -> Result<(), SpecError> {
        self.flush_outside(&mut st, loc)?;
        let values = values.iter().map(|v| self.real(&mut st, *v, loc)).collect::<Result<Vec<_>, _>>()?;
        self.fragments[st.fragment].end(st.block, Terminator::Return(values), loc);
        Ok(())
    }

    /// A trap: what was stored before it must be home.
    pub(super) fn end_in_trap(&mut self, mut st: State, mut trap: Trap, args: &[Red]) -> Result<(), SpecError> {
        let loc = trap.loc;
        self.flush_outside(&mut st, loc)?;
        for ((operand, _), red) in trap.args.iter_mut().zip(args) {
            *operand = self.real(&mut st, *red, loc)?;
        }
        self.fragments[st.fragment].end(st.block, Terminator::Trap(trap), loc);
        Ok(())
    }

    // ---- waiting

    /// The key of a trimmed state at a mark.
    pub(super) fn key(&self, st: &State, kind: MarkKind) -> Key {
        let frames = st.frames.iter().map(|f| KeyFrame {
            graph: f.graph,
            block: f.block,
            index: f.index,
            greens: f
                .regs
                .iter()
                .filter_map(|(v, reg)| match reg {
                    Reg::Green(c) => Some((*v, *c)),
                    Reg::Red(_) => None,
                })
                .collect(),
        });
        let enterable = kind == MarkKind::GlobalMerge && self.units[self.fragments[st.fragment].unit].exits;
        Key { frames: frames.collect(), fragment: (!enterable).then_some(st.fragment) }
    }

    fn priority(&self, st: &State) -> Priority {
        let last = st.frames.len() - 1;
        let position = |(at, f): (usize, &Frame)| {
            let order = &self.program.loaded(f.graph).order;
            match (at == last && st.back).then(|| order.loop_at(f.block)).flatten() {
                Some(ended) => (ended.end, u32::MAX),
                None => (order.number_of(f.block).unwrap_or_default(), f.index),
            }
        };
        let greens = |f: &Frame| {
            f.regs.iter().filter_map(|(_, r)| if let Reg::Green(c) = r { Some(*c) } else { None }).collect::<Vec<_>>()
        };
        st.frames.iter().enumerate().map(|(i, f)| (position((i, f)), greens(f))).collect()
    }

    fn is_loop_head(&self, st: &State) -> bool {
        let f = st.frame();
        f.index == 0 && self.program.loaded(f.graph).order.loop_at(f.block).is_some()
            || self.program.is_merge_point(f.graph, f.block, f.index)
    }

    fn park(&mut self, schedule: &mut Schedule, mut st: State, mut kind: MarkKind) -> Result<(), SpecError> {
        self.trim(&mut st);
        let over = self.fragments[st.fragment].size > self.limits.residual_ops;
        if over && !self.is_twin(&st) {
            let loc = self.loc(&st);
            self.events.push(Event::CodeLimit { loc });
            self.enter_twin(&mut st, loc)?;
        }
        let mut key = self.key(&st, kind);
        if self.is_loop_head(&st) {
            self.count_loop_key(schedule, &st, &key)?;
        } else if self.over_cap(schedule, &st, &key) {
            let loc = self.loc(&st);
            self.events.push(Event::JoinCapped { green: self.green_that_multiplied(&st), loc });
            self.enter_twin(&mut st, loc)?;
            let f = st.frame();
            match self.program.mark(f.graph, f.block, f.index) {
                Some(mark) => kind = mark,
                None => {
                    schedule.todo.push(st);
                    return Ok(());
                }
            }
            self.trim(&mut st);
            key = self.key(&st, kind);
        }
        let priority = self.priority(&st);
        let entry = schedule.waiting.entry(Rc::new(key));
        let at = entry.index();
        let waiting = entry.or_default();
        if waiting.states.is_empty() {
            schedule.order.insert((priority.clone(), at));
            waiting.priority = priority;
        } else if priority > waiting.priority {
            schedule.order.remove(&(std::mem::replace(&mut waiting.priority, priority.clone()), at));
            schedule.order.insert((priority, at));
        }
        waiting.states.push(st);
        Ok(())
    }

    fn over_cap(&self, schedule: &mut Schedule, st: &State, key: &Key) -> bool {
        if self.is_twin(st) || key.frames.iter().all(|f| f.greens.is_empty()) {
            return false;
        }
        let position = key.frames.iter().map(|f| (f.graph, f.block, f.index)).collect();
        let seen = schedule.joins.entry((position, st.enclosing)).or_default();
        if seen.contains(key) {
            return false;
        }
        if seen.len() >= self.limits.join_tuples {
            return true;
        }
        seen.insert(key.clone());
        false
    }

    fn count_loop_key(&mut self, schedule: &mut Schedule, st: &State, key: &Key) -> Result<(), SpecError> {
        if schedule.waiting.contains_key(key) || self.versions.contains_key(key) {
            return Ok(());
        }
        let f = st.frame();
        let count = schedule.loop_keys.entry((f.graph, f.block, f.index)).or_default();
        *count += 1;
        if *count > self.limits.loop_keys { Err(self.endless_green_keys(st)) } else { Ok(()) }
    }

    // ---- versions

    /// Takes up a key: states that imply a version jump to it, the rest are met into a new one.
    fn take(&mut self, schedule: &mut Schedule, key: &Key, states: Vec<State>) -> Result<(), SpecError> {
        let kind = if key.fragment.is_none() { MarkKind::GlobalMerge } else { MarkKind::LocalMerge };
        let index = match self.versions.get_index_of(key) {
            Some(index) => index,
            None => self.versions.insert_full(key.clone(), Vec::new()).0,
        };
        let mut rest = Vec::new();
        for mut st in states {
            if self.would_lose_registers(&st, index) || !self.jump_to_any(&mut st, index)? {
                rest.push(st);
            }
        }
        if rest.is_empty() {
            return Ok(());
        }
        let loc = self.loc(&rest[0]);
        let id = self.new_version(&mut rest, index, kind == MarkKind::GlobalMerge, loc)?;
        for st in &mut rest {
            if !self.jump(st, id)? {
                return Err(SpecError::Malformed("a state does not imply what it was met into".to_owned(), loc));
            }
        }
        let mut st = State::clone(&self.version(id).template);
        st.origin = Some(id);
        st.passed = true;
        if self.is_loop_head(&st) {
            st.enclosing = Some(index);
        }
        schedule.todo.push(st);
        Ok(())
    }

    /// Whether entering a loop's last version would mean to store, in every round, what another version can keep in
    /// registers.
    fn would_lose_registers(&self, st: &State, key: usize) -> bool {
        let versions = &self.versions[key];
        let Some(last) = versions.last().filter(|_| versions.len() < self.limits.versions) else { return false };
        self.is_loop_head(st)
            && st.memory.places.iter().any(|(place, location)| {
                let kept = last.template.memory.places.get(place).is_some_and(|l| l.dirty);
                location.dirty && !kept && last.template.memory.roots.contains_key(&place.0)
            })
    }

    /// Jumps to the first version that the state implies, those before which nothing must be stored home first.
    fn jump_to_any(&mut self, st: &mut State, key: usize) -> Result<bool, SpecError> {
        let stores = |template: &State| {
            let kept = |place| template.memory.places.get(place).is_some_and(|l| l.dirty);
            st.memory.places.iter().any(|(place, l)| l.dirty && !kept(place))
        };
        let (last, first): (Vec<_>, Vec<_>) =
            (0..self.versions[key].len()).partition(|v| stores(&self.versions[key][*v].template));
        for version in first.into_iter().chain(last) {
            if self.jump(st, VersionId { key, version })? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Meets states into a new version of a key, widened against the last one.
    fn new_version(
        &mut self,
        states: &mut [State],
        key: usize,
        enterable: bool,
        loc: Loc,
    ) -> Result<VersionId, SpecError> {
        let (fragment, block) = self.version_head(&states[0], enterable);
        let number = self.versions[key].len();
        let base = self.versions[key].last().map(|v| v.template.clone());
        if base.is_some() {
            self.events.push(Event::Widened { loc });
        }
        let top = number >= self.limits.versions;
        let template = self.meet(states, base.as_deref(), (fragment, block), top, loc)?;
        Ok(self.add_version(key, template, enterable))
    }

    /// A block for a version's head: in the states' fragment, or in one of its own.
    pub(super) fn version_head(&mut self, st: &State, enterable: bool) -> (usize, BlockId) {
        let fragment = if enterable {
            let unit = self.fragments[st.fragment].unit;
            let name = self.fresh_name(self.units[unit].graph);
            self.new_fragment(self.units[unit].graph, &name, unit)
        } else {
            st.fragment
        };
        (fragment, self.fragments[fragment].new_block(None))
    }

    /// Registers a version whose head is the block of its template.
    pub(super) fn add_version(&mut self, key: usize, template: State, enterable: bool) -> VersionId {
        let (fragment, block) = (template.fragment, template.block);
        if enterable {
            self.fragments[fragment].make_entry(block);
        }
        let template = Rc::new(template);
        let version = Version { template, fragment, block, enterable, folds: 0, arrivals: Vec::new() };
        self.versions[key].push(version);
        VersionId { key, version: self.versions[key].len() - 1 }
    }

    /// Ends the state's block in a jump to a version, if the state implies it.
    pub(super) fn jump(&mut self, st: &mut State, id: VersionId) -> Result<bool, SpecError> {
        let Version { fragment, block, enterable, .. } = *self.version(id);
        if fragment != st.fragment && !enterable {
            return Ok(false);
        }
        let template = self.version(id).template.clone();
        let loc = self.loc(st);
        let Some(args) = self.bind(st, &template, block, true, loc)? else { return Ok(false) };
        self.link(st, id, args, loc);
        self.versions[id.key][id.version].arrivals.push(st.clone());
        Ok(true)
    }

    /// Ends the state's block in a jump to a version.
    pub(super) fn link(&mut self, st: &State, id: VersionId, args: Vec<Operand>, loc: Loc) {
        let Version { fragment, block, .. } = *self.version(id);
        let term = if fragment == st.fragment {
            Terminator::Jump(Edge { block, args: SmallVec::from_vec(args) })
        } else {
            Terminator::Enter { graph: self.fragments[fragment].graph.key.as_str().into(), args }
        };
        self.fragments[st.fragment].end(st.block, term, loc);
    }

    /// A peeled version that folded no more ops than the key's last one is dropped, and its arrivals sent there.
    fn drop_peeled_versions(&mut self, first_key: usize) -> Result<(), SpecError> {
        for key in first_key..self.versions.len() {
            let Some(last) = self.versions[key].len().checked_sub(1) else { continue };
            for version in 0..last {
                if self.versions[key][version].folds > self.versions[key][last].folds {
                    continue;
                }
                let arrivals = std::mem::take(&mut self.versions[key][version].arrivals);
                for mut st in arrivals {
                    self.jump(&mut st, VersionId { key, version: last })?;
                }
            }
            for version in &mut self.versions[key] {
                version.arrivals.clear();
            }
        }
        Ok(())
    }

    // ---- the twin

    fn is_twin(&self, st: &State) -> bool {
        self.program.loaded(st.frame().graph).twin
    }

    /// The same state in the all-red twin.
    fn enter_twin(&mut self, st: &mut State, loc: Loc) -> Result<(), SpecError> {
        for frame in &mut st.frames {
            if self.program.loaded(frame.graph).twin {
                continue;
            }
            let Some(twin) = self.program.twin(frame.graph) else {
                let function = &self.program.graph(frame.graph).function;
                return Err(SpecError::Malformed(format!("`{function}` has no all-red twin"), loc));
            };
            frame.graph = twin;
            for (_, reg) in frame.regs.iter_mut() {
                *reg = Reg::Red(reg.red());
            }
            frame.greens = Rc::from([]);
        }
        st.back = false;
        Ok(())
    }

    // ---- messages

    /// The source place of the innermost frame's next op.
    pub(super) fn loc(&self, st: &State) -> Loc {
        let f = st.frame();
        let block = self.program.graph(f.graph).block(f.block);
        let ops = block.ops.get(f.index as usize..).unwrap_or_default();
        let mut locs = ops.iter().map(|op| op.loc).chain([block.loc]);
        locs.find(|l| l.is_known()).unwrap_or_default()
    }

    fn green_that_multiplied(&self, st: &State) -> String {
        let f = st.frame();
        let green = f.regs.iter().find(|(_, r)| matches!(r, Reg::Green(_)));
        green.map_or_else(|| "a caller's green".to_owned(), |(v, _)| self.program.name_of(f.graph, *v))
    }

    fn endless(&self, values: BTreeMap<ValueId, Vec<Const>>, graph: GraphIx, loc: Loc) -> SpecError {
        let most =
            values.iter().max_by_key(|(v, seen)| (seen.iter().collect::<BTreeSet<_>>().len(), std::cmp::Reverse(*v)));
        let (green, shown) = most.map_or_else(
            || ("a green".to_owned(), String::new()),
            |(v, seen)| {
                let shown: Vec<String> = seen.iter().take(4).map(|c| show_const(*c)).collect();
                (self.program.name_of(graph, *v), format!("{}, …", shown.join(", ")))
            },
        );
        SpecError::EndlessGreen { green, values: shown, loc }
    }

    /// Too many keys of one loop head.
    fn endless_green_keys(&self, st: &State) -> SpecError {
        let f = st.frame();
        let mut values: BTreeMap<ValueId, Vec<Const>> = BTreeMap::new();
        for key in self.versions.keys().chain([&self.key(st, MarkKind::LocalMerge)]) {
            let Some(last) = key.frames.last() else { continue };
            if (last.graph, last.block, last.index) == (f.graph, f.block, f.index) {
                for (v, c) in &last.greens {
                    values.entry(*v).or_default().push(*c);
                }
            }
        }
        self.endless(values, f.graph, self.loc(st))
    }

    /// Too many steps without an op emitted: goes once more around to see what changes.
    pub(super) fn endless_green_loop(&mut self, st: &State) -> SpecError {
        let mut st = st.clone();
        st.passed = true;
        let home = (st.frame().graph, st.frame().block, st.frames.len());
        let mut values: BTreeMap<ValueId, Vec<Const>> = BTreeMap::new();
        self.quiet_steps = 0;
        let limit = std::mem::replace(&mut self.limits.green_steps, u64::MAX);
        for _ in 0..10_000 {
            let f = st.frame();
            if (f.graph, f.block, st.frames.len()) == home && f.index == 0 {
                for (v, reg) in f.regs.iter() {
                    if let Reg::Green(c) = reg {
                        values.entry(*v).or_default().push(*c);
                    }
                }
            }
            match self.step_once(&mut st) {
                Ok(None) => {}
                Ok(Some(Outcome::Mark(_))) => st.passed = true,
                _ => break,
            }
        }
        self.limits.green_steps = limit;
        let loc = self.loc(&st);
        self.endless(values, home.0, loc)
    }
}

/// The range of a parameter of a narrow type.
fn scalar_range(scalar: Scalar) -> Option<(i64, i64)> {
    Some(match scalar {
        Scalar::Bool => (0, 1),
        Scalar::U8 => (0, i64::from(u8::MAX)),
        Scalar::U16 => (0, i64::from(u16::MAX)),
        Scalar::U32 => (0, i64::from(u32::MAX)),
        Scalar::Char => (0, i64::from(u32::from(char::MAX))),
        Scalar::I8 => (i64::from(i8::MIN), i64::from(i8::MAX)),
        Scalar::I16 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        Scalar::I32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => return None,
    })
}
