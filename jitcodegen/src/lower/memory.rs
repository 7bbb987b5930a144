//! Memory: loads, stores and local aggregates.
//!
//! Immutability is not told to Cranelift: what is immutable as seen through one reference may, after inlining, be
//! written by the same function through another one.

use crate::CodegenError;
use crate::abi::offset;
use crate::function::Translator;
use crate::sites::TrapSite;
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, Value, types};
use flowgraph::ir::{Access, BlockId, Imm, MemDesc, Op, Opcode};

/// Local aggregates up to this size are cleared in line.
const CLEARED_IN_LINE: u32 = 128;

fn flags(op: &Op, access: Access) -> MemFlagsData {
    let flags = MemFlagsData::new().with_notrap();
    if op.opcode == Opcode::RawLoad || op.opcode == Opcode::RawStore || access.size() == 1 {
        flags
    } else {
        flags.with_aligned()
    }
}

/// The type of integers that fit an access.
fn narrow(access: Access) -> ir::Type {
    match access.size() {
        1 => types::I8,
        2 => types::I16,
        4 => types::I32,
        _ => types::I64,
    }
}

/// The low bits of a constant that fit an access, the others being 0.
fn truncated(constant: i64, access: Access) -> i64 {
    match access.size() {
        8.. => constant,
        bytes => constant & ((1 << (8 * bytes)) - 1),
    }
}

impl Translator<'_, '_, '_> {
    /// The descriptor of a memory op, and the address that its offset counts from. It is checked where that is asked
    /// for.
    fn place<'o>(&mut self, op: &'o Op) -> Result<(&'o MemDesc, Value), CodegenError> {
        let (desc, base) = self.container(op)?;
        if self.unit.common.checks_accesses {
            let address = self.b.ins().iadd_imm_s(base, i64::from(desc.offset));
            let bytes = self.b.ins().iconst(types::I64, i64::from(desc.access.size()));
            let site = self.unit.sites.lock().trap(TrapSite::host_failed(op.loc));
            let site = self.b.ins().iconst(types::I64, i64::from(site));
            let status = self.call_host(offset::CHECK_ACCESS, &[address, bytes, site]);
            self.leave_unless_returned(status);
        }
        Ok((desc, base))
    }

    fn container<'o>(&mut self, op: &'o Op) -> Result<(&'o MemDesc, Value), CodegenError> {
        let Some(desc) = op.mem() else { unreachable!("a verified memory op has a descriptor") };
        let base = self.value(op.args[0])?;
        let scale = match op.opcode {
            Opcode::Getarrayitem | Opcode::Setarrayitem => i64::from(desc.stride),
            Opcode::RawLoad | Opcode::RawStore => 1,
            _ => 0,
        };
        if scale == 0 {
            return Ok((desc, base));
        }
        let index = self.value(op.args[1])?;
        let distance = match scale {
            1 => index,
            n if n.count_ones() == 1 => self.b.ins().ishl_imm_u(index, i64::from(n.trailing_zeros())),
            n => return Ok((desc, self.element(base, index, n))),
        };
        Ok((desc, self.b.ins().iadd(base, distance)))
    }

    /// The address of an element, of a size that no addressing mode can multiply by: once for all accesses of a block.
    fn element(&mut self, base: Value, index: Value, size: i64) -> Value {
        let block = self.b.current_block();
        match self.elements.get(&(base, index, size)) {
            Some((known_in, address)) if *known_in == block => *address,
            _ => {
                let distance = self.b.ins().imul_imm_s(index, size);
                let address = self.b.ins().iadd(base, distance);
                self.elements.insert((base, index, size), (block, address));
                address
            }
        }
    }

    /// A load.
    pub fn load(&mut self, op: &Op) -> Result<(), CodegenError> {
        let (desc, base) = self.place(op)?;
        let (flags, at) = (flags(op, desc.access), desc.offset);
        let ins = self.b.ins();
        let result = match desc.access {
            Access::I8 => ins.sload8(types::I64, flags, base, at),
            Access::U8 | Access::Bool => ins.uload8(types::I64, flags, base, at),
            Access::I16 => ins.sload16(types::I64, flags, base, at),
            Access::U16 => ins.uload16(types::I64, flags, base, at),
            Access::I32 => ins.sload32(flags, base, at),
            Access::U32 => ins.uload32(flags, base, at),
            Access::I64 => ins.load(types::I64, flags, base, at),
            Access::F64 => ins.load(types::F64, flags, base, at),
            Access::F32 => ins.load(types::F32, flags, base, at),
        };
        self.define(op.results[0], result);
        Ok(())
    }

    /// A store.
    pub fn store(&mut self, op: &Op) -> Result<(), CodegenError> {
        let (desc, base) = self.place(op)?;
        let (flags, at) = (flags(op, desc.access), desc.offset);
        let stored = op.args[op.args.len() - 1];
        if let Some(constant) = stored.as_int() {
            // A constant of the access' own width is part of the instruction.
            let value = self.b.ins().iconst(narrow(desc.access), truncated(constant, desc.access));
            self.b.ins().store(flags, value, base, at);
            return Ok(());
        }
        let value = self.value(stored)?;
        let ins = self.b.ins();
        match desc.access {
            Access::I8 | Access::U8 | Access::Bool => ins.istore8(flags, value, base, at),
            Access::I16 | Access::U16 => ins.istore16(flags, value, base, at),
            Access::I32 | Access::U32 => ins.istore32(flags, value, base, at),
            Access::I64 | Access::F64 | Access::F32 => ins.store(flags, value, base, at),
        };
        Ok(())
    }

    /// A local aggregate: its place is fixed, its bytes are cleared every time the op runs.
    pub fn stack_slot(&mut self, op: &Op, block: BlockId, at: usize) -> Result<(), CodegenError> {
        let Imm::Slot(slot) = &op.imm else { unreachable!("a verified stack slot has a size") };
        let address = self.slot_address(block, at);
        if slot.size <= CLEARED_IN_LINE {
            let zero = self.b.ins().iconst(types::I64, 0);
            // Slots are sixteen bytes apart, so that clearing whole words never reaches another one.
            for word in 0..slot.size.div_ceil(8) {
                self.b.ins().store(MemFlagsData::trusted(), zero, address, 8 * word as i32);
            }
        } else {
            self.clear(address, i64::from(slot.size));
        }
        self.define(op.results[0], address);
        Ok(())
    }

    fn clear(&mut self, address: Value, bytes: i64) {
        let signature = crate::abi::host_signature(self.host_convention(), &[types::I64; 2], &[]);
        let signature = self.b.import_signature(signature);
        let function: ir::Value = self.load_context(offset::CLEAR);
        let bytes = self.b.ins().iconst(types::I64, bytes);
        self.b.ins().call_indirect(signature, function, &[address, bytes]);
    }
}
