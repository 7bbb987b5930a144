//! Portals that tier 0 runs: it is no graph, and hands over the words of a portal's parameters at the merge point.
//!
//! A portal's parameters are exactly its greens and reds (the resume contract, section 1). So the words of their leaves
//! are a frame that stands at the merge point, and such a frame is those words.

use crate::specialize::engine::{Engine, RootKind, Unit};
use crate::specialize::error::SpecError;
use crate::specialize::state::memory::{Origin, Provenance, RootId};
use crate::specialize::state::{GraphIx, Red, Reg, State, VersionId};
use bounds::IntBound;
use flowgraph::eval;
use flowgraph::ir::{BlockId, KeyField, Loc, Opcode, Operand, ValueId, Word};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::borrow::Cow;

/// A portal, as tier 0 comes to it.
#[derive(Clone, Debug)]
pub struct Portal {
    /// The unit that its fragments belong to.
    pub unit: usize,
    graph: GraphIx,
    twin: Option<GraphIx>,
    /// Where the merge point is.
    block: BlockId,
    index: usize,
    /// The values of the parameters' leaves there, in order, then those of `#[green]` fields.
    leaves: Vec<ValueId>,
    /// Where those fields are.
    fields: Vec<KeyField>,
    /// Which of all these are green.
    greens: Vec<usize>,
    /// The `&mut` among them, with the roots that they are.
    roots: Vec<(usize, RootId)>,
}

impl Portal {
    /// The greens among these words.
    pub fn greens(&self, words: &[Word]) -> SmallVec<[Word; 4]> {
        self.greens.iter().filter_map(|at| words.get(*at).copied()).collect()
    }
}

/// Where the exclusive roots of a run are, and the local aggregates that compiled code has left.
#[derive(Clone, Debug, Default)]
pub struct RunRoots {
    /// The exclusive roots, with their addresses.
    pub(crate) exclusive: SmallVec<[(RootId, Word); 2]>,
    /// The addresses of the run's local aggregates that lay in real memory where it last left compiled code. They stay
    /// to the end of the run.
    pub(crate) locals: Vec<Word>,
}

/// How runs that stand at a portal's merge point with certain greens enter a version, whatever their reds are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Door {
    /// Which of the words of the portal's leaves are those of the fragment's parameters.
    pub order: Vec<usize>,
    /// The words that the version wants to be something that is known of them.
    pub bounds: Vec<(usize, IntBound)>,
}

impl Engine<'_> {
    /// The portal whose compiler graph is `key`, to be traced from its merge point.
    ///
    /// # Errors
    /// If there is no such graph, or it has no merge point for all its parameters.
    pub fn portal(&mut self, key: &str) -> Result<Portal, SpecError> {
        let graph = self.find_graph(key)?;
        let source = self.program.graph(graph);
        let merge = source.block_ids().find_map(|block| {
            let at = source.block(block).ops.iter().position(|op| op.opcode == Opcode::MergePoint)?;
            Some((block, at))
        });
        let malformed = || SpecError::Malformed(format!("`{key}` is no portal"), source.loc);
        let (block, index) = merge.ok_or_else(malformed)?;
        let leaves = source.block(block).ops[index].args.iter().map(|arg| match arg {
            Operand::Value(value) => Ok(*value),
            Operand::Const(_) => Err(malformed()),
        });
        let leaves = leaves.collect::<Result<Vec<_>, _>>()?;
        let fields = self.program.module.key_fields(&source.signature);
        if leaves.len() != source.entry_params().len() + fields.len() {
            return Err(malformed());
        }
        let references = self.references(graph);
        // What the function has found in memory by the next round is lent by others.
        let borrows = self.program.loaded(graph).borrows.as_ref();
        let is_lent = |at: usize| borrows.is_some_and(|borrows| borrows.get(leaves[at]).is_none());
        let exclusive = references.iter().enumerate().filter(|(_, reference)| **reference == Some(true));
        let exclusive: Vec<usize> = exclusive.map(|(at, _)| at).filter(|at| !is_lent(*at)).collect();
        let roots = exclusive.into_iter().map(|at| (at, self.new_root(RootKind::Outside))).collect();
        // It begins with the fragment that is made next, by the first trace.
        self.units.push(Unit {
            fragment: self.fragments.len(),
            graph,
            exits: true,
            done: true,
            given: Vec::new(),
            values: 0,
        });
        let (unit, twin) = (self.units.len() - 1, self.program.twin(graph));
        let greens = (0..leaves.len()).filter(|at| self.program.is_green(graph, leaves[*at])).collect();
        Ok(Portal { unit, graph, twin, block, index, leaves, fields, greens, roots })
    }

    /// The words of a portal's leaves and of the `#[green]` fields behind these, from those of the leaves.
    ///
    /// # Errors
    /// If a parameter leads to no memory.
    pub fn with_fields<'w>(&mut self, portal: &Portal, words: &'w [Word]) -> Result<Cow<'w, [Word]>, SpecError> {
        if portal.fields.is_empty() {
            return Ok(words.into());
        }
        let open = self.memory.is_open();
        self.memory.open_foreign(true);
        let field = |KeyField { leaf, offset, scalar, .. }: &KeyField| {
            let address = words.get(*leaf).copied().unwrap_or_default().wrapping_add(*offset as u64);
            self.memory.load(address, scalar.access())
        };
        let fields: Result<Vec<Word>, _> = portal.fields.iter().map(field).collect();
        self.memory.open_foreign(open);
        let fields = fields.map_err(|_| SpecError::BadAccess { loc: self.portal_loc(portal) })?;
        Ok([words, &fields].concat().into())
    }

    /// Begins a run that tier 0 has brought to a portal's merge point, with the words of its parameters' leaves and
    /// fields. Gives the frame that they are.
    ///
    /// # Errors
    /// If there are more or fewer words than these.
    pub fn arrive(&mut self, portal: &Portal, words: &[Word]) -> Result<eval::Frame, SpecError> {
        if words.len() != portal.leaves.len() {
            return Err(SpecError::WrongArguments { expected: portal.leaves.len(), got: words.len() });
        }
        self.begin_portal_run(portal, words);
        let mut regs = vec![0; self.program.graph(portal.graph).values.len()];
        for (value, word) in portal.leaves.iter().zip(words) {
            regs[value.index()] = *word;
        }
        let (block, index) = (portal.block.index(), portal.index);
        Ok(eval::Frame { graph: portal.graph.0 as usize, block, index, regs, slots: Vec::new() })
    }

    /// Begins a run at a portal's merge point, with the words of its parameters' leaves: where its exclusive roots are.
    pub fn begin_portal_run(&mut self, portal: &Portal, words: &[Word]) {
        let root = |(at, root): &(usize, RootId)| Some((*root, *words.get(*at)?));
        self.run.exclusive = portal.roots.iter().filter_map(root).collect();
        self.run.locals.clear();
    }

    /// The exclusive roots of the run being served, to be given back by [`Engine::restore_run`] when it goes on after
    /// others.
    pub fn run_roots(&self) -> RunRoots {
        self.run.clone()
    }

    /// Goes on with a run after others.
    pub fn restore_run(&mut self, roots: RunRoots) {
        self.run = roots;
    }

    /// How runs with the greens that a portal's frame has enter the version that this one enters, if their reds don't
    /// matter.
    pub fn door(&self, portal: &Portal, frame: &eval::Frame, id: VersionId) -> Option<Door> {
        let version = self.version(id);
        let template: &State = &version.template;
        let ([wanted], true) = (&template.frames[..], template.slots.is_empty()) else { return None };
        if GraphIx(frame.graph as u32) != portal.graph || !template.memory.places.is_empty() {
            return None;
        }
        let exclusive = self.references(portal.graph);
        let mut leaves: FxHashMap<ValueId, usize> = FxHashMap::default();
        let mut bounds = Vec::new();
        for (value, reg) in wanted.regs.iter() {
            let Reg::Red(red) = reg else { continue };
            let (Red::Value(param), Some(leaf)) = (red, portal.leaves.iter().position(|l| l == value)) else {
                return None;
            };
            let info = self.fragments[version.fragment].info(*param);
            let root = portal.roots.iter().find(|(at, _)| *at == leaf).map(|(_, root)| *root);
            // What may be a `&mut` without being one of a run's roots may lead anywhere.
            let own = match root {
                Some(root) => Origin::Root(Provenance { root, offset: Some(0) }),
                None if exclusive.get(leaf) == Some(&Some(true)) => Origin::Unknown,
                None => Origin::Outside,
            };
            let fits = info.origin == Origin::Unknown || info.origin == own;
            if !fits || leaves.insert(*param, leaf).is_some() {
                return None;
            }
            if !self.in_any_run(template, *param).implies(info.bound) {
                bounds.push((leaf, info.bound));
            }
        }
        for (root, address) in &template.memory.roots {
            let leaf = portal.roots.iter().find(|(_, own)| own == root).map(|(at, _)| *at)?;
            let Red::Value(param) = address else { return None };
            if *leaves.entry(*param).or_insert(leaf) != leaf {
                return None;
            }
        }
        let params = &self.fragments[version.fragment].graph.block(version.block).params;
        let order = params.iter().map(|param| leaves.get(param).copied()).collect::<Option<Vec<usize>>>()?;
        Some(Door { order, bounds })
    }

    /// The portal whose merge point the innermost of these frames stands at, inside of others: the function, and the
    /// words of its parameters' leaves.
    pub fn inner_portal(&self, frames: &[eval::Frame]) -> Option<(&str, Vec<Word>)> {
        let [_, .., frame] = frames else { return None };
        let (leaves, args) = self.portal_args(frame)?;
        let mut words = Vec::with_capacity(leaves);
        for arg in args {
            words.push(frame.regs[arg.value()?.index()]);
        }
        words.truncate(leaves);
        Some((&self.program.graph(GraphIx(frame.graph as u32)).function, words))
    }

    /// Of the portal's merge point that a frame stands at: how many leaves its parameters have, and the values of
    /// these, with those of `#[green]` fields behind them.
    pub fn portal_values(&self, frame: &eval::Frame) -> Option<(usize, Vec<ValueId>)> {
        let (leaves, args) = self.portal_args(frame)?;
        Some((leaves, args.iter().map(|arg| arg.value()).collect::<Option<_>>()?))
    }

    fn portal_args(&self, frame: &eval::Frame) -> Option<(usize, &[Operand])> {
        let graph = self.program.graph(GraphIx(frame.graph as u32));
        let op = graph.blocks.get(frame.block)?.ops.get(frame.index)?;
        let leaves = graph.entry_params().len();
        (op.opcode == Opcode::MergePoint && op.args.len() >= leaves).then_some((leaves, &op.args[..]))
    }

    /// The words that frames are with which tier 0 can go on: those of the portal alone, at its merge point.
    pub fn leave(&self, portal: &Portal, frames: &[eval::Frame]) -> Option<Vec<Word>> {
        let [frame] = frames else { return None };
        let graph = GraphIx(frame.graph as u32);
        let here = (graph == portal.graph || Some(graph) == portal.twin)
            && (frame.block, frame.index) == (portal.block.index(), portal.index);
        let leaves = portal.leaves.len() - portal.fields.len();
        here.then(|| portal.leaves.iter().take(leaves).map(|leaf| frame.regs[leaf.index()]).collect())
    }

    /// What a portal's frame at its merge point has been handed that no `&mut` can change: all but those themselves.
    pub(crate) fn portal_arguments(&self, frame: &eval::Frame) -> Vec<ValueId> {
        let graph = GraphIx(frame.graph as u32);
        let op = self.program.graph(graph).block(BlockId(frame.block as u32)).ops.get(frame.index);
        let Some(op) = op.filter(|op| op.opcode == Opcode::MergePoint) else { return Vec::new() };
        let leaves = op.args.iter().zip(self.references(graph)).filter(|(_, reference)| *reference != Some(true));
        leaves.filter_map(|(arg, _)| arg.value()).collect()
    }

    /// Where a portal's merge point is in the source.
    pub fn portal_loc(&self, portal: &Portal) -> Loc {
        self.program.graph(portal.graph).block(portal.block).ops[portal.index].loc
    }
}
