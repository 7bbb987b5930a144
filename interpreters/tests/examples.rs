//! Every example in a bundled program's comments holds on the reference machines, and every program survives
//! disassembling.

mod reference;

use interpreters::all;

#[test]
fn examples_hold_on_the_reference_machines() {
    for interpreter in all().iter().filter(|i| i.disassemble(&[]).is_some()) {
        for program in interpreter.programs {
            let runs = program.runs();
            assert!(!runs.is_empty(), "{}/{} has no `; run:` line", interpreter.name, program.name);
            for run in runs {
                let arguments: Vec<i64> = run.arguments.iter().map(|a| a.parse().expect("a number")).collect();
                let got = reference::run(interpreter, program.text, &arguments);
                let expected = run.expected.map(str::to_owned).map_err(str::to_owned);
                assert_eq!(
                    got.map(|n| n.to_string()),
                    expected,
                    "{}/{} {:?}",
                    interpreter.name,
                    program.name,
                    run.arguments
                );
            }
        }
    }
}

#[test]
fn every_run_line_is_understood() {
    for program in all().iter().flat_map(|i| i.programs) {
        let lines = program.text.lines().filter(|l| l.starts_with("; run:") || l.starts_with("# run:")).count();
        assert_eq!(program.runs().len(), lines + usize::from(program.run.is_some()), "{}", program.name);
        let first = program.text.lines().next().unwrap_or_default().trim_start_matches("(?x) ");
        let says = first.get(2..).is_some_and(|doc| doc.starts_with(&format!("{}: ", program.name)));
        assert!(says, "{} says what it does", program.name);
        assert!(!program.doc().is_empty());
    }
}

#[test]
fn the_folders_hold_no_other_programs() {
    for interpreter in all() {
        let folder = match interpreter.name {
            "bf" | "bf_ast" => "brainfuck",
            name => name,
        };
        let folder = format!("{}/{folder}/programs", env!("CARGO_MANIFEST_DIR"));
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .expect("the folder of programs")
            .map(|f| f.expect("a file").file_name().to_string_lossy().into_owned())
            .filter_map(|f| {
                f.rsplit_once('.').filter(|(_, kind)| matches!(*kind, "asm" | "b" | "regex")).map(|(n, _)| n.to_owned())
            })
            .collect();
        files.sort();
        let mut listed: Vec<&str> = interpreter.programs.iter().map(|p| p.name).collect();
        listed.sort_unstable();
        assert_eq!(files, listed);
    }
}

#[test]
fn programs_survive_disassembling() {
    for interpreter in all() {
        for program in interpreter.programs {
            let Ok(code) = interpreter.assemble(program.text) else { continue };
            let text = interpreter.disassemble(&code).expect("it was assembled");
            assert_eq!(interpreter.assemble(&text), Ok(code), "{}/{}:\n{text}", interpreter.name, program.name);
        }
    }
}

/// One fact, one place, but for this: the opcodes are written down in the dialect source and in the assembler's table.
#[test]
fn the_tables_agree_with_the_dialect_sources() {
    for interpreter in all() {
        let Some(set) = interpreter.instructions else { continue };
        let in_source: Vec<(String, u8)> = interpreter
            .source
            .lines()
            .filter_map(|line| line.strip_prefix("const ")?.split_once(": u8 = "))
            .map(|(name, value)| (name.to_lowercase(), value.trim_end_matches(';').parse().expect("a number")))
            .collect();
        let in_table: Vec<(String, u8)> = set.instructions.iter().map(|i| (i.name.to_owned(), i.opcode)).collect();
        assert_eq!(in_table, in_source, "{}", interpreter.name);
    }
}
