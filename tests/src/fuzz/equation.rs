//! The correctness equation on any bytes.

use crate::programs::{check_program, random_program};
use crate::{Case, check};
use flowgraph::testing::{Source, random_module};

/// Room for what recurses over generated graphs, as the tests of the equation have.
const STACK: usize = 64 << 20;

/// From this first byte on it is a program.
const PROGRAMS: usize = 160;

/// The first byte says of which generator the others are the choices: of random modules, and then it also chooses a
/// split into greens and reds; or of random programs in the dialect, with all their splits. What they make obeys the
/// equation. False if colors can't be had.
///
/// # Panics
/// If it doesn't.
pub fn equation(data: &[u8]) -> bool {
    let (first, bytes) = data.split_first().map_or((0, data), |(first, rest)| (usize::from(*first), rest));
    if first >= PROGRAMS { program(bytes) } else { module(first, bytes) }
}

fn module(split: usize, bytes: &[u8]) -> bool {
    let generated = random_module(&mut Source::new(bytes));
    let case = Case::generated(&generated, split % generated.splits.len());
    match on_large_stack(|| check(&case)) {
        Ok(done) => !done.refused,
        Err(difference) => panic!("{difference}\n{case}"),
    }
}

fn program(bytes: &[u8]) -> bool {
    let program = random_program(&mut Source::new(bytes));
    match on_large_stack(|| check_program(&program)) {
        Ok(done) => !done.refused,
        Err(fault) => panic!("{fault}\n{program}"),
    }
}

fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let thread = thread.unwrap_or_else(|e| panic!("the operating system gives no thread: {e}"));
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
