//! Expressions.

use super::super::refusal::{Pos, Reason};
use super::super::tree::{Expr, ExprKind};
use super::super::types::Ty;
use super::place::{Mem, Place};
use super::shown::Said;
use super::{Lowerer, Val};
use crate::ir::{Callee, Const, Imm, MemKind, Opcode, Operand, Scalar, TrapKind, Type};
use smallvec::smallvec;

impl Lowerer<'_, '_> {
    /// The leaves of an expression's value.
    pub(in super::super) fn value(&mut self, e: &Expr) -> Val {
        let pos = e.pos;
        match &e.kind {
            ExprKind::Error => self.nothing(&e.ty),
            ExprKind::Unit => Val::new(),
            ExprKind::Int(v) => smallvec![self.integer(*v, false, &e.ty, pos)],
            ExprKind::Float(text) => smallvec![self.float(text, &e.ty)],
            ExprKind::Bool(b) => smallvec![Operand::int(i64::from(*b))],
            ExprKind::Char(c) => smallvec![Operand::int(i64::from(u32::from(*c)))],
            ExprKind::Bytes(bytes) => smallvec![Operand::Const(self.p.bytes_data(bytes))],
            ExprKind::Text(text) => {
                smallvec![Operand::Const(self.p.bytes_data(text.as_bytes())), Operand::int(text.len() as i64)]
            }
            ExprKind::Variant(index, fields) => self.variant_value(e, *index, fields),
            ExprKind::Local(id) => {
                if let Some(element) = &self.elements[*id] {
                    let mem = element.mem.clone();
                    return smallvec![self.address(&mem, pos)];
                }
                let place = self.place(e);
                self.read(place, pos)
            }
            ExprKind::Const(_) | ExprKind::Field(..) | ExprKind::Index(..) | ExprKind::Deref(_) => {
                let place = self.place(e);
                self.read(place, pos)
            }
            ExprKind::Tuple(items) | ExprKind::Array(items) => {
                self.check_size(e);
                items.iter().flat_map(|i| self.value(i)).collect()
            }
            ExprKind::Repeat(value, n) => {
                self.check_size(e);
                let one = self.value(value);
                if self.is_large(&e.ty) {
                    return Val::new();
                }
                (0..*n).take_while(|_| !one.is_empty()).flat_map(|_| one.clone()).collect()
            }
            ExprKind::Struct(fields) => self.struct_value(e, fields),
            ExprKind::Ref { mutable, place, argument } => smallvec![self.reference(*mutable, place, *argument, pos)],
            ExprKind::SliceOf { base, from, to, .. } => self.slice_of(base, from.as_deref(), to.as_deref(), pos),
            ExprKind::ArrayToSlice(inner) => {
                let n = match self.ty(&inner.ty) {
                    Ty::Ref(_, t) => {
                        if let Ty::Array(_, n) = &*t {
                            *n
                        } else {
                            0
                        }
                    }
                    _ => 0,
                };
                let mut value = self.value(inner);
                value.push(Operand::int(n as i64));
                value
            }
            ExprKind::Freeze(inner) => self.value(inner),
            ExprKind::FromNever(inner) => {
                self.value(inner);
                self.nothing(&e.ty)
            }
            ExprKind::Not(inner) => self.not(inner, pos),
            ExprKind::Neg(inner) => self.negate(inner, pos),
            ExprKind::Binary(op, a, b) => {
                let left = self.value(a);
                let right = self.value(b);
                self.binary(*op, &left, &right, &a.ty, &b.ty, pos)
            }
            ExprKind::Compare(op, a, b) => {
                let left = self.value(a);
                let right = self.value(b);
                smallvec![self.compare(*op, &left, &right, &a.ty, pos)]
            }
            ExprKind::AndAlso(..) | ExprKind::OrElse(..) | ExprKind::Let(..) => self.condition_value(e),
            ExprKind::Cast(inner) => {
                let value = self.value(inner);
                let (from, to) = (self.ty(&inner.ty), self.ty(&e.ty));
                match value.first() {
                    Some(v) => smallvec![self.cast(*v, &from, &to, pos)],
                    None => self.nothing(&e.ty),
                }
            }
            ExprKind::Assign(place, value) => {
                self.assign(place, value, pos);
                Val::new()
            }
            ExprKind::AssignOp(op, place, value, right_first) => {
                self.assign_op(*op, place, value, *right_first, pos);
                Val::new()
            }
            ExprKind::Discard(inner) => {
                self.discard(inner);
                Val::new()
            }
            ExprKind::Block(block) => self.block(block),
            ExprKind::If(cond, then, otherwise) => self.if_value(e, cond, then, otherwise.as_deref()),
            ExprKind::Match(scrutinee, arms) => self.match_value(e, scrutinee, arms),
            ExprKind::Loop(id, body) => self.loop_value(e, *id, body),
            ExprKind::Labelled(id, body) => self.labelled(e, *id, body),
            ExprKind::While(id, cond, body) => self.while_loop(*id, cond, body, pos),
            ExprKind::ForRange(id, pat, range, body) => self.for_range(*id, pat, range, body, pos),
            ExprKind::ForSlice(id, pat, subject, body) => self.for_slice(*id, pat, subject, body, pos),
            ExprKind::Break(id, value) => {
                let value = value.as_ref().map(|v| self.value(v)).unwrap_or_default();
                if let Some(target) = &self.loops[*id] {
                    let (exit, vars) = (target.exit, target.value.clone());
                    self.write_all(&vars, &value);
                    self.b.jump(exit, pos);
                }
                Val::new()
            }
            ExprKind::Continue(id) => {
                if let Some(again) = self.loops[*id].as_ref().and_then(|l| l.again) {
                    self.b.jump(again, pos);
                }
                Val::new()
            }
            ExprKind::Return(value) => {
                let value = value.as_ref().map(|v| self.value(v)).unwrap_or_default();
                self.b.ret(value.to_vec(), pos);
                Val::new()
            }
            ExprKind::Call(path, args, elidable) => self.call(e, path, args, *elidable),
            ExprKind::KnownResult(said, function, args) => {
                let mut values = self.value(said);
                for a in args {
                    values.extend(self.value(a));
                }
                self.record(Opcode::RecordKnownResult, &values, Imm::Call(Callee::plain(function)), pos);
                Val::new()
            }
            ExprKind::ExactValue(value, exact) => {
                let mut values = self.value(value);
                values.extend(self.value(exact));
                let imm = match self.scalar(&value.ty) {
                    Scalar::I64 | Scalar::F64 | Scalar::F32 => Imm::None,
                    scalar => Imm::Scalar(scalar),
                };
                self.record(Opcode::RecordExactValue, &values, imm, pos);
                Val::new()
            }
            ExprKind::Number(method, args) => self.number(*method, args, &e.ty, pos),
            ExprKind::FromBytes(value, big) => self.bytes_to_number(value, *big, &e.ty, pos),
            ExprKind::ToBytes(value, big) => self.number_to_bytes(value, *big, pos),
            ExprKind::Libm(function, args) => {
                let values: Val = args.iter().flat_map(|a| self.value(a)).collect();
                let callee = Callee::plain(&format!("libm::{}", function.name));
                let result = [function.result()];
                self.b.op(Opcode::CallElidable, &values, Imm::Call(callee), &result, pos).into_iter().collect()
            }
            ExprKind::Hint(opcode, arg) => self.hint(*opcode, arg.as_deref(), &e.ty, pos),
            ExprKind::PromoteTag(inner) => {
                let mut value = self.value(inner);
                if let Some(tag) = value.first_mut()
                    && !self.constant
                {
                    *tag = self.b.op(Opcode::Promote, &[*tag], Imm::None, &[Type::Int], pos)[0];
                }
                value
            }
            ExprKind::Len(inner) => smallvec![self.len(inner)],
            ExprKind::CellGet(place) => {
                let place = self.place(place);
                self.read(place, pos)
            }
            ExprKind::CellSet(place, value) => {
                let place = self.place(place);
                let value = self.value(value);
                self.write(place, &value, pos);
                Val::new()
            }
            ExprKind::ReadLe(scalar, slice, at) => self.read_bytes(*scalar, slice, at, pos),
            ExprKind::WriteLe(scalar, slice, at, value) => {
                self.write_bytes(*scalar, slice, at, value, pos);
                Val::new()
            }
            ExprKind::Unwrap { value, kind, message, .. } => self.unwrap(value, *kind, message.clone(), pos),
            ExprKind::UnwrapOr(value, other) => {
                let wrapped = self.value(value);
                let other = self.value(other);
                let vars = self.temporaries(&e.ty);
                self.unwrap_or(&wrapped, &other, &value.ty, &vars, pos)
            }
            ExprKind::TagIs(value, set) => {
                let wrapped = self.value(value);
                let Some(tag) = wrapped.first().copied() else { return self.nothing(&e.ty) };
                smallvec![if *set { tag } else { self.op1(Opcode::IntIsZero, tag, pos) }]
            }
            ExprKind::Question(value) => self.question(value, pos),
            ExprKind::Trap(kind, message, args) => {
                let args = self.trap_args(args);
                self.trap_now(*kind, message.clone(), args, pos);
                Val::new()
            }
            ExprKind::Assert(cond, message, args) => {
                let (go_on, stop) = (self.b.new_block(), self.b.new_block());
                self.condition(cond, go_on, stop);
                self.b.enter(stop);
                let args = self.trap_args(args);
                self.trap_now(TrapKind::Assert, message.clone(), args, pos);
                self.b.enter(go_on);
                Val::new()
            }
        }
    }

    fn trap_args(&mut self, args: &[Expr]) -> Vec<(Operand, Scalar)> {
        let mut out = Vec::new();
        for a in args {
            let value = self.value(a);
            let scalar = self.scalar(&a.ty);
            out.extend(value.first().map(|v| (*v, scalar)));
        }
        out
    }

    /// Refuses a value that is too large for SSA where no place is at hand.
    fn check_size(&mut self, e: &Expr) {
        if self.is_large(&e.ty) {
            let ty = self.ty(&e.ty);
            let detail = format!("a value of the type {ty} is too large for this place");
            self.refuse(e.pos, Reason::LargeValue, &detail);
        } else if self.constant && self.leaf_count(&e.ty) > 1 << 24 {
            self.refuse(e.pos, Reason::LargeValue, "this constant is too large");
        }
    }

    pub(super) fn integer(&mut self, magnitude: u64, negative: bool, ty: &Ty, pos: Pos) -> Operand {
        let scalar = self.scalar(ty);
        let bits = scalar.bits();
        let max =
            if scalar.is_signed() { (1u64 << (bits - 1)) - 1 + u64::from(negative) } else { u64::MAX >> (64 - bits) };
        if magnitude > max && !matches!(self.ty(ty), Ty::Error) {
            let detail = format!("`{}{magnitude}` (`{}`)", if negative { "-" } else { "" }, scalar.name());
            self.refuse(pos, Reason::LiteralRange, &detail);
        }
        let word = if negative { magnitude.wrapping_neg() } else { magnitude };
        Operand::int(scalar.canonical(word) as i64)
    }

    fn float(&mut self, text: &str, ty: &Ty) -> Operand {
        Operand::Const(match self.scalar(ty) {
            Scalar::F32 => Const::Single(text.parse::<f32>().unwrap_or(f32::NAN).to_bits()),
            _ => Const::Float(text.parse::<f64>().unwrap_or(f64::NAN).to_bits()),
        })
    }

    fn struct_value(&mut self, e: &Expr, fields: &[(usize, Expr)]) -> Val {
        self.check_size(e);
        if self.is_large(&e.ty) {
            return Val::new();
        }
        // Evaluated as written, laid out as declared.
        let mut values: Vec<(usize, Val)> = fields.iter().map(|(i, v)| (*i, self.value(v))).collect();
        values.sort_by_key(|(i, _)| *i);
        values.into_iter().flat_map(|(_, v)| v).collect()
    }

    /// A variant with its fields, evaluated as written.
    fn variant_value(&mut self, e: &Expr, index: usize, fields: &[(usize, Expr)]) -> Val {
        self.check_size(e);
        let ty = self.ty(&e.ty);
        let Some(shape) = self.p.shape(&ty) else { return self.nothing(&e.ty) };
        if self.is_large(&e.ty) {
            return Val::new();
        }
        let mut values: Vec<(usize, Val)> = fields.iter().map(|(i, v)| (*i, self.value(v))).collect();
        values.sort_by_key(|(i, _)| *i);
        let leaves: Val = values.into_iter().flat_map(|(_, v)| v).collect();
        self.assemble(&shape, index, &leaves)
    }

    fn reference(&mut self, mutable: bool, place: &Expr, argument: bool, pos: Pos) -> Operand {
        if let ExprKind::Const(id) = &place.kind {
            return match self.p.const_data(*id) {
                Some(address) => Operand::Const(address),
                None => Operand::int(0),
            };
        }
        let ty = self.ty(&place.ty);
        match self.place(place) {
            Place::Mem(mem) => self.address(&mem, pos),
            Place::Value(value) => {
                let constants: Option<Vec<Const>> = value.iter().map(|o| o.constant()).collect();
                if let Some(address) = constants.filter(|_| !mutable).and_then(|c| self.p.unnamed_data(&ty, &c)) {
                    return Operand::Const(address);
                }
                if !argument || self.constant {
                    self.refuse(pos, Reason::ValueReference, "a temporary value");
                    return Operand::int(0);
                }
                let mem = self.new_slot(&ty, "(temporary)", pos);
                self.store(&mem, &value, pos);
                mem.base
            }
            Place::Vars(..) => {
                self.refuse(pos, Reason::LocalReference, "");
                Operand::int(0)
            }
        }
    }

    fn len(&mut self, inner: &Expr) -> Operand {
        match self.ty(&inner.ty) {
            Ty::Array(_, n) => {
                // The place is still evaluated, as far as it has effects.
                if !matches!(inner.kind, ExprKind::Local(_) | ExprKind::Const(_)) {
                    self.place(inner);
                }
                Operand::int(n as i64)
            }
            _ => self.value(inner).get(1).copied().unwrap_or(Operand::int(0)),
        }
    }

    /// `base[from..to]`: address and length.
    fn slice_of(&mut self, base: &Expr, from: Option<&Expr>, to: Option<&Expr>, pos: Pos) -> Val {
        let (address, len, elem) = match self.ty(&base.ty) {
            Ty::Slice(_, elem) => {
                let slice = self.value(base);
                let [address, len] = slice.as_slice() else { return smallvec![Operand::int(0), Operand::int(0)] };
                (*address, *len, elem)
            }
            Ty::Array(elem, n) => {
                let mem = match (&base.kind, self.place(base)) {
                    (ExprKind::Const(id), Place::Value(_)) => {
                        let address = self.p.const_data(*id).unwrap_or(Const::Int(0));
                        Mem::new(Operand::Const(address), MemKind::Immutable, Ty::Unit)
                    }
                    (_, Place::Mem(mem)) => mem,
                    (_, Place::Value(value)) => {
                        let ty = self.ty(&base.ty);
                        self.spill(&value, &ty, pos)
                    }
                    (_, Place::Vars(..)) => {
                        self.refuse(pos, Reason::LocalReference, "");
                        return smallvec![Operand::int(0), Operand::int(0)];
                    }
                };
                (self.address(&mem, pos), Operand::int(n as i64), elem)
            }
            _ => return smallvec![Operand::int(0), Operand::int(0)],
        };
        let one = |v: Val| v.first().copied().unwrap_or(Operand::int(0));
        let from = from.map(|e| one(self.value(e)));
        let to = to.map(|e| one(self.value(e)));
        let shown = |a, b| [(a, Scalar::Usize), (b, Scalar::Usize)];
        match (from, to) {
            (None, None) => smallvec![address, len],
            (None, Some(to)) => {
                let ok = self.op2(Opcode::UintLe, to, len, pos);
                self.check(ok, TrapKind::SliceEnd, &shown(to, len), pos);
                smallvec![address, to]
            }
            (Some(from), None) => {
                let ok = self.op2(Opcode::UintLe, from, len, pos);
                self.check(ok, TrapKind::SliceStart, &shown(from, len), pos);
                let address = self.offset_by(address, from, &elem, pos);
                smallvec![address, self.op2(Opcode::IntSub, len, from, pos)]
            }
            (Some(from), Some(to)) => {
                // Rust says what is wrong in this order.
                let ok = self.op2(Opcode::UintLe, from, len, pos);
                self.check(ok, TrapKind::SliceStart, &shown(from, len), pos);
                let ok = self.op2(Opcode::UintLe, to, len, pos);
                self.check(ok, TrapKind::SliceEnd, &shown(to, len), pos);
                let ok = self.op2(Opcode::UintLe, from, to, pos);
                self.check(ok, TrapKind::SliceOrder, &shown(from, to), pos);
                let address = self.offset_by(address, from, &elem, pos);
                smallvec![address, self.op2(Opcode::IntSub, to, from, pos)]
            }
        }
    }

    fn offset_by(&mut self, address: Operand, index: Operand, elem: &Ty, pos: Pos) -> Operand {
        let array = Mem::new(address, MemKind::Exclusive, Ty::Array(std::rc::Rc::new(elem.clone()), 0));
        let mem = self.project_index(&array, index, pos);
        self.address(&mem, pos)
    }

    fn call(&mut self, e: &Expr, path: &str, args: &[Expr], elidable: bool) -> Val {
        let mut values = Vec::new();
        for a in args {
            if self.is_large(&a.ty) {
                let ty = self.ty(&a.ty);
                let detail = format!("a value of the type {ty} is too large to be an argument");
                self.refuse(a.pos, Reason::LargeValue, &detail);
                continue;
            }
            values.extend(self.value(a));
        }
        if self.constant {
            self.refuse(e.pos, Reason::Constant, "a call in a constant is not supported");
            return self.nothing(&e.ty);
        }
        let opcode = if elidable { Opcode::CallElidable } else { Opcode::Call };
        let results: Vec<Type> = self.scalars(&e.ty).iter().map(|s| s.ty()).collect();
        let out = self.b.op(opcode, &values, Imm::Call(Callee::plain(path)), &results, e.pos);
        for follows in self.p.recorded.borrow().get(path).into_iter().flatten() {
            let known = if follows.is_argument { values[0] } else { out[0] };
            let imm = Imm::Call(Callee::plain(&follows.function));
            self.record(Opcode::RecordKnownResult, &[known, out[0]], imm, e.pos);
        }
        if self.ty(&e.ty) == Ty::Never {
            let message = Some("internal error: entered unreachable code".to_owned());
            self.trap_now(TrapKind::Unreachable, message, Vec::new(), e.pos);
        }
        out.into_iter().collect()
    }

    /// What the author says of values. Constants are what they are.
    fn record(&mut self, opcode: Opcode, values: &[Operand], imm: Imm, pos: Pos) {
        if !self.constant {
            self.b.op(opcode, values, imm, &[], pos);
        }
    }

    fn hint(&mut self, opcode: Opcode, arg: Option<&Expr>, ty: &Ty, pos: Pos) -> Val {
        match opcode {
            Opcode::MergePoint => {
                self.merge_point(pos);
                return Val::new();
            }
            Opcode::CanEnterJit => {
                self.b.op(opcode, &[], Imm::None, &[], pos);
                return Val::new();
            }
            Opcode::WeAreJitted => return self.b.op(opcode, &[], Imm::None, &[Type::Int], pos).into_iter().collect(),
            _ => {}
        }
        let Some(arg) = arg else { return self.nothing(ty) };
        let value = self.value(arg);
        match opcode {
            Opcode::IsConstant | Opcode::IsVirtual => {
                let mut all = None;
                for v in value {
                    let one = self.b.op(opcode, &[v], Imm::None, &[Type::Int], pos)[0];
                    all = Some(match all {
                        None => one,
                        Some(other) => self.op2(Opcode::IntAnd, other, one, pos),
                    });
                }
                smallvec![all.unwrap_or(Operand::int(1))]
            }
            Opcode::BitsToFloat | Opcode::BitsToSingle => value.into_iter().map(|v| self.op1(opcode, v, pos)).collect(),
            _ if self.constant => value,
            _ => value
                .into_iter()
                .map(|v| {
                    let ty = self.b.ty(v);
                    self.b.op(opcode, &[v], Imm::None, &[ty], pos)[0]
                })
                .collect(),
        }
    }

    fn unwrap(&mut self, value: &Expr, kind: TrapKind, message: Option<String>, pos: Pos) -> Val {
        let wrapped = self.value(value);
        let ty = self.ty(&value.ty);
        let (Some(shape), Some(tag)) = (self.p.shape(&ty), wrapped.first().copied()) else { return Val::new() };
        let Ty::Result(_, err) = &ty else {
            self.check_saying(tag, kind, message, &[], pos);
            return self.payload(&shape, 1, &wrapped);
        };
        // The error is shown behind the message.
        let message = message.unwrap_or_default() + ": ";
        if !self.can_show(err) {
            self.refuse(pos, Reason::NotYet, &format!("`unwrap` or `expect` with an error of the type {err}"));
            return self.payload(&shape, 0, &wrapped);
        }
        let (go_on, stop) = (self.b.new_block(), self.b.new_block());
        self.b.branch(tag, stop, go_on, pos);
        self.b.enter(stop);
        let error = self.payload(&shape, 1, &wrapped);
        self.trap_showing(Said::new(TrapKind::Expect, message), err, error, pos);
        self.b.enter(go_on);
        self.payload(&shape, 0, &wrapped)
    }

    fn unwrap_or(&mut self, wrapped: &[Operand], other: &[Operand], ty: &Ty, vars: &[super::Var], pos: Pos) -> Val {
        let ty = self.ty(ty);
        let (Some(shape), Some(tag)) = (self.p.shape(&ty), wrapped.first().copied()) else { return Val::new() };
        let (some, none, join) = (self.b.new_block(), self.b.new_block(), self.b.new_block());
        let is_option = matches!(ty, Ty::Option(_));
        let (set, clear) = if is_option { (some, none) } else { (none, some) };
        self.b.branch(tag, set, clear, pos);
        self.b.enter(some);
        let value = self.payload(&shape, usize::from(is_option), wrapped);
        self.write_all(vars, &value);
        self.b.jump(join, pos);
        self.b.enter(none);
        self.write_all(vars, other);
        self.b.jump(join, pos);
        self.b.enter(join);
        self.read_all(vars)
    }

    fn question(&mut self, value: &Expr, pos: Pos) -> Val {
        let wrapped = self.value(value);
        let ty = self.ty(&value.ty);
        let (Some(shape), Some(tag)) = (self.p.shape(&ty), wrapped.first().copied()) else { return Val::new() };
        let (go_on, leave) = (self.b.new_block(), self.b.new_block());
        let is_option = matches!(ty, Ty::Option(_));
        let (set, clear) = if is_option { (go_on, leave) } else { (leave, go_on) };
        self.b.branch(tag, set, clear, pos);
        self.b.enter(leave);
        // What is returned is another type, with the same variant of nothing, or of the error.
        if let Some(result) = self.p.shape(&self.result.clone()) {
            let lost = usize::from(!is_option);
            let error = self.payload(&shape, lost, &wrapped);
            let returned = self.assemble(&result, lost, &error);
            self.b.ret(returned.to_vec(), pos);
        }
        self.b.enter(go_on);
        self.payload(&shape, usize::from(is_option), &wrapped)
    }
}
