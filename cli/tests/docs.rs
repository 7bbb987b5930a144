//! The commands in the documentation print what the documentation says.
//!
//! A block marked `console` is a row of commands, each after `$ `, and what they print (both streams, in that order). A
//! command that fails is followed by `[exit code N]`. With `HUESHIFT_BLESS=1` the real output is written into the pages.

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
