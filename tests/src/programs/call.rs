//! Calls, and their arguments: what is handed by reference can't be used by the other arguments.

use super::generator::{Generator, Lock};
use super::place::Use;
use super::types::{Function, Receiver, Recursion, Ty, U8};
use flowgraph::ir::Scalar;

/// Arguments, with what must be bound to variables before the call.
#[derive(Default)]
struct Handed {
    lets: Vec<String>,
    args: Vec<Option<String>>,
    locked: Vec<(usize, Lock)>,
}

impl Generator<'_, '_> {
    /// A call that gives a value of the type; none if no function does.
    pub fn call(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        let able: Vec<usize> = (0..self.items.functions.len())
            .filter(|id| self.items.functions[*id].result == *ty && self.may_call(*id))
            .collect();
        let id = *self.source.pick(&able)?;
        Some(self.call_of(id, depth))
    }

    /// A call of any function, for what it does.
    pub fn any_call(&mut self, depth: usize) -> Option<String> {
        if self.source.chance(1, 2)
            && let Some(call) = self.portal_call(depth)
        {
            return Some(call);
        }
        let able: Vec<usize> = (0..self.items.functions.len()).filter(|id| self.may_call(*id)).collect();
        let id = *self.source.pick(&able)?;
        Some(self.call_of(id, depth))
    }

    /// A call of a portal.
    pub fn portal_call(&mut self, depth: usize) -> Option<String> {
        let portals = (0..self.items.functions.len()).filter(|id| self.items.functions[*id].portal);
        let able: Vec<usize> = portals.filter(|id| self.may_call(*id)).collect();
        let id = *self.source.pick(&able)?;
        Some(self.call_of(id, depth))
    }

    fn may_call(&self, id: usize) -> bool {
        let function = &self.items.functions[id];
        let changes = function.params.iter().any(|p| matches!(p, Ty::Ref(true, _) | Ty::Slice(true, _)))
            || matches!(function.receiver, Some((_, Receiver::Exclusive)));
        if self.tame || (self.frozen > 0 && (changes || function.does_io)) {
            return false;
        }
        match self.itself {
            Some((own, left)) if own == id => left > 0 && self.weight == 1 && self.frozen == 0,
            _ => self.affords(function.cost),
        }
    }

    pub fn call_of(&mut self, id: usize, depth: usize) -> String {
        let function = self.items.functions[id].clone();
        match &mut self.itself {
            Some((own, left)) if *own == id => *left -= 1,
            _ => self.cost += self.weight * function.cost,
        }
        self.does_io |= function.does_io;
        let depth = depth.saturating_sub(1);
        let mut handed = Handed { args: vec![None; function.params.len()], ..Handed::default() };
        let object = function.receiver.as_ref().map(|(ty, how)| self.object(ty, *how, &mut handed));
        if function.portal {
            let (code, at) = self.code_and_position(&function);
            handed.args[..2].clone_from_slice(&[Some(code), Some(at)]);
        }
        for (at, ty) in function.params.iter().enumerate() {
            if handed.args[at].is_none() && matches!(ty, Ty::Ref(..) | Ty::Slice(..) | Ty::Str) {
                let text = self.reference(ty, &mut handed);
                handed.args[at] = Some(text);
            }
        }
        for (at, ty) in function.params.iter().enumerate() {
            if handed.args[at].is_none() {
                let own = matches!(self.itself, Some((own, _)) if own == id);
                let text = match function.recursion {
                    Some(Recursion { param, .. }) if param == at && own => "(depth - 1)".to_owned(),
                    Some(Recursion { param, deep }) if param == at && deep => {
                        format!("(50 + ({} & 127))", self.expr(ty, depth))
                    }
                    Some(Recursion { param, .. }) if param == at => format!("({} & 3)", self.expr(ty, depth)),
                    // How often it jumps back.
                    _ if function.portal && at == 2 && own => "0".to_owned(),
                    _ if function.portal && at == 2 => format!("({} & 3)", self.expr(ty, depth)),
                    _ => self.expr(ty, depth),
                };
                handed.args[at] = Some(text);
            }
        }
        for (root, lock) in handed.locked {
            self.vars[root].lock = lock;
        }
        let args: Vec<String> = handed.args.into_iter().flatten().collect();
        let call = self.call_text(&function, object, &args);
        if handed.lets.is_empty() { call } else { format!("({{ {} {call} }})", handed.lets.join(" ")) }
    }

    fn call_text(&mut self, function: &Function, object: Option<String>, args: &[String]) -> String {
        let args = args.join(", ");
        match (object, &function.receiver) {
            (Some(object), Some(_)) => format!("{object}.{}({args})", function.path),
            _ => format!("{}({args})", function.path),
        }
    }

    /// What a method is called on.
    fn object(&mut self, ty: &Ty, how: Receiver, handed: &mut Handed) -> String {
        match how {
            Receiver::Value => self.known(ty, 1),
            Receiver::Shared => match self.place(ty, Use::Borrow(false)) {
                Some((text, place)) => {
                    self.keep(handed, place.root, Lock::Write);
                    text
                }
                None => self.bound(ty, handed),
            },
            Receiver::Exclusive => match self.place(ty, Use::Borrow(true)) {
                Some((text, place)) => {
                    self.keep(handed, place.root, Lock::All);
                    text
                }
                None => self.bound(ty, handed),
            },
        }
    }

    fn keep(&mut self, handed: &mut Handed, root: usize, lock: Lock) {
        let before = self.vars[root].lock;
        handed.locked.insert(0, (root, before));
        self.vars[root].lock = before.max(lock);
    }

    /// A new variable before the call.
    fn bound(&mut self, ty: &Ty, handed: &mut Handed) -> String {
        let name = self.fresh("t");
        let value = self.literal(ty);
        handed.lets.push(format!("let mut {name}: {} = {value};", self.items.written(ty)));
        name
    }

    fn reference(&mut self, ty: &Ty, handed: &mut Handed) -> String {
        match ty {
            Ty::Ref(mutable, to) => {
                let lock = if *mutable { Lock::All } else { Lock::Write };
                let places = self.places(&|t| t == &**to, Use::Borrow(*mutable));
                // Half of them parts of something, if there are any.
                let parts: Vec<_> = places.iter().filter(|p| p.is_part()).cloned().collect();
                let places = if !parts.is_empty() && self.source.chance(2, 3) { parts } else { places };
                if let Some((text, place)) = self.one_of(places) {
                    self.keep(handed, place.root, lock);
                    let name = self.vars[place.root].name.clone();
                    let same = self.vars[place.root].ty == *ty;
                    if place.pointee && same && self.source.chance(3, 4) {
                        return name;
                    }
                    return format!("&{}{text}", if *mutable { "mut " } else { "" });
                }
                if *mutable {
                    return format!("&mut {}", self.bound(to, handed));
                }
                format!("&{}", self.bound(to, handed))
            }
            Ty::Slice(mutable, elem) => {
                if let Some((text, root)) = self.slice_argument(ty, *mutable) {
                    if let Some(root) = root {
                        self.keep(handed, root, if *mutable { Lock::All } else { Lock::Write });
                    }
                    return text;
                }
                let array = Ty::Array(elem.clone(), 1 + self.source.below(3));
                let name = self.bound(&array, handed);
                format!("&{}{name}", if *mutable { "mut " } else { "" })
            }
            _ => {
                let places = self.places(&|t| *t == Ty::Str, Use::Read);
                match self.one_of(places) {
                    Some((text, _)) => text,
                    None => self.literal(&Ty::Str),
                }
            }
        }
    }

    /// A slice to hand to a call, and the variable that it is part of. None if there is none.
    pub fn slice_argument(&mut self, ty: &Ty, mutable: bool) -> Option<(String, Option<usize>)> {
        let Ty::Slice(_, elem) = ty else { return None };
        if !mutable && self.source.chance(1, 6) {
            return Some((self.literal_slice(elem), None));
        }
        let fits = |t: &Ty| match t {
            Ty::Slice(m, e) => e == elem && (*m || !mutable),
            Ty::Array(e, n) => e == elem && *n > 0,
            _ => false,
        };
        // A slice is written through, whether its variable is `mut` or not.
        let mut places = self.places(&fits, Use::Borrow(mutable));
        if mutable && self.frozen == 0 {
            let slices: Vec<_> = self
                .places(&|t| matches!(t, Ty::Slice(true, e) if e == elem), Use::Borrow(false))
                .into_iter()
                .filter(|p| self.vars[p.root].lock == Lock::Free)
                .collect();
            places.extend(slices);
        }
        if !mutable && **elem == U8 {
            let texts = self.places(&|t| *t == Ty::Str, Use::Read);
            if self.source.chance(1, 4)
                && let Some((text, place)) = self.one_of(texts)
            {
                return Some((format!("{text}.as_bytes()"), Some(place.root)));
            }
        }
        let (text, place) = self.one_of(places)?;
        let amp = if mutable { "&mut " } else { "&" };
        let lock = if mutable { Lock::All } else { Lock::Write };
        let range = self.locked(place.root, lock, |g| g.freeze(|g| g.range_of_slice()));
        let text = match (&place.ty, range) {
            (_, Some(range)) => format!("{amp}{text}[{range}]"),
            (Ty::Array(..), None) => format!("{amp}{text}"),
            (Ty::Slice(m, _), None) if *m == mutable && self.source.chance(1, 2) => text,
            (Ty::Slice(..), None) => format!("{amp}*{text}"),
            (_, None) => format!("{amp}{text}[..]"),
        };
        Some((text, Some(place.root)))
    }

    /// A slice that is written out, or a table.
    fn literal_slice(&mut self, elem: &Ty) -> String {
        let tables: Vec<String> = self
            .items
            .constants
            .iter()
            .filter(|c| matches!(&c.ty, Ty::Array(e, _) if **e == *elem))
            .map(|c| format!("&{}", c.path))
            .collect();
        if let Some(table) = self.source.pick(&tables) {
            return table.clone();
        }
        if *elem == U8 && self.source.chance(1, 2) {
            return ["b\"abc\"", "b\"\"", "b\"\\x00\\xff12\""][self.source.below(3)].to_owned();
        }
        let n = 1 + self.source.below(3);
        let items: Vec<String> = (0..n).map(|_| self.literal(elem)).collect();
        format!("&[{}]", items.join(", "))
    }

    /// Which part of a slice: none for all of it.
    fn range_of_slice(&mut self) -> Option<String> {
        match self.source.below(8) {
            0..=3 => None,
            4 => Some("..".to_owned()),
            5 => Some(format!("{}..", self.cut())),
            6 => Some(format!("..{}", self.cut())),
            _ => Some(format!("{}..{}", self.cut(), self.cut())),
        }
    }

    fn cut(&mut self) -> String {
        match self.source.below(5) {
            0 | 1 => self.source.below(2).to_string(),
            2 => format!("({} & 1)", self.expr(&Ty::Scalar(Scalar::Usize), 1)),
            3 => (1 + self.source.below(3)).to_string(),
            _ => self.expr(&Ty::Scalar(Scalar::Usize), 1),
        }
    }
}
