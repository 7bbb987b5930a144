//! A smaller program that fails in the same way: fewer bytes to draw it from, fewer choices made otherwise, fewer runs.

use super::{GuestCase, Program, Settings, check};
use timeshifter::specialize::{choices_of, without};

/// So many smaller ones are tried.
const TRIES: usize = 300;

/// Makes a case that fails smaller. `bytes` are those that its program was drawn from.
pub fn shrink(case: &GuestCase, bytes: &[u8]) -> GuestCase {
    let mut small = case.clone();
    let mut tries = TRIES;
    let mut fails = |case: &GuestCase, program: Program| {
        tries = tries.saturating_sub(1);
        let case = GuestCase { program, ..case.clone() };
        (tries > 0 && check(&case.program, &[(case.tier, case.settings)]).is_err()).then_some(case)
    };
    let mut bytes = bytes.to_vec();
    let mut length = bytes.len().next_power_of_two() / 2;
    while length > 0 {
        let mut at = 0;
        while at < bytes.len() {
            let end = (at + length).min(bytes.len());
            let mut shorter = bytes.clone();
            shorter.drain(at..end);
            let mut zeros = bytes.clone();
            zeros[at..end].fill(0);
            let simpler = [shorter, zeros].into_iter().filter(|simpler| *simpler != bytes);
            let found = simpler.into_iter().find_map(|simpler| {
                let case = fails(case, Program::drawn(case.program.language, &simpler))?;
                Some((case, simpler))
            });
            match found {
                Some((case, simpler)) => (small, bytes) = (case, simpler),
                None => at += length,
            }
        }
        length /= 2;
    }
    for choice in choices_of(case.settings.chaos) {
        let settings = Settings { chaos: without(small.settings.chaos, choice), ..small.settings };
        if case.settings.chaos != 0 && check(&small.program, &[(small.tier, settings)]).is_err() {
            small.settings = settings;
        }
    }
    let case = small.clone();
    for at in (0..small.program.runs.len()).rev() {
        let mut program = small.program.clone();
        program.runs.remove(at);
        if !program.runs.is_empty()
            && let Some(case) = fails(&case, program)
        {
            small = case;
        }
    }
    small
}
