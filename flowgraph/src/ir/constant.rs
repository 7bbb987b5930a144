//! Constants and operands.

use super::{Module, Type, ValueId, Word};

/// Names one item of constant data of a [`Module`]: a table of the source, or an argument known when compiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DataId(pub u32);

/// A constant. Floats are held by their bits, so that constants can be compared and hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Const {
    /// An integer of the type [`Type::Int`].
    Int(i64),
    /// The bits of an `f64`.
    Float(u64),
    /// The bits of an `f32`.
    Single(u32),
    /// `offset` bytes into an item of data: an address that is known, but differs from run to run.
    Addr(DataId, i64),
}

impl Const {
    /// The type of the constant.
    pub fn ty(self) -> Type {
        match self {
            Const::Int(_) | Const::Addr(..) => Type::Int,
            Const::Float(_) => Type::Float,
            Const::Single(_) => Type::Single,
        }
    }

    /// The constant of type `ty` whose bits are `word`.
    pub fn from_word(ty: Type, word: Word) -> Const {
        match ty {
            Type::Int => Const::Int(word as i64),
            Type::Float => Const::Float(word),
            Type::Single => Const::Single(word as u32),
        }
    }

    /// The bits, if they don't depend on where data lies.
    pub fn word(self) -> Option<Word> {
        match self {
            Const::Int(i) => Some(i as Word),
            Const::Float(bits) => Some(bits),
            Const::Single(bits) => Some(u64::from(bits)),
            Const::Addr(..) => None,
        }
    }

    /// The integer, if it is one.
    pub fn as_int(self) -> Option<i64> {
        match self {
            Const::Int(i) => Some(i),
            _ => None,
        }
    }
}

/// What an op works on: a value or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operand {
    /// An SSA value of the same graph.
    Value(ValueId),
    /// A constant.
    Const(Const),
}

impl Operand {
    /// An integer constant.
    pub const fn int(i: i64) -> Operand {
        Operand::Const(Const::Int(i))
    }

    /// The value, if it is one.
    pub fn value(self) -> Option<ValueId> {
        match self {
            Operand::Value(v) => Some(v),
            Operand::Const(_) => None,
        }
    }

    /// The constant, if it is one.
    pub fn constant(self) -> Option<Const> {
        match self {
            Operand::Value(_) => None,
            Operand::Const(c) => Some(c),
        }
    }

    /// The constant integer, if it is one.
    pub fn as_int(self) -> Option<i64> {
        self.constant().and_then(Const::as_int)
    }
}

impl From<ValueId> for Operand {
    fn from(v: ValueId) -> Operand {
        Operand::Value(v)
    }
}

impl From<Const> for Operand {
    fn from(c: Const) -> Operand {
        Operand::Const(c)
    }
}

impl Module {
    /// The address constant of the start of `data`.
    pub fn address_of(&self, data: DataId) -> Const {
        Const::Addr(data, 0)
    }
}
