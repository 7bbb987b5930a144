//! Values as Rust's `{:?}` prints them.

use super::{Reader, Value, element, parts, repr};
use crate::ir::{Module, RustType, Word};
use crate::memory::{BadAccess, Memory};

fn list(open: &str, items: impl Iterator<Item = String>, close: &str) -> String {
    format!("{open}{}{close}", items.collect::<Vec<_>>().join(", "))
}

/// A value as Rust's `{:?}` prints it.
pub fn debug(module: &Module, ty: &RustType, value: &Value) -> String {
    match (ty, value) {
        (RustType::Scalar(s), Value::Word(word)) => s.debug(*word),
        (RustType::Enum(name), Value::Word(word)) => {
            let discriminant = repr(module, name).canonical(*word) as i64;
            let variants = module.enums.get(name).iter().flat_map(|e| &e.variants).collect::<Vec<_>>();
            let found = variants.iter().find(|(_, d)| *d == discriminant);
            found.map_or_else(|| format!("{name}({discriminant})"), |(variant, _)| variant.clone())
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
        (RustType::Struct(name), Value::Many(items)) => {
            let shown = parts(module, ty).into_iter().zip(items).map(|((ty, _), item)| debug(module, &ty, item));
            match module.structs.get(name) {
                Some(decl) if decl.fields.is_empty() => name.clone(),
                Some(decl) if !decl.tuple => {
                    let fields = decl.fields.iter().zip(shown).map(|(f, item)| format!("{}: {item}", f.name));
                    list(&format!("{name} {{ "), fields, " }")
                }
                _ => list(&format!("{name}("), shown, ")"),
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
