//! Errors: the way from a hint to what can't be green, in the terms of the source.

use crate::demand::{Demand, InstanceId, Obstacle, Reason};
use crate::error::ColorError;
use crate::naming::{Name, names, place, show};
use crate::program::{Function, Program};
use crate::shape::Def;
use flowgraph::ir::{Imm, Loc, MemKind, Opcode, Type, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// One error for each value that is demanded but can't be green, in source order.
pub(crate) fn errors(program: &Program<'_>, demand: &Demand<'_, '_>) -> Vec<ColorError> {
    let mut blame = Blame { program, demand, names: FxHashMap::default() };
    let mut seen = FxHashSet::default();
    let mut out: Vec<(Loc, ColorError)> = Vec::new();
    for (id, instance) in demand.instances.iter().enumerate() {
        for &(v, obstacle) in &instance.blocked {
            if seen.insert((instance.function, v)) {
                let error = blame.error(id, v, obstacle);
                out.push((error.loc().unwrap_or_default(), error));
            }
        }
    }
    out.sort_by_key(|(loc, _)| *loc);
    out.into_iter().map(|(_, e)| e).collect()
}

struct Blame<'a, 'p, 'm> {
    program: &'a Program<'m>,
    demand: &'a Demand<'p, 'm>,
    names: FxHashMap<usize, Vec<Option<Name>>>,
}

impl<'a, 'm> Blame<'a, '_, 'm> {
    fn function(&self, id: InstanceId) -> &'a Function<'m> {
        self.program.function(self.demand.instances[id].function)
    }

    fn names(&mut self, id: InstanceId) -> &[Option<Name>] {
        let function = self.function(id);
        self.names.entry(self.demand.instances[id].function).or_insert_with(|| names(function.graph, &function.shape))
    }

    fn describe(&mut self, id: InstanceId, v: ValueId) -> (String, Loc) {
        let function = self.function(id);
        let names = self.names(id);
        (show(function.graph, &function.shape, names, v), place(function.graph, &function.shape, names, v))
    }

    fn error(&mut self, id: InstanceId, v: ValueId, obstacle: Obstacle) -> ColorError {
        let mut steps = vec![(id, v)];
        let (hint, hint_instance) = loop {
            let Some(&(id, v)) = steps.last() else { unreachable!("a way has a beginning") };
            match self.demand.instances[id].demanded[&v] {
                Reason::Computes(by) => steps.push((id, by)),
                Reason::Returned(caller, by) => steps.push((caller, by)),
                Reason::Argument(callee, by) => steps.push((callee, by)),
                hint => break (hint, id),
            }
        };
        let graph = self.function(hint_instance).graph;
        let Some(&(first_id, first)) = steps.last() else { unreachable!("a way has a beginning") };
        let (subject, subject_loc) = self.describe(first_id, first);
        let loc = match hint {
            Reason::Concrete(block, op) | Reason::MergeKey(block, op) => graph.block(block).ops[op].loc,
            _ => subject_loc,
        };
        let (what, what_loc) = self.describe(id, v);
        let blamed = self.obstacle(id, v, obstacle, &what);
        let mut chain: Vec<(String, Loc)> = Vec::new();
        for &(id, v) in steps.iter().rev() {
            let step = self.describe(id, v);
            if chain.last() != Some(&step) {
                chain.push(step);
            }
        }
        let module = self.program.module;
        let place = |loc: Loc| module.show_loc(loc);
        let role = match hint {
            Reason::MergeKey(..) => format!(" as part of the key of the merge point of `{}`", graph.function),
            Reason::PortalGreen => format!(" as a green of the portal `{}`", graph.function),
            _ => String::new(),
        };
        let same = (first_id, first) == (id, v);
        let but = match blamed.rsplit_once(", which ").filter(|_| same && obstacle != Obstacle::Variable) {
            Some((_, clause)) => clause.to_owned(),
            None if same => format!("is {blamed}"),
            None => format!("depends on {blamed}"),
        };
        let mut message = format!("{subject} must be green{role} ({}) but {but} ({})", place(loc), place(what_loc));
        let mut told: Vec<&str> = vec![&subject, &what];
        let mut through = Vec::new();
        for (text, at) in &chain {
            if text.starts_with('`') && !told.contains(&text.as_str()) {
                told.push(text);
                through.push(format!("{text} ({})", place(*at)));
            }
        }
        if !through.is_empty() {
            message.push_str(&format!(" through {}", through.join(", ")));
        }
        ColorError::MustBeGreen {
            message,
            loc,
            obstacle: (blamed, what_loc),
            chain,
            remedy: match (self.float(id, v), self.field_behind_mut(id, v, obstacle)) {
                (Some(float), _) => float_remedy(obstacle, &what, float),
                (None, Some(field)) => format!(
                    "mark the field `{field}` `#[green]` if it is nearly always the same at one place of the guest \
                     program: then it is part of the portal's key; or make what is read green with `promote`"
                ),
                (None, None) => remedy(obstacle, &what),
            },
        }
    }

    fn obstacle(&self, id: InstanceId, v: ValueId, obstacle: Obstacle, what: &str) -> String {
        let function = &self.function(id).graph.function;
        match obstacle {
            Obstacle::RedParameter => format!("the red parameter {what}"),
            Obstacle::PortalRed => format!("{what}, a red of the portal `{function}`"),
            Obstacle::Exclusive => format!("the `&mut` reference {what}"),
            Obstacle::Memory(MemKind::Shared) => format!("{}, which is read from a `Cell`", self.read(id, v, what)),
            Obstacle::Memory(_) => match self.local(id, v) {
                Some(local) => format!("{what}, which is read from the local `{local}` in memory"),
                None => format!("{}, which is read through `&mut`", self.read(id, v, what)),
            },
            Obstacle::Local => format!("{what}, the address of a local"),
            Obstacle::Opaque => format!("{what}, which comes from a call that isn't looked into"),
            Obstacle::Variable => format!("{what}, which `variable` makes red"),
            Obstacle::Question => format!("{what}, whose answer may differ from state to state"),
        }
    }

    /// The type of a value that no switch can tell apart, so that it can't be promoted.
    fn float(&self, id: InstanceId, v: ValueId) -> Option<&'static str> {
        match self.function(id).graph.values[v.index()].ty {
            Type::Float => Some("f64"),
            Type::Single => Some("f32"),
            _ => None,
        }
    }

    /// The field that a value is read from, if that lies behind a `&mut`.
    fn field_behind_mut(&self, id: InstanceId, v: ValueId, obstacle: Obstacle) -> Option<String> {
        if obstacle != Obstacle::Memory(MemKind::Exclusive) || self.local(id, v).is_some() {
            return None;
        }
        let function = self.function(id);
        let Def::Op { block, op } = function.shape.defs[v.index()] else { return None };
        let mem = function.graph.block(block).ops[op].mem()?;
        (!mem.field.is_empty()).then(|| format!("{}.{}", mem.class, mem.field))
    }

    /// The local that a value is read from, if it is.
    fn local(&self, id: InstanceId, v: ValueId) -> Option<&'a str> {
        let function = self.function(id);
        let mut at = v;
        loop {
            let Def::Op { block, op } = function.shape.defs[at.index()] else { return None };
            let op = &function.graph.block(block).ops[op];
            match (op.opcode, &op.imm) {
                (Opcode::StackSlot, Imm::Slot(slot)) => return Some(&slot.name),
                (Opcode::IntAdd, _) | (_, Imm::Mem(_)) => at = op.args.first()?.value()?,
                _ => return None,
            }
        }
    }

    /// A read value by its name and its field.
    fn read(&self, id: InstanceId, v: ValueId, what: &str) -> String {
        let function = self.function(id);
        let unnamed = show(function.graph, &function.shape, &vec![None; function.graph.values.len()], v);
        if what == unnamed { unnamed } else { format!("{what}, {unnamed}") }
    }
}

/// As [`remedy`], for a number of a float type: of it only the bits can be promoted.
fn float_remedy(obstacle: Obstacle, what: &str, float: &str) -> String {
    let promoted = match what.strip_prefix('`').and_then(|name| name.strip_suffix('`')) {
        Some(name) => format!("of a float the bits: `{float}::from_bits(promote({name}.to_bits()))`"),
        None => format!("of a float the bits: `{float}::from_bits(promote(x.to_bits()))`"),
    };
    match obstacle {
        Obstacle::RedParameter => {
            format!("say that {what} is known when compiling (`--green`), or make it green with `promote`, {promoted}")
        }
        Obstacle::PortalRed => {
            format!("declare {what} among the portal's greens, or make it green with `promote`, {promoted}")
        }
        Obstacle::Memory(_) => format!("make what is read green with `promote`, {promoted}"),
        Obstacle::Opaque => {
            format!("mark the function `#[elidable]` if it only computes, or `promote` its result, {promoted}")
        }
        _ => remedy(obstacle, what),
    }
}

fn remedy(obstacle: Obstacle, what: &str) -> String {
    match obstacle {
        Obstacle::RedParameter => {
            format!("say that {what} is known when compiling (`--green`), or make it green with `promote`")
        }
        Obstacle::PortalRed => format!("declare {what} among the portal's greens, or make it green with `promote`"),
        Obstacle::Exclusive => "pass the value that is needed, rather than the reference".to_owned(),
        Obstacle::Memory(_) => "make what is read green with `promote` (of a slice: its elements)".to_owned(),
        Obstacle::Local => {
            "read it with `promote`, which costs nothing where the compiler knows what the local holds, or copy what is \
             needed out of the local; where a reference itself must be green, let the caller hand over what it leads to"
                .to_owned()
        }
        Obstacle::Opaque => "mark the function `#[elidable]` if it only computes, or `promote` its result".to_owned(),
        Obstacle::Variable => "leave `variable` out".to_owned(),
        Obstacle::Question => "branch on it: that is decided when compiling where the answer is known".to_owned(),
    }
}
