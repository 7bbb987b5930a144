//! Patterns, and what is matched against them.

use super::generator::{Generator, Lock, braces};
use super::place::Use;
use super::types::{BOOL, Field, INTEGERS, Ty};
use flowgraph::ir::Scalar;

/// What a pattern may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// It may not fit.
    pub refutable: bool,
    /// What is matched was reached through a reference, to change it or not: variables are references.
    pub through: Option<bool>,
    /// How deep it goes.
    pub depth: usize,
    /// Variables may be bound.
    pub binds: bool,
}

/// The variables that a pattern binds.
pub(super) type Bound = Vec<(String, Ty, bool)>;

impl Generator<'_, '_> {
    /// A pattern for values of a type.
    pub fn pattern(&mut self, ty: &Ty, rules: Rules, bound: &mut Bound) -> String {
        let Rules { refutable, depth, binds, .. } = rules;
        if depth == 0 || self.is_tired() || self.source.chance(1, 5) {
            return self.simple_pattern(ty, rules, bound);
        }
        let inner = Rules { depth: depth.saturating_sub(1), ..rules };
        match ty {
            Ty::Scalar(scalar) if refutable => self.scalar_pattern(*scalar, rules, bound),
            Ty::Tuple(items) => {
                let rest = items.len() > 1 && self.source.chance(1, 5);
                let keep = if rest { self.source.below(items.len()) } else { items.len() };
                let mut shown: Vec<String> =
                    items[..keep].iter().map(|item| self.pattern(item, inner, bound)).collect();
                if rest {
                    shown.push("..".to_owned());
                }
                format!("({}{})", shown.join(", "), if items.len() == 1 && !rest { "," } else { "" })
            }
            Ty::Struct(id) => {
                let decl = self.items.structs[*id].clone();
                self.fields_pattern(&decl.path, decl.tuple, &decl.fields, inner, bound)
            }
            Ty::Enum(id) if refutable => {
                let variants = self.items.enums[*id].variants.clone();
                let variant = &variants[self.source.below(variants.len())];
                if variant.fields.is_empty() && self.source.chance(1, 4) {
                    let others: Vec<String> =
                        variants.iter().filter(|v| v.fields.is_empty()).map(|v| v.path.clone()).collect();
                    return format!("({})", others.join(" | "));
                }
                self.fields_pattern(&variant.path, variant.tuple, &variant.fields, inner, bound)
            }
            Ty::Option(some) if refutable => match self.source.below(3) {
                0 => "None".to_owned(),
                _ => format!("Some({})", self.pattern(some, inner, bound)),
            },
            Ty::Result(ok, err) if refutable => match self.source.below(2) {
                0 => format!("Ok({})", self.pattern(ok, inner, bound)),
                _ => format!("Err({})", self.pattern(err, inner, bound)),
            },
            Ty::Array(elem, n) if *n > 0 => {
                let rest = self.source.chance(1, 3);
                let keep = if rest { self.source.below(*n) } else { *n };
                let mut shown: Vec<String> = (0..keep).map(|_| self.pattern(elem, inner, bound)).collect();
                if rest {
                    let at = self.source.below(keep + 1);
                    shown.insert(at, "..".to_owned());
                }
                format!("[{}]", shown.join(", "))
            }
            _ if binds && refutable && rules.through.is_none() && self.source.chance(1, 4) => {
                let name = self.bind(ty, rules, bound);
                let pattern = self.pattern(ty, Rules { binds: false, ..inner }, bound);
                format!("{name} @ {pattern}")
            }
            _ => self.simple_pattern(ty, rules, bound),
        }
    }

    /// A variable or `_`.
    fn simple_pattern(&mut self, ty: &Ty, rules: Rules, bound: &mut Bound) -> String {
        if !rules.binds || self.source.chance(1, 3) {
            return "_".to_owned();
        }
        let mutable = rules.through.is_none() && self.source.chance(1, 4);
        let name = self.bind(ty, rules, bound);
        if mutable {
            if let Some(last) = bound.last_mut() {
                last.2 = true;
            }
            return format!("mut {name}");
        }
        name
    }

    fn bind(&mut self, ty: &Ty, rules: Rules, bound: &mut Bound) -> String {
        let name = self.fresh("x");
        let ty = match rules.through {
            Some(mutable) => Ty::Ref(mutable, Box::new(ty.clone())),
            None => ty.clone(),
        };
        bound.push((name.clone(), ty, false));
        name
    }

    fn fields_pattern(&mut self, path: &str, tuple: bool, fields: &[Field], rules: Rules, bound: &mut Bound) -> String {
        if fields.is_empty() {
            return path.to_owned();
        }
        let rest = self.source.chance(1, 4);
        let keep = if rest { self.source.below(fields.len()) } else { fields.len() };
        let mut shown = Vec::new();
        for field in &fields[..keep] {
            let whole = field.cell || matches!(field.ty, Ty::Slice(..));
            let pattern = if whole { "_".to_owned() } else { self.pattern(&field.ty, rules, bound) };
            shown.push(if tuple { pattern } else { format!("{}: {pattern}", field.name) });
        }
        if rest {
            shown.push("..".to_owned());
        }
        if tuple { format!("{path}({})", shown.join(", ")) } else { format!("{path} {{ {} }}", shown.join(", ")) }
    }

    fn scalar_pattern(&mut self, scalar: Scalar, rules: Rules, bound: &mut Bound) -> String {
        let ty = Ty::Scalar(scalar);
        let exact = |g: &mut Self| match scalar {
            Scalar::Bool => ["true", "false"][g.source.below(2)].to_owned(),
            Scalar::Char => ["'a'", "'Z'", "'0'", "'\\n'"][g.source.below(4)].to_owned(),
            _ => {
                let word = scalar.canonical(g.source.int() as u64);
                scalar.display(word)
            }
        };
        if scalar.is_float() {
            return self.simple_pattern(&ty, rules, bound);
        }
        let constants: Vec<String> =
            self.items.constants.iter().filter(|c| c.ty == ty && !c.is_static).map(|c| c.path.clone()).collect();
        match self.choose(&[3, 3, 2, 2, 3, 3]) {
            0 => exact(self),
            1 if scalar != Scalar::Bool => self.range_pattern(scalar),
            2 => {
                let others: Vec<String> = (0..2 + self.source.below(2)).map(|_| exact(self)).collect();
                format!("({})", others.join(" | "))
            }
            3 if rules.binds && rules.through.is_none() && scalar != Scalar::Bool => {
                let name = self.bind(&ty, rules, bound);
                let range = self.range_pattern(scalar);
                match self.source.below(3) {
                    0 => format!("{name} @ ({range} | {})", exact(self)),
                    _ => format!("{name} @ {range}"),
                }
            }
            4 => match self.source.pick(&constants) {
                Some(path) => path.clone(),
                None => exact(self),
            },
            _ => self.simple_pattern(&ty, rules, bound),
        }
    }

    fn range_pattern(&mut self, scalar: Scalar) -> String {
        if scalar == Scalar::Char {
            return ["'a'..='z'", "'0'..='9'", "(..='Z')", "('b'..)"][self.source.below(4)].to_owned();
        }
        let value = |g: &mut Self| scalar.canonical(g.source.int() as u64);
        let (a, b) = (value(self), value(self));
        let less = if scalar.is_signed() { (a as i64) < b as i64 } else { a < b };
        let (low, high) = if less { (a, b) } else { (b, a) };
        let (from, to) = (scalar.display(low), scalar.display(high));
        match self.source.below(4) {
            0 if a != b => format!("{from}..{to}"),
            1 => format!("({from}..)"),
            2 => format!("(..={to})"),
            _ => format!("{from}..={to}"),
        }
    }

    // ---- match

    /// What to match against: text, type, through which kind of reference, and the variable it is part of.
    pub fn subject(&mut self, depth: usize) -> (String, Ty, Option<bool>, Option<usize>) {
        if self.source.chance(1, 2) {
            let borrows = self.source.chance(2, 3);
            let mutable = borrows && self.frozen == 0 && self.source.chance(1, 2);
            let matched = |t: &Ty| !matches!(t, Ty::Ref(..) | Ty::Slice(..) | Ty::Str | Ty::Scalar(_));
            let places = self.places(&matched, if borrows { Use::Borrow(mutable) } else { Use::Read });
            if let Some((text, place)) = self.one_of(places) {
                let amp = if mutable { "&mut " } else { "&" };
                return match borrows {
                    true => (format!("{amp}{text}"), place.ty, Some(mutable), Some(place.root)),
                    false => (text, place.ty, None, None),
                };
            }
        }
        let ty = self.matched_type();
        if self.source.chance(1, 6) {
            let pair = Ty::Tuple(vec![self.matched_type(), self.matched_type()]);
            if let Ty::Tuple(items) = &pair {
                let (a, b) = (self.known(&items[0], depth), self.known(&items[1], depth));
                return (format!("({a}, {b})"), pair, None, None);
            }
        }
        let text = self.known(&ty, depth);
        let text = match &ty {
            Ty::Enum(_) | Ty::Option(_) | Ty::Result(..) if self.source.chance(1, 5) => format!("promote_tag({text})"),
            Ty::Scalar(s) if !s.is_float() && self.source.chance(1, 6) => format!("promote({text})"),
            _ => text,
        };
        (text, ty, None, None)
    }

    fn matched_type(&mut self) -> Ty {
        match self.source.below(4) {
            0 => Ty::Scalar(*self.source.pick(&INTEGERS).unwrap_or(&Scalar::U8)),
            1 if !self.items.enums.is_empty() => Ty::Enum(self.source.below(self.items.enums.len())),
            2 => self.value_type(2),
            _ => {
                let inner = self.value_type(1);
                match self.source.below(3) {
                    0 => Ty::Option(Box::new(inner)),
                    1 => Ty::Result(Box::new(inner), Box::new(Ty::Scalar(Scalar::U8))),
                    _ => [BOOL, Ty::Scalar(Scalar::Char)][self.source.below(2)].clone(),
                }
            }
        }
    }

    /// In `work` a subject that is matched in place can be used less.
    pub fn matching<T>(&mut self, through: Option<bool>, root: Option<usize>, work: impl FnOnce(&mut Self) -> T) -> T {
        match (through, root) {
            (Some(true), Some(root)) => self.locked(root, Lock::All, work),
            (Some(false), Some(root)) => self.locked(root, Lock::Write, work),
            _ => work(self),
        }
    }

    /// A match whose arms are values of a type.
    pub fn match_value(&mut self, ty: &Ty, depth: usize) -> String {
        let text = self.match_with(depth, &mut |g| g.arm_value(ty, depth));
        format!("({text})")
    }

    fn arm_value(&mut self, ty: &Ty, depth: usize) -> String {
        if self.source.chance(1, 3) {
            return self.value_block(ty, depth.saturating_sub(1));
        }
        let may_leave = std::mem::take(&mut self.may_leave);
        if may_leave && self.frozen == 0 && self.source.chance(1, 6) {
            return self.leave(depth);
        }
        self.expr(ty, depth.saturating_sub(1))
    }

    /// A match; `arm` writes what stands behind each `=>`.
    pub fn match_with(&mut self, depth: usize, arm: &mut dyn FnMut(&mut Self) -> String) -> String {
        let (text, ty, through, root) = self.subject(depth.min(2));
        self.matching(through, root, |g| {
            let mut arms = Vec::new();
            let full = match &ty {
                Ty::Scalar(Scalar::Bool) | Ty::Enum(_) | Ty::Option(_) | Ty::Result(..) => g.source.chance(1, 2),
                _ => false,
            };
            let n = 1 + g.source.below(3);
            for _ in 0..n {
                let rules = Rules { refutable: true, through, depth: 3, binds: true };
                let line = g.arm(&ty, rules, None, arm);
                arms.push(line);
            }
            let rules = Rules { refutable: false, through, depth: 2, binds: true };
            if full {
                for pattern in g.all_variants(&ty) {
                    let line = g.arm(&ty, rules, Some(pattern), arm);
                    arms.push(line);
                }
            } else {
                let line = g.arm(&ty, Rules { depth: 1, ..rules }, None, arm);
                arms.push(line);
            }
            format!("match {text} {}", braces(&arms))
        })
    }

    /// The variants of a type, each as path, whether with parentheses, and fields.
    fn all_variants(&mut self, ty: &Ty) -> Vec<(String, bool, Vec<Field>)> {
        let field = |ty: &Ty| vec![Field { name: "0".to_owned(), ty: ty.clone(), cell: false, green: false }];
        match ty {
            Ty::Scalar(_) => vec![("false".to_owned(), true, vec![]), ("true".to_owned(), true, vec![])],
            Ty::Enum(id) => {
                let variants = &self.items.enums[*id].variants;
                variants.iter().map(|v| (v.path.clone(), v.tuple, v.fields.clone())).collect()
            }
            Ty::Option(some) => vec![("None".to_owned(), true, vec![]), ("Some".to_owned(), true, field(some))],
            Ty::Result(ok, err) => {
                vec![("Ok".to_owned(), true, field(ok)), ("Err".to_owned(), true, field(err))]
            }
            _ => Vec::new(),
        }
    }

    fn arm(
        &mut self,
        ty: &Ty,
        rules: Rules,
        variant: Option<(String, bool, Vec<Field>)>,
        arm: &mut dyn FnMut(&mut Self) -> String,
    ) -> String {
        self.scoped(|g| {
            let mut bound = Bound::new();
            let pattern = match variant {
                Some((path, tuple, fields)) => g.fields_pattern(&path, tuple, &fields, rules, &mut bound),
                None => g.pattern(ty, rules, &mut bound),
            };
            g.bring(&bound);
            let guard = if rules.refutable && g.source.chance(1, 5) {
                format!(" if {}", g.freeze(|g| g.condition(2)))
            } else {
                String::new()
            };
            g.may_leave = rules.refutable;
            let body = arm(g);
            g.may_leave = false;
            format!("{pattern}{guard} => {body},")
        })
    }

    /// Brings what a pattern binds into scope.
    pub fn bring(&mut self, bound: &Bound) {
        for (name, ty, mutable) in bound {
            self.declare(name, ty, *mutable);
        }
    }
}
