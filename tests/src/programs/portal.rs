//! Portals: an interpreter's loop over bytes, with random arms.

use super::generator::{Generator, Lock, Var, braces};
use super::item::EntryParam;
use super::types::{Ty, U8, U32, USIZE};

impl Generator<'_, '_> {
    /// An entry that is a portal. Its greens are the code and the position; of its reds one counts the jumps backwards.
    pub(super) fn portal(&mut self) -> (String, Vec<EntryParam>) {
        let n = self.source.below(4);
        let reds: Vec<Ty> = (0..n).map(|_| self.parameter_type()).collect();
        let result = self.result_type();
        (self.cost, self.weight) = (0, 1);
        self.result = result.clone();
        self.portal = true;
        let code = Ty::Slice(false, Box::new(U8));
        let green = |ty: &Ty| EntryParam { ty: ty.clone(), must: true, red: false, code: *ty != USIZE };
        let red = |ty: &Ty| EntryParam { ty: ty.clone(), must: false, red: true, code: false };
        let mut params = vec![green(&code), green(&USIZE), red(&U32)];
        params.extend(reds.iter().map(red));
        let text = self.scoped(|g| {
            let var = |name: &str, ty: &Ty, lock, green| Var {
                name: name.to_owned(),
                ty: ty.clone(),
                mutable: false,
                lock,
                green,
            };
            g.vars.push(var("code", &code, Lock::Write, false));
            g.vars.push(var("pc", &USIZE, Lock::Write, true));
            g.vars.push(var("left", &U32, Lock::Write, false));
            let mut shown = vec!["code: &[u8]".to_owned(), "mut pc: usize".to_owned(), "mut left: u32".to_owned()];
            let mut names = vec!["left".to_owned()];
            for ty in &reds {
                let name = g.fresh("p");
                let owned = !matches!(ty, Ty::Ref(..) | Ty::Slice(..) | Ty::Str);
                shown.push(format!("{}{name}: {}", if owned { "mut " } else { "" }, g.items.written(ty)));
                g.vars.push(var(&name, ty, Lock::Free, false));
                if let Some(var) = g.vars.last_mut() {
                    var.mutable = owned;
                }
                names.push(name);
            }
            let body = g.portal_body(&result);
            let arrow = g.arrow(&result);
            let hint = format!("#[portal(greens(code, pc), reds({}))]", names.join(", "));
            format!(
                "{hint}\npub fn entry({}){arrow} {}",
                shown.join(", "),
                braces(&[format!("loop {}", braces(&body))])
            )
        });
        self.portal = false;
        (text, params)
    }

    fn portal_body(&mut self, result: &Ty) -> Vec<String> {
        // Six steps, and three times more for jumps backwards.
        self.repeated(24, |g| {
            let end = match result {
                Ty::Unit => String::new(),
                ty => format!(" {}", g.expr(ty, 2)),
            };
            let mut lines = vec![
                "merge_point!();".to_owned(),
                format!("if pc >= code.len() {{ return{end}; }}"),
                "let op = code[pc];".to_owned(),
                "pc += 1;".to_owned(),
            ];
            g.declare("op", &U8, false);
            let arms = 1 + g.source.below(4);
            let mut shown = Vec::new();
            for op in 0..arms {
                let n = 1 + g.source.below(3);
                let mut body = g.scoped(|g| g.statements(n));
                if op == 0 {
                    let to = ["0", "pc & 1", "concrete(code[0] as usize & 1)"][g.source.below(3)];
                    let jump = ["left -= 1;", &format!("pc = {to};"), "can_enter_jit!();"].map(str::to_owned);
                    body.push(format!("if left & 3 != 0 {}", braces(&jump)));
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
}
