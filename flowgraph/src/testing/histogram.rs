//! What is in modules, counted: so that a test can say that everything came up.
//!
//! A name is `group: class`. Flow modules give the groups `op`, `trap`, `access`, `memory`, `type`, `function`,
//! `calling`, `loop` and `join`; compiler modules `green op`, `red op`, `call`, `mark`, `end` and `colored loop`, for
//! graphs in colors (not for the all-red twins, which are there in any case). Others may [see](Histogram::see) more.

use crate::analysis::{CallGraph, Loop, Order};
use crate::ir::*;
use std::collections::BTreeMap;
use std::fmt;

/// Counts by name: `op: int_add`, `trap: panic`, `call: inline`, `loop: nested`, …
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// The counts.
    pub counts: BTreeMap<String, u64>,
}

/// The classes of one group: how many there are, and the rarest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What stands before the `:`.
    pub name: String,
    /// How many classes it has.
    pub classes: usize,
    /// The class that came up least.
    pub rarest: String,
    /// How often that did.
    pub least: u64,
    /// All counts together.
    pub total: u64,
}

impl Histogram {
    /// What is in a module.
    pub fn of(module: &Module) -> Histogram {
        let mut histogram = Histogram::default();
        histogram.add(module);
        histogram
    }

    /// How often something of this name came up.
    pub fn count(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    /// Counts something.
    pub fn see(&mut self, name: impl Into<String>) {
        self.see_often(name, 1);
    }

    /// Counts something that came up `count` times.
    pub fn see_often(&mut self, name: impl Into<String>, count: u64) {
        if count > 0 {
            *self.counts.entry(name.into()).or_default() += count;
        }
    }

    /// Adds what another one has counted.
    pub fn merge(&mut self, other: &Histogram) {
        other.counts.iter().for_each(|(name, count)| self.see_often(name.as_str(), *count));
    }

    /// Counts what is in a module, too.
    pub fn add(&mut self, module: &Module) {
        match module.stage {
            Stage::Flow => {
                let calls = CallGraph::new(module);
                for group in calls.groups() {
                    for graph in group.iter().map(|at| &module.graphs[*at]) {
                        self.flow(module, graph, group);
                    }
                }
            }
            _ => {
                let in_colors = |g: &&Graph| g.key.contains('#') && !g.key.ends_with("#twin");
                module.graphs.values().filter(in_colors).for_each(|graph| self.compiler(module, graph));
            }
        }
    }

    // ---- flow graphs

    /// A graph, and the graphs that it calls and is called by.
    fn flow(&mut self, module: &Module, graph: &Graph, group: &[usize]) {
        let attributes = &graph.attributes;
        for (word, set) in [
            ("portal", attributes.portal.is_some()),
            ("elidable", attributes.elidable),
            ("unroll_safe", attributes.unroll_safe),
            ("dont_look_inside", attributes.dont_look_inside),
        ] {
            if set {
                self.see(format!("function: {word}"));
            }
        }
        self.see(match graph.results.len() {
            n @ 0..=3 => format!("function: {n} results"),
            _ => "function: many results".to_owned(),
        });
        for param in &graph.signature.params {
            self.see(format!("type: parameter {}", param.ty));
        }
        for block in &graph.blocks {
            for op in &block.ops {
                self.see(format!("op: {}", op.opcode.name()));
                for result in &op.results {
                    self.see(format!("type: value {}", graph.values[result.index()].ty.name()));
                }
                if let Some(desc) = op.mem() {
                    let way = if op.opcode.effect() == Effect::Write { "store" } else { "load" };
                    self.see(format!("access: {way} {}", desc.access.name()));
                    self.see(format!("memory: {way} {}", desc.kind.name()));
                    self.see(format!(
                        "memory: {} {}",
                        op.opcode.name(),
                        if is_slot(graph, op) { "of a local" } else { "through a reference" }
                    ));
                }
                self.calling(module, graph, op, group);
            }
            if let Terminator::Trap(trap) = &block.term {
                self.see(format!("trap: {}", trap.kind.name()));
            }
        }
        self.loops_and_joins(graph);
    }

    fn calling(&mut self, module: &Module, graph: &Graph, op: &Op, group: &[usize]) {
        let Some(callee) = op.callee() else { return };
        if callee.libm().is_some() {
            return self.see("calling: libm");
        }
        let Some((index, _, target)) = module.graphs.get_full(&*callee.name) else { return };
        let attributes = &target.attributes;
        self.see(if target.key == graph.key {
            "calling: itself"
        } else if group.contains(&index) {
            "calling: each other"
        } else if attributes.portal.is_some() {
            "calling: a portal"
        } else if attributes.elidable {
            "calling: elidable"
        } else if attributes.dont_look_inside {
            "calling: dont_look_inside"
        } else if attributes.unroll_safe {
            "calling: unroll_safe"
        } else {
            "calling: a function"
        });
        for arg in op.args.iter().filter(|arg| is_local(graph, **arg)) {
            let index = op.args.iter().position(|a| a == arg);
            let mutable = index.and_then(|i| {
                let mut leaves = target.signature.params.iter().flat_map(|p| module.leaves(&p.ty));
                leaves.nth(i)?.reference
            });
            self.see(match mutable {
                Some(true) => "calling: with &mut local",
                _ => "calling: with &local",
            });
        }
    }

    fn loops_and_joins(&mut self, graph: &Graph) {
        if graph.blocks.is_empty() {
            return;
        }
        let order = Order::new(graph);
        for l in &order.loops {
            self.loop_shape(graph, &order, l);
        }
        for block in graph.block_ids() {
            let count = order.predecessors(block).len();
            if count > 1 && order.loop_at(block).is_none() {
                let params = if graph.block(block).params.is_empty() { "without" } else { "with" };
                let count = if count > 3 { "many".to_owned() } else { count.to_string() };
                self.see(format!("join: of {count} {params} parameters"));
            }
        }
    }

    fn loop_shape(&mut self, graph: &Graph, order: &Order, l: &Loop) {
        let within = |block: BlockId| l.body.contains(block.index());
        let traps = |block: BlockId| matches!(graph.block(block).term, Terminator::Trap(_));
        let exits_of = |block: BlockId| {
            graph.block(block).term.edges().filter(|e| !within(e.block)).map(|e| e.block).collect::<Vec<_>>()
        };
        let blocks: Vec<BlockId> = graph.block_ids().filter(|b| within(*b)).collect();
        let latches: Vec<BlockId> = order.predecessors(l.head).iter().copied().filter(|b| within(*b)).collect();
        let leaving: Vec<BlockId> =
            blocks.iter().copied().filter(|b| exits_of(*b).into_iter().any(|to| !traps(to))).collect();
        let shape = if blocks.len() == 1 {
            "self loop"
        } else if leaving.contains(&l.head) {
            "while"
        } else if leaving.iter().any(|b| latches.contains(b)) {
            "do while"
        } else {
            "exit in the middle"
        };
        self.see(format!("loop: {shape}"));
        if leaving.iter().any(|b| *b != l.head && !latches.contains(b)) && leaving.len() > 1 {
            self.see("loop: with early exit");
        }
        if blocks.iter().flat_map(|b| exits_of(*b)).any(traps) {
            self.see("loop: with trap");
        }
        if latches.iter().any(|b| order.predecessors(*b).len() > 1) {
            self.see("loop: with continue");
        }
        if let Some(outer) = l.parent {
            self.see("loop: nested");
            if order.loops[outer].parent.is_some() {
                self.see("loop: nested twice");
            }
        }
        let ops = || blocks.iter().flat_map(|b| &graph.block(*b).ops);
        for (name, opcode) in
            [("merge point", Opcode::MergePoint), ("promotion", Opcode::Promote), ("call", Opcode::Call)]
        {
            if ops().any(|op| op.opcode == opcode) {
                self.see(format!("loop: with {name}"));
            }
        }
        if ops().any(|op| op.opcode.effect() == Effect::Write) {
            self.see("loop: with store");
        }
        if ops().any(|op| op.opcode.effect() == Effect::Allocate) {
            self.see("loop: with local");
        }
        if graph.block(l.head).params.len() > 1 {
            self.see("loop: with several variables");
        }
    }

    // ---- compiler graphs

    fn compiler(&mut self, module: &Module, graph: &Graph) {
        for block in &graph.blocks {
            for op in &block.ops {
                if matches!(op.opcode.effect(), Effect::Pure | Effect::Read) {
                    let color = if op.time == Time::Now { "green" } else { "red" };
                    self.see(format!("{color} op: {}", op.opcode.name()));
                }
                if op.opcode == Opcode::Promote {
                    self.see(if op.time == Time::Now { "call: promotion of a green" } else { "call: promotion" });
                }
                self.call_mode(module, graph, op);
            }
            for mark in &block.marks {
                self.see(format!("mark: {}", mark.kind.name()));
            }
            self.see(match &block.term {
                Terminator::Jump(_) => "end: jump".to_owned(),
                Terminator::Branch { time: Time::Now, .. } => "end: branch".to_owned(),
                Terminator::Branch { time: Time::Emit, .. } => "end: split".to_owned(),
                Terminator::Switch { time: Time::Now, .. } => "end: switch".to_owned(),
                Terminator::Switch { time: Time::Emit, .. } => "end: split_switch".to_owned(),
                Terminator::Return(_) => "end: return".to_owned(),
                Terminator::Trap(_) => "end: trap".to_owned(),
                Terminator::Exit { .. } => "end: exit".to_owned(),
                Terminator::Enter { .. } => "end: enter".to_owned(),
            });
        }
        let order = Order::new(graph);
        let color = |l: &Loop| {
            let block = graph.block(l.head);
            if block.ops.first().is_some_and(|op| op.opcode == Opcode::MergePoint) {
                "merge point"
            } else if block.marks.iter().any(|m| m.at == 0 && m.kind == MarkKind::GlobalMerge) {
                "red"
            } else {
                "green"
            }
        };
        for l in &order.loops {
            self.see(format!("colored loop: {}", color(l)));
            let Some(outer) = l.parent.map(|outer| color(&order.loops[outer])) else { continue };
            match (color(l), outer) {
                ("merge point", _) => self.see("colored loop: merge point in another"),
                (_, "merge point") => self.see("colored loop: in one with a merge point"),
                (inner, outer) => self.see(format!("colored loop: {inner} in {outer}")),
            }
        }
    }

    fn call_mode(&mut self, module: &Module, graph: &Graph, op: &Op) {
        let Some(callee) = op.callee() else { return };
        let mode = callee.mode.name();
        if callee.libm().is_some() {
            return self.see(format!("call: {mode} libm"));
        }
        let target = module.graphs.get(&*callee.name);
        self.see(match target {
            Some(target) if target.function == graph.function => format!("call: {mode} recursion"),
            Some(target) if target.attributes.elidable => format!("call: {mode} elidable"),
            Some(target) if target.attributes.portal.is_some() => format!("call: {mode} portal"),
            _ => format!("call: {mode}"),
        });
        let greens = callee.name.rsplit_once('#').map_or("", |(_, sig)| sig);
        if greens.contains('!') {
            self.see("call: with a green result");
        }
        if greens.contains(['g', 'e']) {
            self.see(format!("call: {mode} with green arguments"));
        }
    }

    /// The groups of these names, each with its rarest class. A name that never came up counts as such.
    pub fn groups<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Vec<Group> {
        let mut groups: BTreeMap<&str, Group> = BTreeMap::new();
        for name in names {
            let Some((group, class)) = name.split_once(": ") else { continue };
            let count = self.count(name);
            let entry = groups.entry(group).or_insert_with(|| Group {
                name: group.to_owned(),
                classes: 0,
                rarest: String::new(),
                least: u64::MAX,
                total: 0,
            });
            entry.classes += 1;
            entry.total += count;
            if count < entry.least {
                (entry.least, entry.rarest) = (count, class.to_owned());
            }
        }
        groups.into_values().collect()
    }
}

/// Whether the op's base is the address of a local.
fn is_slot(graph: &Graph, op: &Op) -> bool {
    op.args.first().is_some_and(|base| is_local(graph, *base))
}

fn is_local(graph: &Graph, operand: Operand) -> bool {
    let Some(v) = operand.value() else { return false };
    let mut ops = graph.blocks.iter().flat_map(|b| &b.ops);
    ops.any(|op| op.opcode == Opcode::StackSlot && op.results.first() == Some(&v))
}

impl fmt::Display for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.counts.iter().try_for_each(|(name, count)| writeln!(f, "{count:10} {name}"))
    }
}
