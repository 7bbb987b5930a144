//! The engine: what is compiled, and compiling more of it.

mod background;

use crate::CodegenError;
use crate::abi::Shape;
use crate::code::{self, Code, Text};
use crate::fragment::{self, FrameLayout, Heads};
use crate::function::{Common, Function, HelperSignature, Helpers};
use crate::glue::Glue;
use crate::helpers::{Helper, HelperCx};
use crate::isa::{OptLevel, Target};
use crate::run::{Activation, Entry, ExitHook, Host, MergeHook, Outcome};
use crate::sites::{MergeSite, SharedSites};
use crate::translation::{Translation, data_of};
use crate::worker::Worker;
pub use background::Finished;
use cranelift_module::FuncId;
use flowgraph::host::HostFunction;
use flowgraph::ir::{Graph, Module, Type};
use flowgraph::memory::{Bounds, Memory};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// Settings of an [`Engine`].
#[derive(Clone, Debug)]
pub struct Options {
    /// How much Cranelift does about a function.
    pub opt_level: OptLevel,
    /// Whether Cranelift checks what it is given: in debug builds, unless set otherwise.
    pub verify: bool,
    /// What is said of graphs unless [`Engine::compile_batch`] is told otherwise.
    pub tier: Tier,
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
    /// Where graphs may read and write, besides their local aggregates: every access is checked, and traps elsewhere.
    /// For graphs that come from text, and may have been edited; others access only what their source's types give
    /// them.
    pub bounds: Option<Bounds>,
    /// Compile on another thread. What has been begun can be entered when [`Engine::poll`] has found it done.
    pub background: bool,
    /// For tests: refuse the batch of this number (see [`Engine::begun`]) when it would be installed.
    pub refuse: Option<u64>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            opt_level: OptLevel::default(),
            verify: cfg!(debug_assertions),
            tier: Tier::default(),
            keep_text: false,
            frame_bytes: 64 << 10,
            slot_bytes: flowgraph::eval::DEFAULT_SLOT_BYTES,
            slot_memory: None,
            max_stack: None,
            bounds: None,
            background: false,
            refuse: None,
        }
    }
}

/// In which capacity graphs are compiled. The interpreter's own functions and what is specialized from them may have
/// the same keys, and call each other: each tier has names of its own, and may fall back on those of others.
///
/// ```
/// use jitcodegen::Tier;
/// let interpreter = Tier { names: "tier0:".to_owned(), merge_points: true, ..Tier::default() };
/// let residual = Tier { falls_back_on: vec![interpreter.names.clone()], jitted: true, ..Tier::default() };
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tier {
    /// What the names of its graphs begin with, before their keys.
    pub names: String,
    /// What the names of graphs begin with that are called where the tier has none of a key.
    pub falls_back_on: Vec<String>,
    /// Whether portals call the host at their merge points.
    pub merge_points: bool,
    /// What `we_are_jitted` says.
    pub jitted: bool,
}

impl Tier {
    /// The name of a graph of this tier.
    pub fn name(&self, key: &str) -> String {
        format!("{}{key}", self.names)
    }

    /// The names that a key called from this tier may mean, best first.
    pub(crate) fn meanings(&self, key: &str) -> impl Iterator<Item = String> {
        [&self.names].into_iter().chain(&self.falls_back_on).map(move |names| format!("{names}{key}"))
    }
}

/// Graphs to be compiled together. They may call and enter each other and all that are compiled already.
pub struct Batch<'a> {
    /// The graphs.
    pub graphs: &'a [&'a Graph],
    /// Where the data lies that their address constants speak of.
    pub memory: &'a Memory,
    /// In which capacity.
    pub tier: &'a Tier,
    /// The layout of the activation frame that they share with other fragments; else the engine's own.
    pub layout: Option<&'a FrameLayout>,
    /// Of which keys a graph is never called: others enter it, and may have stores pending that only it can make.
    pub entered: &'a dyn Fn(&str) -> bool,
}

/// Compiled graphs, by name: a graph's key, after what its [`Tier`]'s names begin with.
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
    common: Common,
    code: Rc<RefCell<Code>>,
    host: Rc<Host>,
    sites: SharedSites,
    functions: FxHashMap<String, Function>,
    helpers: Arc<Helpers>,
    /// The exits of compiled graphs: numbers of their sites, by name and exit.
    exits: FxHashMap<(String, u32), Vec<u32>>,
    /// The graphs that others enter.
    heads: Heads,
    /// Code around graphs, made when it is needed.
    glue: RefCell<FxHashMap<Glue, FuncId>>,
    layout: FrameLayout,
    texts: FxHashMap<String, Text>,
    /// Compiles in the background.
    worker: Option<Worker>,
    /// What it has at hand, oldest first; nothing where that is refused, since something was to which it may refer.
    under_way: VecDeque<Option<Begun>>,
    begun: u64,
}

/// Graphs that are being compiled.
struct Begun {
    names: Vec<String>,
    /// The graphs that they enter, and none before.
    heads: Vec<String>,
}

/// Graphs whose code has been written, and can't be run yet.
struct Written {
    begun: Begun,
    texts: Vec<Text>,
    /// The numbers of their exits' sites.
    exits: Range<usize>,
    /// What these lead to, if there are any.
    stub: Option<*const u8>,
}

impl Engine {
    /// An engine for this machine, with nothing compiled.
    ///
    /// # Errors
    /// If there is no code generator for this machine.
    pub fn new(options: Options) -> Result<Engine, CodegenError> {
        let target = Target::host(options.opt_level, options.verify)?;
        let common = Common {
            frame_bytes: options.frame_bytes,
            overflow_ops: target.overflow_ops,
            checks_accesses: options.bounds.is_some(),
        };
        let start = || Worker::start(target.isa.clone(), options.keep_text);
        let worker = options.background.then(start).transpose()?;
        let sites = SharedSites::default();
        let slots = options.slot_memory.ok_or(options.slot_bytes);
        Ok(Engine {
            common,
            code: Rc::new(RefCell::new(Code::new(target)?)),
            host: Host::new(sites.clone(), slots, &options),
            sites,
            functions: FxHashMap::default(),
            helpers: Arc::default(),
            exits: FxHashMap::default(),
            heads: Heads::default(),
            glue: RefCell::default(),
            layout: FrameLayout::new(options.frame_bytes),
            texts: FxHashMap::default(),
            worker,
            under_way: VecDeque::new(),
            begun: 0,
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
        self.compile_parts(graphs, memory, &|_| false)
    }

    /// [`Engine::compile_more`] of graphs some of which are never called, only entered ([`Batch::entered`]).
    ///
    /// # Errors
    /// If one of them can't be; then none is.
    pub fn compile_parts(
        &mut self,
        graphs: &[&Graph],
        memory: &Memory,
        entered: &dyn Fn(&str) -> bool,
    ) -> Result<(), CodegenError> {
        let tier = self.options.tier.clone();
        self.compile_batch(Batch { graphs, memory, tier: &tier, layout: None, entered })
    }

    /// Compiles graphs; where it is done in the background, what is refused there is told by [`Engine::poll`].
    ///
    /// # Errors
    /// If one of them can't be; then none is.
    pub fn compile_batch(&mut self, batch: Batch) -> Result<(), CodegenError> {
        for graph in batch.graphs.iter().filter(|g| g.is_host()) {
            self.register_host(&graph.key, batch.memory)?;
        }
        let names = self.declare(&batch)?;
        if names.is_empty() {
            return Ok(());
        }
        let translation = self.translation(&batch, &names);
        let begun = Begun { names, heads: std::mem::take(&mut self.heads.new) };
        self.begun += 1;
        if let Some(worker) = &self.worker {
            worker.compile(translation.into_owned());
            self.under_way.push_back(Some(begun));
            return Ok(());
        }
        let compiled = self.code.borrow_mut().compile(&translation, self.options.keep_text);
        let written = self.write(self.begun, begun, compiled)?;
        self.install(vec![written])
    }

    /// Announces graphs to each other. Gives their names.
    fn declare(&mut self, batch: &Batch) -> Result<Vec<String>, CodegenError> {
        let mut declared: IndexMap<String, Function> = IndexMap::new();
        for graph in batch.graphs.iter().filter(|g| !g.is_host()) {
            let name = batch.tier.name(&graph.key);
            let params: Vec<Type> = graph.entry_params().iter().map(|v| graph.values[v.index()].ty).collect();
            let id = self.code.borrow_mut().declare(&Shape::of(&params).signature())?;
            let entered = (batch.entered)(&graph.key);
            let fragment = entered || fragment::is_fragment(graph);
            let (results, installed) = (graph.results.clone(), false);
            let function = Function { id, params, results, fragment, entered, installed };
            if self.functions.contains_key(&name) || declared.insert(name.clone(), function).is_some() {
                return Err(CodegenError::Duplicate(name));
            }
        }
        let names = declared.keys().cloned().collect();
        self.functions.extend(declared);
        Ok(names)
    }

    /// Graphs with all that they refer to. What they refer to and isn't there is told by who translates them.
    fn translation<'a>(&mut self, batch: &Batch<'a>, names: &[String]) -> Translation<'a> {
        let graphs: Vec<&'a Graph> = batch.graphs.iter().copied().filter(|g| !g.is_host()).collect();
        let mut functions: FxHashMap<String, Function> = FxHashMap::default();
        let mut heads = FxHashMap::default();
        let own = names.iter().filter_map(|name| Some((name.clone(), self.functions.get(name)?.clone())));
        functions.extend(own);
        for graph in &graphs {
            let known = |key: &str| {
                let mut meanings = batch.tier.meanings(key);
                meanings.find_map(|name| self.functions.get(&name).map(|function| (name, function.clone())))
            };
            functions.extend(graph.called().filter_map(known));
            for (name, function) in graph.entered().filter_map(known) {
                let cells = &mut self.sites.lock().cells;
                let cell = self.heads.cell(name.clone(), cells);
                heads.insert(name.clone(), cells.address(cell));
                functions.insert(name, function);
            }
        }
        Translation {
            tier: batch.tier.clone(),
            functions,
            helpers: self.helpers.clone(),
            heads,
            data: graphs.iter().flat_map(|graph| data_of(graph, batch.memory)).collect(),
            sites: self.sites.clone(),
            layout: batch.layout.unwrap_or(&self.layout).clone(),
            common: self.common,
            graphs: graphs.into_iter().map(Cow::Borrowed).zip(names.iter().cloned()).collect(),
        }
    }

    /// Writes the code of a batch that has been compiled to where it will be run, or forgets it if it has been refused.
    fn write(
        &mut self,
        number: u64,
        begun: Begun,
        compiled: Result<code::Batch, CodegenError>,
    ) -> Result<Written, CodegenError> {
        let asked = || CodegenError::Cranelift {
            graph: begun.names.first().cloned().unwrap_or_default(),
            message: "asked to refuse it".to_owned(),
        };
        let compiled = if self.options.refuse == Some(number) { Err(asked()) } else { compiled };
        let written = compiled.and_then(|compiled| {
            let stub = (!compiled.exits.is_empty()).then(|| self.glue(Glue::Stub)).transpose()?;
            Ok((self.code.borrow_mut().define(compiled.code)?, compiled.exits, stub))
        });
        let (texts, exits, stub) = written.inspect_err(|_| self.forget(&begun.names, &begun.heads))?;
        Ok(Written { begun, texts, exits, stub })
    }

    /// Installs what has been written.
    fn install(&mut self, written: Vec<Written>) -> Result<(), CodegenError> {
        let finished = self.code.borrow_mut().finish();
        if finished.is_err() {
            written.iter().for_each(|Written { begun, .. }| self.forget(&begun.names, &begun.heads));
        }
        finished?;
        for Written { begun, texts, exits, stub } in written {
            for name in &begun.names {
                if let Some(function) = self.functions.get_mut(name) {
                    function.installed = true;
                }
            }
            if self.options.keep_text {
                self.texts.extend(begun.names.into_iter().zip(texts));
            }
            for name in begun.heads {
                self.point_head(&name);
            }
            let sites = self.sites.lock();
            for (number, stub) in exits.flat_map(|number| stub.map(|stub| (number, stub))) {
                let site = &sites.exits[number];
                self.exits.entry((site.graph.clone(), site.exit)).or_default().push(number as u32);
                sites.cells.point(site.cell, stub);
            }
        }
        Ok(())
    }

    /// Forgets graphs that have been refused, and the cells that would lead to what they would have entered.
    fn forget(&mut self, names: &[String], heads: &[String]) {
        names.iter().for_each(|name| drop(self.functions.remove(name)));
        self.heads.forget(heads);
    }

    // ---- exits

    /// Points an exit to a bridge: a compiled graph whose parameters are the exit's values.
    ///
    /// # Errors
    /// If there is no such exit or graph, or the types differ.
    pub fn patch(&mut self, graph: &str, exit: u32, bridge: &str) -> Result<(), CodegenError> {
        let function = self.installed(bridge)?;
        let arrival = match function.shape() {
            // It finds its parameters where the exit leaves them.
            Shape::Memory => None,
            shape => Some(self.glue(Glue::Arrival(shape))?),
        };
        let sites = self.sites.lock();
        let exits: Vec<_> = self.exit_sites(graph, exit)?.iter().map(|n| &sites.exits[*n as usize]).collect();
        if let Some(site) = exits.iter().find(|site| site.types != function.params) {
            return Err(CodegenError::BridgeTypes { bridge: function.params.clone(), exit: site.types.clone() });
        }
        let code = self.code.borrow().address(function.id);
        exits.iter().for_each(|site| match arrival {
            Some(arrival) => sites.cells.point_by(site.cell, arrival, code),
            None => sites.cells.point(site.cell, code),
        });
        Ok(())
    }

    /// Has whatever enters `graph` enter `other` instead, which must take the same parameters. Runs that are in `graph`
    /// stay there until they leave it.
    ///
    /// # Errors
    /// If one of them isn't compiled, or their parameters' types differ.
    pub fn redirect(&mut self, graph: &str, other: &str) -> Result<(), CodegenError> {
        let (from, to) = (self.installed(graph)?, self.installed(other)?);
        if from.params != to.params {
            return Err(CodegenError::BridgeTypes { bridge: to.params.clone(), exit: from.params.clone() });
        }
        let to = to.id;
        let cells = &mut self.sites.lock().cells;
        let cell = self.heads.cell(graph.to_owned(), cells);
        self.heads.new.clear();
        cells.point(cell, self.code.borrow().address(to));
        Ok(())
    }

    /// Has whatever enters a graph go there, unless it goes elsewhere already.
    fn point_head(&self, name: &str) {
        let sites = self.sites.lock();
        if let (Some(cell), Ok(function)) = (self.heads.find(name), self.installed(name))
            && sites.cells.leads_nowhere(cell)
        {
            sites.cells.point(cell, self.code.borrow().address(function.id));
        }
    }

    /// Points an exit to the host again.
    ///
    /// # Errors
    /// If there is no such exit.
    pub fn unpatch(&mut self, graph: &str, exit: u32) -> Result<(), CodegenError> {
        let stub = self.glue(Glue::Stub)?;
        let sites = self.sites.lock();
        for number in self.exit_sites(graph, exit)? {
            sites.cells.point(sites.exits[*number as usize].cell, stub);
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
        let (params, results, direct) = (helper.params.clone(), helper.results.clone(), helper.direct);
        let signature = HelperSignature { params, results, direct };
        Arc::make_mut(&mut self.helpers).insert(name.to_owned(), signature);
        self.host.add_helper(helper);
        Ok(())
    }

    /// Registers the function of the host that a graph without blocks stands for, unless there is one of this name.
    fn register_host(&mut self, name: &str, memory: &Memory) -> Result<(), CodegenError> {
        if self.helpers.contains_key(name) {
            return Ok(());
        }
        let host = memory.hosts().get(name).cloned().ok_or_else(|| CodegenError::NoHost(name.to_owned()))?;
        let HostFunction { params, results, function, direct } = host;
        let call = move |_: &HelperCx<'_>, args: &[u64], results: &mut [u64]| Ok(function(args, results)?);
        self.register_helper(name, Helper { params, results, function: Box::new(call), direct })
    }

    /// Sets what is called at the merge points of portals (see [`Tier::merge_points`]).
    pub fn set_merge_hook(&mut self, hook: Option<Rc<MergeHook>>) {
        self.host.set_merge_hook(hook);
    }

    /// From now on so many merge points are gone by before the hook is called at one: in generated code, at the cost of
    /// counting.
    pub fn skip_merge_points(&self, count: u64) {
        self.host.skip_merge_points(count);
    }

    /// How many of those have not been gone by yet.
    pub fn merge_points_left(&self) -> u64 {
        self.host.merge_points_left()
    }

    /// Sets what finishes the runs of graphs that were called by generated code and left through an exit. Without it,
    /// such an exit ends the whole run with [`CodegenError::ExitOfCallee`]: its values say nothing of the caller.
    pub fn set_exit_hook(&mut self, hook: Option<Rc<ExitHook>>) {
        self.host.set_exit_hook(hook);
    }

    /// The address of the next free byte of the slot stack: below it lie the activation frames of all runs under way.
    pub fn slot_top(&self) -> u64 {
        self.host.slot_top()
    }

    /// The merge point of this number.
    pub fn merge_site(&self, number: u32) -> Option<MergeSite> {
        self.sites.lock().merges.get(number as usize).cloned()
    }

    // ---- running

    /// Whether this graph is compiled, and can be entered.
    pub fn is_compiled(&self, key: &str) -> bool {
        self.functions.get(key).is_some_and(|function| function.installed)
    }

    fn installed(&self, key: &str) -> Result<&Function, CodegenError> {
        let function = self.functions.get(key).filter(|function| function.installed);
        function.ok_or_else(|| CodegenError::UnknownGraph(key.to_owned()))
    }

    /// An activation frame to run in, if there is room for one more, and for the local aggregates of functions that are
    /// called in it: a quarter of all that there is.
    pub fn activation(&self) -> Option<Activation> {
        Activation::open(&self.host, self.host.slot_bytes() / 4)
    }

    /// A compiled graph, to be entered: without the engine, and as often as wanted.
    ///
    /// # Errors
    /// If it isn't compiled.
    pub fn entry(&self, key: &str) -> Result<Entry, CodegenError> {
        let function = self.installed(key)?;
        let trampoline = self.glue(Glue::Trampoline(function.shape()))?;
        let code = self.code.borrow();
        Ok(Entry {
            key: key.into(),
            code: code.address(function.id),
            trampoline,
            params: function.params.len(),
            results: function.results.as_slice().into(),
            host: self.host.clone(),
            _memory: self.code.clone(),
        })
    }

    /// The address of code around graphs.
    fn glue(&self, glue: Glue) -> Result<*const u8, CodegenError> {
        let mut code = self.code.borrow_mut();
        if let Some(id) = self.glue.borrow().get(&glue) {
            return Ok(code.address(*id));
        }
        let signature = glue.signature(code.isa().default_call_conv());
        let id = code.declare(&signature)?;
        code.install(id, glue.name(), signature, |b| {
            glue.build(b);
            Ok(())
        })?;
        self.glue.borrow_mut().insert(glue, id);
        Ok(code.address(id))
    }

    /// Runs a compiled graph on words.
    ///
    /// # Errors
    /// If it isn't compiled; else as [`Entry::call_in`].
    pub fn call(&self, key: &str, args: &[u64]) -> Result<Outcome, CodegenError> {
        self.entry(key)?.call(args)
    }

    // ---- texts

    /// The bytes of machine code made so far.
    pub fn code_bytes(&self) -> usize {
        self.code.borrow().bytes
    }

    /// The bytes of machine code of one compiled graph.
    pub fn code_bytes_of(&self, key: &str) -> Option<usize> {
        self.code.borrow().sizes.get(&self.functions.get(key)?.id).copied()
    }

    /// Where the machine code of one compiled graph lies: its address, and how many bytes it has.
    pub fn code_of(&self, key: &str) -> Option<(usize, usize)> {
        let id = self.installed(key).ok()?.id;
        let code = self.code.borrow();
        Some((code.address(id).addr(), code.sizes.get(&id).copied()?))
    }

    /// The machine code of one compiled graph.
    pub fn machine_code(&self, key: &str) -> Option<Vec<u8>> {
        self.code.borrow().bytes(self.installed(key).ok()?.id)
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
