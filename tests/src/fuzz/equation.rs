//! The correctness equation on any bytes.

use crate::{Case, check};
use flowgraph::testing::{Source, random_module};

/// Room for what recurses over generated graphs, as the tests of the equation have.
const STACK: usize = 64 << 20;

/// The first byte chooses a split into greens and reds, the others are the choices of the generator of random modules: the
/// case obeys the equation. False if its colors can't be had.
///
/// # Panics
/// If it doesn't.
pub fn equation(data: &[u8]) -> bool {
    let (split, bytes) = data.split_first().map_or((0, data), |(first, rest)| (usize::from(*first), rest));
    let generated = random_module(&mut Source::new(bytes));
    let case = Case::generated(&generated, split % generated.splits.len());
    match on_large_stack(|| check(&case)) {
        Ok(done) => !done.refused,
        Err(difference) => panic!("{difference}\n{case}"),
    }
}

fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let thread = thread.unwrap_or_else(|e| panic!("the operating system gives no thread: {e}"));
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
