//! Draws a picture, interpreted and compiled: `picture FILE.vm [SIZE] [OUT.pgm]`; or prints it as a C program: `picture
//! --c FILE.vm`.

use hueshift::embed::Jit;
use picture::{lang, read, to_c};
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "picture FILE.vm [SIZE] [OUT.pgm]: draws a picture SIZE wide and high, interpreted and compiled\n\
    picture --c FILE.vm: prints a C program that draws it\n\
    for example: picture examples/picture/pictures/face.vm 512 face.pgm";

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run(given: &[String]) -> Result<(), String> {
    if matches!(given, [flag] if flag == "--help" || flag == "-h") {
        println!("{USAGE}");
        return Ok(());
    }
    if let [flag, file] = given
        && flag == "--c"
    {
        let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
        print!("{}", to_c(&read(&text).map_err(|e| format!("{file}:{e}"))?));
        return Ok(());
    }
    let (file, size, out) = match given {
        [file] if !file.starts_with('-') => (file, "256", None),
        [file, size] if !file.starts_with('-') => (file, size.as_str(), None),
        [file, size, out] => (file, size.as_str(), Some(out)),
        _ => return Err(USAGE.to_owned()),
    };
    let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    let ops = read(&text).map_err(|e| format!("{file}:{e}"))?;
    let size = size.parse().ok().filter(|n| (1..=4096).contains(n));
    let size: usize = size.ok_or("the size is a number from 1 to 4096")?;
    let pixels = (size * size) as f64;
    let timed = |draw: &mut dyn FnMut(&mut [u8]) -> Result<(), String>| {
        let mut image = vec![0; size * size];
        let begun = Instant::now();
        draw(&mut image)?;
        Ok::<_, String>((image, begun.elapsed()))
    };
    let mut jit = Jit::new(&lang::INTERPRETER);
    let mut compiled = |image: &mut [u8]| lang::aot::draw(&mut jit, &ops, size, image).map_err(|e| e.to_string());
    let (_, first) = timed(&mut compiled)?;
    let (image, again) = timed(&mut compiled)?;
    let (wanted, interpreted) = timed(&mut |image| lang::interp::draw(&ops, size, image).map_err(|e| e.to_string()))?;
    if image != wanted {
        return Err("the compiled picture is not the interpreted one; this is a bug in hueshift".to_owned());
    }
    let per_pixel = |time: std::time::Duration| time.as_secs_f64() * 1e9 / pixels;
    println!("{} operations, {size} x {size} pixels; both pictures are equal", ops.len());
    println!("interpreted: {:.0} ns a pixel", per_pixel(interpreted));
    println!(
        "compiled: {:.0} ns a pixel, {:.0} ms to compile",
        per_pixel(again),
        (first - again.min(first)).as_secs_f64() * 1e3
    );
    if let Some(out) = out {
        let pgm = [format!("P5 {size} {size} 255\n").as_bytes(), &image].concat();
        std::fs::write(out, pgm).map_err(|e| format!("{out}: {e}"))?;
    }
    Ok(())
}
