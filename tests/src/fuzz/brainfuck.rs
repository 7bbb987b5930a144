//! The parser of Brainfuck on any bytes, and what its domains make of them.

use flowgraph::eval::{EvalError, Evaluator, Outcome};
use flowgraph::ir::Module;
use flowgraph::memory::Memory;
use flowgraph::value::Arguments;
use hueshift::io::{self, Io};
use interpreters::brainfuck::{C, Peephole, Rows, Text, Tree, ast, lang, parse, rows, tree};
use interpreters::{LoadError, ProblemKind, find};
use std::sync::OnceLock;

/// The tape is so short that programs leave it.
const CELLS: usize = 24;

/// How much the evaluator may do for the program as it is, and for what the optimizer makes of it, which never does
/// more.
const FUEL: u64 = 30_000;

/// The bytes up to the first `!` as a program, the others as its input: the parser refuses brackets without partner,
/// with their places, and nothing else; every domain gives a program that does the same, by the evaluator and as
/// compiled by rustc.
///
/// # Panics
/// If any of this isn't so.
pub fn brainfuck(data: &[u8]) -> bool {
    let end = data.iter().position(|b| *b == b'!').unwrap_or(data.len());
    let (program, input) = (&data[..end], data.get(end + 1..).unwrap_or(&[]));
    let text = String::from_utf8_lossy(program);
    let plain = match parse(&mut Rows, &text) {
        Ok(plain) => Rows::finish(plain),
        Err(error) => {
            assert_eq!(places(&error, &text), unbalanced(&text));
            return false;
        }
    };
    assert!(unbalanced(&text).is_empty());
    check_texts(&text);
    let mut nodes = Tree::default();
    let plain_tree = parse(&mut nodes, &text).unwrap_or_else(|e| panic!("a tree: {e}"));
    let plain_tree = nodes.finish(plain_tree);
    let best = rows(program).unwrap_or_else(|e| panic!("optimized rows: {e}"));
    let best_tree = tree(program).unwrap_or_else(|e| panic!("an optimized tree: {e}"));

    let tape = format!("[0; {CELLS}]");
    let by_rows = |rows| Ran::new("bf", &format!("{},{tape}", Rows::arguments(rows)), input);
    let by_tree =
        |tree: &interpreters::brainfuck::Rooted| Ran::new("bf_ast", &format!("{},{tape}", tree.arguments()), input);
    let wanted = by_rows(&plain);
    let optimized = by_rows(&best);
    wanted.is_also(&by_tree(&plain_tree));
    optimized.is_also(&by_tree(&best_tree));
    optimized.is_optimized(&wanted);
    if optimized.end.is_some() {
        let mut own = vec![0; CELLS];
        let (end, io) = io::with(Io::bytes(input), || lang::interp::bf(&best, &mut own));
        optimized.is_compiled(end.map_err(|trap| trap.message), &own, io.output());
        let mut own = vec![0; CELLS];
        let (nodes, first, last) = (&best_tree.nodes, best_tree.first, best_tree.end);
        let (end, io) = io::with(Io::bytes(input), || ast::interp::bf_ast(nodes, first, last, &mut own));
        optimized.is_compiled(end.map_err(|trap| trap.message), &own, io.output());
    }
    true
}

/// Where the problems of a program are, in bytes. Lines and columns must say the same.
fn places(error: &LoadError, text: &str) -> Vec<usize> {
    let place = |problem: &interpreters::Problem| {
        assert!(matches!(problem.kind, ProblemKind::Unopened | ProblemKind::Unclosed), "{problem}");
        let span = problem.span.unwrap_or_else(|| panic!("{problem}: without a place"));
        let before = &text[..span.offset];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        assert_eq!((span.line as usize, span.column as usize, span.len), (line, column, 1), "{problem}");
        span.offset
    };
    error.problems.iter().map(place).collect()
}

/// Where the brackets without a partner are.
fn unbalanced(text: &str) -> Vec<usize> {
    let (mut open, mut wrong) = (Vec::new(), Vec::new());
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => open.push(at),
            b']' if open.pop().is_none() => wrong.push(at),
            _ => {}
        }
    }
    wrong.extend(open);
    wrong.sort_unstable();
    wrong
}

/// The domain of texts gives the program back; what the optimizer makes is a program that it leaves alone.
fn check_texts(text: &str) {
    let commands: String = text.chars().filter(|c| "+-<>,.[]".contains(*c)).collect();
    let shown = |text: &str| parse(&mut Text, text).map(|program| Text::show(&program));
    assert_eq!(shown(text).as_deref(), Ok(commands.as_str()));
    let optimized = |text: &str| {
        let mut domain = Peephole::new(Text);
        let program = parse(&mut domain, text).unwrap_or_else(|e| panic!("{e}"));
        Text::show(&domain.finish(program))
    };
    let once = optimized(text);
    assert_eq!(optimized(&once), once);
    for checked in [false, true] {
        let mut domain = Peephole::new(C { checked });
        let program = parse(&mut domain, text).unwrap_or_else(|e| panic!("{e}"));
        let program = domain.finish(program);
        assert!(C { checked }.finish(&program, CELLS).contains("int main"));
    }
}

/// What a run did.
#[derive(Debug, PartialEq, Eq)]
struct Ran {
    /// Nothing if it was stopped; else the message of the trap, if there was one.
    end: Option<Result<(), String>>,
    tape: String,
    output: Vec<u8>,
}

impl Ran {
    /// Runs an interpreter in the evaluator.
    fn new(interpreter: &'static str, arguments: &str, input: &[u8]) -> Ran {
        let module = flow(interpreter);
        let signature = &module.graphs[interpreter].signature;
        let arguments = Arguments::parse(module, signature, arguments).unwrap_or_else(|e| panic!("{e}"));
        let mut memory = Memory::for_module(module);
        memory.set_hosts(hueshift::hosts());
        let placed = arguments.place(&mut memory);
        let run = || Evaluator::new(module, &mut memory).with_fuel(FUEL).call(interpreter, &placed.words());
        let (outcome, io) = io::with(Io::bytes(input), run);
        let end = match outcome {
            Ok(Outcome::Returned(_)) => Some(Ok(())),
            Ok(Outcome::Trapped(report)) => Some(Err(report.message)),
            Err(EvalError::OutOfFuel) => None,
            other => panic!("{interpreter}: {other:?}"),
        };
        let after = arguments.after(module, &placed, &memory).unwrap_or_else(|e| panic!("{e}"));
        Ran { end, tape: after["tape"].clone(), output: io.output().to_vec() }
    }

    /// The same program in another form gave the same.
    fn is_also(&self, other: &Ran) {
        if self.end.is_some() && other.end.is_some() {
            assert_eq!(self, other);
        }
        self.agrees(other);
    }

    /// What was written until one of both was stopped is the same.
    fn agrees(&self, other: &Ran) {
        let both = self.output.len().min(other.output.len());
        assert_eq!(self.output[..both], other.output[..both]);
    }

    /// The optimized program did what the program did, unless that left the tape.
    fn is_optimized(&self, of: &Ran) {
        self.agrees(of);
        match (&of.end, &self.end) {
            (Some(Ok(())), _) => assert_eq!(self, of),
            (Some(Err(_)), Some(_)) => assert!(self.output.len() >= of.output.len(), "{self:?} {of:?}"),
            (None, Some(Err(_))) | (Some(Err(_)), None) | (None, None) | (None, Some(Ok(()))) => {}
        }
    }

    /// It gave the same as compiled by rustc.
    fn is_compiled(&self, end: Result<(), String>, tape: &[u8], output: &[u8]) {
        assert_eq!((&self.end, &self.tape[..], &self.output[..]), (&Some(end), &format!("{tape:?}")[..], output));
    }
}

/// The graphs of an interpreter.
fn flow(name: &'static str) -> &'static Module {
    static ROWS: OnceLock<Module> = OnceLock::new();
    static TREE: OnceLock<Module> = OnceLock::new();
    let lift = || {
        let interpreter = find(name).unwrap_or_else(|| unreachable!("it is bundled"));
        flowgraph::frontend::lift(&[(interpreter.file, interpreter.source)]).unwrap_or_else(|e| panic!("{e}"))
    };
    if name == "bf" { ROWS.get_or_init(lift) } else { TREE.get_or_init(lift) }
}
