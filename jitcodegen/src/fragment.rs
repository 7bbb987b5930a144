//! Fragments: exits through cells, entries of other fragments, and the activation frame that they share.
//!
//! A **fragment** is a graph that leaves through exits or enters other graphs. Each exit has a **cell**, whose code
//! pointer first leads to a stub, which returns to the host, and later to a bridge. What is live at an exit is left in
//! the context: code that is never run should ask nothing of the code around it, and to hand values over in registers
//! would be to ask for these registers. A bridge takes its parameters in registers, as others enter it, too; what it is
//! handed over by an exit is loaded on the way to it by an *arrival*, of which there is one for each shape. All exits
//! of a graph leave by one block.
//!
//! Where graphs enter others they go through cells, too, one for each graph that is entered: all of them can be
//! redirected to another graph, with better code for the same state. Jumps between fragments are tail calls, which drop
//! the native stack frame; so local aggregates lie in the *slot stack*, memory of the host's beside the native stack. A
//! plain function takes its part when entered and gives it back when it returns; all fragments of one run share one
//! *activation frame*, which whoever calls the first of them takes and gives back.

use crate::CodegenError;
use crate::abi::{MAX_VALUES, Shape, offset, status};
use crate::function::{Outside, Translator, context_access};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, types};
use flowgraph::ir::{BlockId, Graph, Imm, Opcode, Operand, SlotDesc, Terminator, Type};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many words of cells lie side by side.
const WORDS: usize = 1536;

/// The alignment of local aggregates.
const SLOT_ALIGN: u64 = 16;

/// Whether a graph is a fragment.
pub(crate) fn is_fragment(graph: &Graph) -> bool {
    graph.blocks.iter().any(|b| matches!(b.term, Terminator::Exit { .. } | Terminator::Enter { .. }))
}

/// The words of an exit's cell.
pub(crate) mod exit_cell {
    /// The code that the exit leads to: it is handed the context.
    pub const CODE: usize = 0;
    /// If that is an arrival: the bridge that it goes on to.
    pub const BRIDGE: usize = 1;
    /// The number of the exit's site.
    pub const SITE: usize = 2;
    /// How many there are.
    pub const WORDS: usize = 3;

    /// The offset of a word, in bytes.
    pub const fn offset(word: usize) -> i32 {
        8 * word as i32
    }
}

/// The cells of exits and of graphs that are entered: of the latter a word each, the code pointer. They never move.
#[derive(Default)]
pub(crate) struct Cells {
    chunks: Vec<Box<[AtomicUsize]>>,
    used: usize,
}

impl Cells {
    /// A new cell of a graph that is entered, which leads nowhere yet.
    pub fn of_graph(&mut self) -> usize {
        self.allocate(1)
    }

    /// A new cell of an exit, which leads nowhere yet.
    pub fn of_exit(&mut self, site: u32) -> usize {
        let cell = self.allocate(exit_cell::WORDS);
        self.word(cell + exit_cell::SITE).store(site as usize, Ordering::Relaxed);
        cell
    }

    fn allocate(&mut self, words: usize) -> usize {
        let end = self.chunks.len() * WORDS;
        if self.used + words > end {
            self.chunks.push((0..WORDS).map(|_| AtomicUsize::new(0)).collect());
            self.used = end;
        }
        self.used += words;
        self.used - words
    }

    /// Where generated code finds a cell.
    pub fn address(&self, cell: usize) -> usize {
        std::ptr::from_ref(self.word(cell)) as usize
    }

    /// Whether a cell leads nowhere yet.
    pub fn leads_nowhere(&self, cell: usize) -> bool {
        self.word(cell).load(Ordering::Relaxed) == 0
    }

    /// Points a cell to code.
    pub fn point(&self, cell: usize, code: *const u8) {
        self.word(cell).store(code as usize, Ordering::Release);
    }

    /// Points the cell of an exit to a bridge, by way of an arrival.
    pub fn point_by(&self, cell: usize, arrival: *const u8, bridge: *const u8) {
        self.word(cell + exit_cell::BRIDGE).store(bridge as usize, Ordering::Release);
        self.point(cell + exit_cell::CODE, arrival);
    }

    fn word(&self, word: usize) -> &AtomicUsize {
        &self.chunks[word / WORDS][word % WORDS]
    }
}

/// The cells of graphs that others enter, by name.
#[derive(Default)]
pub(crate) struct Heads {
    cells: FxHashMap<String, usize>,
    /// Those whose cells lead nowhere yet.
    pub new: Vec<String>,
}

impl Heads {
    /// The cell of a graph.
    pub fn cell(&mut self, name: String, cells: &mut Cells) -> usize {
        *self.cells.entry(name).or_insert_with_key(|name| {
            self.new.push(name.clone());
            cells.of_graph()
        })
    }

    /// The cell of a graph, if another one enters it.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.cells.get(name).copied()
    }

    /// Forgets cells that lead nowhere: what enters them has been refused.
    pub fn forget(&mut self, names: &[String]) {
        for name in names {
            self.cells.remove(name);
        }
    }
}

/// Who has which part of an activation frame. Fragments that may run in one activation must share a layout: a clone is
/// the same one.
#[derive(Clone, Debug)]
pub struct FrameLayout(Arc<Mutex<Frame>>);

/// How much of an activation frame has been handed out, and how much there is, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    used: u64,
    limit: u64,
}

impl FrameLayout {
    /// A frame of `limit` bytes, all free.
    pub fn new(limit: u64) -> FrameLayout {
        FrameLayout(Arc::new(Mutex::new(Frame { used: 0, limit })))
    }

    /// Bytes handed out.
    pub fn used(&self) -> u64 {
        self.lock().used
    }

    /// The frame, for who alone hands out parts of it as long as this is held.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Frame> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the local aggregates of one graph lie.
pub(crate) struct SlotPlan {
    /// Offsets by position.
    offsets: FxHashMap<(BlockId, usize), u64>,
    /// Bytes taken from the slot stack when entered; 0 in fragments.
    bytes: u64,
    fragment: bool,
    /// What the offsets count from, once the code that finds it is emitted.
    base: Option<ir::Value>,
}

impl SlotPlan {
    /// Gives each `stack_slot` op of a graph its place.
    pub fn new(graph: &Graph, fragment: bool, frame: &mut Frame) -> Result<SlotPlan, CodegenError> {
        let mut plan = SlotPlan { offsets: FxHashMap::default(), bytes: 0, fragment, base: None };
        let mut at = if fragment { frame.used } else { 0 };
        let mut largest = None;
        for id in graph.block_ids() {
            for (index, op) in graph.block(id).ops.iter().enumerate() {
                if let (Opcode::StackSlot, Imm::Slot(slot)) = (op.opcode, &op.imm) {
                    plan.offsets.insert((id, index), at);
                    if largest.is_none_or(|(other, _): (&SlotDesc, _)| other.size < slot.size) {
                        largest = Some((slot, op.loc));
                    }
                    at += u64::from(slot.size).next_multiple_of(SLOT_ALIGN).max(SLOT_ALIGN);
                }
            }
        }
        if fragment {
            if let (true, Some((slot, loc))) = (at > frame.limit, largest) {
                let (graph, largest) = (graph.key.clone(), slot.name.to_string());
                return Err(CodegenError::FrameFull { graph, largest, loc, needed: at, limit: frame.limit });
            }
            frame.used = at;
        } else {
            plan.bytes = at;
        }
        Ok(plan)
    }
}

impl Translator<'_, '_, '_> {
    /// Takes the function's part of the slot stack.
    pub fn enter_slots(&mut self) {
        if self.slots.offsets.is_empty() {
            return;
        }
        if self.slots.fragment {
            self.slots.base = Some(self.load_context(offset::FRAME));
        } else {
            let bytes = self.slots.bytes;
            self.slots.base = Some(self.take_slots(bytes));
        }
    }

    /// Gives it back.
    pub fn leave_slots(&mut self) {
        if let (false, Some(base)) = (self.slots.fragment, self.slots.base) {
            self.store_context(base, offset::SLOT_TOP);
        }
    }

    /// Takes bytes from the slot stack; traps if it is full.
    fn take_slots(&mut self, bytes: u64) -> ir::Value {
        let base = self.load_context(offset::SLOT_TOP);
        let top = self.b.ins().iadd_imm_s(base, bytes as i64);
        let limit = self.load_context(offset::SLOT_LIMIT);
        let full = self.b.ins().icmp(IntCC::UnsignedGreaterThan, top, limit);
        self.stack_exhausted_if(full);
        self.store_context(top, offset::SLOT_TOP);
        base
    }

    /// The address of the local aggregate made by the op at a position.
    pub fn slot_address(&mut self, block: BlockId, at: usize) -> ir::Value {
        let Some(base) = self.slots.base else { unreachable!("slots have a base when there are any") };
        self.b.ins().iadd_imm_s(base, self.slots.offsets[&(block, at)] as i64)
    }

    /// Takes an activation frame for a fragment about to be called. Gives the words to restore after it.
    pub fn open_activation(&mut self) -> (ir::Value, ir::Value) {
        let outer = self.load_context(offset::FRAME);
        let base = self.take_slots(self.unit.common.frame_bytes);
        self.store_context(base, offset::FRAME);
        (outer, base)
    }

    /// Gives an activation frame back.
    pub fn close_activation(&mut self, (outer, base): (ir::Value, ir::Value)) {
        self.store_context(outer, offset::FRAME);
        self.store_context(base, offset::SLOT_TOP);
    }

    /// Leaves through an exit: through its cell, to the stub or a bridge.
    pub fn exit(&mut self, exit: u32, guard: Operand, args: &[Operand]) -> Result<(), CodegenError> {
        self.limit(args.len(), MAX_VALUES)?;
        if let Outside::Symbols { .. } = self.unit.outside {
            return Err(CodegenError::ExitInObject { graph: self.graph.key.clone(), exit });
        }
        let types: Vec<Type> = args.iter().map(|o| self.graph.ty(*o)).collect();
        let cell = self.unit.sites.lock().exit(self.unit.name, exit, types);
        let guard = self.value(guard)?;
        self.store_context(guard, offset::GUARD);
        self.hand_over(&Shape::Memory, args)?;
        let address = self.b.ins().iconst(types::I64, cell as i64);
        let out = self.way_out();
        self.b.ins().jump(out, &[BlockArg::Value(address)]);
        Ok(())
    }

    /// The block by which all exits leave; it is given the exit's cell.
    fn way_out(&mut self) -> ir::Block {
        *self.way_out.get_or_insert_with(|| {
            let block = self.b.create_block();
            self.b.append_block_param(block, types::I64);
            self.b.set_cold_block(block);
            block
        })
    }

    /// Builds the block by which all exits leave, if there are any.
    pub fn leave(&mut self) {
        let Some(block) = self.way_out else { return };
        self.b.switch_to_block(block);
        let cell = self.b.block_params(block)[0];
        self.store_context(cell, offset::EXIT_CELL);
        self.jump_through(cell, &Shape::Memory, &[self.context]);
    }

    /// Goes on in another graph.
    pub fn enter(&mut self, graph: &str, args: &[Operand]) -> Result<(), CodegenError> {
        let (name, function) = self.meaning(graph)?;
        self.check_types(graph, args, &function.params)?;
        let shape = function.shape();
        let values = self.hand_over(&shape, args)?;
        let heads = match self.unit.outside {
            Outside::Addresses { heads, .. } => heads,
            Outside::Symbols { .. } => {
                let callee = self.callee(&function);
                self.b.ins().return_call(callee, &values);
                return Ok(());
            }
        };
        let Some(cell) = heads.get(&name) else { unreachable!("what is entered has a cell before it is translated") };
        let cell = self.b.ins().iconst(types::I64, *cell as i64);
        self.jump_through(cell, &shape, &values);
        Ok(())
    }

    /// Jumps to what a cell leads to.
    fn jump_through(&mut self, cell: ir::Value, shape: &Shape, values: &[ir::Value]) {
        let code = self.b.ins().load(types::I64, context_access(), cell, exit_cell::offset(exit_cell::CODE));
        let signature = self.b.import_signature(shape.signature());
        self.b.ins().return_call_indirect(signature, code, values);
    }

    /// The arguments of a call, the context first, for values that travel in this shape.
    pub fn hand_over(&mut self, shape: &Shape, args: &[Operand]) -> Result<Vec<ir::Value>, CodegenError> {
        let values = self.all_values(args)?;
        Ok(match shape {
            Shape::Registers(_) => [self.context].into_iter().chain(values).collect(),
            Shape::Memory => {
                self.store_words(&values, offset::VALUES);
                vec![self.context]
            }
        })
    }

    /// Makes of the status of a called fragment that of a finished call: an exit is finished by the host.
    pub fn finish_exit(&mut self, status_word: ir::Value) -> ir::Value {
        let (exited, go_on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(exited);
        let word = self.b.append_block_param(go_on, types::I64);
        let is_exit = self.b.ins().icmp_imm_s(IntCC::Equal, status_word, status::EXITED);
        self.b.ins().brif(is_exit, exited, &[], go_on, &[BlockArg::Value(status_word)]);
        self.b.switch_to_block(exited);
        let finished = self.call_host(offset::FINISH_EXIT, &[]);
        self.b.ins().jump(go_on, &[BlockArg::Value(finished)]);
        self.b.switch_to_block(go_on);
        word
    }
}
