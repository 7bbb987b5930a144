//! Calls: of other graphs, of the mathematics library, of what the host registered, and of the host at merge points.

use crate::CodegenError;
use crate::abi::{self, HAS_FAILED, MAX_VALUES, Shape, clif_type, hook, offset, status};
use crate::function::{Function, Outside, Translator};
use crate::helpers::{self, Direct};
use crate::sites::{MergeSite, TrapSite};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, StackSlotData, StackSlotKind, Value, types};
use flowgraph::ir::{BlockId, Loc, Op, Operand, Type};
use flowgraph::math;

impl Translator<'_, '_, '_> {
    /// The compiled graph that this key means here.
    pub fn function(&self, key: &str) -> Result<Function, CodegenError> {
        self.meaning(key).map(|(_, function)| function)
    }

    /// The compiled graph that this key means here, with its name.
    pub fn meaning(&self, key: &str) -> Result<(String, Function), CodegenError> {
        let compiled = |name: String| self.unit.functions.get(&name).cloned().map(|function| (name, function));
        self.unit
            .tier
            .meanings(key)
            .find_map(compiled)
            .ok_or_else(|| CodegenError::UnknownCallee { graph: self.graph.key.clone(), callee: key.to_owned() })
    }

    /// Checks arguments against parameters.
    pub fn check_types(&self, callee: &str, args: &[Operand], params: &[Type]) -> Result<(), CodegenError> {
        let fits = args.len() == params.len() && args.iter().zip(params).all(|(a, p)| self.graph.ty(*a) == *p);
        if fits {
            return Ok(());
        }
        Err(CodegenError::CallTypes { graph: self.graph.key.clone(), callee: callee.to_owned() })
    }

    fn check_results(&self, callee: &str, op: &Op, results: &[Type]) -> Result<(), CodegenError> {
        let own = op.results.iter().map(|v| self.graph.values[v.index()].ty);
        if own.eq(results.iter().copied()) {
            return Ok(());
        }
        Err(CodegenError::CallTypes { graph: self.graph.key.clone(), callee: callee.to_owned() })
    }

    /// A call.
    pub fn call(&mut self, op: &Op) -> Result<(), CodegenError> {
        let Some(callee) = op.callee() else { unreachable!("a verified call has a callee") };
        if self.unit.helpers.contains_key(&*callee.name) {
            return self.call_helper(op, &callee.name);
        }
        if let Some(name) = callee.libm() {
            return self.call_libm(op, name);
        }
        let function = self.function(&callee.name)?;
        self.check_types(&callee.name, &op.args, &function.params)?;
        self.check_results(&callee.name, op, &function.results)?;
        let args = self.hand_over(&function.shape(), &op.args)?;
        let activation = function.fragment.then(|| self.open_activation());
        let target = self.callee(&function);
        let call = self.b.ins().call(target, &args);
        let mut status = self.b.inst_results(call)[0];
        if let Some(activation) = activation {
            status = self.finish_exit(status);
            self.close_activation(activation);
        }
        self.results_of_call(op, status);
        Ok(())
    }

    /// Leaves with a status other than "returned"; else reads the results.
    fn results_of_call(&mut self, op: &Op, status: Value) {
        self.leave_unless_returned(status);
        for (i, result) in op.results.iter().enumerate() {
            let value = self.load_word(self.graph.values[result.index()].ty, offset::RESULTS, i);
            self.define(*result, value);
        }
    }

    /// Leaves with a status other than "returned".
    pub fn leave_unless_returned(&mut self, status: Value) {
        let failed = self.failed_block();
        let go_on = self.b.create_block();
        self.b.ins().brif(status, failed, &[BlockArg::Value(status)], go_on, &[]);
        self.b.switch_to_block(go_on);
    }

    /// A call of a function that the host registered.
    fn call_helper(&mut self, op: &Op, name: &str) -> Result<(), CodegenError> {
        let Some((index, _, helper)) = self.unit.helpers.get_full(name) else {
            unreachable!("the helper was there a moment ago")
        };
        let helper = helper.clone();
        self.check_types(name, &op.args, &helper.params)?;
        self.check_results(name, op, &helper.results)?;
        self.limit(op.args.len().max(op.results.len()), MAX_VALUES)?;
        if let (Some(direct), Outside::Addresses { .. }) = (helper.direct, &self.unit.outside) {
            return self.call_as_it_is(op, direct as usize);
        }
        self.hand_over(&Shape::Memory, &op.args)?;
        let status = self.ask_for_helper(index as u64, op.loc);
        self.results_of_call(op, status);
        Ok(())
    }

    /// Has the host call the function of this number.
    fn ask_for_helper(&mut self, index: u64, loc: Loc) -> Value {
        let site = self.unit.sites.lock().trap(TrapSite::host_failed(loc));
        let index = self.b.ins().iconst(types::I64, index as i64);
        let site = self.b.ins().iconst(types::I64, i64::from(site));
        self.call_host(offset::CALL_HELPER, &[index, site])
    }

    /// A call of a function at this address that takes words from memory, and leaves its results behind them: no memory
    /// of the context's, since the function may enter generated code.
    fn call_as_it_is(&mut self, op: &Op, address: usize) -> Result<(), CodegenError> {
        let bytes = |words: usize| 8 * words as u32;
        let (params, words) = (bytes(op.args.len()), bytes(op.args.len() + op.results.len()));
        let new = || StackSlotData::new(StackSlotKind::ExplicitSlot, words, 3);
        let slot = *self.handed.get_or_insert_with(|| self.b.create_sized_stack_slot(new()));
        let size = &mut self.b.func.sized_stack_slots[slot].size;
        *size = words.max(*size);
        for (i, value) in self.all_values(&op.args)?.into_iter().enumerate() {
            let word = self.word(value);
            self.b.ins().stack_store(types::I64, word, slot, bytes(i) as i32);
        }
        let given = self.b.ins().stack_addr(types::I64, slot, 0);
        let wanted = self.b.ins().stack_addr(types::I64, slot, params as i32);
        let signature = abi::host_signature(self.host_convention(), &[types::I64; 2], &[types::I64]);
        let call = self.call_outside("", address, signature, &[given, wanted])?;
        let status = self.b.inst_results(call)[0];

        let (failed, go_on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(failed);
        self.b.ins().brif(status, failed, &[], go_on, &[]);
        self.b.switch_to_block(failed);
        let status = self.ask_for_helper(HAS_FAILED, op.loc);
        let leave = self.failed_block();
        self.b.ins().jump(leave, &[BlockArg::Value(status)]);

        self.b.switch_to_block(go_on);
        for (i, result) in op.results.iter().enumerate() {
            let ty = clif_type(self.graph.values[result.index()].ty);
            let value = self.b.ins().stack_load(types::I64, ty, slot, (params + bytes(i)) as i32);
            self.define(*result, value);
        }
        Ok(())
    }

    /// A call of a function of the mathematics library.
    fn call_libm(&mut self, op: &Op, name: &str) -> Result<(), CodegenError> {
        let function = math::function(name).ok_or_else(|| CodegenError::UnknownCallee {
            graph: self.graph.key.clone(),
            callee: format!("libm::{name}"),
        })?;
        self.check_types(name, &op.args, function.params())?;
        self.check_results(name, op, &[function.result()])?;
        let symbol = match (&self.unit.outside, helpers::exact_symbol(name)) {
            (Outside::Addresses { .. }, _) => name,
            (Outside::Symbols { .. }, Some(symbol)) => symbol,
            (Outside::Symbols { .. }, None) => {
                // The target's own library need not give the same bits.
                let (graph, function, loc) = (self.graph.key.clone(), name.to_owned(), op.loc);
                return Err(CodegenError::NotStandalone { graph, function, loc });
            }
        };
        self.direct(op, symbol, function.into())
    }

    /// An op that is a call of a function which does nothing else than it.
    pub fn support(&mut self, op: &Op, name: &str) -> Result<(), CodegenError> {
        let Some(function) = helpers::support(name) else { unreachable!("{name} is one of the support functions") };
        self.direct(op, name, function)
    }

    fn direct(&mut self, op: &Op, symbol: &str, function: Direct) -> Result<(), CodegenError> {
        let args = self.all_values(&op.args)?;
        let params: Vec<_> = function.params.iter().map(|ty| clif_type(*ty)).collect();
        let signature = abi::host_signature(self.host_convention(), &params, &[clif_type(function.result)]);
        let call = self.call_outside(symbol, function.address, signature, &args)?;
        let value = self.b.inst_results(call)[0];
        self.define(op.results[0], value);
        Ok(())
    }

    /// A merge point of a portal: the host sees all of the portal's values, and says how to go on, unless it is to be
    /// gone by.
    pub fn merge_point(&mut self, op: &Op, block: BlockId) -> Result<(), CodegenError> {
        if !self.unit.tier.merge_points || op.args.is_empty() {
            return Ok(());
        }
        self.limit(op.args.len(), MAX_VALUES)?;
        let types: Vec<Type> = op.args.iter().map(|a| self.graph.ty(*a)).collect();
        let (ask, pass, behind) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let left = self.load_context(offset::MERGE_POINTS_LEFT);
        self.b.ins().brif(left, pass, &[], ask, &[]);

        self.b.switch_to_block(pass);
        let less = self.b.ins().iadd_imm_s(left, -1);
        self.store_context(less, offset::MERGE_POINTS_LEFT);
        let values = self.all_values(&op.args)?;
        self.b.ins().jump(behind, &values.into_iter().map(BlockArg::Value).collect::<Vec<_>>());

        self.b.switch_to_block(ask);
        self.hand_over(&Shape::Memory, &op.args)?;
        let site = self.unit.sites.lock().merge(MergeSite {
            graph: self.unit.name.to_owned(),
            block,
            types: types.clone(),
            results: self.graph.results.clone(),
        });
        let site = self.b.ins().iconst(types::I64, i64::from(site));
        let answer = self.call_host(offset::MERGE_POINT, &[site]);
        let (leave, go_on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(leave);
        self.b.ins().brif(answer, leave, &[], go_on, &[]);

        self.b.switch_to_block(leave);
        let (returned, trapped) = (self.b.create_block(), self.failed_block());
        let trapped_status = self.b.ins().iconst(types::I64, status::TRAPPED);
        let is_return = self.b.ins().icmp_imm_s(IntCC::Equal, answer, hook::RETURN);
        self.b.ins().brif(is_return, returned, &[], trapped, &[BlockArg::Value(trapped_status)]);
        self.b.set_cold_block(returned);
        self.b.switch_to_block(returned);
        self.returned();

        self.b.switch_to_block(go_on);
        let reloaded = types.iter().enumerate().map(|(i, ty)| BlockArg::Value(self.load_word(*ty, offset::VALUES, i)));
        let reloaded: Vec<BlockArg> = reloaded.collect();
        self.b.ins().jump(behind, &reloaded);

        self.b.switch_to_block(behind);
        for (arg, ty) in op.args.iter().zip(types) {
            let param = self.b.append_block_param(behind, clif_type(ty));
            if let Some(value) = arg.value() {
                self.redefine(value, param);
            }
        }
        Ok(())
    }
}
