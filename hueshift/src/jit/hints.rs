//! Looking now and then whether what authors say of values is true.

use flowgraph::ir::Type;
use jitcodegen::{CodegenError, Engine, Helper};
use std::cell::Cell;
use timeshifter::specialize::LOOK_AT_HINT;

/// Registers the function that says whether to look now: the first time that it is asked, then once in `every` times,
/// as chance has it. Strictly each so many times would be the same one of two hints in a loop, always.
pub(super) fn register(code: &mut Engine, every: u64) -> Result<(), CodegenError> {
    if every == 0 {
        return Ok(());
    }
    let state = Cell::new(0u64);
    let function = move |_: &jitcodegen::HelperCx<'_>, _: &[u64], results: &mut [u64]| {
        let drawn = state.get();
        // Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014): 0 is first, and gives 0.
        state.set(drawn.wrapping_add(0x9E37_79B9_7F4A_7C15));
        let mixed = (drawn ^ drawn >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        results[0] = u64::from((mixed ^ mixed >> 31).is_multiple_of(every));
        Ok(())
    };
    let helper = Helper { params: Vec::new(), results: vec![Type::Int], function: Box::new(function), direct: None };
    code.register_helper(LOOK_AT_HINT, helper)
}
