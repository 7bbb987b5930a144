//! Lists the scenarios that are meant to run, for `ci/pipe.sh`: file, entry, arguments, greens and policy, separated by
//! the unit separator (0x1f). Each combination of these is listed once.

use std::collections::BTreeSet;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut lines = BTreeSet::new();
    for group in std::fs::read_dir(&root)? {
        let group = group?;
        let cases = group.path().join("cases.json");
        if !cases.exists() {
            continue;
        }
        let cases: Vec<serde_json::Value> = serde_json::from_str(&std::fs::read_to_string(cases)?)?;
        for case in &cases {
            let text = |field: &str| case.get(field).and_then(|v| v.as_str()).unwrap_or_default();
            if matches!(text("error_kind"), "refused" | "color") {
                continue;
            }
            let file = format!("tests/scenarios/{}/{}", group.file_name().to_string_lossy(), text("file"));
            lines.insert([&file, text("entry"), text("args"), text("green"), text("policy")].join("\u{1f}"));
        }
    }
    for line in lines {
        println!("{line}");
    }
    Ok(())
}
