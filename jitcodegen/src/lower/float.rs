//! Floats: comparisons, and the minimum and maximum that Cranelift has otherwise.

use crate::CodegenError;
use crate::function::Translator;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, Value};
use cranelift_frontend::FunctionBuilder;
use flowgraph::ir::Op;

/// The same bits as another type of the same size.
pub(super) fn bits(b: &mut FunctionBuilder, ty: ir::Type, value: Value) -> Value {
    b.ins().bitcast(ty, MemFlagsData::new(), value)
}

impl<'f> Translator<'_, 'f, '_> {
    /// A comparison.
    pub fn compare_floats(&mut self, op: &Op, cond: FloatCC) -> Result<(), CodegenError> {
        let (x, y) = (self.value(op.args[0])?, self.value(op.args[1])?);
        let flag = self.b.ins().fcmp(cond, x, y);
        self.define_flag(op.results[0], flag);
        Ok(())
    }

    /// A product plus a third, rounded once.
    pub fn fma(&mut self, op: &Op) -> Result<(), CodegenError> {
        let (x, y) = (self.value(op.args[0])?, self.value(op.args[1])?);
        let z = self.value(op.args[2])?;
        let result = self.b.ins().fma(x, y, z);
        self.define(op.results[0], result);
        Ok(())
    }

    /// `emit` of two numbers, or the number if the other one is NaN. (Cranelift's own answer would be NaN.)
    pub fn number_or(
        &mut self,
        op: &Op,
        emit: impl FnOnce(&mut FunctionBuilder<'f>, Value, Value) -> Value,
    ) -> Result<(), CodegenError> {
        let (x, y) = (self.value(op.args[0])?, self.value(op.args[1])?);
        let of_numbers = emit(self.b, x, y);
        let y_is_number = self.b.ins().fcmp(FloatCC::Equal, y, y);
        let unless_y = self.b.ins().select(y_is_number, of_numbers, x);
        let x_is_number = self.b.ins().fcmp(FloatCC::Equal, x, x);
        let result = self.b.ins().select(x_is_number, unless_y, y);
        self.define(op.results[0], result);
        Ok(())
    }
}
