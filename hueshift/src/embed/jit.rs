//! Compiling entries of an embedded interpreter, and running them.

use super::compiled::Compiled;
use super::interpreter::{Entry, Interpreter};
use super::tiers::Tiers;
use super::trap::Trap;
use crate::compiler::{CompileError, Compiler};
use crate::events::{Event, Recorder};
use crate::golden::Golden;
use crate::jit::telling::largest_first;
use crate::jit::{JitError, JitOptions, Size, Stats};
use crate::spec::Specialized;
use flowgraph::eval::Outcome;
use flowgraph::ir::Word;
use flowgraph::memory::BadAccess;
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::rc::Rc;
use std::time::Duration;
use timeshifter::specialize::FxIndexMap;

/// Why a call of compiled code gives no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The guest's run has trapped.
    #[error(transparent)]
    Trap(#[from] Trap),
    /// There can't be a compiler for the entry: something must be green that isn't.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// Specializing or generating code stopped, at a limit or because of a bug.
    #[error(transparent)]
    Jit(#[from] JitError),
    /// A reference in the greens leads to no memory.
    #[error("a reference among the greens leads nowhere: {0}")]
    Greens(#[from] BadAccess),
    /// The interpreter has no such entry.
    #[error("`{interpreter}` has no entry `{function}`; there are: {}", .entries.join(", "))]
    NoEntry {
        /// The interpreter.
        interpreter: &'static str,
        /// What was asked for.
        function: String,
        /// What there is.
        entries: Vec<&'static str>,
    },
    /// The entry belongs to another interpreter than the `Jit`.
    #[error("this `Jit` was made for `{jit}`, not for `{interpreter}`")]
    OtherInterpreter {
        /// The `Jit`'s.
        jit: &'static str,
        /// The entry's.
        interpreter: &'static str,
    },
    /// The arguments, given as text, don't fit.
    #[error(transparent)]
    Arguments(#[from] flowgraph::value::ArgumentError),
}

impl Error {
    /// The trap, if it is one.
    pub fn trap(&self) -> Option<&Trap> {
        match self {
            Error::Trap(trap) => Some(trap),
            _ => None,
        }
    }
}

/// Compiled code of one interpreter, which depends on greens that are borrowed for `'p`.
///
/// The functions in the module `jit` of an interpreter take it. The first call with some greens compiles, ahead of the
/// run; later ones with the same (the same scalars, and the same places in memory) run what is there. A `Jit` belongs
/// to one thread; a program may have any number.
pub struct Jit<'p> {
    interpreter: &'static Interpreter,
    pub(super) options: JitOptions,
    compilers: FxHashMap<&'static str, Rc<Compiler>>,
    compiled: FxIndexMap<Key, Compiled>,
    pub(super) tiers: Tiers,
    pub(super) events: Recorder,
    /// Greens are borrowed for exactly `'p`: a `Jit` for a shorter time would accept what is gone too early.
    greens: PhantomData<Cell<&'p ()>>,
}

/// An entry and the words of its greens.
type Key = (&'static str, Vec<Word>);

/// Local arrays and structs of compiled code may use so many bytes at a time.
const SLOT_BYTES: u64 = 64 << 20;

impl<'p> Jit<'p> {
    /// No code yet, for this interpreter.
    pub fn new(interpreter: &'static Interpreter) -> Jit<'p> {
        Jit::with_options(interpreter, Jit::usual_options())
    }

    /// The usual settings.
    pub fn usual_options() -> JitOptions {
        JitOptions { slot_bytes: SLOT_BYTES, ..JitOptions::just_in_time() }
    }

    /// The same with other settings than the usual.
    pub fn with_options(interpreter: &'static Interpreter, options: JitOptions) -> Jit<'p> {
        let (compilers, compiled) = (FxHashMap::default(), FxIndexMap::default());
        let warm_up = if options.background { options.warm_up } else { Duration::ZERO };
        let events = Recorder::new(options.kept_events, options.time_tiers, warm_up);
        let tiers = Tiers::new(options.threshold, !warm_up.is_zero());
        Jit { interpreter, options, compilers, compiled, tiers, events, greens: PhantomData }
    }

    /// The interpreter.
    pub fn interpreter(&self) -> &'static Interpreter {
        self.interpreter
    }

    /// Its settings.
    pub fn options(&self) -> &JitOptions {
        &self.options
    }

    /// For how many choices of greens there is code, of all entries together.
    pub fn compiled(&self) -> usize {
        self.compiled.len()
    }

    /// What was compiled, and what became of exits, of all entries together.
    pub fn stats(&mut self) -> Stats {
        let mut sum = self.tiers.drivers.past().clone();
        for compiled in self.compiled.values_mut().chain(self.tiers.drivers.iter_mut()) {
            sum += compiled.with(|driver| driver.stats());
        }
        sum.timed(self.events.clock())
    }

    /// How much code there is for each place in guest programs, largest first, of all entries together.
    pub fn sizes(&mut self) -> Vec<Size> {
        let drivers = self.compiled.values_mut().chain(self.tiers.drivers.iter_mut());
        largest_first(drivers.flat_map(|compiled| compiled.with(|driver| driver.sizes())).collect())
    }

    /// The latest events, oldest first: so many as [`JitOptions::kept_events`] says.
    pub fn events(&self) -> Vec<Event> {
        self.events.kept()
    }

    /// How many events are no longer kept.
    pub fn forgotten_events(&self) -> u64 {
        self.events.forgotten()
    }

    /// Hands further events to a function, instead of the one before.
    pub fn on_event(&mut self, sink: impl FnMut(&Event) + 'static) {
        self.events.set_sink(Some(Box::new(sink)));
    }

    /// What was compiled, and what happened: for each entry and choice of its greens that are references.
    ///
    /// # Errors
    /// If what was compiled can't be shown, which is a bug.
    pub fn specialized(&mut self) -> Result<Vec<Specialized>, Error> {
        let drivers = self.compiled.values_mut().chain(self.tiers.drivers.iter_mut());
        let all = drivers.map(|compiled| match compiled.with(crate::spec::specialized) {
            // Runs have come to it, but it hasn't begun with any.
            Err(JitError::NoEntry) => Ok(None),
            made => Ok(Some(made?)),
        });
        all.filter_map(Result::transpose).collect()
    }

    /// For the macros: what a green refers to, through whatever its type has in it, is borrowed for `'p`.
    #[doc(hidden)]
    #[inline(always)]
    pub fn lends<T: 'p>(&self, _green: &T) {}

    /// For the macros: calls an entry's code, which is made if there is none for these greens. The words must be those
    /// of the entry's arguments, and the greens' references be borrowed for `'p`: the functions that the macros make
    /// see to it.
    #[doc(hidden)]
    pub fn call(
        &mut self,
        interpreter: &'static Interpreter,
        function: &'static str,
        greens: Vec<Word>,
        reds: &[Word],
    ) -> Result<Vec<Word>, Error> {
        let outcome = self.code(interpreter, function, greens)?.run(reds)?;
        match outcome {
            Outcome::Returned(words) => Ok(words),
            Outcome::Trapped(report) => Err(Trap::of_report(report, interpreter.module()).into()),
            Outcome::Exited { .. } | Outcome::Stopped { .. } => {
                unreachable!("the driver goes on behind exits and merge points")
            }
        }
    }

    /// For the macros: the residual graphs of an entry for some greens, as [`Jit::call`] compiles them.
    #[doc(hidden)]
    pub fn residual(
        &mut self,
        interpreter: &'static Interpreter,
        function: &'static str,
        greens: Vec<Word>,
    ) -> Result<Golden, Error> {
        let residual = self.code(interpreter, function, greens)?.with(|driver| driver.residual())?;
        Ok(Golden::of_residual(residual.module))
    }

    /// Refuses another interpreter than its own.
    pub(super) fn check(&self, interpreter: &'static Interpreter) -> Result<(), Error> {
        if std::ptr::eq(interpreter, self.interpreter) {
            return Ok(());
        }
        let (jit, interpreter) = (self.interpreter.name(), interpreter.name());
        Err(Error::OtherInterpreter { jit, interpreter })
    }

    /// The compiler of an entry.
    pub(super) fn compiler(&mut self, function: &'static str) -> Result<Rc<Compiler>, Error> {
        if let Some(compiler) = self.compilers.get(function) {
            return Ok(compiler.clone());
        }
        let compiler = Rc::new(self.interpreter.compiler_for(function)?);
        self.compilers.insert(function, compiler.clone());
        Ok(compiler)
    }

    /// Whether the compiler of an entry is there.
    pub(super) fn has_compiler(&self, function: &str) -> bool {
        self.compilers.contains_key(function)
    }

    /// The compiler of an entry has been made elsewhere.
    pub(super) fn has_come(&mut self, entry: &Entry, compiler: Compiler) -> Rc<Compiler> {
        let compiler = Rc::new(Compiler { hosts: self.interpreter.host_functions(), ..compiler });
        self.compilers.insert(entry.function, compiler.clone());
        compiler
    }

    #[allow(
        unsafe_code,
        reason = "the functions that the macros make vouch for the words, and borrow the greens for 'p"
    )]
    fn code(
        &mut self,
        interpreter: &'static Interpreter,
        function: &'static str,
        greens: Vec<Word>,
    ) -> Result<&mut Compiled, Error> {
        self.check(interpreter)?;
        let key = (function, greens);
        let number = match self.compiled.get_index_of(&key) {
            Some(number) => number,
            None => {
                let compiler = self.compiler(function)?;
                // SAFETY: the functions that the macros make are typed as the source is, and what greens refer to is
                // borrowed for `'p`, which this `Jit` can't outlive.
                let code =
                    unsafe { Compiled::new(&compiler, interpreter.constants(), &key.1, &self.options, &self.events)? };
                self.compiled.insert_full(key, code).0
            }
        };
        Ok(&mut self.compiled[number])
    }
}

impl Interpreter {
    /// The compiler of an entry, with its greens known.
    ///
    /// # Errors
    /// If there is no such entry, or something must be green that isn't.
    pub fn compiler_for(&self, function: &str) -> Result<Compiler, Error> {
        let entry = self.entry(function).ok_or_else(|| self.no_entry(function))?;
        let hosts = self.host_functions();
        Ok(Compiler { hosts, ..self.flow_compiler(entry)? })
    }

    /// The compiler of an entry, without the interpreter's own functions.
    pub(super) fn flow_compiler(&self, entry: &Entry) -> Result<Compiler, CompileError> {
        let greens: BTreeSet<usize> = entry.greens.iter().copied().collect();
        Compiler::new(self.module(), entry.function, &greens)
    }

    /// There is no such entry.
    pub(crate) fn no_entry(&self, function: &str) -> Error {
        let entries = self.entries().iter().map(|e: &Entry| e.function).collect();
        Error::NoEntry { interpreter: self.name(), function: function.to_owned(), entries }
    }
}
