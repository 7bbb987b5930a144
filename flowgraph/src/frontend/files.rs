//! Sources of several files: which files a root's `mod` declarations name, and which module a file is.
//!
//! A root `src/lang.rs` is a crate's root to rustc's rules: its `mod ops;` is `src/ops.rs` or `src/ops/mod.rs`, a
//! `mod table;` in either of these `src/ops/table.rs` or `src/ops/table/mod.rs`, and so on. Files are found by their
//! names alone, so that a source may be on no disk at all.
//!
//! ```
//! let root = "mod ops;\npub fn f(x: i64) -> i64 { ops::twice(x) }";
//! let ops = "pub fn twice(x: i64) -> i64 { x + x }";
//! let module = flowgraph::frontend::lift(&[("lang.rs", root), ("ops.rs", ops)]).unwrap();
//! assert_eq!(module.graphs.keys().collect::<Vec<_>>(), ["ops::twice", "f"]);
//! ```

use super::collect::{is_test, parse};
use super::items::ident_text;
use crate::ir::FileId;
use std::path::Path;
use std::sync::Arc;

/// A file of a source: its name, as places in messages and graphs have it, and its text.
pub type File = (String, String);

/// More files than this are refused.
pub const MAX_FILES: usize = 1000;

/// The folder of a file's name with the `/` behind it, or nothing.
pub(super) fn folder(name: &str) -> &str {
    &name[..name.rfind(['/', '\\']).map_or(0, |at| at + 1)]
}

/// The names that the file of `mod NAME;` may have in a folder.
pub(super) fn candidates(folder: &str, name: &str) -> [String; 2] {
    [format!("{folder}{name}.rs"), format!("{folder}{name}/mod.rs")]
}

/// Reads a root file and all files that its modules are in. Files that aren't there are left to lifting, which refuses
/// the `mod` that asks for them.
///
/// # Errors
/// If a file that is there can't be read.
pub fn read_files(root: &Path) -> std::io::Result<Vec<File>> {
    let name = root.to_string_lossy().into_owned();
    let text = std::fs::read_to_string(root)?;
    collect_files(&name, text, |name| match std::fs::read_to_string(name) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(std::io::Error::new(e.kind(), format!("{name}: {e}"))),
    })
}

/// The root, given as name and text, and all files that its modules are in, as far as `read` has them.
///
/// # Errors
/// What `read` fails with.
pub fn collect_files<E>(
    name: &str,
    text: String,
    mut read: impl FnMut(&str) -> Result<Option<String>, E>,
) -> Result<Vec<File>, E> {
    let mut files = vec![(name.to_owned(), text)];
    // Each file with the folder that its modules are in.
    let mut folders = vec![folder(name).to_owned()];
    let mut at = 0;
    while at < files.len() && files.len() < MAX_FILES {
        let wanted = super::on_large_stack(|| declared(&files[at].0, &files[at].1, &folders[at]));
        for (folder, module) in wanted {
            for name in candidates(&folder, &module) {
                if files.iter().all(|(known, _)| *known != name)
                    && let Some(text) = read(&name)?
                {
                    files.push((name, text));
                    folders.push(format!("{folder}{module}/"));
                }
            }
        }
        at += 1;
    }
    Ok(files)
}

/// The modules that a file declares without a body: the folder of their files, and their names. Of a file that can't be
/// parsed none are.
fn declared(name: &str, text: &str, folder: &str) -> Vec<(String, String)> {
    let Ok(file) = parse(name, &Arc::from(text), FileId(0)) else { return Vec::new() };
    let mut out = Vec::new();
    let mut work = vec![(folder.to_owned(), file.items.as_slice())];
    while let Some((folder, items)) = work.pop() {
        for item in items {
            let syn::Item::Mod(module) = item else { continue };
            if is_test(&module.attrs) {
                continue;
            }
            let name = ident_text(&module.ident);
            match &module.content {
                Some((_, items)) => work.push((format!("{folder}{name}/"), items)),
                None => out.push((folder.clone(), name)),
            }
        }
    }
    out
}
