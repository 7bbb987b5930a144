//! Which residual graphs have machine code, and where their exits lead.

use crate::forcing;
use crate::jit::{JitError, Policy};
use flowgraph::ir::{Graph, Terminator};
use indexmap::IndexMap;
use jitcodegen::{Batch, Finished, Tier};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use timeshifter::specialize::Engine;

/// An exit of a graph is pointed to another.
struct Patch {
    graph: String,
    exit: u32,
    target: String,
}

/// The compiled residual graphs of an engine.
pub(crate) struct Code {
    pub engine: jitcodegen::Engine,
    /// As they were compiled, but for what counts guards.
    pub graphs: IndexMap<String, Graph>,
    instrument: bool,
    /// Fragments that have been looked at.
    seen: usize,
    /// The functions that are compiled as they are.
    as_they_are: FxHashSet<String>,
    /// The graphs that leave through each exit: linking may have copied it.
    leaving: FxHashMap<u32, Vec<String>>,
    patched: FxHashMap<u32, String>,
    /// What is patched when so many batches have been compiled in the background.
    later: VecDeque<(u64, Patch)>,
    /// The graphs that are compiled in the background, by the number of their batch.
    under_way: VecDeque<(u64, Vec<String>)>,
    /// Graphs that the code generator has refused.
    refused: FxHashSet<String>,
    /// Time for linking fragments, and for cleaning them.
    pub linking: Duration,
}

impl Code {
    pub fn new(engine: jitcodegen::Engine, instrument: bool) -> Code {
        Code {
            engine,
            graphs: IndexMap::new(),
            instrument,
            seen: 0,
            as_they_are: FxHashSet::default(),
            leaving: FxHashMap::default(),
            patched: FxHashMap::default(),
            later: VecDeque::new(),
            under_way: VecDeque::new(),
            refused: FxHashSet::default(),
            linking: Duration::ZERO,
        }
    }

    /// Compiles the fragment `key`, newly made, with all that it leads to. Under the eager policy the new fragments that it
    /// enters become one graph with it; a trace's stay apart, since exits come back to them. `switches` over the values that
    /// promotions have seen, which enter it, are compiled with it.
    pub fn compile(
        &mut self,
        engine: &Engine<'_>,
        policy: Policy,
        key: &str,
        switches: &[&Graph],
    ) -> Result<(), JitError> {
        let new = engine.fragments[self.seen..].iter().filter(|f| !f.abandoned);
        let wanted: Vec<(String, usize)> = match policy {
            Policy::Eager => vec![(key.to_owned(), self.seen)],
            Policy::Tracing => new.map(|f| (f.graph.key.clone(), usize::MAX)).collect(),
        };
        self.seen = engine.fragments.len();
        self.compile_all(engine, wanted, switches)
    }

    /// Compiles a function that a trace calls, and what it leads to. The trace itself isn't at its end yet.
    pub fn compile_function(&mut self, engine: &Engine<'_>, key: &str) -> Result<(), JitError> {
        self.compile_all(engine, vec![(key.to_owned(), usize::MAX)], &[])
    }

    /// Compiles these fragments with all that they lead to. Of what a fragment enters, those that are made later than the
    /// fragment with the number next to it become one graph with it.
    fn compile_all(
        &mut self,
        engine: &Engine<'_>,
        mut wanted: Vec<(String, usize)>,
        switches: &[&Graph],
    ) -> Result<(), JitError> {
        let mut batch: IndexMap<String, Graph> = IndexMap::new();
        while let Some((key, since)) = wanted.pop() {
            let Some(at) = engine.fragment_of(&key) else { continue };
            if self.graphs.contains_key(&key) || batch.contains_key(&key) || self.refused.contains(&key) {
                continue;
            }
            // What was made before is compiled apart, rather than copied into all that enters it.
            let apart = |k: &str| {
                self.graphs.contains_key(k)
                    || batch.contains_key(k)
                    || engine.fragment_of(k).is_some_and(|at| at < since)
            };
            let begun = Instant::now();
            let graph = engine.linked(at, &apart);
            self.linking += begun.elapsed();
            wanted.extend(leads_to(&graph).into_iter().map(|k| (k, 0)));
            batch.insert(key, graph);
        }
        let keys: Vec<String> = batch.keys().chain(switches.iter().map(|switch| &switch.key)).cloned().collect();
        let done = self.compile_as_they_are(engine).and_then(|()| self.install(engine, batch, switches));
        if done.is_err() {
            self.refused.extend(keys);
        }
        done
    }

    /// Compiles functions that residual code calls as they are.
    fn compile_as_they_are(&mut self, engine: &Engine<'_>) -> Result<(), JitError> {
        let mut called = engine.functions_as_they_are();
        called.retain(|key| self.as_they_are.insert(key.clone()));
        let graphs = &engine.program.module.graphs;
        let mut new: Vec<&Graph> = called.iter().filter_map(|key| graphs.get(key)).collect();
        let checks = engine.hint_checks.iter().filter(|(key, _)| self.as_they_are.insert((*key).clone()));
        new.extend(checks.map(|(_, graph)| graph));
        let tier = interpreter_tier();
        Ok(self.engine.compile_batch(Batch { graphs: &new, memory: &*engine.memory, tier: &tier, layout: None })?)
    }

    fn install(
        &mut self,
        engine: &Engine<'_>,
        batch: IndexMap<String, Graph>,
        switches: &[&Graph],
    ) -> Result<(), JitError> {
        let mut code: Vec<Graph> = batch.values().cloned().collect();
        if self.instrument {
            code.iter_mut().for_each(forcing::instrument);
        }
        let code: Vec<&Graph> = code.iter().chain(switches.iter().copied()).collect();
        let before = self.engine.begun();
        self.engine.compile_more(&code, engine.memory)?;
        if self.engine.begun() > before && self.engine.under_way() > 0 {
            self.under_way.push_back((self.engine.begun(), code.iter().map(|graph| graph.key.clone()).collect()));
        }
        for (key, graph) in batch {
            for exit in exits_of(&graph) {
                let leaving = self.leaving.entry(exit).or_default();
                if !leaving.contains(&key) {
                    leaving.push(key.clone());
                }
                if let Some(target) = self.patched.get(&exit).cloned() {
                    self.patch_in_turn(Patch { graph: key.clone(), exit, target })?;
                }
            }
            self.graphs.insert(key, graph);
        }
        Ok(())
    }

    /// Lets an exit lead to a graph, as soon as that can be; not to one that the code generator has refused.
    pub fn patch(&mut self, exit: u32, key: &str) -> Result<(), JitError> {
        if self.refused.contains(key) {
            return Ok(());
        }
        for graph in self.leaving.get(&exit).cloned().into_iter().flatten() {
            self.patch_in_turn(Patch { graph, exit, target: key.to_owned() })?;
        }
        self.patched.insert(exit, key.to_owned());
        Ok(())
    }

    // ---- in the background

    /// Whether a graph can be entered.
    pub fn is_ready(&self, key: &str) -> bool {
        self.engine.is_compiled(key)
    }

    /// Whether a graph can never be entered, since the code generator has refused it.
    pub fn is_refused(&self, key: &str) -> bool {
        self.refused.contains(key)
    }

    /// Installs what has been compiled in the background; waits for all of it, if it is to. Gives what was done.
    pub fn poll(&mut self, wait: bool) -> Result<Vec<Finished>, JitError> {
        if self.engine.under_way() == 0 {
            return Ok(Vec::new());
        }
        let finished = self.engine.poll(wait);
        for Finished { number, result, .. } in &finished {
            if let Some((_, keys)) = self.under_way.pop_front_if(|(of, _)| of == number)
                && result.is_err()
            {
                for key in keys {
                    self.graphs.shift_remove(&key);
                    self.patched.retain(|_, target| *target != key);
                    self.leaving.values_mut().for_each(|graphs| graphs.retain(|graph| *graph != key));
                    self.refused.insert(key);
                }
            }
            while let Some((_, Patch { graph, exit, target })) = self.later.pop_front_if(|(at, _)| *at <= *number) {
                // What has been refused needs nothing.
                if result.is_ok() {
                    self.engine.patch(&graph, exit, &target)?;
                }
            }
        }
        Ok(finished)
    }

    /// Patches when what has been begun so far is installed.
    fn patch_in_turn(&mut self, patch: Patch) -> Result<(), JitError> {
        if self.engine.under_way() > 0 {
            self.later.push_back((self.engine.begun(), patch));
            return Ok(());
        }
        Ok(self.engine.patch(&patch.graph, patch.exit, &patch.target)?)
    }
}

/// The graphs that a graph enters or calls.
fn leads_to(graph: &Graph) -> Vec<String> {
    let calls = graph.blocks.iter().flat_map(|b| &b.ops).filter_map(|op| op.callee()).map(|c| c.name.to_string());
    let enters = graph.blocks.iter().filter_map(|b| match &b.term {
        Terminator::Enter { graph, .. } => Some(graph.to_string()),
        _ => None,
    });
    calls.chain(enters).collect()
}

fn exits_of(graph: &Graph) -> impl Iterator<Item = u32> + '_ {
    graph.blocks.iter().filter_map(|b| match b.term {
        Terminator::Exit { exit, .. } => Some(exit),
        _ => None,
    })
}

/// Functions that residual code calls as they are: the interpreter's own code.
fn interpreter_tier() -> Tier {
    Tier { names: "interpreter:".to_owned(), ..Tier::default() }
}

/// Residual code, which calls its own functions first.
pub(crate) fn residual_tier() -> Tier {
    Tier { falls_back_on: vec![interpreter_tier().names], jitted: true, ..Tier::default() }
}
