use hueshift::prelude::*;

// A matcher that is driven by the table of a deterministic finite automaton.

/// A state of the automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// A match ends here.
    pub accepts: bool,
    /// One ends here if the text does.
    pub accepts_at_end: bool,
    /// No match is possible any more.
    pub dead: bool,
    /// The first of its ranges.
    pub first: usize,
    /// The last of them, which ends with byte 255.
    pub last: usize,
}

/// Where bytes lead: those up to `to` that no range before it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The greatest byte.
    pub to: u8,
    /// The state that they lead to.
    pub next: usize,
}

#[portal(greens(states, ranges, state), reds(text, at))]
fn run(states: &[State], ranges: &[Range], mut state: usize, text: &[u8], mut at: usize) -> i64 {
    loop {
        merge_point!();
        if states[state].accepts {
            return at as i64;
        }
        if states[state].dead {
            return -1;
        }
        if at >= text.len() {
            return if states[state].accepts_at_end { at as i64 } else { -1 };
        }
        let byte = text[at];
        at += 1;
        let mut i = states[state].first;
        while i < states[state].last && byte > ranges[i].to {
            i += 1;
        }
        state = ranges[i].next;
        can_enter_jit!();
    }
}

/// Where the match ends that ends first, or -1 if there is none.
pub fn regex(states: &[State], ranges: &[Range], text: &[u8]) -> i64 {
    run(states, ranges, 0, text, 0)
}
