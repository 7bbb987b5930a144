//! What stands in the macros' parentheses.
//!
//! ```text
//! #[interpreter(entry plus_minus(encoded_insn, nb_insn), entry other())]
//! interpreter_file!("src/lang.rs", pub mod lang, entry plus_minus(encoded_insn, nb_insn))
//! ```

use proc_macro2::{Ident, Span};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{LitStr, Token, Visibility, parenthesized};

mod keyword {
    syn::custom_keyword!(entry);
}

/// `entry f(a, b)`: a function that is compiled, with these parameters known.
pub struct EntryOption {
    /// The path: `f`, `Cpu::step`.
    pub function: syn::Path,
    /// The names of the parameters.
    pub greens: Vec<Ident>,
}

impl EntryOption {
    /// The path as graphs have it.
    pub fn name(&self) -> String {
        self.function.segments.iter().map(|s| s.ident.to_string()).collect::<Vec<_>>().join("::")
    }
}

impl Parse for EntryOption {
    fn parse(input: ParseStream) -> syn::Result<EntryOption> {
        input.parse::<keyword::entry>()?;
        let function = syn::Path::parse_mod_style(input)?;
        let names;
        parenthesized!(names in input);
        let greens = Punctuated::<Ident, Token![,]>::parse_terminated(&names)?;
        Ok(EntryOption { function, greens: greens.into_iter().collect() })
    }
}

/// The options of the attribute.
pub struct ModuleOptions {
    /// The entries besides portals.
    pub entries: Vec<EntryOption>,
}

impl Parse for ModuleOptions {
    fn parse(input: ParseStream) -> syn::Result<ModuleOptions> {
        let entries = Punctuated::<EntryOption, Token![,]>::parse_terminated(input)?;
        Ok(ModuleOptions { entries: entries.into_iter().collect() })
    }
}

/// The options of `interpreter_file!`.
pub struct FileOptions {
    /// The path of the root, relative to the crate's folder.
    pub path: LitStr,
    /// The module's visibility and name.
    pub module: Option<(Visibility, Ident)>,
    /// The entries besides portals.
    pub entries: Vec<EntryOption>,
}

impl FileOptions {
    /// The module's name, or that of the file.
    pub fn module(&self) -> syn::Result<(Visibility, Ident)> {
        if let Some((visibility, name)) = &self.module {
            return Ok((visibility.clone(), name.clone()));
        }
        let path = self.path.value();
        let base = path.rsplit(['/', '\\']).next().unwrap_or_default();
        match syn::parse_str::<Ident>(base.strip_suffix(".rs").unwrap_or(base)) {
            Ok(name) => Ok((Visibility::Inherited, Ident::new(&name.to_string(), Span::call_site()))),
            Err(_) => {
                Err(syn::Error::new(self.path.span(), "the file's name is no name for a module: write `mod name`"))
            }
        }
    }
}

impl Parse for FileOptions {
    fn parse(input: ParseStream) -> syn::Result<FileOptions> {
        let path = input.parse()?;
        let mut module = None;
        let mut entries = Vec::new();
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            if input.peek(keyword::entry) {
                entries.push(input.parse()?);
            } else {
                let visibility: Visibility = input.parse()?;
                input.parse::<Token![mod]>()?;
                if module.replace((visibility, input.parse::<Ident>()?)).is_some() {
                    return Err(input.error("there is a `mod` already"));
                }
            }
        }
        Ok(FileOptions { path, module, entries })
    }
}
