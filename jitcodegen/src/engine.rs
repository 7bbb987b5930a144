//! The engine: what is compiled, and compiling more of it.

use crate::abi::Shape;
use crate::code::{Code, Definition, Text};
use crate::fragment::{self, Cells, FrameLayout};
use crate::function::{self, Function, HelperSignature, Unit};
use crate::helpers::Helper;
use crate::isa::{OptLevel, Target};
use crate::run::{Entry, ExitHook, Host, MergeHook, Outcome};
use crate::sites::{MergeSite, Sites};
use crate::{CodegenError, abi};
use cranelift_codegen::ir::types;
use cranelift_module::{FuncId, Module as _};
use flowgraph::ir::{DataId, Graph, Module, Type};
use flowgraph::memory::Memory;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// Where items of data lie.
pub(crate) type Resolve<'a> = &'a dyn Fn(DataId) -> Option<u64>;

/// Settings of an [`Engine`].
#[derive(Clone, Debug)]
pub struct Options {
    /// How much Cranelift does about a function.
    pub opt_level: OptLevel,
    /// Whether Cranelift checks what it is given: in debug builds, unless set otherwise.
    pub verify: bool,
    /// Whether portals call the host at their merge points (tier 0).
    pub merge_points: bool,
    /// What `we_are_jitted` says.
    pub jitted: bool,
    /// Whether to keep the texts of what is compiled, for [`Engine::clif`] and [`Engine::asm`].
    pub keep_text: bool,
    /// The size of an activation frame, in bytes.
    pub frame_bytes: u64,
    /// The size of the slot stack, in bytes. Its pages are used only when needed.
    pub slot_bytes: u64,
    /// Memory to use as the slot stack instead: address and size in bytes. It must outlive the engine and its entries.
    pub slot_memory: Option<(u64, u64)>,
    /// The most native stack to use below an entry, in bytes; else all that the thread has, but for a reserve.
    pub max_stack: Option<usize>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            opt_level: OptLevel::Speed,
            verify: cfg!(debug_assertions),
            merge_points: false,
            jitted: false,
            keep_text: false,
            frame_bytes: 64 << 10,
            slot_bytes: 64 << 20,
            slot_memory: None,
            max_stack: None,
        }
    }
}

/// Compiled graphs.
///
/// ```
/// use flowgraph::ir::{Graph, Module, Opcode, Operand, RustType, Signature, Terminator, Type};
/// use flowgraph::ir::{Imm, Loc, Op, Time};
/// use jitcodegen::{Engine, Options, Outcome};
///
/// let mut graph = Graph::new("next", Signature { params: Vec::new(), result: RustType::Unit });
/// graph.results = vec![Type::Int];
/// let entry = graph.new_block();
/// let (x, y) = (graph.new_value(Type::Int), graph.new_value(Type::Int));
/// graph.block_mut(entry).params = vec![x];
/// graph.block_mut(entry).ops.push(Op {
///     opcode: Opcode::IntAdd,
///     args: [Operand::Value(x), Operand::int(1)].into_iter().collect(),
///     results: [y].into_iter().collect(),
///     imm: Imm::None,
///     time: Time::Now,
///     loc: Loc::UNKNOWN,
/// });
/// graph.block_mut(entry).term = Terminator::Return(vec![y.into()]);
/// let mut module = Module::default();
/// module.graphs.insert("next".to_owned(), graph);
///
/// let mut engine = Engine::new(Options::default()).unwrap();
/// engine.compile(&module, &flowgraph::memory::Memory::for_module(&module)).unwrap();
/// assert_eq!(engine.call("next", &[41]).unwrap(), Outcome::Returned(vec![42]));
/// ```
pub struct Engine {
    options: Options,
    overflow_ops: bool,
    code: Rc<RefCell<Code>>,
    host: Rc<Host>,
    sites: Rc<RefCell<Sites>>,
    cells: Cells,
    functions: FxHashMap<String, Function>,
    helpers: IndexMap<String, HelperSignature>,
    /// The exits of compiled graphs: numbers of their sites, by graph and exit.
    exits: FxHashMap<(String, u32), Vec<u32>>,
    stubs: FxHashMap<Shape, FuncId>,
    trampolines: RefCell<FxHashMap<Shape, FuncId>>,
    layout: FrameLayout,
    texts: FxHashMap<String, Text>,
}

impl Engine {
    /// An engine for this machine, with nothing compiled.
    ///
    /// # Errors
    /// If there is no code generator for this machine.
    pub fn new(options: Options) -> Result<Engine, CodegenError> {
        let target = Target::host(options.opt_level, options.verify)?;
        let overflow_ops = target.overflow_ops;
        let sites = Rc::new(RefCell::new(Sites::default()));
        let slots = options.slot_memory.ok_or(options.slot_bytes);
        Ok(Engine {
            overflow_ops,
            code: Rc::new(RefCell::new(Code::new(target)?)),
            host: Host::new(sites.clone(), slots, options.frame_bytes, options.max_stack),
            sites,
            cells: Cells::default(),
            functions: FxHashMap::default(),
            helpers: IndexMap::new(),
            exits: FxHashMap::default(),
            stubs: FxHashMap::default(),
            trampolines: RefCell::default(),
            layout: FrameLayout::new(options.frame_bytes),
            texts: FxHashMap::default(),
            options,
        })
    }

    // ---- compiling

    /// Compiles all graphs of a flow or residual module. `memory` says where the module's data lies.
    ///
    /// # Errors
    /// If one of them can't be; then none is.
    pub fn compile(&mut self, module: &Module, memory: &Memory) -> Result<(), CodegenError> {
        let graphs: Vec<&Graph> = module.graphs.values().collect();
        self.compile_more(&graphs, memory)
    }

    /// Compiles graphs which may call and enter each other and all that are compiled already.
    ///
    /// # Errors
    /// If one of them can't be; then none is.
    pub fn compile_more(&mut self, graphs: &[&Graph], memory: &Memory) -> Result<(), CodegenError> {
        let mut layout = self.layout.clone();
        let done = self.compile_family(graphs, memory, &mut layout);
        self.layout = layout;
        done
    }

    /// Like [`Engine::compile_more`], with a layout of the activation frame that only some fragments share.
    ///
    /// # Errors
    /// If one of them can't be; then none is.
    pub fn compile_family(
        &mut self,
        graphs: &[&Graph],
        memory: &Memory,
        layout: &mut FrameLayout,
    ) -> Result<(), CodegenError> {
        let declared = self.declare(graphs)?;
        let first_exit = self.sites.borrow().exits.len();
        let free = layout.clone();
        let done = self.translate_and_install(graphs, memory, layout, first_exit);
        if done.is_err() {
            *layout = free;
            for key in declared {
                self.functions.remove(&key);
            }
        }
        done
    }

    /// Announces graphs to each other. Gives their keys.
    fn declare(&mut self, graphs: &[&Graph]) -> Result<Vec<String>, CodegenError> {
        let mut declared: FxHashMap<String, Function> = FxHashMap::default();
        for graph in graphs {
            let key = graph.key.clone();
            let params: Vec<Type> = graph.entry_params().iter().map(|v| graph.values[v.index()].ty).collect();
            let id = self.code.borrow_mut().declare(&Shape::of(&params).signature())?;
            let fragment = fragment::is_fragment(graph);
            let function = Function { id, params, results: graph.results.clone(), fragment };
            if self.functions.contains_key(&key) || declared.insert(key.clone(), function).is_some() {
                return Err(CodegenError::Duplicate(key));
            }
        }
        let keys = declared.keys().cloned().collect();
        self.functions.extend(declared);
        Ok(keys)
    }

    fn translate_and_install(
        &mut self,
        graphs: &[&Graph],
        memory: &Memory,
        layout: &mut FrameLayout,
        first_exit: usize,
    ) -> Result<(), CodegenError> {
        let mut batch = Vec::new();
        for graph in graphs {
            let function = self.functions[&graph.key].clone();
            let mut unit = Unit {
                functions: &self.functions,
                helpers: &self.helpers,
                sites: &mut self.sites.borrow_mut(),
                cells: &mut self.cells,
                resolve: &|data| Some(memory.data_address(data)).filter(|at| *at != 0),
                options: &self.options,
                overflow_ops: self.overflow_ops,
                frame: layout,
            };
            let signature = function.shape().signature();
            let body = self
                .code
                .borrow_mut()
                .build(signature, |code, b| function::translate(graph, function.fragment, &mut unit, code, b))?;
            batch.push(Definition { id: function.id, name: graph.key.clone(), body });
        }
        let stubs = self.add_stubs(first_exit, &mut batch)?;
        let texts = self.code.borrow_mut().install(batch, self.options.keep_text)?;
        self.stubs.extend(stubs);
        if self.options.keep_text {
            self.texts.extend(graphs.iter().map(|g| g.key.clone()).zip(texts));
        }
        let sites = self.sites.borrow();
        for (number, site) in sites.exits.iter().enumerate().skip(first_exit) {
            self.exits.entry((site.graph.clone(), site.exit)).or_default().push(number as u32);
            self.cells.point(site.cell, self.stub(&Shape::of(&site.types)));
        }
        Ok(())
    }

    /// Adds the stubs that new exits need to a batch.
    fn add_stubs(&self, first_exit: usize, batch: &mut Vec<Definition>) -> Result<Vec<(Shape, FuncId)>, CodegenError> {
        let mut new: Vec<(Shape, FuncId)> = Vec::new();
        for site in &self.sites.borrow().exits[first_exit..] {
            let shape = Shape::of(&site.types);
            if self.stubs.contains_key(&shape) || new.iter().any(|(s, _)| *s == shape) {
                continue;
            }
            let mut code = self.code.borrow_mut();
            let id = code.declare(&shape.signature())?;
            let body = code.build(shape.signature(), |_, b| {
                fragment::build_stub(b);
                Ok(())
            })?;
            batch.push(Definition { id, name: "exit stub".to_owned(), body });
            new.push((shape, id));
        }
        Ok(new)
    }

    fn stub(&self, shape: &Shape) -> *const u8 {
        self.code.borrow().address(self.stubs[shape])
    }

    // ---- exits

    /// Points an exit to a bridge: a compiled graph whose parameters are the exit's values.
    ///
    /// # Errors
    /// If there is no such exit or graph, or the types differ.
    pub fn patch(&mut self, graph: &str, exit: u32, bridge: &str) -> Result<(), CodegenError> {
        let function = self.functions.get(bridge).ok_or_else(|| CodegenError::UnknownGraph(bridge.to_owned()))?;
        let sites = self.sites.borrow();
        let exits: Vec<_> = self.exit_sites(graph, exit)?.iter().map(|n| &sites.exits[*n as usize]).collect();
        if let Some(site) = exits.iter().find(|site| site.types != function.params) {
            return Err(CodegenError::BridgeTypes { bridge: function.params.clone(), exit: site.types.clone() });
        }
        let code = self.code.borrow().address(function.id);
        exits.iter().for_each(|site| self.cells.point(site.cell, code));
        Ok(())
    }

    /// Points an exit to the host again.
    ///
    /// # Errors
    /// If there is no such exit.
    pub fn unpatch(&mut self, graph: &str, exit: u32) -> Result<(), CodegenError> {
        let sites = self.sites.borrow();
        for number in self.exit_sites(graph, exit)? {
            let site = &sites.exits[*number as usize];
            self.cells.point(site.cell, self.stub(&Shape::of(&site.types)));
        }
        Ok(())
    }

    fn exit_sites(&self, graph: &str, exit: u32) -> Result<&[u32], CodegenError> {
        let sites = self.exits.get(&(graph.to_owned(), exit)).map(Vec::as_slice);
        sites.ok_or_else(|| CodegenError::UnknownExit { graph: graph.to_owned(), exit })
    }

    // ---- the host's side

    /// Registers a function: from now on, graphs that call `name` are compiled to call it instead of a graph.
    ///
    /// # Errors
    /// If the name is taken.
    pub fn register_helper(&mut self, name: &str, helper: Helper) -> Result<(), CodegenError> {
        if self.helpers.contains_key(name) {
            return Err(CodegenError::DuplicateHelper(name.to_owned()));
        }
        let signature = HelperSignature { params: helper.params.clone(), results: helper.results.clone() };
        self.helpers.insert(name.to_owned(), signature);
        self.host.add_helper(helper);
        Ok(())
    }

    /// Sets what is called at the merge points of portals (see [`Options::merge_points`]).
    pub fn set_merge_hook(&mut self, hook: Option<Rc<MergeHook>>) {
        self.host.set_merge_hook(hook);
    }

    /// Sets what finishes the runs of graphs that were called by generated code and left through an exit. Without it,
    /// such an exit ends the whole run.
    pub fn set_exit_hook(&mut self, hook: Option<Rc<ExitHook>>) {
        self.host.set_exit_hook(hook);
    }

    /// The merge point of this number.
    pub fn merge_site(&self, number: u32) -> Option<MergeSite> {
        self.sites.borrow().merges.get(number as usize).cloned()
    }

    // ---- running

    /// Whether this graph is compiled.
    pub fn is_compiled(&self, key: &str) -> bool {
        self.functions.contains_key(key)
    }

    /// A compiled graph, to be entered: without the engine, and as often as wanted.
    ///
    /// # Errors
    /// If it isn't compiled.
    pub fn entry(&self, key: &str) -> Result<Entry, CodegenError> {
        let function = self.functions.get(key).ok_or_else(|| CodegenError::UnknownGraph(key.to_owned()))?;
        let trampoline = self.trampoline(&function.shape())?;
        let code = self.code.borrow();
        Ok(Entry {
            key: key.into(),
            code: code.address(function.id),
            trampoline: code.address(trampoline),
            params: function.params.len(),
            results: function.results.as_slice().into(),
            host: self.host.clone(),
            _memory: self.code.clone(),
        })
    }

    fn trampoline(&self, shape: &Shape) -> Result<FuncId, CodegenError> {
        if let Some(id) = self.trampolines.borrow().get(shape) {
            return Ok(*id);
        }
        let mut code = self.code.borrow_mut();
        let convention = code.module().isa().default_call_conv();
        let signature = abi::host_signature(convention, &[types::I64; 2], &[types::I64]);
        let id = code.declare(&signature)?;
        let body = code.build(signature, |_, b| {
            fragment::build_trampoline(shape, b);
            Ok(())
        })?;
        code.install(vec![Definition { id, name: "entry".to_owned(), body }], false)?;
        self.trampolines.borrow_mut().insert(shape.clone(), id);
        Ok(id)
    }

    /// Runs a compiled graph on words.
    ///
    /// # Errors
    /// If it isn't compiled, or the number of words is wrong.
    pub fn call(&self, key: &str, args: &[u64]) -> Result<Outcome, CodegenError> {
        self.entry(key)?.call(args)
    }

    // ---- texts

    /// The bytes of machine code made so far.
    pub fn code_bytes(&self) -> usize {
        self.code.borrow().bytes
    }

    /// A compiled graph in Cranelift's form (see [`Options::keep_text`]).
    pub fn clif(&self, key: &str) -> Option<String> {
        let names: Vec<_> = self.functions.iter().map(|(key, f)| (f.id.as_u32(), key)).collect();
        let mut text = self.texts.get(key)?.clif.clone();
        for (id, name) in names {
            text = text.replace(&format!("u0:{id} "), &format!("%{name} "));
        }
        Some(text)
    }

    /// A compiled graph as machine instructions (see [`Options::keep_text`]).
    pub fn asm(&self, key: &str) -> Option<&str> {
        self.texts.get(key).map(|t| t.asm.as_str())
    }
}
