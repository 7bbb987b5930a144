//! The engine's facts as events.

use super::{Event, Place, Reason, What};
use flowgraph::ir::Loc;
use timeshifter::specialize::{self, Engine, GuestPosition, Limits, Stop};

/// Where something happens: in the guest program, and in the interpreter's source.
pub type At = (GuestPosition, Loc);

/// An event of an engine at this time, which took no time.
pub fn event(engine: &Engine<'_>, (what, reason): (What, Reason), (position, loc): At, us: u64) -> Event {
    let key = engine.green_key(position).to_owned();
    let at = Place::of(loc, &engine.program.module.files);
    Event { us, what, reason, key, at, duration_us: None, compiler: 0 }
}

/// A fact of an engine, as users see it; nothing for the beginning of a trace, which is told with its end.
pub fn told(fact: specialize::What, limits: &Limits) -> Option<(What, Reason)> {
    use specialize::What as Fact;
    let limit = |limit: u64, name: Option<String>| What::Limit { limit, name, exit: None };
    Some(match fact {
        Fact::JoinCapped { green } => (limit(limits.join_tuples as u64, Some(green)), Reason::JoinTuples),
        Fact::CodeLimit => (limit(limits.residual_ops as u64, None), Reason::ResidualOps),
        Fact::InlineDepth { function } => (limit(limits.inline_depth as u64, Some(function)), Reason::InlineDepth),
        Fact::PromotedInCall { function, variable } => {
            let promoted = variable.map_or("a value".to_owned(), |variable| format!("`{variable}`"));
            let message =
                format!("{promoted} is promoted in `{function}`, or in what is copied into it, which is called");
            (What::Refused { message }, Reason::PromotedInCall)
        }
        Fact::TraceStopped(Stop::TooLong) => (limit(limits.trace_steps, None), Reason::TraceSteps),
        Fact::TraceStopped(Stop::TooLarge) => (limit(limits.unrolled_ops as u64, None), Reason::UnrolledOps),
        Fact::TraceStopped(Stop::Quiet) => (limit(limits.green_steps, None), Reason::GreenSteps),
        Fact::TraceStopped(Stop::Asked(step)) => (limit(step, None), Reason::AbortAt),
        Fact::TraceStopped(Stop::Chaos(step)) => (limit(step, None), Reason::Chaos),
        Fact::TraceStopped(Stop::Call(message, _)) => (What::Refused { message }, Reason::CallRefused),
        Fact::KnownLoop { ops } => (What::Region { ops, steps: 0 }, Reason::KnownLoop),
        Fact::RegionRefused { reason } => (What::Refused { message: reason }, Reason::RegionRefused),
        Fact::Widened { versions, top, forgotten: variables } => {
            let reason = if top { Reason::TooManyVersions } else { Reason::ArrivalDiffers };
            (What::Widened { versions, variables }, reason)
        }
        Fact::Closed { fragment, is_loop: true } => (What::Closed { graph: fragment }, Reason::LoopClosed),
        Fact::Closed { fragment, is_loop: false } => (What::Closed { graph: fragment }, Reason::JoinedCode),
        Fact::Promoted { value, exit } => (What::Promoted { exit, value, cases: 1, seen: 1 }, Reason::FirstValue),
        Fact::TraceBegun { .. } => return None,
    })
}

/// All that an engine has to tell, taken out of it.
pub fn all(engine: &mut Engine<'_>) -> Vec<Event> {
    let facts = std::mem::take(&mut engine.log.events);
    let told = |fact: specialize::Event| Some(event(engine, told(fact.what, &engine.limits)?, (fact.at, fact.loc), 0));
    facts.into_iter().filter_map(told).collect()
}
