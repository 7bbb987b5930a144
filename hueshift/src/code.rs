//! Which residual graphs have machine code, and where their exits lead; optimizing and compiling them, at once or in
//! the background.

use crate::forcing;
use crate::jit::{JitError, Policy};
use flowgraph::ir::{Graph, Terminator};
use indexmap::IndexMap;
use jitcodegen::{CodegenError, Tier};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::time::{Duration, Instant};
use timeshifter::specialize::{Cleaned, Engine, FxIndexSet, Linked, Linking};

/// An exit of a graph is pointed to another.
struct Patch {
    graph: String,
    exit: u32,
    target: String,
}

/// Graphs as they are to be compiled.
struct Optimized {
    graphs: Vec<Cleaned>,
    duration: Duration,
}

impl Optimized {
    fn of(linked: Vec<Linked>) -> Optimized {
        let begun = Instant::now();
        let graphs = linked.into_iter().map(Linked::optimize).collect();
        Optimized { graphs, duration: begun.elapsed() }
    }
}

/// How much there is of what has been compiled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Made {
    pub graphs: usize,
    pub ops: usize,
    pub bytes: usize,
}

/// What has become of graphs that are to be compiled.
pub(crate) enum Compiling {
    Done(Made),
    /// It goes on in the background, as the batch of this number.
    UnderWay(u64),
}

/// A batch that the background has finished: its number, unless it is of functions that residual code calls as they
/// are.
pub(crate) struct Finished {
    pub number: Option<u64>,
    /// How much it is, or why it was refused.
    pub result: Result<Made, CodegenError>,
    /// How long it took, on that other thread.
    pub duration: Duration,
}

/// A batch in the background: first its graphs are optimized, then machine code is made of them.
struct UnderWay {
    number: u64,
    /// The keys of its graphs.
    keys: Vec<String>,
    stage: Stage,
}

enum Stage {
    /// With those that need no optimizing.
    Optimizing(Receiver<Optimized>, Vec<Graph>),
    /// As the code generator's batch of this number; so long the stage before took.
    Compiling(u64, Made, Duration),
}

/// The compiled residual graphs of an engine.
pub(crate) struct Code {
    pub engine: jitcodegen::Engine,
    /// The graph that was entered last: a program that is run again and again begins with the same one.
    entered: Option<Rc<jitcodegen::Entry>>,
    /// As they were compiled, but for copies of rounds of loops, and what counts guards.
    pub graphs: IndexMap<String, Graph>,
    /// All that have been begun, and weren't refused.
    begun: FxHashSet<String>,
    instrument: bool,
    /// Fragments that have been looked at.
    seen: usize,
    /// The functions that are compiled as they are; and how many were called when that was looked at.
    as_they_are: FxHashSet<String>,
    called_as_they_are: (usize, usize),
    /// The code generator's batches of such functions that are under way.
    as_they_are_under_way: FxHashMap<u64, Vec<String>>,
    /// The graphs that leave through each exit: linking may have copied it.
    leaving: FxHashMap<u32, Vec<String>>,
    patched: FxHashMap<u32, String>,
    /// What is patched as soon as both are there.
    later: Vec<Patch>,
    /// What is made in the background, in the order in which it was begun.
    under_way: VecDeque<UnderWay>,
    batches: u64,
    /// Graphs that the code generator has refused.
    refused: FxHashSet<String>,
    /// Time for linking fragments, and for cleaning them.
    pub linking: Duration,
    /// There as long as this is.
    anybody: Arc<()>,
}

impl Code {
    pub fn new(engine: jitcodegen::Engine, instrument: bool) -> Code {
        Code {
            engine,
            entered: None,
            graphs: IndexMap::new(),
            begun: FxHashSet::default(),
            instrument,
            seen: 0,
            as_they_are: FxHashSet::default(),
            called_as_they_are: (0, 0),
            as_they_are_under_way: FxHashMap::default(),
            leaving: FxHashMap::default(),
            patched: FxHashMap::default(),
            later: Vec::new(),
            under_way: VecDeque::new(),
            batches: 0,
            refused: FxHashSet::default(),
            linking: Duration::ZERO,
            anybody: Arc::default(),
        }
    }

    /// Compiles the fragment `key`, newly made, with all that it leads to. Under the eager policy the new fragments
    /// that it enters become one graph with it; a trace's stay apart, since exits come back to them. What enters it
    /// besides is compiled with it, as it is: `others`, as switches over the values that promotions have seen.
    pub fn compile(
        &mut self,
        engine: &Engine<'_>,
        policy: Policy,
        key: &str,
        others: Vec<Graph>,
    ) -> Result<Compiling, JitError> {
        let new = engine.fragments[self.seen..].iter().filter(|f| !f.abandoned);
        let wanted: Vec<(String, usize)> = match policy {
            Policy::Eager => vec![(key.to_owned(), self.seen)],
            Policy::Tracing => new.map(|f| (f.graph.key.clone(), usize::MAX)).collect(),
        };
        self.seen = engine.fragments.len();
        self.compile_all(engine, wanted, others)
    }

    /// Compiles the fragment `key`, newly made, as one graph with all that it leads to, whatever has been compiled of
    /// it before, and with the cases of promotions.
    pub fn compile_joined<'a>(
        &mut self,
        engine: &Engine<'_>,
        key: &str,
        cases: &'a dyn Fn(u32) -> &'a [(i64, String)],
    ) -> Result<Compiling, JitError> {
        self.seen = engine.fragments.len();
        let Some(at) = engine.fragment_of(key) else { return Ok(Compiling::Done(Made::default())) };
        let begun = Instant::now();
        let joined = engine.linked(at, Linking { apart: &|_| false, cases });
        self.linking += begun.elapsed();
        self.compile_linked(engine, vec![joined], Vec::new(), Vec::new())
    }

    /// Compiles a function that a trace calls, and what it leads to. The trace itself isn't at its end yet.
    pub fn compile_function(&mut self, engine: &Engine<'_>, key: &str) -> Result<Compiling, JitError> {
        self.compile_all(engine, vec![(key.to_owned(), usize::MAX)], Vec::new())
    }

    /// Compiles these fragments with all that they lead to. Of what a fragment enters, those that are made later than
    /// the fragment with the number next to it become one graph with it.
    fn compile_all(
        &mut self,
        engine: &Engine<'_>,
        wanted: Vec<(String, usize)>,
        others: Vec<Graph>,
    ) -> Result<Compiling, JitError> {
        self.compile_linked(engine, Vec::new(), wanted, others)
    }

    /// The same, and these graphs, which have been linked already, with all that they lead to.
    fn compile_linked(
        &mut self,
        engine: &Engine<'_>,
        mut linked: Vec<Linked>,
        mut wanted: Vec<(String, usize)>,
        others: Vec<Graph>,
    ) -> Result<Compiling, JitError> {
        let begun = Instant::now();
        let mut keys: FxIndexSet<String> = linked.iter().map(|one| one.graph.key.clone()).collect();
        let leads_to = |graph: &Graph| -> Vec<(String, usize)> {
            graph.called().chain(graph.entered()).map(|key| (key.to_owned(), 0)).collect()
        };
        wanted.extend(linked.iter().flat_map(|one| leads_to(&one.graph)));
        while let Some((key, since)) = wanted.pop() {
            let Some(at) = engine.fragment_of(&key) else { continue };
            if self.begun.contains(&key) || keys.contains(&key) || self.refused.contains(&key) {
                continue;
            }
            // What was made before is compiled apart, rather than copied into all that enters it.
            let apart = |k: &str| {
                self.begun.contains(k) || keys.contains(k) || engine.fragment_of(k).is_some_and(|at| at < since)
            };
            let one = engine.linked(at, Linking::but_for(&apart));
            wanted.extend(leads_to(&one.graph));
            linked.push(one);
            keys.insert(key);
        }
        self.linking += begun.elapsed();
        keys.extend(others.iter().map(|graph| graph.key.clone()));
        let done = self.compile_as_they_are(engine).and_then(|()| self.begin(engine, &keys, linked, others));
        match &done {
            Ok(_) => self.begun.extend(keys),
            Err(_) => self.refused.extend(keys),
        }
        done
    }

    /// Has the graphs of these keys optimized, but for the others, and compiled, here or in the background.
    fn begin(
        &mut self,
        engine: &Engine<'_>,
        keys: &FxIndexSet<String>,
        linked: Vec<Linked>,
        others: Vec<Graph>,
    ) -> Result<Compiling, JitError> {
        if keys.is_empty() {
            return Ok(Compiling::Done(Made::default()));
        }
        if !self.engine.is_in_background() {
            let optimized = Optimized::of(linked);
            let before = self.engine.code_bytes();
            let made = self.install(engine, optimized, others)?;
            return Ok(Compiling::Done(Made { bytes: self.engine.code_bytes() - before, ..made }));
        }
        self.batches += 1;
        let stage = Stage::Optimizing(self.optimize_aside(linked), others);
        self.under_way.push_back(UnderWay { number: self.batches, keys: keys.iter().cloned().collect(), stage });
        Ok(Compiling::UnderWay(self.batches))
    }

    /// Has graphs optimized on the thread that generates code, if there is one.
    fn optimize_aside(&self, linked: Vec<Linked>) -> Receiver<Optimized> {
        let (done, optimized) = sync_channel(1);
        let anybody = Arc::downgrade(&self.anybody);
        self.engine.aside(move || {
            // A batch that has been refused meanwhile is wanted no more; what comes behind it is.
            let _ = done.send(Optimized::of(linked));
            anybody.strong_count() > 0
        });
        optimized
    }

    /// Compiles functions that residual code calls as they are.
    fn compile_as_they_are(&mut self, engine: &Engine<'_>) -> Result<(), JitError> {
        let called = (engine.functions.as_they_are.len(), engine.hint_checks.len());
        if called == self.called_as_they_are {
            return Ok(());
        }
        self.called_as_they_are = called;
        let mut called = engine.functions_as_they_are();
        called.retain(|key| self.as_they_are.insert(key.clone()));
        let graphs = &engine.program.module.graphs;
        let mut new: Vec<&Graph> = called.iter().filter_map(|key| graphs.get(key)).collect();
        let checks = engine.hint_checks.iter().filter(|(key, _)| self.as_they_are.insert((*key).clone()));
        let checks: Vec<_> = checks.collect();
        new.extend(checks.iter().map(|(_, graph)| *graph));
        let tier = interpreter_tier();
        let batch =
            jitcodegen::Batch { graphs: &new, memory: &*engine.memory, tier: &tier, layout: None, entered: &|_| false };
        let begun = self.engine.begun();
        self.engine.compile_batch(batch)?;
        if self.engine.is_in_background() && self.engine.begun() > begun {
            let checks = checks.iter().map(|(key, _)| (*key).clone());
            let keys = called.iter().cloned().chain(checks).collect();
            self.as_they_are_under_way.insert(self.engine.begun(), keys);
        }
        Ok(())
    }

    /// Hands graphs to the code generator. Gives how much they are, but for their machine code.
    fn install(&mut self, engine: &Engine<'_>, optimized: Optimized, others: Vec<Graph>) -> Result<Made, CodegenError> {
        let Optimized { graphs, duration } = optimized;
        self.linking += duration;
        graphs.iter().for_each(|cleaned| *engine.firings.borrow_mut() += &cleaned.firings);
        let mut counting: Vec<Graph> = Vec::new();
        if self.instrument {
            counting.extend(graphs.iter().map(|cleaned| cleaned.for_machine().clone()));
            counting.iter_mut().for_each(forcing::instrument);
        }
        let own = graphs.iter().filter(|_| !self.instrument).map(Cleaned::for_machine).chain(&counting);
        let code: Vec<&Graph> = own.chain(&others).collect();
        self.engine.compile_parts(&code, engine.memory, &|key| !engine.begins_a_unit(key))?;
        let ops = graphs.iter().flat_map(|cleaned| &cleaned.graph.blocks).map(|block| block.ops.len()).sum();
        let made = Made { graphs: graphs.len(), ops, bytes: 0 };
        for cleaned in graphs {
            let key = cleaned.graph.key.clone();
            // Where rounds are copied, a guard may have gone that the graph still has.
            for exit in exits_of(cleaned.for_machine()) {
                let leaving = self.leaving.entry(exit).or_default();
                if !leaving.contains(&key) {
                    leaving.push(key.clone());
                }
                if let Some(target) = self.patched.get(&exit).cloned() {
                    self.patch_in_turn(Patch { graph: key.clone(), exit, target })?;
                }
            }
            self.graphs.insert(key, cleaned.graph);
        }
        Ok(made)
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

    /// A compiled graph, to be entered.
    ///
    /// # Errors
    /// If it isn't compiled.
    pub fn entry(&mut self, key: &str) -> Result<Rc<jitcodegen::Entry>, JitError> {
        // What is there stays as it is.
        if let Some(entry) = self.entered.as_ref().filter(|entry| entry.key() == key) {
            return Ok(entry.clone());
        }
        let entry = Rc::new(self.engine.entry(key)?);
        Ok(self.entered.insert(entry).clone())
    }

    /// Whether a graph can never be entered, since the code generator has refused it.
    pub fn is_refused(&self, key: &str) -> bool {
        self.refused.contains(key)
    }

    /// Whether the background has come further since this was asked last.
    pub fn has_news(&self) -> bool {
        self.engine.has_news()
    }

    /// Whether anything is made in the background.
    pub fn is_busy(&self) -> bool {
        !self.under_way.is_empty() || self.engine.under_way() > 0
    }

    /// Goes on with what is made in the background, and installs what has been compiled; waits for all of it, if it is
    /// to. Gives what was done.
    pub fn poll(&mut self, engine: &Engine<'_>, wait: bool) -> Result<Vec<Finished>, JitError> {
        let mut all = Vec::new();
        while self.is_busy() {
            let before = all.len();
            self.compile_optimized(engine, wait, &mut all);
            for finished in self.engine.poll(wait) {
                self.finish(finished, &mut all);
            }
            if !wait && all.len() == before {
                break;
            }
        }
        if !all.is_empty() {
            self.patch_what_is_ready()?;
        }
        Ok(all)
    }

    /// Has machine code made of what has been optimized, in the order in which it was begun.
    fn compile_optimized(&mut self, engine: &Engine<'_>, wait: bool, all: &mut Vec<Finished>) {
        let is_waiting = |batch: &UnderWay| matches!(batch.stage, Stage::Optimizing(..));
        while let Some(at) = self.under_way.iter().position(is_waiting) {
            let Stage::Optimizing(optimized, others) = &mut self.under_way[at].stage else { return };
            let optimized = match optimized.try_recv() {
                Err(TryRecvError::Empty) if !wait => return,
                Err(TryRecvError::Empty) => optimized.recv().ok(),
                Err(TryRecvError::Disconnected) => None,
                Ok(optimized) => Some(optimized),
            };
            let others = std::mem::take(others);
            let gone = || CodegenError::Machine("the thread that generates code is gone".to_owned());
            let duration = optimized.as_ref().map(|optimized| optimized.duration).unwrap_or_default();
            let begun = optimized.ok_or_else(gone).and_then(|optimized| self.install(engine, optimized, others));
            match begun {
                Ok(made) => self.under_way[at].stage = Stage::Compiling(self.engine.begun(), made, duration),
                Err(error) => {
                    self.refuse_from(at, error, all);
                    return;
                }
            }
        }
    }

    /// The code generator has finished a batch.
    fn finish(&mut self, finished: jitcodegen::Finished, all: &mut Vec<Finished>) {
        let jitcodegen::Finished { number, result, duration } = finished;
        let is_this = |batch: &mut UnderWay| matches!(batch.stage, Stage::Compiling(of, ..) if of == number);
        let Some(UnderWay { number, keys, stage: Stage::Compiling(_, made, before) }) =
            self.under_way.pop_front_if(is_this)
        else {
            let keys = self.as_they_are_under_way.remove(&number).unwrap_or_default();
            if let Err(CodegenError::BehindRefused) = result {
                // Nothing is wrong with them: whoever calls them next has them compiled.
                self.as_they_are.retain(|key| !keys.contains(key));
                self.called_as_they_are = (0, 0);
            }
            let result = result.map(|bytes| Made { bytes, ..Made::default() });
            all.push(Finished { number: None, result, duration });
            return;
        };
        if result.is_err() {
            self.forget(keys);
            let is_waiting = |batch: &UnderWay| matches!(batch.stage, Stage::Optimizing(..));
            if let Some(first) = self.under_way.iter().position(is_waiting) {
                self.refuse_from(first, CodegenError::BehindRefused, all);
            }
        }
        let result = result.map(|bytes| Made { bytes, ..made });
        all.push(Finished { number: Some(number), result, duration: before + duration });
    }

    /// Refuses the batch at a place among those under way, and all that have been begun since: they may refer to it.
    fn refuse_from(&mut self, at: usize, error: CodegenError, all: &mut Vec<Finished>) {
        let errors = [error].into_iter().chain(std::iter::repeat_with(|| CodegenError::BehindRefused));
        for (batch, error) in self.under_way.split_off(at).into_iter().zip(errors) {
            self.forget(batch.keys);
            all.push(Finished { number: Some(batch.number), result: Err(error), duration: Duration::ZERO });
        }
    }

    /// Forgets graphs that have been refused.
    fn forget(&mut self, keys: Vec<String>) {
        for key in keys {
            self.graphs.shift_remove(&key);
            self.begun.remove(&key);
            self.patched.retain(|_, target| *target != key);
            self.leaving.values_mut().for_each(|graphs| graphs.retain(|graph| *graph != key));
            self.later.retain(|patch| patch.graph != key && patch.target != key);
            self.refused.insert(key);
        }
    }

    /// Patches as soon as both graphs are there, behind what is to be patched before.
    fn patch_in_turn(&mut self, patch: Patch) -> Result<(), CodegenError> {
        if self.is_busy() {
            self.later.push(patch);
            return Ok(());
        }
        self.engine.patch(&patch.graph, patch.exit, &patch.target)
    }

    fn patch_what_is_ready(&mut self) -> Result<(), JitError> {
        for patch in std::mem::take(&mut self.later) {
            if self.is_ready(&patch.graph) && self.is_ready(&patch.target) {
                self.engine.patch(&patch.graph, patch.exit, &patch.target)?;
            } else {
                self.later.push(patch);
            }
        }
        Ok(())
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// A batch is refused with all that have been begun since, also one that is being optimized then. The thread goes
    /// on.
    #[test]
    fn what_is_refused_before_it_is_optimized_ends_no_thread() {
        let options = jitcodegen::Options { background: true, ..Default::default() };
        let code = Code::new(jitcodegen::Engine::new(options).expect("a code generator"), false);
        let (go_on, waits) = channel();
        code.engine.aside(move || waits.recv().is_ok());
        drop(code.optimize_aside(Vec::new()));
        let next = code.optimize_aside(Vec::new());
        go_on.send(()).expect("the thread waits");
        assert!(next.recv().is_ok_and(|optimized| optimized.graphs.is_empty()));
    }

    /// Functions that are called as they are, behind a batch that is refused, are compiled when they are called again;
    /// what is refused itself is not.
    #[test]
    fn functions_behind_what_is_refused_are_compiled_again() {
        let engine = jitcodegen::Engine::new(jitcodegen::Options::default()).expect("a code generator");
        let mut code = Code::new(engine, false);
        for (number, result, stays) in
            [(1, CodegenError::BehindRefused, false), (2, CodegenError::UnknownGraph("f".to_owned()), true)]
        {
            code.as_they_are = ["f".to_owned(), "g".to_owned()].into_iter().collect();
            code.called_as_they_are = (2, 0);
            code.as_they_are_under_way.insert(number, vec!["f".to_owned()]);
            let mut all = Vec::new();
            let finished = jitcodegen::Finished { number, result: Err(result), duration: Duration::ZERO };
            code.finish(finished, &mut all);
            assert!(matches!(&all[..], [Finished { number: None, result: Err(_), .. }]));
            assert!(code.as_they_are.contains("f") == stays && code.as_they_are.contains("g"), "{number}");
            assert_eq!(code.called_as_they_are != (0, 0), stays);
            assert!(code.as_they_are_under_way.is_empty());
        }
    }
}
