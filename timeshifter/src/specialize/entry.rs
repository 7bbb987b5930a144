//! Where specializing begins: units, their fragments and the state at the entry.

use crate::specialize::engine::{Engine, FunctionKey, RootKind, Unit};
use crate::specialize::error::SpecError;
use crate::specialize::program::ranges::of_arguments;
use crate::specialize::residual::Fragment;
use crate::specialize::state::memory::{Origin, Provenance};
use crate::specialize::state::{Frame, GraphIx, Red, Reg, Regs, State};
use crate::specialize::step::own::Shape;
use flowgraph::ir::{BlockId, Const, Graph, ValueId, Word};

/// A function that is made of a portal while a program runs may have as many ops as so many regions before it goes on
/// in the all-red twin.
const REGIONS: usize = 4;

/// An argument of the entry, one for each leaf of its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// Known when compiling (whether green or not).
    Known(Const),
    /// Known when running.
    Unknown,
}

impl<'m> Engine<'m> {
    /// Specializes the graph `key` eagerly, with all functions that its residual code calls. Gives the unit.
    ///
    /// # Errors
    /// Endless green loops and recursions, and compiler graphs that break the engine's rules.
    pub fn specialize(&mut self, key: &str, args: &[Argument]) -> Result<usize, SpecError> {
        let unit = self.new_unit(key)?;
        let st = self.start(unit, args, &[])?;
        self.run_unit(unit, vec![st])?;
        self.run_functions()?;
        Ok(unit)
    }

    /// Makes the unit of an entry.
    pub(crate) fn new_unit(&mut self, key: &str) -> Result<usize, SpecError> {
        let graph = self.find_graph(key)?;
        let name = self.fresh_name(graph);
        let unit = self.units.len();
        let fragment = self.new_fragment(graph, &name, unit);
        let exits = self.program.promotes() && !self.settings.no_exits;
        self.units.push(Unit { fragment, graph, exits, done: false, given: Vec::new(), values: 0 });
        Ok(unit)
    }

    /// The compiler graph with this key.
    pub(crate) fn find_graph(&self, key: &str) -> Result<GraphIx, SpecError> {
        self.program.find(key).ok_or_else(|| {
            let keys: Vec<&str> = self.program.module.graphs.keys().map(String::as_str).collect();
            SpecError::UnknownGraph(key.to_owned(), keys.join(", "))
        })
    }

    /// Specializes the functions that residual code calls and that haven't been.
    pub(crate) fn run_functions(&mut self) -> Result<(), SpecError> {
        // Behind a trace, which has run in open memory: this looks behind branches that are never taken.
        let open = self.memory.is_open();
        self.memory.open_foreign(false);
        let done = self.run_functions_eagerly();
        self.memory.open_foreign(open);
        done
    }

    /// Specializes the functions that residual code calls and that haven't been, all or none: if one can't be, those
    /// that may call it are forgotten, too.
    pub(crate) fn run_functions_or_refuse(&mut self) -> Result<(), SpecError> {
        let done = self.run_functions();
        if done.is_err() {
            self.forget_new_functions();
        }
        self.functions.before = self.functions.made.len();
        done
    }

    /// Specializes a portal as a function, for the words of its green parameters. Gives the function's key. If it can't
    /// be, neither it nor what it calls is there.
    ///
    /// # Errors
    /// As [`Engine::specialize`].
    pub fn function_of_portal(&mut self, portal: GraphIx, greens: &[Word]) -> Result<String, SpecError> {
        let source = self.program.graph(portal);
        let params = source.entry_params().iter().filter(|param| self.program.is_green(portal, **param));
        let constant = |(param, word): (&ValueId, &Word)| {
            let plain = Const::from_word(source.values[param.index()].ty, *word);
            (*param, self.memory.symbol(*word).unwrap_or(plain))
        };
        let greens = params.zip(greens).map(constant).collect();
        let name = self.function_name(FunctionKey { graph: portal, greens, own: Vec::new() })?;
        let limit = self.limits.residual_ops;
        self.limits.residual_ops = limit.min(REGIONS * self.limits.region_ops);
        let done = self.run_functions_or_refuse();
        self.limits.residual_ops = limit;
        done.map(|()| name)
    }

    /// Functions that have been asked for since all were specialized can't be, or are called by ones that can't.
    pub(crate) fn forget_new_functions(&mut self) {
        while self.functions.made.len() > self.functions.before
            && let Some((key, unit)) = self.functions.made.pop()
        {
            self.functions.refused.insert(key);
            self.units[unit].done = true;
            for fragment in self.fragments.iter_mut().filter(|fragment| fragment.unit == unit) {
                fragment.abandoned = true;
            }
        }
    }

    fn run_functions_eagerly(&mut self) -> Result<(), SpecError> {
        let mut next = 0;
        while let Some((key, unit)) = self.functions.made.get_index(next).map(|(k, u)| (k.clone(), *u)) {
            next += 1;
            if self.units[unit].done {
                continue;
            }
            let args = self.function_arguments(&key);
            let st = self.start(unit, &args, &key.own)?;
            self.run_unit(unit, vec![st])?;
        }
        Ok(())
    }

    fn function_arguments(&self, key: &FunctionKey) -> Vec<Argument> {
        let params = self.program.graph(key.graph).entry_params();
        let green = |p: &ValueId| key.greens.iter().find(|(v, _)| v == p).map(|(_, c)| *c);
        params.iter().map(|p| green(p).map_or(Argument::Unknown, Argument::Known)).collect()
    }

    /// A name for a residual graph made from `graph`: the function's, then with numbers. A function that is also called
    /// as it is keeps its name for itself.
    pub(crate) fn fresh_name(&mut self, graph: GraphIx) -> String {
        let function = self.program.graph(graph).function.as_str();
        let taken = match self.names.get_mut(function) {
            Some(taken) => taken,
            None => {
                let reserved = self.program.module.graphs.contains_key(function);
                self.names.entry(function.to_owned()).or_insert(usize::from(reserved))
            }
        };
        *taken += 1;
        let number = (*taken - 1).to_string();
        if *taken == 1 { function.to_owned() } else { [function, "#", &number].concat() }
    }

    /// A new fragment of a unit for code of `graph`.
    pub(crate) fn new_fragment(&mut self, graph: GraphIx, name: &str, unit: usize) -> usize {
        let outermost = self.units.get(unit).map_or(graph, |u| u.graph);
        let mut fragment = Fragment::new(name, graph, unit);
        fragment.graph.results.clone_from(&self.program.graph(outermost).results);
        self.fragments_by_key.insert(name.to_owned(), self.fragments.len());
        self.fragments.push(Box::new(fragment));
        self.fragments.len() - 1
    }

    /// The graph of a fragment as it is, not cleaned, with what a reader wants to know of it: while they are
    /// specialized, fragments come and go by the thousand without.
    pub fn raw_graph(&self, fragment: usize) -> Graph {
        let mut graph = self.fragments[fragment].graph.clone();
        self.describe(fragment, &mut graph);
        graph
    }

    /// Whether the graph of this key is where a unit begins: what is called. All others go on where something else has
    /// come to.
    pub fn begins_a_unit(&self, key: &str) -> bool {
        self.units.iter().any(|unit| self.fragments.get(unit.fragment).is_some_and(|f| f.graph.key == key))
    }

    /// A graph without blocks and values, for code that goes on with what a fragment hands over.
    pub fn empty_graph(&self, fragment: usize, key: &str) -> Graph {
        let Fragment { graph: own, source, .. } = &*self.fragments[fragment];
        let source = self.program.graph(*source);
        let mut graph = Graph::new(key, source.signature.clone());
        graph.function.clone_from(&source.function);
        graph.results.clone_from(&own.results);
        graph
    }

    pub(crate) fn describe(&self, fragment: usize, graph: &mut Graph) {
        let source = self.program.graph(self.fragments[fragment].source);
        graph.function.clone_from(&source.function);
        graph.signature.clone_from(&source.signature);
        graph.loc = source.loc;
        graph.attributes.doc.clone_from(&source.attributes.doc);
        graph.params = param_names(graph);
    }

    /// The state at the entry of a unit. What the references of `own` lead to is local there.
    pub(crate) fn start(
        &mut self,
        unit: usize,
        args: &[Argument],
        own: &[(ValueId, Shape)],
    ) -> Result<State, SpecError> {
        let Unit { fragment, graph, .. } = self.units[unit];
        let source = self.program.graph(graph);
        if source.entry_params().len() != args.len() {
            return Err(SpecError::WrongArguments { expected: source.entry_params().len(), got: args.len() });
        }
        let leaves: Vec<_> = source.signature.params.iter().flat_map(|p| self.program.module.leaves(&p.ty)).collect();
        let bounds = of_arguments(self.program.module, source);
        let mut st = State { fragment, ..State::empty() };
        let mut regs = Regs::default();
        let mut greens = Vec::new();
        for (i, (param, arg)) in source.entry_params().iter().zip(args).enumerate() {
            if let Some((_, shape)) = own.iter().find(|(own, _)| own == param) {
                let name = source.params.get(i).map_or("", String::as_str);
                let slot = self.own_slot(&mut st, shape, name);
                regs.set(*param, Reg::Red(slot));
                continue;
            }
            let leaf = leaves.get(i);
            let red = match arg {
                Argument::Known(c) => Red::Const(*c),
                Argument::Unknown => {
                    let value = self.fragments[fragment].new_param(BlockId::ENTRY, source.values[param.index()].ty);
                    let name = source.params.get(i).cloned().unwrap_or_else(|| value.to_string());
                    self.fragments[fragment].graph.params.push(name);
                    self.fragments[fragment].info[value.index()].bound = bounds[i];
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
        let given = source.entry_params().iter().zip(args).filter(|(_, arg)| **arg != Argument::Unknown);
        self.units[unit].given = given.map(|(param, _)| *param).collect();
        st.frames.push(Frame { graph, block: BlockId::ENTRY, index: 0, stack: None, regs, greens: greens.into() });
        st.at = Some(self.guest_position(&st));
        self.fragments[fragment].at = st.at;
        Ok(st)
    }

    /// A `&mut` argument is a root.
    fn root_of_argument(&mut self, st: &mut State, red: Red) {
        let root = match red {
            Red::Const(Const::Addr(data, _)) => match self.roots.of_data.get(&data) {
                Some(root) => *root,
                None => {
                    let root = self.new_root(RootKind::Outside);
                    self.roots.of_data.insert(data, root);
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
}

/// The names of a graph's parameters: their own, where nobody has named them.
pub(crate) fn param_names(graph: &Graph) -> Vec<String> {
    match graph.entry_params() {
        params if params.len() == graph.params.len() => graph.params.clone(),
        params => params.iter().map(ToString::to_string).collect(),
    }
}
