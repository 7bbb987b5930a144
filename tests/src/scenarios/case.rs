//! Cases: the fields of `cases.json`.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why there is no corpus.
#[derive(Debug, thiserror::Error)]
pub enum Problems {
    /// A file can't be read.
    #[error("{0}: {1}")]
    Read(PathBuf, std::io::Error),
    /// A file is not a list of cases: a field is missing, unknown or of the wrong type.
    #[error("{0}: {1}")]
    Json(PathBuf, serde_json::Error),
    /// A line of `later.txt` is malformed.
    #[error("later.txt, line {0}: {1}")]
    Later(usize, String),
}

/// How a run is to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorKind {
    /// At run time.
    Trap,
    /// By the annotator.
    Color,
    /// By the front end.
    Refused,
}

/// How to specialize.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CasePolicy {
    /// Both sides of red branches.
    Eager,
    /// The side that the run takes.
    Tracing,
}

/// One run of a scenario. A field that isn't here is an error.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// `group/file/entry#number`.
    pub id: String,
    /// The set that the case belongs to.
    #[serde(default)]
    pub set: Option<String>,
    /// The source, beside `cases.json`.
    pub file: String,
    /// The function.
    pub entry: String,
    /// Its arguments, as for `hueshift spec --args`.
    #[serde(default)]
    pub args: String,
    /// The parameters known when compiling, as for `--green`.
    #[serde(default)]
    pub green: String,
    /// The policy that bounds are for.
    pub policy: CasePolicy,
    /// The result as `{:?}` text.
    #[serde(default)]
    pub result: Option<String>,
    /// What it reads.
    #[serde(default)]
    pub input: String,
    /// What it writes.
    #[serde(default)]
    pub output: String,
    /// Memory afterwards.
    #[serde(default)]
    pub after: BTreeMap<String, String>,
    /// Upper bounds on residual ops, by name or family.
    #[serde(default)]
    pub ops_max: BTreeMap<String, usize>,
    /// Names and families of which none may be left.
    #[serde(default)]
    pub ops_zero: Vec<String>,
    /// Upper bound on all residual ops.
    #[serde(default)]
    pub total_ops_max: Option<usize>,
    /// Upper bounds on residual calls by callee.
    #[serde(default)]
    pub calls_max: BTreeMap<String, usize>,
    /// Upper bound on promotion switches.
    #[serde(default)]
    pub switches_max: Option<usize>,
    /// Colors by `function::variable`.
    #[serde(default)]
    pub colors: BTreeMap<String, String>,
    /// A part of the message.
    #[serde(default)]
    pub error: Option<String>,
    /// Whose message.
    #[serde(default)]
    pub error_kind: Option<ErrorKind>,
    /// Why, or what is debatable.
    #[serde(default)]
    pub note: Option<String>,
    /// The source's text.
    #[serde(skip)]
    pub text: String,
    /// The source and the files of its modules, with their names beside `cases.json`.
    #[serde(skip)]
    pub files: Vec<(String, String)>,
}

impl Case {
    /// The folder of the case.
    pub fn group(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }
}

/// The project's own corpus.
pub fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios")
}

/// All cases of a corpus: of every folder with a `cases.json`.
///
/// # Errors
/// See [`Problems`].
pub fn load(root: &Path) -> Result<Vec<Arc<Case>>, Problems> {
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|e| Problems::Read(path.to_owned(), e));
    let entries = std::fs::read_dir(root).map_err(|e| Problems::Read(root.to_owned(), e))?;
    let mut groups: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.is_dir()).collect();
    groups.sort();
    let mut cases = Vec::new();
    for group in groups {
        let path = group.join("cases.json");
        let list: Vec<Case> = serde_json::from_str(&read(&path)?).map_err(|e| Problems::Json(path.clone(), e))?;
        let beside = |name: &str| {
            let path = group.join(name);
            if path.exists() { read(&path).map(Some) } else { Ok(None) }
        };
        // A file has many cases.
        let mut sources = BTreeMap::new();
        for mut case in list {
            if !sources.contains_key(&case.file) {
                let text = read(&group.join(&case.file))?;
                sources.insert(case.file.clone(), flowgraph::frontend::collect_files(&case.file, text, beside)?);
            }
            case.files.clone_from(&sources[&case.file]);
            case.text.clone_from(&case.files[0].1);
            cases.push(Arc::new(case));
        }
    }
    Ok(cases)
}
