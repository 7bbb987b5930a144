//! Statements.

use super::generator::{Generator, Lock, Target, braces};
use super::pattern::{Bound, Rules};
use super::place::Use;
use super::types::{INTEGERS, Ty, U8, U32};
use flowgraph::ir::Scalar;

impl Generator<'_, '_> {
    /// Some statements. What they declare stays in scope.
    pub fn statements(&mut self, n: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for _ in 0..n {
            if self.is_tired() || !self.affords(4) {
                break;
            }
            self.nesting += 1;
            lines.extend(self.statement());
            self.nesting -= 1;
        }
        lines
    }

    fn statement(&mut self) -> Vec<String> {
        let deep = self.nesting > 4;
        let nested = if deep { 0 } else { 1 };
        let weights = [
            8,
            10,
            3 * nested,
            4 * nested,
            2 * nested,
            2 * nested,
            2 * nested,
            6,
            2,
            2,
            2,
            nested,
            2,
            2,
            3,
            2 * nested,
            8,
        ];
        match self.choose(&weights) {
            0 => self.let_value(),
            1 => self.assignment(),
            2 => vec![self.if_statement()],
            3 => self.loop_statement(),
            4 => vec![self.match_with(2, &mut |g| g.arm_statement())],
            5 => vec![self.if_let()],
            6 => self.while_let(),
            7 => self.call_statement(),
            8 => self.let_else(),
            9 => vec![self.conditional_leave()],
            10 => self.bytes_or_output(),
            11 => vec![self.labelled_block()],
            12 if self.tame => self.assignment(),
            12 => vec![self.trap_statement()],
            13 => self.late(),
            14 => self.item_inside(),
            15 => self.through_reference(),
            _ => {
                let (ty, value) = self.sample();
                let name = self.fresh("v");
                self.declare(&name, &ty, false);
                vec![format!("let {name}: {} = {value};", self.items.written(&ty))]
            }
        }
    }

    // ---- let

    fn let_value(&mut self) -> Vec<String> {
        let ty = self.value_type(3);
        let depth = self.some_depth();
        if matches!(ty, Ty::Tuple(_) | Ty::Struct(_) | Ty::Array(..)) && self.source.chance(1, 3) {
            let value = self.known(&ty, depth);
            let mut bound = Bound::new();
            let rules = Rules { refutable: false, through: None, depth: 2, binds: true };
            let pattern = self.pattern(&ty, rules, &mut bound);
            self.bring(&bound);
            return vec![format!("let {pattern} = {value};")];
        }
        if self.source.chance(1, 12) {
            let value = self.known(&ty, depth);
            return vec![format!("let _ = {value};")];
        }
        let mutable = self.source.chance(2, 3);
        let bare = matches!(&ty, Ty::Scalar(s) if s.is_integer()) && self.source.chance(1, 8);
        let value = match &ty {
            Ty::Scalar(scalar) if bare => self.scalar_literal(*scalar, false),
            _ => self.expr(&ty, depth),
        };
        // Shadowing: a name of the same type may be taken again.
        let name = match self.vars.iter().rev().find(|v| v.ty == ty && v.lock == Lock::Free && !v.green) {
            Some(var) if self.source.chance(1, 10) && !["self", "depth", "sum"].contains(&var.name.as_str()) => {
                var.name.clone()
            }
            _ => self.fresh("v"),
        };
        // The shadowed variable can't be named any more.
        for var in self.vars.iter_mut().filter(|v| v.name == name) {
            var.lock = Lock::All;
        }
        self.declare(&name, &ty, mutable);
        let annotated = bare || !matches!(ty, Ty::Scalar(_)) || self.source.chance(1, 2);
        let annotation = if annotated { format!(": {}", self.alias_of(&ty)) } else { String::new() };
        vec![format!("let {}{name}{annotation} = {value};", if mutable { "mut " } else { "" })]
    }

    /// `let x; if … { x = …; } else { x = …; }`
    fn late(&mut self) -> Vec<String> {
        let ty = self.value_type(2);
        let name = self.fresh("v");
        let condition = self.condition(2);
        let (then, otherwise) = (self.expr(&ty, 2), self.expr(&ty, 2));
        self.declare(&name, &ty, false);
        vec![
            format!("let {name}: {};", self.items.written(&ty)),
            format!("if {condition} {{ {name} = {then}; }} else {{ {name} = {otherwise}; }}"),
        ]
    }

    fn let_else(&mut self) -> Vec<String> {
        let (text, ty, through, root) = self.subject(2);
        if through == Some(true) || root.is_some() || matches!(ty, Ty::Scalar(_)) {
            return self.let_value();
        }
        let leave = self.scoped(|g| g.leave(2));
        let mut bound = Bound::new();
        let pattern = self.pattern(&ty, Rules { refutable: true, through: None, depth: 3, binds: true }, &mut bound);
        self.bring(&bound);
        vec![format!("let {pattern} = {text} else {{ {leave} }};")]
    }

    // ---- what changes something

    fn assignment(&mut self) -> Vec<String> {
        match self.choose(&[6, 6, 1, 1, 1]) {
            0 => self.assign().into_iter().collect(),
            1 => self.assign_operator().into_iter().collect(),
            2 => self.assign_tuple().into_iter().collect(),
            3 => {
                let ty = self.value_type(2);
                vec![format!("_ = {};", self.known(&ty, 2))]
            }
            _ => self.set_cell().into_iter().collect(),
        }
    }

    fn assign(&mut self) -> Option<String> {
        let places = self.places(&|t| !matches!(t, Ty::Ref(..) | Ty::Slice(..) | Ty::Str), Use::Write);
        let (text, place) = self.one_of(places)?;
        if !self.items.is_copy(&place.ty) {
            return None;
        }
        let depth = self.some_depth();
        // The object of `.set(…)` is borrowed first.
        let lock = if place.cell { Lock::Write } else { Lock::Free };
        let value = self.locked(place.root, lock, |g| g.expr(&place.ty, depth));
        Some(if place.cell { format!("{text}.set({value});") } else { format!("{text} = {value};") })
    }

    fn assign_operator(&mut self) -> Option<String> {
        let places = self.places(&|t| matches!(t, Ty::Scalar(s) if *s != Scalar::Char), Use::Write);
        let places = places.into_iter().filter(|p| !p.cell).collect();
        let (text, place) = self.one_of(places)?;
        let Ty::Scalar(scalar) = place.ty else { return None };
        let depth = self.some_depth();
        let value = self.expr(&place.ty, depth);
        let op = match scalar {
            Scalar::Bool => ["&", "|", "^"][self.source.below(3)],
            s if s.is_float() => ["+", "-", "*", "/", "%"][self.source.below(5)],
            _ => ["+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%"][self.source.below(10)],
        };
        Some(match op {
            "/" | "%" if scalar.is_integer() && self.source.chance(7, 8) => format!("{text} {op}= {value} | 1;"),
            "<<" | ">>" => {
                let by = *self.source.pick(&INTEGERS).unwrap_or(&Scalar::U32);
                format!("{text} {op}= {};", self.expr(&Ty::Scalar(by), 1))
            }
            _ => format!("{text} {op}= {value};"),
        })
    }

    fn assign_tuple(&mut self) -> Option<String> {
        let owned: Vec<(String, Ty)> = self
            .vars
            .iter()
            .filter(|v| v.mutable && v.lock == Lock::Free && self.items.is_copy(&v.ty) && matches!(v.ty, Ty::Scalar(_)))
            .map(|v| (v.name.clone(), v.ty.clone()))
            .collect();
        if self.frozen > 0 || owned.len() < 2 {
            return None;
        }
        let first = self.source.below(owned.len());
        let second = (first + 1) % owned.len();
        let (a, b) = (&owned[first], &owned[second]);
        if a.0 == b.0 {
            return None;
        }
        let (x, y) = (self.expr(&a.1, 2), self.expr(&b.1, 2));
        Some(match self.source.below(4) {
            0 => format!("({}, _) = ({x}, {y});", a.0),
            _ => format!("({}, {}) = ({x}, {y});", a.0, b.0),
        })
    }

    fn set_cell(&mut self) -> Option<String> {
        if self.frozen > 0 {
            return None;
        }
        let places = self.places(&|t| matches!(t, Ty::Scalar(_)), Use::Read);
        let places = places.into_iter().filter(|p| p.cell).collect();
        let (text, place) = self.one_of(places)?;
        let value = self.locked(place.root, Lock::Write, |g| g.expr(&place.ty, 2));
        Some(format!("{text}.set({value});"))
    }

    fn call_statement(&mut self) -> Vec<String> {
        if self.frozen > 0 {
            return Vec::new();
        }
        match self.any_call(3) {
            Some(call) => vec![format!("let _ = {call};")],
            None => self.assignment(),
        }
    }

    /// `write_u16_le(…)`, `put_byte(…)`.
    fn bytes_or_output(&mut self) -> Vec<String> {
        if self.frozen > 0 || self.tame {
            return self.assignment();
        }
        if self.source.chance(1, 3) {
            self.does_io = true;
            return vec![format!("put_byte({});", self.expr(&U8, 2))];
        }
        let scalars = [Scalar::U16, Scalar::I16, Scalar::U32, Scalar::I32, Scalar::U64, Scalar::I64];
        let scalar = scalars[self.source.below(6)];
        let helper = format!("write_{}_le", scalar.name());
        let found = self.slice_argument(&Ty::Slice(true, Box::new(U8)), true);
        let Some((slice, Some(root))) = found else {
            let (name, ty) = (self.fresh("v"), Ty::Array(Box::new(U8), 12));
            let start = self.leaf(&U8);
            let (at, value) = (self.small_index(0), self.expr(&Ty::Scalar(scalar), 2));
            self.declare(&name, &ty, true);
            let store = format!("{helper}(&mut {name}, {at}, {value});");
            return vec![format!("let mut {name} = [{start}; 12];"), store];
        };
        let (at, value) = self.locked(root, Lock::All, |g| (g.small_index(1), g.expr(&Ty::Scalar(scalar), 2)));
        vec![format!("{helper}({slice}, {at}, {value});")]
    }

    /// A variable that is a reference to part of memory, for some statements.
    fn through_reference(&mut self) -> Vec<String> {
        let mutable = self.frozen == 0 && self.source.chance(2, 3);
        if self.source.chance(1, 2) {
            return self.part_of_slice(mutable);
        }
        let places = self.places(&|t| !matches!(t, Ty::Ref(..) | Ty::Slice(..) | Ty::Str), Use::Borrow(mutable));
        // What is behind a parameter that is a reference: parts of locals have no address.
        let far = |g: &Self, root: usize| matches!(g.vars[root].ty, Ty::Ref(..) | Ty::Slice(..));
        let places: Vec<_> = places.into_iter().filter(|p| far(self, p.root)).collect();
        let Some((text, place)) = self.one_of(places) else { return self.let_value() };
        let name = self.fresh("r");
        let lock = if mutable { Lock::All } else { Lock::Write };
        let (amp, lines) = (if mutable { "&mut " } else { "&" }, self.source.below(3) + 1);
        let body = self.locked(place.root, lock, |g| {
            g.scoped(|g| {
                g.declare(&name, &Ty::Ref(mutable, Box::new(place.ty.clone())), false);
                g.statements(lines)
            })
        });
        let mut lines = vec![format!("let {name} = {amp}{text};")];
        lines.extend(body);
        vec![braces(&lines)]
    }

    /// A variable that is part of a slice, for some statements.
    fn part_of_slice(&mut self, mutable: bool) -> Vec<String> {
        let elems: Vec<Ty> = self
            .vars
            .iter()
            .filter_map(|v| match &v.ty {
                Ty::Slice(m, elem) if (*m || !mutable) && v.lock == Lock::Free => Some((**elem).clone()),
                _ => None,
            })
            .collect();
        let Some(elem) = self.source.pick(&elems).cloned() else { return self.assignment() };
        let ty = Ty::Slice(mutable, Box::new(elem));
        let Some((text, root)) = self.slice_argument(&ty, mutable) else { return self.assignment() };
        // Parts of local arrays have no address beyond a call.
        let Some(root) = root.filter(|root| matches!(self.vars[*root].ty, Ty::Slice(..))) else {
            return self.assignment();
        };
        let text = match (text.starts_with('&'), mutable) {
            (true, _) => text,
            (false, true) => format!("&mut *{text}"),
            (false, false) => format!("&*{text}"),
        };
        let name = self.fresh("w");
        let n = 1 + self.source.below(3);
        let body = self.locked(root, if mutable { Lock::All } else { Lock::Write }, |g| {
            g.scoped(|g| {
                g.declare(&name, &ty, false);
                g.statements(n)
            })
        });
        let mut lines = vec![format!("let {name} = {text};")];
        lines.extend(body);
        vec![braces(&lines)]
    }

    // ---- ways

    fn block(&mut self) -> String {
        self.scoped(|g| {
            let n = 1 + g.source.below(3);
            braces(&g.statements(n))
        })
    }

    fn if_statement(&mut self) -> String {
        let mut text = format!("if {} {}", self.condition(3), self.block());
        for _ in 0..self.source.below(3).min(1) {
            text.push_str(&format!(" else if {} {}", self.condition(2), self.block()));
        }
        if self.source.chance(1, 2) {
            text.push_str(&format!(" else {}", self.block()));
        }
        text
    }

    fn if_let(&mut self) -> String {
        let (text, ty, through, root) = self.subject(2);
        let (pattern, block) = self.matching(through, root, |g| {
            g.scoped(|g| {
                let mut bound = Bound::new();
                let rules = Rules { refutable: true, through, depth: 3, binds: true };
                let pattern = g.pattern(&ty, rules, &mut bound);
                g.bring(&bound);
                let guard =
                    if g.source.chance(1, 5) { format!(" && {}", g.freeze(|g| g.condition(2))) } else { String::new() };
                (pattern, (guard, g.block()))
            })
        });
        let (guard, block) = block;
        let otherwise = if self.source.chance(1, 2) { format!(" else {}", self.block()) } else { String::new() };
        format!("if let {pattern} = {text}{guard} {block}{otherwise}")
    }

    fn arm_statement(&mut self) -> String {
        match self.source.below(4) {
            0 => "{}".to_owned(),
            1 if self.frozen == 0 => match self.assign() {
                Some(line) => format!("{{ {line} }}"),
                None => "{}".to_owned(),
            },
            _ => self.block(),
        }
    }

    fn labelled_block(&mut self) -> String {
        let label = format!("'{}", self.fresh("b"));
        self.targets.push(Target { label: Some(label.clone()), value: None, is_loop: false });
        let block = self.block();
        self.targets.pop();
        format!("{label}: {block}")
    }

    /// A label for a loop, if it gets one.
    fn label(&mut self) -> (Option<String>, String) {
        if !self.source.chance(1, 3) {
            return (None, String::new());
        }
        let label = format!("'{}", self.fresh("l"));
        let text = format!("{label}: ");
        (Some(label), text)
    }

    fn loop_body(
        &mut self,
        label: Option<String>,
        times: u64,
        before: &mut dyn FnMut(&mut Self) -> Vec<String>,
    ) -> String {
        self.targets.push(Target { label, value: None, is_loop: true });
        let body = self.scoped(|g| {
            g.repeated(times, |g| {
                let mut lines = before(g);
                if !g.portal && g.source.chance(1, 8) {
                    lines.push("merge_point!();".to_owned());
                }
                let n = 1 + g.source.below(3);
                lines.extend(g.statements(n));
                lines
            })
        });
        self.targets.pop();
        braces(&body)
    }

    fn loop_statement(&mut self) -> Vec<String> {
        if self.frozen > 0 || !self.affords(16) {
            return self.assignment();
        }
        match self.choose(&[5, 3, 2, 2]) {
            0 => vec![self.for_range()],
            1 => self.for_slice(),
            2 => self.while_loop(),
            _ => {
                let counter = self.fresh("n");
                let (label, text) = self.label();
                let times = 1 + self.source.below(3);
                let stop = label.clone().map(|l| format!(" {l}")).unwrap_or_default();
                let name = counter.clone();
                let body = self.loop_body(label, times as u64 + 1, &mut |g| {
                    g.declare(&name, &U32, false);
                    vec![format!("{name} += 1;"), format!("if {name} > {times} {{ break{stop}; }}")]
                });
                vec![format!("let mut {counter} = 0u32;"), format!("{text}loop {body}")]
            }
        }
    }

    fn while_loop(&mut self) -> Vec<String> {
        let counter = self.fresh("n");
        let (label, text) = self.label();
        let times = 1 + self.source.below(3);
        let also =
            if self.source.chance(1, 3) { format!(" && {}", self.freeze(|g| g.condition(2))) } else { String::new() };
        let name = counter.clone();
        let body = self.loop_body(label, times as u64 + 1, &mut |g| {
            g.declare(&name, &U32, false);
            vec![format!("{name} += 1;")]
        });
        vec![format!("let mut {counter} = 0u32;"), format!("{text}while {counter} < {times}{also} {body}")]
    }

    fn while_let(&mut self) -> Vec<String> {
        if self.frozen > 0 || !self.affords(16) {
            return self.assignment();
        }
        let scalar = *self.source.pick(&INTEGERS).unwrap_or(&Scalar::U8);
        let ty = Ty::Scalar(scalar);
        let (left, value) = (self.fresh("n"), self.fresh("x"));
        let (label, text) = self.label();
        let start = format!("({} & 3)", self.expr(&ty, 2));
        let (names, own) = ((left.clone(), value.clone()), ty.clone());
        let body = self.loop_body(label, 5, &mut |g| {
            g.declare(&names.0, &own, false);
            g.declare(&names.1, &own, false);
            vec![format!("{} = {};", names.0, names.1)]
        });
        let limit = if scalar.is_signed() { format!(" && {left} > 0") } else { String::new() };
        vec![
            format!("let mut {left}: {} = {start};", scalar.name()),
            format!("{text}while let Some({value}) = {left}.checked_sub(1){limit} {body}"),
        ]
    }

    fn for_range(&mut self) -> String {
        let scalar = *self.source.pick(&INTEGERS).unwrap_or(&Scalar::I64);
        let ty = Ty::Scalar(scalar);
        let name = scalar.name();
        let (from, to) = match self.source.below(6) {
            0 => ("0".to_owned(), self.source.below(4).to_string()),
            1 => ("0".to_owned(), format!("({} & 3)", self.expr(&ty, 1))),
            2 => (format!("({} & 1)", self.expr(&ty, 1)), format!("({} & 3)", self.expr(&ty, 1))),
            3 => (format!("({name}::MAX - {})", self.source.below(3)), format!("{name}::MAX")),
            4 => (format!("{name}::MIN"), format!("({name}::MIN + {})", self.source.below(4))),
            _ => ("1".to_owned(), (1 + self.source.below(3)).to_string()),
        };
        let dots = ["..", "..="][self.source.below(2)];
        let from = if from.chars().all(char::is_numeric) { format!("{from}{name}") } else { from };
        let mut range = format!("{from}{dots}{to}");
        let step = format!(".step_by({})", 1 + self.source.below(3));
        // What rustc can walk backwards in steps: ranges that know how long they are.
        let counted = if dots == ".." {
            scalar.bits() < 64 || matches!(scalar, Scalar::Usize | Scalar::Isize)
        } else {
            scalar.bits() < 32
        };
        range = match self.source.below(8) {
            0..=3 => range,
            4 => format!("({range}).rev()"),
            5 => format!("({range}){step}"),
            7 if counted => format!("({range}){step}.rev()"),
            _ => format!("({range}).rev(){step}"),
        };
        let variable = self.fresh("i");
        let (label, text) = self.label();
        let pattern = match self.source.below(8) {
            0 => "_".to_owned(),
            1 => format!("mut {variable}"),
            _ => variable.clone(),
        };
        let mutable = pattern.starts_with("mut");
        let seen = pattern != "_";
        let body = self.loop_body(label, 5, &mut |g| {
            if seen {
                g.declare(&variable, &ty, mutable);
            }
            Vec::new()
        });
        format!("{text}for {pattern} in {range} {body}")
    }

    fn for_slice(&mut self) -> Vec<String> {
        let sized = |ty: &Ty| matches!(ty, Ty::Slice(..) | Ty::Array(..));
        let places = self.places(&sized, Use::Borrow(false));
        let Some((text, place)) = self.one_of(places) else { return vec![self.for_range()] };
        let (elem, owned, writes) = match &place.ty {
            Ty::Slice(m, elem) => ((**elem).clone(), false, *m),
            Ty::Array(elem, _) => ((**elem).clone(), true, self.vars[place.root].mutable),
            _ => return Vec::new(),
        };
        if !self.items.is_copy(&elem) {
            return vec![self.for_range()];
        }
        let free = self.vars[place.root].lock == Lock::Free && self.frozen == 0;
        let plain = text == self.vars[place.root].name;
        let (subject, mode) = match self.source.below(5) {
            0 if owned => (text.clone(), None),
            1 | 4 if writes && free && plain => match owned {
                true => (format!("&mut {text}"), Some(true)),
                false => (format!("&mut *{text}"), Some(true)),
            },
            _ if owned => (format!("&{text}"), Some(false)),
            _ => (format!("&*{text}"), Some(false)),
        };
        let variable = self.fresh("x");
        let copied = mode == Some(false) && self.source.chance(1, 3);
        let ty = match mode {
            Some(mutable) if !copied => Ty::Ref(mutable, Box::new(elem)),
            _ => elem,
        };
        let (label, start) = self.label();
        let lock = match mode {
            Some(true) => Lock::All,
            Some(false) => Lock::Write,
            None => Lock::Free,
        };
        let name = variable.clone();
        let body = self.locked(place.root, lock, |g| {
            g.loop_body(label, 6, &mut |g| {
                g.declare(&name, &ty, false);
                Vec::new()
            })
        });
        vec![format!("{start}for {}{variable} in {subject} {body}", if copied { "&" } else { "" })]
    }

    // ---- leaving

    fn conditional_leave(&mut self) -> String {
        if self.frozen > 0 {
            return String::new();
        }
        let condition = self.condition(2);
        let leave = self.leave(2);
        format!("if {condition} {{ {leave}; }}")
    }

    /// `return`, `break`, `continue`, `panic!`: an expression that doesn't come back.
    pub fn leave(&mut self, depth: usize) -> String {
        let targets: Vec<Target> = self.targets.clone();
        let inner = targets.iter().rposition(|t| t.is_loop);
        match self.choose(&[4, 5, 3, 1]) {
            1 | 2 if !targets.is_empty() => {
                let at = self.source.below(targets.len());
                let target = &targets[at];
                let label = match &target.label {
                    // Inside of a block with a label, a jump beyond it needs one.
                    Some(label) if inner != Some(at) || at + 1 != targets.len() || self.source.chance(1, 2) => {
                        format!(" {label}")
                    }
                    None if inner != Some(at) || at + 1 != targets.len() => return self.return_text(depth),
                    _ => String::new(),
                };
                if target.is_loop && self.source.chance(1, 2) {
                    return format!("continue{label}");
                }
                match &target.value {
                    Some(ty) => format!("break{label} {}", self.expr(ty, depth.saturating_sub(1))),
                    None => format!("break{label}"),
                }
            }
            3 if !self.tame => self.panic(),
            _ => self.return_text(depth),
        }
    }

    fn return_text(&mut self, depth: usize) -> String {
        let result = self.result.clone();
        match &result {
            Ty::Unit => "return".to_owned(),
            ty => format!("return {}", self.expr(ty, depth.saturating_sub(1))),
        }
    }

    /// A message and what is shown in it.
    fn message(&mut self) -> String {
        let scalar = Ty::Scalar(*self.source.pick(&super::types::SCALARS).unwrap_or(&Scalar::I64));
        match self.source.below(5) {
            0 => "\"gone wrong\"".to_owned(),
            // What is shown is borrowed.
            1 => format!("\"value {{}}\", {}", self.freeze(|g| g.expr(&scalar, 1))),
            2 => self.freeze(|g| format!("\"{{:?}} isn't {{}}\", {}, {}", g.expr(&scalar, 1), g.expr(&scalar, 1))),
            3 => {
                let named: Vec<String> = self
                    .vars
                    .iter()
                    .filter(|v| matches!(v.ty, Ty::Scalar(_)) && v.lock < Lock::All)
                    .map(|v| v.name.clone())
                    .collect();
                match self.source.pick(&named) {
                    Some(name) => format!("\"{{{name}}} and {{{name}:?}}\""),
                    None => "\"{{}}\"".to_owned(),
                }
            }
            _ => "\"\"".to_owned(),
        }
    }

    fn panic(&mut self) -> String {
        match self.source.below(5) {
            0 => "panic!()".to_owned(),
            1 => "unreachable!()".to_owned(),
            2 => format!("unreachable!({})", self.message()),
            3 => ["todo!()", "unimplemented!()"][self.source.below(2)].to_owned(),
            _ => format!("panic!({})", self.message()),
        }
    }

    /// An assertion, which mostly holds.
    fn trap_statement(&mut self) -> String {
        let condition = format!("({} || {})", self.condition(2), self.condition(2));
        let scalar = Ty::Scalar(*self.source.pick(&super::types::SCALARS).unwrap_or(&Scalar::I64));
        match self.source.below(9) {
            6..=8 => format!("if !{condition} {{ {} }}", self.panic()),
            0 => {
                // The message is the condition as rustc writes it, but for blocks (docs/limits.md).
                let (left, right) = (self.freeze(|g| g.leaf(&scalar)), self.freeze(|g| g.leaf(&scalar)));
                let message = if (left.clone() + &right).contains('{') { ", \"gone wrong\"" } else { "" };
                format!("assert!({left} {} {right}{message});", ["==", "<="][self.source.below(2)])
            }
            1 => format!("assert!({condition}, {});", self.message()),
            2 => format!("debug_assert!({});", self.freeze(|g| g.condition(2))),
            // Both sides are borrowed.
            3 => self.freeze(|g| format!("assert_ne!({}, {});", g.expr(&scalar, 1), g.expr(&scalar, 1))),
            4 => {
                let value = self.freeze(|g| g.leaf(&scalar));
                format!("assert_eq!({value}, {value});")
            }
            _ => format!("assert!(!({}) || {condition}, {});", self.condition(1), self.message()),
        }
    }

    /// A constant in a function, or a variable that can't be copied.
    fn item_inside(&mut self) -> Vec<String> {
        let owned: Vec<usize> = (0..self.items.structs.len()).filter(|id| !self.items.structs[*id].copy).collect();
        if self.source.chance(2, 3)
            && let Some(id) = self.source.pick(&owned)
        {
            let (ty, name) = (Ty::Struct(*id), self.fresh("v"));
            let value = self.literal(&ty);
            self.declare(&name, &ty, true);
            return vec![format!("let mut {name} = {value};")];
        }
        let scalar = *self.source.pick(&super::types::SCALARS).unwrap_or(&Scalar::I64);
        let name = self.fresh("K");
        let value = self.scalar_literal(scalar, true);
        let (variable, ty) = (self.fresh("v"), Ty::Scalar(scalar));
        self.declare(&variable, &ty, true);
        vec![format!("const {name}: {} = {value};", scalar.name()), format!("let mut {variable} = {name};")]
    }
}
