use super::*;
use crate::ir::{Access, Const, Field, Param, Signature, StructDecl, Variant};

fn s(scalar: Scalar) -> RustType {
    RustType::Scalar(scalar)
}

fn reference(mutable: bool, to: &str) -> RustType {
    RustType::Ref { mutable, to: Box::new(RustType::Struct(to.into())) }
}

fn slice(mutable: bool, elem: RustType) -> RustType {
    RustType::Slice { mutable, elem: Box::new(elem) }
}

fn module() -> Module {
    let mut module = Module::default();
    let mut declare = |name: &str, tuple: bool, fields: &[(&str, RustType)]| {
        let types: Vec<RustType> = fields.iter().map(|f| f.1.clone()).collect();
        let (offsets, size, align) = module.tuple_offsets(&types);
        let fields = fields.iter().zip(offsets);
        let fields = fields.map(|((n, ty), offset)| Field { name: (*n).into(), ty: ty.clone(), offset, green: false });
        let decl = StructDecl { name: name.into(), tuple, fields: fields.collect(), size, align };
        module.structs.insert(name.into(), decl);
    };
    declare("Pair", false, &[("left", s(Scalar::I64)), ("right", s(Scalar::I64))]);
    declare("Wide", true, &[("0", s(Scalar::U8)), ("1", s(Scalar::F64))]);
    declare("Marker", false, &[]);
    declare("inner::Deep", false, &[("x", s(Scalar::I8))]);
    declare("Counter", false, &[("n", RustType::Cell(Box::new(s(Scalar::I32)))), ("k", s(Scalar::I32))]);
    let regs = RustType::Array(Box::new(s(Scalar::I16)), 3);
    let pair = RustType::Struct("Pair".into());
    let code = slice(false, s(Scalar::U8));
    let op = RustType::Enum("Op".into());
    declare(
        "Vm",
        false,
        &[("regs", regs), ("at", pair), ("code", code), ("op", op), ("mem", slice(true, s(Scalar::U8)))],
    );
    let unit = |name: &str, discriminant| Variant { name: name.into(), discriminant, tuple: false, fields: Vec::new() };
    let op = module.lay_out_enum("Op", Scalar::I8, vec![unit("Add", 0), unit("Sub", -1)]);
    module.enums.insert("Op".into(), op);
    module
}

fn signature(types: &[RustType]) -> Signature {
    let param = |(i, ty): (usize, &RustType)| Param { name: ["a", "b", "c"][i].into(), ty: ty.clone() };
    Signature { params: types.iter().enumerate().map(param).collect(), result: RustType::Unit }
}

/// What the text means for a parameter of this type, by way of memory and words.
fn round(ty: RustType, text: &str) -> String {
    let module = module();
    let sig = signature(std::slice::from_ref(&ty));
    let arguments = Arguments::parse(&module, &sig, text).unwrap_or_else(|e| panic!("{text}: {e}"));
    let mut memory = Memory::new();
    let placed = arguments.place(&mut memory);
    debug_words(&module, &memory, &ty, &placed.words()).unwrap()
}

fn refused(ty: RustType, text: &str) -> ArgumentError {
    parse(&module(), &signature(&[ty]), text).expect_err(text)
}

#[test]
fn scalars() {
    for (ty, text, shown) in [
        (Scalar::I64, "0xA5A", "2650"),
        (Scalar::I64, "-9223372036854775808", "-9223372036854775808"),
        (Scalar::U64, "0xffff_ffff_ffff_ffff", "18446744073709551615"),
        (Scalar::I8, " -128 ", "-128"),
        (Scalar::I8, "-0x80", "-128"),
        (Scalar::U8, "b'a'", "97"),
        (Scalar::U8, "0b101", "5"),
        (Scalar::U16, "7u16", "7"),
        (Scalar::Bool, "true", "true"),
        (Scalar::Char, "'é'", "'é'"),
        (Scalar::Char, r"'\''", r"'\''"),
        (Scalar::Char, r"'\u{1f600}'", "'😀'"),
        (Scalar::F64, "15", "15.0"),
        (Scalar::F64, "-2.5e-3", "-0.0025"),
        (Scalar::F64, "NaN", "NaN"),
        (Scalar::F64, "-inf", "-inf"),
        (Scalar::F32, "0.1", "0.1"),
    ] {
        assert_eq!(round(s(ty), text), shown, "{text}");
    }
}

#[test]
fn aggregates() {
    let bytes = || slice(false, s(Scalar::U8));
    assert_eq!(round(bytes(), r#""a\n\xff\"""#), "[97, 10, 255, 34]");
    assert_eq!(round(bytes(), "\"\""), "[]");
    assert_eq!(round(bytes(), "&[0; 3]"), "[0, 0, 0]");
    assert_eq!(round(RustType::Str, r#""h\u{e9}, \"x\"""#), r#""hé, \"x\"""#);
    assert_eq!(round(slice(true, s(Scalar::I64)), "[1, -2,3,]"), "[1, -2, 3]");
    let pair = || RustType::Struct("Pair".into());
    assert_eq!(round(reference(false, "Pair"), "{right: 2, left: 1}"), "Pair { left: 1, right: 2 }");
    assert_eq!(round(pair(), "Pair{left:1,right:2}"), "Pair { left: 1, right: 2 }");
    assert_eq!(round(RustType::Struct("Wide".into()), "Wide(1, 2)"), "Wide(1, 2.0)");
    assert_eq!(round(RustType::Struct("Marker".into()), "Marker"), "Marker");
    for text in ["{x: 1}", "Deep { x: 1 }", "inner::Deep { x: 1 }"] {
        assert_eq!(round(RustType::Struct("inner::Deep".into()), text), "Deep { x: 1 }");
    }
    assert_eq!(round(reference(false, "Counter"), "{n: 3, k: 4}"), "Counter { n: Cell { value: 3 }, k: 4 }");
    assert_eq!(round(slice(false, pair()), "[{left: 1, right: 2}]"), "[Pair { left: 1, right: 2 }]");
    assert_eq!(round(RustType::Tuple(vec![s(Scalar::I8), s(Scalar::Bool)]), "(-1, true)"), "(-1, true)");
    assert_eq!(round(RustType::Tuple(vec![s(Scalar::I8)]), "(1,)"), "(1,)");
    assert_eq!(round(RustType::Enum("Op".into()), "Op::Sub"), "Sub");
    assert_eq!(
        round(slice(false, RustType::Tuple(vec![s(Scalar::U8), s(Scalar::I64)])), "[(1, 2), (3, 4)]"),
        "[(1, 2), (3, 4)]"
    );
    assert_eq!(
        round(reference(true, "Vm"), r#"{regs: [1, 2, 3], at: {left: 4, right: 5}, code: "ab", op: Add, mem: [7]}"#),
        "Vm { regs: [1, 2, 3], at: Pair { left: 4, right: 5 }, code: [97, 98], op: Add, mem: [7] }"
    );
}

#[test]
fn errors_say_where_and_what_to_write() {
    let e = refused(s(Scalar::U8), " 300");
    assert_eq!((e.at, e.len), (1, 3));
    assert_eq!(e.message, "argument 1 (`a: u8`): `300` is out of range for `u8`");
    assert_eq!(e.remedy, "write an integer from 0 to 255, decimal or with 0x, 0o, 0b");
    let pair = || reference(false, "Pair");
    for (ty, text, at, message) in [
        (s(Scalar::I64), "", 0, "argument 1 (`a: i64`) is missing"),
        (s(Scalar::I64), "1,2", 1, "there are too many arguments"),
        (s(Scalar::I64), "1 2", 2, "ends before `2`"),
        (s(Scalar::I64), "x", 0, "expected a value of type `i64`, found `x`"),
        (s(Scalar::I64), "1.5", 0, "expected a value of type `i64`, found `1.5`"),
        (s(Scalar::I64), "99999999999999999999999999999999999999999999", 0, "out of range"),
        (s(Scalar::I64), "\"a\"", 0, "expected a value of type `i64`, found `\"`"),
        (s(Scalar::I64), "'a'", 0, "expected a value of type `i64`"),
        (s(Scalar::U64), "-1", 0, "out of range"),
        (s(Scalar::Bool), "1", 0, "expected a value of type `bool`"),
        (s(Scalar::Char), "''", 1, "expected a character"),
        (s(Scalar::Char), "'ab'", 2, "expected `'`"),
        (s(Scalar::U8), "'é'é", 4, "ends before"),
        (s(Scalar::F64), "two", 0, "expected a value of type `f64`"),
        (slice(false, s(Scalar::U8)), "[1, 256]", 4, "out of range"),
        (slice(false, s(Scalar::U8)), "[1 2]", 3, "expected `,` or `]`, found `2`"),
        (slice(false, s(Scalar::U8)), "[1", 2, "expected `,` or `]`, found the end of the text"),
        (slice(false, s(Scalar::U8)), "\"ab", 0, "this text doesn't end"),
        (slice(false, s(Scalar::U8)), r#""a\q""#, 2, "no such escape"),
        (slice(false, s(Scalar::U8)), "[0; 99999999999]", 4, "more than"),
        (slice(false, s(Scalar::I64)), "\"ab\"", 0, "expected a `&[i64]`"),
        (RustType::Str, "[1]", 0, "expected a `&str`"),
        (RustType::Array(Box::new(s(Scalar::I64)), 2), "[1]", 0, "expected 2 elements"),
        (pair(), "5", 0, "expected a `Pair`"),
        (pair(), "{left: 1}", 8, "`Pair` lacks the field `right`"),
        (pair(), "{left: 1, left: 2}", 10, "given twice"),
        (pair(), "{up: 1}", 1, "`Pair` has no field `up`"),
        (pair(), "{left 1}", 6, "expected `:`"),
        (RustType::Tuple(vec![s(Scalar::I8), s(Scalar::I8)]), "(1)", 2, "expected `,`"),
        (RustType::Enum("Op".into()), "Mul", 0, "expected a variant of `Op`, found `Mul`"),
    ] {
        let e = refused(ty, text);
        assert_eq!(e.at, at, "{text}: {e}");
        assert!(e.message.contains(message), "{text}: {e}");
        assert!(!e.remedy.is_empty());
        assert!(e.text.get(e.at..e.at + e.len).is_some(), "{text}: not a range of the text");
    }
}

#[test]
fn no_text_panics() {
    let types = [s(Scalar::I64), s(Scalar::Char), RustType::Str, slice(false, s(Scalar::U8)), reference(false, "Vm")];
    let pieces =
        ["{", "}", "[", "]", "\"", "\\", "'", "x", "é", "u{", ":", "::", ",", ";", "-", "0x", "1", " ", "b", "&"];
    let mut seed = 7u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..8 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            text.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
        }
        for ty in &types {
            let _ = parse(&module(), &signature(std::slice::from_ref(ty)), &text);
        }
    }
}

#[test]
fn memory_afterwards_and_again() {
    let module = module();
    let sig = signature(&[reference(true, "Vm"), slice(true, s(Scalar::I64)), reference(false, "Counter")]);
    let text = r#"{regs: [1,2,3], at: {left: 4, right: 5}, code: "ab", op: Sub, mem: [7]}, [1,2], {n: 1, k: 2}"#;
    let arguments = Arguments::parse(&module, &sig, text).unwrap();
    let mut memory = Memory::new();
    let placed = arguments.place(&mut memory);
    let (vm, counter) = (placed.parameter(0)[0], placed.parameter(2)[0]);
    memory.store(vm + 2, Access::I16, 9).unwrap();
    memory.store(vm + 16, Access::I64, 6).unwrap();
    memory.store(placed.parameter(1)[0], Access::I64, 8).unwrap();
    memory.store(counter, Access::I32, 3).unwrap();
    let after = arguments.after(&module, &placed, &memory).unwrap();
    let wanted = [
        ("a.regs", "[1, 9, 3]"),
        ("a.at", "Pair { left: 4, right: 6 }"),
        ("a.at.left", "4"),
        ("a.at.right", "6"),
        ("a.op", "Sub"),
        ("a.mem", "[7]"),
        ("b", "[8, 2]"),
        ("c.n", "3"),
    ];
    assert_eq!(after.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect::<Vec<_>>(), wanted);
    arguments.refresh(&placed, &mut memory);
    let fresh = arguments.after(&module, &placed, &memory).unwrap();
    assert_eq!((fresh["a.regs"].as_str(), fresh["b"].as_str(), fresh["c.n"].as_str()), ("[1, 2, 3]", "[1, 2]", "1"));
    memory.store(vm + 32, Access::I64, 16).unwrap();
    assert!(arguments.after(&module, &placed, &memory).is_err());
}

#[test]
fn green_references_are_data_with_symbols() {
    let mut module = module();
    let sig = signature(&[slice(false, s(Scalar::U8)), s(Scalar::F64), reference(false, "Vm")]);
    let text = r#""xyz", 1.5, {regs: [0; 3], at: {left: 0, right: 0}, code: "ab", op: Add, mem: []}"#;
    let mut arguments = Arguments::parse(&module, &sig, text).unwrap();
    arguments.name_greens(&mut module, &[0, 2]);
    let names: Vec<&str> = module.data.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["a", "c.code", "c.mem", "c"]);
    let references: Vec<&str> = module.data[3].references.iter().map(|(_, to)| &*module.data(*to).name).collect();
    assert_eq!(references, ["c.code", "c.mem"]);
    let mut memory = Memory::for_module(&module);
    let placed = arguments.place(&mut memory);
    assert_eq!(arguments.constants(&placed, 0), [Const::Addr(crate::ir::DataId(0), 0), Const::Int(3)]);
    assert_eq!(arguments.constants(&placed, 1), [Const::Float(1.5f64.to_bits())]);
    let code = memory.load(placed.parameter(2)[0] + 24, Access::I64).unwrap();
    assert_eq!(memory.symbol(code), Some(Const::Addr(crate::ir::DataId(1), 0)));
    assert_eq!(memory.load(code + 1, Access::U8), Ok(u64::from(b'b')));
}
