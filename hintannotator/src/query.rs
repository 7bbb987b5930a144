//! Questions about the colors of source variables: `f::x`, `f::x@LINE`, `f::x#SIGNATURE`.
//!
//! Colors belong to SSA values. `f::x` is the last definition of `x` in source order; `@LINE` names another one. A
//! function is colored once for each signature in which it is called: a variable is `mixed` where these disagree, and
//! `#SIGNATURE` chooses one. A variable of several values (a struct, a tuple) is green if all of them are, else blue:
//! known as a container. A slice is what its address is.

use crate::signature::{Letter, is_twin_key, letters_of_key};
use flowgraph::ir::{Color, Graph, Module, NameDef, Opcode, Operand, RustType, ValueId};
use flowgraph::near::{in_brackets, near_names};
use std::collections::BTreeMap;

/// A question that has no answer.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum QueryError {
    /// Not of the form `function::variable`.
    #[error(
        "`{0}` doesn't name a variable: write `function::variable`, `function::variable@LINE` or `function::variable#SIGNATURE`"
    )]
    Malformed(String),
    /// No such function is reached from the entry.
    #[error("no function `{name}` is reached from the entry{}", in_brackets(.near))]
    NoSuchFunction {
        /// The name asked for.
        name: String,
        /// Names like it.
        near: Vec<String>,
    },
    /// The function is called without being looked into, so it has no colors.
    #[error("`{0}` is called without being looked into: its variables have no colors")]
    NotLookedInto(String),
    /// The function has no such variable.
    #[error("`{function}` has no variable `{name}`{}", in_brackets(.near))]
    NoSuchVariable {
        /// The function.
        function: String,
        /// The name asked for.
        name: String,
        /// Names like it.
        near: Vec<String>,
    },
    /// The variable has no definition on that line.
    #[error("`{name}` isn't defined on line {line}; it is on {}", lines.iter().map(u32::to_string).collect::<Vec<_>>().join(", "))]
    NoSuchLine {
        /// The variable.
        name: String,
        /// The line asked for.
        line: u32,
        /// The lines of its definitions.
        lines: Vec<u32>,
    },
    /// The function isn't called in that signature.
    #[error("`{function}` isn't reached as `{signature}`; it is as {}", reached.join(", "))]
    NoSuchSignature {
        /// The function.
        function: String,
        /// The signature asked for.
        signature: String,
        /// The signatures in which it is called.
        reached: Vec<String>,
    },
}

/// A variable's definition in one signature of its function.
#[derive(Clone, Debug)]
pub(crate) struct Found<'m> {
    pub graph_ix: usize,
    pub graph: &'m Graph,
    pub def: &'m NameDef,
}

/// The definitions that `query` names, in each signature that it allows, and whether it named one line or signature.
pub(crate) fn find<'m>(module: &'m Module, query: &str, all: bool) -> Result<Vec<Found<'m>>, QueryError> {
    let malformed = || QueryError::Malformed(query.to_owned());
    let (query_left, signature) = match query.split_once('#') {
        Some((q, s)) => (q, Some(s)),
        None => (query, None),
    };
    let (path, line) = match query_left.split_once('@') {
        Some((path, line)) => (path, Some(line.trim().parse::<u32>().map_err(|_| malformed())?)),
        None => (query_left, None),
    };
    let (function, variable) = path.rsplit_once("::").ok_or_else(malformed)?;
    let graphs = graphs_of(module, function)?;
    let wanted: Vec<_> = graphs.iter().filter(|(_, g)| signature.is_none_or(|s| suffix(g) == s)).copied().collect();
    if wanted.is_empty() {
        let reached = graphs.iter().map(|(_, g)| format!("`{}`", suffix(g))).collect();
        let (function, signature) = (function.to_owned(), signature.unwrap_or_default().to_owned());
        return Err(QueryError::NoSuchSignature { function, signature, reached });
    }
    let mut out = Vec::new();
    for (graph_ix, graph) in wanted {
        let mut defs: Vec<&NameDef> = graph.names.iter().filter(|d| d.name == variable).collect();
        defs.sort_by_key(|d| d.loc);
        let Some(last) = defs.last() else {
            let near = near_names(variable, graph.names.iter().map(|d| d.name.as_str()));
            return Err(QueryError::NoSuchVariable { function: function.to_owned(), name: variable.to_owned(), near });
        };
        let chosen: Vec<&NameDef> = match line {
            Some(line) => defs.iter().copied().filter(|d| d.loc.line == line).collect(),
            None if all => defs.clone(),
            None => vec![last],
        };
        if chosen.is_empty() {
            let lines = defs.iter().map(|d| d.loc.line).collect();
            return Err(QueryError::NoSuchLine { name: variable.to_owned(), line: line.unwrap_or_default(), lines });
        }
        out.extend(chosen.into_iter().map(|def| Found { graph_ix, graph, def }));
    }
    Ok(out)
}

/// The signature in a graph's key.
pub(crate) fn suffix(graph: &Graph) -> &str {
    graph.key.rsplit_once('#').map_or("", |(_, s)| s)
}

fn graphs_of<'m>(module: &'m Module, function: &str) -> Result<Vec<(usize, &'m Graph)>, QueryError> {
    let of_function = || module.graphs.values().enumerate().filter(|(_, g)| g.function == function);
    let graphs: Vec<_> = of_function().filter(|(_, g)| letters_of_key(&g.key).is_some()).collect();
    if !graphs.is_empty() {
        return Ok(graphs);
    }
    if of_function().any(|(_, g)| !is_twin_key(&g.key)) {
        return Err(QueryError::NotLookedInto(function.to_owned()));
    }
    let near = near_names(function, module.graphs.values().map(|g| g.function.as_str()));
    Err(QueryError::NoSuchFunction { name: function.to_owned(), near })
}

/// The color of a definition: `green`, `red` or `blue`.
pub(crate) fn color(module: &Module, graph: &Graph, def: &NameDef) -> Color {
    let letters = letters_of_key(&graph.key).unwrap_or_default();
    let entry = graph.entry_params();
    let mut colors = Vec::new();
    for value in &def.values {
        let color = match value {
            Operand::Value(v) => value_color(graph, *v),
            Operand::Const(_) => match joined(graph, def, *value) {
                Some(v) => value_color(graph, v),
                None if is_asked_for(module, graph, *value) => Color::Green,
                None => Color::Red,
            },
        };
        // A parameter that is known counts as green if any of it is asked for.
        let known = value.value().and_then(|v| entry.iter().position(|p| *p == v)).map(|i| letters.get(i));
        colors.push((color, known == Some(Some(&Letter::Known))));
    }
    let asked = colors.iter().any(|(c, _)| *c == Color::Green);
    let colors: Vec<Color> =
        colors.into_iter().map(|(c, known)| if known && asked { Color::Green } else { c }).collect();
    match colors[..] {
        [] => Color::Red,
        [one] => one,
        _ if colors.iter().all(|c| *c == Color::Green) => Color::Green,
        [address, _] if is_slice(module, graph, def) => address,
        _ => Color::Blue,
    }
}

fn value_color(graph: &Graph, v: ValueId) -> Color {
    graph.values[v.index()].color.unwrap_or(Color::Red)
}

/// Whether all ops that have a constant as an operand are green, and all parameters that it is handed to. It may be that
/// of another variable: so one that is in doubt is red.
fn is_asked_for(module: &Module, graph: &Graph, constant: Operand) -> bool {
    let green = |v: &ValueId| value_color(graph, *v) == Color::Green;
    let mut uses = Vec::new();
    for op in graph.blocks.iter().flat_map(|b| &b.ops) {
        let callee = op.callee().and_then(|callee| module.graphs.get(&*callee.name)).filter(|callee| !callee.is_host());
        for (at, _) in op.args.iter().enumerate().filter(|(_, arg)| **arg == constant) {
            uses.push(match callee {
                Some(callee) => callee.entry_params().get(at).is_some_and(|p| value_color(callee, *p) == Color::Green),
                None => !op.results.is_empty() && op.results.iter().all(green),
            });
        }
    }
    for edge in graph.edges() {
        let params = graph.block(edge.block).params.iter().zip(&edge.args);
        uses.extend(params.filter(|(_, arg)| **arg == constant).map(|(p, _)| green(p)));
    }
    !uses.is_empty() && uses.into_iter().all(|is_green| is_green)
}

/// What a variable that begins as a constant becomes: the join to which it goes together with another definition of the
/// same variable.
pub(crate) fn joined(graph: &Graph, def: &NameDef, constant: Operand) -> Option<ValueId> {
    let same: Vec<Operand> =
        graph.names.iter().filter(|d| d.name == def.name && d.loc != def.loc).flat_map(|d| d.values.clone()).collect();
    let edges = || graph.edges();
    edges().find_map(|edge| {
        edge.args.iter().enumerate().filter(|(_, arg)| **arg == constant).find_map(|(index, _)| {
            let p = *graph.block(edge.block).params.get(index)?;
            let meets = edges().filter(|e| e.block == edge.block).any(|e| {
                e.args.get(index).is_some_and(|a| *a != constant && (same.contains(a) || *a == Operand::Value(p)))
            });
            meets.then_some(p)
        })
    })
}

/// Whether the two values of `def` are the address and length of a slice: its type says so, or the first is used as an
/// address.
fn is_slice(module: &Module, graph: &Graph, def: &NameDef) -> bool {
    let entry = graph.entry_params();
    let first = def.values.first().and_then(|v| v.value());
    let is_param = first.is_some_and(|v| entry.contains(&v));
    if is_param && let Some(param) = graph.signature.params.iter().find(|p| p.name == def.name) {
        return matches!(param.ty, RustType::Slice { .. } | RustType::Str) && module.leaves(&param.ty).len() == 2;
    }
    let is_address = |v: &Operand| match v {
        Operand::Const(c) => c.as_int().is_none() && c.word().is_none(),
        Operand::Value(_) => graph.blocks.iter().flat_map(|b| &b.ops).any(|op| {
            let derives = op.opcode == Opcode::IntAdd && op.results.first().is_some_and(|r| Operand::Value(*r) == *v);
            (op.mem().is_some() && op.args.first() == Some(v))
                || (derives && op.args.iter().any(|a| a.value().is_some_and(|a| entry.contains(&a))))
        }),
    };
    def.values.first().is_some_and(is_address)
}

/// The color of what `query` names, `mixed` where several signatures disagree.
pub(crate) fn color_of(module: &Module, query: &str) -> Result<String, QueryError> {
    let found = find(module, query, false)?;
    Ok(merge(found.iter().map(|f| color(module, f.graph, f.def))))
}

fn merge(mut colors: impl Iterator<Item = Color>) -> String {
    match colors.next() {
        Some(first) if colors.all(|c| c == first) => first.name().to_owned(),
        _ => "mixed".to_owned(),
    }
}

/// The colors of all named variables of all reached functions.
pub(crate) fn named(module: &Module) -> BTreeMap<String, String> {
    let mut last: BTreeMap<String, Vec<Color>> = BTreeMap::new();
    for graph in module.graphs.values().filter(|g| letters_of_key(&g.key).is_some()) {
        let mut defs: BTreeMap<&str, &NameDef> = BTreeMap::new();
        for def in &graph.names {
            let known = defs.entry(&def.name).or_insert(def);
            if known.loc <= def.loc {
                *known = def;
            }
        }
        for (name, def) in defs {
            last.entry(format!("{}::{name}", graph.function)).or_default().push(color(module, graph, def));
        }
    }
    last.into_iter().map(|(name, colors)| (name, merge(colors.into_iter()))).collect()
}
