//! Random arguments, as text for `--args`.

use super::item::EntryParam;
use super::types::{Field, Items, Ty};
use flowgraph::ir::Scalar;
use flowgraph::testing::Source;

/// An argument for a parameter of the entry.
pub(super) fn argument(items: &Items, param: &EntryParam, source: &mut Source<'_>) -> String {
    if param.code {
        let n = 1 + source.below(6);
        let ops: Vec<String> = (0..n).map(|_| source.below(6).to_string()).collect();
        return format!("[{}]", ops.join(", "));
    }
    value(items, &param.ty, source)
}

/// A value of the type.
fn value(items: &Items, ty: &Ty, source: &mut Source<'_>) -> String {
    let list = |types: &mut dyn Iterator<Item = &Ty>, source: &mut Source<'_>| {
        types.map(|ty| value(items, ty, source)).collect::<Vec<_>>().join(", ")
    };
    match ty {
        Ty::Unit => "()".to_owned(),
        Ty::Scalar(scalar) => scalar_argument(*scalar, source),
        Ty::Tuple(types) => format!("({})", list(&mut types.iter(), source)),
        Ty::Struct(id) => {
            let decl = &items.structs[*id];
            fields(items, &decl.path, decl.tuple, &decl.fields, source)
        }
        Ty::Enum(id) => {
            let variants = &items.enums[*id].variants;
            let variant = &variants[source.below(variants.len())];
            fields(items, &variant.path, variant.tuple, &variant.fields, source)
        }
        Ty::Option(some) => match source.below(3) {
            0 => "None".to_owned(),
            _ => format!("Some({})", value(items, some, source)),
        },
        Ty::Result(ok, err) => match source.below(3) {
            0 => format!("Err({})", value(items, err, source)),
            _ => format!("Ok({})", value(items, ok, source)),
        },
        Ty::Array(elem, n) => format!("[{}]", list(&mut std::iter::repeat_n(&**elem, *n), source)),
        Ty::Ref(_, to) => value(items, to, source),
        Ty::Slice(_, elem) => {
            let n = [3, 2, 4, 2, 5, 2, 6, 0][source.below(8)];
            format!("[{}]", list(&mut std::iter::repeat_n(&**elem, n), source))
        }
        Ty::Str => ["\"\"", "\"abc\"", "\"0 1\"", "\"äö\""][source.below(4)].to_owned(),
    }
}

fn fields(items: &Items, path: &str, tuple: bool, fields: &[Field], source: &mut Source<'_>) -> String {
    if fields.is_empty() {
        return path.to_owned();
    }
    let shown = fields.iter().map(|f| {
        let shown = value(items, &f.ty, source);
        if tuple { shown } else { format!("{}: {shown}", f.name) }
    });
    let shown: Vec<String> = shown.collect();
    if tuple { format!("{path}({})", shown.join(", ")) } else { format!("{path} {{ {} }}", shown.join(", ")) }
}

fn scalar_argument(scalar: Scalar, source: &mut Source<'_>) -> String {
    match scalar {
        Scalar::Bool => ["false", "true"][source.below(2)].to_owned(),
        Scalar::Char => ["'a'", "'Z'", "'7'", "'\\n'", "'ß'", "'\\u{10ffff}'"][source.below(6)].to_owned(),
        Scalar::F64 => format!("{:?}", f64::from_bits(source.float())),
        Scalar::F32 => format!("{:?}", f64::from_bits(source.float()) as f32),
        Scalar::Usize if source.chance(3, 4) => source.below(4).to_string(),
        _ => scalar.display(scalar.canonical(source.int() as u64)),
    }
}
