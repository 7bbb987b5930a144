//! The commands in the documentation print what the documentation says.
//!
//! A block marked `console` is a row of commands, each after `$ `, and what they print (both streams, in that order). A
//! command that fails is followed by `[exit code N]`. With `HUESHIFT_BLESS=1` the real output is written into the
//! pages.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// README.md and the pages of the book.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    let folder = std::fs::read_dir(root().join("docs")).expect("the folder of the book");
    pages.extend(folder.map(|f| f.expect("a file").path()).filter(|p| p.extension().is_some_and(|e| e == "md")));
    pages.sort();
    pages
}

fn run(command: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_hueshift"));
    let folder = program.parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(root())
        .env("PATH", format!("{}:{path}", folder.display()))
        .env("NO_COLOR", "1")
        .output()
        .expect("a shell");
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    match output.status.code() {
        Some(0) => text,
        Some(code) => format!("{text}[exit code {code}]\n"),
        None => format!("{text}[killed]\n"),
    }
}

/// The page with the real output of every command.
fn rerun(text: &str) -> String {
    let (mut out, mut inside) = (String::new(), false);
    for line in text.lines() {
        match (inside, line) {
            (false, "```console") => inside = true,
            (true, "```") => inside = false,
            (true, line) => {
                if let Some(command) = line.strip_prefix("$ ") {
                    out.push_str(line);
                    out.push('\n');
                    out.push_str(&run(command));
                }
                continue;
            }
            _ => {}
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

#[test]
fn commands_print_what_the_pages_say() {
    let bless = std::env::var_os("HUESHIFT_BLESS").is_some();
    let mut wrong = Vec::new();
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("a page");
        let real = rerun(&text);
        if real == text {
            continue;
        }
        if bless {
            std::fs::write(&page, real).expect("the page can be written");
            continue;
        }
        let at = text.lines().zip(real.lines()).position(|(a, b)| a != b).unwrap_or(text.lines().count());
        let near = |text: &str| text.lines().skip(at).take(6).collect::<Vec<_>>().join("\n");
        wrong.push(format!(
            "{}:{}: the page says\n{}\nbut the command prints\n{}",
            page.display(),
            at + 1,
            near(&text),
            near(&real)
        ));
    }
    assert!(wrong.is_empty(), "{}\n\nHUESHIFT_BLESS=1 writes the real output into the pages", wrong.join("\n\n"));
}

/// The lines of the blocks marked `rust`, with the number of the line before each block.
fn rust_blocks(text: &str) -> Vec<(usize, Vec<&str>)> {
    let mut blocks: Vec<(usize, Vec<&str>)> = Vec::new();
    let mut inside = false;
    for (at, line) in text.lines().enumerate() {
        match (inside, line) {
            (false, "```rust") => {
                inside = true;
                blocks.push((at + 1, Vec::new()));
            }
            (true, "```") => inside = false,
            (true, line) => blocks.last_mut().expect("a block has begun").1.push(line),
            _ => {}
        }
    }
    blocks
}

/// Whether a file has these lines in this order. One with `…` stands for any lines, and what follows `//` is no matter.
fn is_excerpt(block: &[&str], file: &str) -> bool {
    let code = |line: &str| line.split("//").next().unwrap_or_default().trim_end().to_owned();
    let mut rest = file.lines().map(code);
    block.iter().filter(|l| !l.contains('…')).map(|l| code(l)).all(|wanted| rest.any(|l| l == wanted))
}

/// The sources that the pages show are those that the commands run.
#[test]
fn sources_on_the_pages_are_those_of_the_files() {
    let folders = ["docs/tutorial", "docs/hints", "interpreters/plus_minus", "hueshift/examples"];
    let files: Vec<String> = folders
        .iter()
        .flat_map(|f| std::fs::read_dir(root().join(f)).expect("a folder"))
        .map(|f| f.expect("a file").path())
        .filter(|p| p.extension().is_some_and(|e| e == "rs"))
        .map(|p| std::fs::read_to_string(p).expect("a source"))
        .collect();
    let mut shown = 0;
    for page in ["README.md", "docs/tutorial.md", "docs/hints.md"] {
        let text = std::fs::read_to_string(root().join(page)).expect("a page");
        for (line, block) in rust_blocks(&text) {
            assert!(files.iter().any(|f| is_excerpt(&block, f)), "{page}:{line}: no file has this source");
            shown += 1;
        }
    }
    assert!(shown > 10, "the pages have sources");
    assert!(!is_excerpt(&["fn nobody_wrote() {"], &files[0]));
}

/// The pictures are what the command draws today.
#[test]
fn pictures_are_what_the_command_draws() {
    for (stage, picture) in [("colored", "plus_minus.svg"), ("compiler", "plus_minus_compiler.svg")] {
        let drawn = Command::new(env!("CARGO_BIN_EXE_hueshift"))
            .args(["graph", "interpreters/plus_minus/plus_minus.rs", "--entry", "plus_minus", "--green", "0,1"])
            .args(["--fn", "plus_minus#gkrr", "--format", "svg", "--stage", stage])
            .current_dir(root())
            .output()
            .expect("the command runs");
        assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
        let path = root().join("docs/pictures").join(picture);
        if std::env::var_os("HUESHIFT_BLESS").is_some() {
            std::fs::write(&path, &drawn.stdout).expect("the picture can be written");
        }
        let same = std::fs::read(&path).expect("a picture") == drawn.stdout;
        assert!(same, "docs/pictures/{picture} is out of date: HUESHIFT_BLESS=1 draws it anew");
    }
}
