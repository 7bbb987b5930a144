//! What rustc refuses, thanks to the macros: sources outside of the dialect, at their places; and programs that change or
//! free what compiled code depends on.

mod rustc;

use rustc::rustc;
use std::path::Path;

/// Everything wanted is said, and nothing is an error that isn't wanted.
fn says(name: &str, source: &str, wanted: &[&str]) {
    let said = rustc(name, source);
    for line in wanted {
        assert!(said.contains(line), "{name}: wanted {line}\n\ngot\n{said}");
    }
    let errors = said.lines().filter(|l| l.contains(": error")).count();
    assert_eq!(errors, wanted.iter().filter(|l| l.contains(": error")).count(), "{name}:\n{said}");
}

/// An interpreter, and the body of a function that uses it.
fn program(body: &str) -> String {
    format!(
        "use hueshift::embed::Jit;
pub struct Unused;
#[hueshift::interpreter(entry run(code))]
pub mod lang {{
    pub struct Code {{ pub ops: [u8; 4], pub bias: i64 }}
    pub fn run(code: &Code, x: &mut i64) -> i64 {{ *x += code.bias; code.ops[0] as i64 }}
}}
use lang::Code;
pub fn user() {{
    let mut x = 1;
    let mut code = Code {{ ops: [0; 4], bias: 2 }};
    code.bias = 3;
    let mut jit = Jit::new(&lang::INTERPRETER);
{body}
}}
"
    )
}

#[test]
fn what_keeps_to_the_rules_is_fine() {
    let body = "let _ = lang::aot::run(&mut jit, &code, &mut x);\nlet _ = lang::jit::run(&mut jit, &code, &mut x);\n\
                drop(jit); code.bias = 4; drop(code); let _ = Unused;";
    says("fine", &program(body), &[]);
}

#[test]
fn greens_are_not_changed_while_there_is_code() {
    let body = "let _ = lang::aot::run(&mut jit, &code, &mut x);\n    code.bias = 4;\n    let _ = lang::jit::run(&mut jit, &code, &mut x);";
    says("changed", &program(body), &["lib.rs:15:5: error[E0506]: cannot assign to `code.bias`"]);
    let body = "let _ = lang::aot::run(&mut jit, &code, &mut x);\n    let ops = &mut code.ops;\n    ops[0] = 1;\n    drop(jit);";
    says("lent", &program(body), &["lib.rs:15:15: error[E0502]: cannot borrow `code.ops` as mutable"]);
    let body = "let _ = lang::aot::run(&mut jit, &code, &mut code.bias);\n    let _ = lang::jit::run(&mut jit, &code, &mut x);";
    says("red_and_green", &program(body), &["lib.rs:14:41: error[E0502]: cannot borrow `code.bias` as mutable"]);
}

#[test]
fn greens_are_not_freed_while_there_is_code() {
    let body = "let _ = lang::aot::run(&mut jit, &code, &mut x);\n    drop(code);\n    drop(jit);";
    says("freed", &program(body), &["lib.rs:15:10: error[E0505]: cannot move out of `code`"]);
    let body = "    {\n        let inner = Code { ops: [0; 4], bias: 0 };\n        let _ = lang::aot::run(&mut jit, &inner, &mut x);\n    }\n    let _ = lang::jit::run(&mut jit, &code, &mut x);";
    says("inner", &program(body), &["lib.rs:16:42: error[E0597]: `inner` does not live long enough"]);
}

#[test]
fn compiled_code_stays_on_its_thread() {
    let said = rustc("thread", &program("std::thread::spawn(move || drop(jit));"));
    assert!(said.contains("lib.rs:14:20: error[E0277]"), "{said}");
}

#[test]
fn refusals_point_into_the_module() {
    let source = "pub const BEFORE: u8 = 1;
#[hueshift::interpreter]
mod lang {
    fn f(x: i64) -> i64 {
        let g = |y: i64| x + y;
        g(1)
    }

    fn h(v: Vec<u8>) {}
}
";
    let wanted = [
        "lib.rs:5:17: error: closures are not supported [closure]",
        "= write a function and hand it what the closure captures",
        "lib.rs:9:13: error:",
    ];
    let said = rustc("closure", source);
    assert!(wanted.iter().all(|line| said.contains(line)), "{said}");
}

#[test]
fn rustcs_own_errors_point_into_the_module() {
    let source = "#[hueshift::interpreter]
mod lang {
    fn two(a: &mut i64, b: &mut i64) { *a += *b; }
    pub fn f(x: i64) -> i64 {
        let mut y = x * 2;
        two(&mut y, &mut y);
        y
    }
}
";
    says("borrow", source, &["lib.rs:6:21: error[E0499]: cannot borrow `y` as mutable more than once"]);
}

#[test]
fn entries_must_be_there() {
    let source = "#[hueshift::interpreter(entry f(y), entry g())]\nmod lang { pub fn f(x: i64) -> i64 { x } }\n";
    says("green", source, &["lib.rs:1:33: error: `f` has no parameter `y`"]);
    let source = "#[hueshift::interpreter(entry g())]\nmod lang { pub fn f(x: i64) -> i64 { x } }\n";
    says("entry", source, &["lib.rs:1:31: error: there is no function `g` in the interpreter; there are: f"]);
    let source = "#[hueshift::interpreter(entry f(x))]\nmod lang { pub fn f(x: &mut i64) -> i64 { *x } }\n";
    says("exclusive", source, &["lib.rs:2:21: error: the green `x` is a `&mut`"]);
    let source = "#[hueshift::interpreter(entry f())]\nmod lang { pub fn f(x: &[u8]) -> &[u8] { x } }\n";
    says("reference", source, &["lib.rs:2:31: error: an entry can't return a reference from compiled code"]);
}

#[test]
fn layouts_are_asserted() {
    let source = "#[hueshift::interpreter]
mod lang {
    #[repr(align(32))]
    pub struct Wide { pub a: u8 }
    pub fn f(w: &Wide) -> u8 { w.a }
}
";
    let said = rustc("align", source);
    assert!(said.contains("hueshift: rustc lays `Wide` out otherwise than its graphs have it"), "{said}");
    let source = "#[hueshift::interpreter]
mod lang {
    pub fn f(w: &[(u8, u64, u8)]) -> u8 { w[0].2 }
}
";
    let said = rustc("tuple", source);
    assert!(said.contains("hueshift: rustc lays the tuple (u8, u64, u8) out otherwise"), "{said}");
}

#[test]
fn the_text_must_be_there() {
    let source = "macro_rules! make {
    ($e:expr) => {
        #[hueshift::interpreter]
        mod lang { pub fn f() -> i64 { $e } }
    };
}
make!(1 + 2);
";
    says("made", source, &["lib.rs:4:13: error: the text of this module isn't at hand"]);
    says(
        "out_of_line",
        "hueshift::interpreter_file!(\"nowhere.rs\");\n",
        &["lib.rs:1:29: error: nowhere.rs in the crate's folder can't be read"],
    );
}

#[test]
fn refusals_of_files_name_the_place() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("file");
    std::fs::create_dir_all(&folder).expect("a folder for the crate");
    std::fs::write(folder.join("bad.rs"), "pub fn f() {\n    async {};\n    let g = || 1;\n}\n").expect("a file");
    let said = rustc("file", "hueshift::interpreter_file!(\"bad.rs\");\n");
    for wanted in
        ["lib.rs:1:29: error: bad.rs is refused", "bad.rs:2:5: async code", "bad.rs:3:13: closures are not supported"]
    {
        assert!(said.contains(wanted), "{said}");
    }
}

#[test]
fn what_uses_a_refused_file_has_nothing_to_complain_about() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("used");
    std::fs::create_dir_all(&folder).expect("a folder for the crate");
    std::fs::write(folder.join("bad.rs"), "pub fn f() -> i64 {\n    let g = || 1;\n    g()\n}\n").expect("a file");
    let source = "hueshift::interpreter_file!(\"bad.rs\", pub mod lang);\npub fn user() -> i64 { lang::f() }\n";
    says("used", source, &["lib.rs:1:29: error: bad.rs is refused"]);
}

#[test]
fn the_files_of_modules_are_found() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("modules");
    std::fs::create_dir_all(&folder).expect("a folder for the crate");
    std::fs::write(folder.join("root.rs"), "mod part;\npub fn f() -> i64 { 1 }\n").expect("a file");
    drop(std::fs::remove_file(folder.join("part.rs")));
    let said = rustc("modules", "hueshift::interpreter_file!(\"root.rs\");\n");
    assert!(said.contains("root.rs:1:5: there is neither a file `part.rs` nor `part/mod.rs`"), "{said}");
    std::fs::write(folder.join("part.rs"), "\npub fn g(x: &[u8]) -> &[u8] { x }\n").expect("a file");
    let said = rustc("modules", "hueshift::interpreter_file!(\"root.rs\", entry part::g(x));\n");
    assert!(said.contains("lib.rs:1:29: error: part.rs:2:20: an entry can't return a reference"), "{said}");
}

#[test]
fn options_in_memory_are_refused() {
    let source = "#[hueshift::interpreter(entry f(n))]
mod lang {
    pub struct S { pub a: [Option<i64>; 2] }
    pub fn f(s: &S, n: i64) -> i64 { n }
}
";
    says("option", source, &["lib.rs:4:14: error: there is a `Option<i64>` behind a reference here"]);
    let source = "#[hueshift::interpreter]
mod lang { use hueshift::prelude::*;
    #[dont_look_inside]
    fn f(s: &mut [Result<u8, i8>]) {}
}
";
    says("result", source, &["lib.rs:4:10: error: there is a `Result<u8, i8>` behind a reference here"]);
}

/// A green by value with a reference in it whose lifetime isn't written is lent for as long as the others, too.
#[test]
fn references_inside_of_greens_are_lent() {
    for (view, wanted) in [("View<'_>", "E0597"), ("View", "lifetime `'p` required")] {
        let source = format!(
            "use hueshift::embed::Jit;
#[hueshift::interpreter(entry run(view))]
pub mod lang {{
    #[derive(Clone, Copy)]
    pub struct View<'a> {{ pub ops: &'a [u8] }}
    pub fn run(view: {view}, x: i64) -> i64 {{ view.ops[0] as i64 + x }}
}}
pub fn user() {{
    let mut jit = Jit::new(&lang::INTERPRETER);
    {{
        let ops = vec![1u8];
        let _ = lang::aot::run(&mut jit, lang::View {{ ops: &ops }}, 1);
    }}
    let _ = lang::aot::run(&mut jit, lang::View {{ ops: &[2] }}, 1);
}}
"
        );
        let said = rustc("view", &source);
        assert!(said.contains(wanted), "{view}: {said}");
    }
}
