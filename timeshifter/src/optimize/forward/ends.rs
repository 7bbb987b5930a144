//! What a block ends with: branches and switches that ask for less, hand over what is simpler on the way, or can go one
//! way only.

use super::Walk;
use super::flow::{numbers, takes};
use crate::optimize::facts::done::SameOp;
use crate::optimize::facts::known::{Definition, Known};
use crate::optimize::graph::dominators::exits;
use crate::optimize::rewrites::{Kind, shown, shown_built, shown_op};
use flowgraph::ir::{BlockId, Loc, Op, Opcode, Operand, Terminator, ValueId};
use smallvec::SmallVec;

/// What a switch doesn't come to.
pub(super) struct Needless {
    /// These cases.
    never: SmallVec<[i64; 4]>,
    /// None but the others.
    default: bool,
}

impl Walk<'_> {
    /// The cases that a block's switch doesn't come to, if there are any. A promotion's aren't looked at: they grow.
    pub(super) fn needless_cases(&self, id: BlockId) -> Option<Needless> {
        let Terminator::Switch { value: value @ Operand::Value(_), cases, promotion: false, .. } =
            &self.graph.block(id).term
        else {
            return None;
        };
        let never: SmallVec<[i64; 4]> =
            numbers(cases).into_iter().filter(|case| !self.known.may_be_case(*value, *case)).collect();
        let default = never.len() < cases.len() && !self.known.may_be_none_of(*value, &numbers(cases));
        (default || !never.is_empty()).then_some(Needless { never, default })
    }

    /// Drops cases that a switch doesn't come to. Where that is the default, the last case becomes it.
    pub(super) fn drop_cases(&mut self, id: BlockId, needless: &Needless) {
        let block = self.graph.block_mut(id);
        let Terminator::Switch { value, cases, default, .. } = &mut block.term else { return };
        let told = || {
            let gone: Vec<String> = needless.never.iter().map(ToString::to_string).collect();
            let default = needless.default.then_some("the rest").into_iter();
            let gone: Vec<&str> = gone.iter().map(String::as_str).chain(default).collect();
            (format!("switch {} without {}", shown(*value), gone.join(", ")), "what is known of it".to_owned())
        };
        if !self.rewrites.may(Kind::Decided, block.loc, told) {
            return;
        }
        cases.retain(|(case, _)| !needless.never.contains(case));
        if needless.default
            && let Some((_, edge)) = cases.pop()
        {
            *default = edge;
        }
        if cases.is_empty() {
            block.term = Terminator::Jump(default.clone());
        }
        self.changed = true;
    }

    /// The test that has been made and whose opposite a block's branch asks for: of two that are both there the one
    /// with the lower number.
    pub(super) fn opposite(&self, id: BlockId) -> Option<ValueId> {
        let Terminator::Branch { cond: Operand::Value(cond), .. } = self.graph.block(id).term else { return None };
        let Definition { opcode, args, .. } = self.known.definition(cond)?;
        // Those of one operand are looked through by rules.
        let negated = opcode.negated().filter(|_| args.len() > 1)?;
        self.known.done(&SameOp::pure(negated, args))?.first()?.value().filter(|by| *by < cond)
    }

    /// A branch asks for another value, and goes the other way by it.
    pub(super) fn turns(&mut self, id: BlockId, by: ValueId) {
        let block = self.graph.block_mut(id);
        let Terminator::Branch { cond: cond @ Operand::Value(_), then, otherwise, .. } = &mut block.term else {
            return;
        };
        let told =
            || (format!("branch {} -> branch {by}, the other way", shown(*cond)), "it is the opposite".to_owned());
        if self.rewrites.may(Kind::SameOp, block.loc, told) {
            *cond = Operand::Value(by);
            std::mem::swap(then, otherwise);
            self.changed = true;
        }
    }

    /// A branch asks no more of a value than whether it is 0: where that needn't be computed for anything else, what is
    /// cheaper may say so, too.
    pub(super) fn asks_for_less(&mut self, term: &mut Terminator, ops: &mut Vec<Op>, loc: &Loc) {
        let Terminator::Branch { cond: cond @ Operand::Value(_), .. } = term else { return };
        use Opcode as O;
        let is_more = |(opcode, _): (O, &[Operand])| {
            matches!(opcode, O::IntMod | O::UintFloordiv | O::IntLshift | O::UintRshift | O::IntNeg)
        };
        if let Some((of, bits)) = self.bits_where_they_are(*cond)
            && rules::Subject::used_once(&self.known, *cond)
        {
            let args = [of, Operand::int(bits)];
            let told =
                || (format!("branch {} -> {}", shown(*cond), shown_op(O::IntAnd, &args)), "it isn't moved".to_owned());
            if self.rewrites.may(Kind::Simpler, *loc, told) {
                *cond = self.op_before(O::IntAnd, args.into_iter().collect(), *loc);
                ops.append(&mut self.before);
                self.changed = true;
            }
            return;
        }
        if !self.known.definition_of(*cond).is_some_and(is_more) || !rules::Subject::used_once(&self.known, *cond) {
            return;
        }
        let Some(fired) = self.rewrites.rules.ask(O::IntIsTrue, &[*cond], &self.known) else { return };
        let told = || {
            (
                format!("branch {} -> {}", shown(*cond), shown_built(&fired.target)),
                "it says whether that is 0".to_owned(),
            )
        };
        if self.firings == 0 || !self.rewrites.may(Kind::Simpler, *loc, told) {
            return;
        }
        self.firings -= 1;
        self.rewrites.fires(O::IntIsTrue, fired.rule);
        *cond = self.built(fired.target, *loc);
        ops.append(&mut self.before);
        self.changed = true;
    }

    /// The bits of a value that another one has that is shifted to the right and masked.
    fn bits_where_they_are(&self, shifted: Operand) -> Option<(Operand, i64)> {
        let Some((Opcode::IntAnd, [of, mask])) = self.known.definition_of(shifted) else { return None };
        let Some((Opcode::UintRshift, [from, by])) = self.known.definition_of(*of) else { return None };
        let (mask, by) = (mask.as_int()? as u64, by.as_int().filter(|by| (1..64).contains(by))?);
        (mask << by >> by == mask).then_some((*from, (mask << by) as i64))
    }

    /// Where a branch says that two are equal, what it hands over there may as well be what it does elsewhere.
    pub(super) fn hands_over_equals(&mut self, term: &mut Terminator, loc: &Loc) {
        let Terminator::Branch { cond: cond @ Operand::Value(_), then, otherwise, .. } = term else { return };
        if then.block != otherwise.block || exits(self.graph, then.block) {
            return;
        }
        let (equal, if_holds) = match self.known.definition_of(*cond) {
            Some((Opcode::IntEq, [a, b])) => ([*a, *b], true),
            Some((Opcode::IntNe | Opcode::IntSub | Opcode::IntXor, [a, b])) => ([*a, *b], false),
            _ => ([*cond, Operand::int(0)], false),
        };
        let (at_equal, elsewhere) = if if_holds { (then, otherwise) } else { (otherwise, then) };
        for (own, other) in at_equal.args.iter_mut().zip(&elsewhere.args) {
            let told = || (format!("{} for {}", shown(*other), shown(*own)), "they are equal there".to_owned());
            let are_these = [*own, *other] == equal || [*other, *own] == equal;
            if own != other && are_these && self.rewrites.may(Kind::Known, *loc, told) {
                *own = *other;
                self.changed = true;
            }
        }
    }

    /// What a branch hands over may be simpler where it does: without a mask, or one arm of what was chosen.
    pub(super) fn hands_over_simpler(&mut self, term: &mut Terminator, loc: &Loc) {
        let Terminator::Branch { cond: cond @ Operand::Value(_), then, otherwise, .. } = term else { return };
        use Opcode as O;
        let is_cut = |known: &Known, arg: Operand| {
            matches!(
                known.definition_of(arg),
                Some((O::IntAnd | O::IntSignext | O::IntSelect | O::FloatSelect | O::SingleSelect, _))
            )
        };
        for (edge, holds) in [(then, true), (otherwise, false)] {
            if exits(self.graph, edge.block) {
                continue;
            }
            for arg in &mut edge.args {
                if !is_cut(&self.known, *arg) {
                    continue;
                }
                let Some(simpler) = self.known.simpler_where(*cond, holds, *arg) else { continue };
                let told =
                    || (format!("{} for {}", shown(simpler), shown(*arg)), "they are the same on this way".to_owned());
                if self.rewrites.may(Kind::Known, *loc, told) {
                    *arg = self.replaced.find(simpler);
                    self.changed = true;
                }
            }
        }
    }

    /// A branch that can go one way only goes there.
    pub(super) fn decide(&mut self, term: &mut Terminator, loc: &Loc, reaches: impl Fn(BlockId) -> Option<bool>) {
        let Terminator::Branch { cond: Operand::Value(_), then, otherwise, .. } = &*term else { return };
        let can = [(0, then.block), (1, otherwise.block)].map(|(side, to)| {
            reaches(to).unwrap_or_else(|| {
                let mark = self.known.mark();
                let can = takes(term, side, &mut self.known);
                self.known.forget(mark);
                can
            })
        });
        // Neither: nothing comes here.
        if can[0] != can[1] {
            self.takes_always(term, loc, can[0]);
        }
    }

    /// A branch can't take one of its sides.
    pub(super) fn never_takes(&mut self, from: BlockId, side: usize) {
        let block = self.graph.block_mut(from);
        let loc = block.loc;
        let mut term = std::mem::replace(&mut block.term, Terminator::Return(Vec::new()));
        self.takes_always(&mut term, &loc, side == 1);
        self.graph.block_mut(from).term = term;
    }

    fn takes_always(&mut self, term: &mut Terminator, loc: &Loc, holds: bool) {
        let Terminator::Branch { cond: cond @ Operand::Value(_), .. } = term else { return };
        let change = || (format!("{} is {}", shown(*cond), u8::from(holds)), "the other way can't be taken".to_owned());
        if self.rewrites.may(Kind::Decided, *loc, change) {
            *cond = Operand::int(i64::from(holds));
            self.changed = true;
        }
    }
}
