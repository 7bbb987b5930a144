//! Expressions: every op that only computes, on values of every width.

use super::build::{Builder, Deps, Val, both};
use crate::ir::*;
use std::sync::LazyLock;

/// The ops that compute one result of a type.
struct Pool {
    int: Vec<Opcode>,
    float: Vec<Opcode>,
    single: Vec<Opcode>,
}

static POOL: LazyLock<Pool> = LazyLock::new(|| {
    let of = |ty| {
        let ops = Opcode::ALL.iter().copied();
        ops.filter(|op| op.is_pure() && op.results() == [OperandType::Is(ty)]).collect()
    };
    Pool { int: of(Type::Int), float: of(Type::Float), single: of(Type::Single) }
});

/// The scalars of variables.
pub(super) const SCALARS: [Scalar; 17] = [
    Scalar::I64,
    Scalar::U8,
    Scalar::F64,
    Scalar::F32,
    Scalar::F64,
    Scalar::F32,
    Scalar::F32,
    Scalar::F64,
    Scalar::I32,
    Scalar::Bool,
    Scalar::U64,
    Scalar::F32,
    Scalar::I8,
    Scalar::U16,
    Scalar::I16,
    Scalar::U32,
    Scalar::Usize,
];

impl Builder<'_, '_> {
    pub fn scalar(&mut self) -> Scalar {
        // Many variables are plain integers.
        if self.source.chance(3, 5) { SCALARS[self.source.below(SCALARS.len())] } else { Scalar::I64 }
    }

    /// A constant.
    pub fn constant(&mut self, scalar: Scalar) -> Val {
        let constant = match scalar.ty() {
            Type::Int if scalar == Scalar::Usize && self.source.chance(1, 2) => Const::Int(self.source.below(6) as i64),
            Type::Int => Const::Int(scalar.canonical(self.source.int() as u64) as i64),
            Type::Float => Const::Float(self.source.float()),
            Type::Single => Const::Single((f64::from_bits(self.source.float()) as f32).to_bits()),
        };
        Val { operand: Operand::Const(constant), scalar, deps: Some(0) }
    }

    /// A variable or a constant of this scalar.
    pub fn leaf(&mut self, scalar: Scalar) -> Val {
        let fits = |val: &Val| {
            (val.scalar == scalar || (scalar == Scalar::I64 && val.scalar.ty() == Type::Int))
                && (!self.only_green || val.deps.is_some_and(|deps| deps & !self.allowed == 0))
        };
        let vars: Vec<Val> = self.vars.iter().copied().filter(fits).collect();
        if vars.is_empty() || self.source.chance(1, 4) {
            return self.constant(scalar);
        }
        let index = self.source.below(vars.len());
        // The newest first.
        Val { scalar, ..vars[vars.len() - 1 - index] }
    }

    /// A value of this scalar: a leaf, or an expression.
    pub fn expr(&mut self, scalar: Scalar, depth: usize) -> Val {
        if depth == 0 || self.source.chance(1, 4) {
            return self.leaf(scalar);
        }
        match scalar {
            Scalar::F64 => self.pure_op(Type::Float, depth),
            Scalar::F32 => self.pure_op(Type::Single, depth),
            Scalar::I64 | Scalar::U64 | Scalar::Usize if self.source.chance(3, 4) => {
                Val { scalar, ..self.pure_op(Type::Int, depth) }
            }
            _ => self.narrow(scalar, depth),
        }
    }

    /// Arithmetic as the front end writes it: on the width of the type.
    fn narrow(&mut self, scalar: Scalar, depth: usize) -> Val {
        const OPS: [Opcode; 8] = [
            Opcode::IntAdd,
            Opcode::IntSub,
            Opcode::IntMul,
            Opcode::IntAnd,
            Opcode::IntOr,
            Opcode::IntXor,
            Opcode::IntLshift,
            Opcode::UintRshift,
        ];
        if self.source.chance(1, 4) {
            // A cast.
            let from = self.scalar();
            let from = if from.is_float() { Scalar::I64 } else { from };
            let val = self.expr(from, depth - 1);
            return self.canonical(val, scalar);
        }
        let opcode = OPS[self.source.below(OPS.len())];
        let a = self.expr(scalar, depth - 1);
        let mut b = self.expr(scalar, depth - 1);
        if matches!(opcode, Opcode::IntLshift | Opcode::UintRshift) {
            b.operand = self.int_op(Opcode::IntAnd, b.operand, Operand::int(i64::from(scalar.bits()) - 1));
        }
        let operand = self.int_op(opcode, a.operand, b.operand);
        self.canonical(Val { operand, scalar: Scalar::I64, deps: both(a.deps, b.deps) }, scalar)
    }

    /// The value in the form that words of `scalar` have.
    pub fn canonical(&mut self, val: Val, scalar: Scalar) -> Val {
        let operand = match scalar {
            Scalar::Bool => self.op1(Opcode::IntIsTrue, &[val.operand], Type::Int),
            _ if scalar.bits() == 64 => val.operand,
            _ if scalar.is_signed() => {
                self.int_op(Opcode::IntSignext, val.operand, Operand::int(i64::from(scalar.bits()) / 8))
            }
            _ => self.int_op(Opcode::IntAnd, val.operand, Operand::int((1 << scalar.bits()) - 1)),
        };
        Val { operand, scalar, deps: val.deps }
    }

    /// Any op of the table with one result of this type.
    fn pure_op(&mut self, ty: Type, depth: usize) -> Val {
        let (pool, scalar) = match ty {
            Type::Int => (&POOL.int, Scalar::I64),
            Type::Float => (&POOL.float, Scalar::F64),
            Type::Single => (&POOL.single, Scalar::F32),
        };
        let opcode = pool[self.source.below(pool.len())];
        let mut args = Vec::new();
        let mut deps: Deps = Some(0);
        for (i, wanted) in opcode.operands().iter().enumerate() {
            let scalar = match wanted {
                OperandType::Is(Type::Float) => Scalar::F64,
                OperandType::Is(Type::Single) => Scalar::F32,
                _ => Scalar::I64,
            };
            let mut val = self.expr(scalar, depth - 1);
            if opcode == Opcode::IntSignext && i == 1 {
                val = Val::int([1, 2, 4, 8][self.source.below(4)]);
            }
            let shows_bits = matches!(
                (opcode, i),
                (Opcode::FloatToBits | Opcode::SingleToBits, 0) | (Opcode::FloatCopysign | Opcode::SingleCopysign, 1)
            );
            if shows_bits {
                val = self.no_nan(val);
            }
            deps = both(deps, val.deps);
            args.push(val.operand);
        }
        Val { operand: self.op1(opcode, &args, ty), scalar, deps }
    }

    /// The value, or 0 if it is a NaN: of NaNs only that they are one is the same everywhere.
    pub fn no_nan(&mut self, val: Val) -> Val {
        let (equal, select, zero) = match val.scalar {
            Scalar::F64 => (Opcode::FloatEq, Opcode::FloatSelect, Const::Float(0)),
            Scalar::F32 => (Opcode::SingleEq, Opcode::SingleSelect, Const::Single(0)),
            _ => return val,
        };
        let is_number = self.op1(equal, &[val.operand, val.operand], Type::Int);
        let args = [is_number, val.operand, Operand::Const(zero)];
        Val { operand: self.op1(select, &args, val.scalar.ty()), ..val }
    }

    /// Something to decide on.
    pub fn condition(&mut self) -> Val {
        const COMPARISONS: [Opcode; 8] = [
            Opcode::IntLt,
            Opcode::IntEq,
            Opcode::IntNe,
            Opcode::IntGe,
            Opcode::IntGt,
            Opcode::IntLe,
            Opcode::UintLt,
            Opcode::UintGe,
        ];
        if self.source.chance(1, 3) {
            return self.expr(Scalar::Bool, 2);
        }
        let (a, b) = (self.expr(Scalar::I64, 1), self.leaf(Scalar::I64));
        let opcode = COMPARISONS[self.source.below(COMPARISONS.len())];
        Val { operand: self.int_op(opcode, a.operand, b.operand), scalar: Scalar::Bool, deps: both(a.deps, b.deps) }
    }

    /// A small number from 0 on: a value masked to at most `limit`, which is one less than a power of two.
    pub fn small(&mut self, val: Val, limit: i64) -> Val {
        Val { operand: self.int_op(Opcode::IntAnd, val.operand, Operand::int(limit)), scalar: Scalar::I64, ..val }
    }
}
