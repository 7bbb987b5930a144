//! Names that were meant, for messages.

/// Up to three of `names` that look like `name`, the nearest first.
pub fn near_names<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let short = |n: &str| n.rsplit("::").next().unwrap_or(n).to_lowercase();
    let mut scored: Vec<(usize, &str)> = names
        .map(|n| (strsim::levenshtein(name, n).min(strsim::levenshtein(&short(name), &short(n))), n))
        .filter(|(d, _)| *d <= 1 + name.len() / 3 && *d < name.len())
        .collect();
    scored.sort();
    scored.dedup();
    scored.into_iter().take(3).map(|(_, n)| n.to_owned()).collect()
}

/// `did you mean a, b?`; nothing where no name is near.
pub fn did_you_mean(names: &[String]) -> Option<String> {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| format!("did you mean {}?", names.join(", ")))
}

/// The same behind a sentence, in brackets, with a space before it; nothing where no name is near.
pub fn in_brackets(names: &[String]) -> String {
    did_you_mean(names).map_or_else(String::new, |meant| format!(" ({meant})"))
}
