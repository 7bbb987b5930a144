//! What an author says of values: `record_known_result!` and `record_exact_value!`.

use super::super::collect::path_text;
use super::super::items::{Item, Space};
use super::super::recorded::is_number;
use super::super::refusal::{Pos, Reason};
use super::super::tree::{Expr, ExprKind};
use super::super::types::Ty;
use super::Checker;
use syn::spanned::Spanned;

impl Checker<'_, '_> {
    /// `record_known_result!(result, f, arguments..)`.
    pub(super) fn record_known_result(&mut self, mac: &syn::Macro, args: &[syn::Expr], pos: Pos) -> Expr {
        let [said, function, given @ ..] = args else {
            self.arguments_only(args.iter());
            return self.refuse(
                mac.path.span(),
                Reason::Recorded,
                "`record_known_result!` needs a result and a function",
            );
        };
        let found = match function {
            syn::Expr::Path(path) => match self.lookup_path(&path.path, Space::Value) {
                Some(Item::Function(id)) => Ok((id, path)),
                _ => Err(format!("`{}` is no function of this source", path_text(&path.path))),
            },
            _ => Err("the second argument of `record_known_result!` names a function".to_owned()),
        };
        let (id, path) = match found {
            Ok(found) => found,
            Err(detail) => {
                self.arguments_only(given.iter().chain([said]));
                return self.refuse(function.span(), Reason::Recorded, &detail);
            }
        };
        if !self.p.is_elidable(id) {
            let detail = format!("`{}` isn't `#[elidable]`", self.p.functions[id].path);
            self.refuse(function.span(), Reason::Recorded, &detail);
        }
        let result = self.p.fn_types(id).map_or(Ty::Error, |types| types.result.clone());
        if !is_number(&result) && result != Ty::Error {
            let detail = format!("`{}` gives a `{result}`, which isn't one number", self.p.functions[id].path);
            self.refuse(function.span(), Reason::Recorded, &detail);
        }
        let said = self.expr(said, Some(&result));
        let said = self.coerce(said, &result);
        let call = self.call_function(id, None, given.iter(), path, pos);
        let ExprKind::Call(function, given, _) = call.kind else { return self.error(pos) };
        self.make(ExprKind::KnownResult(Box::new(said), function, given), Ty::Unit, pos)
    }

    /// `record_exact_value!(x, constant)`.
    pub(super) fn record_exact_value(&mut self, mac: &syn::Macro, args: &[syn::Expr], pos: Pos) -> Expr {
        let [value, exact] = args else {
            self.arguments_only(args.iter());
            return self.refuse(
                mac.path.span(),
                Reason::Recorded,
                "`record_exact_value!` needs a value and what it is",
            );
        };
        let value = self.expr(value, None);
        let exact = self.expr(exact, Some(&value.ty.clone()));
        let ty = value.ty.clone();
        self.same(&exact, &ty);
        let ty = self.infer.resolve(&ty);
        if !is_number(&ty) && ty != Ty::Error && !self.infer.is_integer(&ty) {
            let detail = format!("`record_exact_value!` of a `{ty}`, which isn't one number");
            return self.refuse(mac.path.span(), Reason::Recorded, &detail);
        }
        self.make(ExprKind::ExactValue(Box::new(value), Box::new(exact)), Ty::Unit, pos)
    }
}
