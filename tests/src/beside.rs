//! Rust beside the graphs: what a function does as rustc has compiled it, panics included.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// The end of a call: the result as `{:?}` prints it, or a panic's message and line (0: it was somewhere in std).
pub type End = Result<String, (String, u32)>;

thread_local! {
    /// Whether panics are kept, and the last one's line.
    static KEPT: RefCell<Option<u32>> = const { RefCell::new(None) };
}

/// Carries out a call. Its panic is not printed.
pub fn ended(call: impl FnOnce() -> String) -> End {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            // Not every build of the standard library tells who has called it.
            let own = info.location().filter(|at| !at.file().contains("/rustc") && !at.file().contains("library/"));
            let keep = |line: &mut u32| *line = own.map_or(0, |at| at.line());
            if KEPT.with_borrow_mut(|kept| kept.as_mut().map(keep)).is_none() {
                usual(info);
            }
        }));
    });
    KEPT.set(Some(0));
    let done = catch_unwind(AssertUnwindSafe(call));
    let line = KEPT.take().unwrap_or_default();
    done.map_err(|payload| (message(&*payload), line))
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
}
