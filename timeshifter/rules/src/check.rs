//! From what is written to what it means: names are resolved, types checked. All that is wrong is told at once.

use crate::methods::{self, Attribute, Overflow, Predicate, Transfer};
use crate::rule::{Bool, BoundExpr, Exception, Int, Literal, Rule, Step, Term, Var, VarId, VarKind};
use crate::syntax::{
    Element, Expr, ExprKind, File, Name, Pattern, PatternKind, Problem, RuleText, Span, parse_what_can_be,
};
use flowgraph::ir::{Effect, Opcode, OperandType, Type};
use std::collections::HashMap;

/// How many ops of a pattern may commute: each doubles the ways to match it.
const MOST_COMMUTING: usize = 8;

/// Reads and checks a file of rules.
///
/// # Errors
///
/// All that is wrong with it.
pub fn read(text: &str) -> Result<Vec<Rule>, Vec<Problem>> {
    let (file, problems) = parse_what_can_be(text);
    check(&file, text, problems)
}

/// Checks the rules that could be read; `problems` are those with others.
fn check(file: &File, text: &str, mut problems: Vec<Problem>) -> Result<Vec<Rule>, Vec<Problem>> {
    let all_read = problems.is_empty();
    let mut named: HashMap<&str, Span> = HashMap::new();
    let mut rules = Vec::new();
    for rule in &file.rules {
        let name = &rule.head.says.0;
        if let Some(first) = named.insert(&name.text, name.span) {
            let message = format!("there are two rules named `{}`", name.text);
            let help = format!("the first is in line {}", line_of(text, first.0));
            problems.push(Problem::new(name.span, message).help(help));
        }
        let mut checker = Checker { vars: Vec::new(), used: Vec::new(), spans: Vec::new(), problems: &mut problems };
        if let Some(mut found) = checker.rule(rule) {
            found.line = line_of(text, name.span.0);
            rules.push(found);
        }
    }
    let names: Vec<&str> = file.rules.iter().map(|rule| rule.head.says.0.text.as_str()).collect();
    for rule in &rules {
        for exception in &rule.exceptions {
            if let Exception::Confluent { with, .. } = exception
                && all_read
                && !names.contains(&with.as_str())
            {
                let message = format!("`{}` speaks of a rule `{with}`, which isn't there", rule.name);
                problems.push(
                    Problem::new(rule.span, message).help("`# confluent with NAME: reason` names a rule of this file"),
                );
            }
        }
    }
    problems.sort_by_key(|problem| problem.span);
    if problems.is_empty() { Ok(rules) } else { Err(problems) }
}

/// The number of the line of a place, from 1.
pub fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count()
}

/// A value of an expression.
enum Value {
    Int(Int),
    Bool(Bool),
    Bound(BoundExpr),
}

impl Value {
    fn kind(&self) -> &'static str {
        match self {
            Value::Int(_) => "an integer",
            Value::Bool(_) => "true or false",
            Value::Bound(_) => "a bound",
        }
    }
}

struct Checker<'p> {
    vars: Vec<Var>,
    used: Vec<bool>,
    spans: Vec<Span>,
    problems: &'p mut Vec<Problem>,
}

impl Checker<'_> {
    fn problem<T>(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) -> Option<T> {
        self.problems.push(Problem::new(span, message).help(help));
        None
    }

    fn rule(&mut self, rule: &RuleText) -> Option<Rule> {
        let before = self.problems.len();
        let (name, pattern) = &rule.head.says;
        let ty = match &pattern.kind {
            PatternKind::Op(name, _) => {
                Opcode::ALL.iter().copied().find(|op| op.name() == name.text).map(crate::rule::result_type)
            }
            _ => self.problem(pattern.span, "a pattern is an op", "write what is to be replaced: `int_add(x, 0)`"),
        };
        let found = self.term(pattern, ty, true);
        let mut commuting = 0;
        if let Some(term) = &found {
            term.each(&mut |term| commuting += usize::from(matches!(term, Term::Op(op, _) if op.is_commutative())));
        }
        if commuting > MOST_COMMUTING {
            let message =
                format!("{commuting} ops of the pattern commute, so that there are 2^{commuting} ways to match it");
            let help = format!("a pattern has at most {MOST_COMMUTING} of them");
            return self.problem(pattern.span, message, help);
        }
        let matched = self.vars.len();
        let mut steps = Vec::new();
        let mut sorry = false;
        for line in &rule.elements {
            match &line.says {
                Element::Sorry(_) => sorry = true,
                Element::Check(expr) => {
                    if let Some(holds) = self.truth(expr) {
                        steps.push(Step::Check(holds, expr.to_string()));
                    }
                }
                Element::Compute(name, expr) => {
                    let value = self.value(expr);
                    steps.extend(self.compute(name, value));
                }
            }
        }
        // Of a pattern that isn't understood the variables are not known either.
        if found.is_none() && matched == 0 {
            return None;
        }
        let target = self.term(&rule.target.says, ty, false);
        for var in matched..self.vars.len() {
            if !self.used[var] {
                let message = format!("`{}` is computed, but not used", self.vars[var].name);
                let _: Option<()> =
                    self.problem(self.spans[var], message, "leave it out, or use it in a check or the target");
            }
        }
        let exceptions = self.exceptions(rule);
        if self.problems.len() > before {
            return None;
        }
        let text = canonical(rule);
        let (pattern, target) = (found?, target?);
        Some(Rule {
            name: name.text.clone(),
            span: name.span,
            line: 0,
            vars: std::mem::take(&mut self.vars),
            matched,
            pattern,
            steps,
            target,
            sorry,
            exceptions,
            text,
        })
    }

    /// What comments ask to be believed.
    fn exceptions(&mut self, rule: &RuleText) -> Vec<Exception> {
        let mut found = Vec::new();
        for comment in rule.comments() {
            let says = comment.trim_start_matches('#').trim();
            let (what, reason) = match says.split_once(':') {
                Some((what, reason)) => (what.trim(), reason.trim()),
                None => (says, ""),
            };
            let exception = match what.strip_prefix("confluent with ") {
                Some(with) if !with.trim().contains(' ') => {
                    Exception::Confluent { with: with.trim().to_owned(), reason: reason.to_owned() }
                }
                None if what == "terminates" => Exception::Terminates(reason.to_owned()),
                _ => continue,
            };
            if reason.is_empty() {
                let name = &rule.head.says.0;
                let message = format!(
                    "`{}` asks to be believed that it {}, and gives no reason",
                    name.text,
                    match what {
                        "terminates" => "terminates".to_owned(),
                        _ => format!("is {what}"),
                    }
                );
                let _: Option<()> =
                    self.problem(name.span, message, format!("write the reason: `# {what}: because …`"));
            }
            found.push(exception);
        }
        found
    }

    /// The op of a name, if it is one that only computes.
    fn op(&mut self, name: &Name) -> Option<Opcode> {
        let Some(op) = Opcode::ALL.iter().copied().find(|op| op.name() == name.text) else {
            let near = nearest(&name.text, Opcode::ALL.iter().filter(|op| computes(**op)).map(|op| op.name()));
            let help =
                near.map_or("the ops are those of the op table".to_owned(), |near| format!("is `{near}` meant?"));
            return self.problem(name.span, format!("there is no op `{}`", name.text), help);
        };
        match computes(op) {
            true => Some(op),
            false => self.problem(
                name.span,
                format!("`{}` does more than compute", name.text),
                "rules are about ops whose results depend on their operands alone",
            ),
        }
    }

    fn term(&mut self, pattern: &Pattern, ty: Option<Type>, defines: bool) -> Option<Term> {
        let wanted = |ty: Type| format!("{} is wanted here", type_name(ty));
        match &pattern.kind {
            PatternKind::Op(name, args) => {
                let op = self.op(name);
                let operands = op.map(Opcode::operands).unwrap_or_default();
                if let Some(op) = op
                    && operands.len() != args.len()
                {
                    let takes =
                        format!("`{}` takes {}, not {}", name.text, count(operands.len(), "operand"), args.len());
                    let help = format!("{}({})", name.text, op.operand_names().join(", "));
                    let _: Option<()> = self.problem(pattern.span, takes, help);
                }
                let ty_of = |at: usize| match operands.get(at) {
                    Some(OperandType::Is(ty)) => Some(*ty),
                    _ => None,
                };
                let args: Vec<Option<Term>> =
                    args.iter().enumerate().map(|(at, arg)| self.term(arg, ty_of(at), defines)).collect();
                let op = op?;
                if let Some(ty) = ty
                    && crate::rule::result_type(op) != ty
                {
                    let gives = format!("`{}` gives {}", name.text, type_name(crate::rule::result_type(op)));
                    return self.problem(name.span, gives, wanted(ty));
                }
                Some(Term::Op(op, args.into_iter().collect::<Option<_>>()?))
            }
            PatternKind::Number(number) => match ty {
                Some(Type::Int) | None => Some(Term::Int(Literal::Number(*number))),
                Some(ty) => self.problem(pattern.span, "this is an integer", wanted(ty)),
            },
            PatternKind::Float(number) => match ty {
                Some(Type::Float) | None => Some(Term::Float(*number)),
                Some(ty) => self.problem(pattern.span, "this is a float", wanted(ty)),
            },
            PatternKind::Name(name) => match literal(name) {
                Some(literal) => match ty {
                    Some(Type::Int) | None => Some(Term::Int(literal)),
                    Some(ty) => self.problem(pattern.span, "this is an integer", wanted(ty)),
                },
                None => self.variable(name, pattern.span, ty, defines),
            },
        }
    }

    fn variable(&mut self, name: &str, span: Span, ty: Option<Type>, defines: bool) -> Option<Term> {
        let Some(var) = self.find(name) else {
            if !defines {
                return self.unknown(name, span);
            }
            let ty = ty?;
            let kind = if name.starts_with('C') { VarKind::Constant(ty) } else { VarKind::Any(ty) };
            return Some(Term::Var(self.define(name, span, kind)));
        };
        self.used[var] = true;
        match self.vars[var].kind {
            VarKind::Bound => {
                let help = "only operands and integers can stand in a target; `get_constant_int()` gives the only member of a bound";
                self.problem(span, format!("`{name}` is a bound"), help)
            }
            VarKind::Bool => self.problem(
                span,
                format!("`{name}` is true or false"),
                "only operands and integers can stand in a target",
            ),
            _ if ty.is_some_and(|ty| ty != self.vars[var].ty()) => {
                let is = format!("`{name}` is {}", type_name(self.vars[var].ty()));
                self.problem(span, is, format!("{} is wanted here", type_name(ty?)))
            }
            _ => Some(Term::Var(var)),
        }
    }

    fn find(&self, name: &str) -> Option<VarId> {
        self.vars.iter().position(|var| var.name == name)
    }

    fn define(&mut self, name: &str, span: Span, kind: VarKind) -> VarId {
        self.vars.push(Var { name: name.to_owned(), kind });
        self.spans.push(span);
        self.used.push(false);
        self.vars.len() - 1
    }

    fn unknown<T>(&mut self, name: &str, span: Span) -> Option<T> {
        let names: Vec<String> = self.vars.iter().map(|var| var.name.clone()).collect();
        let help = match names.is_empty() {
            true => "the pattern has no variables".to_owned(),
            false => {
                format!("known here: {}; others are computed before they are used: `{name} = …`", names.join(", "))
            }
        };
        self.problem(span, format!("variable '{name}' is not defined"), help)
    }

    fn compute(&mut self, name: &Name, value: Option<Value>) -> Option<Step> {
        if literal(&name.text).is_some() {
            return self.problem(name.span, format!("`{}` has a meaning already", name.text), "take another name");
        }
        if self.find(&name.text).is_some() {
            return self.problem(
                name.span,
                format!("'{}' is already defined", name.text),
                "each name is given once; take another one",
            );
        }
        let kind = match &value {
            Some(Value::Bool(_)) => VarKind::Bool,
            Some(Value::Bound(_)) => VarKind::Bound,
            Some(Value::Int(_)) | None => VarKind::Int,
        };
        let var = self.define(&name.text, name.span, kind);
        Some(match value {
            Some(Value::Int(int)) => Step::Int(var, int),
            Some(Value::Bool(holds)) => Step::Bool(var, holds),
            Some(Value::Bound(bound)) => Step::Bound(var, bound),
            None => {
                // What is wrong with it has been said.
                self.used[var] = true;
                return None;
            }
        })
    }

    fn truth(&mut self, expr: &Expr) -> Option<Bool> {
        match self.value(expr)? {
            Value::Bool(holds) => Some(holds),
            other => self.problem(
                expr.span,
                format!("a condition is wanted here, and this is {}", other.kind()),
                "compare it with something: `C > 0`, `x.known_gt_const(0)`",
            ),
        }
    }

    fn int(&mut self, expr: &Expr) -> Option<Int> {
        match self.value(expr)? {
            Value::Int(int) => Some(int),
            Value::Bound(_) => {
                let message = "an integer is wanted here, and this is a bound";
                let help = "of an operand only its bound is known: `x.lower`, `x.known_lt_const(3)`; names that begin with C match constants, which are integers";
                self.problem(expr.span, message, help)
            }
            Value::Bool(_) => self.problem(
                expr.span,
                "an integer is wanted here, and this is true or false",
                "use `and`, `or` and `not` for conditions",
            ),
        }
    }

    fn bound(&mut self, expr: &Expr) -> Option<BoundExpr> {
        match self.value(expr)? {
            Value::Bound(bound) => Some(bound),
            other => self.problem(
                expr.span,
                format!("a bound is wanted here, and this is {}", other.kind()),
                "bounds are those of operands; methods that end in `_const` take integers",
            ),
        }
    }

    fn value(&mut self, expr: &Expr) -> Option<Value> {
        match &expr.kind {
            ExprKind::Number(number) => Some(Value::Int(Int::Literal(Literal::Number(*number)))),
            ExprKind::Name(name) => self.named(name, expr.span),
            ExprKind::Unary(mark, of) => {
                let op = if *mark == "-" { Opcode::IntNeg } else { Opcode::IntInvert };
                Some(Value::Int(Int::Op(op, vec![self.int(of)?])))
            }
            ExprKind::Binary(mark, left, right) => {
                let (left, right) = (self.int(left), self.int(right));
                Some(Value::Int(Int::Op(operator(mark), vec![left?, right?])))
            }
            ExprKind::Compare(first, rest) => {
                let first = self.int(first);
                if self.find("u").is_some() && rest.iter().any(|(mark, _)| mark.ends_with('u')) {
                    let help = "give the variable another name; or write `< u`, with a space, to compare with it";
                    return self.problem(expr.span, "`<u` is the unsigned order, and there is a variable `u`", help);
                }
                let rest: Vec<(Opcode, Option<Int>)> =
                    rest.iter().map(|(mark, next)| (comparison(mark), self.int(next))).collect();
                let mut left = first?;
                let mut all = Vec::new();
                for (op, right) in rest {
                    let right = right?;
                    all.push(Bool::Compare(op, Box::new([left, right.clone()])));
                    left = right;
                }
                Some(Value::Bool(if all.len() == 1 { all.swap_remove(0) } else { Bool::And(all) }))
            }
            ExprKind::And(parts) => Some(Value::Bool(Bool::And(self.truths(parts)?))),
            ExprKind::Or(parts) => Some(Value::Bool(Bool::Or(self.truths(parts)?))),
            ExprKind::Not(of) => Some(Value::Bool(Bool::Not(Box::new(self.truth(of)?)))),
            ExprKind::Call(name, args) => self.call(name, args, expr.span),
            ExprKind::Method(of, name, args) => self.method(of, name, args, expr.span),
            ExprKind::Attribute(of, name) => {
                let bound = self.bound(of);
                let Some(attribute) = Attribute::named(&name.text) else {
                    let names = Attribute::ALL.iter().map(|one| one.name()).collect::<Vec<_>>().join(" ");
                    let is_method = methods::all_names().contains(&name.text);
                    let help = if is_method {
                        format!("it is a method: `.{}(…)`", name.text)
                    } else {
                        format!("the attributes of bounds are {names}")
                    };
                    return self.problem(name.span, format!("there is no attribute `{}`", name.text), help);
                };
                Some(Value::Int(Int::Attribute(attribute, Box::new(bound?))))
            }
        }
    }

    fn truths(&mut self, parts: &[Expr]) -> Option<Vec<Bool>> {
        let all: Vec<Option<Bool>> = parts.iter().map(|part| self.truth(part)).collect();
        all.into_iter().collect()
    }

    fn named(&mut self, name: &str, span: Span) -> Option<Value> {
        if let Some(literal) = literal(name) {
            return Some(Value::Int(Int::Literal(literal)));
        }
        let Some(var) = self.find(name) else { return self.unknown(name, span) };
        self.used[var] = true;
        match self.vars[var].kind {
            VarKind::Any(Type::Int) | VarKind::Bound => Some(Value::Bound(BoundExpr::Var(var))),
            VarKind::Constant(Type::Int) | VarKind::Int => Some(Value::Int(Int::Var(var))),
            VarKind::Bool => Some(Value::Bool(Bool::Var(var))),
            VarKind::Any(_) | VarKind::Constant(_) => self.problem(
                span,
                format!("`{name}` is a float"),
                "expressions compute with integers and their bounds alone",
            ),
        }
    }

    fn call(&mut self, name: &Name, args: &[Expr], span: Span) -> Option<Value> {
        let arity = match name.text.as_str() {
            "min" | "max" => 2,
            "highest_bit" => 1,
            _ => {
                args.iter().for_each(|arg| drop(self.value(arg)));
                return self.problem(
                    name.span,
                    format!("there is no function `{}`", name.text),
                    "the functions are min, max and highest_bit",
                );
            }
        };
        let found: Vec<Option<Int>> = args.iter().map(|arg| self.int(arg)).collect();
        if args.len() != arity {
            return self.problem(
                span,
                format!("`{}` takes {}, not {}", name.text, count(arity, "argument"), args.len()),
                "as in `min(C1, C2)`, `highest_bit(C)`",
            );
        }
        let mut found = found.into_iter().collect::<Option<Vec<Int>>>()?;
        let last = Box::new(found.pop()?);
        Some(Value::Int(match (name.text.as_str(), found.pop()) {
            ("min", Some(first)) => Int::Min(Box::new([first, *last])),
            (_, Some(first)) => Int::Max(Box::new([first, *last])),
            (_, None) => Int::HighestBit(last),
        }))
    }

    fn method(&mut self, of: &Expr, name: &Name, args: &[Expr], span: Span) -> Option<Value> {
        let own = self.bound(of);
        let text = name.text.as_str();
        if let Some((op, constant)) = methods::comparison(text) {
            let other = self.arguments(name, args, span, 1, |this, arg| match constant {
                true => Some(BoundExpr::Constant(Box::new(this.int(arg)?))),
                false => this.bound(arg),
            });
            return Some(Value::Bool(Bool::Known(op, Box::new([own?, other?.pop()?]))));
        }
        if let Some(predicate) = Predicate::named(text) {
            self.arguments(name, args, span, 0, Self::bound)?;
            return Some(Value::Bool(Bool::Predicate(predicate, Box::new(own?))));
        }
        if let Some(transfer) = Transfer::named(text) {
            let others = self.arguments(name, args, span, transfer.others(), Self::bound);
            return Some(Value::Bound(BoundExpr::Transfer(transfer, [vec![own?], others?].concat())));
        }
        if let Some(overflow) = Overflow::named(text) {
            let others = self.arguments(name, args, span, overflow.others(), Self::bound);
            return Some(Value::Bool(Bool::CannotOverflow(overflow, [vec![own?], others?].concat())));
        }
        if text == "get_constant_int" {
            self.arguments(name, args, span, 0, Self::bound)?;
            return Some(Value::Int(Int::ConstantOf(Box::new(own?))));
        }
        args.iter().for_each(|arg| drop(self.value(arg)));
        let names = methods::all_names();
        let help = match (Attribute::named(text), nearest(text, names.iter().map(String::as_str))) {
            (Some(_), _) => format!("it is an attribute: `.{text}` without parentheses"),
            (None, Some(near)) => format!("is `{near}` meant?"),
            (None, None) => format!("the methods of bounds are {}", names.join(" ")),
        };
        self.problem(name.span, format!("unknown method '{text}'"), help)
    }

    fn arguments<T>(
        &mut self,
        name: &Name,
        args: &[Expr],
        span: Span,
        arity: usize,
        read: impl Fn(&mut Self, &Expr) -> Option<T>,
    ) -> Option<Vec<T>> {
        let found: Vec<Option<T>> = args.iter().map(|arg| read(self, arg)).collect();
        if args.len() != arity {
            let takes = format!("`{}` takes {}, not {}", name.text, count(arity, "argument"), args.len());
            let help = if arity == 0 { "as in `x.is_bool()`" } else { "as in `x.and_bound(y)`, `x.known_lt_const(C)`" };
            return self.problem(span, takes, help);
        }
        found.into_iter().collect()
    }
}

/// Whether an op's results depend on its operands alone, and are of types that rules speak of.
fn computes(op: Opcode) -> bool {
    let typed = |ty: &OperandType| matches!(ty, OperandType::Is(_));
    op.effect() == Effect::Pure && !op.results().is_empty() && op.operands().iter().chain(op.results()).all(typed)
}

/// The rule without its name and comments, in one shape.
fn canonical(rule: &RuleText) -> String {
    let mut text = rule.head.says.1.to_string();
    for line in &rule.elements {
        text.push('\n');
        text.push_str(&line.says.to_string());
    }
    format!("{text}\n=> {}", rule.target.says)
}

fn literal(name: &str) -> Option<Literal> {
    match name {
        "MININT" => Some(Literal::MinInt),
        "MAXINT" => Some(Literal::MaxInt),
        "LONG_BIT" => Some(Literal::LongBit),
        _ => None,
    }
}

/// The op of an operator.
fn operator(mark: &str) -> Opcode {
    match mark {
        "+" => Opcode::IntAdd,
        "-" => Opcode::IntSub,
        "*" => Opcode::IntMul,
        "&" => Opcode::IntAnd,
        "|" => Opcode::IntOr,
        "^" => Opcode::IntXor,
        "<<" => Opcode::IntLshift,
        ">>" => Opcode::IntRshift,
        ">>u" => Opcode::UintRshift,
        _ => unreachable!("the parser knows these operators"),
    }
}

fn comparison(mark: &str) -> Opcode {
    match mark {
        "==" => Opcode::IntEq,
        "!=" => Opcode::IntNe,
        "<" => Opcode::IntLt,
        "<=" => Opcode::IntLe,
        ">" => Opcode::IntGt,
        ">=" => Opcode::IntGe,
        "<u" => Opcode::UintLt,
        "<=u" => Opcode::UintLe,
        ">u" => Opcode::UintGt,
        ">=u" => Opcode::UintGe,
        _ => unreachable!("the parser knows these comparisons"),
    }
}

fn type_name(ty: Type) -> &'static str {
    match ty {
        Type::Float => "a float",
        Type::Single => "a single",
        _ => "an integer",
    }
}

fn count(n: usize, what: &str) -> String {
    match n {
        0 => format!("no {what}"),
        1 => format!("one {what}"),
        _ => format!("{n} {what}s"),
    }
}

/// The name that is most like one that isn't there, if one is.
fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let best = names.map(|other| (strsim::levenshtein(name, other), other)).min()?;
    (best.0 <= 1 + name.len() / 4).then_some(best.1)
}
