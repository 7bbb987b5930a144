//! Writes the source of `bounds` once more, over words that are terms (`src/word.rs`): what is proven is what is
//! executed.
//!
//! The rewriting is of syntax alone. Integer types become the types of `word`, literals and casts calls, operators
//! functions, constants functions without parameters, a match on a number a guard. The body of each function becomes a
//! closure that is gone through for all its decisions (`src/explore.rs`). What only prints is left out.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use std::path::Path;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, FnArg, ImplItem, Item, Lit, Pat, ReturnType, Type, UnOp, parse_quote};

/// The integer types, which become words.
const WORDS: [(&str, &str); 5] = [("i64", "I64"), ("u64", "U64"), ("i128", "I128"), ("u128", "U128"), ("u32", "U32")];
/// The files that aren't needed: the ops' meaning is asked of `rules`.
const LEFT_OUT: [&str; 1] = ["narrow"];

fn main() {
    let folder = Path::new("../bounds/src");
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed=build.rs");
    let items = Rewrite { module: String::new() }.file(folder, "lib");
    let out = std::env::var("OUT_DIR").expect("cargo sets it");
    std::fs::write(Path::new(&out).join("bounds.rs"), quote!(#(#items)*).to_string()).expect("it can be written");
}

struct Rewrite {
    /// The file and the type whose functions are rewritten, for their names.
    module: String,
}

impl Rewrite {
    fn file(&mut self, folder: &Path, name: &str) -> Vec<Item> {
        let path = folder.join(format!("{name}.rs"));
        println!("cargo::rerun-if-changed={}", path.display());
        let text = std::fs::read_to_string(&path).expect("bounds lies beside");
        let file = syn::parse_file(&text).expect("bounds is Rust");
        let before = std::mem::replace(&mut self.module, name.to_owned());
        let items = file.items.into_iter().flat_map(|item| self.item(folder, item)).collect();
        self.module = before;
        items
    }

    fn item(&mut self, folder: &Path, mut item: Item) -> Vec<Item> {
        match &mut item {
            Item::Mod(module) if module.content.is_none() => {
                let name = &module.ident;
                if LEFT_OUT.iter().any(|left| name == left) {
                    return Vec::new();
                }
                let items = self.file(folder, &name.to_string());
                return vec![parse_quote!(pub mod #name { use crate::word::*; #(#items)* })];
            }
            Item::Use(used)
                if LEFT_OUT.iter().any(|left| used.tree.to_token_stream().to_string().starts_with(left)) =>
            {
                return Vec::new();
            }
            Item::Impl(own) if own.trait_.as_ref().is_some_and(|(_, path, _)| path.segments[0].ident == "fmt") => {
                return Vec::new();
            }
            Item::Impl(own) => {
                own.items.retain(|item| !matches!(item, ImplItem::Fn(own) if own.sig.ident == "digit"));
                let ty = own.self_ty.to_token_stream().to_string();
                let before = self.module.clone();
                self.module = format!("{before}::{}", ty.split_whitespace().next().unwrap_or_default());
                for item in &mut own.items {
                    if let ImplItem::Const(constant) = item {
                        let (vis, name, ty, value) = (&constant.vis, &constant.ident, &constant.ty, &constant.expr);
                        *item = parse_quote!(#vis fn #name() -> #ty { #value });
                    }
                }
                self.visit_item_impl_mut(own);
                self.module = before;
                return vec![item];
            }
            Item::Const(constant) => {
                let (vis, name, ty, value) = (&constant.vis, &constant.ident, &constant.ty, &constant.expr);
                item = parse_quote!(#vis fn #name() -> #ty { #value });
            }
            Item::Macro(own) => own.mac.tokens = renamed(own.mac.tokens.clone()),
            _ => {}
        }
        self.visit_item_mut(&mut item);
        let merge = match &item {
            Item::Struct(own) => Some(merge(own)),
            _ => None,
        };
        std::iter::once(item).chain(merge).collect()
    }

    /// Makes the body of a function a closure that is gone through for all its decisions.
    fn wrap(&self, sig: &mut syn::Signature, block: &mut syn::Block) {
        sig.constness = None;
        let ReturnType::Type(_, ty) = &sig.output else { return };
        let gives = ty.to_token_stream().to_string();
        // An iterator and a list have no terms; a constant has no decisions.
        let is_constant = sig.inputs.is_empty() && sig.ident == sig.ident.to_string().to_uppercase();
        if sig.generics.type_params().next().is_some()
            || gives.contains("impl")
            || gives.contains("[I64")
            || gives.contains("[I64 ;")
            || is_constant
        {
            return;
        }
        let mut names: Vec<Ident> = Vec::new();
        let mut bindings: Vec<TokenStream> = Vec::new();
        let mut is_of_terms = true;
        for (at, input) in sig.inputs.iter_mut().enumerate() {
            match input {
                FnArg::Receiver(_) => names.push(Ident::new("self", Span::call_site())),
                FnArg::Typed(own) => {
                    is_of_terms &= !matches!(*own.ty, Type::ImplTrait(_));
                    let name = format_ident!("p{at}");
                    let pattern = std::mem::replace(&mut *own.pat, parse_quote!(#name));
                    bindings.push(match *own.ty {
                        Type::ImplTrait(_) => quote!(let #pattern = &#name;),
                        _ => quote!(let #pattern = #name;),
                    });
                    names.push(name);
                }
            }
        }
        let key = if is_of_terms { quote!(Some(crate::explore::key(&[#(&#names),*]))) } else { quote!(None) };
        let name = format!("{}::{}", self.module, sig.ident);
        *block = parse_quote!({
            crate::explore::summary(#name, #key, || -> #ty { #(#bindings)* #block })
        });
    }
}

impl VisitMut for Rewrite {
    fn visit_attributes_mut(&mut self, attributes: &mut Vec<syn::Attribute>) {
        attributes.retain(|attribute| attribute.path().is_ident("derive"));
    }

    fn visit_generic_argument_mut(&mut self, argument: &mut syn::GenericArgument) {
        // The width is a number of Rust.
        if !matches!(argument, syn::GenericArgument::Const(_)) {
            visit_mut::visit_generic_argument_mut(self, argument);
        }
    }

    fn visit_const_param_mut(&mut self, _: &mut syn::ConstParam) {}

    /// Theorems are about inner functions, too.
    fn visit_visibility_mut(&mut self, own: &mut syn::Visibility) {
        *own = parse_quote!(pub);
    }

    fn visit_ident_mut(&mut self, ident: &mut Ident) {
        if let Some((_, word)) = WORDS.iter().find(|(own, _)| ident == own) {
            *ident = Ident::new(word, ident.span());
        }
    }

    fn visit_type_array_mut(&mut self, array: &mut syn::TypeArray) {
        self.visit_type_mut(&mut array.elem);
        if !matches!(array.len, Expr::Lit(_)) {
            array.len = parse_quote!(8);
        }
    }

    fn visit_impl_item_fn_mut(&mut self, own: &mut syn::ImplItemFn) {
        visit_mut::visit_impl_item_fn_mut(self, own);
        self.wrap(&mut own.sig, &mut own.block);
    }

    fn visit_item_fn_mut(&mut self, own: &mut syn::ItemFn) {
        visit_mut::visit_item_fn_mut(self, own);
        self.wrap(&mut own.sig, &mut own.block);
    }

    /// Numbers in patterns become guards, each alternative by itself.
    fn visit_expr_match_mut(&mut self, own: &mut syn::ExprMatch) {
        let arms = std::mem::take(&mut own.arms);
        for arm in arms {
            let alternatives: Vec<Pat> = match &arm.pat {
                Pat::Or(or) if Numbers::of(&arm.pat) > 0 => or.cases.iter().cloned().collect(),
                pat => vec![pat.clone()],
            };
            for pat in alternatives {
                let mut arm = syn::Arm { pat, ..arm.clone() };
                let mut numbers = Numbers(Vec::new());
                numbers.visit_pat_mut(&mut arm.pat);
                let mut guards: Vec<Expr> = Vec::new();
                for (name, number) in numbers.0 {
                    guards.push(parse_quote!(#name == #number));
                }
                guards.extend(arm.guard.take().map(|(_, guard)| *guard));
                if let Some(guard) = guards.into_iter().reduce(|one, other| parse_quote!(#one && #other)) {
                    arm.guard = Some((Default::default(), Box::new(guard)));
                }
                own.arms.push(arm);
            }
        }
        visit_mut::visit_expr_match_mut(self, own);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        // What the parts have no say in.
        match expr {
            Expr::Unary(own) if matches!(own.op, UnOp::Neg(_)) => {
                if let Expr::Lit(lit) = &*own.expr
                    && let Lit::Int(number) = &lit.lit
                {
                    let number = number.base10_digits().parse::<i128>().expect("a number");
                    *expr = literal(-number);
                    return;
                }
            }
            Expr::Range(own) => {
                if let (Some(Expr::Lit(_)), Some(Expr::Lit(_))) = (own.start.as_deref(), own.end.as_deref()) {
                    return;
                }
            }
            Expr::Path(own) => {
                let segments = &own.path.segments;
                let last = &segments[segments.len() - 1].ident;
                let text = last.to_string();
                let is_narrow = matches!(segments[0].ident.to_string().as_str(), "i8" | "i16" | "i32" | "u8" | "u16");
                if segments.len() == 1 && text == "W" {
                    *expr = parse_quote!(crate::word::U32::of(W));
                } else if text.len() > 1 && text.to_uppercase() == text && !is_narrow {
                    self.visit_path_mut(&mut own.path);
                    *expr = parse_quote!(#own());
                } else {
                    self.visit_path_mut(&mut own.path);
                }
                return;
            }
            _ => {}
        }
        visit_mut::visit_expr_mut(self, expr);
        match expr {
            Expr::Lit(lit) => {
                if let Lit::Int(number) = &lit.lit {
                    let value = number.base10_digits().parse::<i128>().expect("a number");
                    let suffix = WORDS.iter().find(|(own, _)| *own == number.suffix());
                    *expr = match suffix {
                        Some((_, word)) => {
                            let word = Ident::new(word, Span::call_site());
                            parse_quote!(crate::word::#word::of(#value))
                        }
                        None => literal(value),
                    };
                }
            }
            Expr::Binary(own) => {
                let (left, right) = (&own.left, &own.right);
                let Some((name, assigns)) = operator(&own.op) else { return };
                let name = format_ident!("{name}");
                let is_literal = right.to_token_stream().to_string().starts_with("crate :: word :: lit");
                *expr = match name.to_string().as_str() {
                    "shl" | "shr" if is_literal => by(&name, assigns, left, &parse_quote!(crate::word::amount(#right))),
                    "lt" | "le" | "gt" | "ge" | "eq" | "ne" => parse_quote!(crate::word::#name(&(#left), &(#right))),
                    _ => by(&name, assigns, left, right),
                };
            }
            Expr::Cast(own) => {
                let (value, ty) = (&own.expr, &own.ty);
                *expr = parse_quote!(<#ty as crate::word::CastFrom<_>>::cast(#value));
            }
            Expr::Range(own) => {
                let (Some(start), Some(end)) = (&own.start, &own.end) else { return };
                *expr = parse_quote!(crate::word::up_to(#start, #end));
            }
            Expr::Macro(own) if own.mac.path.is_ident("unreachable") => {
                *expr = parse_quote!(crate::explore::never());
            }
            Expr::Call(own) if own.func.to_token_stream().to_string() == "std :: iter :: successors" => {
                own.func = parse_quote!(crate::word::successors);
            }
            _ => {}
        }
    }
}

/// How a struct is known by the terms of its fields.
fn merge(own: &syn::ItemStruct) -> Item {
    let name = &own.ident;
    let (generics, arguments, _) = own.generics.split_for_impl();
    let fields: Vec<syn::Member> = own.fields.members().collect();
    let types: Vec<&Type> = own.fields.iter().map(|field| &field.ty).collect();
    parse_quote! {
        impl #generics crate::explore::Merge for #name #arguments {
            fn widths(found: &mut Vec<u32>) {
                #(<#types as crate::explore::Merge>::widths(found);)*
            }

            fn put(&self, found: &mut Vec<Option<crate::term::Term>>) {
                #(crate::explore::Merge::put(&self.#fields, found);)*
            }

            fn take(terms: &mut impl Iterator<Item = crate::term::Term>) -> Self {
                #name { #(#fields: <#types as crate::explore::Merge>::take(terms)),* }
            }
        }
    }
}

/// The function for an operator, and whether it assigns.
fn operator(op: &syn::BinOp) -> Option<(&'static str, bool)> {
    use syn::BinOp as B;
    Some(match op {
        B::Add(_) => ("add", false),
        B::Sub(_) => ("sub", false),
        B::Mul(_) => ("mul", false),
        B::Div(_) => ("div", false),
        B::Rem(_) => ("rem", false),
        B::BitAnd(_) => ("and", false),
        B::BitOr(_) => ("or", false),
        B::BitXor(_) => ("xor", false),
        B::Shl(_) => ("shl", false),
        B::Shr(_) => ("shr", false),
        B::AddAssign(_) => ("add", true),
        B::SubAssign(_) => ("sub", true),
        B::BitAndAssign(_) => ("and", true),
        B::BitOrAssign(_) => ("or", true),
        B::ShlAssign(_) => ("shl", true),
        B::ShrAssign(_) => ("shr", true),
        B::Lt(_) => ("lt", false),
        B::Le(_) => ("le", false),
        B::Gt(_) => ("gt", false),
        B::Ge(_) => ("ge", false),
        B::Eq(_) => ("eq", false),
        B::Ne(_) => ("ne", false),
        B::And(_) | B::Or(_) => return None,
        other => panic!("{} isn't known here", other.to_token_stream()),
    })
}

fn by(name: &Ident, assigns: bool, left: &Expr, right: &Expr) -> Expr {
    match assigns {
        true => parse_quote!(#left = crate::word::#name(#left, #right)),
        false => parse_quote!(crate::word::#name(#left, #right)),
    }
}

fn literal(value: i128) -> Expr {
    let value = proc_macro2::Literal::i128_suffixed(value);
    parse_quote!(crate::word::lit(#value))
}

/// The numbers of a pattern, which are given names.
struct Numbers(Vec<(Ident, Expr)>);

impl Numbers {
    fn of(pat: &Pat) -> usize {
        let mut numbers = Numbers(Vec::new());
        numbers.visit_pat_mut(&mut pat.clone());
        numbers.0.len()
    }
}

impl VisitMut for Numbers {
    fn visit_pat_mut(&mut self, pat: &mut Pat) {
        if let Pat::Lit(lit) = pat
            && !matches!(lit.lit, Lit::Bool(_))
        {
            let name = format_ident!("number{}", self.0.len());
            self.0.push((name.clone(), Expr::Lit(lit.clone())));
            *pat = parse_quote!(#name);
            return;
        }
        // `-1` is a literal with a sign.
        let text = pat.to_token_stream().to_string();
        if let Some(number) = text.strip_prefix('-').and_then(|digits| digits.trim().parse::<i128>().ok()) {
            let name = format_ident!("number{}", self.0.len());
            let number = proc_macro2::Literal::i128_unsuffixed(-number);
            self.0.push((name.clone(), parse_quote!(-#number)));
            *pat = parse_quote!(#name);
            return;
        }
        visit_mut::visit_pat_mut(self, pat);
    }
}

/// Tokens of a macro, with words for integers.
fn renamed(tokens: TokenStream) -> TokenStream {
    let each = |token: TokenTree| match token {
        TokenTree::Ident(ident) => match WORDS.iter().find(|(own, _)| ident == own) {
            // A parameter of a type is a number of Rust.
            Some((own, word)) if *own != "u32" => Ident::new(word, ident.span()).into(),
            _ => TokenTree::Ident(ident),
        },
        TokenTree::Group(group) => Group::new(group.delimiter(), renamed(group.stream())).into(),
        other => other,
    };
    tokens.into_iter().map(each).collect()
}
