//! Writes what fuzzing begins with: `cargo run -p hueshift-tests --example seeds -- fuzz/corpus`.

use hueshift_tests::fuzz::TARGETS;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let Some(root) = std::env::args().nth(1) else {
        eprintln!("usage: seeds FOLDER");
        std::process::exit(2);
    };
    for target in TARGETS {
        let folder = Path::new(&root).join(target.name);
        std::fs::create_dir_all(&folder)?;
        let seeds = target.seeds();
        for (number, seed) in seeds.iter().enumerate() {
            std::fs::write(folder.join(format!("seed_{number:03}")), seed)?;
        }
        println!("{}: {} seeds", folder.display(), seeds.len());
    }
    Ok(())
}
