//! Graphs as an object file, to be linked into an executable that runs without hueshift.
//!
//! The code is the same as in memory: it shares a context with its host, which here is a small program in C
//! ([`support_source`]) instead of this crate. What has an address in memory has a symbol here: items of data are
//! `hueshift_data_0`, `hueshift_data_1` and so on, and the way in is `int64_t hueshift_enter(struct context *)`, which
//! takes the words of the entry's parameters from the context's values. All symbols are hidden: they are there for the
//! linker only.

use crate::abi::{self, Shape, offset};
use crate::fragment::{FrameLayout, is_fragment};
use crate::function::{self, Common, Function, HelperSignature, Helpers, Outside, Unit};
use crate::glue::build_entrance;
use crate::isa::Target;
use crate::sites::SharedSites;
use crate::{CodegenError, MAX_VALUES, Machine, OptLevel, Tier};
use cranelift_codegen::Context;
use cranelift_codegen::ir::{Signature, UserFuncName, types};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::{DataDescription, FuncId, Linkage, Module as _, ModuleError, default_libcall_names};
use cranelift_object::object::SectionKind;
use cranelift_object::{ObjectBuilder, ObjectModule};
use flowgraph::ir::{DataId, Module, Trap, Type};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// The alignment of data: that of anything which a dialect source can have in it.
const DATA_ALIGN: u64 = 16;

/// How to make an object file.
#[derive(Clone, Debug)]
pub struct ObjectOptions {
    /// For which machine.
    pub machine: Machine,
    /// Whether the executable may be loaded anywhere.
    pub pic: bool,
    /// How much Cranelift does about a function.
    pub opt_level: OptLevel,
    /// Whether Cranelift checks what it is given.
    pub verify: bool,
}

/// What an object file is made of.
#[derive(Clone, Copy)]
pub struct ObjectInput<'a> {
    /// The graphs, none of which exits, and the data.
    pub module: &'a Module,
    /// The key of the graph to enter.
    pub entry: &'a str,
    /// Which graphs are residual code, to which `we_are_jitted` is true.
    pub jitted: &'a dyn Fn(&str) -> bool,
    /// Which items of data the code may write to.
    pub writable: &'a dyn Fn(DataId) -> bool,
}

/// An object file, and what its host must know of it.
#[derive(Clone, Debug)]
pub struct ObjectFile {
    /// The file.
    pub bytes: Vec<u8>,
    /// What the numbers of traps mean that the context tells of.
    pub traps: Vec<Trap>,
    /// The functions that the code asks its host for, by their number: graphs without blocks.
    pub host_functions: Vec<HostFunction>,
    /// The types of the entry's parameters.
    pub params: Vec<Type>,
    /// The types of its results.
    pub results: Vec<Type>,
    /// Bytes of machine code.
    pub code_bytes: usize,
}

/// A function that an executable asks its host for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostFunction {
    /// Its name.
    pub name: String,
    /// The types of its parameters.
    pub params: Vec<Type>,
    /// The types of its results.
    pub results: Vec<Type>,
}

/// The symbol of an item of data.
pub fn data_symbol(data: DataId) -> String {
    format!("hueshift_data_{}", data.0)
}

/// Compiles a module of graphs that call and enter nothing else.
///
/// # Errors
/// If one of them can't be compiled, or needs what only a running hueshift has.
pub fn object_file(input: ObjectInput, options: &ObjectOptions) -> Result<ObjectFile, CodegenError> {
    let target = Target::of(options.machine, options.opt_level, options.verify, options.pic)?;
    let overflow_ops = target.overflow_ops;
    let builder = ObjectBuilder::new(target.isa.clone(), "hueshift", default_libcall_names()).map_err(failed)?;
    let mut writer = Writer {
        input,
        overflow_ops,
        isa: target.isa,
        object: ObjectModule::new(builder),
        builder: FunctionBuilderContext::new(),
        context: Context::new(),
        data: Vec::new(),
        functions: FxHashMap::default(),
        helpers: IndexMap::new(),
        sites: SharedSites::default(),
        code_bytes: 0,
    };
    writer.declare_data()?;
    writer.declare_functions()?;
    writer.define_data()?;
    writer.define_functions()?;
    let entry = writer.define_entrance()?;
    writer.finish(entry)
}

fn failed(error: impl std::fmt::Display) -> CodegenError {
    CodegenError::Object(error.to_string())
}

struct Writer<'a> {
    input: ObjectInput<'a>,
    overflow_ops: bool,
    isa: OwnedTargetIsa,
    object: ObjectModule,
    builder: FunctionBuilderContext,
    context: Context,
    data: Vec<cranelift_module::DataId>,
    functions: FxHashMap<String, Function>,
    helpers: Helpers,
    sites: SharedSites,
    code_bytes: usize,
}

impl Writer<'_> {
    fn declare_data(&mut self) -> Result<(), CodegenError> {
        for id in (0..self.input.module.data.len() as u32).map(DataId) {
            let writable = (self.input.writable)(id);
            let declared = self.object.declare_data(&data_symbol(id), Linkage::Hidden, writable, false);
            self.data.push(declared.map_err(failed)?);
        }
        Ok(())
    }

    fn define_data(&mut self) -> Result<(), CodegenError> {
        for (item, id) in self.input.module.data.iter().zip(&self.data) {
            let mut contents = DataDescription::new();
            // An item without bytes has an address all the same.
            let bytes = if item.bytes.is_empty() { vec![0] } else { item.bytes.clone() };
            contents.define(bytes.into_boxed_slice());
            contents.set_align(DATA_ALIGN);
            for (at, to) in &item.references {
                let to = self.object.declare_data_in_data(self.data[to.0 as usize], &mut contents);
                contents.write_data_addr(*at, to, 0);
            }
            self.object.define_data(*id, &contents).map_err(failed)?;
        }
        Ok(())
    }

    fn declare_functions(&mut self) -> Result<(), CodegenError> {
        for (key, graph) in &self.input.module.graphs {
            let of_graph = |values: &[flowgraph::ir::ValueId]| -> Vec<Type> {
                values.iter().map(|v| graph.values[v.index()].ty).collect()
            };
            if graph.is_host() {
                let params = flowgraph::host::param_types(self.input.module, graph);
                let results = graph.results.clone();
                self.helpers.insert(key.clone(), HelperSignature { params, results, direct: None });
                continue;
            }
            let params = of_graph(graph.entry_params());
            let signature = Shape::of(&params).signature();
            // A name of the dialect may be one of C's, too.
            let symbol = format!("hueshift:{key}");
            let id = self.object.declare_function(&symbol, Linkage::Local, &signature).map_err(failed)?;
            let (results, fragment) = (graph.results.clone(), is_fragment(graph));
            let function = Function { id, params, results, fragment, entered: false, installed: true };
            self.functions.insert(key.clone(), function);
        }
        Ok(())
    }

    fn define_functions(&mut self) -> Result<(), CodegenError> {
        let module = self.input.module;
        for (key, graph) in module.graphs.iter().filter(|(_, g)| !g.is_host()) {
            let function = self.functions[key].clone();
            let tier = Tier { jitted: (self.input.jitted)(key), ..Tier::default() };
            let no_frame = FrameLayout::new(0);
            let mut unit = Unit {
                name: key,
                tier: &tier,
                functions: &self.functions,
                helpers: &self.helpers,
                sites: &self.sites,
                outside: Outside::Symbols { data: &self.data, module: &mut self.object },
                common: Common { frame_bytes: 0, overflow_ops: self.overflow_ops, checks_accesses: false },
                isa: &*self.isa,
                frame: &mut no_frame.lock(),
            };
            self.context.func.signature = function.shape().signature();
            let mut b = FunctionBuilder::new(&mut self.context.func, &mut self.builder);
            function::translate(graph, &function, &mut unit, &mut b)?;
            b.seal_all_blocks();
            b.finalize(self.object.isa().frontend_config());
            self.define(function.id, key)?;
        }
        Ok(())
    }

    /// The way in from C.
    fn define_entrance(&mut self) -> Result<Function, CodegenError> {
        let unknown = || CodegenError::UnknownGraph(self.input.entry.to_owned());
        let entry = self.functions.get(self.input.entry).cloned().ok_or_else(unknown)?;
        let convention = self.object.isa().default_call_conv();
        let signature: Signature = abi::host_signature(convention, &[types::I64], &[types::I64]);
        let id = self.object.declare_function("hueshift_enter", Linkage::Hidden, &signature).map_err(failed)?;
        self.context.func.signature = signature;
        let callee = self.object.declare_func_in_func(entry.id, &mut self.context.func);
        let mut b = FunctionBuilder::new(&mut self.context.func, &mut self.builder);
        build_entrance(&entry.shape(), callee, &mut b);
        b.seal_all_blocks();
        b.finalize(self.object.isa().frontend_config());
        self.define(id, "hueshift_enter")?;
        Ok(entry)
    }

    /// Compiles the function that has been built.
    fn define(&mut self, id: FuncId, name: &str) -> Result<(), CodegenError> {
        self.context.func.name = UserFuncName::user(0, id.as_u32());
        let defined = self.object.define_function(id, &mut self.context);
        let refused = |e| match e {
            ModuleError::Compilation(error) => CodegenError::of_cranelift(name, &error),
            e => CodegenError::Cranelift { graph: name.to_owned(), message: format!("{e:?}") },
        };
        defined.map_err(refused)?;
        self.code_bytes += self.context.compiled_code().map_or(0, |code| code.buffer.data().len());
        self.object.clear_context(&mut self.context);
        Ok(())
    }

    fn finish(self, entry: Function) -> Result<ObjectFile, CodegenError> {
        let mut product = self.object.finish();
        // Without this section, linkers make the stack executable.
        product.object.add_section(Vec::new(), b".note.GNU-stack".to_vec(), SectionKind::Other);
        let bytes = product.emit().map_err(failed)?;
        let function = |(name, HelperSignature { params, results, .. })| HostFunction { name, params, results };
        Ok(ObjectFile {
            bytes,
            traps: self.sites.lock().traps.iter().map(|site| site.trap.clone()).collect(),
            host_functions: self.helpers.into_iter().map(function).collect(),
            params: entry.params,
            results: entry.results,
            code_bytes: self.code_bytes,
        })
    }
}

/// The host of an executable, in C: a `main` that enters the code and says how it ended. What it needs of the program
/// is described at its head; it begins with what it must share with this crate.
pub fn support_source() -> String {
    let mut text = format!(
        "#define HUESHIFT_MAX_VALUES {MAX_VALUES}\n#define HUESHIFT_SLOT_BYTES {}ull\n",
        flowgraph::eval::DEFAULT_SLOT_BYTES
    );
    text += include_str!("object/support.c");
    text += "\n/* The layout is the one that the code was made for. */\n";
    for (field, at) in offset::NAMED {
        let _ = writeln!(text, "_Static_assert(offsetof(struct context, {field}) == {at}, \"{field}\");");
    }
    text
}
