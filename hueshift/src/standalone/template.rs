//! The arguments of an executable: what is fixed when it is made, and what it takes from its command line.
//!
//! An interpreter's loader turns a guest program and its arguments into the text of the entry's arguments, and only the
//! loader knows where in it they go. So it is asked with several values for each: what follows them unchanged, as a
//! word of the entry's, can be filled in by the executable itself. Anything else (an argument that says how long a
//! slice is, or that is computed with) has to be given when the executable is made.

use flowgraph::ir::{Module, Signature, Type};
use flowgraph::value::{ArgumentError, Arguments, LeafValue};

/// The arguments of an entry, some words of which are still open.
#[derive(Clone, Debug)]
pub struct Template {
    /// The arguments; the open words have any value.
    pub arguments: Arguments,
    /// The names of what the executable takes on its command line, in order.
    pub parameters: Vec<String>,
    /// Open words: the entry's parameter, which of its leaves, and the number of what is filled in.
    pub open: Vec<(usize, usize, usize)>,
}

/// Why an executable can't take a guest program's arguments itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not handed to the interpreter as it is: it must be given when the executable is made")]
pub struct NotOpen(pub String);

impl Template {
    /// Arguments that are all fixed.
    ///
    /// # Errors
    /// If the text doesn't fit the signature.
    pub fn fixed(module: &Module, signature: &Signature, text: &str) -> Result<Template, ArgumentError> {
        let arguments = Arguments::parse(module, signature, text)?;
        Ok(Template { arguments, parameters: Vec::new(), open: Vec::new() })
    }

    /// Arguments that are open: those of a guest program, by name. `load` gives the text of the entry's arguments for
    /// values of them, if they are any.
    ///
    /// # Errors
    /// With one that must be fixed.
    pub fn open(
        module: &Module,
        signature: &Signature,
        names: &[&str],
        load: &dyn Fn(&[&str]) -> Option<String>,
    ) -> Result<Template, NotOpen> {
        // Values that nothing else is likely to be, of both signs.
        let value = |round: i64, i: usize| [1, -1, 1 << 40][round as usize] * (7_919 + 104_729 * i as i64 + 31 * round);
        let probe = |round: i64| {
            let texts: Vec<String> = (0..names.len()).map(|i| value(round, i).to_string()).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            Arguments::parse(module, signature, &load(&texts)?).ok()
        };
        let first = || NotOpen(names.first().map_or_else(String::new, |name| (*name).to_owned()));
        let probes: Vec<Arguments> = (0..3).map(probe).collect::<Option<_>>().ok_or_else(first)?;
        let mut template = Template {
            arguments: probes[0].clone(),
            parameters: names.iter().map(|name| (*name).to_owned()).collect(),
            open: Vec::new(),
        };
        if probes.iter().any(|p| p.images() != probes[0].images()) {
            return Err(first());
        }
        for (param, leaves) in probes[0].leaves().iter().enumerate() {
            for (leaf, held) in leaves.iter().enumerate() {
                let all: Vec<Option<&LeafValue>> = probes.iter().map(|p| p.leaves()[param].get(leaf)).collect();
                if all.iter().all(|l| *l == Some(held)) {
                    continue;
                }
                let is = |i: &usize| {
                    (0..3)
                        .all(|round| all[round as usize] == Some(&LeafValue::Word(Type::Int, value(round, *i) as u64)))
                };
                let found = (0..names.len()).find(is).ok_or_else(first)?;
                template.open.push((param, leaf, found));
            }
        }
        Ok(template)
    }
}
