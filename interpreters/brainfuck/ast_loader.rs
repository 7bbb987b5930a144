//! The table row of the interpreter of trees, `bf_ast.rs`.

use super::loader::{PROGRAMS, cells};
use super::tree::{Rooted, Tree};
use super::{Peephole, parse};
use crate::{Guest, Interpreter, LoadError, run};

hueshift::interpreter_file!("brainfuck/bf_ast.rs", pub(crate) mod lang, entry bf_ast(nodes, first, end));

pub(crate) const BF_AST: Interpreter = Interpreter {
    name: "bf_ast",
    doc: "Brainfuck, as a tree of nodes",
    file: "bf_ast.rs",
    source: include_str!("bf_ast.rs"),
    entry: "bf_ast",
    greens: &[0, 1, 2],
    parameters: &["cells"],
    optional: 1,
    instructions: None,
    programs: PROGRAMS,
    shows_result: false,
    embedded: || &lang::INTERPRETER,
    guest: Guest::Text {
        arguments: |text, arguments| {
            let cells = cells(arguments)?;
            Ok(format!("{},[0; {cells}]", tree(text)?.arguments()))
        },
        run: |tier, text, arguments| {
            let mut tape = vec![0; cells(arguments)?];
            let Rooted { nodes, first, end } = tree(text)?;
            Ok(run!(tier, lang::bf_ast(&nodes, first, end, &mut tape)).map(|()| "()".to_owned()))
        },
    },
};

/// The optimized tree of a program.
///
/// # Errors
/// Each bracket without its partner.
pub fn tree(text: &[u8]) -> Result<Rooted, LoadError> {
    let mut tree = Peephole::new(Tree::default());
    let program = parse(&mut tree, &String::from_utf8_lossy(text))?;
    let program = tree.finish(program);
    Ok(tree.below().finish(program))
}
