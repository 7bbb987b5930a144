//! What happens while specializing, as facts: for logs, and for those who ask why something is slow.
//!
//! An event names its source line and the *guest position* at which it happened: the merge point that was passed last,
//! with the greens that it had there. Positions are kept once each, so that an event is small; [`Engine::green_key`] is
//! one for people: `pc=12`. Whoever drives the engine takes the events out of it; there is room for [`EVENTS`].

use crate::specialize::engine::Engine;
use crate::specialize::engine::FxIndexMap;
use crate::specialize::state::key::{KeyFrame, KeyFrameOf};
use crate::specialize::state::{Frame, State};
use crate::specialize::step::show_const;
use flowgraph::ir::{Const, DataId, Graph, Loc, Opcode, Operand, Scalar, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt::Write;

/// So many events the engine keeps until they are taken.
pub const EVENTS: usize = 10_000;

/// Where in the guest program: an index into [`Log::positions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GuestPosition(pub u32);

impl GuestPosition {
    /// Nowhere.
    pub const NONE: GuestPosition = GuestPosition(u32::MAX);
}

/// What happened, and where.
#[derive(Debug, Default)]
pub struct Log {
    /// What happened, until it is taken.
    pub events: Vec<Event>,
    /// How many events there was no room for.
    pub lost: u64,
    /// The guest positions that events and fragments name, with their greens for people as soon as somebody has asked.
    pub positions: FxIndexMap<KeyFrame, OnceCell<String>>,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What.
    pub what: What,
    /// The source line.
    pub loc: Loc,
    /// The guest position.
    pub at: GuestPosition,
}

/// What happened. Every limit has a defined outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A join was reached with more than [`Limits::join_tuples`](super::Limits::join_tuples) tuples of greens: it goes
    /// on in the all-red twin.
    JoinCapped {
        /// The green that took the most values.
        green: String,
    },
    /// More than [`Limits::residual_ops`](super::Limits::residual_ops) ops: what is left goes on in the all-red twin.
    CodeLimit,
    /// Inlining reached [`Limits::inline_depth`](super::Limits::inline_depth): a call is emitted instead.
    InlineDepth {
        /// The callee.
        function: String,
    },
    /// A promotion in a function that is called, which has no exits: with values of which nothing is known it goes on
    /// in the all-red twin.
    PromotedInCall {
        /// The function.
        function: String,
        /// The variable that is promoted, in it or in what is copied into it, if it is one.
        variable: Option<String>,
    },
    /// A version was made less specific so that the next arrival fits.
    Widened {
        /// How many versions of the key there were before.
        versions: usize,
        /// There were so many that this one has no constants and facts at all.
        top: bool,
        /// The variables that had a constant in the version before and have none in this one.
        forgotten: Vec<String>,
    },
    /// A trace begins.
    TraceBegun {
        /// Of what.
        of: Beginning,
    },
    /// A trace has come to a loop that is known from elsewhere, and was specialized with all its ways.
    KnownLoop {
        /// How many ops it has.
        ops: usize,
    },
    /// A loop could not be specialized again as a region.
    RegionRefused {
        /// Why.
        reason: String,
    },
    /// A trace was stopped.
    TraceStopped(Stop),
    /// A trace has come to where it can go on in a version that is there.
    Closed {
        /// The fragment of the version.
        fragment: String,
        /// The trace has made the version itself: it is a loop.
        is_loop: bool,
    },
    /// A trace has promoted the value that it saw.
    Promoted {
        /// The value.
        value: i64,
        /// The exit that other values take.
        exit: u32,
    },
}

/// Where a trace begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// At the entry.
    Entry,
    /// At a merge point that the interpreter has come to often.
    MergePoint,
    /// At this exit: a bridge.
    Bridge(u32),
    /// At the promotion of this exit, for this value.
    Case(u32, i64),
}

/// Why a trace was stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// [`Settings::abort_at`](super::Settings::abort_at) is this step.
    Asked(u64),
    /// Chaos has it stopped at this step.
    Chaos(u64),
    /// It went past [`Limits::trace_steps`](super::Limits::trace_steps).
    TooLong,
    /// It took as many steps that leave nothing to run as [`Limits::green_steps`](super::Limits::green_steps).
    Quiet,
    /// It went past [`Limits::unrolled_ops`](super::Limits::unrolled_ops).
    TooLarge,
    /// The function that is called next could not be specialized, for this reason, which lies there if that is known.
    Call(String, Loc),
}

/// A green of a guest position.
struct Listed<'m> {
    name: Option<Cow<'m, str>>,
    constant: Const,
    scalar: Option<Scalar>,
}

impl<'m> Engine<'m> {
    /// Something happens at a state's position.
    pub(crate) fn happened(&mut self, what: What, st: &State) {
        let loc = self.loc(st);
        self.happened_at(what, st, loc);
    }

    /// Something happens at a line.
    pub(crate) fn happened_at(&mut self, what: What, st: &State, loc: Loc) {
        let loc = if loc.is_known() { loc } else { self.loc(st) };
        if self.log.events.len() < EVENTS {
            let at = self.guest_position(st);
            self.log.events.push(Event { what, loc, at });
        } else {
            self.log.lost += 1;
        }
    }

    /// Where in the guest program a state is: at the merge point that it has passed last, or else where it stands.
    pub fn guest_position(&mut self, st: &State) -> GuestPosition {
        match (st.at, st.frames.last()) {
            (Some(at), _) => at,
            (None, None) => GuestPosition::NONE,
            (None, Some(frame)) => self.position(frame),
        }
    }

    /// The state, which is trimmed, stands at a merge point of the language.
    pub(crate) fn stand_at(&mut self, st: &mut State) {
        if let Some(frame) = st.frames.last() {
            st.at = Some(self.position(frame));
        }
    }

    fn position(&mut self, frame: &Frame) -> GuestPosition {
        let here = KeyFrameOf(frame);
        let index = self.log.positions.get_index_of(&here);
        let index = index.unwrap_or_else(|| self.log.positions.insert_full(here.make(), OnceCell::new()).0);
        GuestPosition(index as u32)
    }

    /// The source line of a guest position.
    pub fn loc_of(&self, at: GuestPosition) -> Loc {
        let Some((frame, _)) = self.log.positions.get_index(at.0 as usize) else { return Loc::UNKNOWN };
        let graph = self.program.graph(frame.graph);
        let Some(block) = graph.blocks.get(frame.block.index()) else { return Loc::UNKNOWN };
        let ops = block.ops.get(frame.index as usize..).unwrap_or_default();
        let mut locs = ops.iter().map(|op| op.loc).chain([block.loc, graph.loc]);
        locs.find(|loc| loc.is_known()).unwrap_or_default()
    }

    /// The greens at a guest position by name and value, for people: `pc=12`. At a merge point they are those that the
    /// portal lists, and the `#[green]` fields behind its parameters; references are left with their names, and so are
    /// what they refer to.
    pub fn green_key(&self, at: GuestPosition) -> &str {
        let position = self.log.positions.get_index(at.0 as usize);
        position.map_or("", |(frame, key)| key.get_or_init(|| self.show_greens(frame)))
    }

    fn show_greens(&self, frame: &KeyFrame) -> String {
        let graph = self.program.graph(frame.graph);
        let op = graph.blocks.get(frame.block.index()).and_then(|block| block.ops.get(frame.index as usize));
        let named = |value: ValueId| self.program.variable(frame.graph, value).map(Cow::Borrowed);
        let listed: Vec<Listed<'_>> = match op {
            Some(op) if op.opcode == Opcode::MergePoint => {
                let green = |value: ValueId| frame.greens.iter().find(|(own, _)| *own == value).map(|(_, c)| *c);
                let listed = |(arg, (name, scalar)): (&Operand, _)| {
                    let value = arg.value()?;
                    Some(Listed { name: Option::or(name, named(value)), constant: green(value)?, scalar })
                };
                op.args.iter().zip(self.portal_names(graph)).filter_map(listed).collect()
            }
            _ => {
                let leaves = graph.signature.params.iter().flat_map(|param| self.program.module.leaves(&param.ty));
                let scalars: FxHashMap<ValueId, Scalar> =
                    graph.entry_params().iter().copied().zip(leaves.map(|leaf| leaf.scalar)).collect();
                let listed = |(value, green): &(ValueId, Const)| {
                    let scalar = scalars.get(value).copied();
                    Listed { name: named(*value), constant: *green, scalar }
                };
                frame.greens.iter().map(listed).collect()
            }
        };
        let (mut shown, mut names) = (String::new(), SmallVec::<[Cow<'_, str>; 8]>::new());
        for Listed { name, constant, scalar } in listed {
            // A value without a name says nothing to people, and how long what a reference leads to is nothing new.
            let Some(name) = name else { continue };
            if names.iter().any(|own| name == *own || name.strip_prefix(&**own) == Some(".len")) {
                continue;
            }
            let data = |data: DataId| self.program.module.data.get(data.0 as usize).map(|data| &data.name);
            let word = |word: i64| scalar.map_or_else(|| word.to_string(), |scalar| scalar.debug(word as u64));
            let comma = if shown.is_empty() { "" } else { ", " };
            let _ = match constant {
                Const::Addr(at, offset) => match (data(at), offset) {
                    (Some(data), 0) if **data != *name => write!(shown, "{comma}{name}=&{data}"),
                    (None, _) | (_, 0) => write!(shown, "{comma}{name}"),
                    (Some(data), offset) => write!(shown, "{comma}{name}=&{data}+{offset}"),
                },
                Const::Int(green) => write!(shown, "{comma}{name}={}", word(green)),
                constant => write!(shown, "{comma}{name}={}", show_const(constant)),
            };
            names.push(name);
        }
        shown
    }

    /// The operands of a merge point of the language: those that are parameters of the portal, and so have their names
    /// whatever else is called so; then the `#[green]` fields behind them.
    fn portal_names(&self, graph: &'m Graph) -> impl Iterator<Item = (Option<Cow<'m, str>>, Option<Scalar>)> {
        let module = self.program.module;
        let leaves = graph.signature.params.iter().flat_map(|param| module.leaves(&param.ty));
        let scalars = leaves.map(|leaf| leaf.scalar);
        let params = graph.params.iter().zip(scalars).map(|(name, scalar)| (Some(name.as_str().into()), Some(scalar)));
        let fields = module.key_fields(&graph.signature).into_iter();
        let fields = fields.map(|field| (Some(field.path.into()), Some(field.scalar)));
        params.chain(fields).chain(std::iter::repeat((None, None)))
    }
}
