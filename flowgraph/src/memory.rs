//! The memory of a guest: regions of real memory with stable addresses, so that the evaluator and native code share it.
//!
//! A region is made by [`Memory::allocate`], or for each item of a module's data by [`Memory::for_module`]. Every load
//! and store of the evaluator is checked against the regions: a wild access is an error ([`BadAccess`]), never
//! undefined behaviour. Native code gets the same addresses and is not checked, since its graphs carry the guest's own
//! bounds checks; unless they come from text that somebody may have edited ([`Memory::bounds`]).
//!
//! ```
//! use flowgraph::{ir::Access, memory::Memory};
//! let mut memory = Memory::new();
//! let at = memory.allocate(16);
//! memory.store(at + 8, Access::U8, 0x1ff).unwrap();
//! assert_eq!(memory.load(at + 8, Access::U8), Ok(0xff));
//! assert!(memory.load(at + 16, Access::U8).is_err());
//! ```
//!
//! Where an interpreter is embedded in a program, its memory is that program's: [`Memory::adopt_data`] makes an item of
//! data of a piece of it, and [`Memory::trust_foreign`] lets the evaluator reach the rest, as native code does.
//!
//! Not promised: the addresses themselves, which differ from run to run; [`Memory::symbol`] gives those inside a
//! module's data a name that does not.
#![allow(unsafe_code)] // raw loads and stores, inside regions that this module allocated and checks

use crate::host::Hosts;
use crate::ir::{Access, Const, DataId, Module, Word};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// An access to a place that belongs to no region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} of {size} bytes at {address:#x}, which belongs to no region of memory", if *write { "store" } else { "load" })]
pub struct BadAccess {
    /// The address.
    pub address: u64,
    /// How many bytes.
    pub size: u64,
    /// Whether it was a store.
    pub write: bool,
}

/// Zeroed bytes, aligned to 16, given back when dropped.
#[derive(Debug)]
struct Block {
    start: *mut u8,
    layout: Layout,
}

/// Blocks of so many bytes come from the system, which maps pages that are zero when they are touched first: a
/// program's own allocator may take a block that was freed, and write all of it.
const LARGE: usize = 1 << 20;

impl Block {
    /// Behind the region there is always a spare word, so that the address of its end belongs to no other region.
    fn new(size: u64) -> Block {
        let bytes = usize::try_from(size).unwrap_or(usize::MAX).saturating_add(16) & !7;
        let Ok(layout) = Layout::from_size_align(bytes, 16) else { out_of_memory(size) };
        let start = if layout.size() < LARGE {
            // SAFETY: the layout's size is at least 8.
            unsafe { std::alloc::alloc_zeroed(layout) }
        } else {
            // SAFETY: as above.
            unsafe { System.alloc_zeroed(layout) }
        };
        if start.is_null() {
            std::alloc::handle_alloc_error(layout);
        }
        Block { start, layout }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.layout.size() < LARGE {
            // SAFETY: allocated with this very layout by `Block::new`, and dropped once.
            unsafe { std::alloc::dealloc(self.start, self.layout) }
        } else {
            // SAFETY: as above, by the system's allocator.
            unsafe { System.dealloc(self.start, self.layout) }
        }
    }
}

fn out_of_memory(size: u64) -> ! {
    panic!("a region of {size} bytes is larger than the address space")
}

#[derive(Debug)]
struct Region {
    size: u64,
    /// `None` for memory that belongs to somebody else.
    owner: Option<Block>,
}

/// The bytes of all regions at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    regions: Vec<(u64, Vec<u8>)>,
}

/// Which addresses belong to a memory's regions, at every moment: for generated code that is not to be trusted.
#[derive(Clone, Debug, Default)]
pub struct Bounds(Rc<RefCell<BTreeMap<u64, u64>>>);

impl Bounds {
    /// Whether all of these bytes lie in one region.
    pub fn cover(&self, address: u64, size: u64) -> bool {
        let regions = self.0.borrow();
        let region = regions.range(..=address).next_back();
        region.is_some_and(|(start, len)| size <= *len && address - start <= len - size)
    }
}

/// Whether addresses outside of all regions may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Foreign {
    /// Never: nobody has vouched for them.
    #[default]
    Unknown,
    /// Not now.
    Closed,
    /// Now.
    Open,
}

/// The lowest address that can be anybody's: no system maps what is below.
const LOWEST: u64 = 4096;

/// The memory of a guest.
#[derive(Debug, Default)]
pub struct Memory {
    regions: BTreeMap<u64, Region>,
    /// The bytes of all regions of its own.
    allocated: u64,
    /// Those that [`Memory::bounds`] has given away.
    bounds: Option<Bounds>,
    /// By [`DataId`]: address and size.
    data: Vec<(u64, u64)>,
    /// By address: which data.
    symbols: BTreeMap<u64, DataId>,
    /// Start and end of the region that was touched last.
    last: Cell<(u64, u64)>,
    hosts: Hosts,
    /// What belongs to no region is memory of the embedding program.
    foreign: Foreign,
}

impl Memory {
    /// Memory without regions.
    pub fn new() -> Memory {
        Memory::default()
    }

    /// The functions of the host that graphs find here.
    pub fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// Sets the functions of the host that graphs find here.
    pub fn set_hosts(&mut self, hosts: Hosts) {
        self.hosts = hosts;
    }

    /// Memory with a region for each item of the module's data.
    pub fn for_module(module: &Module) -> Memory {
        let mut memory = Memory::new();
        memory.add_data(module);
        memory
    }

    /// Places the data items of the module that have no place yet: those added since the memory was made.
    pub fn add_data(&mut self, module: &Module) {
        let placed = self.data.len().min(module.data.len());
        for data in &module.data[placed..] {
            let at = self.allocate(data.bytes.len() as u64);
            self.fill(at, &data.bytes);
            self.symbols.insert(at, DataId(self.data.len() as u32));
            self.data.push((at, data.bytes.len() as u64));
        }
        for (i, data) in module.data.iter().enumerate().skip(placed) {
            for (offset, to) in &data.references {
                let (at, target) = (self.data[i].0 + u64::from(*offset), self.data_address(*to));
                self.store(at, Access::I64, target).unwrap_or_else(|_| unreachable!("a reference lies in its item"));
            }
        }
    }

    /// Where an item of the module's data lies; 0 if it has no place.
    pub fn data_address(&self, data: DataId) -> u64 {
        self.data.get(data.0 as usize).map_or(0, |d| d.0)
    }

    /// How many bytes an item of the module's data has; 0 if it has no place.
    pub fn data_size(&self, data: DataId) -> u64 {
        self.data.get(data.0 as usize).map_or(0, |d| d.1)
    }

    /// The bits of a constant.
    pub fn resolve(&self, constant: Const) -> Word {
        match constant {
            Const::Addr(data, offset) => self.data_address(data).wrapping_add(offset as u64),
            Const::Int(i) => i as Word,
            Const::Float(bits) => bits,
            Const::Single(bits) => u64::from(bits),
        }
    }

    /// The name of an address inside an item of the module's data, or just behind it.
    pub fn symbol(&self, address: u64) -> Option<Const> {
        let (start, data) = self.symbols.range(..=address).next_back()?;
        let offset = address - start;
        (offset <= self.data.get(data.0 as usize)?.1).then_some(Const::Addr(*data, offset as i64))
    }

    /// A new region of `size` bytes, all zero, aligned to 16.
    pub fn allocate(&mut self, size: u64) -> u64 {
        let block = Block::new(size);
        let at = block.start.expose_provenance() as u64;
        self.insert(at, Region { size, owner: Some(block) });
        at
    }

    /// The bytes of all regions that were allocated and not freed.
    pub fn allocated(&self) -> u64 {
        self.allocated
    }

    fn insert(&mut self, at: u64, region: Region) {
        if region.owner.is_some() {
            self.allocated += region.size;
        }
        if let Some(Bounds(bounds)) = &self.bounds {
            bounds.borrow_mut().insert(at, region.size);
        }
        self.regions.insert(at, region);
    }

    /// A view of which addresses belong to regions, now and later.
    pub fn bounds(&mut self) -> Bounds {
        let sizes = self.regions.iter().map(|(at, region)| (*at, region.size));
        self.bounds.get_or_insert_with(|| Bounds(Rc::new(RefCell::new(sizes.collect())))).clone()
    }

    /// Makes an existing piece of memory a region, until [`Memory::free`] forgets it.
    ///
    /// # Safety
    /// `size` bytes from `address` can be read and written until then, and nobody holds a Rust reference to them while
    /// this memory is used. They must not overlap another region.
    pub unsafe fn borrow(&mut self, address: u64, size: u64) {
        self.insert(address, Region { size, owner: None });
    }

    /// Gives the next item of a module's data, one that has no place yet, its place at `size` bytes from `address`.
    /// Items must be given their places in the order of their ids.
    ///
    /// # Safety
    /// As for [`Memory::borrow`], except that the bytes need not be writable where graphs only read them.
    pub unsafe fn adopt_data(&mut self, address: u64, size: u64) -> DataId {
        let id = DataId(self.data.len() as u32);
        self.insert(address, Region { size, owner: None });
        self.symbols.insert(address, id);
        self.data.push((address, size));
        id
    }

    /// Lets [`Memory::open_foreign`] have addresses outside of all regions used as those of the embedding program.
    ///
    /// # Safety
    /// While this memory is open, only graphs that were lifted from a source that rustc has accepted may be run on it,
    /// with arguments of the types of that source: they access nothing but what those types give them.
    pub unsafe fn trust_foreign(&mut self) {
        self.foreign = Foreign::Closed;
    }

    /// From now on addresses outside of all regions may be used, or may not, if somebody has vouched for them at all
    /// ([`Memory::trust_foreign`]). Open is what runs need. A specializer looks behind branches that are never taken,
    /// so a constant may be no address there though it would have to be one: it needs the memory closed.
    pub fn open_foreign(&mut self, open: bool) {
        if self.foreign != Foreign::Unknown {
            self.foreign = if open { Foreign::Open } else { Foreign::Closed };
        }
    }

    /// Whether the embedding program's own addresses may be used ([`Memory::open_foreign`]).
    pub fn is_open(&self) -> bool {
        self.foreign == Foreign::Open
    }

    /// Whether something may lie at an address: in a region, or among what the embedding program has, of which nothing
    /// is known.
    pub fn may_be_address(&self, address: u64) -> bool {
        self.foreign != Foreign::Unknown && address >= LOWEST || self.check(address, 1, false).is_ok()
    }

    /// Frees the region that starts at `address`; nothing happens if there is none.
    pub fn free(&mut self, address: u64) {
        if let Some(Region { size, owner: Some(_) }) = self.regions.remove(&address) {
            self.allocated -= size;
        }
        if let Some(Bounds(bounds)) = &self.bounds {
            bounds.borrow_mut().remove(&address);
        }
        self.last.set((0, 0));
    }

    /// The size of the region that begins there, in bytes.
    pub fn size_of(&self, address: u64) -> Option<u64> {
        self.regions.get(&address).map(|region| region.size)
    }

    /// The number of regions.
    pub fn regions(&self) -> usize {
        self.regions.len()
    }

    fn check(&self, address: u64, size: u64, write: bool) -> Result<*mut u8, BadAccess> {
        let bad = BadAccess { address, size, write };
        let end = address.checked_add(size).ok_or(bad)?;
        let last = self.last.get();
        let is_foreign = || self.foreign == Foreign::Open && address >= LOWEST;
        if (address < last.0 || end > last.1) && !is_foreign() {
            match self.regions.range(..=address).next_back() {
                Some((start, region)) if end <= start + region.size => self.last.set((*start, start + region.size)),
                _ => return Err(bad),
            }
        }
        Ok(std::ptr::with_exposed_provenance_mut(address as usize))
    }

    /// Loads a word.
    ///
    /// # Errors
    /// If the place belongs to no region.
    pub fn load(&self, address: u64, access: Access) -> Result<Word, BadAccess> {
        let size = access.size() as usize;
        let place = self.check(address, size as u64, false)?;
        // SAFETY: `check` found the bytes in a region.
        let word = unsafe {
            match size {
                1 => u64::from(place.read()),
                2 => u64::from(u16::from_le_bytes(place.cast::<[u8; 2]>().read())),
                4 => u64::from(u32::from_le_bytes(place.cast::<[u8; 4]>().read())),
                _ => u64::from_le_bytes(place.cast::<[u8; 8]>().read()),
            }
        };
        Ok(access.truncate(word))
    }

    /// Stores the low bytes of a word.
    ///
    /// # Errors
    /// If the place belongs to no region.
    pub fn store(&mut self, address: u64, access: Access, word: Word) -> Result<(), BadAccess> {
        let size = access.size() as usize;
        let place = self.check(address, size as u64, true)?;
        // SAFETY: as for `load`.
        unsafe { std::ptr::copy_nonoverlapping(word.to_le_bytes().as_ptr(), place, size) };
        Ok(())
    }

    /// Copies bytes out.
    ///
    /// # Errors
    /// If the place belongs to no region.
    pub fn read(&self, address: u64, size: u64) -> Result<Vec<u8>, BadAccess> {
        if size == 0 {
            return Ok(Vec::new());
        }
        let place = self.check(address, size, false)?;
        let mut bytes = vec![0; size as usize];
        // SAFETY: as for `load`.
        unsafe { std::ptr::copy_nonoverlapping(place, bytes.as_mut_ptr(), bytes.len()) };
        Ok(bytes)
    }

    /// Copies bytes in.
    ///
    /// # Errors
    /// If the place belongs to no region.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BadAccess> {
        if !bytes.is_empty() {
            let place = self.check(address, bytes.len() as u64, true)?;
            // SAFETY: as for `load`.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len()) };
        }
        Ok(())
    }

    fn fill(&mut self, at: u64, bytes: &[u8]) {
        self.write(at, bytes).unwrap_or_else(|_| unreachable!("a fresh region holds its bytes"));
    }

    /// The bytes of all regions.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshot_but(None)
    }

    /// The bytes of all regions but the one that starts at `large`, whose bytes will be left as they are then.
    pub fn snapshot_but(&self, large: Option<u64>) -> Snapshot {
        let size = |at: u64, region: &Region| if large == Some(at) { 0 } else { region.size };
        let bytes = |(at, region): (&u64, &Region)| Some((*at, self.read(*at, size(*at, region)).ok()?));
        Snapshot { regions: self.regions.iter().filter_map(bytes).collect() }
    }

    /// Puts all bytes back, and frees what was allocated since. (A region that was freed since stays freed.)
    pub fn restore(&mut self, snapshot: &Snapshot) {
        let known: std::collections::BTreeSet<u64> = snapshot.regions.iter().map(|r| r.0).collect();
        let late: Vec<u64> = self.regions.keys().copied().filter(|at| !known.contains(at)).collect();
        late.into_iter().for_each(|at| self.free(at));
        self.refill(snapshot);
    }

    /// Puts all bytes back, and frees nothing: what was allocated since stays as it is.
    pub fn refill(&mut self, snapshot: &Snapshot) {
        for (at, bytes) in &snapshot.regions {
            if self.regions.get(at).is_some_and(|r| r.size == bytes.len() as u64) {
                self.fill(*at, bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Data, RustType, Scalar};

    #[test]
    fn every_access_loads_what_it_stored() {
        let mut memory = Memory::new();
        let at = memory.allocate(8);
        for access in Access::ALL {
            for word in [0, 1, 0x80, 0xff80, 0xffff_8001, u64::MAX, 0x0102_0304_0506_0708] {
                memory.store(at, access, word).unwrap();
                assert_eq!(memory.load(at, access), Ok(access.truncate(word)), "{access:?}");
            }
        }
    }

    #[test]
    fn accesses_outside_are_errors() {
        let mut memory = Memory::new();
        let at = memory.allocate(6);
        assert!(memory.load(at + 2, Access::U32).is_ok());
        assert_eq!(memory.load(at + 3, Access::U32), Err(BadAccess { address: at + 3, size: 4, write: false }));
        assert!(memory.store(at - 1, Access::U8, 0).is_err());
        assert!(memory.load(u64::MAX, Access::I64).is_err());
        memory.free(at);
        assert!(memory.load(at, Access::U8).is_err());
    }

    #[test]
    fn bounds_follow_the_regions() {
        let mut memory = Memory::new();
        let at = memory.allocate(6);
        let bounds = memory.bounds();
        assert!(bounds.cover(at, 6) && bounds.cover(at + 4, 2) && bounds.cover(at + 6, 0));
        assert!(!bounds.cover(at, 7) && !bounds.cover(at + 4, 4) && !bounds.cover(at.wrapping_sub(1), 1));
        assert!(!bounds.cover(u64::MAX, 8) && !bounds.cover(at, u64::MAX) && !bounds.cover(0, 1));
        let snapshot = memory.snapshot();
        let late = memory.allocate(8);
        assert!(bounds.cover(late, 8));
        assert_eq!(memory.allocated(), 14);
        memory.restore(&snapshot);
        assert!(!bounds.cover(late, 8) && bounds.cover(at, 6));
        memory.free(at);
        assert!(!bounds.cover(at, 1));
        assert_eq!(memory.allocated(), 0);
    }

    #[test]
    fn foreign_memory_is_used_while_it_is_open() {
        let mut value = 7u64;
        let at = std::ptr::from_mut(&mut value).expose_provenance() as u64;
        let mut memory = Memory::new();
        memory.open_foreign(true);
        assert!(memory.load(at, Access::I64).is_err(), "nobody has vouched for it");
        // SAFETY: only `value` is accessed.
        unsafe { memory.trust_foreign() };
        assert!(memory.load(at, Access::I64).is_err());
        memory.open_foreign(true);
        assert_eq!(memory.load(at, Access::I64), Ok(7));
        memory.store(at, Access::I64, 8).unwrap();
        assert!(memory.load(8, Access::I64).is_err());
        memory.open_foreign(false);
        assert!(memory.load(at, Access::I64).is_err());
        // SAFETY: `value` is alive, and not used meanwhile.
        let id = unsafe { memory.adopt_data(at, 8) };
        assert_eq!(memory.load(at, Access::I64), Ok(8));
        assert_eq!(memory.symbol(at), Some(Const::Addr(id, 0)));
    }

    #[test]
    fn data_has_symbols() {
        let mut module = Module::default();
        let ty = RustType::Array(Box::new(RustType::Scalar(Scalar::U8)), 3);
        let id = module.add_data(Data::plain("T", ty, vec![1, 2, 3]));
        let mut memory = Memory::for_module(&module);
        let at = memory.resolve(Const::Addr(id, 1));
        assert_eq!(memory.load(at, Access::U8), Ok(2));
        assert_eq!(memory.symbol(at + 2), Some(Const::Addr(id, 3)));
        assert_eq!(memory.symbol(at + 3), None);
        let slice = RustType::Slice { mutable: false, elem: Box::new(RustType::Scalar(Scalar::U8)) };
        let table = Data { references: vec![(0, id)], ..Data::plain("S", slice, vec![0; 16]) };
        let table = module.add_data(table);
        memory.add_data(&module);
        assert_eq!(memory.load(memory.data_address(table), Access::I64), Ok(memory.data_address(id)));
        let other = memory.allocate(4);
        assert_eq!(memory.symbol(other), None);
    }

    #[test]
    fn snapshots_restore() {
        let mut memory = Memory::new();
        let at = memory.allocate(8);
        memory.store(at, Access::I64, 7).unwrap();
        let snapshot = memory.snapshot();
        memory.store(at, Access::I64, 8).unwrap();
        let late = memory.allocate(8);
        memory.restore(&snapshot);
        assert_eq!(memory.load(at, Access::I64), Ok(7));
        assert!(memory.load(late, Access::I64).is_err());
        assert_eq!(memory.snapshot(), snapshot);
    }

    #[test]
    fn snapshots_refill() {
        let mut memory = Memory::new();
        let (small, large) = (memory.allocate(8), memory.allocate(4096));
        let snapshot = memory.snapshot_but(Some(large));
        let late = memory.allocate(8);
        for (at, word) in [(small, 1), (large, 2), (late, 3)] {
            memory.store(at, Access::I64, word).unwrap();
        }
        memory.refill(&snapshot);
        assert_eq!([small, large, late].map(|at| memory.load(at, Access::I64)), [Ok(0), Ok(2), Ok(3)]);
        memory.restore(&snapshot);
        assert_eq!(memory.load(large, Access::I64), Ok(2));
        assert!(memory.load(late, Access::I64).is_err());
    }
}
