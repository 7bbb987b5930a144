//! The whole module: types, data, functions, the entry, and what to try with it.

use super::build::{Builder, Container, Shape};
use super::calls::{Function, any_reference, function, green_params};
use super::memory::{CELLS, CELLS_SIZE, STATE, STATE_SIZE};
use super::portal::portal;
use super::run::random_run;
use super::{Generated, Source};
use crate::ir::*;

/// A random module of flow graphs.
pub fn random_module(choices: &mut Source<'_>) -> Generated {
    let mut module = Module::default();
    module.files.push(SourceFile { name: "random.rs".to_owned(), text: None });
    declare_structs(&mut module);
    let data = declare_data(&mut module, choices);
    let mut functions: Vec<Function> = Vec::new();
    for index in 0..choices.below(4) {
        let (graph, callable) = function(index, choices, &functions, &data);
        module.graphs.insert(graph.key.clone(), graph);
        functions.push(callable);
    }
    // No portal, one that is called, or one to begin with.
    let with_portal = choices.below(5);
    if with_portal >= 3 {
        let (graph, callable) = portal(choices, &functions, &data);
        module.graphs.insert(graph.key.clone(), graph);
        functions.push(callable);
    }
    let (entry, must, may) = if with_portal == 4 {
        ("run".to_owned(), 0b11, 0b11)
    } else {
        let (graph, must, may) = main_function(choices, &functions, &data);
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
    let runs = (0..3).map(|_| random_run(&params, choices)).collect();
    Generated { module, entry, must_be_green: list(must), may_be_green: list(may), splits, runs }
}

fn main_function(choices: &mut Source<'_>, functions: &[Function], data: &[Container]) -> (Graph, u64, u64) {
    let mut builder = Builder::new("main", choices, functions);
    builder.containers.extend(data.iter().cloned());
    builder.budget = 24;
    for _ in 0..builder.source.below(5) + 1 {
        let ty = match builder.source.chance(2, 5) {
            true => any_reference(builder.source),
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
    builder.allowed = u64::from(builder.source.byte()) & may;
    builder.merge_points = builder.source.chance(1, 3);
    while builder.current.is_some() && builder.budget > 0 && !builder.source.is_empty() {
        // A round without statements uses up budget, too.
        builder.budget -= 1;
        builder.statements(3);
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
    };
    vec![container(word_table, Shape::Elements(Scalar::I64), 8), container(byte_table, Shape::Bytes, 16)]
}
