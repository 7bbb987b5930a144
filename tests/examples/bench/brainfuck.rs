//! A whole run of a large Brainfuck program, compiled ahead of time by the command, beside the same program in C with
//! folded runs, offsets and idioms, compiled by gcc: as it is, and with the same checks of the tape's ends as ours.
//!
//! The program is the file that `BRAINFUCK` names, which is meant to be Erik Bosman's `mandelbrot.b`.

use crate::aims::Aim;
use crate::best;
use interpreters::brainfuck::{C, CELLS, Peephole, parse, rows};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 7;

/// So many bytes are touched and given back before each run: a virtual machine may have returned free memory to its
/// host, and then the first touch of a page takes ten times as long as else. C needs none.
const TOUCHED: usize = 256 << 20;

/// The most that a run ahead of time may take, as a multiple of C's, and of C's with every access checked.
const AOT_AIMS: [(f64, &str); 2] = [(1.5, "C"), (1.2, "checked C")];

/// The most that a run just in time may take, as a multiple of one ahead of time.
const JIT_AIM: f64 = 1.3;

/// A process to measure.
struct Contender {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<String>,
    took: Vec<Duration>,
    /// The most memory that it was seen with, in KiB.
    memory: u64,
}

impl Contender {
    fn new(name: &'static str, program: &Path, arguments: &[&str]) -> Contender {
        let arguments = arguments.iter().map(|a| (*a).to_owned()).collect();
        Contender { name, program: program.to_owned(), arguments, took: Vec::new(), memory: 0 }
    }

    /// One run: what it writes.
    fn run(&mut self) -> Result<Vec<u8>, String> {
        let begun = Instant::now();
        let child =
            Command::new(&self.program).args(&self.arguments).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let child = child.map_err(|e| format!("{}: {e}", self.name))?;
        let status = format!("/proc/{}/status", child.id());
        let watching = std::thread::spawn(move || {
            let mut most = 0;
            while let Ok(text) = std::fs::read_to_string(&status) {
                let Some(line) = text.lines().find_map(|l| l.strip_prefix("VmHWM:")) else { break };
                most = line.trim().trim_end_matches(" kB").parse().unwrap_or(most);
                std::thread::sleep(Duration::from_millis(5));
            }
            most
        });
        let output = child.wait_with_output().map_err(|e| e.to_string())?;
        self.took.push(begun.elapsed());
        self.memory = self.memory.max(watching.join().unwrap_or(0));
        if output.status.success() { Ok(output.stdout) } else { Err(format!("{} fails", self.name)) }
    }
}

fn gcc(text: &str, folder: &Path, name: &str) -> Result<PathBuf, String> {
    let (source, program) = (folder.join(name).with_extension("c"), folder.join(name));
    std::fs::write(&source, text).map_err(|e| e.to_string())?;
    let done = Command::new("gcc").args(["-O2", "-o"]).arg(&program).arg(&source).status();
    if done.is_ok_and(|s| s.success()) { Ok(program) } else { Err(format!("gcc can't compile {name}")) }
}

/// The path and the text of the program that `BRAINFUCK` names, if it does.
pub fn program() -> Result<Option<(PathBuf, Vec<u8>)>, String> {
    let Some(path) = std::env::var_os("BRAINFUCK").map(PathBuf::from) else { return Ok(None) };
    let text = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(Some((path, text)))
}

/// How many commands `mandelbrot.b` has.
const COMMANDS: usize = 11_451;

/// That there is the program that the aims are about.
///
/// # Errors
/// If there is none, or another one.
pub fn required() -> Result<(), String> {
    let Some((path, text)) = program()? else { return Err("set BRAINFUCK to the path of mandelbrot.b".to_owned()) };
    match commands(&text) {
        COMMANDS => Ok(()),
        other => Err(format!("{} has {other} commands, and mandelbrot.b has {COMMANDS}", path.display())),
    }
}

fn commands(text: &[u8]) -> usize {
    text.iter().filter(|b| b"+-<>,.[]".contains(b)).count()
}

/// Prints the tables, if there is a program.
pub fn run() -> Result<(), String> {
    let Some((path, text)) = program()? else {
        println!("\nbrainfuck: set BRAINFUCK to the path of mandelbrot.b");
        return Ok(());
    };
    let folder = std::env::temp_dir().join(format!("hueshift-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let measured = measure(&path, &text, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    measured
}

fn measure(path: &Path, text: &[u8], folder: &Path) -> Result<(), String> {
    let mut in_c = Vec::new();
    for (name, checked) in [("plain", false), ("checked", true)] {
        let mut domain = Peephole::new(C { checked });
        let program = parse(&mut domain, &String::from_utf8_lossy(text)).map_err(|e| e.to_string())?;
        let program = domain.finish(program);
        in_c.push(gcc(&C { checked }.finish(&program, CELLS), folder, name)?);
    }
    let own = std::env::current_exe().map_err(|e| e.to_string())?;
    let command = own.ancestors().nth(2).ok_or("not in a target folder")?.join("hueshift");
    let path = path.to_string_lossy();
    let mut all = [
        Contender::new("C, `gcc -O2`", &in_c[0], &[]),
        Contender::new("C, `gcc -O2`, every access checked", &in_c[1], &[]),
        Contender::new("`hueshift run bf mandelbrot.b --mode aot`", &command, &["run", "bf", &path, "--mode", "aot"]),
        Contender::new("`… --mode jit`, warm-up included", &command, &["run", "bf", &path, "--mode", "jit"]),
        Contender::new("`… --mode interp` (tier 0, by rustc)", &command, &["run", "bf", &path, "--mode", "interp"]),
        Contender::new(
            "`hueshift run bf_ast mandelbrot.b --mode aot`",
            &command,
            &["run", "bf_ast", &path, "--mode", "aot"],
        ),
        Contender::new("`… --mode jit`, warm-up included", &command, &["run", "bf_ast", &path, "--mode", "jit"]),
        Contender::new("`… --mode interp` (tier 0, by rustc)", &command, &["run", "bf_ast", &path, "--mode", "interp"]),
    ];
    let wanted = all[0].run()?;
    all[0].took.clear();
    for _ in 0..ROUNDS {
        for contender in &mut all {
            drop(std::hint::black_box(vec![1_u8; TOUCHED]));
            if contender.run()? != wanted {
                return Err(format!("{} writes something else than C", contender.name));
            }
        }
    }
    println!("\n| whole process | best of {ROUNDS} | of C's speed | of checked C's | peak RSS |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    let seconds: Vec<f64> = all.iter().map(|c| best(c.took.iter().copied())).collect();
    for (contender, took) in all.iter().zip(&seconds) {
        let of = |other: f64| format!("{:.0} %", 100.0 * other / took);
        println!(
            "| {} | {:.2} s | {} | {} | {:.1} MiB |",
            contender.name,
            took,
            of(seconds[0]),
            of(seconds[1]),
            contender.memory as f64 / 1024.0
        );
    }
    for (other, (aim, name)) in seconds.iter().zip(AOT_AIMS) {
        let ratio = seconds[2] / other;
        let verdict = Aim::Brainfuck.judge(name, ratio <= aim);
        println!("\nbf: ahead of time {ratio:.2} times the time of {name} (aim: {aim}, {verdict})");
    }
    for (name, aot, jit) in [("bf", 2, 3), ("bf_ast", 5, 6)] {
        let ratio = seconds[jit] / seconds[aot];
        let verdict = Aim::BrainfuckJit.judge(name, ratio <= JIT_AIM);
        println!("\n{name}: just in time {ratio:.2} times the time of ahead of time (aim: {JIT_AIM}, {verdict})");
    }
    let commands = commands(text);
    let rows = rows(text).map_err(|e| e.to_string())?.len();
    println!("\n{commands} commands, {rows} rows. What `--stats` says of a run:\n");
    let stats = Command::new(&command).args(["run", "bf", &path, "--stats"]).stdin(Stdio::null()).output();
    let stats = stats.map_err(|e| e.to_string())?.stderr;
    let stats = String::from_utf8_lossy(&stats);
    let number = |name: &str| stats.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(": ")?.parse::<f64>().ok());
    let [specializing, optimizing, compiling, ops] =
        ["specializing_us", "optimizing_us", "compiling_us", "residual_ops"]
            .map(|name| number(name).unwrap_or(f64::NAN));
    println!(
        "| specializing | linking and optimizing | machine code | residual ops | for each row | for each command |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: |");
    println!(
        "| {:.0} ms | {:.0} ms | {:.0} ms | {ops} | {:.1} | {:.2} |",
        specializing / 1e3,
        optimizing / 1e3,
        compiling / 1e3,
        ops / rows as f64,
        ops / commands as f64
    );
    Ok(())
}
