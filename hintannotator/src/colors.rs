//! What the annotator gives, and what can be asked of it.

use crate::naming::{Name, names, place, show};
use crate::query::{self, Found, QueryError};
use crate::reason::{Cause, GraphIx};
use crate::shape::Shape;
use flowgraph::ir::{Color, Graph, Loc, MemKind, Module, Operand, ValueId};
use rustc_hash::FxHashSet;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

/// The colors of everything that an entry reaches.
#[derive(Clone, Debug)]
pub struct Colors {
    /// The colored module: a graph for each reached function and signature (the entry first), the all-red twin of each
    /// of these functions, and, without colors, the functions that are called without being looked into.
    pub module: Module,
    /// Why each value of each reached graph has its color.
    causes: Vec<Vec<Cause>>,
}

/// Why a variable has its color: the answer of [`Colors::why`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// One answer for each definition of the variable and signature of its function.
    pub answers: Vec<Answer>,
}

/// Why one definition has its color in one signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The variable, with line and signature: `f::x@7#gr`.
    pub name: String,
    /// Where it is defined: `file:line:column`.
    pub place: String,
    /// `green`, `red` or `blue`.
    pub color: &'static str,
    /// The chain, from the variable to what forced its color.
    pub chain: Vec<Step>,
}

/// One step of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// A value in words.
    pub what: String,
    /// Where it is computed.
    pub loc: Loc,
    /// The same as `file:line:column`.
    pub place: String,
    /// Why it has its color.
    pub because: String,
}

impl Colors {
    pub(crate) fn new(module: Module, causes: Vec<Vec<Cause>>) -> Colors {
        Colors { module, causes }
    }

    /// The color of the variable that `query` names (`f::x`, `f::x@LINE`, `f::x#SIGNATURE`): `green`, `red`, `blue`, or
    /// `mixed` where the signatures in which its function is called disagree.
    ///
    /// # Errors
    /// If there is no such variable; with names like it.
    pub fn color_of(&self, query: &str) -> Result<String, QueryError> {
        query::color_of(&self.module, query)
    }

    /// The colors of all named variables of all reached functions, by `f::x`.
    pub fn named(&self) -> BTreeMap<String, String> {
        query::named(&self.module)
    }

    /// Why the variable that `query` names has its color: for every definition, unless `@LINE` chooses, and every
    /// signature, unless `#SIGNATURE` does.
    ///
    /// # Errors
    /// If there is no such variable; with names like it.
    pub fn why(&self, query: &str) -> Result<Why, QueryError> {
        let found = query::find(&self.module, query, true)?;
        Ok(Why { answers: found.iter().map(|f| self.answer(f)).collect() })
    }

    fn answer(&self, found: &Found<'_>) -> Answer {
        let Found { graph, def, .. } = found;
        let color = query::color(&self.module, graph, def);
        let named = |v: &ValueId| graph.values[v.index()].color == Some(color);
        let values = def.values.iter().filter_map(|v| v.value().or_else(|| query::joined(graph, def, *v)));
        let values: Vec<ValueId> = values.collect();
        let chain = match values.iter().copied().find(named).or(values.first().copied()) {
            Some(v) => self.chain(found.graph_ix, v),
            None => vec![Step {
                what: format!("`{}`", def.name),
                loc: def.loc,
                place: self.module.show_loc(def.loc),
                because: match def.values.first() {
                    Some(Operand::Const(_)) if color == Color::Green => "it is a literal, and asked for".to_owned(),
                    Some(Operand::Const(_)) => "it is a literal: nothing asks for it".to_owned(),
                    _ => "it has no value".to_owned(),
                },
            }],
        };
        Answer {
            name: format!("{}::{}@{}#{}", graph.function, def.name, def.loc.line, query::suffix(graph)),
            place: self.module.show_loc(def.loc),
            color: color.name(),
            chain,
        }
    }

    /// Tells the reason of the color of a value (of the graph with this key) in one sentence, for drawings. `None` in
    /// graphs without reasons: twins, and functions that aren't looked into.
    pub fn reasons(&self) -> impl Fn(&str, ValueId) -> Option<String> + '_ {
        let walk = RefCell::new(Walk::default());
        move |key, v| {
            let ix = self.module.graphs.get_index_of(key)?;
            let cause = *self.causes.get(ix)?.get(v.index())?;
            Some(self.because(&mut walk.borrow_mut(), ix, v, cause).0)
        }
    }

    fn chain(&self, ix: GraphIx, v: ValueId) -> Vec<Step> {
        let mut walk = Walk::default();
        let (mut at, mut chain, mut seen): (_, Vec<Step>, _) = (Some((ix, v)), Vec::new(), FxHashSet::default());
        while let Some((ix, v)) = at {
            if !seen.insert((ix, v)) {
                break;
            }
            let Some(cause) = self.causes.get(ix).and_then(|c| c.get(v.index())).copied() else { break };
            let (what, loc) = walk.describe(&self.module, ix, v);
            let (because, next) = self.because(&mut walk, ix, v, cause);
            // A variable and the join that it goes to are told once.
            let again = next.is_some_and(|(ix, v)| walk.describe(&self.module, ix, v) == (what.clone(), loc));
            // What is no part of the source, as the functions of a `QuasiCell`, has no line of its own but that of what
            // led there.
            let loc = match chain.last() {
                Some(before) if !loc.is_known() => before.loc,
                _ => loc,
            };
            if !again {
                chain.push(Step { what, loc, place: self.module.show_loc(loc), because });
            }
            at = next;
        }
        chain
    }

    /// The sentence for a cause, and the value that the chain goes on with.
    fn because(&self, walk: &mut Walk, ix: GraphIx, v: ValueId, cause: Cause) -> (String, Option<(GraphIx, ValueId)>) {
        let module = &self.module;
        let color = module.graphs[ix].values[v.index()].color.unwrap_or(Color::Red).name();
        let here = |loc| module.show_loc(loc);
        let function = |ix: GraphIx| module.graphs[ix].function.as_str();
        let mut told = |ix, v| {
            let (what, loc) = walk.describe(module, ix, v);
            if loc.is_known() { format!("{what} ({})", here(loc)) } else { what }
        };
        match cause {
            Cause::Concrete(loc) => (format!("`concrete` asks for it ({})", here(loc)), None),
            Cause::MergeKey(loc) => (format!("it is part of the key of the merge point ({})", here(loc)), None),
            Cause::PortalGreen => (format!("the portal `{}` declares it green", function(ix)), None),
            Cause::Computes(w) => (format!("{}, which must be green, is computed from it", told(ix, w)), Some((ix, w))),
            Cause::Returned(to, w) => {
                (format!("`{}` returns it as {}, which must be green", function(ix), told(to, w)), Some((to, w)))
            }
            Cause::Argument(to, w) => {
                (format!("it is passed to `{}` as {}, which must be green", function(to), told(to, w)), Some((to, w)))
            }
            Cause::Hint(opcode) => (format!("it is the result of `{}`", opcode.name()), None),
            Cause::From(w) => (format!("it comes from {}, which is {color}", told(ix, w)), Some((ix, w))),
            Cause::EagerArgument => ("its argument is green where the function is called so".to_owned(), None),
            Cause::Result(to, Some(w)) => {
                (format!("`{}` returns {}, which is {color}", function(to), told(to, w)), Some((to, w)))
            }
            Cause::Result(to, None) => {
                (format!("`{}` returns different colors, or a literal that nothing asks for", function(to)), None)
            }
            Cause::Parameter => (format!("it is a red parameter of `{}`", function(ix)), None),
            Cause::Known => ("it is known at first, but nothing asks for it to be green".to_owned(), None),
            Cause::PortalRed => (format!("the portal `{}` declares it red", function(ix)), None),
            Cause::Memory(MemKind::Shared) => ("it is read from a `Cell`, which may change".to_owned(), None),
            Cause::Memory(_) => ("it is read from memory that may change".to_owned(), None),
            Cause::Opaque => ("it comes from a call that isn't looked into".to_owned(), None),
            Cause::Called => (
                "it comes from a function with a loop that no green ends, which is called, not copied in".to_owned(),
                None,
            ),
            Cause::Variable => ("`variable` makes it red".to_owned(), None),
            Cause::Uncontrolled(_) => {
                ("it changes in a loop that no green ends, and nothing asks for it to be green".to_owned(), None)
            }
            Cause::Local => ("it is a local, whose address is known and whose contents need not be".to_owned(), None),
            Cause::NotAsked => ("nothing asks for it to be green".to_owned(), None),
        }
    }
}

/// The names of the graphs that a chain goes through.
#[derive(Default)]
struct Walk {
    named: BTreeMap<GraphIx, (Shape, Vec<Option<Name>>)>,
}

impl Walk {
    fn describe(&mut self, module: &Module, ix: GraphIx, v: ValueId) -> (String, Loc) {
        let graph: &Graph = &module.graphs[ix];
        let (shape, names) = self.named.entry(ix).or_insert_with(|| {
            let shape = Shape::of(graph);
            let names = names(graph, &shape);
            (shape, names)
        });
        (show(graph, shape, names, v), place(graph, shape, names, v))
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, answer) in self.answers.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            writeln!(f, "{} is {} ({})", answer.name, answer.color, answer.place)?;
            for step in &answer.chain {
                writeln!(f, "    {} ({}): {}", step.what, step.place, step.because)?;
            }
        }
        Ok(())
    }
}
