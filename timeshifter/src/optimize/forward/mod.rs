//! The forward walk: what is decided, done before, or simpler by what is known of the operands.
//!
//! First the bounds of block parameters are found ([`flow`]). Then one walk down the dominator tree, with what
//! holds on the way in scope ([`crate::optimize::facts::known`]): operands that are known become constants, ops that
//! needn't be done go, checks that follow from others are decided, and branches that can go one way only do.

mod ends;
pub(super) mod flow;
pub mod integer;
pub(super) mod joins;
pub(super) mod over_joins;
pub(super) mod peephole;
pub(super) mod signs;
pub(super) mod stand_ins;
pub(super) mod thresholds;

use super::rewrites::{Kind, Rewrites, shown, shown_built, shown_op};
use crate::optimize::facts::done::SameOp;
use crate::optimize::facts::floats;
use crate::optimize::facts::known::{Definition, Known, is_int};
use crate::optimize::facts::memory::{Found, extension, one_way};
use crate::optimize::graph::dominators::Dominators;
use crate::optimize::graph::replacements::Replacements;
use crate::optimize::int_bound::IntBound;
use ends::Needless;
use flow::{Flow, down, scoped};
use flowgraph::ir::{
    BlockId, Effect, Graph, Imm, Loc, Op, Opcode, Operand, OperandType, Terminator, Time, Type, ValueId,
};
use joins::{Join, definitions, joins};
use peephole::{Instead, instead};
use rules::{Built, Fired};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use stand_ins::{StandIns, stand_ins};
use std::cell::LazyCell;
use std::sync::Arc;

/// For each op of a graph, and besides: so often rules are used. Those of the optimizer end long before; others may go
/// around in circles.
const FIRINGS: (usize, usize) = (50, 1000);

/// So deep may what a rule has made be rewritten before it is done.
const DEEPEST: usize = 100;

/// What a walk has found.
pub(crate) struct Walked {
    /// Whether anything has changed.
    pub changed: bool,
    /// Whether it has been found, behind the walk, what parameters are: that is news for another one.
    pub late: bool,
    /// Whether there are ways to be parted.
    pub to_part: bool,
    /// Whether there are loops.
    pub has_loops: bool,
}

/// The ops of joins of which each way may say what they give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OverJoins {
    /// None are looked at.
    None,
    /// Those over what the join is handed. Of comparisons of what is known before it is said whether there are such.
    Handed,
    /// These, too: ways part that have tested the same and know each something else of it.
    All,
}

/// Walks over a graph whose entry is handed what lies in these bounds.
pub(crate) fn forward(graph: &mut Graph, entry: &[IntBound], rewrites: &mut Rewrites, over: OverJoins) -> Walked {
    let tree = Dominators::new(graph);
    let mut known = Known::new(graph);
    let flow = Flow::new(graph, &tree, entry, &mut known);
    let replaced = Replacements::new(graph);
    let one_way = one_way(graph);
    let (joins, stand_ins) = {
        let defined = LazyCell::new(|| definitions(graph));
        (joins(graph, &tree, &defined, over), stand_ins(graph, &tree, &defined))
    };
    let ops: usize = graph.blocks.iter().map(|block| block.ops.len()).sum();
    let firings = ops * FIRINGS.0 + FIRINGS.1;
    let mut walk = Walk {
        graph,
        known,
        replaced,
        rewrites,
        joins,
        stand_ins,
        before: Vec::new(),
        firings,
        depth: 0,
        changed: false,
        over,
        to_part: false,
    };
    // The blocks with the side of their branches that can't be taken, as far as only that leads somewhere.
    let mut never: Vec<(BlockId, usize)> = Vec::new();
    // Branches that ask for the opposite of what has been tested. They stay as they are while sides are counted.
    let mut opposed: Vec<(BlockId, ValueId)> = Vec::new();
    // And switches with cases that don't come.
    let mut needless: Vec<(BlockId, Needless)> = Vec::new();
    down(&tree, |block, marks, depth| {
        scoped(&mut walk.known, marks, depth);
        if !flow.enter(walk.graph, &tree, block, &mut walk.known) {
            never.extend(tree.sole[block.index()].filter(|_| one_way[block.index()]));
            return false;
        }
        if !one_way[block.index()] {
            walk.join(&tree, block);
            walk.take_what_comes(block);
        }
        walk.block(block, |to| match tree.sole[to.index()] {
            _ if !one_way[to.index()] => None,
            Some(_) => Some(true), // if it isn't come to, that shows there
            None => flow.has_reached(to),
        });
        walk.answer(&tree, block);
        walk.ask_for_stand_ins(block);
        opposed.extend(walk.opposite(block).map(|opposite| (block, opposite)));
        needless.extend(walk.needless_cases(block).map(|cases| (block, cases)));
        true
    });
    never.sort_unstable();
    for sides in never.chunk_by(|one, other| one.0 == other.0) {
        // Neither: nothing comes there.
        if let [(from, side)] = *sides {
            walk.never_takes(from, side);
        }
    }
    walk.take_what_comes_back();
    let late = walk.take_stand_ins();
    opposed.into_iter().for_each(|(block, opposite)| walk.turns(block, opposite));
    needless.into_iter().for_each(|(block, needless)| walk.drop_cases(block, &needless));
    let Walk { replaced, changed, to_part, .. } = walk;
    replaced.apply(graph);
    Walked { changed, late, to_part, has_loops: tree.has_loops() }
}

pub(crate) struct Walk<'g> {
    pub graph: &'g mut Graph,
    pub known: Known,
    pub replaced: Replacements,
    pub rewrites: &'g mut Rewrites,
    /// What joins ask that haven't been come to.
    pub joins: FxHashMap<BlockId, Join>,
    /// What parameters may be that haven't been shown to be.
    pub stand_ins: StandIns,
    /// Ops that the present one needs.
    before: Vec<Op>,
    /// How many more times rules may be used.
    firings: usize,
    /// How deep in what rules have made the present op is.
    depth: usize,
    pub changed: bool,
    pub over: OverJoins,
    /// Whether there are ways to be parted that know something else of the same test.
    pub to_part: bool,
}

impl Walk<'_> {
    /// Ways meet: of memory is known what was in the block above, and what nothing on the way here may have changed.
    fn join(&mut self, tree: &Dominators, block: BlockId) {
        if !self.known.knows_memory() {
            return;
        }
        match tree.on_the_way(block) {
            Some(blocks) => {
                for op in blocks.iter().flat_map(|id| &self.graph.block(*id).ops) {
                    self.known.may_have_done(op);
                }
            }
            None => self.known.forget_memory(),
        }
    }

    /// Goes through a block. `reaches` says whether another is come to, where that needn't be looked for.
    fn block(&mut self, id: BlockId, reaches: impl Fn(BlockId) -> Option<bool>) {
        let mut ops = std::mem::take(&mut self.graph.block_mut(id).ops);
        // New ops, each with the number of those that stay before it.
        let mut new: Vec<(usize, Op)> = Vec::new();
        let mut stay = 0;
        ops.retain_mut(|op| {
            for arg in &mut op.args {
                self.use_known(arg, &op.loc);
            }
            let stays = self.keeps(op);
            new.extend(self.before.drain(..).map(|before| (stay, before)));
            if stays {
                self.known.accesses(op);
                stay += 1;
            }
            stays
        });
        if !new.is_empty() {
            let mut old = std::mem::take(&mut ops).into_iter();
            for (at, op) in new {
                let taken = stay - old.len();
                ops.extend(old.by_ref().take(at - taken));
                ops.push(op);
            }
            ops.extend(old);
        }
        let mut term = std::mem::replace(&mut self.graph.block_mut(id).term, Terminator::Return(Vec::new()));
        let loc = self.graph.block(id).loc;
        // What an exit hands over is what the values are, also where a guard has been made to fail.
        term.for_each_operand_mut(|operand| self.use_known(operand, &loc));
        self.asks_for_less(&mut term, &mut ops, &loc);
        self.hands_over_equals(&mut term, &loc);
        self.hands_over_simpler(&mut term, &loc);
        self.decide(&mut term, &loc, reaches);
        let block = self.graph.block_mut(id);
        (block.ops, block.term) = (ops, term);
    }

    /// An operand as it is known here.
    fn use_known(&mut self, operand: &mut Operand, loc: &Loc) {
        *operand = self.replaced.find(*operand);
        let Operand::Value(value) = *operand else { return };
        if let Some(chosen) = self.known.chosen(value)
            && self.rewrites.may(Kind::Known, *loc, || {
                (format!("{value} is {}", shown(chosen)), "what it was chosen by is known".to_owned())
            })
        {
            *operand = self.replaced.find(chosen);
            self.changed = true;
            return;
        }
        if !is_int(&self.graph.values, value) {
            return;
        }
        if let Some(constant) = self.known.bound(*operand).get_constant_int()
            && self.rewrites.may(Kind::Known, *loc, || (format!("{value} is {constant}"), "its bound".to_owned()))
        {
            *operand = Operand::int(constant);
            self.changed = true;
            return;
        }
        let same = self.known.standing_for(value);
        if same != value
            && self.rewrites.may(Kind::Known, *loc, || (format!("{value} is {same}"), "a test of both".to_owned()))
        {
            *operand = Operand::Value(same);
            self.changed = true;
        }
    }

    /// Whether an op stays. What it gives is known from here on.
    fn keeps(&mut self, op: &mut Op) -> bool {
        self.takes_its_base_apart(op);
        if self.lies_there(op) || self.stays_there(op) {
            return false;
        }
        if op.opcode == Opcode::RecordKnownResult {
            self.is_known(op);
            return true;
        }
        if op.opcode.effect() == Effect::ElidableCall && self.has_been_done(op) {
            return false;
        }
        if !op.opcode.is_pure() && op.opcode != Opcode::Likely {
            self.known.computes(op);
            return true;
        }
        if self.has_another_of_its_sign(op) {
            return false;
        }
        self.arms_are_simpler(op);
        if self.is_said_by_one(op) {
            return false;
        }
        // Of a selection less is known than of what it was.
        let is_float = op.results.len() == 1 && self.graph.values[op.results[0].index()].ty != Type::Int;
        let float = is_float.then(|| floats::transfer(op, &self.known));
        if self.is_simpler(op) {
            return false;
        }
        let bounds = self.known.transfer(op);
        if let [bound] = bounds[..]
            && let Some(constant) = bound.get_constant_int()
            && self.graph.values[op.results[0].index()].ty == Type::Int
            && let why = self.why_constant(op)
            && self.may(op, Kind::Fold, || (constant.to_string(), why.to_owned()))
        {
            self.replaced.replace(op.results[0], Operand::int(constant));
            return false;
        }
        if self.has_been_done(op) {
            return false;
        }
        self.known.define(op);
        if let Some(before) = float {
            let bound = floats::transfer(op, &self.known);
            self.known.computed_float(op.results[0], bound.meet(before).unwrap_or(bound));
        }
        for (result, bound) in op.results.iter().zip(bounds) {
            self.known.computed(*result, bound);
        }
        self.known.learn_chosen(op);
        true
    }

    /// What says that an op gives a constant.
    fn why_constant(&self, op: &Op) -> &'static str {
        match self.known.compares(op.opcode, &op.args) {
            Some(_) => "what has been compared before",
            None => "the bounds of its operands",
        }
    }

    /// Whether an op has been done that is the same. Else it has been from here on.
    fn has_been_done(&mut self, op: &Op) -> bool {
        if let Some(results) = self.known.done_or_does(op) {
            if let Some(first) = results.first()
                && self.may(op, Kind::SameOp, || (shown(*first), "it has been done".to_owned()))
            {
                for (result, given) in op.results.iter().zip(results) {
                    self.replaced.replace(*result, given);
                }
                return true;
            }
            self.known.does(SameOp::of(op), op.results.iter().copied().map(Operand::Value));
        }
        if let (Some(plain), Some(result)) = (op.opcode.without_overflow(), op.results.first()) {
            self.known.does(SameOp::pure(plain, &op.args), [Operand::Value(*result)]);
        }
        false
    }

    /// What an author says of a call's result is as good as having called.
    fn is_known(&mut self, op: &Op) {
        let Some(function) = op.recorded() else { return };
        let same = SameOp::call(&function.name, op.args.iter().skip(1).copied().collect());
        self.known.does(same, op.args.first().copied());
    }

    /// What the base of an access is a sum of is a part of the access: what lies next to what is plain then.
    fn takes_its_base_apart(&mut self, op: &mut Op) {
        self.adds_to_its_offset(op);
        if self.has_its_index(op) {
            self.adds_to_its_offset(op);
        }
    }

    /// A shifted value, or a multiple of one, that is added to the base of a field is the index of an element. Gives
    /// whether that is so.
    fn has_its_index(&mut self, op: &mut Op) -> bool {
        let of_element = match op.opcode {
            Opcode::Getfield => Opcode::Getarrayitem,
            Opcode::Setfield => Opcode::Setarrayitem,
            _ => return false,
        };
        let Some((Opcode::IntAdd, [a @ Operand::Value(_), b @ Operand::Value(_)])) =
            op.args.first().and_then(|base| self.known.definition_of(*base))
        else {
            return false;
        };
        let index = |operand: &Operand| match self.known.definition_of(*operand)? {
            (Opcode::IntLshift, [index @ Operand::Value(_), by]) => {
                Some((*index, 1u32 << by.as_int().filter(|by| (0..31).contains(by))?))
            }
            (Opcode::IntMul, [index @ Operand::Value(_), by]) => {
                Some((*index, u32::try_from(by.as_int()?).ok().filter(|by| *by > 0)?))
            }
            _ => None,
        };
        let (base, (index, stride)) = match (index(a), index(b)) {
            (None, Some(index)) => (*a, index),
            (Some(index), None) => (*b, index),
            _ => return false,
        };
        let told = || {
            let change = format!("{} {}, {} of {stride} bytes each", of_element.name(), shown(base), shown(index));
            (change, "a multiple of a value is added to its base".to_owned())
        };
        if !self.may(op, Kind::Simpler, told) {
            return false;
        }
        op.opcode = of_element;
        op.args[0] = base;
        op.args.insert(1, index);
        if let Imm::Mem(desc) = &mut op.imm {
            Arc::make_mut(desc).stride = stride;
        }
        true
    }

    /// A constant that is added to the base of an access is a part of its offset.
    fn adds_to_its_offset(&mut self, op: &mut Op) {
        while let Some(desc) = op.mem()
            && let Some(Operand::Value(base)) = op.args.first()
            && let Some(Definition { opcode: Opcode::IntAdd, args, result: 0 }) = self.known.definition(*base)
            && let ([of @ Operand::Value(_), _], Some(by)) = (&args[..], args[1].as_int())
            && let Some(offset) = i64::from(desc.offset).checked_add(by).and_then(|offset| i32::try_from(offset).ok())
            && let (of, why) = (*of, || "a constant is added to its base".to_owned())
            && self.may(op, Kind::Simpler, || (format!("{} at {offset}", shown(of)), why()))
        {
            op.args[0] = of;
            if let Imm::Mem(desc) = &mut op.imm {
                Arc::make_mut(desc).offset = offset;
            }
        }
    }

    /// Whether what is loaded is known. Where it has to be cut down to what lies there, the op does that instead of
    /// loading.
    fn lies_there(&mut self, op: &mut Op) -> bool {
        if op.opcode.effect() != Effect::Read {
            return false;
        }
        let why = || "it was stored or loaded there".to_owned();
        match self.known.loaded(op) {
            Some(Found::Value(value)) if self.may(op, Kind::Load, || (shown(value), why())) => {
                self.replaced.replace(op.results[0], value);
                true
            }
            Some(Found::Extended(value, access)) => {
                let (opcode, args) = extension(value, access);
                if self.may(op, Kind::Load, || (shown_op(opcode, &args), why())) {
                    (op.opcode, op.args, op.imm) = (opcode, args, Imm::None);
                }
                false
            }
            _ => false,
        }
    }

    /// Whether what is stored lies there already.
    fn stays_there(&mut self, op: &Op) -> bool {
        let is_there = |stored: &Operand| {
            self.known.lies(op).is_some_and(|there| {
                let constant = stored.as_int();
                there == *stored || constant.is_some() && self.known.bound(there).get_constant_int() == constant
            })
        };
        let stays = op.opcode.effect() == Effect::Write
            && op.args.last().is_some_and(is_there)
            && self.rewrites.may(Kind::DeadStore, op.loc, || {
                (shown_op(op.opcode, &op.args), "what is stored was stored or loaded there".to_owned())
            });
        self.changed |= stays;
        stays
    }

    /// Puts in place of a float of which only the sign is seen what else has that. Gives whether nothing is left to do.
    fn has_another_of_its_sign(&mut self, op: &mut Op) -> bool {
        while let Some(instead) = signs::of_the_same_sign(op, &self.known) {
            match instead {
                Instead::Operand(operand, why) => {
                    if !self.may(op, Kind::Sign, || (shown(operand), why.to_owned())) {
                        return false;
                    }
                    self.replaced.replace(op.results[0], operand);
                    return true;
                }
                Instead::Op(opcode, args, why) => {
                    if !self.may(op, Kind::Sign, || (shown_op(opcode, &args), why.to_owned())) {
                        return false;
                    }
                    (op.opcode, op.args) = (opcode, args);
                }
                _ => return false,
            }
        }
        false
    }

    /// What is chosen where a condition holds may be simpler there.
    fn arms_are_simpler(&mut self, op: &mut Op) {
        if !matches!(op.opcode, Opcode::IntSelect) {
            return;
        }
        for (at, holds) in [(1, true), (2, false)] {
            let arm = op.args[at];
            if let Some(simpler) = self.known.simpler_where(op.args[0], holds, arm)
                && self.may(op, Kind::Simpler, || {
                    (
                        format!("{} for {}", shown(simpler), shown(arm)),
                        "they are the same where it is chosen".to_owned(),
                    )
                })
            {
                op.args[at] = simpler;
            }
        }
    }

    /// Whether of two bits that are joined to one, one is a comparison that says what the other is where that matters:
    /// `a > 3 & a > 2` is `a > 3`.
    fn is_said_by_one(&mut self, op: &Op) -> bool {
        let holds = match op.opcode {
            Opcode::IntAnd => true,
            Opcode::IntOr => false,
            _ => return false,
        };
        let [a, b] = op.args[..] else { return false };
        if ![a, b].into_iter().all(|bit| self.known.bound(bit).is_bool()) {
            return false;
        }
        let said = |(one, other): (Operand, Operand)| {
            let (test, _) = self.known.definition_of(one)?;
            let other = test.is_comparison().then(|| self.known.simpler_where(one, holds, other))??.as_int()?;
            Some(if (other != 0) == holds { one } else { Operand::int(other) })
        };
        let Some(joined) = [(a, b), (b, a)].into_iter().find_map(said) else { return false };
        if !self.may(op, Kind::Simpler, || (shown(joined), "one of both says what the other is".to_owned())) {
            return false;
        }
        self.replaced.replace(op.results[0], joined);
        true
    }

    /// Makes an op simpler, as often as that goes. Gives whether nothing is left to do.
    fn is_simpler(&mut self, op: &mut Op) -> bool {
        while op.opcode.is_pure() {
            if op.opcode.is_commutative() && matches!(op.args[..], [Operand::Const(_), Operand::Value(_)]) {
                op.args.swap(0, 1);
            }
            if let Some(fired) = self.rewrites.rules.ask(op.opcode, &op.args, &self.known) {
                match self.fire(op, fired) {
                    Some(true) => return true,
                    Some(false) => continue,
                    None => break,
                }
            }
            match instead(op, &self.known).or_else(|| signs::test(op, &self.known)) {
                None => break,
                Some(Instead::Operand(operand, why)) => {
                    if !self.may(op, Kind::Simpler, || (shown(operand), why.to_owned())) {
                        break;
                    }
                    self.replaced.replace(op.results[0], operand);
                    return true;
                }
                Some(Instead::Op(opcode, args, why)) => {
                    if !self.may(op, Kind::Simpler, || (shown_op(opcode, &args), why.to_owned())) {
                        break;
                    }
                    (op.opcode, op.args) = (opcode, args);
                }
                Some(Instead::Distance { test, from, against }) => {
                    let change = || {
                        let distance = shown_op(Opcode::IntSub, &from);
                        (
                            format!("{} ({distance}), {}", test.name(), shown(against)),
                            "both ask for one range".to_owned(),
                        )
                    };
                    if !self.may(op, Kind::Range, change) {
                        break;
                    }
                    let distance = self.op_before(Opcode::IntSub, from.into_iter().collect(), op.loc);
                    (op.opcode, op.args) = (test, smallvec![distance, against]);
                }
                Some(Instead::Selected { less, compared, select, from }) => {
                    let change = || {
                        let flag = shown_op(less, &compared);
                        let [first, second] = from.map(shown);
                        (format!("{} ({flag}), {first}, {second}", select.name()), "their bounds".to_owned())
                    };
                    if !self.may(op, Kind::Selected, change) {
                        break;
                    }
                    let flag = self.op_before(less, compared.into_iter().collect(), op.loc);
                    (op.opcode, op.args) = (select, smallvec![flag, from[0], from[1]]);
                }
            }
        }
        false
    }

    /// Does what a rule says. Gives whether nothing of the op is left; nothing, if it may not be done.
    fn fire(&mut self, op: &mut Op, fired: Fired) -> Option<bool> {
        if self.firings == 0 || self.depth > DEEPEST {
            self.rewrites.goes_on_forever(fired.rule);
            return None;
        }
        let plain = match &fired.target {
            Built::Op(opcode, _) => opcode.results().len() < op.results.len(),
            Built::Operand(_) => op.results.len() > 1,
        };
        let kind = if plain { Kind::NoOverflow } else { Kind::Simpler };
        let name = self.rewrites.rules.name(fired.rule);
        if !self.may(op, kind, || (shown_built(&fired.target), format!("rule {name}"))) {
            return None;
        }
        self.firings -= 1;
        self.rewrites.fires(op.opcode, fired.rule);
        if plain {
            self.replaced.replace(op.results[1], Operand::int(0));
            op.results.truncate(1);
        }
        match fired.target {
            Built::Operand(operand) => {
                self.replaced.replace(op.results[0], operand);
                Some(true)
            }
            Built::Op(opcode, args) => {
                let args = args.into_iter().map(|arg| self.built(arg, op.loc)).collect();
                (op.opcode, op.args) = (opcode, args);
                // A flag that nobody has asked for.
                for ty in opcode.results().iter().skip(op.results.len()) {
                    op.results.push(self.new_value(*ty));
                }
                Some(false)
            }
        }
    }

    /// An operand of what a rule has made.
    fn built(&mut self, built: Built, loc: Loc) -> Operand {
        match built {
            Built::Operand(operand) => operand,
            Built::Op(opcode, args) => {
                let args = args.into_iter().map(|arg| self.built(arg, loc)).collect();
                self.op_before(opcode, args, loc)
            }
        }
    }

    /// What an op gives that is put before the present one.
    fn op_before(&mut self, opcode: Opcode, args: SmallVec<[Operand; 3]>, loc: Loc) -> Operand {
        let results: SmallVec<_> = opcode.results().iter().map(|ty| self.new_value(*ty)).collect();
        let value = results[0];
        let mut op = Op { opcode, args, results, imm: Imm::None, time: Time::Now, loc };
        self.depth += 1;
        if self.keeps(&mut op) {
            self.before.push(op);
        }
        self.depth -= 1;
        self.replaced.find(Operand::Value(value))
    }

    /// One more value, of the type that a row of the op table asks for.
    fn new_value(&mut self, ty: OperandType) -> ValueId {
        let ty = if let OperandType::Is(ty) = ty { ty } else { Type::Int };
        let value = self.graph.new_value(ty);
        self.known.has_value(value);
        self.replaced.has_value(value);
        value
    }

    fn may(&mut self, op: &Op, what: Kind, told: impl FnOnce() -> (String, String)) -> bool {
        let may = self.rewrites.may(what, op.loc, || {
            let (change, why) = told();
            let results: Vec<String> = op.results.iter().map(ToString::to_string).collect();
            let own = match op.callee() {
                Some(callee) => {
                    format!("{}({})", callee.name, op.args.iter().map(|arg| shown(*arg)).collect::<Vec<_>>().join(", "))
                }
                None => shown_op(op.opcode, &op.args),
            };
            let own = if results.is_empty() { own } else { format!("{} = {own}", results.join(", ")) };
            (format!("{own} -> {change}"), why)
        });
        self.changed |= may;
        may
    }
}
