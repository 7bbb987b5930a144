//! Looking now and then whether what authors say of values is true.

use flowgraph::ir::Type;
use jitcodegen::{CodegenError, Engine, Helper};
use std::cell::Cell;
use timeshifter::specialize::LOOK_AT_HINT;

/// Registers the function that says whether to look now: each `every` times that it is asked, from the first time on.
pub(super) fn register(code: &mut Engine, every: u64) -> Result<(), CodegenError> {
    if every == 0 {
        return Ok(());
    }
    let left = Cell::new(0);
    let function = move |_: &jitcodegen::HelperCx, _: &[u64], results: &mut [u64]| {
        let looks = left.get() == 0;
        left.set(if looks { every - 1 } else { left.get() - 1 });
        results[0] = u64::from(looks);
        Ok(())
    };
    let helper = Helper { params: Vec::new(), results: vec![Type::Int], function: Box::new(function) };
    code.register_helper(LOOK_AT_HINT, helper)
}
