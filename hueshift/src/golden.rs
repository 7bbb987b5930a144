//! Golden tests: an interpreter's graphs as text that stays the same as long as they do.
//!
//! ```ignore
//! let graphs = lang::residual::run(&program, 0)?;        // what a guest program is compiled to
//! insta::assert_snapshot!(graphs);                       // pinned
//! hueshift::assert_no_ops!(graphs, int_mul, call);       // and what must not be there
//! ```
//!
//! [`Interpreter::colored`] and [`Interpreter::compiler`] pin the graphs of one function of the interpreter. Blocks and
//! values are numbered as a reader meets them, data has names instead of addresses, and places in the source are left
//! out but for those of traps: a graph's text changes when the graph does, and is the same on every machine.

use crate::embed::{Error, Interpreter};
use flowgraph::ir::{Module, Opcode, RustType};
use flowgraph::text::{print_graph_short, print_module, renumber};
use flowgraph::value::{self, Arguments, Value};
use std::fmt;

/// Graphs as text, with the module that they belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Golden {
    module: Module,
    text: String,
}

/// Ends of blocks that can be asked for beside ops.
const ENDS: [&str; 10] =
    ["jump", "branch", "switch", "split", "split_switch", "return", "trap", "exit", "enter", "promote"];

/// The words for calls that are not names of ops.
const CALLS: [&str; 4] = ["inline", "fold", "specialize", "residual"];

impl Golden {
    /// All graphs of a residual module, the entry's first.
    pub fn of_residual(module: Module) -> Golden {
        Golden::of_graphs(module, |_| true)
    }

    /// A whole module: declarations and data, and graphs with their names and places in the source, numbered as they
    /// are.
    pub fn of_module(module: Module) -> Golden {
        let text = print_module(&module);
        Golden { module, text }
    }

    /// The graphs whose function is asked for.
    fn of_graphs(module: Module, wanted: impl Fn(&str) -> bool) -> Golden {
        let graphs = module.graphs.values().filter(|g| wanted(&g.function));
        let texts: Vec<String> = graphs.map(|g| print_graph_short(&module, &renumber(g))).collect();
        let text = texts.join("\n");
        Golden { module, text }
    }

    /// The module.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// How many ops of this name there are (`int_add`, `getfield`, `call`), or ends of blocks (`branch`, `switch`,
    /// `trap`).
    ///
    /// # Panics
    /// If there is no op of this name at all.
    #[track_caller]
    pub fn count(&self, op: &str) -> usize {
        check_names(&[op]);
        self.text.lines().filter(|line| word_of(line) == Some(op)).count()
    }

    /// For [`crate::assert_no_ops`].
    ///
    /// # Panics
    /// If one of the ops is there, or there is no op of that name at all.
    #[doc(hidden)]
    #[track_caller]
    pub fn assert_no_ops(&self, ops: &[&str]) {
        check_names(ops);
        let is_there = |line: &str| word_of(line).is_some_and(|word| ops.contains(&word));
        if self.text.lines().any(is_there) {
            let found: Vec<String> =
                ops.iter().filter(|op| self.count(op) > 0).map(|op| format!("{op} ({})", self.count(op))).collect();
            let marked = |line: &str| if is_there(line) { format!(">>{}\n", &line[2..]) } else { format!("{line}\n") };
            let text: String = self.text.lines().map(marked).collect();
            panic!("there should be no {}, but there is:\n\n{text}", found.join(", "));
        }
    }
}

impl fmt::Display for Golden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Refuses names that nothing can have, so that a misspelt one isn't taken for an absent one.
#[track_caller]
fn check_names(ops: &[&str]) {
    for op in ops {
        let known = Opcode::ALL.iter().any(|o| o.name() == *op) || ENDS.contains(op) || CALLS.contains(op);
        assert!(known, "there is no op called `{op}`; their names are those that graphs are printed with");
    }
}

/// The op (or end of a block) that a line of a graph's body is.
fn word_of(line: &str) -> Option<&str> {
    let statement = line.strip_prefix("    ")?;
    let statement = statement.split_once(" = ").map_or(statement, |(_, op)| op);
    let mut words = statement.split([' ', '(']).filter(|word| *word != "emit");
    words.next()
}

/// Fails if one of these ops is in a graph, and shows where: `assert_no_ops!(graph, int_mul, call)`. The names are
/// those that graphs are printed with. Ends of blocks have names as well: `branch`, `switch`, `trap`.
#[macro_export]
macro_rules! assert_no_ops {
    ($graph:expr, $($op:ident),+ $(,)?) => {
        $graph.assert_no_ops(&[$(::core::stringify!($op)),+])
    };
}

impl Interpreter {
    /// The flow graphs of a function.
    pub fn flow(&self, function: &str) -> Golden {
        Golden::of_graphs(self.module().clone(), |f| f == function)
    }

    /// The colored graphs of a function, as they are for an entry: one for each way in which its arguments are colored.
    ///
    /// # Errors
    /// If there is no such entry, or it can't be colored.
    pub fn colored(&self, entry: &str, function: &str) -> Result<Golden, Error> {
        Ok(Golden::of_graphs(self.colored_module(entry)?.module, |f| f == function))
    }

    /// The compiler graphs of a function, as they are for an entry.
    ///
    /// # Errors
    /// As for [`Interpreter::colored`].
    pub fn compiler(&self, entry: &str, function: &str) -> Result<Golden, Error> {
        Ok(Golden::of_graphs(self.compiler_for(entry)?.module, |f| f == function))
    }

    /// All flow graphs with all that belongs to them.
    pub fn whole_flow(&self) -> Golden {
        Golden::of_module(self.module().clone())
    }

    /// All colored graphs with all that belongs to them.
    ///
    /// # Errors
    /// As for [`Interpreter::colored`].
    pub fn whole_colored(&self, entry: &str) -> Result<Golden, Error> {
        Ok(Golden::of_module(self.colored_module(entry)?.module))
    }

    /// All compiler graphs with all that belongs to them.
    ///
    /// # Errors
    /// As for [`Interpreter::colored`].
    pub fn whole_compiler(&self, entry: &str) -> Result<Golden, Error> {
        Ok(Golden::of_module(self.compiler_for(entry)?.module))
    }

    /// The residual graphs of an entry for greens that are given as text, as `hueshift spec` takes all arguments:
    /// `"[2,6,20], 0"`. (With Rust values instead: the functions in the interpreter's module `residual`.)
    ///
    /// # Errors
    /// If there is no such entry, the greens don't fit it, or it can't be compiled for them.
    pub fn residual(&self, entry: &str, greens: &str) -> Result<Golden, Error> {
        let mut compiler = self.compiler_for(entry)?;
        let signature = compiler.module.graphs[&compiler.entry].signature.clone();
        let known: Vec<usize> = compiler.known.iter().copied().collect();
        let mut of_greens = signature.clone();
        of_greens.params = known.iter().map(|i| signature.params[*i].clone()).collect();
        let mut given = value::parse(&compiler.module, &of_greens, greens)?.into_iter();
        let values: Vec<Value> = (0..signature.params.len())
            .map(|i| match known.contains(&i) {
                true => given.next().unwrap_or(Value::Many(Vec::new())),
                false => nothing(&compiler.module, &signature.params[i].ty),
            })
            .collect();
        let mut arguments = Arguments::new(&compiler.module, &signature, &values);
        arguments.name_greens(&mut compiler.module, &known);
        let mut memory = compiler.memory();
        let placed = arguments.place(&mut memory);
        let given = compiler.arguments(&arguments, &placed);
        let mut jit = crate::jit::Jit::new(&compiler, &mut memory, crate::JitOptions::default())?;
        jit.specialize(&given)?;
        Ok(Golden::of_residual(jit.residual()?.module))
    }

    fn colored_module(&self, entry: &str) -> Result<hintannotator::Colors, Error> {
        let greens = self.entry(entry).ok_or_else(|| self.no_entry(entry))?.greens.iter().copied().collect();
        let colors = hintannotator::annotate(self.module(), entry, &greens);
        Ok(colors.map_err(crate::CompileError::Colors)?)
    }
}

/// A value that stands for a red, of which nothing is known: only its shape counts.
fn nothing(module: &Module, ty: &RustType) -> Value {
    let many = |types: &mut dyn Iterator<Item = RustType>| Value::Many(types.map(|ty| nothing(module, &ty)).collect());
    match ty {
        RustType::Unit | RustType::Never => Value::Many(Vec::new()),
        RustType::Scalar(_) => Value::Word(0),
        RustType::Enum(_) | RustType::Option(_) | RustType::Result(..) => {
            let decl = module.enum_of(ty);
            let fields = decl.iter().flat_map(|d| d.variants.first()).flat_map(|v| &v.fields);
            Value::Variant(0, fields.map(|f| nothing(module, &f.ty)).collect())
        }
        RustType::Ref { to, .. } => Value::Ref(Box::new(nothing(module, to))),
        RustType::Slice { .. } | RustType::Str => Value::Slice(Vec::new()),
        RustType::Cell(inner) => nothing(module, inner),
        RustType::Struct(name) => {
            many(&mut module.structs.get(name).iter().flat_map(|s| &s.fields).map(|f| f.ty.clone()))
        }
        RustType::Tuple(items) => many(&mut items.iter().cloned()),
        RustType::Array(elem, n) => many(&mut (0..*n).map(|_| (**elem).clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn golden() -> Golden {
        let text = "pub fn f(x: i64, c: bool) -> i64 { if c { x * x } else { x - 1 } }";
        Golden::of_graphs(flowgraph::frontend::lift(&[("f.rs", text)]).unwrap(), |f| f == "f")
    }

    #[test]
    fn ops_are_counted() {
        let golden = golden();
        assert_eq!((golden.count("int_mul"), golden.count("int_add"), golden.count("branch")), (1, 0, 1), "{golden}");
        assert_no_ops!(golden, int_add, call, switch);
    }

    #[test]
    #[should_panic(expected = "there should be no int_mul (1), but there is:")]
    fn an_op_that_is_there_is_shown() {
        assert_no_ops!(golden(), int_mul, call);
    }

    #[test]
    #[should_panic(expected = "there is no op called `int_mull`")]
    fn a_misspelt_op_is_no_absent_one() {
        assert_no_ops!(golden(), int_mull);
    }
}
