//! Passages: how the interpreter enters a version again that it has entered before.
//!
//! To find the version that an arrival implies, a state is made of all its frames. Behind the exits of inlined calls
//! the interpreter comes to the same merge points again and again, several frames deep; so it is kept which registers
//! were the fragment's parameters, and what the version wants of them. (For the one frame that tier 0 brings there are
//! [`Door`](super::portal::Door)s, which know more when they are made, since such a frame holds arguments alone.)

use crate::specialize::engine::Engine;
use crate::specialize::exits::resume::Entrance;
use crate::specialize::state::memory::{Origin, RootId};
use crate::specialize::state::{Red, Reg, State};
use bounds::IntBound;
use flowgraph::eval;
use flowgraph::ir::{Const, Type, ValueId, Word};
use rustc_hash::FxHashMap;
use std::cell::Cell;

/// A register of the interpreter's frames: how deep, and which value.
type Place = (usize, ValueId);

/// More are not kept: then all are forgotten.
const MOST: usize = 4096;

/// The passages.
#[derive(Debug, Default)]
pub(crate) struct Passages {
    /// By the hash of where frames stand and of their greens.
    kept: FxHashMap<u64, Passage>,
    /// How many arrivals have gone by one.
    taken: Cell<u64>,
}

/// How arrivals enter a version, if they stand where one has stood, and have the greens that it had.
#[derive(Debug)]
pub(crate) struct Passage {
    /// Graph, block and op of each frame.
    stands: Vec<(usize, usize, usize)>,
    greens: Vec<(Place, Word)>,
    /// The version's key had become another so often.
    changes: u32,
    entrance: Entrance,
    /// Where the words of the fragment's parameters are.
    params: Vec<Place>,
    constants: Vec<(Place, Word)>,
    /// The same parameter.
    equal: Vec<(Place, Place)>,
    /// What the version wants a word to be in, and in what it is in any run.
    bounds: Vec<(Place, IntBound, IntBound)>,
    origins: Vec<(Place, Origin)>,
    roots: Vec<(RootId, Place)>,
    /// What may lead anywhere.
    anywhere: Vec<Place>,
}

fn word(frames: &[eval::Frame], (depth, value): Place) -> Word {
    frames[depth].regs[value.index()]
}

/// Whether arrivals are told apart by nothing but the words of their frames.
fn is_plain(engine: &Engine<'_>, frames: &[eval::Frame]) -> bool {
    let has_locals = !engine.run.locals.is_empty() || frames.iter().any(|frame| !frame.slots.is_empty());
    !has_locals && !engine.program.references_in_memory
}

impl Engine<'_> {
    /// How many arrivals from the interpreter have entered a version as others before them.
    pub fn passages_taken(&self) -> u64 {
        self.arrivals.passages.taken.get()
    }

    /// Where these frames, which have this hash, go on in compiled code, if such have been there before.
    pub(crate) fn by_passage(&self, hash: u64, frames: &[eval::Frame]) -> Option<Entrance> {
        let passage = self.arrivals.passages.kept.get(&hash)?;
        let here = frames.iter().map(|frame| (frame.graph, frame.block, frame.index));
        if !passage.stands.iter().copied().eq(here)
            || passage.changes != self.changes_of(passage.entrance.version.key)
            || !is_plain(self, frames)
        {
            return None;
        }
        let at = |place: Place| word(frames, place);
        let are = |words: &[(Place, Word)]| words.iter().all(|(place, word)| at(*place) == *word);
        let is_in = |word: Word, bound: &IntBound| bound.contains(word as i64);
        let fits = are(&passage.greens)
            && are(&passage.constants)
            && passage.equal.iter().all(|(a, b)| at(*a) == at(*b))
            && passage.bounds.iter().all(|(place, wanted, any)| is_in(at(*place), wanted) || !is_in(at(*place), any));
        // What is `None` leads nowhere.
        let root_at =
            |word: Word| self.run.exclusive.iter().find(|(_, at)| *at == word && word != 0).map(|(root, _)| *root);
        let leads_anywhere =
            |word: Word| passage.anywhere.iter().any(|place| at(*place) == word) && self.memory.may_be_address(word);
        let comes_from = |word: Word, wanted: &Origin| match (wanted, root_at(word)) {
            (Origin::Root(wanted), root) => root == Some(wanted.root) && wanted.offset.is_none_or(|offset| offset == 0),
            (Origin::Outside, root) => root.is_none() && !leads_anywhere(word),
            (Origin::Unknown, _) => true,
        };
        let fits = fits
            && passage.origins.iter().all(|(place, wanted)| comes_from(at(*place), wanted))
            && passage.roots.iter().all(|(root, place)| root_at(at(*place)) == Some(*root));
        if !fits {
            return None;
        }
        self.arrivals.passages.taken.set(self.arrivals.passages.taken.get() + 1);
        let words = passage.params.iter().map(|place| at(*place)).collect();
        Some(Entrance { words, ..passage.entrance.clone() })
    }

    /// Keeps how these frames, which have this hash, enter a version, if their words are all that it depends on.
    pub(crate) fn keep_passage(&mut self, hash: u64, frames: &[eval::Frame], entrance: &Entrance) {
        if let Some(passage) = self.passage(frames, entrance) {
            if self.arrivals.passages.kept.len() >= MOST {
                self.arrivals.passages.kept.clear();
            }
            self.arrivals.passages.kept.insert(hash, passage);
        }
    }

    fn passage(&self, frames: &[eval::Frame], entrance: &Entrance) -> Option<Passage> {
        let id = entrance.version;
        let version = self.version(id);
        let template: &State = &version.template;
        // Those that are asked before it want what no arrival has.
        let newer = &self.versions[id.key][id.version + 1..];
        let has_none = |template: &State| template.slots.is_empty() && template.memory.places.is_empty();
        if !is_plain(self, frames) || !has_none(template) || newer.iter().any(|version| has_none(&version.template)) {
            return None;
        }
        let (mut constants, mut equal, mut bounds, mut origins) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut greens, mut places) = (Vec::new(), FxHashMap::<ValueId, Place>::default());
        for (depth, frame) in template.frames.iter().enumerate() {
            let graph = self.program.graph(frame.graph);
            for (value, reg) in frame.regs.iter() {
                let place = (depth, *value);
                match reg {
                    Reg::Green(_) => greens.push((place, word(frames, place))),
                    Reg::Red(Red::Const(Const::Addr(..)) | Red::Slot(..)) => return None,
                    Reg::Red(Red::Const(constant)) => {
                        if constant.ty() != graph.values[value.index()].ty {
                            return None;
                        }
                        constants.push((place, self.memory.resolve(*constant)));
                    }
                    Reg::Red(Red::Value(param)) => {
                        if let Some(first) = places.get(param) {
                            equal.push((*first, place));
                            continue;
                        }
                        places.insert(*param, place);
                        let info = self.fragments[version.fragment].info(*param);
                        if info.origin != Origin::Unknown && graph.values[value.index()].ty == Type::Int {
                            origins.push((place, info.origin));
                        }
                        let any = self.in_any_run(template, *param);
                        if !any.implies(info.bound) {
                            bounds.push((place, info.bound, any));
                        }
                    }
                }
            }
        }
        let root = |(root, wanted): (&RootId, &Red)| match wanted {
            Red::Value(param) => Some((*root, *places.get(param)?)),
            _ => None,
        };
        let roots = template.memory.roots.iter().map(root).collect::<Option<Vec<_>>>()?;
        let params = &self.fragments[version.fragment].graph.block(version.block).params;
        let params = params.iter().map(|param| places.get(param).copied()).collect::<Option<Vec<Place>>>()?;
        Some(Passage {
            stands: frames.iter().map(|frame| (frame.graph, frame.block, frame.index)).collect(),
            greens,
            changes: self.changes_of(id.key),
            entrance: Entrance { words: Vec::new(), ..entrance.clone() },
            params,
            constants,
            equal,
            bounds,
            origins,
            roots,
            anywhere: self.anywhere_places(frames),
        })
    }
}
