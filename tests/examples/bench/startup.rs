//! How long `hueshift spec` takes for the smallest program: starting, lifting, coloring, shifting, specializing,
//! generating code, running, printing.

use crate::aims::Aim;
use crate::best;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// The most that it may take, in milliseconds.
const AIM: f64 = 20.0;

/// Builds the command, and prints the table.
pub fn run() -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built =
        Command::new(cargo).args(["build", "--release", "-q", "-p", "hueshift-cli"]).current_dir(&root).status();
    if !built.map_err(|e| e.to_string())?.success() {
        return Err("the command could not be built".to_owned());
    }
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let command = program.ancestors().nth(2).ok_or("not in a target folder")?.join("hueshift");
    let cases: [(&str, &[&str]); 3] = [
        ("`hueshift --version`", &["--version"]),
        (
            "`hueshift spec plus_minus.rs …`",
            &[
                "spec",
                "interpreters/plus_minus/plus_minus.rs",
                "--entry",
                "plus_minus",
                "--args",
                "0xA5A,3,32,10",
                "--green",
                "0,1",
            ],
        ),
        (
            "`hueshift spec tl.rs …` (factorial)",
            &[
                "spec",
                "interpreters/tl/tl.rs",
                "--entry",
                "tl",
                "--green",
                "0,1",
                "--args",
                "[2,1,22,6,0,2,1,15,18,12,4,6,1,10,4,2,1,9,2,1,18,237,3,21],0,5",
            ],
        ),
    ];
    println!("\n| command | best of 30 | |");
    println!("| --- | ---: | --- |");
    for (name, arguments) in cases {
        let mut took = Vec::new();
        for _ in 0..30 {
            let started = Instant::now();
            let output =
                Command::new(&command).args(arguments).current_dir(&root).output().map_err(|e| e.to_string())?;
            took.push(started.elapsed());
            if !output.status.success() {
                return Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr)));
            }
        }
        let ms = best(took) * 1e3;
        println!("| {name} | {ms:.1} ms | {} |", Aim::Starting.judge(name, ms <= AIM));
    }
    Ok(())
}
