//! Entering generated code from Rust, and being called back from it.
//!
//! A [`Host`] owns the context of generated code and what that may call: registered functions and hooks. It is shared
//! by all [`Entry`]s of an engine; entering needs no access to the engine, so that a hook which runs in the middle of
//! generated code can have more code compiled and enter that.
//!
//! Entering is a safe function though generated code is not checked: graphs only access memory that their source's
//! types (and explicit bounds checks) give them, and the caller answers for the addresses among the arguments, as it
//! does for those in `Memory`. For graphs without a source there is [`crate::Options::bounds`].
#![allow(unsafe_code, reason = "calls generated code and shares the context with it")]

use crate::CodegenError;
use crate::abi::{Context, HAS_FAILED, MAX_VALUES, hook, status};
use crate::code::Code;
use crate::engine::Options;
use crate::helpers::{Failure, Helper, HelperCx};
use crate::sites::{ExitSite, SharedSites};
use flowgraph::eval::TrapReport;
use flowgraph::ir::{Loc, TrapKind, Type};
use flowgraph::memory::Bounds;
use std::cell::RefCell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

/// How a run of generated code ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It returned these words.
    Returned(Vec<u64>),
    /// It trapped.
    Trapped(TrapReport),
    /// It left through an exit that has no bridge.
    Exited(Exit),
}

/// An exit that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The key of the graph that it belongs to.
    pub graph: String,
    /// Its number there.
    pub exit: u32,
    /// The number of the guard that took it.
    pub guard: i64,
    /// The live values.
    pub args: Vec<u64>,
}

/// What the host makes of a merge point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Go on, with the values as they are now.
    Continue,
    /// The portal returns these words.
    Return(Vec<u64>),
    /// The run of the portal has trapped.
    Trapped(TrapReport),
}

/// Called at merge points of portals with the number of the merge point and the portal's values, which it may change.
pub type MergeHook = dyn Fn(u32, &mut [u64]) -> Answer;

/// Called when a graph that generated code has called leaves through an exit: finishes its run. Gives its results.
pub type ExitHook = dyn Fn(&Exit) -> Result<Vec<u64>, TrapReport>;

/// What generated code sees of the world.
pub(crate) struct Host {
    context: *mut Context,
    /// Here, too, since code may outlive the engine.
    sites: SharedSites,
    /// The registered functions. None is ever taken away.
    /// The registered functions. None is ever taken away.
    helpers: RefCell<Vec<Rc<Helper>>>,
    merge_hook: RefCell<Option<Rc<MergeHook>>>,
    exit_hook: RefCell<Option<Rc<ExitHook>>>,
    /// Why the run that just ended with a trap has trapped, where it isn't the guest's own doing.
    failure: RefCell<Option<TrapReport>>,
    /// The exit by which a called graph has left though nobody finishes its run.
    unfinished: RefCell<Option<Exit>>,
    frame_bytes: u64,
    max_stack: Option<usize>,
    /// Where the slot stack lies: its first byte and its length.
    slots: (u64, u64),
    bounds: Option<Bounds>,
    _slots: Option<Box<[u128]>>,
}

type Trampoline = unsafe extern "C" fn(*const u8, *mut Context) -> i64;

impl Host {
    /// A host whose slot stack is the given memory, or memory of its own of that size.
    pub fn new(sites: SharedSites, slots: Result<(u64, u64), u64>, options: &Options) -> Rc<Host> {
        let (slot_top, slot_bytes, own) = match slots {
            Ok((address, bytes)) => {
                (address.next_multiple_of(16), bytes.saturating_sub(address.wrapping_neg() % 16), None)
            }
            Err(bytes) => {
                let mut own: Box<[u128]> = vec![0u128; (bytes / 16) as usize].into_boxed_slice();
                (own.as_mut_ptr().expose_provenance() as u64, bytes / 16 * 16, Some(own))
            }
        };
        let context = Box::into_raw(Box::new(Context {
            exit_cell: 0,
            guard: 0,
            stack_limit: 0,
            slot_top,
            values: [0; _],
            merge_points_left: 0,
            slot_limit: slot_top + slot_bytes,
            frame: slot_top,
            trap_site: 0,
            exit_site: 0,
            call_helper: call_helper as *const () as usize,
            merge_point: merge_point as *const () as usize,
            finish_exit: finish_exit as *const () as usize,
            clear: clear as *const () as usize,
            check_access: check_access as *const () as usize,
            host: 0,
            results: [0; _],
        }));
        let host = Rc::new(Host {
            context,
            sites,
            helpers: RefCell::default(),
            merge_hook: RefCell::default(),
            exit_hook: RefCell::default(),
            failure: RefCell::default(),
            unfinished: RefCell::default(),
            frame_bytes: options.frame_bytes,
            max_stack: options.max_stack,
            slots: (slot_top, slot_bytes),
            bounds: options.bounds.clone(),
            _slots: own,
        });
        // SAFETY: the context was made above; the host outlives it, and stays where it is in its `Rc`.
        unsafe { (*context).host = Rc::as_ptr(&host).expose_provenance() };
        host
    }

    /// Adds a registered function.
    pub fn add_helper(&self, helper: Helper) {
        self.helpers.borrow_mut().push(Rc::new(helper));
    }

    /// Sets what is called at merge points.
    pub fn set_merge_hook(&self, hook: Option<Rc<MergeHook>>) {
        *self.merge_hook.borrow_mut() = hook;
    }

    /// Sets how many merge points are gone by before the hook is called.
    pub fn skip_merge_points(&self, count: u64) {
        // SAFETY: as for `values`.
        unsafe { (*self.context).merge_points_left = count };
    }

    /// How many merge points will be gone by yet.
    pub fn merge_points_left(&self) -> u64 {
        // SAFETY: as for `values`.
        unsafe { (*self.context).merge_points_left }
    }

    /// Sets what finishes the runs of called graphs that exit.
    pub fn set_exit_hook(&self, hook: Option<Rc<ExitHook>>) {
        *self.exit_hook.borrow_mut() = hook;
    }

    /// The first `count` words of the values.
    fn values(&self, count: usize) -> Vec<u64> {
        // SAFETY: the context lives as long as the host; the reference ends before any other code runs.
        unsafe { (&(*self.context).values)[..count.min(MAX_VALUES)].to_vec() }
    }

    /// The first of the values, as many as there is room for. Word by word: the code that has stored them has only just
    /// done so, and a processor waits for such stores to be carried out if one load is of two of them.
    fn copy_values(&self, into: &mut [u64]) {
        // SAFETY: as for `values`.
        let values = unsafe { &(*self.context).values };
        for (word, value) in into.iter_mut().zip(values) {
            // SAFETY: it is a reference. Volatile loads are not made one.
            *word = unsafe { std::ptr::from_ref(value).read_volatile() };
        }
    }

    /// Calls a registered function. Gives whether it has returned; else it is known why not.
    #[inline(always)]
    fn call_helper(&self, helper: &Helper, site: u64, args: &mut [u64], results: &mut [u64]) -> bool {
        let args = canonical(&helper.params, args);
        let call = HelperCx { sites: &self.sites, site };
        let done = catch_unwind(AssertUnwindSafe(|| (helper.function)(&call, args, results)));
        match done {
            Ok(Ok(())) => return true,
            Ok(Err(Failure::Trap(report))) => self.fail(report),
            Ok(Err(Failure::Message(message))) => {
                self.fail(TrapReport { kind: TrapKind::Panic, message, loc: call.loc() });
            }
            Err(payload) => self.fail(panic_report(&*payload, call.loc())),
        }
        false
    }

    fn set_values(&self, words: &[u64]) {
        let count = words.len().min(MAX_VALUES);
        // SAFETY: as for `values`.
        unsafe { (&mut (*self.context).values)[..count].copy_from_slice(&words[..count]) }
    }

    fn results(&self, count: usize) -> Vec<u64> {
        // SAFETY: as for `values`.
        unsafe { (&(*self.context).results)[..count.min(MAX_VALUES)].to_vec() }
    }

    fn set_results(&self, words: &[u64]) {
        // SAFETY: as for `values`.
        let results = unsafe { &mut (*self.context).results };
        for (result, word) in results.iter_mut().zip(words) {
            // SAFETY: it is a reference. One by one, since the words have only just been stored: see `copy_values`.
            unsafe { std::ptr::from_mut(result).write_volatile(*word) };
        }
    }

    /// How many bytes the slot stack has.
    pub fn slot_bytes(&self) -> u64 {
        self.slots.1
    }

    /// The next free byte of the slot stack.
    pub fn slot_top(&self) -> u64 {
        // SAFETY: as for `values`.
        unsafe { (*self.context).slot_top }
    }

    fn fail(&self, report: TrapReport) {
        *self.failure.borrow_mut() = Some(report);
    }

    /// The trap that the context tells of.
    fn trapped(&self) -> TrapReport {
        if let Some(report) = self.failure.borrow_mut().take() {
            return report;
        }
        // SAFETY: as for `values`.
        let site = unsafe { (*self.context).trap_site };
        let sites = self.sites.lock();
        let trap = &sites.traps[site as usize].trap;
        TrapReport { kind: trap.kind, message: trap.render(&self.values(trap.args.len())), loc: trap.loc }
    }

    /// The exit that the context tells of.
    fn exited(&self) -> Exit {
        // SAFETY: as for `values`.
        let (site, guard) = unsafe { ((*self.context).exit_site, (*self.context).guard as i64) };
        let sites = self.sites.lock();
        let ExitSite { graph, exit, types, .. } = &sites.exits[site as usize];
        let args = canonical(types, self.values(types.len()));
        Exit { graph: graph.clone(), exit: *exit, guard, args }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // SAFETY: made by `Box::into_raw` in `new`, and freed nowhere else.
        drop(unsafe { Box::from_raw(self.context) });
    }
}

/// Singles as the rest of the world has them: zero in the upper half.
fn canonical<W: AsMut<[u64]>>(types: &[Type], mut words: W) -> W {
    for (word, _) in words.as_mut().iter_mut().zip(types).filter(|(_, ty)| **ty == Type::Single) {
        *word = u64::from(*word as u32);
    }
    words
}

/// An activation frame: the local aggregates of fragments live in it, and stay until it is dropped. Activations of one
/// engine must be dropped in the opposite order of their making, as nested calls do.
pub struct Activation {
    host: Rc<Host>,
    outer: (u64, u64),
    base: u64,
}

impl Activation {
    /// The addresses of its local aggregates.
    pub fn addresses(&self) -> Range<u64> {
        self.base..self.base + self.host.frame_bytes
    }

    /// Whether an address is one of its local aggregates'.
    pub fn contains(&self, address: u64) -> bool {
        self.addresses().contains(&address)
    }

    /// Takes a frame from the slot stack; `None` if that leaves less than so many bytes.
    pub(crate) fn open(host: &Rc<Host>, left: u64) -> Option<Activation> {
        // SAFETY: as for `Host::values`.
        let context = unsafe { &mut *host.context };
        let outer = (context.frame, context.slot_top);
        let base = context.slot_top;
        // Graphs that others enter, with stores pending, don't look at the native stack themselves.
        let here = std::ptr::from_ref(&base).addr() as u64;
        if base + host.frame_bytes + left > context.slot_limit || here < stack_limit(host.max_stack) {
            return None;
        }
        context.slot_top = base + host.frame_bytes;
        Some(Activation { host: host.clone(), outer, base })
    }
}

impl Drop for Activation {
    fn drop(&mut self) {
        // SAFETY: as for `Host::values`.
        let context = unsafe { &mut *self.host.context };
        (context.frame, context.slot_top) = self.outer;
    }
}

/// A compiled graph, to be entered.
#[derive(Clone)]
pub struct Entry {
    pub(crate) key: Rc<str>,
    pub(crate) code: *const u8,
    pub(crate) trampoline: *const u8,
    pub(crate) params: usize,
    pub(crate) results: Rc<[Type]>,
    pub(crate) host: Rc<Host>,
    pub(crate) _memory: Rc<RefCell<Code>>,
}

impl Entry {
    /// The graph's key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// An activation frame to run in.
    ///
    /// # Errors
    /// "Stack exhausted", if too many runs are under way.
    pub fn activation(&self) -> Result<Activation, TrapReport> {
        Activation::open(&self.host, 0).ok_or_else(stack_exhausted)
    }

    /// Runs the graph on words, in an activation frame of its own.
    ///
    /// # Errors
    /// As [`Entry::call_in`].
    pub fn call(&self, args: &[u64]) -> Result<Outcome, CodegenError> {
        match self.activation() {
            Ok(activation) => self.call_in(&activation, args),
            Err(report) => Ok(Outcome::Trapped(report)),
        }
    }

    /// Runs the graph on words, in an activation frame that stays: local aggregates whose addresses are among the
    /// values of an exit can be used until it is dropped.
    ///
    /// # Errors
    /// If the number of words is wrong, or a graph that is called on the way leaves through an exit and there is no
    /// hook that finishes its run.
    pub fn call_in(&self, activation: &Activation, args: &[u64]) -> Result<Outcome, CodegenError> {
        if args.len() != self.params {
            let (expected, given) = (self.params, args.len());
            return Err(CodegenError::Arguments { graph: self.key.to_string(), expected, given });
        }
        let host = &self.host;
        host.set_values(args);
        let limit = stack_limit(host.max_stack);
        // SAFETY: the trampoline takes the arguments from the context as this graph's shape has them. The code is kept
        // by `_memory`, and the context by `host`.
        let word = unsafe {
            let context = host.context;
            let outer = ((*context).frame, (*context).slot_top, (*context).stack_limit);
            (*context).frame = activation.base;
            (*context).stack_limit = limit;
            let trampoline: Trampoline = std::mem::transmute(self.trampoline);
            let word = trampoline(self.code, context);
            ((*context).frame, (*context).slot_top, (*context).stack_limit) = outer;
            word
        };
        if let Some(Exit { graph, exit, .. }) = host.unfinished.take() {
            return Err(CodegenError::ExitOfCallee { graph, exit });
        }
        Ok(match word {
            status::RETURNED => Outcome::Returned(canonical(&self.results, host.results(self.results.len()))),
            status::EXITED => Outcome::Exited(host.exited()),
            _ => Outcome::Trapped(host.trapped()),
        })
    }
}

/// What a panic says.
fn panic_report(payload: &(dyn std::any::Any + Send), loc: Loc) -> TrapReport {
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let message = format!("helper panicked: {}", text.unwrap_or("unknown reason"));
    TrapReport { kind: TrapKind::Panic, message, loc }
}

/// The host of a context.
///
/// # Safety
/// The context must be one that `Host::new` made, and its host alive.
unsafe fn host_of<'a>(context: *mut Context) -> &'a Host {
    // SAFETY: `Host::new` put it there.
    unsafe { &*std::ptr::with_exposed_provenance::<Host>((*context).host) }
}

/// A registered function with no more parameters and results than this is called without memory of its own for them.
const FEW: usize = 4;

/// Calls a registered function for generated code: arguments in the context's values, results in its results. With
/// [`HAS_FAILED`] for its number, one that generated code has called itself has failed.
extern "C" fn call_helper(context: *mut Context, index: u64, site: u64) -> i64 {
    // SAFETY: generated code hands on the context that it was entered with.
    let host = unsafe { host_of(context) };
    if index == HAS_FAILED {
        let (message, loc) = (flowgraph::host::take_failure(), host.sites.lock().traps[site as usize].trap.loc);
        host.fail(TrapReport { kind: TrapKind::Panic, message, loc });
        return status::TRAPPED;
    }
    // SAFETY: a helper stays where it is in its `Rc`, which the host keeps as long as it lives.
    let helper: &Helper = unsafe { &*Rc::as_ptr(&host.helpers.borrow()[index as usize]) };
    let (params, results) = (helper.params.len(), helper.results.len());
    // The function may enter generated code, which has the same context: so it is handed copies.
    if params <= FEW && results <= FEW {
        let (mut args, mut words) = ([0; FEW], [0; FEW]);
        let (args, words) = (&mut args[..params], &mut words[..results]);
        host.copy_values(args);
        let returned = host.call_helper(helper, site, args, words);
        if returned {
            host.set_results(words);
        }
        return if returned { status::RETURNED } else { status::TRAPPED };
    }
    let mut words = vec![0; results];
    if host.call_helper(helper, site, &mut host.values(params), &mut words) {
        host.set_results(&words);
        return status::RETURNED;
    }
    status::TRAPPED
}

/// Tells the host of a merge point for generated code: the portal's values in the context's.
extern "C" fn merge_point(context: *mut Context, site: u64) -> i64 {
    // SAFETY: as for `call_helper`.
    let host = unsafe { host_of(context) };
    let Some(merge_hook) = host.merge_hook.borrow().clone() else { return hook::CONTINUE };
    let types = host.sites.lock().merges[site as usize].types.clone();
    let mut values = canonical(&types, host.values(types.len()));
    match catch_unwind(AssertUnwindSafe(|| merge_hook(site as u32, &mut values))) {
        Ok(Answer::Continue) => {
            host.set_values(&values);
            return hook::CONTINUE;
        }
        Ok(Answer::Return(results)) => {
            host.set_results(&results);
            return hook::RETURN;
        }
        Ok(Answer::Trapped(report)) => host.fail(report),
        Err(payload) => host.fail(panic_report(&*payload, Loc::UNKNOWN)),
    }
    hook::TRAPPED
}

/// Has the host finish the run of a called graph that left through an exit.
extern "C" fn finish_exit(context: *mut Context) -> i64 {
    // SAFETY: as for `call_helper`.
    let host = unsafe { host_of(context) };
    let exit = host.exited();
    let Some(exit_hook) = host.exit_hook.borrow().clone() else {
        // The status of an exit would make the caller's run end as if it were the callee's.
        *host.unfinished.borrow_mut() = Some(exit);
        return status::TRAPPED;
    };
    match catch_unwind(AssertUnwindSafe(|| exit_hook(&exit))) {
        Ok(Ok(results)) => {
            host.set_results(&results);
            return status::RETURNED;
        }
        Ok(Err(report)) => host.fail(report),
        Err(payload) => host.fail(panic_report(&*payload, Loc::UNKNOWN)),
    }
    status::TRAPPED
}

/// Fills a local aggregate with zeros.
extern "C" fn clear(address: *mut u8, bytes: usize) {
    // SAFETY: generated code passes a place in the slot stack that it has taken.
    unsafe { std::ptr::write_bytes(address, 0, bytes) }
}

/// Whether generated code may access this place; else the run ends.
extern "C" fn check_access(context: *mut Context, address: u64, bytes: u64, site: u64) -> i64 {
    // SAFETY: as for `call_helper`.
    let host = unsafe { host_of(context) };
    let (start, len) = host.slots;
    let is_slot = address >= start && bytes <= len && address - start <= len - bytes;
    if is_slot || host.bounds.as_ref().is_none_or(|bounds| bounds.cover(address, bytes)) {
        return status::RETURNED;
    }
    let loc = host.sites.lock().traps[site as usize].trap.loc;
    let message = format!("an access of {bytes} bytes at {address:#x}, which belongs to no region of memory");
    host.fail(TrapReport { kind: TrapKind::Panic, message, loc });
    status::TRAPPED
}

/// What a run ends with that finds little left of a stack.
fn stack_exhausted() -> TrapReport {
    let kind = TrapKind::StackExhausted;
    TrapReport { kind, message: kind.template().to_owned(), loc: Loc::UNKNOWN }
}

/// Native stack that generated code leaves to what it calls.
const RESERVE: usize = 512 << 10;

/// Down to where on this thread's native stack generated code may go.
fn stack_limit(max_stack: Option<usize>) -> u64 {
    let here = std::ptr::from_ref(&max_stack).addr();
    let reserved = native_stack_limit();
    max_stack.map_or(reserved, |most| reserved.max(here.saturating_sub(most))) as u64
}

/// The address below which this thread's native stack is not to be used by code that recurses as a guest does: what is
/// left then is for what it calls.
#[inline]
pub fn native_stack_limit() -> usize {
    thread_local! {
        static LIMIT: usize = lowest_stack_address() + RESERVE;
    }
    LIMIT.with(|limit| *limit)
}

/// The lower end of this thread's stack.
#[cfg(target_os = "linux")]
fn lowest_stack_address() -> usize {
    // SAFETY: the attributes are initialized by the first call before they are read, and destroyed once.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) == 0 {
            let (mut lowest, mut size) = (std::ptr::null_mut(), 0);
            libc::pthread_attr_getstack(&attributes, &mut lowest, &mut size);
            libc::pthread_attr_destroy(&mut attributes);
            return lowest.addr();
        }
    }
    assumed_lowest()
}

/// The lower end of this thread's stack, where the system doesn't tell.
#[cfg(not(target_os = "linux"))]
fn lowest_stack_address() -> usize {
    assumed_lowest()
}

/// One that every thread's stack reaches down to, if it isn't deep in use already.
fn assumed_lowest() -> usize {
    let here = 0u8;
    std::ptr::from_ref(&here).addr().saturating_sub(768 << 10)
}
