//! One entry compiled for one choice of greens: its compiler graphs, its memory, and the driver that borrows both.
#![allow(
    unsafe_code,
    reason = "self_cell ties the driver to what it borrows; the memory trusts the program's own addresses"
)]

use super::greens::name_greens;
use super::interpreter::Constants;
use super::jit::Error;
use crate::compiler::Compiler;
use crate::events::Recorder;
use crate::jit::{JitError, JitOptions};
use flowgraph::eval::Outcome;
use flowgraph::ir::{Const, Word};
use flowgraph::memory::Memory;
use self_cell::MutBorrow;
use timeshifter::specialize::Argument;

type Driver<'a> = crate::jit::Jit<'a>;

struct Parts {
    compiler: Compiler,
    memory: MutBorrow<Memory>,
}

self_cell::self_cell!(
    struct Tied {
        owner: Parts,
        #[not_covariant]
        dependent: Driver,
    }
);

/// Machine code of an entry for one choice of greens.
pub(super) struct Compiled {
    tied: Tied,
}

impl Compiled {
    /// Compiles an entry eagerly. `greens` are the words of its green parameters' leaves.
    ///
    /// # Safety
    /// The words are those of values of the parameters' types, and so are those of each [`Compiled::run`]; what the
    /// greens refer to stays as it is while this is used.
    pub unsafe fn new(
        compiler: &Compiler,
        constants: &Constants,
        greens: &[Word],
        options: &JitOptions,
        events: &Recorder,
    ) -> Result<Compiled, Error> {
        let prepare = |driver: &mut Driver<'_>, arguments: &[Argument]| {
            // There is no other tier to be in.
            driver.tell_to(events, events.clock().if_it_stays());
            driver.specialize(arguments)
        };
        // The run waits for all of the code anyhow.
        let options = JitOptions { background: false, ..options.clone() };
        // SAFETY: the caller's promise.
        unsafe { Compiled::prepared(compiler, constants, greens, &options, prepare) }
    }

    /// A driver for the runs that tier 0 brings to the merge point of a portal, with no code yet. `greens` are the
    /// words of its green parameters' leaves in one of them: others may have other scalars there.
    ///
    /// # Safety
    /// As for [`Compiled::new`].
    pub unsafe fn of_portal(
        compiler: &Compiler,
        constants: &Constants,
        greens: &[Word],
        options: &JitOptions,
        events: &Recorder,
    ) -> Result<Compiled, Error> {
        let prepare = |driver: &mut Driver<'_>, _: &[Argument]| {
            driver.tell_to(events, events.clock().clone());
            Ok(())
        };
        // SAFETY: the caller's promise.
        unsafe { Compiled::prepared(compiler, constants, greens, options, prepare) }
    }

    unsafe fn prepared(
        compiler: &Compiler,
        constants: &Constants,
        greens: &[Word],
        options: &JitOptions,
        prepare: impl FnOnce(&mut Driver<'_>, &[Argument]) -> Result<(), JitError>,
    ) -> Result<Compiled, Error> {
        let mut compiler = compiler.clone();
        let mut memory = Memory::new();
        memory.set_hosts(compiler.hosts.clone());
        let signature = compiler.module.graphs[&compiler.entry].signature.clone();
        let known: Vec<usize> = compiler.known.iter().copied().collect();
        // SAFETY: the caller's promise. An interpreter's constants stay for ever, and nobody writes them.
        let known_greens = unsafe {
            memory.trust_foreign();
            for (address, size) in constants.places() {
                memory.adopt_data(address, size);
            }
            name_greens(&mut compiler.module, &mut memory, &signature, &known, greens)?
        };
        let arguments = arguments(&compiler, &known_greens);
        let parts = Parts { compiler, memory: MutBorrow::new(memory) };
        let tied = Tied::try_new(parts, |parts| {
            let mut driver = Driver::new(&parts.compiler, parts.memory.borrow_mut(), options.clone())?;
            prepare(&mut driver, &arguments)?;
            Ok::<_, Error>(driver)
        })?;
        Ok(Compiled { tied })
    }

    /// Runs it on the words of its red parameters' leaves.
    pub fn run(&mut self, reds: &[Word]) -> Result<Outcome, Error> {
        self.with(|driver| Ok(driver.run(reds)?))
    }

    /// Does something with the driver.
    pub fn with<T>(&mut self, f: impl FnOnce(&mut Driver<'_>) -> T) -> T {
        self.tied.with_dependent_mut(|_, driver| f(driver))
    }
}

/// The arguments of a specialization: the greens' constants, all else unknown.
fn arguments(compiler: &Compiler, constants: &[Const]) -> Vec<Argument> {
    let mut constants = constants.iter();
    let params = &compiler.module.graphs[&compiler.entry].signature.params;
    let mut out = Vec::new();
    for (i, param) in params.iter().enumerate() {
        let known = compiler.known.contains(&i);
        let argument = |_| match constants.next() {
            Some(constant) if known => Argument::Known(*constant),
            _ => Argument::Unknown,
        };
        let leaves = compiler.module.leaves(&param.ty).len();
        match known {
            true => out.extend((0..leaves).map(argument)),
            false => out.extend((0..leaves).map(|_| Argument::Unknown)),
        }
    }
    out
}
