//! Refusals: every reason not to lift a file, with an id, the blamed place and a way out.
//!
//! ```text
//! x.rs:5:15: closures are not supported [closure]
//!   |
//! 5 |     let add = |y: i64| x + y;
//!   |               ^^^^^^^^^^^^^^
//!   = write a function and hand it what the closure captures
//! ```

use crate::ir::{FileId, Loc};
use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode, SourceSpan};
use std::sync::Arc;

macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident = $id:literal, $message:literal, $remedy:literal;)*) => {
        /// Why something is refused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Reason { $($(#[$doc])* $variant,)* }

        impl Reason {
            /// Every reason.
            pub const ALL: &'static [Reason] = &[$(Reason::$variant,)*];

            /// The stable id.
            pub fn id(self) -> &'static str {
                match self { $(Reason::$variant => $id,)* }
            }

            /// What isn't supported, `{}` standing for the particulars.
            pub fn template(self) -> &'static str {
                match self { $(Reason::$variant => $message,)* }
            }

            /// What to write instead.
            pub fn remedy(self) -> &'static str {
                match self { $(Reason::$variant => $remedy,)* }
            }
        }
    };
}

reasons! {
    /// Not Rust.
    Syntax = "syntax", "this can't be parsed as Rust: {}", "the file must be one that rustc accepts";
    /// Nested too deeply.
    Nesting = "nesting", "this is nested too deeply, or is one too long expression", "split it into several functions, or bind its parts to variables";
    /// An unknown name.
    UnknownName = "unknown_name", "there is no {} here", "check the spelling; names come from the file itself, its sibling files and `hueshift::prelude`";
    /// Defined twice.
    Duplicate = "duplicate", "{} is defined twice", "rename one of them";
    /// Types don't fit.
    TypeMismatch = "type_mismatch", "type mismatch: {}", "the file must be one that rustc accepts";
    /// A type that can't be inferred here.
    UnknownType = "unknown_type", "the type of {} is not known here", "write the type: `let x: T = ...`";
    /// A wrong number of arguments, fields, ...
    WrongCount = "wrong_count", "{}", "the file must be one that rustc accepts";
    /// An operator on types that don't have it.
    NoOperator = "no_operator", "{}", "operators work on numbers, bools and chars; `==` also on enums, tuples, structs and arrays of these that derive `PartialEq`; of slices and strings compare the lengths, and the elements in a loop";
    /// A `?` that would convert.
    Question = "question", "{}", "`?` converts nothing here: let the function return an `Option`, or a `Result` with the same errors, or match on it: `match x { Ok(v) => v, Err(e) => return … }`";
    /// A string that grows.
    GrowingText = "growing_text", "{} is not supported: no text is made here", "keep text as `&str` or `&[u8]`, write bytes with `put_byte`, or make it in a `#[dont_look_inside]` function of an embedding crate";
    /// An elidable function that does something.
    Elidable = "elidable", "{}", "take `#[elidable]` away: such a function only computes, and a call of it may be done when compiling, or not at all";
    /// Something that can't be said of values.
    Recorded = "recorded", "{}", "write `record_known_result!(result, f, arguments..)` with an `#[elidable]` function that gives one number, bool or char, `record_exact_value!(x, constant)`, or `#[idempotent]` or `#[inverse_of(g)]` on an elidable function from one such value to another";
    /// A name of the prelude where the prelude isn't.
    NoPrelude = "no_prelude", "the prelude's {} is not known in this module", "write `use hueshift::prelude::*;` in the module, too";
    /// An array that is too long.
    LongArray = "long_array", "{}", "take memory that the caller hands over: `&mut [T]`";
    /// A function of another module.
    Private = "private", "{} is private there", "write `pub` in front of it";
    /// An unknown method.
    NoMethod = "no_method", "{}", "see the dialect's list of methods; anything else goes into a function of the file";
    /// An unknown field.
    NoField = "no_field", "{}", "check the spelling of the field";
    /// A literal that doesn't fit its type.
    LiteralRange = "literal_range", "the literal {} is out of range for its type", "write a literal of the type's range, or convert with `as`";
    /// A pattern that doesn't belong here.
    Pattern = "pattern", "the pattern {} is not supported", "match numbers, chars, bools, enums, and structs, tuples and arrays of these, with `|`, ranges, constants, bindings and guards; what else there is, compare in a guard or with `if`";
    /// A match that leaves something out.
    NotExhaustive = "not_exhaustive", "{}", "add an arm for it, or a `_` arm";
    /// Something that isn't assignable.
    NotAssignable = "not_assignable", "{} can't be assigned to", "assign to a variable, a field, an element, or through a `&mut`";
    /// Possibly used before being initialised.
    Uninitialised = "uninitialised", "`{}` may be used before it has a value", "give it a value on every path";
    /// `break` and `continue` without a loop.
    NoLoop = "no_loop", "{}", "use it inside the loop (or the labelled block) that it names";
    /// A closure.
    Closure = "closure", "closures are not supported", "write a function and hand it what the closure captures";
    /// Generics.
    Generic = "generic", "generic items (type and const parameters) are not supported", "write one function or type for each type that is used";
    /// Traits.
    Trait = "trait", "{} is not supported: the dialect has no traits", "write an inherent `impl`, or a function";
    /// `dyn`.
    Dyn = "dyn", "`dyn` is not supported", "use an enum and `match` on it";
    /// async.
    Async = "async", "async code is not supported", "write an ordinary function";
    /// unsafe.
    Unsafe = "unsafe", "unsafe code is not supported", "move it into a `#[dont_look_inside]` function of an embedding crate, or write it with slices and `as`";
    /// A reference into a local that is kept.
    LocalReference = "local_reference", "a reference to a local variable can only be the argument of a call", "write `&mut local` in the call itself (where it is to be wrapped, as in `Some(..)`, call a function that takes the reference, and wrap it there), or keep an index instead of a reference";
    /// A reference to what has no address.
    ValueReference = "value_reference", "a reference to {} is not supported", "bind the value to a variable and hand `&variable` to the call";
    /// `..base`.
    StructUpdate = "struct_update", "struct update syntax (`..base`) is not supported", "write out all fields, or copy the struct and assign to its fields";
    /// Iterators.
    Iterator = "iterator", "{} is not supported: the dialect has no iterators (only `for` over ranges and slices)", "write a loop: `for x in slice` (where `x` is a reference) or `for i in 0..slice.len()`";
    /// A `QuasiCell` where none can be.
    QuasiCell = "quasi_cell", "{}", "make it a field of a struct, with one scalar in it, that the host makes and hands over by `&`: what is made anew has no version that tells it from what was there";
    /// Types beyond 64 bits and others.
    Type = "type", "the type {} is not supported", "the types are integers up to 64 bits, bool, char, f64, f32, tuples, structs, enums, arrays, and references, slices and &str";
    /// Macros.
    Macro = "macro", "the macro {} is not supported", "only the macros of `hueshift::prelude`, panic!, unreachable!, assert! and debug_assert! are known";
    /// Attributes.
    Attribute = "attribute", "the attribute {} is not supported", "the attributes are portal, elidable, unroll_safe, dont_look_inside, look_inside_if, idempotent, inverse_of, repr, derive, green (on fields of structs, without anything in parentheses) and rustc's lint and inline attributes";
    /// Code that may be left out.
    Conditional = "conditional", "conditional compilation (`#[cfg(..)]`) is not supported{}", "write what holds in every build, or keep the rest out of the interpreter; `#[cfg(test)]` items are left out";
    /// A module whose file isn't there, or is there twice.
    ModuleFile = "module_file", "{}", "put the module into a file beside this one, named after it, or write it out here";
    /// A malformed attribute.
    BadAttribute = "bad_attribute", "{}", "write `#[portal(greens(a, b), reds(c))]` with every parameter exactly once";
    /// Hints on a function that contradict each other, or are given something.
    Hints = "hints", "{}", "a function has at most one of `#[portal(..)]`, `#[look_inside_if(..)]`, `#[unroll_safe]` and `#[dont_look_inside]`, and an elidable one only the last of these; `#[elidable]`, `#[unroll_safe]` and `#[dont_look_inside]` have no parentheses";
    /// A condition that does more than looking.
    Condition = "condition", "{}", "write one condition on the parameters: comparisons, arithmetic that can't trap, `&&`, `||` and `!`, fields, `len()`, `is_constant(x)`, `is_virtual(x)`";
    /// An item outside the dialect.
    Item = "item", "{} is not supported", "the items are fn, struct, enum, const, static, type, use, mod and inherent impl";
    /// An expression outside the dialect.
    Expression = "expression", "{} is not supported", "see the dialect's list of expressions";
    /// In the dialect, but not implemented yet.
    NotYet = "not_yet", "{} is not supported yet", "write it with what is: structs, enums, arrays, slices, `match`, and memory that the caller hands over";
    /// A cast that Rust doesn't have.
    Cast = "cast", "{} can't be converted with `as`", "`as` converts between numbers, from bool and char and C-like enums to integers, and from u8 to char";
    /// An aggregate that is too large to be handed by value.
    LargeValue = "large_value", "{}", "hand it by reference (`&` or `&mut`); by value at most 64 scalars are handed on";
    /// A constant that can't be computed.
    Constant = "constant", "{}", "constants are literals, tables of these, other constants and operators and number methods on them";
    /// A type or a constant that contains itself.
    Recursive = "recursive", "{} contains itself", "of a type, refer to it by reference or by index; of a constant, write the value of one out";
    /// A write through `&`.
    SharedWrite = "shared_write", "{} is behind a `&` and can't be changed", "take it by `&mut`, or make the field a `Cell`";
    /// A format string.
    Format = "format", "{}", "use `{}` or `{:?}` with scalars";
    /// `promote` of what a switch can't tell apart.
    NotPromotable = "not_promotable", "{}", "promote an integer, a bool, a char or a C-like enum; of an enum with fields its tag (`promote_tag`), of anything else the part that decides";
    /// A `#[green]` field that can't be part of a key.
    GreenField = "green_field", "{}", "an integer, a bool, a char or a C-like enum can be `#[green]`; of a struct, mark the fields of its own that are";
    /// A portal that isn't one.
    Portal = "portal", "{}", "a portal is, after pure setup, one loop that begins with `merge_point!()`, or `merge_point!()` followed by any body";
    /// A local that lives across the merge point.
    PortalLocal = "portal_local", "`{}` lives across the merge point without being a parameter of the portal", "make it a parameter (green or red), or compute it after `merge_point!()`";
    /// An effect before the merge point.
    PortalEffect = "portal_effect", "{} before the merge point of a portal", "move it after `merge_point!()`, or into the caller, or let a function that only computes be `#[elidable]`: what is come to without passing the merge point is done again whenever the portal is entered";
    /// The name of an entry that doesn't exist.
    Entry = "entry", "there is no function {} in the file", "name a function of the file, as `f` or `Type::f`";
}

/// One construct that isn't lifted: where, why, and what to write instead.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The file's name as the user gave it.
    pub file: String,
    /// The place.
    pub loc: Loc,
    /// How many characters of the line are blamed; at least 1.
    pub length: u32,
    /// The reason.
    pub reason: Reason,
    /// What isn't supported, in words.
    pub message: String,
    /// What to write instead.
    pub remedy: String,
    /// The source line.
    pub line: String,
    /// The function that it is in, if it is in one.
    pub function: Option<String>,
    source: NamedSource<Arc<str>>,
    offset: usize,
    /// It only repeats, at a use, what another refusal says of the definition.
    pub(super) echo: bool,
}

impl Refusal {
    /// A refusal of `length` characters at `loc` of the file `file` with this text.
    pub(super) fn new(file: &str, text: &Arc<str>, loc: Loc, length: u32, reason: Reason, detail: &str) -> Refusal {
        let line_index = (loc.line as usize).saturating_sub(1);
        let line = text.lines().nth(line_index).unwrap_or_default().to_owned();
        let start: usize = text.split_inclusive('\n').take(line_index).map(str::len).sum();
        let skipped = (loc.column as usize).saturating_sub(1);
        let within: usize = line.chars().take(skipped).map(char::len_utf8).sum();
        let rest = line.chars().count().saturating_sub(skipped).max(1);
        Refusal {
            file: file.to_owned(),
            loc,
            length: length.clamp(1, u32::try_from(rest).unwrap_or(u32::MAX)),
            reason,
            message: reason.template().replacen("{}", detail, 1),
            remedy: reason.remedy().to_owned(),
            line,
            function: None,
            source: NamedSource::new(file, text.clone()),
            offset: start + within,
            echo: false,
        }
    }

    /// The whole message: place, reason, source line with a caret, remedy. Ends without a line break.
    pub fn render(&self) -> String {
        let number = self.loc.line.to_string();
        let gutter = " ".repeat(number.len());
        let before: String = self
            .line
            .chars()
            .take((self.loc.column as usize).saturating_sub(1))
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        let carets = "^".repeat(self.length as usize);
        format!("{self}\n{gutter} |\n{number} | {}\n{gutter} | {before}{carets}\n{gutter} = {}", self.line, self.remedy)
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (line, column) = (self.loc.line, self.loc.column);
        write!(f, "{}:{line}:{column}: {} [{}]", self.file, self.message, self.reason.id())
    }
}

impl std::error::Error for Refusal {}

impl Diagnostic for Refusal {
    fn code<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        Some(Box::new(self.reason.id()))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        Some(Box::new(&self.remedy))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let blamed = self.line.chars().skip((self.loc.column as usize).saturating_sub(1)).take(self.length as usize);
        let span = SourceSpan::new(self.offset.into(), blamed.map(char::len_utf8).sum());
        Some(Box::new([LabeledSpan::new_with_span(None, span)].into_iter()))
    }
}

/// All refusals of a lifting, in source order; never empty.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", .refusals.iter().map(Refusal::render).collect::<Vec<_>>().join("\n\n"))]
pub struct Refused {
    /// The refusals.
    pub refusals: Vec<Refusal>,
}

impl Diagnostic for Refused {
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.refusals.iter().map(|r| r as &dyn Diagnostic)))
    }
}

/// A place with the number of characters blamed there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pos {
    pub(super) loc: Loc,
    pub(super) length: u32,
}

impl Pos {
    /// The place of a span in `file`.
    pub(super) fn of(file: FileId, span: proc_macro2::Span) -> Pos {
        let (start, end) = (span.start(), span.end());
        let loc = Loc {
            file,
            line: u32::try_from(start.line).unwrap_or(u32::MAX),
            column: u32::try_from(start.column + 1).unwrap_or(u32::MAX),
        };
        let length = if end.line == start.line { end.column.saturating_sub(start.column) } else { usize::MAX };
        Pos { loc, length: u32::try_from(length).unwrap_or(u32::MAX).max(1) }
    }
}
