//! Places: variables, their fields and elements, what references point to.

use super::generator::{Generator, Lock};
use super::types::{Ty, USIZE};

/// A piece of the text of a place.
#[derive(Clone, Debug)]
enum Step {
    Text(String),
    /// An index into what has so many elements; a slice has any number.
    Index(Option<usize>),
}

/// A place of the wanted type.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The variable that it is part of.
    pub root: usize,
    steps: Vec<Step>,
    /// It is read by `.get()` and written by `.set(…)`.
    pub cell: bool,
    pub ty: Ty,
    /// It is all of what a variable holds that is a reference.
    pub pointee: bool,
}

impl Place {
    /// Whether it is a field or an element of something.
    pub fn is_part(&self) -> bool {
        self.steps.last().is_some_and(|s| match s {
            Step::Text(text) => text.starts_with('.'),
            Step::Index(_) => true,
        })
    }
}

/// What a place is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    Write,
    /// `&`, `&mut`: not of a cell's contents.
    Borrow(bool),
}

struct Walk<'w, 'g> {
    types: &'w dyn Fn(&Ty) -> bool,
    wanted: Use,
    root: usize,
    found: Vec<Place>,
    items: &'g super::types::Items,
}

impl Walk<'_, '_> {
    fn visit(&mut self, steps: &[Step], ty: &Ty, writable: bool, pointee: bool, depth: usize) {
        let writes = matches!(self.wanted, Use::Write | Use::Borrow(true));
        let whole = if self.wanted == Use::Read { self.items.is_copy(ty) } else { true };
        let reference = matches!(ty, Ty::Ref(true, _) | Ty::Slice(true, _));
        if (self.types)(ty) && whole && (!writes || (writable && !reference)) {
            let steps = steps.to_vec();
            self.found.push(Place { root: self.root, steps, cell: false, ty: ty.clone(), pointee });
        }
        if depth == 0 {
            return;
        }
        let with = |text: String| [steps, &[Step::Text(text)]].concat();
        match ty {
            Ty::Tuple(items) => {
                for (i, item) in items.iter().enumerate() {
                    self.visit(&with(format!(".{i}")), item, writable, false, depth - 1);
                }
            }
            Ty::Struct(id) => {
                for field in &self.items.structs[*id].fields {
                    let inner = with(format!(".{}", field.name));
                    if !field.cell {
                        self.visit(&inner, &field.ty, writable, false, depth - 1);
                    } else if (self.types)(&field.ty) && !matches!(self.wanted, Use::Borrow(_)) {
                        let root = self.root;
                        let ty = field.ty.clone();
                        self.found.push(Place { root, steps: inner, cell: true, ty, pointee: false });
                    }
                }
            }
            Ty::Array(elem, n) if *n > 0 => {
                let inner = [steps, &[Step::Index(Some(*n))]].concat();
                self.visit(&inner, elem, writable, false, depth - 1);
            }
            Ty::Slice(mutable, elem) => {
                let inner = [steps, &[Step::Index(None)]].concat();
                self.visit(&inner, elem, *mutable, false, depth - 1);
            }
            Ty::Ref(mutable, to) => {
                let inner = [&[Step::Text("(*".to_owned())], steps, &[Step::Text(")".to_owned())]].concat();
                self.visit(&inner, to, *mutable, steps.len() == 1, depth - 1);
            }
            _ => {}
        }
    }
}

impl Generator<'_, '_> {
    /// The places whose type is one of some.
    pub fn places(&self, types: &dyn Fn(&Ty) -> bool, wanted: Use) -> Vec<Place> {
        let mut walk = Walk { types, wanted, root: 0, found: Vec::new(), items: &self.items };
        if self.frozen > 0 && matches!(wanted, Use::Write | Use::Borrow(true)) {
            return Vec::new();
        }
        for (root, var) in self.vars.iter().enumerate() {
            let usable = match wanted {
                Use::Read | Use::Borrow(false) => var.lock < Lock::All,
                Use::Write | Use::Borrow(true) => var.lock == Lock::Free,
            };
            if usable {
                walk.root = root;
                walk.visit(&[Step::Text(var.name.clone())], &var.ty, var.mutable, false, 3);
            }
        }
        walk.found
    }

    /// A place of this type; none if there is none.
    pub fn place(&mut self, ty: &Ty, wanted: Use) -> Option<(String, Place)> {
        let places = self.places(&|t| t == ty, wanted);
        self.one_of(places)
    }

    /// One of the places, with its text.
    pub fn one_of(&mut self, places: Vec<Place>) -> Option<(String, Place)> {
        // Those brought into scope last come first: what is written uses what was written just before.
        let n = places.len();
        let at = n.checked_sub(1)? - self.source.below(n);
        let place = places[at].clone();
        let root = place.root;
        let text = self.locked(root, Lock::Write, |g| g.text_of(&place.steps));
        Some((text, place))
    }

    fn text_of(&mut self, steps: &[Step]) -> String {
        let mut text = String::new();
        for step in steps {
            match step {
                Step::Text(piece) => text.push_str(piece),
                Step::Index(_) => text.push_str("[]"),
            }
        }
        // A reference is looked through by itself where a field or an element is taken.
        if self.source.chance(3, 4) {
            while let Some(at) = text.find("(*") {
                let rest = &text[at..];
                let Some(end) = closing(rest) else { break };
                let after = rest[end + 1..].chars().next();
                if !matches!(after, Some('.' | '[')) {
                    break;
                }
                text = format!("{}{}{}", &text[..at], &rest[2..end], &rest[end + 1..]);
            }
        }
        let mut pieces = text.split("[]");
        let mut text = pieces.next().unwrap_or_default().to_owned();
        let lens = steps.iter().filter_map(|s| if let Step::Index(len) = s { Some(*len) } else { None });
        for (len, piece) in lens.zip(pieces) {
            text.push_str(&self.freeze(|g| g.index(len)));
            text.push_str(piece);
        }
        text
    }

    /// `[i]`, mostly within bounds.
    fn index(&mut self, len: Option<usize>) -> String {
        match (self.choose(if self.tame { &[5, 4] } else { &[5, 4, 1] }), len) {
            (0, Some(n)) => format!("[{}]", self.source.below(n)),
            (0, None) => "[0]".to_owned(),
            (1, len) => {
                let n = len.unwrap_or(2);
                let index = self.expr(&USIZE, 1);
                if n.is_power_of_two() && self.source.chance(1, 2) {
                    format!("[{index} & {}]", n - 1)
                } else {
                    format!("[{index} % {n}]")
                }
            }
            _ => {
                let index = self.expr(&USIZE, 1);
                format!("[{index}]")
            }
        }
    }

    /// The value in a place.
    pub fn read_place(&mut self, ty: &Ty) -> Option<String> {
        let (text, place) = self.place(ty, Use::Read)?;
        Some(if place.cell { format!("{text}.get()") } else { text })
    }

    /// How long something is.
    pub fn length(&mut self) -> Option<String> {
        let sized = |ty: &Ty| matches!(ty, Ty::Slice(..) | Ty::Array(..) | Ty::Str);
        let places = self.places(&sized, Use::Borrow(false));
        let (text, _) = self.one_of(places)?;
        Some(format!("{text}.len()"))
    }

    /// Whether something is empty.
    pub fn is_empty(&mut self) -> Option<String> {
        Some(self.length()?.strip_suffix(".len()")?.to_owned() + ".is_empty()")
    }
}

/// Where the parenthesis that the text begins with closes.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}
