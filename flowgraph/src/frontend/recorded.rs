//! What an author says of a function's results: `#[idempotent]` and `#[inverse_of(g)]`. Each call is followed by what
//! that says of it, as if `record_known_result!` stood there.

use super::collect::is_named;
use super::items::{FnItem, Item, Program, Space, ident_text};
use super::refusal::{Pos, Reason};
use super::types::Ty;
use std::rc::Rc;
use syn::spanned::Spanned;

/// The attributes that say something of a function's results.
const ATTRIBUTES: [&str; 2] = ["idempotent", "inverse_of"];

/// What follows from a call of a function with one parameter.
#[derive(Clone, Debug)]
pub(super) struct Follows {
    /// The function whose result is known then, for the call's result.
    pub(super) function: Rc<str>,
    /// It is the call's argument; else the call's result.
    pub(super) is_argument: bool,
}

/// Why what is said of a function's results can't be, and what to do if it is other than usual.
struct Wrong {
    detail: String,
    remedy: Option<String>,
}

impl From<String> for Wrong {
    fn from(detail: String) -> Wrong {
        Wrong { detail, remedy: None }
    }
}

impl<'s> Program<'s> {
    /// Reads what is said of each function's results, and refuses what can't be.
    pub(super) fn find_recorded(&self) {
        for (id, f) in self.functions.iter().enumerate() {
            for attr in f.attrs.iter().filter(|attr| ATTRIBUTES.iter().any(|name| is_named(attr, name))) {
                match self.follows(id, attr) {
                    Ok(follows) => self.recorded.borrow_mut().entry(f.path.clone()).or_default().extend(follows),
                    Err(Wrong { detail, remedy }) => {
                        let remedy = remedy.as_deref().unwrap_or(Reason::Recorded.remedy());
                        self.refuse_with(
                            Pos::of(self.file_of(f.module), attr.span()),
                            Reason::Recorded,
                            &detail,
                            remedy,
                        );
                    }
                }
            }
        }
    }

    /// Whether a function is pure as seen from outside.
    pub(super) fn is_elidable(&self, id: usize) -> bool {
        self.functions[id].attrs.iter().any(|attr| is_named(attr, "elidable"))
    }

    fn follows(&self, id: usize, attr: &syn::Attribute) -> Result<Option<Follows>, Wrong> {
        let f = &self.functions[id];
        let name = attr.path().segments.last().map(|s| ident_text(&s.ident)).unwrap_or_default();
        if !self.is_elidable(id) {
            return Err(format!("`#[{name}]` on `{}`, which isn't `#[elidable]`", f.path).into());
        }
        let Some(types) = self.fn_types(id) else { return Ok(None) };
        let [param] = &types.params[..] else {
            let count = types.params.len();
            return Err(format!("`#[{name}]` on `{}`, which has {count} parameters, not one", f.path).into());
        };
        if let Some(other) = [param, &types.result].into_iter().find(|ty| !is_number(ty)) {
            return Err(format!("`#[{name}]` on `{}`: a `{other}` isn't one number, bool or char", f.path).into());
        }
        if name == "idempotent" {
            if !matches!(attr.meta, syn::Meta::Path(_)) {
                return Err("`#[idempotent]` takes nothing".to_owned().into());
            }
            return match *param == types.result {
                true => Ok(Some(Follows { function: f.path.clone(), is_argument: false })),
                false => Err(format!(
                    "`{}` can't be idempotent: it takes a `{param}` and gives a `{}`",
                    f.path, types.result
                )
                .into()),
            };
        }
        let path: syn::Path = attr.parse_args().map_err(|_| "`#[inverse_of(..)]` names one function".to_owned())?;
        let wrong = |detail: String| Wrong { detail, remedy: Some(self.possible_inverses(id, param, &types.result)) };
        let other = self.function_of(f, &path).ok_or_else(|| {
            wrong(format!(
                "`#[inverse_of(..)]` names `{}`, which is no function here",
                super::collect::path_text(&path)
            ))
        })?;
        let undone = &self.functions[other];
        if !self.is_elidable(other) {
            return Err(wrong(format!("`#[inverse_of(..)]` names `{}`, which isn't `#[elidable]`", undone.path)));
        }
        match self.fn_types(other) {
            None => Ok(None),
            Some(back) if back.params[..] == [types.result.clone()] && back.result == *param => {
                Ok(Some(Follows { function: undone.path.clone(), is_argument: true }))
            }
            _ => Err(wrong(format!(
                "`{}` can't undo what `{}` does: it would take one `{}` and give a `{param}`",
                undone.path, f.path, types.result
            ))),
        }
    }

    /// Which functions can undo what a function does, in words.
    fn possible_inverses(&self, id: usize, param: &Ty, result: &Ty) -> String {
        let fits = |other: &usize| {
            let types = self.fn_types(*other).filter(|_| *other != id && self.is_elidable(*other));
            types.is_some_and(|types| types.params[..] == [result.clone()] && types.result == *param)
        };
        let names: Vec<String> =
            (0..self.functions.len()).filter(fits).map(|other| format!("`{}`", self.functions[other].path)).collect();
        match names.is_empty() {
            true => format!(
                "write the `#[elidable]` function that undoes it, from `{result}` to `{param}`: there is none here yet"
            ),
            false => format!("name an `#[elidable]` function from `{result}` to `{param}`: {}", names.join(", ")),
        }
    }

    fn function_of(&self, f: &FnItem<'_>, path: &syn::Path) -> Option<usize> {
        let segments: Vec<String> = path.segments.iter().map(|s| ident_text(&s.ident)).collect();
        let found = match (&segments[..], &f.self_ty) {
            ([own, name], Some(Ty::Struct(key) | Ty::Enum(key))) if own == "Self" => {
                self.associated.get(&(key.clone(), name.clone())).cloned()
            }
            _ => self.lookup(f.module, &segments, Space::Value),
        };
        match found {
            Some(Item::Function(id)) => Some(id),
            _ => None,
        }
    }
}

/// Whether values of a type are one word that can be compared.
pub(super) fn is_number(ty: &Ty) -> bool {
    matches!(ty, Ty::Scalar(_))
}
