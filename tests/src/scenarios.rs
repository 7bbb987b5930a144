//! Scenarios: dialect sources with cases that say what must come out, and how much may be left of the interpreter.
//!
//! The fields of a case are described in `tests/scenarios/README.md`.

use flowgraph::eval::{Evaluator, Outcome};
use flowgraph::frontend;
use flowgraph::ir::Module;
use flowgraph::memory::Memory;
use flowgraph::value::{Arguments, debug_words};
use hueshift::{CompileError, Compiler, Counts, Ending, JitOptions, Policy, Ran};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// One run of one entry.
#[derive(Clone, Debug)]
pub struct Case {
    /// `group/file/entry#number`.
    pub id: String,
    /// The dialect source.
    pub source: PathBuf,
    fields: Map<String, Value>,
}

/// The fields that a case may have.
const FIELDS: [&str; 18] = [
    "id",
    "set",
    "file",
    "entry",
    "args",
    "policy",
    "result",
    "green",
    "ops_max",
    "total_ops_max",
    "ops_zero",
    "note",
    "error",
    "error_kind",
    "after",
    "calls_max",
    "colors",
    "switches_max",
];

/// All cases below a folder, in order.
///
/// # Errors
/// If something can't be read, or isn't a list of cases.
pub fn cases(root: &Path) -> Result<Vec<Case>, String> {
    let fault = |path: &Path, e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let entries = std::fs::read_dir(root).map_err(|e| fault(root, &e))?;
    let mut groups: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.is_dir()).collect();
    groups.sort();
    let mut out = Vec::new();
    for group in groups {
        let path = group.join("cases.json");
        let text = std::fs::read_to_string(&path).map_err(|e| fault(&path, &e))?;
        let list: Vec<Map<String, Value>> = serde_json::from_str(&text).map_err(|e| fault(&path, &e))?;
        for fields in list {
            let text = |field: &str| fields.get(field).and_then(Value::as_str);
            let (Some(id), Some(file)) = (text("id"), text("file")) else {
                return Err(fault(&path, &"a case without id or file"));
            };
            out.push(Case { id: id.to_owned(), source: group.join(file), fields: fields.clone() });
        }
    }
    Ok(out)
}

/// The ids of a list of cases that are to come, with their reasons: lines `id: reason`.
///
/// # Errors
/// If a line has no reason, or an id is there twice.
pub fn later(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut out = BTreeMap::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
        let (id, reason) = line.split_once(": ").ok_or_else(|| format!("no reason: {line}"))?;
        if out.insert(id.to_owned(), reason.to_owned()).is_some() {
            return Err(format!("listed twice: {id}"));
        }
    }
    Ok(out)
}

impl Case {
    /// A field that is text; empty if it is not there.
    pub fn text(&self, field: &str) -> &str {
        self.fields.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    /// A field that is an object of numbers or texts.
    fn object(&self, field: &str) -> impl Iterator<Item = (&String, &Value)> {
        self.fields.get(field).and_then(Value::as_object).into_iter().flatten()
    }

    /// What is wrong with the case; nothing if all is as it says.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), String> {
        if let Some(unknown) = self.fields.keys().find(|f| !FIELDS.contains(&f.as_str())) {
            return Err(format!("unknown field `{unknown}`"));
        }
        let policy = match self.text("policy") {
            "eager" => Policy::Eager,
            "tracing" => Policy::Tracing,
            other => return Err(format!("unknown policy `{other}`")),
        };
        let refusal = matches!(self.text("error_kind"), "refused" | "color");
        let module = match lift(&self.source, self.text("entry")) {
            Err(message) if refusal => return self.check_refusal(&message),
            Err(message) => return Err(format!("refused: {}", one_line(&message))),
            Ok(module) => module,
        };
        let green = self.green()?;
        let colors = match hintannotator::annotate(&module, self.text("entry"), &green) {
            Err(errors) if refusal => return self.check_refusal(&CompileError::Colors(errors).to_string()),
            Err(errors) => return Err(format!("refused: {}", one_line(&CompileError::Colors(errors).to_string()))),
            Ok(_) if refusal => return Err("it is not refused".to_owned()),
            Ok(colors) => colors,
        };
        for (engine, ran) in [("evaluator", evaluate(&module, self)?), ("tier 0", run_native(&module, self)?)] {
            self.check_run(&ran).map_err(|e| format!("{engine}: {e}"))?;
        }
        let mut compiler = Compiler::of_colors(&colors, self.text("entry")).map_err(|e| e.to_string())?;
        let report = hueshift::spec(&mut compiler, self.text("args"), policy, &JitOptions::default())
            .map_err(|e| format!("specialize: {e}"))?;
        self.check_run(&report.ran)?;
        let named = colors.named();
        for (variable, want) in self.object("colors") {
            let got = named.get(variable).map_or("none", String::as_str);
            if Some(got) != want.as_str() {
                return Err(format!("color of {variable}: {got}, wanted {want}"));
            }
        }
        self.check_bounds(&report.counts)
    }

    fn green(&self) -> Result<BTreeSet<usize>, String> {
        let parts = self.text("green").split(',').filter(|p| !p.is_empty());
        parts.map(|p| p.trim().parse().map_err(|_| format!("bad green `{p}`"))).collect()
    }

    fn check_refusal(&self, message: &str) -> Result<(), String> {
        let wanted = self.text("error");
        if !message.to_lowercase().contains(&wanted.to_lowercase()) {
            return Err(format!("refused without `{wanted}`: {}", one_line(message)));
        }
        if has_place(message) { Ok(()) } else { Err(format!("refused without a place: {}", one_line(message))) }
    }

    fn check_run(&self, ran: &Ran) -> Result<(), String> {
        let trap_wanted = self.text("error_kind") == "trap";
        match &ran.ending {
            Ending::Trapped(report) if !trap_wanted => return Err(format!("trapped: {}", report.message)),
            Ending::Trapped(report) if !report.message.contains(self.text("error")) => {
                return Err(format!("trapped with `{}`, wanted `{}`", report.message, self.text("error")));
            }
            Ending::Returned(result) if trap_wanted => return Err(format!("no trap, but the result {result}")),
            Ending::Returned(result) if !same(result, self.text("result")) => {
                return Err(format!("result {result}, wanted {}", self.text("result")));
            }
            _ => {}
        }
        for (place, want) in self.object("after") {
            let got = ran.after.get(place).map_or("nothing", String::as_str);
            if !want.as_str().is_some_and(|want| same(got, want)) {
                return Err(format!("afterwards {place} = {got}, wanted {want}"));
            }
        }
        Ok(())
    }

    fn check_bounds(&self, counts: &Counts) -> Result<(), String> {
        let limit = |value: &Value| value.as_u64().unwrap_or(0) as usize;
        let of = |name: &str| counts.ops.iter().filter(|(op, _)| in_family(name, op)).map(|(_, n)| n).sum::<usize>();
        let total = counts.ops.values().sum();
        let zero = self.fields.get("ops_zero").and_then(Value::as_array).into_iter().flatten();
        let bounds = self
            .object("ops_max")
            .map(|(name, max)| (name.clone(), of(name), limit(max)))
            .chain(zero.filter_map(Value::as_str).map(|name| (name.to_owned(), of(name), 0)))
            .chain(self.object("calls_max").map(|(name, max)| {
                (format!("calls of {name}"), counts.calls.get(name).copied().unwrap_or(0), limit(max))
            }))
            .chain(self.fields.get("switches_max").map(|max| ("switches".to_owned(), counts.switches, limit(max))))
            .chain(self.fields.get("total_ops_max").map(|max| ("ops".to_owned(), total, limit(max))));
        for (what, got, max) in bounds {
            if got > max {
                return Err(format!("{got} {what}, wanted at most {max}: {:?}", counts.ops));
            }
        }
        Ok(())
    }
}

/// Lifts what the entry of a file reaches; the whole message if it is refused.
fn lift(path: &Path, entry: &str) -> Result<Module, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let files = [(&*name, text.as_str())];
    let lifted = frontend::lift(&files).or_else(|_| frontend::lift_for(&files, entry));
    lifted.map_err(|refused| refused.to_string())
}

/// Runs the flow graphs by the evaluator.
fn evaluate(module: &Module, case: &Case) -> Result<Ran, String> {
    run(module, case, |memory, words| {
        match Evaluator::new(module, memory).with_fuel(100_000_000).call(case.text("entry"), words) {
            Ok(Outcome::Returned(words)) => Ok(Ok(words)),
            Ok(Outcome::Trapped(report)) => Ok(Err(report)),
            Ok(_) => Err("left a flow graph by an exit".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    })
}

/// Runs the machine code of the flow graphs.
fn run_native(module: &Module, case: &Case) -> Result<Ran, String> {
    run(module, case, |memory, words| {
        let mut engine = jitcodegen::Engine::new(jitcodegen::Options::default()).map_err(|e| e.to_string())?;
        engine.compile(module, memory).map_err(|e| e.to_string())?;
        match engine.call(case.text("entry"), words).map_err(|e| e.to_string())? {
            jitcodegen::Outcome::Returned(words) => Ok(Ok(words)),
            jitcodegen::Outcome::Trapped(report) => Ok(Err(report)),
            jitcodegen::Outcome::Exited(_) => Err("left a flow graph by an exit".to_owned()),
        }
    })
}

type Words = Result<Vec<u64>, flowgraph::eval::TrapReport>;

fn run(
    module: &Module,
    case: &Case,
    engine: impl FnOnce(&mut Memory, &[u64]) -> Result<Words, String>,
) -> Result<Ran, String> {
    let graph = module.graphs.get(case.text("entry")).ok_or("no such entry")?;
    let arguments = Arguments::parse(module, &graph.signature, case.text("args")).map_err(|e| e.to_string())?;
    let mut memory = Memory::for_module(module);
    let placed = arguments.place(&mut memory);
    let ending = match engine(&mut memory, &placed.words())? {
        Ok(words) => {
            let text = debug_words(module, &memory, &graph.signature.result, &words);
            Ending::Returned(text.map_err(|e| e.to_string())?)
        }
        Err(report) => Ending::Trapped(report),
    };
    let after = arguments.after(module, &placed, &memory).map_err(|e| e.to_string())?;
    Ok(Ran { ending, after })
}

/// Whether an op is of a family of ops, or has this name.
fn in_family(family: &str, op: &str) -> bool {
    let begins = |starts: &[&str]| starts.iter().any(|s| op.starts_with(s));
    match family {
        "cmp" => {
            let typed = begins(&["int_", "uint_", "float_", "single_", "ptr_", "ref_"]);
            let compares = ["_eq", "_ne", "_lt", "_le", "_gt", "_ge"].iter().any(|end| op.ends_with(end));
            typed && compares && op.matches('_').count() == 1 || op == "int_is_true" || op == "int_is_zero"
        }
        "addsub" => op == "int_add" || op == "int_sub",
        "load" => begins(&["getfield", "getarrayitem", "raw_load"]),
        "store" => begins(&["setfield", "setarrayitem", "raw_store"]),
        "alloc" => begins(&["new"]),
        "call" => begins(&["call"]),
        name => op == name,
    }
}

/// Whether two printed values are the same, blanks and the spelling of floats aside.
fn same(got: &str, want: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let floats = || Some(got.trim().parse::<f64>().ok()? == want.trim().parse::<f64>().ok()?);
    words(got) == words(want) || floats() == Some(true)
}

/// Whether `file.rs:line:column` is in a text.
fn has_place(text: &str) -> bool {
    let digits = |s: &str| s.chars().take_while(char::is_ascii_digit).count();
    text.split(".rs:").skip(1).any(|rest| {
        let line = digits(rest);
        line > 0 && rest[line..].strip_prefix(':').is_some_and(|column| digits(column) > 0)
    })
}

fn one_line(text: &str) -> String {
    text.lines().take(6).map(str::trim).collect::<Vec<_>>().join(" | ").chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families() {
        for op in ["int_lt", "uint_ge", "float_ne", "int_is_true"] {
            assert!(in_family("cmp", op), "{op}");
        }
        assert!(!in_family("cmp", "int_force_ge_zero") && !in_family("cmp", "int_add"));
        assert!(
            in_family("call", "call_elidable") && in_family("int_mul", "int_mul") && !in_family("load", "setfield")
        );
    }

    #[test]
    fn places_and_values() {
        assert!(has_place("see x.rs:3:14: no") && !has_place("x.rs:3: no") && !has_place("x.rs"));
        assert!(same("[1,  2]", "[1, 2]") && same("15.0", "15") && !same("1", "2"));
    }

    #[test]
    fn lists_of_later_cases() {
        let list = later("// why\na/b#1: lists\n\n").unwrap();
        assert_eq!(list["a/b#1"], "lists");
        assert!(later("a/b#1").is_err() && later("a: x\na: y").is_err());
    }
}
