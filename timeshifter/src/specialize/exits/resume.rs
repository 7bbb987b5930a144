//! Between compiled code and the interpreter: the frames to go on with at an exit, and the version to enter from a
//! merge point.

use crate::specialize::chaos::Choice;
use crate::specialize::engine::{Arriving, Engine, RootKind, Unit, Version};
use crate::specialize::error::SpecError;
use crate::specialize::event::Beginning;
use crate::specialize::program::arguments::Source;
use crate::specialize::state::memory::{Origin, Provenance, RootId};
use crate::specialize::state::{Concrete, Frame, GraphIx, Key, KeyFrame, Red, Reg, Regs, State, VersionId};
use crate::specialize::trace::Traced;
use flowgraph::eval;
use flowgraph::ir::{BlockId, Const, Loc, MarkKind, Op, Type, ValueId, Word};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Where a run of the interpreter can go on in compiled code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entrance {
    /// The version that it implies.
    pub version: VersionId,
    /// The key of the fragment to enter.
    pub fragment: String,
    /// The words of its parameters.
    pub words: Vec<Word>,
}

/// The snapshots of so many exits are kept unpacked: of those that runs leave by at present.
const UNPACKED: usize = 64;

impl Engine<'_> {
    /// The interpreter's frames at an exit: slots allocated, pending stores made. They are to be resumed by an
    /// evaluator of the compiler module over the same memory.
    ///
    /// # Errors
    /// If a pending store fails, which means that residual code was not made by this engine.
    pub fn blackhole(&mut self, exit: u32, words: &[Word]) -> Result<Vec<eval::Frame>, SpecError> {
        let unpacked = match self.unpacked.get(&exit) {
            Some(unpacked) => unpacked.clone(),
            None => {
                if self.unpacked.len() >= UNPACKED {
                    self.unpacked.clear();
                }
                let unpacked = Rc::new((self.snapshot_at(exit), self.exits[exit as usize].values.clone()));
                self.unpacked.insert(exit, unpacked.clone());
                unpacked
            }
        };
        let (snapshot, values) = &*unpacked;
        let place = |v| values.iter().position(|x| *x == v).expect("a snapshot names only what its exit hands over");
        let word = |v: ValueId| words[place(v)];
        self.frames_of(snapshot, &word)
    }

    /// The interpreter's frames at the version that a fragment is the code of, from the words of the fragment's
    /// parameters; nothing if it is another fragment.
    ///
    /// # Errors
    /// As [`Engine::blackhole`].
    pub fn frames_at(&mut self, fragment: &str, words: &[Word]) -> Result<Option<Vec<eval::Frame>>, SpecError> {
        let Some(fragment) = self.fragment_of(fragment) else { return Ok(None) };
        let Some(id) = self.fragments[fragment].version else { return Ok(None) };
        let Some(version) = self.versions[id.key].iter().find(|version| version.fragment == fragment) else {
            return Ok(None);
        };
        let params = self.fragments[fragment].graph.block(version.block).params.clone();
        let template = version.template.clone();
        let place = |v| params.iter().position(|p| *p == v).expect("a version's state names only its parameters");
        self.frames_of(&template, &|v| words[place(v)]).map(Some)
    }

    pub(crate) fn frames_of(
        &mut self,
        st: &State,
        word: &dyn Fn(ValueId) -> Word,
    ) -> Result<Vec<eval::Frame>, SpecError> {
        let loc = self.loc(st);
        let mut addresses = FxHashMap::default();
        for (id, slot) in &st.slots {
            addresses.insert(*id, self.memory.allocate(u64::from(slot.size)));
        }
        let resolve = |engine: &Self, red: Red| match red {
            Red::Const(c) => engine.memory.resolve(c),
            Red::Value(v) => word(v),
            Red::Slot(id, offset) => addresses[&id].wrapping_add(offset as u64),
        };
        for (id, slot) in &st.slots {
            for (offset, cell) in slot.cells.iter() {
                let (at, value) = (resolve(self, Red::Slot(*id, offset)), resolve(self, cell.value));
                self.memory.store(at, cell.access, value).map_err(|_| SpecError::BadAccess { loc })?;
            }
        }
        let is_local = |root: RootId| self.roots.kinds[root.0 as usize] == RootKind::Local;
        let left = st.memory.roots.iter().filter(|(root, _)| is_local(**root) && !st.memory.escaped.contains(root));
        let left: Vec<Word> = left.map(|(_, address)| resolve(self, *address)).collect();
        for ((root, offset, access), location) in &st.memory.places {
            if let (true, Some(base)) = (location.dirty, st.memory.roots.get(root)) {
                let at = resolve(self, *base).wrapping_add(*offset as u64);
                let value = resolve(self, location.value);
                self.memory.store(at, *access, value).map_err(|_| SpecError::BadAccess { loc })?;
            }
        }
        let mut frames: Vec<eval::Frame> = Vec::with_capacity(st.frames.len());
        for frame in &st.frames {
            let mut regs = vec![0; self.program.graph(frame.graph).values.len()];
            for (value, reg) in frame.regs.iter() {
                regs[value.index()] = resolve(self, reg.red());
            }
            frames.push(eval::Frame {
                graph: frame.graph.0 as usize,
                block: frame.block.index(),
                index: frame.index as usize,
                regs,
                slots: Vec::new(),
            });
        }
        if let Some(outermost) = frames.first_mut() {
            outermost.slots = st.slots.keys().map(|id| addresses[id]).collect();
        }
        self.run.locals = left;
        Ok(frames)
    }

    /// Where the interpreter, whose innermost frame stands at a merge point, can go on in compiled code. Frames of the
    /// compiler module, outermost first.
    ///
    /// # Errors
    /// None in practice: what would have to be forced is not entered.
    pub fn find_entry(&mut self, frames: &[eval::Frame]) -> Result<Option<Entrance>, SpecError> {
        let Some(outermost) = frames.first() else { return Ok(None) };
        let Some(unit) = self.unit_of(outermost) else { return Ok(None) };
        let fragment = self.units[unit].fragment;
        if fragment >= self.fragments.len() {
            return Ok(None); // nothing has been compiled yet
        }
        let hash = self.hash_of_frames(frames);
        if !self.arrivals.entrances.contains(&hash) {
            debug_assert!(!self.has_version(frames, fragment), "the hash of {frames:?} hides a version");
            return Ok(None);
        }
        if !self.flips(Choice::Door)
            && let Some(entrance) = self.by_passage(hash, frames)
        {
            debug_assert!(
                self.chaos.is_some() || self.entrance(frames, fragment)?.as_ref() == Some(&entrance),
                "{frames:?} enter {entrance:?} by a passage alone"
            );
            return Ok(Some(entrance));
        }
        let found = self.entrance(frames, fragment)?;
        if let Some(entrance) = &found {
            self.keep_passage(hash, frames, entrance);
        }
        Ok(found)
    }

    /// The version that a state of the interpreter's frames implies.
    fn entrance(&mut self, frames: &[eval::Frame], fragment: usize) -> Result<Option<Entrance>, SpecError> {
        self.arrivals.arriving = Some(Arriving { roots: self.roots_of(frames), anywhere: self.anywhere(frames) });
        let found = self.find_version(frames, fragment);
        self.arrivals.arriving = None;
        found
    }

    /// The words of the interpreter's frames that lead somewhere, if not to what no `&mut` changes.
    fn anywhere(&self, frames: &[eval::Frame]) -> Vec<Word> {
        let places = self.anywhere_places(frames).into_iter();
        let words = places.map(|(depth, value)| frames[depth].regs[value.index()]);
        words.filter(|word| self.memory.may_be_address(*word)).collect()
    }

    /// The registers that hold these words: the same for all frames that stand at the same places.
    pub(crate) fn anywhere_places(&self, frames: &[eval::Frame]) -> Vec<(usize, ValueId)> {
        let mut places = Vec::new();
        let handed = self.handed_by_reference(frames);
        let mut sources = handed.iter().flat_map(|(sources, _)| sources);
        for (depth, frame) in frames.iter().enumerate() {
            let graph = GraphIx(frame.graph as u32);
            let loaded = self.program.loaded(graph);
            let outside = if depth == 0 { self.portal_arguments(frame) } else { Vec::new() };
            for value in self.live_at(frame) {
                let source = if self.program.is_green(graph, *value) { None } else { sources.next() };
                let is_handed = handed.as_ref().is_some_and(|(_, handed)| source.is_some_and(|s| handed.contains(s)));
                if loaded.is_address[value.index()] && !outside.contains(value) && !is_handed {
                    places.push((depth, *value));
                }
            }
        }
        places
    }

    /// Where the red registers of several frames come from, and which of those are references that the outermost has
    /// been handed: all but `&mut`. Nothing where a portal's merge point says as much.
    fn handed_by_reference(&self, frames: &[eval::Frame]) -> Option<(Vec<Source>, Vec<Source>)> {
        let [outermost, inner @ ..] = frames else { return None };
        if inner.is_empty() && !self.portal_arguments(outermost).is_empty() {
            return None;
        }
        let graph = GraphIx(outermost.graph as u32);
        let params = self.program.graph(graph).entry_params().iter().zip(self.references(graph));
        let handed = params.filter(|(_, reference)| *reference == Some(false)).map(|(param, _)| (0, *param));
        let arriving: Vec<Frame> = frames.iter().map(|frame| self.arriving_frame(frame)).collect();
        Some((self.sources(&arriving), handed.collect()))
    }

    /// The unit that a run with this outermost frame belongs to. Functions that residual code calls can be entered at
    /// their beginning only, also those of the same graph.
    fn unit_of(&self, outermost: &eval::Frame) -> Option<usize> {
        self.units.iter().position(|unit| unit.exits && unit.graph.0 as usize == outermost.graph)
    }

    /// Where the interpreter stands, and the greens there, as a hash: what has no version of the same hash needn't be
    /// looked for.
    fn hash_of_frames(&self, frames: &[eval::Frame]) -> u64 {
        let mut hasher = FxHasher::default();
        for frame in frames {
            let graph = GraphIx(frame.graph as u32);
            (frame.graph, frame.block, frame.index).hash(&mut hasher);
            let unset = self.call_at(frame).map_or(&[][..], |op| &op.results);
            let live = self.live_at(frame).iter().filter(|value| !unset.contains(value));
            for value in live.filter(|value| self.program.is_green(graph, **value)) {
                (value.0, frame.regs[value.index()]).hash(&mut hasher);
            }
        }
        hasher.finish()
    }

    /// The same of a version's key.
    pub(crate) fn hash_of_key(&self, key: &Key) -> u64 {
        let mut hasher = FxHasher::default();
        let mut frames: Vec<&KeyFrame> = [&key.frame].into_iter().chain(self.stacks.frames(key.outer)).collect();
        frames.reverse();
        for frame in frames {
            (frame.graph.0 as usize, frame.block.index(), frame.index as usize).hash(&mut hasher);
            for (value, constant) in &frame.greens {
                (value.0, self.memory.resolve(*constant)).hash(&mut hasher);
            }
        }
        hasher.finish()
    }

    /// The values that are live where a frame of the interpreter stands, or behind the call that it stands at.
    fn live_at(&self, frame: &eval::Frame) -> &[ValueId] {
        let (graph, block) = (GraphIx(frame.graph as u32), BlockId(frame.block as u32));
        let behind_call = usize::from(self.call_at(frame).is_some());
        self.program.loaded(graph).liveness.live_before(block, frame.index + behind_call)
    }

    /// The call that a frame of the interpreter stands at.
    fn call_at(&self, frame: &eval::Frame) -> Option<&Op> {
        let block = self.program.graph(GraphIx(frame.graph as u32)).block(BlockId(frame.block as u32));
        block.ops.get(frame.index).filter(|op| op.callee().is_some())
    }

    /// Whether there is a version of the key that frames have.
    fn has_version(&mut self, frames: &[eval::Frame], fragment: usize) -> bool {
        let mut st = self.arriving_state(frames, fragment);
        self.trim(&mut st);
        let key = self.key_of(&st, MarkKind::GlobalMerge);
        self.versions.get(&key).is_some_and(|versions| !versions.is_empty())
    }

    fn arriving_state(&self, frames: &[eval::Frame], fragment: usize) -> State {
        let frames = frames.iter().map(|frame| self.arriving_frame(frame)).collect();
        State { frames, fragment, ..State::empty() }
    }

    fn find_version(&mut self, frames: &[eval::Frame], fragment: usize) -> Result<Option<Entrance>, SpecError> {
        let mut st = self.arriving_state(frames, fragment);
        for (root, address) in self.arrivals.arriving.iter().flat_map(|arriving| &arriving.roots) {
            st.memory.roots.insert(*root, Red::Const(Const::Int(*address as i64)));
        }
        self.trim(&mut st);
        let found = self.versions.get_index_of(&self.key_of(&st, MarkKind::GlobalMerge));
        let Some(index) = found else { return Ok(None) };
        for version in (0..self.versions[index].len()).rev() {
            if self.flips(Choice::Version) {
                continue;
            }
            let Version { template, block, fragment, .. } = &self.versions[index][version];
            let (template, block, fragment) = (template.clone(), *block, *fragment);
            if let Some(args) = self.bind(&mut st, &template, block, false, Loc::UNKNOWN)? {
                let words = args.iter().map(|a| self.concrete_word(&st, *a)).collect();
                let fragment = self.fragments[fragment].graph.key.clone();
                return Ok(Some(Entrance { version: VersionId { key: index, version }, fragment, words }));
            }
        }
        Ok(None)
    }

    /// Where the interpreter's frames stand, with their greens: what a counter of arrivals is kept under.
    pub fn position_of(&self, frames: &[eval::Frame]) -> Vec<(usize, usize, usize, Vec<Const>)> {
        let greens = |frame: &eval::Frame| {
            let regs = self.arriving_frame(frame).regs;
            regs.iter().filter_map(|(_, r)| if let Reg::Green(c) = r { Some(*c) } else { None }).collect()
        };
        frames.iter().map(|f| (f.graph, f.block, f.index, greens(f))).collect()
    }

    /// Traces on from the interpreter's frames, whose innermost stands at a merge point: whatever is not green is a
    /// parameter. Gives the fragment that was begun with the words of its parameters, or `None` if nothing of the
    /// frames' outermost function has been specialized.
    ///
    /// # Errors
    /// As [`Engine::specialize`].
    pub fn trace_frames(&mut self, frames: &[eval::Frame]) -> Result<Option<(String, Vec<Word>, Traced)>, SpecError> {
        let Some((name, words, mut st)) = self.state_of_frames(frames) else { return Ok(None) };
        st.jumped = true; // what comes by here again can enter
        Ok(Some((name, words, self.trace_from(Beginning::MergePoint, st)?)))
    }

    /// Specializes on eagerly from the interpreter's frames, whose innermost stands at a merge point, as
    /// [`Engine::trace_frames`] traces on. Gives the fragment that was begun with the words of its parameters. Where
    /// that can't be done, all is as before.
    ///
    /// # Errors
    /// As [`Engine::specialize`].
    pub fn specialize_frames(&mut self, frames: &[eval::Frame]) -> Result<Option<(String, Vec<Word>)>, SpecError> {
        let before = self.begin_attempt();
        let Some((name, words, mut st)) = self.state_of_frames(frames) else { return Ok(None) };
        st.concrete = None;
        st.passed = true;
        self.finish_attempt(before, st)?;
        Ok(Some((name, words)))
    }

    /// The state of the interpreter's frames in a new fragment, in which whatever is not green is a parameter; and the
    /// fragment's key, and the words of its parameters.
    fn state_of_frames(&mut self, frames: &[eval::Frame]) -> Option<(String, Vec<Word>, State)> {
        let unit = self.unit_of(frames.first()?)?;
        let graph = self.units[unit].graph;
        let name = self.fresh_name(graph);
        let fragment = self.new_fragment(graph, &name, unit);
        let roots = self.roots_of(frames);
        let mut st = State { fragment, ..State::empty() };
        let mut concrete = Concrete::default();
        let anywhere = self.anywhere(frames);
        let mut param = |engine: &mut Self, word: Word, ty: Type| {
            let value = engine.fragments[fragment].new_param(BlockId::ENTRY, ty);
            let root = roots.iter().find(|(_, at)| ty == Type::Int && *at == word);
            let origin = match root {
                Some((root, _)) => Origin::Root(Provenance { root: *root, offset: Some(0) }),
                None if ty == Type::Int && anywhere.contains(&word) => Origin::Unknown,
                None => Origin::Outside,
            };
            engine.fragments[fragment].info[value.index()].origin = origin;
            concrete.insert(value, word);
            Red::Value(value)
        };
        for (root, address) in &roots {
            st.memory.roots.insert(*root, param(self, *address, Type::Int));
        }
        st.frames = frames.iter().map(|frame| self.arriving_frame(frame)).collect();
        let mut sources = self.sources(&st.frames).into_iter();
        let mut shared: FxHashMap<Source, Red> = FxHashMap::default();
        for frame in &mut st.frames {
            for (_, reg) in frame.regs.iter_mut() {
                let Reg::Red(red) = reg else { continue };
                let (Red::Const(c), Some(source)) = (*red, sources.next()) else { continue };
                let word = self.memory.resolve(c);
                let root = roots.iter().find(|(_, at)| c.ty() == Type::Int && *at == word);
                *red = match root {
                    Some((root, _)) => st.memory.roots[root],
                    None => *shared.entry(source).or_insert_with(|| param(self, word, c.ty())),
                };
            }
        }
        let params = self.fragments[fragment].graph.entry_params();
        let words = params.iter().map(|p| concrete[p]).collect();
        st.concrete = Some(concrete);
        self.name_params(&st);
        self.note_ranges(&st);
        Some((name, words, st))
    }

    /// The exclusive roots of a run that stands at these frames, with their addresses: the `&mut` arguments, and local
    /// aggregates, those in the frames' own slots and those that compiled code has left behind. One of these is told by
    /// the place where the frames have its address: the outermost that it comes from, if it is handed from frame to
    /// frame. What a reference leads to that was found in memory is no root.
    fn roots_of(&mut self, frames: &[eval::Frame]) -> Vec<(RootId, Word)> {
        // What is `None` leads nowhere.
        let mut roots: Vec<(RootId, Word)> = self.run.exclusive.iter().filter(|(_, at)| *at != 0).copied().collect();
        let mut locals = self.run.locals.clone();
        locals.extend(frames.iter().flat_map(|frame| &frame.slots));
        locals.retain(|at| *at != 0);
        if self.program.references_in_memory {
            let lent = self.found_in_memory(frames);
            roots.retain(|(_, at)| !lent.contains(at));
            locals.retain(|at| !lent.contains(at));
        }
        if locals.is_empty() {
            return roots;
        }
        let arriving: Vec<Frame> = frames.iter().map(|frame| self.arriving_frame(frame)).collect();
        let sources = self.sources(&arriving);
        let reds = frames.iter().zip(&arriving).flat_map(|(frame, arriving)| {
            let reds = arriving.regs.iter().filter(|(_, reg)| matches!(reg, Reg::Red(_)));
            reds.map(move |(value, _)| (arriving.graph, *value, frame.regs[value.index()]))
        });
        for ((graph, value, word), (depth, source)) in reds.zip(sources) {
            if !self.program.loaded(graph).is_address[value.index()] {
                continue;
            }
            let Some(at) = locals.iter().position(|local| *local == word) else { continue };
            locals.swap_remove(at);
            let place = (depth, arriving[depth].graph, source);
            let root = match self.roots.local.get(&place) {
                Some(root) => *root,
                None => {
                    let root = self.new_root(RootKind::Local);
                    self.roots.local.insert(place, root);
                    root
                }
            };
            roots.push((root, word));
        }
        roots
    }

    /// The words of addresses in the interpreter's frames that are not borrowed from a local or an argument of the
    /// outermost function itself.
    fn found_in_memory(&self, frames: &[eval::Frame]) -> Vec<Word> {
        let mut words = Vec::new();
        // Of a frame's arguments, which are borrowed; of the outermost all are.
        let mut given: Option<Vec<bool>> = None;
        for frame in frames {
            let loaded = self.program.loaded(GraphIx(frame.graph as u32));
            let is_given = |at: &usize| given.as_ref().is_none_or(|given| given.get(*at) == Some(&true));
            let is_borrowed = |value: ValueId| {
                let borrows = loaded.borrows.as_ref().and_then(|borrows| borrows.get(value));
                borrows.is_some_and(|arguments| arguments.iter().all(is_given))
            };
            let live = self.live_at(frame).iter().filter(|value| loaded.is_address[value.index()]);
            let found = live.filter(|value| !is_borrowed(**value));
            words.extend(found.map(|value| frame.regs[value.index()]));
            let args = self.call_at(frame).into_iter().flat_map(|op| &op.args);
            given = Some(args.map(|arg| arg.value().is_none_or(is_borrowed)).collect());
        }
        words
    }

    /// A frame of the interpreter as a frame of the engine: all that it holds is constant.
    fn arriving_frame(&self, frame: &eval::Frame) -> Frame {
        let graph = GraphIx(frame.graph as u32);
        let (source, block) = (self.program.graph(graph), BlockId(frame.block as u32));
        let live = self.live_at(frame);
        let mut regs = Regs::with_room(live.len());
        for value in live {
            let word = frame.regs[value.index()];
            let constant = Const::from_word(source.values[value.index()].ty, word);
            if self.program.is_green(graph, *value) {
                regs.push(*value, Reg::Green(self.memory.symbol(word).unwrap_or(constant)));
            } else {
                regs.push(*value, Reg::Red(Red::Const(constant)));
            }
        }
        Frame { graph, block, index: frame.index as u32, stack: None, regs, greens: Vec::new().into() }
    }

    /// Tells the engine the arguments of a run: which word is the address of which exclusive root of the unit's entry.
    pub fn begin_run(&mut self, unit: usize, words: &[Word]) {
        let Unit { fragment, .. } = self.units[unit];
        let params = self.fragments[fragment].graph.entry_params();
        self.run.exclusive = params
            .iter()
            .zip(words)
            .filter_map(|(param, word)| match self.fragments[fragment].info(*param).origin {
                Origin::Root(p) => Some((p.root, *word)),
                _ => None,
            })
            .collect();
        self.run.locals.clear();
    }
}
