//! The whole module: types, data, functions, the entry, and what to try with it.

use super::build::{Builder, Container, Shape};
use super::calls::{Function, any_reference, function, green_params, reference, slice};
use super::memory::{CELLS, CELLS_SIZE, HOLDER, HOLDER_SIZE, STATE, STATE_SIZE};
use super::portal::portal;
use super::run::random_run;
use super::{Generated, Source};
use crate::ir::*;

/// A random module of flow graphs.
pub fn random_module(choices: &mut Source<'_>) -> Generated {
    let mut arguments = choices.split_off(1, 4);
    let mut module = Module::default();
    module.files.push(SourceFile { name: "random.rs".to_owned(), text: None });
    declare_structs(&mut module);
    let data = declare_data(&mut module, choices);
    // Where no struct has references, words that are loaded are never addresses.
    let holders = choices.chance(1, 2);
    if !holders {
        module.structs.shift_remove("H");
    }
    let mut functions: Vec<Function> = Vec::new();
    for index in 0..choices.below(5) {
        let (graphs, callable) = function(index, choices, &functions, &data, holders);
        module.graphs.extend(graphs.into_iter().map(|graph| (graph.key.clone(), graph)));
        functions.push(callable);
    }
    // No portal, one that is called, or one to begin with.
    let with_portal = choices.below(7);
    if with_portal >= 3 {
        let (graph, callable) = portal(choices, &functions, &data);
        module.graphs.insert(graph.key.clone(), graph);
        functions.push(callable);
    }
    let (entry, must, may) = if with_portal >= 5 {
        ("run".to_owned(), 0b11, 0b11)
    } else {
        let (graph, must, may) = main_function(choices, &functions, &data, holders);
        module.graphs.insert(graph.key.clone(), graph);
        ("main".to_owned(), must, may)
    };
    if let Some(graph) = module.graphs.get_mut(&entry) {
        graph.attributes.public = true;
    }
    module.entry = Some(entry.clone());
    let params: Vec<RustType> = module.graphs[&entry].signature.params.iter().map(|p| p.ty.clone()).collect();
    let list = |mask: u64| (0..params.len()).filter(|i| mask >> i & 1 != 0).collect::<Vec<usize>>();
    let some = u64::from(choices.byte()) & may | must;
    let mut splits = vec![list(must), list(may), list(some)];
    splits.dedup();
    let mut settings = [0; 11];
    settings[..10].fill_with(|| arguments.byte());
    let runs = (0..4).map(|_| random_run(&module, &params, &mut arguments)).collect();
    settings[10] = arguments.byte();
    Generated { module, entry, must_be_green: list(must), may_be_green: list(may), splits, runs, settings }
}

fn main_function(
    choices: &mut Source<'_>,
    functions: &[Function],
    data: &[Container],
    holders: bool,
) -> (Graph, u64, u64) {
    let mut builder = Builder::new("main", choices, functions);
    builder.holders = holders;
    builder.containers.extend(data.iter().cloned());
    builder.budget = 48;
    for _ in 0..builder.source.below(10) + 1 {
        let ty = match builder.source.chance(3, 5) {
            true => any_reference(builder.source, holders),
            false => RustType::Scalar(builder.scalar()),
        };
        builder.param(ty);
    }
    for _ in 0..builder.source.below(3) + 1 {
        let scalar = builder.scalar();
        builder.results.push(scalar);
    }
    let params: Vec<RustType> = builder.graph.signature.params.iter().map(|p| p.ty.clone()).collect();
    let may = green_params(&params);
    builder.allowed = if builder.source.chance(1, 2) { may } else { u64::from(builder.source.byte()) & may };
    builder.merge_points = builder.source.chance(1, 2);
    for _ in 0..builder.source.below(4) {
        builder.slot();
    }
    while builder.current.is_some() && builder.budget > 0 && !builder.source.is_empty() {
        // A round without statements uses up budget, too.
        builder.budget -= 1;
        builder.statements(3);
    }
    for _ in 0..builder.source.below(16) {
        if builder.current.is_some() {
            builder.trap_check();
        }
    }
    builder.return_statement();
    let (graph, demanded, _) = builder.finish();
    (graph, demanded, may)
}

fn declare_structs(module: &mut Module) {
    let fields = |list: &[(&str, Scalar, i32, i64)], is_cell: fn(&str) -> bool| {
        let ty = |name: &str, scalar: Scalar, count: i64| match (is_cell(name), count) {
            (true, _) => RustType::Cell(Box::new(RustType::Scalar(scalar))),
            (false, 1) => RustType::Scalar(scalar),
            (false, n) => RustType::Array(Box::new(RustType::Scalar(scalar)), n as u64),
        };
        let field = |&(name, scalar, offset, count): &(&str, Scalar, i32, i64)| Field {
            name: name.to_owned(),
            ty: ty(name, scalar, count),
            offset: offset as u32,
            green: false,
        };
        list.iter().map(field).collect::<Vec<Field>>()
    };
    let decls =
        [("S", fields(&STATE, |_| false), STATE_SIZE), ("C", fields(&CELLS, |name| name != "plain"), CELLS_SIZE)];
    for (name, fields, size) in decls {
        let decl = StructDecl { name: name.to_owned(), tuple: false, fields, size, align: 8 };
        module.structs.insert(name.to_owned(), decl);
    }
    let types = [slice(Scalar::I64, false), reference("S", false), reference("C", false)];
    let references = HOLDER.iter().zip(types).map(|(&(name, offset), ty)| (name, ty, offset));
    let fields = [("tag", RustType::Scalar(Scalar::I64), 0)].into_iter().chain(references);
    let fields =
        fields.map(|(name, ty, offset)| Field { name: name.to_owned(), ty, offset: offset as u32, green: false });
    let decl = StructDecl { name: "H".to_owned(), tuple: false, fields: fields.collect(), size: HOLDER_SIZE, align: 8 };
    module.structs.insert("H".to_owned(), decl);
}

fn declare_data(module: &mut Module, choices: &mut Source<'_>) -> Vec<Container> {
    let words: Vec<u8> = (0..8).flat_map(|_| choices.int().to_le_bytes()).collect();
    let bytes: Vec<u8> = (0..16).map(|_| choices.byte()).collect();
    let table = |scalar, n| RustType::Array(Box::new(RustType::Scalar(scalar)), n);
    let word_table = module.add_data(Data::plain("WORDS", table(Scalar::I64, 8), words));
    let byte_table = module.add_data(Data::plain("BYTES", table(Scalar::U8, 16), bytes));
    let container = |id, shape, len| Container {
        base: Operand::Const(Const::Addr(id, 0)),
        shape,
        kind: MemKind::Immutable,
        deps: Some(0),
        len: Operand::int(len),
        slot: false,
    };
    vec![container(word_table, Shape::Elements(Scalar::I64), 8), container(byte_table, Shape::Bytes, 16)]
}
