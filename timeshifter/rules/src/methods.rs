//! What rules may ask of bounds: a row a method, from which the type checker, the interpreter, the compiler and the
//! prover take what they need to know.

use flowgraph::ir::Opcode;

macro_rules! rows {
    ($(#[$doc:meta])* $kind:ident { $($(#[$row:meta])* $variant:ident = $name:literal, $method:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $kind { $($(#[$row])* $variant,)* }

        impl $kind {
            /// All of them.
            pub const ALL: &[$kind] = &[$($kind::$variant,)*];

            /// The name in rules.
            pub fn name(self) -> &'static str {
                match self { $($kind::$variant => $name,)* }
            }

            /// The name of the method of [`bounds::Bound`].
            pub fn method(self) -> &'static str {
                match self { $($kind::$variant => $method,)* }
            }

            pub(crate) fn named(name: &str) -> Option<$kind> {
                $kind::ALL.iter().copied().find(|one| one.name() == name)
            }
        }
    };
}

rows! {
    /// Parts of a bound, each an integer.
    Attribute {
        /// The smallest member.
        Lower = "lower", "lower";
        /// The largest member.
        Upper = "upper", "upper";
        /// The bits that are known to be 1.
        Ones = "ones", "ones";
        /// The bits that are known to be 0.
        Zeros = "zeros", "zeros";
        /// The known bits, 0 where they aren't known.
        Tvalue = "tvalue", "tvalue";
        /// The bits that aren't known.
        Tmask = "tmask", "tmask";
    }
}

rows! {
    /// What may be known of one bound.
    Predicate {
        /// No member is negative.
        Nonnegative = "known_nonnegative", "known_nonnegative";
        /// All members are.
        Negative = "known_negative", "known_negative";
        /// All members are 0 or 1.
        Boolean = "is_bool", "is_bool";
        /// There is one member.
        Constant = "is_constant", "is_constant";
    }
}

rows! {
    /// What ops make of bounds.
    Transfer {
        /// Of `int_and`.
        And = "and_bound", "and_bound";
        /// Of `int_or`.
        Or = "or_bound", "or_bound";
        /// Of `int_xor`.
        Xor = "xor_bound", "xor_bound";
        /// Of `int_add`.
        Add = "add_bound", "add_bound";
        /// Of `int_sub`.
        Sub = "sub_bound", "sub_bound";
        /// Of `int_mul`.
        Mul = "mul_bound", "mul_bound";
        /// Of `int_lshift`.
        Lshift = "lshift_bound", "lshift_bound";
        /// Of `int_rshift`.
        Rshift = "rshift_bound", "rshift_bound";
        /// Of `uint_rshift`.
        Urshift = "urshift_bound", "urshift_bound";
        /// Of `int_neg`.
        Neg = "neg_bound", "neg_bound";
        /// Of `int_invert`.
        Invert = "invert_bound", "invert_bound";
    }
}

rows! {
    /// Ops that may be known not to overflow.
    Overflow {
        /// `int_add`
        Add = "add_bound_cannot_overflow", "add_bound_cannot_overflow";
        /// `int_sub`
        Sub = "sub_bound_cannot_overflow", "sub_bound_cannot_overflow";
        /// `int_mul`
        Mul = "mul_bound_cannot_overflow", "mul_bound_cannot_overflow";
        /// `int_neg`
        Neg = "neg_bound_cannot_overflow", "neg_bound_cannot_overflow";
        /// `int_lshift`: whether shifting back gives the number again.
        Lshift = "lshift_bound_cannot_overflow", "lshift_bound_cannot_overflow";
    }
}

impl Transfer {
    /// The op.
    pub fn op(self) -> Opcode {
        match self {
            Transfer::And => Opcode::IntAnd,
            Transfer::Or => Opcode::IntOr,
            Transfer::Xor => Opcode::IntXor,
            Transfer::Add => Opcode::IntAdd,
            Transfer::Sub => Opcode::IntSub,
            Transfer::Mul => Opcode::IntMul,
            Transfer::Lshift => Opcode::IntLshift,
            Transfer::Rshift => Opcode::IntRshift,
            Transfer::Urshift => Opcode::UintRshift,
            Transfer::Neg => Opcode::IntNeg,
            Transfer::Invert => Opcode::IntInvert,
        }
    }

    /// How many arguments it takes besides the bound it is asked of.
    pub(crate) fn others(self) -> usize {
        self.op().operands().len() - 1
    }
}

impl Overflow {
    pub(crate) fn others(self) -> usize {
        usize::from(self != Overflow::Neg)
    }
}

/// `known_lt` and its like: the name in rules, the method of bounds, and the comparison that is known. Each has a form
/// with a constant, which ends in `_const`.
pub const COMPARISONS: &[(&str, &str, Opcode)] = &[
    ("known_eq", "known_eq", Opcode::IntEq),
    ("known_ne", "known_ne", Opcode::IntNe),
    ("known_lt", "known_lt", Opcode::IntLt),
    ("known_le", "known_le", Opcode::IntLe),
    ("known_gt", "known_gt", Opcode::IntGt),
    ("known_ge", "known_ge", Opcode::IntGe),
    ("known_unsigned_lt", "known_ult", Opcode::UintLt),
    ("known_unsigned_le", "known_ule", Opcode::UintLe),
    ("known_unsigned_gt", "known_ugt", Opcode::UintGt),
    ("known_unsigned_ge", "known_uge", Opcode::UintGe),
];

/// The comparison of a method's name, and whether it is with a constant.
pub(crate) fn comparison(name: &str) -> Option<(Opcode, bool)> {
    let plain = name.strip_suffix("_const");
    let (_, _, op) = COMPARISONS.iter().find(|(own, ..)| *own == plain.unwrap_or(name))?;
    Some((*op, plain.is_some()))
}

/// The names of all methods.
pub(crate) fn all_names() -> Vec<String> {
    let mut names: Vec<String> = Predicate::ALL.iter().map(|one| one.name().to_owned()).collect();
    names.extend(COMPARISONS.iter().flat_map(|(name, ..)| [(*name).to_owned(), format!("{name}_const")]));
    names.extend(Transfer::ALL.iter().map(|one| one.name().to_owned()));
    names.extend(Overflow::ALL.iter().map(|one| one.name().to_owned()));
    names.push("get_constant_int".to_owned());
    names
}
