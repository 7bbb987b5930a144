//! A module: type declarations, constant data and graphs.

use super::{DataId, EnumDecl, Graph, RustType, SourceFile, StructDecl};
use indexmap::IndexMap;

/// What the graphs of a module are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// As lifted from the source.
    #[default]
    Flow,
    /// With a color for every value.
    Colored,
    /// Shifted in time.
    Compiler,
    /// What a compiler graph produced.
    Residual,
}

impl Stage {
    /// The name in text and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Flow => "flow",
            Stage::Colored => "colored",
            Stage::Compiler => "compiler",
            Stage::Residual => "residual",
        }
    }
}

/// An item of data with a name: a `const` or `static` table, or an argument known when compiling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// Its name.
    pub name: String,
    /// What it is, in Rust's types.
    pub ty: RustType,
    /// Its bytes, little-endian; zero where a reference lies.
    pub bytes: Vec<u8>,
    /// Where references lie in it, and the items that they point to.
    pub references: Vec<(u32, DataId)>,
}

impl Data {
    /// An item without references.
    pub fn plain(name: impl Into<String>, ty: RustType, bytes: Vec<u8>) -> Data {
        Data { name: name.into(), ty, bytes, references: Vec::new() }
    }
}

/// Everything that one source (or one text of graphs) gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// The stage of the graphs.
    pub stage: Stage,
    /// The source files, by [`super::FileId`].
    pub files: Vec<SourceFile>,
    /// The structs, by name.
    pub structs: IndexMap<String, StructDecl>,
    /// The enums, by name.
    pub enums: IndexMap<String, EnumDecl>,
    /// Constant data, by [`DataId`].
    pub data: Vec<Data>,
    /// The graphs by key: the function's path (`run`, `Pair::sum`), and in later stages `path#signature`.
    pub graphs: IndexMap<String, Graph>,
    /// The key of the graph that a run begins with, where one is chosen.
    pub entry: Option<String>,
}

impl Module {
    /// The data item `id`.
    ///
    /// # Panics
    /// If the module has no such item: ids come from the module itself.
    pub fn data(&self, id: DataId) -> &Data {
        &self.data[id.0 as usize]
    }

    /// Adds an item of data.
    pub fn add_data(&mut self, data: Data) -> DataId {
        self.data.push(data);
        DataId(u32::try_from(self.data.len() - 1).unwrap_or(u32::MAX))
    }

    /// The graph in which the compiler continues a call, where the callee is looked into on a condition.
    pub fn decider(&self, callee: &super::Callee) -> Option<&Graph> {
        if callee.mode != super::CallMode::Plain {
            return None;
        }
        let target = self.graphs.get(&*callee.name)?;
        self.graphs.get(target.attributes.look_inside_if.as_ref()?)
    }

    /// `file:line:column` of a place, for messages.
    pub fn show_loc(&self, loc: super::Loc) -> String {
        match self.files.get(loc.file.0 as usize) {
            Some(file) if loc.is_known() => format!("{}:{}:{}", file.name, loc.line, loc.column),
            _ => "unknown place".to_owned(),
        }
    }
}
