//! Values as Rust's `{:?}` prints them.

use super::{Reader, Value, element, parts};
use crate::ir::{Module, RustType, Word, own_name};
use crate::memory::{BadAccess, Memory};

fn list(open: &str, items: impl Iterator<Item = String>, close: &str) -> String {
    format!("{open}{}{close}", items.collect::<Vec<_>>().join(", "))
}

/// A value as Rust's `{:?}` prints it.
pub fn debug(module: &Module, ty: &RustType, value: &Value) -> String {
    match (ty, value) {
        (RustType::Scalar(s), Value::Word(word)) => s.debug(*word),
        (RustType::Enum(_) | RustType::Option(_) | RustType::Result(..), Value::Variant(index, items)) => {
            let decl = module.enum_of(ty);
            let Some(variant) = decl.as_ref().and_then(|d| d.variants.get(*index)) else {
                return format!("{ty}(no such variant)");
            };
            let shown = variant.fields.iter().zip(items).map(|(f, item)| debug(module, &f.ty, item));
            match (variant.fields.is_empty(), variant.tuple) {
                (true, _) => variant.name.clone(),
                (false, true) => list(&format!("{}(", variant.name), shown, ")"),
                (false, false) => {
                    let named = variant.fields.iter().zip(shown).map(|(f, item)| format!("{}: {item}", f.name));
                    list(&format!("{} {{ ", variant.name), named, " }")
                }
            }
        }
        (RustType::Cell(inner), _) => format!("Cell {{ value: {} }}", debug(module, inner, value)),
        (RustType::Ref { to, .. }, Value::Ref(inner)) => debug(module, to, inner),
        (RustType::Str, Value::Slice(items)) => {
            let bytes: Vec<u8> = items.iter().map(|b| if let Value::Word(w) = b { *w as u8 } else { 0 }).collect();
            format!("{:?}", String::from_utf8_lossy(&bytes))
        }
        (RustType::Slice { .. }, Value::Slice(items)) => {
            let elem = element(ty);
            list("[", items.iter().map(|item| debug(module, &elem, item)), "]")
        }
        (RustType::Array(elem, _), Value::Many(items)) => {
            list("[", items.iter().map(|item| debug(module, elem, item)), "]")
        }
        (RustType::Tuple(types), Value::Many(items)) => {
            let shown = types.iter().zip(items).map(|(ty, item)| debug(module, ty, item));
            list("(", shown, if types.len() == 1 { ",)" } else { ")" })
        }
        (RustType::Struct(name), Value::Many(items)) if name.starts_with("QuasiCell.") => {
            let mut parts = parts(module, ty).into_iter().zip(items);
            let content = match parts.next() {
                Some(((RustType::Cell(content), _), item)) => debug(module, &content, item),
                _ => "?".to_owned(),
            };
            format!("QuasiCell {{ value: {content} }}")
        }
        (RustType::Struct(name), Value::Many(items)) => {
            let shown = parts(module, ty).into_iter().zip(items).map(|((ty, _), item)| debug(module, &ty, item));
            match module.structs.get(name) {
                Some(decl) if decl.fields.is_empty() => decl.own_name().to_owned(),
                Some(decl) if !decl.tuple => {
                    let fields = decl.fields.iter().zip(shown).map(|(f, item)| format!("{}: {item}", f.name));
                    list(&format!("{} {{ ", decl.own_name()), fields, " }")
                }
                _ => list(&format!("{}(", own_name(name)), shown, ")"),
            }
        }
        (RustType::Unit, _) => "()".to_owned(),
        (RustType::Never, _) => "!".to_owned(),
        _ => "?".to_owned(),
    }
}

/// The value of type `ty` whose leaves are `words`, as Rust's `{:?}` prints it; references are followed into memory.
///
/// # Errors
/// If a reference in it points outside of memory.
pub fn debug_words(module: &Module, memory: &Memory, ty: &RustType, words: &[Word]) -> Result<String, BadAccess> {
    let value = Reader { module, memory }.of_words(ty, &mut words.iter().copied())?;
    Ok(debug(module, ty, &value))
}
