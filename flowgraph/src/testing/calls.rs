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

/// What is special about a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flavor {
    Plain,
    UnrollSafe,
    Elidable,
    Recursive,
    Opaque,
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
pub(super) fn any_reference(source: &mut Source<'_>, holders: bool) -> RustType {
    match source.below(if holders { 20 } else { 17 }) {
        0 => reference("S", true),
        1 => slice(Scalar::I64, true),
        2 => slice(Scalar::I64, false),
        3 | 4 => reference("C", false),
        5 | 16 => slice(Scalar::U8, true),
        6 => reference("S", false),
        7 => slice(Scalar::U8, false),
        n @ 8..=15 => {
            const ELEMENTS: [Scalar; 4] = [Scalar::F64, Scalar::I32, Scalar::F32, Scalar::U16];
            slice(ELEMENTS[source.below(ELEMENTS.len())], n % 2 == 0)
        }
        _ => reference("H", false),
    }
}

fn kind_of(ty: &RustType) -> (Shape, bool) {
    match ty {
        RustType::Ref { to, mutable } => (Shape::of_struct(to), *mutable),
        RustType::Slice { elem, mutable } => (Shape::of_elements(elem), *mutable),
        _ => (Shape::State, false),
    }
}

/// A function of its own, which calls those before it; and its other half, if it is one of two that call each other.
pub(super) fn function(
    index: usize,
    source: &mut Source<'_>,
    functions: &[Function],
    data: &[Container],
    holders: bool,
) -> (Vec<Graph>, Function) {
    use Flavor::{Elidable, Opaque, Plain, Recursive, UnrollSafe};
    let flavor = [Plain, Plain, UnrollSafe, Elidable, Recursive, Opaque, Recursive, Plain][source.below(8)];
    let mut params = Vec::new();
    if flavor == Recursive {
        params.push(RustType::Scalar(Scalar::I64));
    }
    if flavor != Elidable && source.chance(2, 3) {
        params.push(any_reference(source, holders));
        if flavor != Recursive && source.chance(1, 2) {
            params.push(any_reference(source, holders));
        }
    }
    let mut scratch = Builder::new("", source, functions);
    for _ in 0..scratch.source.below(3) + 1 {
        params.push(RustType::Scalar(scratch.scalar()));
    }
    let results = (0..[1, 1, 2, 3, 0][scratch.source.below(5)]).map(|_| scratch.scalar()).collect();
    let mut callable = Function {
        key: format!("f{index}"),
        params,
        results,
        demands: 0,
        result_deps: Vec::new(),
        elidable: flavor == Elidable,
        counts_down: flavor == Recursive,
    };
    if flavor == Recursive {
        // Either counts down a number that it asks to know.
        callable.demands = u64::from(source.chance(1, 3));
        if source.chance(1, 3) {
            let other = Function { key: format!("f{index}b"), ..callable.clone() };
            let (first, _) = body(source, functions, data, flavor, &callable, &other, holders);
            let (second, _) = body(source, functions, data, flavor, &other, &callable, holders);
            callable.result_deps = callable.results.iter().map(|_| None).collect();
            return (vec![first, second], callable);
        }
    }
    let (graph, done) = body(source, functions, data, flavor, &callable, &callable, holders);
    (vec![graph], done)
}

/// The graph of `this`, which, if it is recursive, calls `next`.
fn body(
    source: &mut Source<'_>,
    functions: &[Function],
    data: &[Container],
    flavor: Flavor,
    this: &Function,
    next: &Function,
    holders: bool,
) -> (Graph, Function) {
    let mut builder = Builder::new(&this.key, source, functions);
    builder.holders = holders;
    if flavor != Flavor::Elidable {
        builder.containers.extend(data.iter().cloned());
    }
    this.params.iter().for_each(|ty| builder.param(ty.clone()));
    builder.results.clone_from(&this.results);
    builder.pure = flavor == Flavor::Elidable;
    let attributes = &mut builder.graph.attributes;
    match flavor {
        Flavor::UnrollSafe => attributes.unroll_safe = true,
        Flavor::Elidable => attributes.elidable = true,
        Flavor::Opaque => attributes.dont_look_inside = true,
        Flavor::Plain | Flavor::Recursive => {}
    }
    let plain = matches!(flavor, Flavor::Plain | Flavor::UnrollSafe);
    if plain && builder.source.chance(1, 2) {
        builder.allowed = u64::from(builder.source.byte()) & green_params(&this.params);
    }
    builder.merge_points = plain && builder.source.chance(2, 3);
    builder.budget = 14;
    if flavor == Flavor::Recursive {
        builder.demanded = this.demands;
        builder.recursion(next);
    } else {
        // What has a loop that no green ends is called, and its loop's body compiled once and again.
        if flavor == Flavor::Plain && builder.source.chance(2, 3) {
            builder.red_loop(2);
        }
        builder.statements(2);
    }
    builder.return_statement();
    let (graph, demands, returned) = builder.finish();
    let result_deps = match returned.as_slice() {
        // Several returns are a join.
        [one] if !matches!(flavor, Flavor::Recursive | Flavor::Opaque) => one.clone(),
        _ => this.results.iter().map(|_| None).collect(),
    };
    (graph, Function { demands, result_deps, ..this.clone() })
}

/// The parameters that may be green: all but exclusive references, whose contents are the run's.
pub(super) fn green_params(params: &[RustType]) -> u64 {
    let green = params.iter().enumerate().filter(|(_, ty)| !ty.has_exclusive());
    green.fold(0, |mask, (i, _)| mask | 1 << i)
}

impl Builder<'_, '_> {
    /// `if n <= 0 { return … } …; let y = next(n - 1, …); …`
    fn recursion(&mut self, next: &Function) {
        let mut n = self.vars[0];
        // The reference, if there is one, comes behind the data.
        let reference = next.params.iter().any(|ty| !matches!(ty, RustType::Scalar(_)));
        let reference = self.containers.last().filter(|_| reference).cloned();
        if next.demands & 1 != 0 {
            n.operand = self.op1(Opcode::Concrete, &[n.operand], Type::Int);
        }
        let done = self.int_op(Opcode::IntLe, n.operand, Operand::int(0));
        let (end, more) = (self.block(), self.block());
        self.branch(done, Edge::new(end, []), Edge::new(more, []));
        self.current = Some(end);
        self.return_statement();
        self.current = Some(more);
        let (pure, budget) = (self.pure, self.budget);
        self.budget = 3;
        self.statements(0);
        if self.current.is_none() {
            return;
        }
        let mut args = vec![self.int_op(Opcode::IntSub, n.operand, Operand::int(1))];
        for ty in &next.params[1..] {
            match (ty, &reference) {
                (RustType::Scalar(scalar), _) => {
                    // What isn't counted down has to be red, or each depth would be compiled for a key of its own.
                    let val = self.expr(*scalar, 2);
                    args.push(self.op1(Opcode::Variable, &[val.operand], scalar.ty()));
                }
                (ty, Some(container)) => {
                    args.push(container.base);
                    if matches!(ty, RustType::Slice { .. }) {
                        args.push(container.len);
                    }
                }
                _ => {}
            }
        }
        self.emit_call(next, &args, None);
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
        // What is pure can be called while compiling, if all it is given is known.
        let greens = self.source.chance(1, if function.elidable { 2 } else { 3 });
        let mut args: Vec<Operand> = Vec::new();
        let mut deps: Vec<Deps> = Vec::new();
        let mut handed_over: Vec<(Operand, bool)> = Vec::new();
        for (i, ty) in function.params.iter().enumerate() {
            let demanded = function.demands >> i & 1 != 0;
            match ty {
                RustType::Scalar(scalar) => {
                    let mut val = if demanded || greens { self.green_leaf(*scalar) } else { self.expr(*scalar, 1) };
                    if function.counts_down && i == 0 {
                        val = self.small(val, 3);
                    }
                    args.push(val.operand);
                    deps.push(val.deps);
                }
                _ => {
                    let Some(container) = self.argument(ty, demanded) else { return };
                    // What is handed over to be changed is handed over once.
                    let mutable = kind_of(ty).1;
                    if handed_over.iter().any(|(base, other)| *base == container.base && (mutable || *other)) {
                        return;
                    }
                    handed_over.push((container.base, mutable));
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
        let results = self.vars.len() - function.results.len()..self.vars.len();
        if self.source.chance(1, if function.elidable { 2 } else { 3 }) {
            let which = results.start + self.source.below(results.len());
            self.concrete_at(which);
        }
    }

    fn emit_call(&mut self, function: &Function, args: &[Operand], deps: Option<&[Deps]>) {
        let opcode = if function.elidable { Opcode::CallElidable } else { Opcode::Call };
        let types: Vec<Type> = function.results.iter().map(|scalar| scalar.ty()).collect();
        let results = self.op_full(opcode, args, Imm::Call(Callee::plain(&function.key)), &types);
        if function.elidable && self.source.chance(1, 2) {
            // What a call has given it would give again.
            let known: Vec<Operand> = results.iter().chain(args).copied().collect();
            self.op_full(Opcode::RecordKnownResult, &known, Imm::Call(Callee::plain(&function.key)), &[]);
        }
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
        let locals: Vec<Container> = all.iter().filter(|c| c.slot && !demanded).cloned().collect();
        let prefer_locals = !demanded && self.source.chance(1, 2);
        if prefer_locals && locals.is_empty() && !self.pure {
            self.slot_for(shape);
            return self.containers.last().cloned();
        }
        let all = if prefer_locals { locals } else { all };
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
        self.only_green = self.source.chance(1, 4);
        let args: Vec<Val> = (0..count).map(|_| self.expr(scalar, 1)).collect();
        let asked = std::mem::take(&mut self.only_green);
        let deps = union(args.iter().map(|val| val.deps));
        let operands: Vec<Operand> = args.iter().map(|val| val.operand).collect();
        let call = Imm::Call(Callee::plain(name));
        let result = self.op_full(Opcode::CallElidable, &operands, call, &[scalar.ty()])[0];
        self.declare(Val { operand: result, scalar, deps });
        if asked {
            self.concrete_at(self.vars.len() - 1);
        }
    }
}
