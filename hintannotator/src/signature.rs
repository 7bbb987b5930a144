//! The colors in which a function is called, and the keys of graphs made from them.
//!
//! A key is the function's path, `#`, a letter for each parameter leaf ([`Letter`]), and `!` if the result is demanded
//! green (`!` and a digit a result leaf, 1 for demanded, if only a part of it is). The all-red twin is `path#twin`.

use flowgraph::ir::{Graph, Module};

/// How one leaf of a parameter is known where a function is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Letter {
    /// Green, because the function demands it.
    Green,
    /// Green without being demanded: the argument is.
    Eager,
    /// Known when the entry is specialized, but red: nothing demands it, and a merge may forget it.
    Known,
    /// Red.
    Red,
}

impl Letter {
    /// The letter in keys: `g`, `e`, `k` or `r`.
    pub fn letter(self) -> char {
        match self {
            Letter::Green => 'g',
            Letter::Eager => 'e',
            Letter::Known => 'k',
            Letter::Red => 'r',
        }
    }

    /// Whether the value is at hand when the function is specialized: a green, or the first value of a red.
    pub fn is_known(self) -> bool {
        self != Letter::Red
    }
}

/// Which result leaves are demanded green.
pub type Want = Vec<bool>;

/// The colors in which a function is called.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sig {
    /// One letter for each parameter leaf.
    pub letters: Vec<Letter>,
    /// The result leaves that are demanded.
    pub want: Want,
}

impl Sig {
    /// The key of `function` in this signature.
    pub fn key(&self, function: &str) -> String {
        let mut key = format!("{function}#");
        key.extend(self.letters.iter().map(|l| l.letter()));
        if self.want.iter().any(|w| *w) {
            key.push('!');
            if !self.want.iter().all(|w| *w) {
                key.extend(self.want.iter().map(|w| if *w { '1' } else { '0' }));
            }
        }
        key
    }
}

/// The letters of a key `path#letters…`, one for each parameter leaf; `None` for keys of flow graphs and of twins.
pub fn letters_of_key(key: &str) -> Option<Vec<Letter>> {
    let (_, sig) = key.rsplit_once('#')?;
    let letters = sig.split('!').next().unwrap_or_default();
    letters
        .chars()
        .map(|c| [Letter::Green, Letter::Eager, Letter::Known, Letter::Red].into_iter().find(|l| l.letter() == c))
        .collect()
}

/// The key of the all-red twin of `function`.
pub fn twin_key(function: &str) -> String {
    format!("{function}#twin")
}

/// Whether `key` is that of an all-red twin.
pub fn is_twin_key(key: &str) -> bool {
    key.ends_with("#twin")
}

/// What a parameter leaf is in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParamLeaf {
    /// The position of the source parameter.
    pub source: usize,
    /// The address of a `&mut`: never green, since what it leads to changes.
    pub exclusive: bool,
    /// For portals: whether the parameter is one of the greens.
    pub key: Option<bool>,
}

/// The leaves of the parameters of a flow graph, one for each parameter of its entry block.
pub(crate) fn param_leaves(module: &Module, graph: &Graph) -> Vec<ParamLeaf> {
    let portal = graph.attributes.portal.as_ref();
    let mut out: Vec<ParamLeaf> = Vec::new();
    for (source, param) in graph.signature.params.iter().enumerate() {
        let key = portal.map(|p| p.greens.contains(&source));
        for leaf in module.leaves(&param.ty) {
            out.push(ParamLeaf { source, exclusive: leaf.reference == Some(true), key });
        }
    }
    // Graph text may leave the signature out: then each parameter is its own leaf.
    if out.len() != graph.entry_params().len() && !graph.is_host() {
        let leaf = |source| ParamLeaf { source, exclusive: false, key: portal.map(|p| p.greens.contains(&source)) };
        out = (0..graph.entry_params().len()).map(leaf).collect();
    }
    out
}
