//! The sources of the book are Rust: rustc compiles them as they stand there, and what they give is what the pages show.

use hueshift::tier0::catch_message;
use std::path::{Path, PathBuf};

/// The sources, as modules of this program, and their files.
macro_rules! sources {
    ($($name:ident $path:literal;)*) => {
        $(#[path = $path]
        #[allow(unused, clippy::all)]
        mod $name;)*

        const SOURCES: &[&str] = &[$($path,)* GREEN_FIELD];
    };
}

// rustc knows `#[green]` by hueshift's macros alone.
const GREEN_FIELD: &str = "../../docs/hints/green_field.rs";
hueshift::interpreter_file!("../docs/hints/green_field.rs", mod green_field);

sources! {
    rpn "../../docs/tutorial/rpn.rs";
    loops "../../docs/tutorial/loops.rs";
    concrete "../../docs/hints/concrete.rs";
    dont_look_inside "../../docs/hints/dont_look_inside.rs";
    dont_look_inside_green "../../docs/hints/dont_look_inside_green.rs";
    elidable "../../docs/hints/elidable.rs";
    elidable_unused "../../docs/hints/elidable_unused.rs";
    endless "../../docs/hints/endless.rs";
    extent "../../docs/hints/extent.rs";
    jitted "../../docs/hints/jitted.rs";
    known_result "../../docs/hints/known_result.rs";
    likely "../../docs/hints/likely.rs";
    look_inside_if "../../docs/hints/look_inside_if.rs";
    look_inside_if_reads "../../docs/hints/look_inside_if_reads.rs";
    portal "../../docs/hints/portal.rs";
    portal_local "../../docs/hints/portal_local.rs";
    promote "../../docs/hints/promote.rs";
    promote_float "../../docs/hints/promote_float.rs";
    promote_tag "../../docs/hints/promote_tag.rs";
    promote_tag_int "../../docs/hints/promote_tag_int.rs";
    quasi_cell "../../docs/hints/quasi_cell.rs";
    quasi_cell_made "../../docs/hints/quasi_cell_made.rs";
    questions "../../docs/hints/questions.rs";
    variable "../../docs/hints/variable.rs";
    plus_minus "../../interpreters/plus_minus/plus_minus.rs";
}

/// Runs a function as rustc has compiled it: its result, or the message of its panic.
type Call = fn() -> Result<String, String>;

macro_rules! calls {
    ($($path:literal $entry:literal $args:literal => $call:expr;)*) => {
        /// The runs on the pages: file, function, arguments.
        const CALLS: &[(&str, &str, &str, Call)] =
            &[$(($path, $entry, $args, || catch_message(|| format!("{:?}", $call)))),*];
    };
}

calls! {
    "docs/tutorial/rpn.rs" "rpn" r#""xx*1+",7"# => rpn::rpn(b"xx*1+", 7);
    "docs/tutorial/rpn.rs" "rpn" r#""x?",7"# => rpn::rpn(b"x?", 7);
    "docs/tutorial/loops.rs" "rpn" r#""1x[so*s1-]p",5"# => loops::rpn(b"1x[so*s1-]p", 5);
    "docs/tutorial/loops.rs" "rpn" r#""0x[x[1-]pso+s1-]p",1000"# => loops::rpn(b"0x[x[1-]pso+s1-]p", 1000);
    "docs/hints/elidable_unused.rs" "" "3" => elidable_unused::unused(3);
    "docs/hints/dont_look_inside.rs" "padded" "3,7" => dont_look_inside::padded(3, 7);
    "docs/hints/extent.rs" "called" "12,18" => extent::called(12, 18);
    "docs/hints/extent.rs" "inlined" "12,18" => extent::inlined(12, 18);
    "docs/hints/green_field.rs" "run" r#""s1+s1-l",0,{depth: 2, cells: [0,9,0,0,0,0,0,0]}"# => {
        let mut stack = green_field::Stack { depth: 2, cells: [0, 9, 0, 0, 0, 0, 0, 0] };
        green_field::run(b"s1+s1-l", 0, &mut stack)
    };
    "docs/hints/jitted.rs" "compiled" "" => jitted::compiled();
    "docs/hints/known_result.rs" "incremented_twice" "0x199" => known_result::incremented_twice(0x199);
    "docs/hints/look_inside_if.rs" "last_two" "[3,4,5]" => look_inside_if::last_two(&[3, 4, 5]);
    "docs/hints/look_inside_if.rs" "last" "[3,4,5],2" => look_inside_if::last(&[3, 4, 5], 2);
    "docs/hints/promote.rs" "total" "[1,2,3,4,5,6],3,2" => promote::total(&[1, 2, 3, 4, 5, 6], 3, 2);
    "docs/hints/promote_tag.rs" "all" "Add {what: 5},[1,2,3]" => {
        promote_tag::all(promote_tag::Job::Add { what: 5 }, &mut [1, 2, 3])
    };
    "docs/hints/questions.rs" "spread" "0x12345678" => questions::spread(0x1234_5678);
    "interpreters/plus_minus/plus_minus.rs" "plus_minus" "0xA5A,3,32,10" => plus_minus::plus_minus(0xA5A, 3, 32, 10);
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What follows an option on a command line, without quotes; nothing if it isn't there.
fn option<'c>(command: &'c str, name: &str) -> &'c str {
    let Some((_, rest)) = command.split_once(&format!(" {name} ")) else { return "" };
    match rest.strip_prefix('\'') {
        Some(quoted) => quoted.split('\'').next().unwrap_or_default(),
        None => rest.split(' ').next().unwrap_or_default(),
    }
}

/// The result or the trap in what a command has printed; nothing if it printed something else.
fn printed(command: &str, output: &[&str]) -> Option<Result<String, String>> {
    let first = output.first()?;
    if let Some((_, message)) = first.split_once("× trap: ") {
        return Some(Err(message.to_owned()));
    }
    if let Some(rest) = first.strip_prefix("{\"result\": \"") {
        return Some(Ok(rest.split('"').next().unwrap_or_default().to_owned()));
    }
    let is_result = !command.contains(" --emit ") && !first.contains('×');
    is_result.then(|| Ok((*first).to_owned()))
}

/// The commands of a page that run something, each with the lines that it prints.
fn commands(page: &str) -> Vec<(&str, Vec<&str>)> {
    let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match line.strip_prefix("$ ") {
            _ if line.starts_with("```") => inside = line == "```console",
            Some(command) if inside => commands.push((command, Vec::new())),
            None if inside => commands.last_mut().expect("a block begins with a command").1.push(line),
            _ => {}
        }
    }
    commands.retain(|(command, _)| command.starts_with("hueshift run ") || command.starts_with("hueshift spec "));
    commands
}

#[test]
fn results_are_those_on_the_pages() {
    let (mut compared, mut unused) = (0, CALLS.iter().map(|(file, ..)| *file).collect::<Vec<_>>());
    for page in ["README.md", "docs/tutorial.md", "docs/hints.md"] {
        let text = std::fs::read_to_string(root().join(page)).expect("a page");
        for (command, output) in commands(&text) {
            let file = command.split(' ').nth(2).unwrap_or_default();
            let Some(wanted) = printed(command, &output).filter(|_| file.ends_with(".rs")) else { continue };
            // What is said and isn't true: that has tests of its own.
            if option(command, "--entry") == "broken" {
                continue;
            }
            // The hints that may change what a program gives.
            let may_change = ["docs/hints/jitted.rs", "docs/hints/elidable_unused.rs"].contains(&file);
            if may_change && option(command, "--mode") != "interp" {
                continue;
            }
            let (entry, args) = (option(command, "--entry"), option(command, "--args"));
            let call = CALLS.iter().find(|(f, e, a, _)| (*f, *e, *a) == (file, entry, args));
            let (.., call) = call.unwrap_or_else(|| panic!("{page}: say here how `{command}` is called"));
            assert_eq!(call(), wanted, "{page}: {command}");
            unused.retain(|f| *f != file);
            compared += 1;
        }
    }
    assert!(compared >= CALLS.len() && unused.is_empty(), "no page shows what {unused:?} gives");
}

#[path = "../examples/tutorial.rs"]
mod tutorial;

#[test]
fn the_tutorial_ends_in_a_program() {
    tutorial::main();
}

#[test]
fn every_source_is_compiled() {
    for folder in ["docs/tutorial", "docs/hints"] {
        for file in std::fs::read_dir(root().join(folder)).expect("a folder") {
            let name = file.expect("a file").file_name().to_string_lossy().into_owned();
            let path = format!("../../{folder}/{name}");
            assert!(SOURCES.contains(&path.as_str()), "{path} is not compiled here");
        }
    }
}
