//! Every source of the repository that the front end lifts is Rust when the macro has changed it.

mod rustc;

use hueshift::flowgraph::frontend::lift_embedded;
use rustc::rustc;
use std::path::{Path, PathBuf};

/// The sources in the folders of a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of the repository").flatten();
    let mut found: Vec<PathBuf> = entries.map(|e| e.path()).filter(|p| p.is_dir()).flat_map(|p| files(&p)).collect();
    found.sort();
    found
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of the repository").flatten();
    entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "rs")).collect()
}

#[test]
fn what_lifts_compiles() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let found =
        [sources(&root.join("tests/scenarios")), sources(&root.join("docs")), files(&root.join("tests/dialect"))]
            .concat();
    let (mut compiled, mut refused, mut wrong) = (0, 0, Vec::new());
    for path in &found {
        let text = std::fs::read_to_string(path).expect("a source of the repository");
        if lift_embedded(&[("source.rs", &text)]).is_err() {
            continue;
        }
        let name = format!("expands/{}", path.file_stem().unwrap_or_default().to_string_lossy());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&name);
        std::fs::create_dir_all(&folder).expect("a folder for the crate");
        std::fs::write(folder.join("source.rs"), &text).expect("a file");
        let said = rustc(&name, "hueshift::interpreter_file!(\"source.rs\", pub mod source);\n");
        compiled += 1;
        // What Rust promises no layout of may lie in memory only where no rustc is asked.
        if said.contains("Rust doesn't say how it lies in memory; use an enum of your own in its place") {
            refused += 1;
        } else if said.lines().any(|line| line.contains(": error")) {
            wrong.push(format!("{}:\n{said}", path.display()));
        }
    }
    println!("{compiled} of {} sources lift, {refused} have options in memory", found.len());
    assert!(refused <= 1, "{refused} sources have options in memory");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compiled > 30, "only {compiled} of {} sources lift", found.len());
}
