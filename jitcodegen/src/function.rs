//! A graph as a function: blocks, edges, terminators, and the frame around them.
//!
//! The values of a graph map one to one to Cranelift's; a block's parameters to parameters of its block. Comparisons
//! are kept both as the word that they are and as the machine's flag, so that a branch on one costs no conversion.
//! Blocks are visited in reverse postorder: what dominates a block is translated before it, and what can't be reached
//! not at all.

use crate::CodegenError;
use crate::abi::{self, MAX_TRAP_ARGS, MAX_VALUES, Shape, clif_type, offset, status};
use crate::engine::Tier;
use crate::facts::Facts;
use crate::fragment::{Frame, SlotPlan};
use crate::lower;
use crate::passes;
use crate::passes::arms::{Arm, Arms, arms};
use crate::passes::inversion::{Stays, staying};
use crate::passes::steps::steps;
use crate::passes::ways::counted_on_ways;
use crate::sites::{SharedSites, TrapSite};
use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use cranelift_codegen::ir::{self, BlockArg, FuncRef, InstBuilder, InstructionData, MemFlagsData, types};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::{FunctionBuilder, Switch};
use cranelift_module::{FuncId, Linkage, Module};
use flowgraph::host::DirectFn;
use flowgraph::ir::{Block, BlockId, Const, DataId, Edge, Graph, Op, Opcode, Operand, Terminator, Trap, Type, ValueId};
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use target_lexicon::Architecture;

/// A graph that is compiled, or being compiled: what callers must know.
#[derive(Clone)]
pub(crate) struct Function {
    /// Its function.
    pub id: FuncId,
    /// The types of its parameters.
    pub params: Vec<Type>,
    /// The types of its results.
    pub results: Vec<Type>,
    /// Whether it can leave through exits or enter others, and so needs an activation frame when called.
    pub fragment: bool,
    /// It is never called, but entered by others.
    pub entered: bool,
    /// Whether its code is there.
    pub installed: bool,
}

impl Function {
    /// How its parameters travel.
    pub fn shape(&self) -> Shape {
        Shape::of(&self.params)
    }
}

/// What a registered function takes and gives.
#[derive(Clone)]
pub(crate) struct HelperSignature {
    /// The types of its parameters.
    pub params: Vec<Type>,
    /// The types of its results.
    pub results: Vec<Type>,
    /// What is called instead of the shim.
    pub direct: Option<DirectFn>,
}

/// How code refers to data, to functions that are no graphs, and to graphs.
pub(crate) enum Outside<'a> {
    /// By address: it is run in this process.
    Addresses {
        /// Where data lies.
        data: &'a FxHashMap<DataId, u64>,
        /// Where the cells are of graphs that are entered, by name.
        heads: &'a FxHashMap<String, usize>,
    },
    /// By symbol: it is linked later.
    Symbols {
        /// The items of data, by number.
        data: &'a [cranelift_module::DataId],
        /// What has been declared.
        module: &'a mut dyn Module,
    },
}

/// What the translation of a graph needs of the engine.
pub(crate) struct Unit<'a> {
    /// The graph's name.
    pub name: &'a str,
    /// In which capacity it is compiled.
    pub tier: &'a Tier,
    /// What is compiled or being compiled, by name: at least what the graph refers to.
    pub functions: &'a FxHashMap<String, Function>,
    /// The registered functions by name, numbered.
    pub helpers: &'a Helpers,
    /// Traps, exits and merge points.
    pub sites: &'a SharedSites,
    /// How code refers to what is outside of it.
    pub outside: Outside<'a>,
    /// The same for all graphs of an engine.
    pub common: Common,
    /// The machine.
    pub isa: &'a dyn TargetIsa,
    /// How much is left of the activation frame.
    pub frame: &'a mut Frame,
}

/// What is the same for all graphs of an engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Common {
    /// The size of an activation frame.
    pub frame_bytes: u64,
    /// Whether the machine has ops that tell of overflow.
    pub overflow_ops: bool,
    /// Whether the host is asked about every access.
    pub checks_accesses: bool,
}

/// The registered functions by name, numbered.
pub(crate) type Helpers = IndexMap<String, HelperSignature>;

/// The machine's byte for a comparison, or a word that is nonzero where true.
pub(crate) type Condition = ir::Value;

/// The translation of one graph, under way.
pub(crate) struct Translator<'t, 'f, 'u> {
    /// Where instructions go.
    pub b: &'t mut FunctionBuilder<'f>,
    /// The graph.
    pub graph: &'t Graph,
    /// The engine.
    pub unit: &'t mut Unit<'u>,
    /// The address of the context.
    pub context: ir::Value,
    values: Vec<Option<ir::Value>>,
    flags: FxHashMap<ValueId, ir::Value>,
    /// Quotients by constants, and the block that each is known in.
    pub quotients: FxHashMap<(ir::Value, i64, bool), (BlockId, ir::Value)>,
    /// Addresses of elements, by base, index and size, and the block that each is known in.
    pub elements: FxHashMap<(ir::Value, ir::Value, i64), (Option<ir::Block>, ir::Value)>,
    blocks: Vec<Option<ir::Block>>,
    unlikely: FxHashSet<BlockId>,
    arms: Arms<'t>,
    /// The blocks that a branch alone leads to: on what, and on which side.
    decided: FxHashMap<BlockId, (ValueId, bool)>,
    /// The sides by which small loops go on.
    staying: FxHashMap<BlockId, Stays>,
    callees: FxHashMap<FuncId, FuncRef>,
    /// What branches tell.
    pub facts: Facts,
    /// What a round of a loop adds to what it was handed.
    pub steps: FxHashSet<ValueId>,
    /// Sums of a value and a constant that are counted on the ways that hand them over.
    counted: FxHashMap<ValueId, (ValueId, i64)>,
    /// Local aggregates.
    pub slots: SlotPlan,
    /// It is never called.
    entered: bool,
    failed: Option<ir::Block>,
    /// Where the words of calls lie that the host answers itself.
    pub handed: Option<ir::StackSlot>,
    /// The block by which all exits leave.
    pub way_out: Option<ir::Block>,
    /// The one by which all traps do.
    trapped: Option<ir::Block>,
}

/// Accesses to the context and to what the host owns beside it.
pub(crate) fn context_access() -> MemFlagsData {
    MemFlagsData::trusted()
}

/// The blocks that can be reached, each after all that dominate it; of two ways on, what the second leads to comes
/// first, and the first one is closer to what is behind both.
pub(crate) fn reverse_postorder(graph: &Graph) -> Vec<BlockId> {
    let mut seen = vec![false; graph.blocks.len()];
    let mut order = Vec::new();
    let mut stack = vec![(BlockId::ENTRY, false)];
    while let Some((id, done)) = stack.pop() {
        if done {
            order.push(id);
        } else if !std::mem::replace(&mut seen[id.index()], true) {
            stack.push((id, true));
            let next: Vec<BlockId> = graph.block(id).term.edges().map(|e| e.block).collect();
            stack.extend(next.into_iter().rev().filter(|b| !seen[b.index()]).map(|b| (b, false)));
        }
    }
    order.reverse();
    order
}

/// Translates a graph into the function that `b` builds.
pub(crate) fn translate(
    graph: &Graph,
    function: &Function,
    unit: &mut Unit,
    b: &mut FunctionBuilder,
) -> Result<(), CodegenError> {
    let called = !function.fragment && !function.entered;
    let graph = &*passes::suited(graph, called.then_some(unit.name));
    let slots = SlotPlan::new(graph, function.fragment, unit.frame)?;
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let context = b.block_params(entry)[0];
    let mut t = Translator {
        b,
        graph,
        unit,
        context,
        values: vec![None; graph.values.len()],
        flags: FxHashMap::default(),
        quotients: FxHashMap::default(),
        elements: FxHashMap::default(),
        blocks: vec![None; graph.blocks.len()],
        unlikely: unlikely(graph),
        arms: arms(graph),
        decided: decided(graph),
        staying: FxHashMap::default(),
        callees: FxHashMap::default(),
        facts: Facts::new(graph),
        steps: steps(graph),
        counted: FxHashMap::default(),
        slots,
        entered: function.entered,
        failed: None,
        handed: None,
        way_out: None,
        trapped: None,
    };
    let mut order = reverse_postorder(graph);
    // Arms are done where the branch was.
    let done: FxHashSet<BlockId> =
        t.arms.values().flatten().filter_map(|arm| arm.block).map(|(block, _)| block).collect();
    order.retain(|block| !done.contains(block));
    t.staying = staying(graph, &order);
    // Other machines' addresses have no room for a base, an index and a constant.
    if t.architecture() == Architecture::X86_64 {
        t.counted = counted_on_ways(graph, &order);
    }
    t.prologue(entry, &order)?;
    for id in order {
        t.block(id)?;
    }
    t.finish();
    Ok(())
}

impl Translator<'_, '_, '_> {
    // ---- the frame around the blocks

    fn prologue(&mut self, entry: ir::Block, order: &[BlockId]) -> Result<(), CodegenError> {
        let types: Vec<Type> = self.graph.entry_params().iter().map(|v| self.graph.values[v.index()].ty).collect();
        self.limit(types.len(), MAX_VALUES)?;
        self.limit(self.graph.results.len(), MAX_VALUES)?;
        let arguments: Vec<ir::Value> = match Shape::of(&types) {
            Shape::Registers(_) => self.b.block_params(entry)[1..].to_vec(),
            Shape::Memory => types.iter().enumerate().map(|(i, ty)| self.load_word(*ty, offset::VALUES, i)).collect(),
        };
        let calls = order.iter().flat_map(|id| &self.graph.block(*id).ops).any(|op| self.uses_stack(op));
        // Who enters a graph may have stores pending that would be lost here. Whoever was called first has looked, and
        // what another graph takes where it goes on is of what is left to what is called (`RESERVE`).
        if calls && !self.entered {
            self.check_stack();
        }
        self.enter_slots();
        for id in order {
            let block = self.b.create_block();
            for param in &self.graph.block(*id).params {
                let value = self.b.append_block_param(block, clif_type(self.graph.values[param.index()].ty));
                self.values[param.index()] = Some(value);
            }
            self.blocks[id.index()] = Some(block);
        }
        let first = self.target(BlockId::ENTRY);
        let arguments: Vec<BlockArg> = arguments.into_iter().map(BlockArg::Value).collect();
        self.b.ins().jump(first, &arguments);
        Ok(())
    }

    /// Whether an op runs code that needs native stack.
    fn uses_stack(&self, op: &Op) -> bool {
        match op.opcode {
            Opcode::Call | Opcode::CallElidable => op.callee().is_none_or(|c| c.libm().is_none()),
            Opcode::MergePoint => self.unit.tier.merge_points && !op.args.is_empty(),
            _ => self.unit.common.checks_accesses && op.mem().is_some(),
        }
    }

    /// Traps with "stack exhausted" where little is left of the native stack.
    pub fn check_stack(&mut self) {
        let limit = self.load_context(offset::STACK_LIMIT);
        let pointer = self.b.ins().get_stack_pointer(types::I64);
        let low = self.b.ins().icmp(IntCC::UnsignedLessThan, pointer, limit);
        self.stack_exhausted_if(low);
    }

    /// Traps with "stack exhausted" where `low` holds, and goes on where not.
    pub fn stack_exhausted_if(&mut self, low: Condition) {
        let (trap, go_on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(trap);
        self.b.ins().brif(low, trap, &[], go_on, &[]);
        self.b.switch_to_block(trap);
        let site = self.unit.sites.lock().trap(TrapSite::stack_exhausted(self.graph.loc));
        self.trapped(site, &[]);
        self.b.switch_to_block(go_on);
    }

    fn finish(&mut self) {
        if let Some(block) = self.failed {
            self.b.switch_to_block(block);
            let status = self.b.block_params(block)[0];
            self.b.ins().return_(&[status]);
        }
        self.leave();
        self.leave_trapped();
    }

    /// The block that returns the status which it is given: the way out after a call that hasn't returned.
    pub fn failed_block(&mut self) -> ir::Block {
        *self.failed.get_or_insert_with(|| {
            let block = self.b.create_block();
            self.b.append_block_param(block, types::I64);
            self.b.set_cold_block(block);
            block
        })
    }

    // ---- values

    /// The Cranelift value of an operand.
    pub fn value(&mut self, operand: Operand) -> Result<ir::Value, CodegenError> {
        Ok(match operand {
            Operand::Value(v) => self.values[v.index()].unwrap_or_else(|| {
                unreachable!("a verified graph defines {v} of `{}` before it is used", self.graph.key)
            }),
            Operand::Const(Const::Int(i)) => self.b.ins().iconst(types::I64, i),
            Operand::Const(Const::Float(bits)) => self.b.ins().f64const(f64::from_bits(bits)),
            Operand::Const(Const::Single(bits)) => self.b.ins().f32const(f32::from_bits(bits)),
            Operand::Const(Const::Addr(data, at)) => self.address_of(data, at)?,
        })
    }

    fn address_of(&mut self, data: DataId, at: i64) -> Result<ir::Value, CodegenError> {
        let nowhere = || CodegenError::NoAddress { graph: self.graph.key.clone(), data: data.0 };
        match &mut self.unit.outside {
            Outside::Addresses { data: places, .. } => {
                let address = *places.get(&data).ok_or_else(nowhere)?;
                Ok(self.b.ins().iconst(types::I64, (address as i64).wrapping_add(at)))
            }
            Outside::Symbols { data: symbols, module } => {
                let id = *symbols.get(data.0 as usize).ok_or_else(nowhere)?;
                let symbol = module.declare_data_in_func(id, self.b.func);
                let address = self.b.ins().symbol_value(types::I64, symbol);
                Ok(self.b.ins().iadd_imm_s(address, at))
            }
        }
    }

    /// The Cranelift values of operands.
    pub fn all_values(&mut self, operands: &[Operand]) -> Result<Vec<ir::Value>, CodegenError> {
        operands.iter().map(|o| self.value(*o)).collect()
    }

    /// What to test an operand by: its flag, if it is a comparison.
    pub fn condition(&mut self, operand: Operand) -> Result<Condition, CodegenError> {
        match self.flag(operand) {
            Some(flag) => Ok(flag),
            None => self.value(operand),
        }
    }

    /// The flag of an operand that is a comparison.
    pub fn flag(&self, operand: Operand) -> Option<ir::Value> {
        operand.value().and_then(|v| self.flags.get(&v).copied())
    }

    /// Says what a value is.
    pub fn define(&mut self, result: ValueId, value: ir::Value) {
        self.values[result.index()] = Some(value);
    }

    /// Says that a value is a comparison with this flag.
    pub fn define_flag(&mut self, result: ValueId, flag: ir::Value) {
        let word = self.b.ins().uextend(types::I64, flag);
        self.flags.insert(result, flag);
        self.define(result, word);
    }

    /// Says that a value is the same as an operand.
    pub fn define_copy(&mut self, result: ValueId, operand: Operand) -> Result<(), CodegenError> {
        if let Some(flag) = self.flag(operand) {
            self.flags.insert(result, flag);
        }
        let value = self.value(operand)?;
        self.define(result, value);
        Ok(())
    }

    /// Forgets what was known of a value beside its word.
    pub fn redefine(&mut self, result: ValueId, value: ir::Value) {
        self.flags.remove(&result);
        self.define(result, value);
    }

    // ---- the context

    /// A word of the context.
    pub fn load_context(&mut self, at: i32) -> ir::Value {
        self.b.ins().load(types::I64, context_access(), self.context, at)
    }

    /// Sets a word of the context.
    pub fn store_context(&mut self, value: ir::Value, at: i32) {
        self.b.ins().store(context_access(), value, self.context, at);
    }

    /// Word `index` of an array of the context, as a value of a type.
    pub fn load_word(&mut self, ty: Type, array: i32, index: usize) -> ir::Value {
        self.b.ins().load(clif_type(ty), context_access(), self.context, offset::word(array, index))
    }

    /// Sets words of an array of the context.
    pub fn store_words(&mut self, values: &[ir::Value], array: i32) {
        for (i, value) in values.iter().enumerate() {
            self.store_word(*value, array, i);
        }
    }

    /// Sets a word of an array of the context. The upper half of a single's word is zero, as everywhere.
    fn store_word(&mut self, value: ir::Value, array: i32, index: usize) {
        let value = self.word(value);
        self.store_context(value, offset::word(array, index));
    }

    /// A value as a word is stored of it: half of a single's is zero.
    pub fn word(&mut self, value: ir::Value) -> ir::Value {
        if self.b.func.dfg.value_type(value) != types::F32 {
            return value;
        }
        let bits = self.b.ins().bitcast(types::I32, MemFlagsData::new(), value);
        self.b.ins().uextend(types::I64, bits)
    }

    /// Checks a number of values handed over at once.
    pub fn limit(&self, count: usize, limit: usize) -> Result<(), CodegenError> {
        if count > limit {
            return Err(CodegenError::TooManyValues { graph: self.graph.key.clone(), count, limit });
        }
        Ok(())
    }

    /// The reference by which this function calls another one.
    pub fn callee(&mut self, function: &Function) -> FuncRef {
        let (id, unit, b) = (function.id, &mut *self.unit, &mut *self.b);
        *self.callees.entry(id).or_insert_with(|| match &mut unit.outside {
            Outside::Addresses { .. } => {
                let name = ir::UserExternalName { namespace: 0, index: id.as_u32() };
                let name = ir::ExternalName::user(b.func.declare_imported_user_function(name));
                let signature = b.func.import_signature(function.shape().signature());
                b.func.import_function(ir::ExtFuncData { name, signature, colocated: true, patchable: false })
            }
            Outside::Symbols { module, .. } => module.declare_func_in_func(id, b.func),
        })
    }

    /// The machine's.
    pub fn architecture(&self) -> Architecture {
        self.unit.isa.triple().architecture
    }

    /// The platform's calling convention.
    pub fn host_convention(&mut self) -> cranelift_codegen::isa::CallConv {
        self.unit.isa.default_call_conv()
    }

    /// Calls a function of the platform's convention that is no graph: it lies at this address, or has this symbol.
    pub fn call_outside(
        &mut self,
        symbol: &str,
        address: usize,
        signature: ir::Signature,
        args: &[ir::Value],
    ) -> Result<ir::Inst, CodegenError> {
        let Outside::Symbols { module, .. } = &mut self.unit.outside else {
            let signature = self.b.import_signature(signature);
            let address = self.b.ins().iconst(types::I64, address as i64);
            return Ok(self.b.ins().call_indirect(signature, address, args));
        };
        let declared = module.declare_function(symbol, Linkage::Import, &signature);
        let id = declared.map_err(|e| CodegenError::Object(e.to_string()))?;
        let callee = *self.callees.entry(id).or_insert_with(|| module.declare_func_in_func(id, self.b.func));
        Ok(self.b.ins().call(callee, args))
    }

    /// Calls a function of the host whose address is a word of the context, with the context as its first argument.
    pub fn call_host(&mut self, function: i32, args: &[ir::Value]) -> ir::Value {
        let params = vec![types::I64; args.len() + 1];
        let signature = abi::host_signature(self.host_convention(), &params, &[types::I64]);
        let signature = self.b.import_signature(signature);
        let address = self.load_context(function);
        let args: Vec<ir::Value> = [self.context].into_iter().chain(args.iter().copied()).collect();
        let call = self.b.ins().call_indirect(signature, address, &args);
        self.b.inst_results(call)[0]
    }

    // ---- blocks and edges

    fn target(&self, id: BlockId) -> ir::Block {
        self.blocks[id.index()].unwrap_or_else(|| unreachable!("{id} of `{}` is reachable", self.graph.key))
    }

    fn block(&mut self, id: BlockId) -> Result<(), CodegenError> {
        let graph = self.graph;
        let block: &Block = graph.block(id);
        let target = self.target(id);
        let is_way_out = matches!(block.term, Terminator::Trap(_) | Terminator::Exit { .. });
        if id != BlockId::ENTRY && (is_way_out || self.unlikely.contains(&id)) {
            self.b.set_cold_block(target);
        }
        self.b.switch_to_block(target);
        let decided = self.decided.get(&id).copied();
        self.with_decided(decided, |t| {
            for (at, op) in block.ops.iter().enumerate() {
                lower::lower(t, op, id, at)?;
            }
            match (t.arms.get(&id).copied(), &block.term) {
                (Some(arms), Terminator::Branch { cond, .. }) => t.both(*cond, arms),
                _ => t.terminator(id, &block.term),
            }
        })
    }

    /// Translates what lies on one side of a branch: what was branched on is a constant there, if it is known which. So
    /// a comparison whose outcome an exit hands over needn't be computed beside the branch.
    fn with_decided<T>(&mut self, decided: Option<(ValueId, bool)>, translate: impl FnOnce(&mut Self) -> T) -> T {
        let known = decided.filter(|(value, holds)| !holds || self.flags.contains_key(value));
        let Some((value, holds)) = known else { return translate(self) };
        let (flag, word) = (self.flags.remove(&value), self.values[value.index()]);
        let constant = self.b.ins().iconst(types::I64, i64::from(holds));
        self.define(value, constant);
        let translated = translate(self);
        self.values[value.index()] = word;
        self.flags.extend(flag.map(|flag| (value, flag)));
        translated
    }

    fn edge(&mut self, edge: &Edge) -> Result<(ir::Block, Vec<BlockArg>), CodegenError> {
        let args =
            edge.args.iter().map(|o| Ok(BlockArg::Value(self.value(*o)?))).collect::<Result<_, CodegenError>>()?;
        Ok((self.target(edge.block), args))
    }

    /// Does both arms of a branch, and goes on with what the one hands over that would have been taken.
    fn both(&mut self, cond: Operand, arms: [Arm; 2]) -> Result<(), CodegenError> {
        let graph = self.graph;
        let flag = self.condition(cond)?;
        for (block, edge) in arms.iter().filter_map(|arm| arm.block) {
            for (param, given) in graph.block(block).params.iter().zip(&edge.args) {
                self.define_copy(*param, *given)?;
            }
            for (at, op) in graph.block(block).ops.iter().enumerate() {
                lower::lower(self, op, block, at)?;
            }
        }
        let [one, other] = arms.map(|arm| arm.onward);
        let mut args = Vec::new();
        for (first, second) in one.args.iter().zip(&other.args) {
            let value = self.value(*first)?;
            args.push(BlockArg::Value(if first == second {
                value
            } else {
                let second = self.value(*second)?;
                self.b.ins().select(flag, value, second)
            }));
        }
        let to = self.target(one.block);
        self.b.ins().jump(to, &args);
        Ok(())
    }

    fn terminator(&mut self, id: BlockId, term: &Terminator) -> Result<(), CodegenError> {
        match term {
            Terminator::Jump(edge) => {
                let (block, args) = self.edge(edge)?;
                self.b.ins().jump(block, &args);
            }
            Terminator::Branch { cond, then, otherwise, .. } => {
                let stays = self.staying.get(&id).copied();
                self.branch(*cond, [(then, true), (otherwise, false)], stays)?;
            }
            Terminator::Switch { value, cases, default, .. } => self.switch(*value, cases, default)?,
            Terminator::Return(values) => {
                let values = self.all_values(values)?;
                self.store_words(&values, offset::RESULTS);
                self.returned();
            }
            Terminator::Trap(trap) => self.trap(trap)?,
            Terminator::Exit { exit, guard, args } => self.exit(*exit, *guard, args)?,
            Terminator::Enter { graph, args } => self.enter(graph, args)?,
        }
        Ok(())
    }

    /// Branches. What an exit is told on the way to it, constants mostly, is made on that way: beside the branch it
    /// would be made whether or not the exit is taken. `stays`: the side by which a small loop goes on. What the other
    /// one hands over is moved behind the loop, and not in the middle of it, unless that happens often.
    fn branch(&mut self, cond: Operand, sides: [(&Edge, bool); 2], stays: Option<Stays>) -> Result<(), CodegenError> {
        let flag = self.condition(cond)?;
        let mut ways = Vec::new();
        let mut targets = Vec::with_capacity(2);
        for (edge, holds) in sides {
            let leaves = matches!(self.graph.block(edge.block).term, Terminator::Exit { .. });
            let counts = edge.args.iter().any(|arg| self.counted_on_way(*arg).is_some());
            let leaves_loop = stays.is_some_and(|stays| stays.holds != holds && !stays.nested);
            if (leaves || leaves_loop) && !edge.args.is_empty() || counts {
                let way = self.b.create_block();
                if leaves {
                    self.b.set_cold_block(way);
                }
                ways.push((way, edge, holds));
                targets.push((way, Vec::new()));
            } else {
                targets.push(self.edge_where(cond, holds, edge)?);
            }
        }
        let (then, otherwise) = (&targets[0], &targets[1]);
        // What stands second comes next: that's to be where nothing is counted, and what stays in a loop. What leads
        // back takes one jump if it stands first.
        let counts_last = ways.last().is_some_and(|(way, ..)| ways.len() == 1 && *way == otherwise.0);
        if stays.is_some_and(|stays| stays.holds != stays.back) || counts_last && self.flag(cond).is_none() {
            let is_zero = self.opposite(flag);
            self.b.ins().brif(is_zero, otherwise.0, &otherwise.1, then.0, &then.1);
        } else {
            self.b.ins().brif(flag, then.0, &then.1, otherwise.0, &otherwise.1);
        }
        for (way, edge, holds) in ways {
            self.b.switch_to_block(way);
            let mut counted = Vec::new();
            for sum in edge.args.iter().filter_map(|arg| arg.value()) {
                if let Some((of, by)) = self.counted_on_way(sum.into()) {
                    let of = self.value(of.into())?;
                    let anew = self.b.ins().iadd_imm_s(of, by);
                    counted.push((sum, self.values[sum.index()].replace(anew)));
                }
            }
            let (target, args) = self.edge_where(cond, holds, edge)?;
            counted.into_iter().rev().for_each(|(sum, before)| self.values[sum.index()] = before);
            self.b.ins().jump(target, &args);
        }
        Ok(())
    }

    /// What holds where a condition doesn't.
    fn opposite(&mut self, flag: ir::Value) -> ir::Value {
        let dfg = &self.b.func.dfg;
        let compared = dfg.value_def(flag).inst().map(|inst| dfg.insts[inst]);
        match compared {
            Some(InstructionData::IntCompare { cond, args: [x, y], .. }) => self.b.ins().icmp(cond.complement(), x, y),
            _ => self.b.ins().icmp_imm_s(IntCC::Equal, flag, 0),
        }
    }

    /// What an operand is the sum of, if it is counted on the ways that hand it over.
    fn counted_on_way(&self, operand: Operand) -> Option<(ValueId, i64)> {
        self.counted.get(&operand.value()?).copied()
    }

    /// An edge that is taken where a condition holds, or doesn't.
    fn edge_where(
        &mut self,
        cond: Operand,
        holds: bool,
        edge: &Edge,
    ) -> Result<(ir::Block, Vec<BlockArg>), CodegenError> {
        self.with_decided(cond.value().map(|value| (value, holds)), |t| t.edge(edge))
    }

    fn switch(&mut self, value: Operand, cases: &[(i64, Edge)], default: &Edge) -> Result<(), CodegenError> {
        let value = self.value(value)?;
        let mut switch = Switch::new();
        let mut ways = Vec::new();
        for (case, edge) in cases {
            // Cranelift's cases take no arguments, so each has a block of its own that hands them over.
            let block = if edge.args.is_empty() { self.target(edge.block) } else { self.b.create_block() };
            if !edge.args.is_empty() {
                ways.push((block, edge));
            }
            switch.set_entry(u128::from(*case as u64), block);
        }
        let otherwise = self.b.create_block();
        ways.push((otherwise, default));
        switch.emit(self.b, value, otherwise);
        for (block, edge) in ways {
            self.b.switch_to_block(block);
            let (target, args) = self.edge(edge)?;
            self.b.ins().jump(target, &args);
        }
        Ok(())
    }

    // ---- ways out

    /// Returns; the results are in the context.
    pub fn returned(&mut self) {
        self.leave_slots();
        let returned = self.b.ins().iconst(types::I64, status::RETURNED);
        self.b.ins().return_(&[returned]);
    }

    fn trap(&mut self, trap: &Trap) -> Result<(), CodegenError> {
        self.limit(trap.args.len(), MAX_TRAP_ARGS)?;
        let operands: Vec<Operand> = trap.args.iter().map(|(o, _)| *o).collect();
        let values = self.all_values(&operands)?;
        let site = self.unit.sites.lock().trap(TrapSite::new(trap));
        self.trapped(site, &values);
        Ok(())
    }

    /// Leaves with a trap: by the block by which all do, which is given the trap's number.
    fn trapped(&mut self, site: u32, operands: &[ir::Value]) {
        self.store_words(operands, offset::VALUES);
        let out = *self.trapped.get_or_insert_with(|| {
            let block = self.b.create_block();
            self.b.append_block_param(block, types::I64);
            self.b.set_cold_block(block);
            block
        });
        let site = self.b.ins().iconst(types::I64, i64::from(site));
        self.b.ins().jump(out, &[BlockArg::Value(site)]);
    }

    /// Builds the block by which all traps leave, if there are any.
    fn leave_trapped(&mut self) {
        let Some(block) = self.trapped else { return };
        self.b.switch_to_block(block);
        let site = self.b.block_params(block)[0];
        self.store_context(site, offset::TRAP_SITE);
        let trapped = self.b.ins().iconst(types::I64, status::TRAPPED);
        self.b.ins().return_(&[trapped]);
    }
}

/// The blocks that one side of a branch alone leads to: what is branched on, and whether it holds.
fn decided(graph: &Graph) -> FxHashMap<BlockId, (ValueId, bool)> {
    let ways = graph.arrivals();
    let sides = graph.blocks.iter().filter_map(|block| match &block.term {
        Terminator::Branch { cond: Operand::Value(cond), then, otherwise, .. } => {
            Some([(then.block, (*cond, true)), (otherwise.block, (*cond, false))])
        }
        _ => None,
    });
    sides.flatten().filter(|(block, _)| ways[block.index()] == 1).collect()
}

/// The blocks that only one side of a branch leads to, and hardly ever: `likely` says so of the condition, or nothing
/// is done there but to ask whether to trap or to go on where the other side comes to as well. (A test has failed that
/// hardly does; and whether it had to be made is asked now. The optimizer straightens arms so.)
fn unlikely(graph: &Graph) -> FxHashSet<BlockId> {
    let ops = graph.blocks.iter().flat_map(|block| &block.ops).filter(|op| op.opcode == Opcode::Likely);
    let likely: FxHashSet<Operand> = ops.flat_map(|op| op.results.iter().copied().map(Operand::Value)).collect();
    let ways = graph.arrivals();
    let is_trap = |id: BlockId| matches!(graph.block(id).term, Terminator::Trap(_));
    // Of a block that asks whether to trap: where it goes on.
    let asks = |id: BlockId| match &graph.block(id).term {
        Terminator::Branch { then, otherwise, .. } if ways[id.index()] == 1 && graph.block(id).ops.is_empty() => {
            match (traps(graph, then.block), traps(graph, otherwise.block)) {
                (true, false) => Some(otherwise.block),
                (false, true) => Some(then.block),
                _ => None,
            }
        }
        _ => None,
    };
    let comes_to = |id: BlockId, to: BlockId| {
        id == to || matches!(&graph.block(id).term, Terminator::Jump(edge) if edge.block == to)
    };
    let mut rare = FxHashSet::default();
    for block in &graph.blocks {
        let Terminator::Branch { cond, then, otherwise, .. } = &block.term else { continue };
        if likely.contains(cond) && ways[otherwise.block.index()] == 1 {
            rare.insert(otherwise.block);
        }
        for (one, other) in [(then.block, otherwise.block), (otherwise.block, then.block)] {
            if !is_trap(other) && asks(one).is_some_and(|to| comes_to(other, to)) {
                rare.insert(one);
            }
        }
    }
    rare
}

/// Whether a block does little and traps.
fn traps(graph: &Graph, id: BlockId) -> bool {
    match &graph.block(id).term {
        Terminator::Trap(_) => true,
        Terminator::Jump(edge) => matches!(graph.block(edge.block).term, Terminator::Trap(_)),
        _ => false,
    }
}
