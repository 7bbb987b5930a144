//! Values and types as Rust source: arguments for a program that rustc compiles.

use flowgraph::ir::{Module, RustType, Scalar, Word};
use flowgraph::value::Value;

/// The value as an expression of the type. Names are paths from the root of the program's file.
pub fn expression(module: &Module, ty: &RustType, value: &Value) -> String {
    let list = |ty: &RustType, items: &[Value]| {
        let items: Vec<String> = items.iter().map(|item| expression(module, ty, item)).collect();
        items.join(", ")
    };
    match (ty, value) {
        (RustType::Scalar(scalar), Value::Word(word)) => scalar_expression(*scalar, *word),
        (RustType::Cell(inner), _) => format!("::std::cell::Cell::new({})", expression(module, inner, value)),
        (RustType::Ref { mutable, to }, Value::Ref(inner)) => {
            format!("{}{}", ampersand(*mutable), expression(module, to, inner))
        }
        (RustType::Slice { mutable, elem }, Value::Slice(items)) => {
            format!("{}[{}]", ampersand(*mutable), list(elem, items))
        }
        (RustType::Str, Value::Slice(items)) => {
            let word = |item: &Value| if let Value::Word(word) = item { *word as u8 } else { 0 };
            format!("{:?}", String::from_utf8_lossy(&items.iter().map(word).collect::<Vec<u8>>()))
        }
        (RustType::Array(elem, _), Value::Many(items)) => format!("[{}]", list(elem, items)),
        (RustType::Tuple(types), Value::Many(items)) => {
            let items: Vec<String> = types.iter().zip(items).map(|(ty, item)| expression(module, ty, item)).collect();
            format!("({},)", items.join(", "))
        }
        (RustType::Struct(name), Value::Many(items)) if name.starts_with("QuasiCell.") => {
            let (Some(decl), Some(item)) = (module.structs.get(name), items.first()) else { return name.clone() };
            let RustType::Cell(content) = &decl.fields[0].ty else { return name.clone() };
            format!("QuasiCell::new({})", expression(module, content, item))
        }
        (RustType::Struct(name), Value::Many(items)) => {
            let Some(decl) = module.structs.get(name) else { return name.clone() };
            let fields =
                decl.fields.iter().zip(items).map(|(f, item)| (f.name.clone(), expression(module, &f.ty, item)));
            constructor(name, decl.tuple, fields.collect())
        }
        (_, Value::Variant(index, items)) => {
            let Some(decl) = module.enum_of(ty) else { return "()".to_owned() };
            let Some(variant) = decl.variants.get(*index) else { return "()".to_owned() };
            let name = match ty {
                RustType::Enum(name) => format!("{name}::{}", variant.name),
                _ => variant.name.clone(),
            };
            let fields = variant.fields.iter().zip(items);
            let fields = fields.map(|(f, item)| (f.name.clone(), expression(module, &f.ty, item)));
            constructor(&name, variant.tuple, fields.collect())
        }
        _ => "()".to_owned(),
    }
}

/// A type as it is written at the root of the program's file.
pub fn written(ty: &RustType) -> String {
    match ty {
        RustType::Cell(inner) => format!("::std::cell::Cell<{}>", written(inner)),
        RustType::Array(elem, n) => format!("[{}; {n}]", written(elem)),
        RustType::Tuple(items) => {
            let items: Vec<String> = items.iter().map(|item| written(item) + ",").collect();
            format!("({})", items.join(" "))
        }
        RustType::Option(inner) => format!("Option<{}>", written(inner)),
        RustType::Result(ok, err) => format!("Result<{}, {}>", written(ok), written(err)),
        RustType::Ref { mutable, to } => format!("{}{}", ampersand(*mutable), written(to)),
        RustType::Slice { mutable, elem } => format!("{}[{}]", ampersand(*mutable), written(elem)),
        other => other.to_string(),
    }
}

fn ampersand(mutable: bool) -> &'static str {
    if mutable { "&mut " } else { "&" }
}

fn constructor(name: &str, tuple: bool, fields: Vec<(String, String)>) -> String {
    if fields.is_empty() {
        return format!("{name}{}", if tuple { "" } else { " {}" });
    }
    let fields = fields.into_iter().map(|(name, value)| if tuple { value } else { format!("{name}: {value}") });
    let fields: Vec<String> = fields.collect();
    if tuple { format!("{name}({})", fields.join(", ")) } else { format!("{name} {{ {} }}", fields.join(", ")) }
}

fn scalar_expression(scalar: Scalar, word: Word) -> String {
    match scalar {
        Scalar::Bool => (word != 0).to_string(),
        Scalar::Char => format!("'\\u{{{word:x}}}'"),
        Scalar::F64 => format!("f64::from_bits({word:#x})"),
        Scalar::F32 => format!("f32::from_bits({:#x})", word as u32),
        _ => format!("{}_{}", scalar.display(word), scalar.name()),
    }
}
