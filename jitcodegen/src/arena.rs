//! Memory for machine code: functions lie side by side, in the order in which they are made.
//!
//! Fragments are small, and a loop may lead through dozens of them. If each batch began on a page of its own, as in the
//! arenas of `cranelift-jit`, the beginnings of all would fall on the same few lines of the instruction cache, and each
//! would take an entry of its TLB. So a page that isn't full is made writable again for what comes next, and what lies
//! there can't be run meanwhile: code is run by the thread alone that installs it.
#![allow(unsafe_code, reason = "pages become writable, and executable")]

use cranelift_jit::{BranchProtection, JITMemoryKind, JITMemoryProvider};
use cranelift_module::{ModuleError, ModuleResult};
use region::Protection;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Address space for code, which becomes memory page by page.
pub(crate) struct Arena {
    memory: Option<region::Allocation>,
    /// What has been handed out since [`JITMemoryProvider::finalize`].
    new: Range<usize>,
    place: Arc<Place>,
}

/// Where functions are put: for whoever has an arena's memory written.
#[derive(Debug)]
pub(crate) struct Place {
    /// Where the next function may begin.
    next: AtomicUsize,
    /// How far behind a boundary of 32 bytes the next function begins, if that is wanted.
    skew: AtomicU32,
}

/// No skew is wanted.
const ANY: u32 = u32::MAX;

impl Place {
    /// Where the next function may begin, from the arena's beginning.
    pub fn next(&self) -> usize {
        self.next.load(Ordering::Relaxed)
    }

    /// Has the next function, which needs no alignment larger than 32 bytes, begin so far behind a boundary of these.
    pub fn begin_at(&self, skew: u32) {
        self.skew.store(skew, Ordering::Relaxed);
    }
}

// SAFETY: the memory belongs to no thread; nobody else has it.
unsafe impl Send for Arena {}

impl Arena {
    /// An arena of so many bytes.
    ///
    /// # Errors
    /// If there is no address space for it.
    pub fn new(bytes: usize) -> region::Result<Arena> {
        let place = Arc::new(Place { next: AtomicUsize::new(0), skew: AtomicU32::new(ANY) });
        Ok(Arena { memory: Some(region::alloc(bytes, Protection::NONE)?), new: 0..0, place })
    }

    /// Where functions are put.
    pub fn place(&self) -> Arc<Place> {
        self.place.clone()
    }

    fn base(&self) -> *const u8 {
        self.memory.as_ref().map_or(std::ptr::null(), |memory| memory.as_ptr::<u8>())
    }

    /// Has run what is there, also what was there before on the same pages.
    fn close(&mut self) -> region::Result<()> {
        let new = std::mem::take(&mut self.new);
        if new.is_empty() { Ok(()) } else { self.protect(&new, Protection::READ_EXECUTE) }
    }

    /// Where in the arena the next function begins.
    fn begin(&self, align: u64) -> Option<usize> {
        let next = self.place.next();
        match self.place.skew.swap(ANY, Ordering::Relaxed) {
            ANY => next.checked_next_multiple_of(usize::try_from(align).ok()?),
            skew => {
                let before = next.saturating_sub(skew as usize);
                before.checked_next_multiple_of(32)?.checked_add(skew as usize)
            }
        }
    }

    /// A part of the arena for so many bytes, whose pages may be written to.
    fn take(&mut self, size: usize, align: u64) -> io::Result<*mut u8> {
        let full = || io::Error::new(io::ErrorKind::OutOfMemory, "the memory for code is full");
        let begin = self.begin(align).ok_or_else(full)?;
        let end = begin.checked_add(size).ok_or_else(full)?;
        if self.memory.as_ref().is_none_or(|memory| memory.len() < end) {
            return Err(full());
        }
        if self.new.is_empty() {
            self.new = begin..begin;
        }
        // The pages behind those that are writable since this batch was begun.
        let page = region::page::size();
        let written = if self.new.is_empty() { begin / page * page } else { self.new.end.next_multiple_of(page) };
        self.new.end = end;
        if written < end {
            self.protect(&(written..end), Protection::READ_WRITE).map_err(io::Error::other)?;
        }
        self.place.next.store(end, Ordering::Relaxed);
        // SAFETY: it lies in the arena, whose memory is handed out once, and freed by hand.
        Ok(unsafe { self.base().cast_mut().add(begin) })
    }

    /// Changes what may be done with the pages that have a part of a range.
    fn protect(&self, range: &Range<usize>, protection: Protection) -> region::Result<()> {
        // SAFETY: the pages are this arena's. What runs there can't while they are written to, since it would be this
        // thread that runs it.
        unsafe { region::protect(self.base().wrapping_add(range.start), range.len(), protection) }
    }
}

impl JITMemoryProvider for Arena {
    fn allocate(&mut self, size: usize, align: u64, kind: JITMemoryKind) -> io::Result<*mut u8> {
        if !matches!(kind, JITMemoryKind::Executable) {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "this memory is for code alone"));
        }
        // Where the rest of a batch has no place, what came before it is run again all the same.
        self.take(size, align).inspect_err(|_| drop(self.close()))
    }

    unsafe fn free_memory(&mut self) {
        self.memory = None;
    }

    fn finalize(&mut self, branch_protection: BranchProtection) -> ModuleResult<()> {
        if self.new.is_empty() {
            return Ok(());
        }
        let begin = self.base().wrapping_add(self.new.start);
        // SAFETY: it is memory that has just been written.
        let cleared = unsafe { wasmtime_jit_icache_coherence::clear_cache(begin.cast(), self.new.len()) };
        self.close().map_err(failed)?;
        cleared.map_err(failed)?;
        wasmtime_jit_icache_coherence::pipeline_flush_mt().map_err(failed)?;
        match branch_protection {
            BranchProtection::None => Ok(()),
            BranchProtection::BTI => Err(failed("there is no code here that marks where branches may lead")),
        }
    }
}

fn failed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ModuleError {
    ModuleError::Allocation { err: io::Error::other(error) }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // Code that nobody has freed may be run still.
        std::mem::forget(self.memory.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocate(arena: &mut Arena, size: usize) -> *mut u8 {
        arena.allocate(size, 32, JITMemoryKind::Executable).expect("memory")
    }

    fn may(at: *const u8) -> Protection {
        region::query(at).expect("a mapping").protection()
    }

    #[test]
    fn functions_lie_side_by_side_and_are_written_or_run() {
        let page = region::page::size();
        let mut arena = Arena::new(4 * page).expect("address space");
        let mut before: Option<(*mut u8, usize)> = None;
        for (batch, sizes) in [&[100, 17][..], &[2 * page], &[32, page / 2]].into_iter().enumerate() {
            for size in sizes {
                let at = allocate(&mut arena, *size);
                assert_eq!(at.addr() % 32, 0);
                if let Some((last, size)) = before {
                    assert!(at.addr() - last.addr() < size + 32, "batch {batch}");
                }
                for byte in 0..*size {
                    // SAFETY: just handed out.
                    unsafe { at.add(byte).write(batch as u8) };
                }
                before = Some((at, *size));
            }
            arena.finalize(BranchProtection::None).expect("pages that can be run");
            let (last, size) = before.expect("a function");
            for at in [arena.base(), last.cast_const(), last.wrapping_add(size - 1).cast_const()] {
                assert_eq!(may(at), Protection::READ_EXECUTE, "batch {batch}");
            }
        }
        let last = before.expect("functions").0;
        // SAFETY: written above.
        assert_eq!(unsafe { [arena.base().read(), arena.base().add(130).read()] }, [0, 0]);
        // The rest of a batch has no place: what lies on the page where it began can be run again.
        allocate(&mut arena, 8);
        assert_eq!(may(last), Protection::READ_WRITE);
        assert!(arena.allocate(2 * page, 32, JITMemoryKind::Executable).is_err(), "it is full");
        assert_eq!(may(last), Protection::READ_EXECUTE);
        assert!(arena.allocate(usize::MAX, 32, JITMemoryKind::Executable).is_err());
        assert!(arena.allocate(8, 8, JITMemoryKind::Writable).is_err());
        assert!(arena.finalize(BranchProtection::None).is_ok(), "nothing is new");
        for skew in [3, 31, 0, 17] {
            arena.place().begin_at(skew);
            assert_eq!(allocate(&mut arena, 40).addr() % 32, skew as usize);
            assert_eq!(allocate(&mut arena, 5).addr() % 32, 0, "for one function");
        }
        arena.finalize(BranchProtection::None).expect("pages that can be run");
        // SAFETY: nothing is run there.
        unsafe { arena.free_memory() };
        assert!(arena.allocate(8, 8, JITMemoryKind::Executable).is_err(), "it is gone");
    }
}
