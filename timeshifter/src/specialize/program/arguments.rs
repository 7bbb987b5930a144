//! Registers that hold an argument of their function.
//!
//! A loop hands on to its next round what the function was given, and so a frame in the midst of a function holds its
//! arguments in parameters of blocks. That these are the arguments still says which registers of several frames are one
//! value, so that one parameter does for all ([`Engine::sources`]). And it says which are a slice, its address and the
//! number of its elements: the parameters of a fragment's entry are called after it, `x` and `x.len`, for the optimizer
//! ([`Graph::slices`]) and for a reader.

use crate::specialize::engine::Engine;
use crate::specialize::program::Loaded;
use crate::specialize::state::{Frame, Red, Reg, State};
use flowgraph::ir::{Color, Graph, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The values of a compiler graph that are always one of its arguments: which.
#[derive(Debug, Default)]
pub(crate) struct Arguments(FxHashMap<ValueId, usize>);

impl Arguments {
    /// Those of a graph.
    pub fn of(graph: &Graph) -> Arguments {
        let params: FxHashSet<ValueId> = graph.blocks.iter().flat_map(|block| &block.params).copied().collect();
        // What comes to a parameter of a block; nothing where several do.
        let arguments = graph.entry_params().iter().enumerate();
        let mut found: FxHashMap<ValueId, Option<usize>> = arguments.map(|(at, param)| (*param, Some(at))).collect();
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for edge in graph.edges() {
                for (arg, param) in edge.args.iter().zip(&graph.block(edge.block).params) {
                    let comes = match arg.value().filter(|value| params.contains(value)).map(|value| found.get(&value))
                    {
                        Some(None) => continue, // nothing has come there yet
                        Some(Some(argument)) => *argument,
                        None => None,
                    };
                    let before = found.get(param).copied();
                    if before.is_none() || before.is_some_and(|before| before.is_some() && before != comes) {
                        found.insert(*param, comes.filter(|_| before.is_none()));
                        changed = true;
                    }
                }
            }
        }
        Arguments(found.into_iter().filter_map(|(value, at)| Some((value, at?))).collect())
    }

    /// Which argument a value is.
    pub fn get(&self, value: ValueId) -> Option<usize> {
        self.0.get(&value).copied()
    }
}

/// Where a register's value comes from: the outermost frame that has it, by its depth, and which value it is there.
/// Registers that come from one place hold one value, always.
pub(crate) type Source = (usize, ValueId);

impl Engine<'_> {
    /// Where the red registers of frames come from, in the order of [`State::red_registers`].
    pub(crate) fn sources(&self, frames: &[Frame]) -> Vec<Source> {
        let mut sources = Vec::new();
        // Those of the frame's arguments, as far as they are values of its caller.
        let mut given: Vec<Option<Source>> = Vec::new();
        for (depth, frame) in frames.iter().enumerate() {
            let Loaded { graph, arguments, .. } = self.program.loaded(frame.graph);
            let source = |value: ValueId| match arguments.get(value) {
                Some(at) => given.get(at).copied().flatten().unwrap_or((depth, graph.entry_params()[at])),
                None => (depth, value),
            };
            let reds = frame.regs.iter().filter(|(_, reg)| matches!(reg, Reg::Red(_)));
            sources.extend(reds.map(|(value, _)| source(*value)));
            let call = graph.block(frame.block).ops.get(frame.index as usize).filter(|op| op.callee().is_some());
            let args = call.iter().flat_map(|op| &op.args);
            given = args.map(|arg| arg.value().map(source)).collect();
        }
        sources
    }

    /// Names the parameters of the entry to a state's fragment, which come by those of the state's block: by
    /// themselves, but for slices that the outermost function has been given. It has them until it returns, and no
    /// fragment goes on behind that.
    pub(crate) fn name_params(&mut self, st: &State) {
        let Some(outermost) = st.frames.first() else { return };
        let graph = self.program.graph(outermost.graph);
        let fragment = &self.fragments[st.fragment];
        let head = &fragment.graph.block(st.block).params;
        let is_red = |value: ValueId| graph.values[value.index()].color != Some(Color::Green);
        if !graph.slices().any(|(_, base, length)| is_red(base) && is_red(length)) {
            return; // it is described as it is
        }
        // By argument of the outermost function: the parameter that holds it.
        let mut holds: FxHashMap<ValueId, usize> = FxHashMap::default();
        for ((depth, argument), red) in self.sources(&st.frames).into_iter().zip(st.red_registers()) {
            let param = head.iter().position(|param| Red::Value(*param) == red);
            holds.extend(param.filter(|_| depth == 0).map(|at| (argument, at)));
        }
        let mut params: Vec<String> = fragment.graph.entry_params().iter().map(ToString::to_string).collect();
        for (name, base, length) in graph.slices() {
            if let (Some(base), Some(length)) = (holds.get(&base), holds.get(&length)) {
                params[*base] = name.to_owned();
                params[*length] = format!("{name}.len");
            }
        }
        self.fragments[st.fragment].graph.params = params;
    }
}
