//! The source's names of values.
//!
//! A graph says which values its variables have where they are set. A loop's or a join's parameter is set nowhere; it
//! gets the name that all that is handed to it has in common.

use crate::ir::{Const, Graph, Operand, ValueId};
use rustc_hash::FxHashMap;

/// The names of each value that has some.
pub(super) fn names(graph: &Graph) -> FxHashMap<ValueId, Vec<String>> {
    let mut names = Names::default();
    for (v, name) in graph.blocks.first().iter().flat_map(|b| &b.params).zip(&graph.params) {
        names.add((*v).into(), name.clone());
    }
    for def in &graph.names {
        for (i, value) in def.values.iter().enumerate() {
            names.add(*value, leaf(graph, &def.name, i, def.values.len()));
        }
    }
    names.infer(graph);
    names.values
}

/// The name of one value of a variable that has several.
fn leaf(graph: &Graph, name: &str, index: usize, of: usize) -> String {
    if of == 1 {
        return name.to_owned();
    }
    // A parameter's parts have names of their own.
    let part = |p: &&String| p.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    let parts: Vec<&String> = graph.params.iter().filter(part).collect();
    match parts.get(index) {
        Some(part) if parts.len() == of => (*part).clone(),
        _ => format!("{name}.{index}"),
    }
}

#[derive(Default)]
struct Names {
    values: FxHashMap<ValueId, Vec<String>>,
    constants: FxHashMap<Const, Vec<String>>,
}

impl Names {
    fn add(&mut self, operand: Operand, name: String) {
        let list = match operand {
            Operand::Value(v) => self.values.entry(v).or_default(),
            Operand::Const(c) => self.constants.entry(c).or_default(),
        };
        if !name.is_empty() && !list.contains(&name) {
            list.push(name);
        }
    }

    fn of(&self, operand: Operand) -> &[String] {
        let list = match operand {
            Operand::Value(v) => self.values.get(&v),
            Operand::Const(c) => self.constants.get(&c),
        };
        list.map_or(&[], Vec::as_slice)
    }

    /// Names parameters, in as many rounds as joins are nested.
    fn infer(&mut self, graph: &Graph) {
        let mut handed: FxHashMap<ValueId, Vec<Operand>> = FxHashMap::default();
        let edges = graph.edges();
        for edge in edges.filter(|e| e.block.index() < graph.blocks.len()) {
            for (param, arg) in graph.block(edge.block).params.iter().zip(&edge.args) {
                if *arg != Operand::Value(*param) && self.of((*param).into()).is_empty() {
                    handed.entry(*param).or_default().push(*arg);
                }
            }
        }
        // Parameters that hand each other around are taken to agree, as long as what is known does.
        let open = |arg: &Operand| arg.value().is_some_and(|v| handed.contains_key(&v));
        let mut order: Vec<&ValueId> = handed.keys().collect();
        order.sort_unstable();
        for _ in 0..8 {
            let mut changed = false;
            for param in &order {
                let mut common: Option<Vec<String>> = None;
                for arg in &handed[*param] {
                    let of_arg = self.of(*arg);
                    if of_arg.is_empty() && open(arg) {
                        continue;
                    }
                    match &mut common {
                        Some(common) => common.retain(|name| of_arg.contains(name)),
                        None => common = Some(of_arg.to_vec()),
                    }
                }
                let common = common.unwrap_or_default();
                if self.of((**param).into()) != common {
                    self.values.insert(**param, common);
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse_module;

    #[test]
    fn parameters_get_the_name_that_all_agree_on() {
        let text = "module flow\nfile \"a.rs\"\ngraph f(x: int, s: int, s.len: int) -> int {\nb0(v0: int, v1: int, v2: int):\n\
                    jump b1(v0, 0, v0)\nb1(v3: int, v4: int, v5: int):\nv6 = int_add v3, 1\nv7 = int_lt v6, 9\n\
                    branch v7, b1(v6, v4, v7), b2\nb2:\nreturn v3\nname acc @1:1 = v0\nname acc @2:1 = v6\n\
                    name n @1:1 = 0\nname s @1:1 = v1, v2\nname q @1:1 = v6, v7\n}\n";
        let module = parse_module(text).unwrap();
        let names = names(&module.graphs["f"]);
        let of = |v| names.get(&ValueId(v)).cloned().unwrap_or_default();
        assert_eq!(of(0), ["x", "acc"]);
        assert_eq!((of(1), of(2)), (vec!["s".to_owned()], vec!["s.len".to_owned()]));
        assert_eq!(of(3), ["acc"]);
        assert_eq!(of(4), ["n"]);
        assert!(of(5).is_empty(), "one is x, the other q.1");
        assert_eq!(of(7), ["q.1"]);
    }
}
