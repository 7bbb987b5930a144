//! The list of cases that ask for what isn't built yet.
//!
//! ```text
//! ## payload enums: the issue on enums
//! enums/dispatch_given/area#1
//! bounds arrays/slices_given/popcount_by_table#1
//! ```
//!
//! A heading is the reason for the lines below it. `bounds` says that only the bounds are for later.

use super::case::Problems;
use indexmap::IndexMap;

/// What of a case is for later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    All,
    /// Its bounds; results are checked.
    Bounds,
}

/// Cases for later.
#[derive(Clone, Debug, Default)]
pub struct Later {
    cases: IndexMap<String, (Extent, String)>,
}

impl Later {
    /// Reads the list.
    ///
    /// # Errors
    /// If a line has no reason above it, or a case is listed twice.
    pub fn parse(text: &str) -> Result<Later, Problems> {
        let mut cases = IndexMap::new();
        let mut reason = String::new();
        for (i, line) in text.lines().map(str::trim).enumerate() {
            if let Some(heading) = line.strip_prefix("## ") {
                reason = heading.to_owned();
            } else if !line.is_empty() && !line.starts_with('#') {
                let (extent, id) = match line.strip_prefix("bounds ") {
                    Some(id) => (Extent::Bounds, id.trim()),
                    None => (Extent::All, line),
                };
                if reason.is_empty() {
                    return Err(Problems::Later(i + 1, format!("{id} has no reason: put a line `## why` above it")));
                }
                if cases.insert(id.to_owned(), (extent, reason.clone())).is_some() {
                    return Err(Problems::Later(i + 1, format!("{id} is listed twice")));
                }
            }
        }
        Ok(Later { cases })
    }

    /// What of a case is for later, if any.
    pub fn extent(&self, id: &str) -> Option<Extent> {
        self.cases.get(id).map(|(extent, _)| *extent)
    }

    /// The ids of all listed cases.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.cases.keys().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_a_reason() {
        let later = Later::parse("# what this is\n## lists\na/b#1\nbounds a/b#2\n").unwrap();
        assert_eq!((later.extent("a/b#1"), later.extent("a/b#2")), (Some(Extent::All), Some(Extent::Bounds)));
        assert!(later.extent("a/b#3").is_none());
        assert!(Later::parse("a/b#1").is_err() && Later::parse("## x\na\na").is_err());
    }
}
