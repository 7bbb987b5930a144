//! Forward: which values are green without being demanded, and the colors of one function in one signature.
//!
//! *Eager* are the results of `concrete` and `promote`, what is computed from eager values, other greens and literals
//! (one eager at least), what is read from immutable memory at such places, and joins all of whose inputs are eager:
//! the greatest set with this property. Of it are taken the parameters of loop heads that change in a loop which no
//! green ends, for these would be unrolled for ever, with all that depends on them.

use crate::demand::{Demand, Instance};
use crate::program::{FnId, Function, Kind, Program};
use crate::shape::{blocks, within};
use crate::signature::{Letter, Sig};
use flowgraph::ir::{BlockId, Color, Effect, Imm, MemKind, Opcode, Operand, Terminator, ValueId};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The colors of a function in one signature.
pub(crate) struct Colored {
    pub function: FnId,
    pub sig: Sig,
    /// By value.
    pub colors: Vec<Color>,
    /// The callee's signature for each call that is looked into.
    pub calls: FxHashMap<(BlockId, usize), (FnId, Sig)>,
    /// For each result leaf whether it is green.
    pub results: Vec<bool>,
    /// Parameters of loop heads that are red only because no green ends their loop.
    pub uncontrolled: FxHashMap<ValueId, BlockId>,
    /// Whether some loop isn't ended by a green, so that the function is called rather than copied in.
    pub has_red_loop: bool,
}

/// Colors functions on demand, each signature once.
pub(crate) struct Forward<'p, 'm> {
    program: &'p Program<'m>,
    demand: &'p Demand<'p, 'm>,
    memo: FxHashMap<(FnId, Sig), Rc<Colored>>,
    depth: usize,
}

/// How many calls deep results are looked for that are green without being demanded.
const DEPTH: usize = 300;

/// A function on its way to its colors.
struct Walk<'a, 'm> {
    function: &'a Function<'m>,
    instance: &'a Instance,
    eager: Vec<bool>,
    blue: Vec<bool>,
    banned: FxHashMap<ValueId, BlockId>,
}

impl<'p, 'm> Forward<'p, 'm> {
    pub fn new(program: &'p Program<'m>, demand: &'p Demand<'p, 'm>) -> Forward<'p, 'm> {
        Forward { program, demand, memo: FxHashMap::default(), depth: 0 }
    }

    /// The colors of `function` in signature `sig`.
    pub fn color(&mut self, function: FnId, sig: &Sig) -> Rc<Colored> {
        let key = (function, sig.clone());
        if let Some(done) = self.memo.get(&key) {
            return done.clone();
        }
        let done = Rc::new(self.walk(function, sig));
        self.memo.insert(key, done.clone());
        done
    }

    fn walk(&mut self, id: FnId, sig: &Sig) -> Colored {
        let program = self.program;
        let function = program.function(id);
        let Some(instance) = self.demand.lookup(id, &sig.want) else {
            unreachable!("a function is colored for demands that were found");
        };
        let graph = function.graph;
        let mut walk = Walk {
            function,
            instance,
            eager: vec![true; graph.values.len()],
            blue: vec![true; graph.values.len()],
            banned: FxHashMap::default(),
        };
        for (p, letter) in graph.entry_params().iter().zip(&sig.letters) {
            walk.eager[p.index()] = matches!(letter, Letter::Eager | Letter::Green);
        }
        walk.sink_blue();
        loop {
            while self.shrink(&mut walk, id) {}
            if !walk.ban_uncontrolled() {
                break;
            }
        }
        let calls = self.calls(&walk);
        let green = |v: ValueId| walk.green(v);
        let colors = (0..graph.values.len())
            .map(|i| match (green(ValueId(i as u32)), walk.blue[i]) {
                (true, _) => Color::Green,
                (false, true) => Color::Blue,
                (false, false) => Color::Red,
            })
            .collect();
        let results = (0..graph.results.len())
            .map(|leaf| {
                graph.blocks.iter().all(|b| match &b.term {
                    Terminator::Return(values) => values.get(leaf).and_then(|v| v.value()).is_some_and(green),
                    _ => true,
                })
            })
            .collect();
        let has_red_loop = function.shape.order.loops.iter().any(|l| !function.shape.is_controlled(graph, l, &green));
        Colored { function: id, sig: sig.clone(), colors, calls, results, uncontrolled: walk.banned, has_red_loop }
    }

    /// Takes from the eager values those that can't be; whether there were any.
    fn shrink(&mut self, walk: &mut Walk<'_, 'm>, id: FnId) -> bool {
        let function = walk.function;
        let graph = function.graph;
        let mut changed = false;
        for block in graph.block_ids() {
            for (index, p) in graph.block(block).params.iter().enumerate() {
                if block == BlockId::ENTRY || !walk.eager[p.index()] {
                    continue;
                }
                let mut inputs = function.shape.inputs(graph, block, index);
                if walk.banned.contains_key(p) || !inputs.all(|(_, a)| a.value().is_some_and(|v| walk.eager[v.index()]))
                {
                    walk.eager[p.index()] = false;
                    changed = true;
                }
            }
            for (i, op) in graph.block(block).ops.iter().enumerate() {
                if !op.results.iter().any(|r| walk.eager[r.index()]) {
                    continue;
                }
                let from_eager = || {
                    op.args.iter().all(|a| walk.green_operand(*a))
                        && op.args.iter().any(|a| a.value().is_some_and(|v| walk.eager[v.index()]))
                };
                let keeps: Vec<bool> = match (op.opcode, op.opcode.effect(), &op.imm) {
                    (Opcode::Concrete | Opcode::Promote, ..) => continue,
                    (Opcode::Likely, ..) | (_, Effect::Pure, _) => vec![from_eager(); op.results.len()],
                    (_, Effect::Read, Imm::Mem(mem)) => vec![mem.kind == MemKind::Immutable && from_eager()],
                    (Opcode::Call, ..) => self.eager_results(walk, id, block, i),
                    _ => op.results.iter().map(|r| walk.demanded(*r) && from_eager()).collect(),
                };
                for (r, keep) in op.results.iter().zip(keeps) {
                    changed |= walk.eager[r.index()] && !keep;
                    walk.eager[r.index()] &= keep;
                }
            }
        }
        changed
    }

    /// For each result of the call whether it is eager: demanded, or green in a callee whose code is copied in. (Not
    /// within a recursion: how deep that goes is decided when specializing.)
    fn eager_results(&mut self, walk: &Walk<'_, 'm>, id: FnId, block: BlockId, i: usize) -> Vec<bool> {
        let program = self.program;
        let op = &walk.function.graph.block(block).ops[i];
        let nothing = || op.results.iter().map(|_| false).collect();
        let Some((callee, sig)) = self.call(walk, block, i) else { return nothing() };
        if program.function(callee).component == program.function(id).component || self.depth >= DEPTH {
            return sig.want;
        }
        self.depth += 1;
        let colored = self.color(callee, &sig);
        self.depth -= 1;
        if colored.is_inlined(program) { colored.results.clone() } else { nothing() }
    }

    /// Callee and signature of a call that is looked into.
    fn call(&self, walk: &Walk<'_, 'm>, block: BlockId, i: usize) -> Option<(FnId, Sig)> {
        let program = self.program;
        let op = &walk.function.graph.block(block).ops[i];
        let Kind::LookedInto(callee) = program.kind(op, op.callee()?) else { return None };
        let want: Vec<bool> = op.results.iter().map(|r| walk.demanded(*r)).collect();
        let target = program.function(callee);
        let instance = self.demand.lookup(callee, &want)?;
        let letters = target.leaves.iter().zip(target.graph.entry_params()).zip(&op.args);
        let letters = letters
            .map(|((leaf, param), arg)| match leaf.key {
                Some(true) => Letter::Green,
                Some(false) => Letter::Red,
                None if leaf.exclusive => Letter::Red,
                None if instance.demanded.contains_key(param) => Letter::Green,
                None if arg.value().is_some_and(|v| walk.green(v)) => Letter::Eager,
                None => Letter::Red,
            })
            .collect();
        Some((callee, Sig { letters, want }))
    }

    fn calls(&self, walk: &Walk<'_, 'm>) -> FxHashMap<(BlockId, usize), (FnId, Sig)> {
        let graph = walk.function.graph;
        let ops = graph.block_ids().flat_map(|b| (0..graph.block(b).ops.len()).map(move |i| (b, i)));
        ops.filter_map(|(b, i)| Some(((b, i), self.call(walk, b, i)?))).collect()
    }
}

impl Walk<'_, '_> {
    fn demanded(&self, v: ValueId) -> bool {
        self.instance.demanded.contains_key(&v)
    }

    fn green(&self, v: ValueId) -> bool {
        self.eager[v.index()] || self.demanded(v)
    }

    fn green_operand(&self, operand: Operand) -> bool {
        operand.value().is_none_or(|v| self.green(v))
    }

    /// Forbids the changing parameters of loop heads whose loop no green ends; whether there were any that were green.
    fn ban_uncontrolled(&mut self) -> bool {
        let (function, graph) = (self.function, self.function.graph);
        let mut found = Vec::new();
        for l in &function.shape.order.loops {
            let has_merge_point =
                blocks(l).any(|b| graph.block(b).ops.iter().any(|op| op.opcode == Opcode::MergePoint));
            if has_merge_point || function.shape.is_controlled(graph, l, &|v| self.green(v)) {
                continue;
            }
            for (index, &p) in graph.block(l.head).params.iter().enumerate() {
                let changes = function
                    .shape
                    .inputs(graph, l.head, index)
                    .any(|(from, arg)| within(l, from) && !function.shape.only_passed_around(graph, l, arg, p));
                if changes && self.eager[p.index()] && !self.demanded(p) {
                    found.push((p, l.head));
                }
            }
        }
        let any = !found.is_empty();
        self.banned.extend(found);
        any
    }

    /// Blue: the addresses of locals, what is computed from them at a distance, and joins of such alone.
    fn sink_blue(&mut self) {
        let (function, graph) = (self.function, self.function.graph);
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for block in graph.block_ids() {
                for (index, p) in graph.block(block).params.iter().enumerate() {
                    let mut inputs = function.shape.inputs(graph, block, index);
                    let keep =
                        block != BlockId::ENTRY && inputs.all(|(_, a)| a.value().is_some_and(|v| self.blue[v.index()]));
                    changed |= std::mem::replace(&mut self.blue[p.index()], keep) != keep;
                }
                for op in &graph.block(block).ops {
                    let blue = |a: &Operand| a.value().is_some_and(|v| self.blue[v.index()]);
                    let keep = match op.opcode {
                        Opcode::StackSlot => true,
                        Opcode::IntAdd => op.args.iter().any(blue),
                        Opcode::IntSub => blue(&op.args[0]),
                        _ => false,
                    };
                    for r in &op.results {
                        changed |= std::mem::replace(&mut self.blue[r.index()], keep) != keep;
                    }
                }
            }
        }
    }
}

impl Colored {
    /// Whether a call in this signature continues in the callee's code, rather than being emitted.
    pub fn is_inlined(&self, program: &Program<'_>) -> bool {
        let attributes = &program.function(self.function).graph.attributes;
        !self.has_red_loop
            || attributes.unroll_safe
            || attributes.look_inside_if.is_some()
            || attributes.portal.is_some()
            || self.sig.want.iter().any(|w| *w)
    }
}
