//! Floats: comparisons, and the minimum and maximum that Cranelift has otherwise.

use crate::CodegenError;
use crate::function::Translator;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, Value};
use cranelift_frontend::FunctionBuilder;
use flowgraph::ir::{Const, Op, Operand};
use target_lexicon::Architecture;

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

    /// The lesser or the greater of two numbers, -0 being less than 0, or the number if the other one is NaN.
    /// (Cranelift's own answer would be NaN.)
    pub fn extreme(&mut self, op: &Op, which: Extreme) -> Result<(), CodegenError> {
        let (x, y) = (self.value(op.args[0])?, self.value(op.args[1])?);
        let may_be_nan = [op.args[0], op.args[1]].map(|arg| arg.constant().is_none_or(is_nan));
        let result = match self.architecture() {
            Architecture::X86_64 => self.extreme_in_vectors(op, which, x, y, may_be_nan),
            _ => {
                let of_numbers = match which {
                    Extreme::Least => self.b.ins().fmin(x, y),
                    Extreme::Greatest => self.b.ins().fmax(x, y),
                };
                let y_is_number = self.b.ins().fcmp(FloatCC::Equal, y, y);
                let unless_y = self.b.ins().select(y_is_number, of_numbers, x);
                let x_is_number = self.b.ins().fcmp(FloatCC::Equal, x, x);
                self.b.ins().select(x_is_number, unless_y, y)
            }
        };
        self.define(op.results[0], result);
        Ok(())
    }

    /// The same by x86-64's `minps` and its like, which give the second operand where both are zeros or one is NaN: in
    /// both orders they differ in the sign of a zero alone. No branch depends on what they give, unlike in what
    /// Cranelift makes of `fmin` and of a `select` of floats; only vectors are selected from without one.
    fn extreme_in_vectors(&mut self, op: &Op, which: Extreme, x: Value, y: Value, may_be_nan: [bool; 2]) -> Value {
        let ty = self.b.func.dfg.value_type(x);
        let Some(vector) = ty.by(128 / ty.bits()) else { unreachable!("{ty} has vectors") };
        let [x, y] = [x, y].map(|value| self.b.ins().scalar_to_vector(vector, value));
        let select = |b: &mut FunctionBuilder<'f>, cond, (left, right), x, y| {
            let flags = b.ins().fcmp(cond, left, right);
            let flags = b.ins().bitcast(vector, MemFlagsData::new().with_endianness(ir::Endianness::Little), flags);
            b.ins().bitselect(flags, x, y)
        };
        let in_order = |b: &mut FunctionBuilder<'f>, x, y| match which {
            Extreme::Least => select(b, FloatCC::LessThan, (x, y), x, y),
            Extreme::Greatest => select(b, FloatCC::LessThan, (y, x), x, y),
        };
        let mut result = in_order(self.b, x, y);
        // Where one is a number that is no zero, nothing depends on the order.
        let is_no_zero = |arg: &Operand| arg.constant().is_some_and(|constant| !is_zero(constant) && !is_nan(constant));
        if !op.args.iter().any(is_no_zero) {
            let other = in_order(self.b, y, x);
            result = match which {
                Extreme::Least => self.b.ins().bor(result, other),
                Extreme::Greatest => self.b.ins().band(result, other),
            };
        }
        for (may, tested, other) in [(may_be_nan[1], y, x), (may_be_nan[0], x, y)] {
            if may {
                result = select(self.b, FloatCC::Unordered, (tested, tested), other, result);
            }
        }
        self.b.ins().extractlane(result, 0)
    }
}

/// Which of two numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extreme {
    Least,
    Greatest,
}

fn is_nan(constant: Const) -> bool {
    match constant {
        Const::Float(bits) => f64::from_bits(bits).is_nan(),
        Const::Single(bits) => f32::from_bits(bits).is_nan(),
        _ => false,
    }
}

fn is_zero(constant: Const) -> bool {
    match constant {
        Const::Float(bits) => f64::from_bits(bits) == 0.0,
        Const::Single(bits) => f32::from_bits(bits) == 0.0,
        _ => false,
    }
}
