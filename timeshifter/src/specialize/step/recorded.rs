//! What an author says of results and values (`record_known_result!`, `record_exact_value!`).
//!
//! A result that is said is remembered as one that has been computed: a call that asks for it again finds it, as it
//! finds the result of an equal call. It is said in the residual graph, too, for the optimizer, which sees more of it
//! at once, and takes it out in the end. Nothing of this is part of snapshots.
//!
//! Where hints are checked ([`Settings::check_hints`](crate::specialize::Settings::check_hints)) a call of a graph that
//! is made for the place comes before: now and then that calls the function, and traps if it gives something else.

use crate::specialize::engine::Engine;
use crate::specialize::error::SpecError;
use crate::specialize::residual::SameOp;
use crate::specialize::state::{Red, State};
use crate::specialize::step::fold::red_of;
use crate::specialize::step::malformed;
use flowgraph::ir::{
    Attributes, BlockId, Callee, Edge, Graph, Imm, Loc, Op, Opcode, Operand, Param, RustType, Scalar, Signature,
    Terminator, Time, Trap, TrapKind, Type,
};
use smallvec::SmallVec;

/// The function that says whether to look now: 1, or 0.
pub const LOOK_AT_HINT: &str = "hueshift::look_at_hint";

/// The graph of that function, which the host carries out.
pub(crate) fn look_at_hint() -> Graph {
    let mut graph = Graph::new(LOOK_AT_HINT, Signature { params: Vec::new(), result: RustType::Scalar(Scalar::I64) });
    graph.results = vec![Type::Int];
    graph.attributes = Attributes { dont_look_inside: true, ..Attributes::default() };
    graph
}

impl Engine<'_> {
    /// From here on a function gives this for these arguments.
    pub(crate) fn record_known_result(&mut self, st: &mut State, op: &Op, args: &[Red]) -> Result<(), SpecError> {
        let function = op.recorded().ok_or_else(|| malformed(op))?.clone();
        // Nobody calls it, or what is handed over is in nobody's hands yet, or may be written.
        let Some(target) = self.program.module.graphs.get(&*function.name) else { return Ok(()) };
        let Some(graph) = self.program.find(&function.name) else { return Ok(()) };
        let results = target.results.len();
        let given = args.get(results..).ok_or_else(|| malformed(op))?;
        let Some(operands) = operands(args).filter(|_| self.lasts(st, graph, given)) else { return Ok(()) };
        let given = &operands[results..];
        if self.settings.check_hints {
            let text = format!("the result of `{}` was said to be {{:?}}, but it is {{:?}}", target.function);
            self.functions.as_they_are.insert(target.key.clone());
            self.check_hint(st, op, &operands, Some(&function.name), text)?;
        }
        if given.iter().all(|operand| operand.constant().is_some()) {
            return Ok(()); // such a call is folded
        }
        let fragment = &mut self.fragments[st.fragment];
        let imm = Imm::Call(Callee::plain(&function.name));
        fragment.push(st.block, op.opcode, &operands, imm.clone(), &[], op.loc);
        fragment.remember(st.block, SameOp { opcode: Opcode::CallElidable, args: given, imm: &imm });
        Ok(())
    }

    /// From here on a value is a constant.
    pub(crate) fn record_exact_value(&mut self, st: &mut State, op: &Op, args: &[Red]) -> Result<(), SpecError> {
        let [value, exact] = args else { return Err(malformed(op)) };
        if self.settings.check_hints
            && let Some(operands) = operands(&[*exact, *value])
        {
            self.check_hint(st, op, &operands, None, "a value was said to be {:?}, but it is {:?}".to_owned())?;
        }
        if let Red::Const(constant) = exact {
            self.learn_equal(st, *value, *constant);
        }
        Ok(())
    }

    /// Calls what looks whether a hint is true.
    fn check_hint(
        &mut self,
        st: &mut State,
        op: &Op,
        operands: &[Operand],
        function: Option<&str>,
        text: String,
    ) -> Result<(), SpecError> {
        self.flush_outside(st, op.loc)?; // what was stored before a trap must be home
        self.quiet_steps = 0;
        // More than one thing may be said at one place.
        let of = function.unwrap_or_default();
        let key = format!("hint {of}@{}:{}:{}", op.loc.file.0, op.loc.line, op.loc.column);
        if !self.hint_checks.contains_key(&key) {
            let types: Vec<Type> = operands.iter().map(|operand| self.type_of(st, red_of(*operand))).collect();
            let scalar = match (function, &op.imm) {
                (None, Imm::Scalar(scalar)) => Some(*scalar),
                (None, _) => None,
                (Some(name), _) => match self.program.module.graphs.get(name).map(|graph| &graph.signature.result) {
                    Some(RustType::Scalar(scalar)) => Some(*scalar),
                    _ => None,
                },
            };
            let graph = check(&key, &types, function, scalar, text, op.loc);
            self.hint_checks.insert(key.clone(), graph);
        }
        self.fragments[st.fragment].push(st.block, Opcode::Call, operands, Imm::Call(Callee::plain(&key)), &[], op.loc);
        st.snapshot = None;
        Ok(())
    }
}

/// Reds that are no slots as operands.
fn operands(reds: &[Red]) -> Option<SmallVec<[Operand; 4]>> {
    let operand = |red: &Red| match *red {
        Red::Const(constant) => Some(Operand::Const(constant)),
        Red::Value(value) => Some(Operand::Value(value)),
        Red::Slot(..) => None,
    };
    reds.iter().map(operand).collect()
}

/// A function that looks now and then whether what was said first is what a function gives for the rest, or the second
/// operand.
fn check(key: &str, types: &[Type], function: Option<&str>, scalar: Option<Scalar>, text: String, loc: Loc) -> Graph {
    let rust = |ty: &Type| match ty {
        Type::Int => scalar.filter(|scalar| scalar.ty() == Type::Int).unwrap_or(Scalar::I64),
        Type::Float => Scalar::F64,
        Type::Single => Scalar::F32,
    };
    let param = |(at, ty): (usize, &Type)| Param { name: format!("v{at}"), ty: RustType::Scalar(rust(ty)) };
    let params: Vec<Param> = types.iter().enumerate().map(param).collect();
    let mut graph = Graph::new(key, Signature { params: params.clone(), result: RustType::Unit });
    graph.params = params.into_iter().map(|param| param.name).collect();
    graph.loc = loc;
    let values: Vec<Operand> = types.iter().map(|ty| Operand::Value(graph.new_value(*ty))).collect();
    let entry = graph.new_block();
    graph.block_mut(entry).params = values.iter().filter_map(|value| value.value()).collect();
    let (looks, wrong, done) = (graph.new_block(), graph.new_block(), graph.new_block());
    let look = op(&mut graph, entry, Opcode::Call, &[], Imm::Call(Callee::plain(LOOK_AT_HINT)), Type::Int, loc);
    let is = match function {
        Some(name) => {
            op(&mut graph, looks, Opcode::CallElidable, &values[1..], Imm::Call(Callee::plain(name)), types[0], loc)
        }
        None => values[1],
    };
    let same = same(&mut graph, looks, types[0], values[0], is, loc);
    let branch = |cond, then, otherwise| Terminator::Branch {
        cond,
        then: Edge::new(then, []),
        otherwise: Edge::new(otherwise, []),
        time: Time::Now,
    };
    graph.block_mut(entry).term = branch(look, looks, done);
    graph.block_mut(looks).term = branch(same, done, wrong);
    let shown = vec![(values[0], rust(&types[0])), (is, rust(&types[0]))];
    let trap = Trap { kind: TrapKind::Assert, message: Some(text), args: shown, loc };
    graph.block_mut(wrong).term = Terminator::Trap(trap);
    graph.block_mut(wrong).loc = loc;
    graph.block_mut(done).term = Terminator::Return(Vec::new());
    graph
}

/// Whether two values are the same: floats by their bits, but all NaNs are one.
fn same(graph: &mut Graph, block: BlockId, ty: Type, a: Operand, b: Operand, loc: Loc) -> Operand {
    let (bits, unequal) = match ty {
        Type::Int => return op(graph, block, Opcode::IntEq, &[a, b], Imm::None, Type::Int, loc),
        Type::Float => (Opcode::FloatToBits, Opcode::FloatNe),
        Type::Single => (Opcode::SingleToBits, Opcode::SingleNe),
    };
    let mut int = |opcode, args: &[Operand]| op(graph, block, opcode, args, Imm::None, Type::Int, loc);
    let [of_a, of_b] = [a, b].map(|x| int(bits, &[x]));
    let equal = int(Opcode::IntEq, &[of_a, of_b]);
    let [nan_a, nan_b] = [a, b].map(|x| int(unequal, &[x, x]));
    let nans = int(Opcode::IntAnd, &[nan_a, nan_b]);
    int(Opcode::IntOr, &[equal, nans])
}

fn op(graph: &mut Graph, block: BlockId, opcode: Opcode, args: &[Operand], imm: Imm, ty: Type, loc: Loc) -> Operand {
    let value = graph.new_value(ty);
    let op = Op { opcode, args: args.into(), results: [value].into_iter().collect(), imm, time: Time::Now, loc };
    graph.block_mut(block).ops.push(op);
    Operand::Value(value)
}
