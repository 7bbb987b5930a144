//! Arguments for functions of which only the signature is known.

use flowgraph::eval::{EvalError, Evaluator, Outcome, TrapReport};
use flowgraph::ir::{Module, RustType, Scalar, Signature, Variant};
use flowgraph::memory::Memory;
use flowgraph::testing::Random;
use flowgraph::value::{Arguments, Value, debug_words, parts};
use hueshift::io::{self, Io};

/// Larger types than this get no value.
const MOST_BYTES: u32 = 1 << 12;

/// Deeper values than this are not made.
const MOST_DEPTH: usize = 8;

/// Some small arguments for a signature, always the same; `None` if there are none that are small.
pub fn arguments(module: &Module, signature: &Signature) -> Option<Arguments> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let value = |ty| value(module, ty, &mut random, 0);
    let values: Vec<Value> = signature.params.iter().map(|p| &p.ty).map(value).collect::<Option<_>>()?;
    Some(Arguments::new(module, signature, &values))
}

/// A small value of a type.
fn value(module: &Module, ty: &RustType, random: &mut Random, depth: usize) -> Option<Value> {
    if depth > MOST_DEPTH || module.layout(ty).0 > MOST_BYTES {
        return None;
    }
    let mut inner = |ty: &RustType| value(module, ty, random, depth + 1);
    match ty {
        RustType::Unit => Some(Value::Many(Vec::new())),
        RustType::Never => None,
        RustType::Scalar(scalar) => Some(Value::Word(word(*scalar, random))),
        RustType::Cell(of) => inner(of),
        RustType::Ref { to, .. } => Some(Value::Ref(Box::new(inner(to)?))),
        RustType::Slice { elem, .. } => (0..3).map(|_| inner(elem)).collect::<Option<_>>().map(Value::Slice),
        RustType::Str => Some(Value::Slice(b"abc".iter().map(|b| Value::Word(u64::from(*b))).collect())),
        RustType::Struct(_) | RustType::Tuple(_) | RustType::Array(..) => {
            parts(module, ty).iter().map(|(part, _)| inner(part)).collect::<Option<_>>().map(Value::Many)
        }
        RustType::Enum(_) | RustType::Option(_) | RustType::Result(..) => {
            let decl = module.enum_of(ty)?;
            let mut fields =
                |variant: &Variant| variant.fields.iter().map(|f| inner(&f.ty)).collect::<Option<Vec<_>>>();
            // A variant without a value may be one that contains itself; another ends that.
            let mut variants = decl.variants.iter().enumerate().rev();
            variants.find_map(|(index, variant)| Some(Value::Variant(index, fields(variant)?)))
        }
    }
}

fn word(scalar: Scalar, random: &mut Random) -> u64 {
    const INTEGERS: [i64; 8] = [0, 1, 2, 3, 7, 100, -1, i64::MIN];
    match scalar {
        Scalar::Bool => random.below(2) as u64,
        Scalar::Char => u64::from(b'a') + random.below(26) as u64,
        Scalar::F64 => (random.below(9) as f64 / 2.0 - 1.0).to_bits(),
        Scalar::F32 => u64::from((random.below(9) as f32 / 2.0 - 1.0).to_bits()),
        integer => integer.canonical(INTEGERS[random.below(INTEGERS.len())] as u64),
    }
}

/// Runs a function in the evaluator with a little fuel, and shows what it gives. Gives the trap, if it ends in one.
///
/// # Panics
/// If the graphs are at fault. A bad access is none: borrows aren't checked, so a reference may outlive what it refers
/// to.
pub fn run(module: &Module, key: &str, arguments: &Arguments, fuel: u64) -> Option<TrapReport> {
    let mut memory = Memory::for_module(module);
    memory.set_hosts(hueshift::hosts());
    let placed = arguments.place(&mut memory);
    let words = placed.words();
    let (outcome, _) = io::with(Io::bytes(*b"input"), || {
        let mut evaluator = Evaluator::new(module, &mut memory).with_fuel(fuel);
        evaluator.slot_limit = 1 << 20;
        evaluator.call(key, &words)
    });
    match outcome {
        Ok(Outcome::Returned(words)) => {
            // What is returned may refer to what is gone.
            let _ = debug_words(module, &memory, &module.graphs[key].signature.result, &words);
        }
        Ok(Outcome::Trapped(report)) => return Some(report),
        Ok(other) => panic!("{key} ended in the middle: {other:?}"),
        Err(EvalError::OutOfFuel | EvalError::BadAccess(_)) => {}
        Err(e) => panic!("{key}: {e}"),
    }
    None
}
