//! Portals: interpreters' loops over bytes, with random arms. One may be the entry; others are called.

use super::generator::{COST, Generator, Lock, Var, braces};
use super::item::EntryParam;
use super::types::{Function, Recursion, Ty, U8, U32, USIZE};

/// A portal's head. Its first parameters are the code, the position, and how often it may still jump backwards.
struct Portal<'p> {
    /// `pub fn entry`.
    start: &'p str,
    /// The other reds.
    reds: &'p [Ty],
    result: &'p Ty,
    /// How it calls itself: the first of the other reds says how deep, and the second is what comes of it if that is a
    /// number.
    recursion: Option<Recursion>,
}

fn code_type() -> Ty {
    Ty::Slice(false, Box::new(U8))
}

impl Generator<'_, '_> {
    /// An entry that is a portal.
    pub(super) fn portal(&mut self) -> (String, Vec<EntryParam>) {
        let n = self.source.below(4);
        let reds: Vec<Ty> = (0..n).map(|_| self.parameter_type()).collect();
        let result = self.result_type();
        (self.cost, self.weight) = (0, 1);
        let green = |ty: &Ty| EntryParam { ty: ty.clone(), must: true, red: false, code: *ty != USIZE };
        let red = |ty: &Ty| EntryParam { ty: ty.clone(), must: false, red: true, code: false };
        let mut params = vec![green(&code_type()), green(&USIZE), red(&U32)];
        params.extend(reds.iter().map(red));
        let text = self.portal_text(&Portal { start: "pub fn entry", reds: &reds, result: &result, recursion: None });
        (text, params)
    }

    /// A portal that is called, perhaps by itself too.
    pub(super) fn called_portal(&mut self) -> String {
        let recursion = [None, Some(false), Some(true)][self.source.below(3)].map(|deep| Recursion { param: 3, deep });
        let n = self.source.below(3);
        let mut reds: Vec<Ty> = (0..n).map(|_| self.parameter_type()).collect();
        let result = if recursion.is_some() { self.number_or_result() } else { self.result_type() };
        if recursion.is_some() {
            let number = Some(result.clone()).filter(Ty::is_integer);
            reds.splice(0..0, [U32].into_iter().chain(number));
        }
        let name = self.fresh("f");
        let mut params = vec![code_type(), USIZE, U32];
        params.extend(reds.iter().cloned());
        let id = self.items.functions.len();
        self.items.functions.push(Function {
            path: name.clone(),
            receiver: None,
            params,
            result: result.clone(),
            cost: COST,
            recursion,
            portal: true,
            does_io: false,
        });
        // It calls itself in one place only.
        self.itself = Some((id, 0));
        self.does_io = false;
        // How often it calls itself, about, and what is left of the costs for it.
        let (times, share) = match recursion {
            None => (1, COST / 4),
            Some(Recursion { deep: false, .. }) => (4, COST / 8),
            Some(Recursion { deep: true, .. }) => (30, COST / 50),
        };
        (self.cost, self.weight) = (COST - share, 1);
        let start = format!("fn {name}");
        let text = self.portal_text(&Portal { start: &start, reds: &reds, result: &result, recursion });
        self.itself = None;
        let function = &mut self.items.functions[id];
        // One arm of several is run in each step.
        function.cost = 8 + times * (self.cost - (COST - share)) / 2;
        function.does_io = self.does_io;
        text
    }

    fn portal_text(&mut self, portal: &Portal<'_>) -> String {
        self.result = portal.result.clone();
        self.portal = true;
        let text = self.scoped(|g| {
            let mut var = |name: &str, ty: &Ty, lock, green| {
                g.vars.push(Var { name: name.to_owned(), ty: ty.clone(), mutable: false, lock, green });
            };
            var("code", &code_type(), Lock::Write, true);
            var("pc", &USIZE, Lock::Write, true);
            var("left", &U32, Lock::Write, false);
            let mut shown = vec!["code: &[u8]".to_owned(), "mut pc: usize".to_owned(), "mut left: u32".to_owned()];
            let mut names = vec!["left".to_owned()];
            let mut reds = portal.reds;
            if portal.recursion.is_some() {
                var("depth", &U32, Lock::Write, false);
                shown.push("mut depth: u32".to_owned());
                names.push("depth".to_owned());
                reds = &reds[1..];
            }
            for ty in reds {
                let name = g.fresh("p");
                let owned = !matches!(ty, Ty::Ref(..) | Ty::Slice(..) | Ty::Str);
                shown.push(format!("{}{name}: {}", if owned { "mut " } else { "" }, g.items.written(ty)));
                g.vars.push(Var { name: name.clone(), ty: ty.clone(), mutable: owned, lock: Lock::Free, green: false });
                names.push(name);
            }
            // What comes of its calls of itself is kept here.
            let kept = (portal.recursion.is_some() && portal.result.is_integer()).then(|| names[2].clone());
            let body = g.portal_body(portal, kept.as_deref());
            let arrow = g.arrow(portal.result);
            let hint = format!("#[portal(greens(code, pc), reds({}))]", names.join(", "));
            let body = braces(&[format!("loop {}", braces(&body))]);
            format!("{hint}\n{}({}){arrow} {body}", portal.start, shown.join(", "))
        });
        self.portal = false;
        text
    }

    fn portal_body(&mut self, portal: &Portal<'_>, kept: Option<&str>) -> Vec<String> {
        let deep = portal.recursion.is_some_and(|recursion| recursion.deep);
        // Six steps, and three times more for jumps backwards; what is deep jumps only at its end.
        self.repeated(if deep { 6 } else { 24 }, |g| {
            let end = match (portal.result, kept) {
                (Ty::Unit, _) => String::new(),
                (ty, Some(kept)) => format!(" {kept}.wrapping_add({})", g.expr(ty, 2)),
                (ty, None) => format!(" {}", g.expr(ty, 2)),
            };
            let mut lines = vec![
                "merge_point!();".to_owned(),
                format!("if pc >= code.len() {{ return{end}; }}"),
                "let op = code[pc];".to_owned(),
                "pc += 1;".to_owned(),
            ];
            g.declare("op", &U8, false);
            let arms = 1 + g.source.below(4);
            let recursion = portal.recursion.is_some().then_some(1);
            let mut shown = Vec::new();
            for op in 0..arms.max(recursion.map_or(0, |op| op + 1)) {
                let n = 1 + g.source.below(if deep { 1 } else { 3 });
                let mut body = g.scoped(|g| g.statements(n));
                if g.source.chance(1, 3) {
                    body.extend(g.scoped(|g| g.call_of_another_portal()));
                }
                if op == 0 {
                    let to = ["0", "pc & 1", "concrete(code[0] as usize & 1)"][g.source.below(3)];
                    let jump = ["left -= 1;", &format!("pc = {to};"), "can_enter_jit!();"].map(str::to_owned);
                    body.push(format!("if left & 3 != 0 {}", braces(&jump)));
                }
                if Some(op) == recursion {
                    if kept.is_some() {
                        // A variable of the same name ends here.
                        body = vec![braces(&body)];
                    }
                    body.push(g.scoped(|g| g.call_of_the_portal(portal, kept)));
                }
                shown.push(format!("{op} => {},", braces(&body)));
            }
            let last = g.scoped(|g| {
                let n = g.source.below(2);
                g.statements(n)
            });
            shown.push(format!("_ => {},", braces(&last)));
            lines.push(format!("match op {}", braces(&shown)));
            lines
        })
    }

    /// The portal calls itself, once in each activation.
    fn call_of_the_portal(&mut self, portal: &Portal<'_>, kept: Option<&str>) -> String {
        let (mut lines, name) = self.call_of_itself(portal.result);
        if let (Some(kept), Some(name)) = (kept, name) {
            lines.push(format!("{kept} = {kept}.wrapping_mul(31) ^ {name};"));
        }
        lines.push("depth = 0;".to_owned());
        format!("if depth > 0 {}", braces(&lines))
    }

    /// A call of another portal; none if there is none, or it costs too much.
    fn call_of_another_portal(&mut self) -> Option<String> {
        // One arm of several is run in each step.
        let before = std::mem::replace(&mut self.weight, 4);
        let call = self.portal_call(2);
        self.weight = before;
        call.map(|call| format!("let _ = {call};"))
    }

    /// Arguments for the greens of a portal: what is known when compiling wherever it is called.
    pub(super) fn code_and_position(&mut self, portal: &Function) -> (String, String) {
        let known: Vec<String> =
            self.vars.iter().filter(|v| v.green && v.ty == code_type()).map(|v| v.name.clone()).collect();
        let bytes = |ty: &Ty| matches!(ty, Ty::Array(elem, _) if **elem == U8);
        let tables = self.items.constants.iter().filter(|c| bytes(&c.ty));
        let tables: Vec<String> = tables.map(|c| format!("&{}", c.path)).collect();
        let code = match (self.source.pick(&known).cloned(), self.source.pick(&tables).cloned()) {
            (Some(known), _) if self.source.chance(3, 4) => known,
            (_, Some(table)) if self.source.chance(1, 4) => table,
            _ => {
                let n = 1 + self.source.below(3);
                let first = u8::from(portal.recursion.is_some());
                let ops: String = (1..n).map(|_| format!("\\x{:02x}", self.source.below(5))).collect();
                format!("b\"\\x{first:02x}{ops}\"")
            }
        };
        let inside = self.portal && self.frozen == 0;
        let position = match self.source.below(if inside { 8 } else { 6 }) {
            0..=3 => "0".to_owned(),
            4 => "1".to_owned(),
            5 => format!("promote({} & 1)", self.expr(&USIZE, 1)),
            6 => "pc".to_owned(),
            _ => "concrete(pc & 1)".to_owned(),
        };
        (code, position)
    }
}
