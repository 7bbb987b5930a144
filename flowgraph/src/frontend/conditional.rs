//! Conditional compilation: what rustc may leave out, the graphs would have. So it is refused wherever it stands, but
//! for tests, which are left out here, too.

use super::collect::is_test;
use super::items::{ModuleId, Program};
use super::refusal::Reason;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Refuses all `#[cfg(..)]` of a file.
pub(super) fn check(p: &Program<'_>, module: ModuleId, file: &syn::File) {
    Conditions { p, module }.visit_file(file);
}

struct Conditions<'p, 's> {
    p: &'p Program<'s>,
    module: ModuleId,
}

impl<'ast> Visit<'ast> for Conditions<'_, '_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_test(attributes_of(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_attribute(&mut self, attr: &'ast syn::Attribute) {
        if attr.path().is_ident("cfg") {
            let file = self.p.file_of(self.module);
            self.p.refuse(file, attr.path().span(), Reason::Conditional, "");
        }
    }
}

/// The attributes of an item that may be left out.
pub(super) fn attributes_of(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(i) => &i.attrs,
        syn::Item::Enum(i) => &i.attrs,
        syn::Item::Fn(i) => &i.attrs,
        syn::Item::Impl(i) => &i.attrs,
        syn::Item::Mod(i) => &i.attrs,
        syn::Item::Static(i) => &i.attrs,
        syn::Item::Struct(i) => &i.attrs,
        syn::Item::Type(i) => &i.attrs,
        syn::Item::Use(i) => &i.attrs,
        _ => &[],
    }
}
