//! The types of generated programs.

use flowgraph::ir::Scalar;

/// A type, as the generator knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ty {
    /// `()`.
    Unit,
    /// A scalar.
    Scalar(Scalar),
    /// A tuple.
    Tuple(Vec<Ty>),
    /// A struct, by number.
    Struct(usize),
    /// An enum, by number.
    Enum(usize),
    /// `Option<T>`.
    Option(Box<Ty>),
    /// `Result<T, E>`.
    Result(Box<Ty>, Box<Ty>),
    /// `[T; N]`.
    Array(Box<Ty>, usize),
    /// `&T` or `&mut T`.
    Ref(bool, Box<Ty>),
    /// `&[T]` or `&mut [T]`.
    Slice(bool, Box<Ty>),
    /// `&str`.
    Str,
}

impl Ty {
    /// Whether it is an integer.
    pub fn is_integer(&self) -> bool {
        matches!(self, Ty::Scalar(scalar) if scalar.is_integer())
    }
}

/// `bool`.
pub const BOOL: Ty = Ty::Scalar(Scalar::Bool);
/// `usize`.
pub const USIZE: Ty = Ty::Scalar(Scalar::Usize);
/// `u32`.
pub const U32: Ty = Ty::Scalar(Scalar::U32);
/// `u8`.
pub const U8: Ty = Ty::Scalar(Scalar::U8);

/// All scalars: the integers, and what is none; of both the most usual first.
pub const SCALARS: [Scalar; 14] = [
    Scalar::I64,
    Scalar::U8,
    Scalar::I32,
    Scalar::Usize,
    Scalar::U64,
    Scalar::I8,
    Scalar::U32,
    Scalar::I16,
    Scalar::U16,
    Scalar::Isize,
    Scalar::Bool,
    Scalar::F64,
    Scalar::Char,
    Scalar::F32,
];

/// The integers.
pub const INTEGERS: [Scalar; 10] = match SCALARS.first_chunk() {
    Some(integers) => *integers,
    None => panic!("there are more scalars than integers"),
};

/// A field of a struct or of a variant.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name; a number in what is written with parentheses.
    pub name: String,
    /// Its type.
    pub ty: Ty,
    /// It is a `Cell` of that type.
    pub cell: bool,
    /// It is `#[green]`.
    pub green: bool,
}

/// A struct.
#[derive(Clone, Debug)]
pub struct Struct {
    /// Its path from the root.
    pub path: String,
    /// Written with parentheses.
    pub tuple: bool,
    /// Its fields.
    pub fields: Vec<Field>,
    /// No field is a `Cell` or a reference: it may be copied, and be part of others.
    pub copy: bool,
    /// A field is a reference: it has a lifetime.
    pub borrows: bool,
}

/// A variant of an enum.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its path from the root, with that of the enum.
    pub path: String,
    /// Written with parentheses.
    pub tuple: bool,
    /// Its fields.
    pub fields: Vec<Field>,
}

/// An enum.
#[derive(Clone, Debug)]
pub struct Enum {
    /// Its path from the root.
    pub path: String,
    /// Its variants; the first has no fields.
    pub variants: Vec<Variant>,
}

impl Enum {
    /// Whether no variant has fields.
    pub fn is_c_like(&self) -> bool {
        self.variants.iter().all(|v| v.fields.is_empty())
    }
}

/// How a method takes its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receiver {
    /// `self`.
    Value,
    /// `&self`.
    Shared,
    /// `&mut self`.
    Exclusive,
}

/// A function that may be called.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its path from the root; of a method its name.
    pub path: String,
    /// Whose method it is.
    pub receiver: Option<(Ty, Receiver)>,
    /// The types of its parameters, without the object.
    pub params: Vec<Ty>,
    /// The type of what it gives.
    pub result: Ty,
    /// About how many operations a call takes, at most.
    pub cost: u64,
    /// How it calls itself; none if it doesn't.
    pub recursion: Option<Recursion>,
    /// It is a portal: the first parameters are the code and the position, and must be known when compiling.
    pub portal: bool,
    /// It reads or writes bytes.
    pub does_io: bool,
}

/// How a function calls itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recursion {
    /// The parameter that says how deep.
    pub param: usize,
    /// Dozens of calls inside of each other, and not a few.
    pub deep: bool,
}

/// A constant.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Its path from the root.
    pub path: String,
    /// Its type.
    pub ty: Ty,
    /// It is a `static`, which no pattern can name.
    pub is_static: bool,
}

/// The items of a program.
#[derive(Clone, Debug, Default)]
pub struct Items {
    /// The structs.
    pub structs: Vec<Struct>,
    /// The enums.
    pub enums: Vec<Enum>,
    /// The constants and statics.
    pub constants: Vec<Constant>,
    /// The functions that may be called.
    pub functions: Vec<Function>,
    /// Other names of types.
    pub aliases: Vec<(String, Ty)>,
}

impl Items {
    /// The type as it is written.
    pub fn written(&self, ty: &Ty) -> String {
        match ty {
            Ty::Unit => "()".to_owned(),
            Ty::Scalar(scalar) => scalar.name().to_owned(),
            Ty::Tuple(items) => {
                let items: Vec<String> = items.iter().map(|item| self.written(item)).collect();
                format!("({}{})", items.join(", "), if items.len() == 1 { "," } else { "" })
            }
            Ty::Struct(id) => self.structs[*id].path.clone(),
            Ty::Enum(id) => self.enums[*id].path.clone(),
            Ty::Option(inner) => format!("Option<{}>", self.written(inner)),
            Ty::Result(ok, err) => format!("Result<{}, {}>", self.written(ok), self.written(err)),
            Ty::Array(elem, n) => format!("[{}; {n}]", self.written(elem)),
            Ty::Ref(mutable, to) => format!("&{}{}", if *mutable { "mut " } else { "" }, self.written(to)),
            Ty::Slice(mutable, elem) => format!("&{}[{}]", if *mutable { "mut " } else { "" }, self.written(elem)),
            Ty::Str => "&str".to_owned(),
        }
    }

    /// How many scalars a value consists of.
    pub fn leaves(&self, ty: &Ty) -> usize {
        let fields = |fields: &[Field]| fields.iter().map(|f| self.leaves(&f.ty)).sum::<usize>();
        match ty {
            Ty::Unit => 0,
            Ty::Scalar(_) | Ty::Ref(..) => 1,
            Ty::Slice(..) | Ty::Str => 2,
            Ty::Tuple(items) => items.iter().map(|item| self.leaves(item)).sum(),
            Ty::Struct(id) => fields(&self.structs[*id].fields),
            Ty::Enum(id) => 1 + self.enums[*id].variants.iter().map(|v| fields(&v.fields)).max().unwrap_or(0),
            Ty::Option(inner) => 1 + self.leaves(inner),
            Ty::Result(ok, err) => 1 + self.leaves(ok).max(self.leaves(err)),
            Ty::Array(elem, n) => self.leaves(elem) * n,
        }
    }

    /// Whether values may be copied: there is neither a `Cell` nor a `&mut` in it.
    pub fn is_copy(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Struct(id) => self.structs[*id].copy,
            Ty::Ref(mutable, _) | Ty::Slice(mutable, _) => !mutable,
            _ => true,
        }
    }
}
