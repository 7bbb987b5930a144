//! What values are called in the source.

use crate::shape::{Def, Shape};
use flowgraph::ir::{BlockId, Graph, Imm, Loc, ValueId};

/// A value's name in the source, and where that is defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub name: String,
    pub loc: Loc,
}

/// The names of a graph's values: from their definitions, and for a join from the values that it joins.
pub(crate) fn names(graph: &Graph, shape: &Shape) -> Vec<Option<Name>> {
    let mut out: Vec<Option<Name>> = vec![None; graph.values.len()];
    for (p, name) in graph.entry_params().iter().zip(&graph.params) {
        out[p.index()] = Some(Name { name: name.clone(), loc: graph.loc });
    }
    let mut defined: Vec<_> = graph.names.iter().collect();
    defined.sort_by_key(|d| d.loc);
    for def in defined {
        for v in def.values.iter().filter_map(|v| v.value()) {
            match &mut out[v.index()] {
                Some(known) if known.loc == graph.loc && root(&known.name) == def.name => known.loc = def.loc,
                Some(_) => {}
                empty => *empty = Some(Name { name: def.name.clone(), loc: def.loc }),
            }
        }
    }
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for block in graph.block_ids().filter(|b| *b != BlockId::ENTRY) {
            for (index, p) in graph.block(block).params.iter().enumerate() {
                if out[p.index()].is_some() {
                    continue;
                }
                let named = shape.inputs(graph, block, index).find_map(|(_, a)| out[a.value()?.index()].clone());
                changed |= named.is_some();
                out[p.index()] = named;
            }
        }
    }
    out
}

/// The variable that `p.left`, `a[3]` or `s.len` is a part of.
pub(crate) fn root(name: &str) -> &str {
    name.split(['.', '[']).next().unwrap_or(name)
}

/// Where a value is computed: its op, or the definition of its name, or its function.
pub(crate) fn place(graph: &Graph, shape: &Shape, names: &[Option<Name>], v: ValueId) -> Loc {
    let named = names[v.index()].as_ref().map(|n| n.loc);
    match shape.defs[v.index()] {
        Def::Op { block, op } if graph.block(block).ops[op].loc.is_known() => graph.block(block).ops[op].loc,
        _ => named.unwrap_or(graph.loc),
    }
}

/// A value in words: its name, or what its op is.
pub(crate) fn show(graph: &Graph, shape: &Shape, names: &[Option<Name>], v: ValueId) -> String {
    if let Some(name) = &names[v.index()] {
        return format!("`{}`", name.name);
    }
    match shape.defs[v.index()] {
        Def::Op { block, op } => {
            let op = &graph.block(block).ops[op];
            match &op.imm {
                Imm::Call(callee) => {
                    format!("the result of `{}`", callee.name.split('#').next().unwrap_or(&callee.name))
                }
                Imm::Mem(mem) if !mem.field.is_empty() => format!("the field `{}.{}`", mem.class, mem.field),
                Imm::Mem(mem) => {
                    format!("an element of `{}`", if &*mem.class == "bytes" { "[u8]" } else { &mem.class })
                }
                _ => format!("a result of `{}`", op.opcode.name()),
            }
        }
        _ => "a value joined here".to_owned(),
    }
}
