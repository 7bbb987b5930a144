//! A portal's loop, split in two: an outer one that begins with the merge point, and an inner one of the steps between.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprForLoop, ExprLoop, Label, Lifetime, Macro, Stmt};

/// Splits the loop of a portal's body that begins with `merge_point!()`, if there is one: from the end of a step the
/// merge point is come to where `jumped` holds. A loop that is left from inside of a macro's tokens stays as it is.
pub(super) fn split(body: &mut Block, jumped: &TokenStream) {
    let of_portal = body.stmts.iter_mut().find_map(|stmt| match stmt {
        Stmt::Expr(Expr::Loop(own), _) => own.body.stmts.first().is_some_and(is_merge_point).then_some(own),
        _ => None,
    });
    if let Some(own) = of_portal
        && !leaves_in_macros(own)
    {
        split_loop(own, jumped);
    }
}

/// Whether there is a `break` or `continue` in what a macro is handed, where it can't be led elsewhere.
fn leaves_in_macros(own: &ExprLoop) -> bool {
    struct Found(bool);

    impl<'ast> Visit<'ast> for Found {
        fn visit_macro(&mut self, mac: &'ast Macro) {
            self.0 |= leaves(mac.tokens.clone());
            visit::visit_macro(self, mac);
        }
    }

    fn leaves(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(word) => word == "break" || word == "continue",
            TokenTree::Group(group) => leaves(group.stream()),
            _ => false,
        })
    }

    let mut found = Found(false);
    found.visit_expr_loop(own);
    found.0
}

fn is_merge_point(stmt: &Stmt) -> bool {
    let mac = match stmt {
        Stmt::Macro(mac) => &mac.mac,
        Stmt::Expr(Expr::Macro(mac), _) => &mac.mac,
        _ => return false,
    };
    mac.path.segments.last().is_some_and(|segment| segment.ident == "merge_point")
}

fn split_loop(own: &mut ExprLoop, jumped: &TokenStream) {
    let label = |name| Lifetime::new(name, Span::call_site());
    let (arrival, step) = (label("'__hueshift_arrival"), label("'__hueshift_step"));
    let rest = own.body.stmts.split_off(1);
    let mut rest = Block { brace_token: own.body.brace_token, stmts: rest };
    let before = own.label.replace(syn::Label { name: arrival.clone(), colon_token: Default::default() });
    let own_label = before.map(|label| label.name);
    let mut leaving = Leaving { own: own_label, depth: 0, hidden: 0, arrival: &arrival, step: &step };
    leaving.visit_block_mut(&mut rest);
    let again = Expr::Verbatim(quote! { if #jumped { continue #arrival; } });
    let steps: Stmt = syn::parse_quote! { loop { #step: #rest } };
    own.body.stmts.push(steps);
    if let Some(Stmt::Expr(Expr::Loop(steps), _)) = own.body.stmts.last_mut() {
        steps.body.stmts.push(Stmt::Expr(again, None));
    }
}

/// Leads `break` and `continue` of the loop that is split to where they led.
struct Leaving<'l> {
    /// The loop's own label.
    own: Option<Lifetime>,
    /// How many loops are around, inside of it.
    depth: usize,
    /// How many loops and blocks are around, inside of it, that have its label, too.
    hidden: usize,
    arrival: &'l Lifetime,
    step: &'l Lifetime,
}

impl Leaving<'_> {
    fn is_own(&self, label: Option<&Lifetime>) -> bool {
        match label {
            Some(label) => self.hidden == 0 && self.own.as_ref() == Some(label),
            None => self.depth == 0,
        }
    }

    /// Visits what has this label, if any, and is a loop, or not.
    fn inside(&mut self, label: Option<&Label>, is_loop: bool, visit: impl FnOnce(&mut Self)) {
        let hides = label.is_some_and(|label| self.own.as_ref() == Some(&label.name));
        (self.depth, self.hidden) = (self.depth + usize::from(is_loop), self.hidden + usize::from(hides));
        visit(self);
        (self.depth, self.hidden) = (self.depth - usize::from(is_loop), self.hidden - usize::from(hides));
    }
}

impl VisitMut for Leaving<'_> {
    fn visit_expr_for_loop_mut(&mut self, own: &mut ExprForLoop) {
        // What it goes over is computed outside of it.
        self.visit_expr_mut(&mut own.expr);
        let label = own.label.clone();
        self.inside(label.as_ref(), true, |inside| inside.visit_block_mut(&mut own.body));
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let (label, is_loop) = match expr {
            Expr::Loop(own) => (own.label.clone(), true),
            Expr::While(own) => (own.label.clone(), true),
            Expr::Block(own) => (own.label.clone(), false),
            _ => (None, false),
        };
        self.inside(label.as_ref(), is_loop, |inside| visit_mut::visit_expr_mut(inside, expr));
        match expr {
            Expr::Continue(own) if self.is_own(own.label.as_ref()) => {
                let step = self.step;
                *expr = Expr::Verbatim(quote! { break #step });
            }
            Expr::Break(own) if self.is_own(own.label.as_ref()) => own.label = Some(self.arrival.clone()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::ToTokens;

    fn after(body: &str) -> String {
        let mut body: Block = syn::parse_str(body).expect("a block");
        split(&mut body, &quote!(jumped));
        body.into_token_stream().to_string().replace("__hueshift_", "")
    }

    #[test]
    fn loops_are_split() {
        let wanted = quote! {{
            let x = 1;
            'arrival: loop {
                merge_point!();
                loop {
                    'step: {
                        if a { break 'step; }
                        while b { continue; }
                        for c in 0..d { if e { break 'step; } break; }
                        if f { break 'arrival 3; }
                        loop { break 'arrival 4; }
                        can_enter_jit!();
                    }
                    if jumped { continue 'arrival; }
                }
            }
        }};
        let got = after(
            "{ let x = 1; 'own: loop { merge_point!(); if a { continue; } while b { continue; }
               for c in 0..d { if e { continue 'own; } break; } if f { break 3; } loop { break 'own 4; } can_enter_jit!(); } }",
        );
        assert_eq!(got, wanted.to_string());
    }

    #[test]
    fn labels_that_hide_its_own_lead_to_what_has_them() {
        let body = |leave: &str| {
            format!(
                "'own: while a {{ break 'own; }} 'own: {{ break 'own; }} 'own: for b in 0..c {{ break 'own; }}
                 for b in 0..(if a {{ {leave} }} else {{ 2 }}) {{ break; }}"
            )
        };
        let got = after(&format!("{{ 'own: loop {{ merge_point!(); {} }} }}", body("break 'own")));
        let wanted = format!(
            "{{ 'arrival: loop {{ merge_point!(); loop {{ 'step: {{ {} }} if jumped {{ continue 'arrival; }} }} }} }}",
            body("break 'arrival")
        );
        assert_eq!(got, syn::parse_str::<Block>(&wanted).expect("a block").into_token_stream().to_string());
        let unlabelled =
            after(&format!("{{ loop {{ merge_point!(); {} }} }}", body("break").replace("'own", "'other")));
        assert_eq!(unlabelled.matches("break 'arrival").count(), 1, "{unlabelled}");
    }

    #[test]
    fn what_is_no_loop_stays() {
        for body in [
            "{ loop { merge_point ! () ; assert ! (if a { break } else { b }) ; } }",
            "{ merge_point ! () ; f () }",
            "{ loop { f () ; merge_point ! () ; } }",
            "{ while a { merge_point ! () ; } }",
        ] {
            assert_eq!(after(body), body);
        }
    }
}
