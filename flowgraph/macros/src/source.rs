//! The text of an inline module, as the front end lifts it, with every character at its place in the user's file.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};

/// A text to be lifted.
pub struct Source {
    /// The name of the file.
    pub name: String,
    /// The text, at the lines and columns of the file.
    pub text: String,
}

/// Why a module has no text.
pub const NO_TEXT: &str = "the text of this module isn't at hand: an interpreter can't be made by another macro; \
                           write it out, or put it into a file for `hueshift::interpreter_file!`";

/// Whether it is rust-analyzer that expands, which may have no texts. For it the module is as it was written.
pub fn is_editor() -> bool {
    std::env::var_os("RUST_ANALYZER_INTERNALS_DO_NOT_USE").is_some()
}

impl Source {
    /// The text between the braces of a module.
    pub fn of_module(braces: &Group) -> Option<Source> {
        let span = braces.span();
        let written = span.unwrap().source_text()?;
        let inner = written.strip_prefix('{')?.strip_suffix('}')?;
        let start = span.start();
        let mut text = "\n".repeat(start.line.saturating_sub(1));
        text.extend(std::iter::repeat_n(' ', start.column + 1));
        text.push_str(inner);
        Some(Source { name: file_name(span), text })
    }
}

/// The file that a span is in: relative to the crate's folder where it lies in it.
fn file_name(span: Span) -> String {
    let file = span.unwrap().file();
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let inside = file.strip_prefix(&folder).map(|rest| rest.trim_start_matches(['/', '\\']));
    inside.unwrap_or(&file).to_owned()
}

/// The tokens one by one, without doc comments, which the compiler and the front end write down differently.
pub fn flat(tokens: TokenStream) -> Vec<String> {
    let mut out = Vec::new();
    flatten(tokens, &mut out);
    out
}

fn flatten(tokens: TokenStream, out: &mut Vec<String>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(p) if p.as_char() == '#' => {
                // `#[doc = "…"]`, `#![doc = "…"]`: the compiler and the front end quote the text differently.
                let bang = matches!(tokens.peek(), Some(TokenTree::Punct(p)) if p.as_char() == '!');
                if bang {
                    tokens.next();
                }
                match tokens.peek() {
                    Some(TokenTree::Group(g)) if is_doc(g) => drop(tokens.next()),
                    _ => out.push(if bang { "#!".to_owned() } else { "#".to_owned() }),
                }
            }
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("«", "»"),
                };
                out.push(open.to_owned());
                flatten(group.stream(), out);
                out.push(close.to_owned());
            }
            other => out.push(other.to_string()),
        }
    }
}

fn is_doc(group: &Group) -> bool {
    let first = group.stream().into_iter().next();
    group.delimiter() == Delimiter::Bracket && matches!(first, Some(TokenTree::Ident(i)) if i == "doc")
}
