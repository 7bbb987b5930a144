//! Functions that are called, and calls.

use super::Source;
use super::build::{Builder, Container, Deps, Shape, Val, union};
use crate::ir::*;

/// A function that may be called.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub key: String,
    pub params: Vec<RustType>,
    pub results: Vec<Scalar>,
    /// Parameters that it asks to be green.
    pub demands: u64,
    /// For each result the parameters that it is computed from.
    pub result_deps: Vec<Deps>,
    pub elidable: bool,
    /// The first parameter counts a recursion down, so it has to be small.
    pub counts_down: bool,
}

/// `&S` and its like.
pub(super) fn reference(name: &str, mutable: bool) -> RustType {
    RustType::Ref { mutable, to: Box::new(RustType::Struct(name.to_owned())) }
}

/// `&[T]` or `&mut [T]`.
pub(super) fn slice(elem: Scalar, mutable: bool) -> RustType {
    RustType::Slice { mutable, elem: Box::new(RustType::Scalar(elem)) }
}

/// A type of a parameter that is a reference.
pub(super) fn any_reference(source: &mut Source<'_>) -> RustType {
    match source.below(7) {
        0 => reference("S", true),
        1 => slice(Scalar::I64, true),
        2 => slice(Scalar::I64, false),
        3 => reference("C", false),
        4 => slice(Scalar::U8, true),
        5 => reference("S", false),
        _ => slice(Scalar::U8, false),
    }
}

fn kind_of(ty: &RustType) -> (Shape, bool) {
    match ty {
        RustType::Ref { to, mutable } if **to == RustType::Struct("C".to_owned()) => (Shape::Cells, *mutable),
        RustType::Ref { mutable, .. } => (Shape::State, *mutable),
        RustType::Slice { elem, mutable } if **elem == RustType::Scalar(Scalar::U8) => (Shape::Bytes, *mutable),
        _ => (Shape::Elements(Scalar::I64), matches!(ty, RustType::Slice { mutable: true, .. })),
    }
}

/// A function of its own, which calls those before it.
pub(super) fn function(
    index: usize,
    source: &mut Source<'_>,
    functions: &[Function],
    data: &[Container],
) -> (Graph, Function) {
    let key = format!("f{index}");
    let flavor = source.below(6);
    let mut builder = Builder::new(&key, source, functions);
    builder.containers.extend(data.iter().cloned());
    let (elidable, recursive) = (flavor == 3, flavor == 4);
    builder.pure = elidable;
    if recursive {
        builder.param(RustType::Scalar(Scalar::I64));
    } else if !elidable && builder.source.chance(1, 2) {
        let ty = any_reference(builder.source);
        builder.param(ty);
    }
    for _ in 0..builder.source.below(3) + 1 {
        let scalar = builder.scalar();
        builder.param(RustType::Scalar(scalar));
    }
    for _ in 0..[1, 1, 2, 3, 0][builder.source.below(5)] {
        let scalar = builder.scalar();
        builder.results.push(scalar);
    }
    match flavor {
        2 => builder.graph.attributes.unroll_safe = true,
        3 => builder.graph.attributes.elidable = true,
        5 => builder.graph.attributes.dont_look_inside = true,
        _ => {}
    }
    let params: Vec<RustType> = builder.graph.signature.params.iter().map(|p| p.ty.clone()).collect();
    if flavor < 3 && builder.source.chance(1, 2) {
        builder.allowed = u64::from(builder.source.byte()) & green_params(&params);
    }
    builder.merge_points = flavor < 3 && builder.source.chance(1, 3);
    if elidable {
        builder.containers.clear();
    }
    builder.budget = 8;
    let mut callable = Function {
        key,
        params,
        results: builder.results.clone(),
        demands: 0,
        result_deps: Vec::new(),
        elidable,
        counts_down: recursive,
    };
    if recursive {
        builder.recursion(&callable);
    } else {
        builder.statements(2);
    }
    builder.return_statement();
    let (graph, demands, returned) = builder.finish();
    callable.demands = demands;
    callable.result_deps = match returned.as_slice() {
        _ if recursive || flavor == 5 => callable.results.iter().map(|_| None).collect(),
        // Several returns are a join.
        [one] => one.clone(),
        _ => callable.results.iter().map(|_| None).collect(),
    };
    (graph, callable)
}

/// The parameters that may be green: all but exclusive references, whose contents are the run's.
pub(super) fn green_params(params: &[RustType]) -> u64 {
    let green = params.iter().enumerate().filter(|(_, ty)| !ty.has_exclusive());
    green.fold(0, |mask, (i, _)| mask | 1 << i)
}

impl Builder<'_, '_> {
    /// `if n <= 0 { return … } …; let y = f(n - 1, …); …`
    fn recursion(&mut self, this: &Function) {
        let n = self.vars[0];
        let done = self.int_op(Opcode::IntLe, n.operand, Operand::int(0));
        let (end, more) = (self.block(), self.block());
        self.branch(done, Edge::new(end, []), Edge::new(more, []));
        self.current = Some(end);
        self.return_statement();
        self.current = Some(more);
        let (pure, budget) = (self.pure, self.budget);
        self.budget = 3;
        self.statements(0);
        let mut args = vec![self.int_op(Opcode::IntSub, n.operand, Operand::int(1))];
        for ty in &this.params[1..] {
            if let RustType::Scalar(scalar) = ty {
                // What isn't counted down has to be red, or each depth would be compiled for a key of its own.
                let val = self.expr(*scalar, 2);
                args.push(self.op1(Opcode::Variable, &[val.operand], scalar.ty()));
            }
        }
        self.emit_call(this, &args, None);
        self.pure = pure;
        self.budget = budget.min(3);
        self.statements(0);
    }

    /// Calls a function; its results are new variables.
    pub fn call_statement(&mut self) {
        // The newest first.
        let index = self.source.below(self.functions.len());
        let Some(function) = self.functions.iter().rev().nth(index) else { return self.libm_call() };
        if self.source.chance(1, 6) {
            return self.libm_call();
        }
        let function = function.clone();
        let mut args: Vec<Operand> = Vec::new();
        let mut deps: Vec<Deps> = Vec::new();
        for (i, ty) in function.params.iter().enumerate() {
            let demanded = function.demands >> i & 1 != 0;
            match ty {
                RustType::Scalar(scalar) => {
                    let mut val = if demanded { self.green_leaf(*scalar) } else { self.expr(*scalar, 1) };
                    if function.counts_down && i == 0 {
                        val = self.small(val, 3);
                    }
                    args.push(val.operand);
                    deps.push(val.deps);
                }
                _ => {
                    let Some(container) = self.argument(ty, demanded) else { return };
                    args.push(container.base);
                    if matches!(ty, RustType::Slice { .. }) {
                        args.push(container.len);
                    }
                    deps.push(container.deps);
                }
            }
        }
        let asked = (0..deps.len()).filter(|i| function.demands >> i & 1 != 0);
        self.demanded |= asked.map(|i| deps[i].unwrap_or_default()).fold(0, |mask, deps| mask | deps);
        self.emit_call(&function, &args, Some(&deps));
    }

    fn emit_call(&mut self, function: &Function, args: &[Operand], deps: Option<&[Deps]>) {
        let opcode = if function.elidable { Opcode::CallElidable } else { Opcode::Call };
        let types: Vec<Type> = function.results.iter().map(|scalar| scalar.ty()).collect();
        let results = self.op_full(opcode, args, Imm::Call(Callee::plain(&function.key)), &types);
        for (i, operand) in results.into_iter().enumerate() {
            let from = match deps {
                // All arguments have to be known for a call to be made while compiling.
                Some(deps) if function.elidable => union(deps.iter().copied()),
                Some(deps) => function.result_deps.get(i).copied().flatten().and_then(|mask| {
                    let used = deps.iter().enumerate().filter(|(i, _)| mask >> i & 1 != 0);
                    union(used.map(|(_, dep)| *dep))
                }),
                None => None,
            };
            self.declare(Val { operand, scalar: function.results[i], deps: from });
        }
    }

    /// A variable that may be asked for, or a constant.
    fn green_leaf(&mut self, scalar: Scalar) -> Val {
        let may = |val: &&Val| val.scalar == scalar && val.deps.is_some_and(|deps| deps & !self.allowed == 0);
        let vars: Vec<Val> = self.vars.iter().filter(may).copied().collect();
        match self.source.pick(&vars) {
            Some(val) => *val,
            None => self.constant(scalar),
        }
    }

    /// A container to pass where a `ty` is asked for.
    fn argument(&mut self, ty: &RustType, demanded: bool) -> Option<Container> {
        let (shape, mutable) = kind_of(ty);
        let fits = |c: &&Container| {
            c.shape == shape
                && (!mutable || c.kind == MemKind::Exclusive)
                && (!demanded || c.deps.is_some_and(|deps| deps & !self.allowed == 0))
        };
        let all: Vec<Container> = self.containers.iter().filter(fits).cloned().collect();
        let index = self.source.below(all.len());
        all.into_iter().rev().nth(index)
    }

    fn libm_call(&mut self) {
        const NAMES: [(&str, Scalar, usize); 5] = [
            ("libm::exp", Scalar::F64, 1),
            ("libm::sin", Scalar::F64, 1),
            ("libm::powf", Scalar::F64, 2),
            ("libm::ln_f32", Scalar::F32, 1),
            ("libm::atan2_f32", Scalar::F32, 2),
        ];
        let (name, scalar, count) = NAMES[self.source.below(NAMES.len())];
        let args: Vec<Val> = (0..count).map(|_| self.expr(scalar, 1)).collect();
        let deps = union(args.iter().map(|val| val.deps));
        let operands: Vec<Operand> = args.iter().map(|val| val.operand).collect();
        let call = Imm::Call(Callee::plain(name));
        let result = self.op_full(Opcode::CallElidable, &operands, call, &[scalar.ty()])[0];
        self.declare(Val { operand: result, scalar, deps });
    }
}
