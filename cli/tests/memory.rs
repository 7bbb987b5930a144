//! What the memory of compiled code costs, with the allocator that the command has.
#![cfg(all(feature = "mimalloc", target_os = "linux"))]

use hueshift::flowgraph::memory::Memory;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Bytes of this process that are in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    line.trim().split(' ').next().and_then(|kilobytes| kilobytes.parse::<u64>().ok()).expect("a number") << 10
}

/// Whenever code is thrown away, the place for local arrays and structs goes, and another is made: no page of it is
/// touched before it is needed.
#[test]
fn large_regions_are_not_written_to_be_zero() {
    let mut memory = Memory::new();
    let size = 256 << 20;
    for _ in 0..5 {
        let before = resident();
        let region = memory.allocate(size);
        assert_eq!(memory.read(region + size - 100, 100), Ok(vec![0; 100]));
        memory.free(region);
        let again = memory.allocate(size);
        let grown = resident().saturating_sub(before);
        assert!(grown < size / 16, "{grown} bytes");
        memory.free(again);
    }
}
