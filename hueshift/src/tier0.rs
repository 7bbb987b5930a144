//! The interpreter as rustc compiles it: what the macros put into the source, and catching its panics.
//!
//! The macros make four changes to a source, so that it means under rustc what it means in graphs (see
//! `docs/embedding.md`). Where one needs a function, it is here.

use crate::embed::{Interpreter, Trap};
use flowgraph::ir::{Module, Terminator, TrapKind};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, Location, PanicHookInfo, catch_unwind, resume_unwind, set_hook, take_hook};
use std::sync::Once;

/// Ends the run with the panic "stack exhausted" if little is left of the native stack: portals and recursive functions
/// begin with it, so that a guest's recursion can't crash the program.
///
/// # Panics
/// If little is left.
#[inline(always)]
#[track_caller]
pub fn check_stack() {
    let here = 0u8;
    if std::ptr::from_ref(&here).addr() < jitcodegen::native_stack_limit() {
        exhausted();
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn exhausted() -> ! {
    panic!("{}", TrapKind::StackExhausted.template())
}

/// What a caught panic said, and where.
#[derive(Clone, Debug)]
struct Caught {
    message: String,
    place: Option<(String, u32, u32)>,
}

thread_local! {
    /// How many [`catch`]es are around.
    static CATCHING: Cell<usize> = const { Cell::new(0) };
    /// There is a panic in [`CAUGHT`], which is slower to look at: it is dropped when the thread ends.
    static HAS_CAUGHT: Cell<bool> = const { Cell::new(false) };
    /// The panic that is on its way to a [`catch`].
    static CAUGHT: RefCell<Option<Caught>> = const { RefCell::new(None) };
    /// The panic that is on its way is hueshift's own.
    static BUG: Cell<bool> = const { Cell::new(false) };
}

/// Does something inside of a run of tier 0 that is not the guest's doing: its panic is a bug, and no trap.
pub(crate) fn outside<T>(f: impl FnOnce() -> T) -> T {
    struct Outside {
        catching: usize,
        // Not whether the thread is panicking: it may have been before.
        has_returned: bool,
    }
    impl Drop for Outside {
        fn drop(&mut self) {
            CATCHING.set(self.catching);
            BUG.set(!self.has_returned);
        }
    }
    let catching = CATCHING.take();
    let mut outside = Outside { catching, has_returned: false };
    let done = f();
    outside.has_returned = true;
    done
}

/// While a run is being caught, panics are not printed, but kept with their place. A thread that is panicking may not
/// say what is done with panics: a later run does.
#[inline]
fn install_hook() {
    static ONCE: Once = Once::new();
    if !ONCE.is_completed() {
        install_hook_once(&ONCE);
    }
}

#[cold]
fn install_hook_once(once: &Once) {
    if std::thread::panicking() {
        return;
    }
    once.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
            let caught = CAUGHT.try_with(|caught| {
                if CATCHING.get() == 0 {
                    return false;
                }
                let place = info.location().map(|at: &Location<'_>| (at.file().to_owned(), at.line(), at.column()));
                *caught.borrow_mut() = Some(Caught { message: message(info.payload()), place });
                HAS_CAUGHT.set(true);
                true
            });
            if !caught.unwrap_or(false) {
                before(info);
            }
        }));
    });
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without a message".to_owned())
}

/// Does something, and gives the message and the place of its panic if it panics, which is not printed. It is around
/// each call of a host function by compiled code, so it costs next to nothing where there is no panic.
#[inline]
fn quietly<T>(f: impl FnOnce() -> T) -> Result<T, Caught> {
    catching(f).map_err(|(payload, caught)| caught_panic(payload, caught))
}

/// A panic, and what it said and where as the hook has kept it.
type Panic = (Box<dyn Any + Send>, Option<Caught>);

#[inline]
fn catching<T>(f: impl FnOnce() -> T) -> Result<T, Panic> {
    install_hook();
    CATCHING.set(CATCHING.get() + 1);
    let result = catch_unwind(AssertUnwindSafe(f));
    CATCHING.set(CATCHING.get() - 1);
    // One that something in `f` has caught itself is of no interest.
    let caught = if HAS_CAUGHT.take() { CAUGHT.take() } else { None };
    result.map_err(|payload| (payload, caught))
}

/// What a panic said and where, as the hook has kept it. One that is hueshift's own goes on.
#[cold]
fn caught_panic(payload: Box<dyn Any + Send>, caught: Option<Caught>) -> Caught {
    match caught {
        _ if BUG.take() => resume_unwind(payload),
        Some(caught) => caught,
        None => Caught { message: message(&*payload), place: None },
    }
}

/// The message of a panic of `f`, instead of the panic.
///
/// # Errors
/// If it panics.
pub fn catch_message<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    quietly(f).map_err(|caught| caught.message)
}

/// The same where nothing may unwind: hueshift's own panics, too.
///
/// # Errors
/// If it panics.
#[inline]
pub(crate) fn catch_even_bugs<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    catching(f).map_err(|(payload, caught)| {
        let is_bug = BUG.take();
        let said = caught.map_or_else(|| message(&*payload), |caught| caught.message);
        if is_bug { format!("helper panicked: {said}") } else { said }
    })
}

/// Runs a function of an interpreter's tier 0. A panic becomes the [`Trap`] that it is in graphs: the kind by its
/// message and line, the message worded as there. The functions in the module `interp` of an interpreter are made with
/// it.
///
/// # Errors
/// If it panics.
#[inline]
pub fn catch<T>(interpreter: &Interpreter, f: impl FnOnce() -> T) -> Result<T, Trap> {
    quietly(f).map_err(|caught| trap_of(&caught, interpreter.module()))
}

/// The trap that a panic is.
fn trap_of(caught: &Caught, module: &Module) -> Trap {
    let (file, line, column) = caught.place.clone().unwrap_or_default();
    let (kind, message) = by_message(&caught.message).unwrap_or((TrapKind::Panic, caught.message.clone()));
    let traps = || {
        module.graphs.values().flat_map(|g| &g.blocks).filter_map(|b| match &b.term {
            Terminator::Trap(trap) => Some(trap),
            _ => None,
        })
    };
    // The author's own message may be that of several kinds; the line tells them apart.
    let own = traps().filter(|t| t.kind.has_message() && kind.has_message() && fits(t.message.as_deref(), &message));
    let own: Vec<_> = own.collect();
    let at_line = own.iter().find(|t| t.loc.line == line).or(own.first());
    let kind = at_line.map_or(kind, |t| t.kind);
    let name = |index: u16| module.files.get(index as usize).map(|f| f.name.clone()).unwrap_or_default();
    let known = module.files.iter().any(|f| !f.name.is_empty() && file.ends_with(&f.name));
    match (known, own.as_slice()) {
        (true, _) => Trap { kind, message, file, line, column },
        // Files that a macro has read have no places in rustc's eyes; a message that is there once has just one.
        (false, [trap]) => {
            Trap { kind, message, file: name(trap.loc.file.0), line: trap.loc.line, column: trap.loc.column }
        }
        (false, _) => Trap { kind, message, file: String::new(), line: 0, column: 0 },
    }
}

/// Whether a message can be what a template became.
fn fits(template: Option<&str>, message: &str) -> bool {
    let Some(template) = template else { return false };
    let plain = template.replace("{{", "\u{1}").replace("}}", "\u{2}");
    let mut parts = plain.split('{').enumerate().map(|(i, part)| match i {
        0 => part,
        _ => part.split_once('}').map_or("", |(_, rest)| rest),
    });
    let real = |part: &str| part.replace('\u{1}', "{").replace('\u{2}', "}");
    let Some(mut rest) = parts.next().and_then(|first| message.strip_prefix(&real(first))) else { return false };
    let mut holes = false;
    let mut last = String::new();
    for part in parts {
        holes = true;
        last = real(part);
        match rest.find(&last) {
            Some(at) => rest = &rest[at + last.len()..],
            None => return false,
        }
    }
    rest.is_empty() || (holes && last.is_empty())
}

/// The kind of a trap whose wording is fixed, and that wording. Rust's own may have more to say.
fn by_message(message: &str) -> Option<(TrapKind, String)> {
    let kinds = TrapKind::ALL.iter().filter(|kind| !kind.has_message());
    kinds.copied().find(|kind| fits(Some(kind.template()), message)).map(|kind| (kind, message.to_owned()))
}

/// The functions of the bundled mathematics library, as methods of `f64` call them: the same on every machine and in
/// every tier, which those of std are not.
pub mod f64 {
    super::mathematics!(f64, Type::Float, to_bits, from_bits);
    pub use flowgraph::math::{max, min};
}

/// The functions of the bundled mathematics library, as methods of `f32` call them.
pub mod f32 {
    super::mathematics!(f32, Type::Single, to_bits, from_bits);
    pub use flowgraph::math::{max_f32 as max, min_f32 as min};
}

macro_rules! mathematics {
    ($float:ident, $ty:expr, $to:ident, $from:ident) => {
        use flowgraph::ir::Type;
        use flowgraph::math::{Function, method};
        use std::sync::LazyLock;

        /// The function that the method `name` is. The macros only name those that there are.
        fn find(name: &str) -> &'static Function {
            match method(name, $ty) {
                Some(function) => function,
                None => unreachable!("the mathematics library has no `{name}`"),
            }
        }

        super::mathematics! { @one $float $to $from: exp exp2 exp_m1 ln ln_1p log2 log10 sin cos tan asin acos atan sinh
            cosh tanh asinh acosh atanh cbrt round }
        super::mathematics! { @two $float $to $from: atan2 hypot powf }

        /// The method of this name.
        pub fn powi(x: $float, n: i32) -> $float {
            super::mathematics!(@call $float $from "powi", [x.$to().into(), i64::from(n) as u64])
        }
    };
    (@one $float:ident $to:ident $from:ident: $($name:ident)*) => {$(
        /// The method of this name.
        pub fn $name(x: $float) -> $float {
            super::mathematics!(@call $float $from stringify!($name), [x.$to().into()])
        }
    )*};
    (@two $float:ident $to:ident $from:ident: $($name:ident)*) => {$(
        /// The method of this name.
        pub fn $name(x: $float, y: $float) -> $float {
            super::mathematics!(@call $float $from stringify!($name), [x.$to().into(), y.$to().into()])
        }
    )*};
    (@call $float:ident $from:ident $name:expr, $words:expr) => {{
        static FUNCTION: LazyLock<&Function> = LazyLock::new(|| find($name));
        $float::$from(FUNCTION.compute(&$words) as _)
    }};
}
use mathematics;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_fit_their_templates() {
        let (kind, _) = by_message("index out of bounds: the len is 3 but the index is 7").unwrap();
        assert_eq!(kind, TrapKind::IndexOutOfBounds);
        assert_eq!(by_message("attempt to divide by zero").unwrap().0, TrapKind::DivideByZero);
        assert_eq!(by_message("unknown opcode 7"), None);
        assert!(fits(Some("unknown opcode {}"), "unknown opcode 7"));
        assert!(fits(Some("{{{}}}"), "{7}"));
        assert!(!fits(Some("a {} b"), "a 7"));
        assert!(!fits(Some("a"), "a 7"));
    }

    #[test]
    fn panics_are_caught_with_their_message() {
        let caught = quietly(|| panic!("number {}", 7)).map(|()| 0).unwrap_err();
        assert_eq!(caught.message, "number 7");
        assert!(caught.place.is_some_and(|(file, ..)| file.ends_with("tier0.rs")));
        assert_eq!(catch_message(|| 5), Ok(5));
    }

    #[test]
    fn mathematics_is_the_library() {
        assert_eq!(super::f64::powi(2.0, -2), 0.25);
        assert_eq!(super::f32::round(2.5), 3.0);
        assert_eq!(super::f64::hypot(3.0, 4.0), 5.0);
    }
}
