//! rustc, on crates that use hueshift.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder where cargo puts what tests are linked with: that of this test.
fn dependencies() -> PathBuf {
    let program = std::env::current_exe().expect("this program has a path");
    program.parent().expect("it lies in a folder").to_owned()
}

/// The library hueshift as it was built last.
fn hueshift(folder: &Path) -> PathBuf {
    let files = std::fs::read_dir(folder).expect("the folder of this test").flatten();
    let libraries = files.filter(|f| {
        let name = f.file_name().to_string_lossy().into_owned();
        name.starts_with("libhueshift-") && name.ends_with(".rlib")
    });
    let newest = libraries.max_by_key(|f| f.metadata().and_then(|m| m.modified()).expect("files have times"));
    newest.expect("cargo built hueshift for this test").path()
}

/// What rustc says of a crate: a line for each error, `name.rs:LINE:COLUMN: error…`.
pub fn rustc(name: &str, source: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder for the crate");
    std::fs::write(folder.join("lib.rs"), source).expect("a file");
    let dependencies = dependencies();
    let output = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .current_dir(&folder)
        .env("CARGO_MANIFEST_DIR", &folder)
        .args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--error-format=short", "lib.rs", "-o"])
        .arg(folder.join("lib.rmeta"))
        .arg("--extern")
        .arg(format!("hueshift={}", hueshift(&dependencies).display()))
        .arg("-L")
        .arg(format!("dependency={}", dependencies.display()))
        .output()
        .expect("rustc, which built this test, is there");
    String::from_utf8_lossy(&output.stderr).into_owned()
}
