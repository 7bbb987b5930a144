//! The targets of `hueshift_tests::fuzz` for libFuzzer. `docs/internals.md` says how they are run.

pub use hueshift_tests::fuzz;
pub use libfuzzer_sys;

use fuzz::Target;

/// One damage in four is libFuzzer's own; the others are those of the target.
pub fn mutate(target: &Target, data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    if seed % 4 == 0 {
        return libfuzzer_sys::fuzzer_mutate(data, size, most);
    }
    let damaged = target.mutation(&data[..size], u64::from(seed));
    let size = damaged.len().min(most);
    data[..size].copy_from_slice(&damaged[..size]);
    size
}

/// The whole of a fuzz target: the name of one of `hueshift_tests::fuzz`.
#[macro_export]
macro_rules! target {
    ($target:ident) => {
        $crate::libfuzzer_sys::fuzz_target!(|data: &[u8]| {
            ($crate::fuzz::$target.body)(data);
        });
        $crate::libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            $crate::mutate(&$crate::fuzz::$target, data, size, max_size, seed)
        });
    };
}
