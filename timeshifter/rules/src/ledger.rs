//! What has been proven: a line a rule, kept beside the rules, so that a build without Z3 knows.
//!
//! ```text
//! add_zero 6f1c3a9be0d41277 64 proven Z3 4.8.12
//! ```
//!
//! The number is a hash of what the rule says, not of its name or comments. A rule that is changed isn't in the ledger
//! any more.

use crate::prove::Verdict;
use crate::rule::Rule;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Counts up when an op of the table, or the language, comes to mean something else: then all is to be proven again.
const MEANING: &str = "1";

/// Proofs, by the hash of what they prove.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    entries: BTreeMap<String, String>,
}

impl Ledger {
    /// Reads a ledger. Lines that say nothing are left out: what they would prove counts as unproven.
    pub fn parse(text: &str) -> Ledger {
        let line = |line: &str| {
            let mut words = line.splitn(3, ' ');
            let (_, hash, how) = (words.next()?, words.next()?, words.next()?);
            (!line.starts_with('#')).then(|| (hash.to_owned(), how.to_owned()))
        };
        Ledger { entries: text.lines().filter_map(line).collect() }
    }

    /// How a rule was proven, if it was.
    pub fn how(&self, rule: &Rule) -> Option<&str> {
        self.entries.get(&hash(rule)).map(String::as_str)
    }

    /// The ledger of rules with their verdicts, as text; without those that weren't proven.
    pub fn write<'r>(all: impl Iterator<Item = (&'r Rule, &'r Verdict)>, version: &str) -> String {
        let mut text = String::from(
            "# Rules that have been proven: name, hash, bits, how, by what. Made by `hueshift rules check FILE --ledger`.\n",
        );
        for (rule, verdict) in all {
            let how = match verdict {
                Verdict::Proven => "proven".to_owned(),
                Verdict::Exhaustive(cases) => format!("exhaustive({cases})"),
                Verdict::Sorry => "sorry".to_owned(),
                Verdict::Refuted(_) | Verdict::NeverApplies(_) | Verdict::Unknown(_) => continue,
            };
            let _ = writeln!(text, "{} {} 64 {how} {version}", rule.name, hash(rule));
        }
        text
    }
}

/// A hash of what a rule says (FNV-1a, G. Fowler, L. C. Noll, K.-P. Vo, 1991).
fn hash(rule: &Rule) -> String {
    let text = format!("{MEANING}\n{}{}", rule.text, if rule.sorry { "\nsorry" } else { "" });
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}
