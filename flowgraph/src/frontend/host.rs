//! The prelude's functions that the host carries out ([`crate::host`]): input and output. A call of one puts a graph
//! without blocks into the module, named `prelude::` and its name.

use super::items::{FnItem, FnTypes, Program, ident_text};
use super::refusal::Reason;
use super::types::{Ty, rust_type};
use crate::ir::{Attributes, Graph, Param, RustType, Scalar, Signature};

/// A function of the prelude that the host carries out.
pub(super) struct PreludeHost {
    /// Its name in the prelude.
    pub name: &'static str,
    /// The key of its graph.
    pub key: &'static str,
    /// Its parameters.
    pub params: &'static [(&'static str, Scalar)],
    result: Option<Scalar>,
    doc: &'static str,
}

const HOSTS: &[PreludeHost] = &[
    PreludeHost {
        name: "put_byte",
        key: "prelude::put_byte",
        params: &[("b", Scalar::U8)],
        result: None,
        doc: "Writes a byte to the output.",
    },
    PreludeHost {
        name: "get_byte",
        key: "prelude::get_byte",
        params: &[],
        result: Some(Scalar::I64),
        doc: "The next byte of the input, or -1 at its end.",
    },
];

/// The names of all.
pub(super) fn prelude_hosts() -> impl Iterator<Item = &'static str> {
    HOSTS.iter().map(|host| host.name)
}

/// The function of this name.
pub(super) fn prelude_host(name: &str) -> Option<&'static PreludeHost> {
    HOSTS.iter().find(|h| h.name == name)
}

impl PreludeHost {
    /// The type of what it gives.
    pub(super) fn result(&self) -> Ty {
        self.result.map_or(Ty::Unit, Ty::Scalar)
    }

    fn graph(&self) -> Graph {
        let params = self.params.iter().map(|(name, ty)| Param { name: (*name).to_owned(), ty: RustType::Scalar(*ty) });
        let result = self.result.map_or(RustType::Unit, RustType::Scalar);
        let mut graph = Graph::new(self.key, Signature { params: params.collect(), result });
        graph.params = self.params.iter().map(|(name, _)| (*name).to_owned()).collect();
        graph.results = self.result.iter().map(|s| s.ty()).collect();
        let doc = self.doc.to_owned();
        graph.attributes = Attributes { dont_look_inside: true, public: true, doc, ..Attributes::default() };
        graph
    }
}

impl Program<'_> {
    /// Adds a function of the source that the embedding program carries out.
    pub(super) fn add_own_host(&self, f: &FnItem<'_>, types: &FnTypes, attributes: Attributes) {
        let rust = |ty: &Ty| rust_type(ty).unwrap_or(RustType::Unit);
        let name = |input: &syn::FnArg| match input {
            syn::FnArg::Receiver(_) => "self".to_owned(),
            syn::FnArg::Typed(t) => match &*t.pat {
                syn::Pat::Ident(i) if i.subpat.is_none() => ident_text(&i.ident),
                _ => "_".to_owned(),
            },
        };
        let params =
            f.sig.inputs.iter().zip(&types.params).map(|(input, ty)| Param { name: name(input), ty: rust(ty) });
        let mut graph = Graph::new(&f.path, Signature { params: params.collect(), result: rust(&types.result) });
        let mut module = self.module.borrow_mut();
        for param in &graph.signature.params {
            graph.params.extend(module.leaves(&param.ty).iter().map(|leaf| format!("{}{}", param.name, leaf.path)));
        }
        graph.results = module.leaves(&graph.signature.result).iter().map(|leaf| leaf.scalar.ty()).collect();
        graph.attributes = attributes;
        graph.loc = self.fn_pos(f).loc;
        module.graphs.insert(f.path.to_string(), graph);
    }

    /// Refuses elidable functions from which input or output is reached.
    pub(super) fn check_elidable(&self) {
        let calls = self.calls.borrow();
        for f in (0..self.functions.len()).filter(|id| self.is_elidable(*id)).map(|id| &self.functions[id]) {
            let mut reached: Vec<&str> = vec![&f.path];
            let mut at = 0;
            while at < reached.len() {
                let callees = calls.get(reached[at]).into_iter().flatten().map(String::as_str);
                let new: Vec<&str> = callees.filter(|callee| !reached.contains(callee)).collect();
                reached.extend(new);
                at += 1;
            }
            if let Some(host) = HOSTS.iter().find(|host| reached.contains(&host.key)) {
                let detail = format!("`{}` is elidable, but `{}` is reached from it", f.path, host.name);
                self.refuse_at(self.fn_pos(f), Reason::Elidable, &detail);
            }
        }
    }

    /// Adds the graphs of the prelude's functions that are called.
    pub(super) fn add_hosts(&self) {
        let calls = self.calls.borrow();
        for host in HOSTS.iter().filter(|h| calls.values().any(|callees| callees.contains(h.key))) {
            self.module.borrow_mut().graphs.insert(host.key.to_owned(), host.graph());
        }
    }
}
