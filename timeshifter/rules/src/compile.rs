//! From rules to Rust: for each op a decision tree that looks at each operand once, and tries only rules whose patterns
//! match.
//!
//! ```text
//! match at(s, p1) {                                      what is the second operand?
//!     At::Constant(Const::Int(0)) => { … add_zero(s, p0) … }
//!     At::Constant(Const::Int(_)) => match at(s, p0) { … }
//! ```
//!
//! The operand that most rows need to know is looked at first (L. Maranget, "Compiling pattern matching to good
//! decision trees", 2008; of his heuristics the one that counts rows). What rows remain when nothing more is to be
//! asked are tried in order: what gives a constant or an operand before what makes ops, then as in the file.

use crate::matching::rows;
use crate::methods::COMPARISONS;
use crate::rule::{Bool, BoundExpr, Int, Literal, Rule, Step, Term, VarKind};
use flowgraph::ir::{Opcode, Type};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Write;

/// What so many rules ask of a place further inside is asked once for all of them.
const FEW: usize = 4;

/// An operand: which operand of the root, which operand of the op that gives that, and so on.
type Place = Vec<usize>;

/// One way to match a rule: what is still to be asked of which place, and what is bound already.
#[derive(Clone)]
struct Row<'r> {
    rule: usize,
    asks: Vec<(Place, &'r Term)>,
    binds: Vec<(usize, Place)>,
    /// Places that are ops inside of the pattern.
    inner: Vec<Place>,
}

/// The rules as a Rust module: `pub fn rewrite(op, args, subject) -> Option<Fired>`, and `RULES`, their names.
pub fn compile(rules: &[Rule]) -> String {
    let all = rows(rules);
    let mut text = String::from("// Made from rules; see timeshifter/rules.\n\n");
    let names: Vec<String> = rules.iter().map(|rule| format!("{:?}", rule.name)).collect();
    let _ = writeln!(
        text,
        "/// The names of the rules, by their numbers.\npub const RULES: &[&str] = &[{}];\n",
        names.join(", ")
    );
    text.push_str("/// The first rule that applies to an op, and what there is instead.\n");
    text.push_str(
        "pub fn rewrite<S: Subject>(op: Opcode, args: &[Operand], s: &S) -> Option<Fired> {\n    match (op, args) {\n",
    );
    let roots: Vec<Opcode> =
        Opcode::ALL.iter().copied().filter(|op| all.iter().any(|(_, term)| root(term).0 == *op)).collect();
    for op in &roots {
        let names = (0..op.operands().len()).map(|at| name(&[at])).collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "        (Opcode::{op:?}, &[{names}]) => {}(s, {names}),", op.name());
    }
    text.push_str("        _ => None,\n    }\n}\n\n");
    text.push_str("fn fired(rule: usize, target: Built) -> Option<Fired> {\n    Some(Fired { rule, target })\n}\n");
    for op in roots {
        let own: Vec<Row> =
            all.iter().filter(|(_, term)| root(term).0 == op).map(|(rule, term)| first_row(*rule, term)).collect();
        let params: Vec<String> = (0..op.operands().len()).map(|at| format!("{}: Operand", name(&[at]))).collect();
        let _ = writeln!(text, "\nfn {}<S: Subject>(s: &S, {}) -> Option<Fired> {{", op.name(), params.join(", "));
        tree(&mut text, rules, own, 1);
        text.push_str("}\n");
    }
    for (number, rule) in rules.iter().enumerate() {
        function(&mut text, number, rule);
    }
    text
}

fn root(term: &Term) -> (Opcode, &[Term]) {
    match term {
        Term::Op(op, args) => (*op, args),
        _ => unreachable!("a pattern is an op"),
    }
}

fn first_row(rule: usize, term: &Term) -> Row<'_> {
    let asks = root(term).1.iter().enumerate().map(|(at, term)| (vec![at], term)).collect();
    Row { rule, asks, binds: Vec::new(), inner: Vec::new() }
}

/// `p01` is the second operand of the op that gives the first.
fn name(place: &[usize]) -> String {
    format!("p{}", place.iter().map(ToString::to_string).collect::<String>())
}

/// What may be found at a place.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    Int(i64),
    Float(u64),
    AnyInt,
    AnyFloat,
    Op(Opcode),
    Other,
}

/// What must be found at a place for a row to go on; nothing, if anything will do.
fn needs(rules: &[Rule], row: &Row<'_>, term: &Term) -> Option<Class> {
    match term {
        Term::Op(op, _) => Some(Class::Op(*op)),
        Term::Int(literal) => Some(Class::Int(literal.value::<64>())),
        Term::Float(number) => Some(Class::Float(number.to_bits())),
        Term::Var(var) => match rules[row.rule].vars[*var].kind {
            VarKind::Constant(Type::Int) => Some(Class::AnyInt),
            VarKind::Constant(_) => Some(Class::AnyFloat),
            _ => None,
        },
    }
}

fn tree(text: &mut String, rules: &[Rule], mut rows: Vec<Row<'_>>, depth: usize) {
    // Nothing needs to be known of a variable.
    for row in &mut rows {
        let open = |row: &Row<'_>| row.asks.iter().position(|(_, term)| needs(rules, row, term).is_none());
        while let Some(at) = open(row) {
            bind(row, at);
        }
    }
    let Some(place) = most_asked(&rows) else { return leaf(text, rules, &rows, depth) };
    let own = |row: &Row<'_>| row.asks.iter().position(|(at, _)| *at == place);
    let mut classes: Vec<Class> = Vec::new();
    for row in &rows {
        if let Some(at) = own(row)
            && let Some(class) = needs(rules, row, row.asks[at].1)
            && !classes.contains(&class)
        {
            classes.push(class);
        }
    }
    // Of constants, those that are named come first.
    classes.sort_by_key(|class| matches!(class, Class::AnyInt | Class::AnyFloat));
    classes.push(Class::Other);
    let indent = "    ".repeat(depth);
    let _ = writeln!(text, "{indent}match at(s, {}) {{", name(&place));
    for class in classes {
        let _ = writeln!(text, "{indent}    {} => {{", pattern(class, &place));
        let remaining = rows.iter().filter_map(|row| narrowed(rules, row, own(row), class, &place)).collect();
        tree(text, rules, remaining, depth + 2);
        let _ = writeln!(text, "{indent}    }}");
    }
    let _ = writeln!(text, "{indent}}}");
}

/// Binds the variable that a row asks for, or leaves the place to what it is.
fn bind(row: &mut Row<'_>, at: usize) {
    let (place, term) = row.asks.remove(at);
    if let Term::Var(var) = term {
        row.binds.push((*var, place));
    }
}

/// The place that most rules ask something of; of equals the first. Further inside, what less than a few rules ask is
/// left to these.
fn most_asked(rows: &[Row<'_>]) -> Option<Place> {
    let places: BTreeSet<&Place> = rows.iter().flat_map(|row| row.asks.iter().map(|(place, _)| place)).collect();
    let count = |place: &Place| {
        let asking = rows.iter().filter(|row| row.asks.iter().any(|(own, _)| own == place));
        asking.map(|row| row.rule).collect::<BTreeSet<_>>().len()
    };
    let counted = places.into_iter().map(|place| (Reverse(count(place)), place.len(), place));
    counted.filter(|(Reverse(count), depth, _)| *depth == 1 || *count >= FEW).min().map(|(.., place)| place.clone())
}

/// A row as it goes on where a place is of a class, if it does.
fn narrowed<'r>(rules: &[Rule], row: &Row<'r>, own: Option<usize>, class: Class, place: &Place) -> Option<Row<'r>> {
    let mut row = row.clone();
    let Some(at) = own else { return Some(row) };
    let term = row.asks[at].1;
    let needed = needs(rules, &row, term)?;
    let fits = match (needed, class) {
        (Class::AnyInt, Class::Int(_) | Class::AnyInt) | (Class::AnyFloat, Class::Float(_) | Class::AnyFloat) => true,
        (needed, class) => needed == class,
    };
    if !fits {
        return None;
    }
    if let Term::Op(_, args) = term {
        row.asks.remove(at);
        row.inner.push(place.clone());
        row.asks.extend(args.iter().enumerate().map(|(arg, term)| ([place.as_slice(), &[arg]].concat(), term)));
    } else {
        bind(&mut row, at);
    }
    Some(row)
}

fn pattern(class: Class, place: &Place) -> String {
    match class {
        Class::Int(i64::MIN) => "At::Constant(Const::Int(i64::MIN))".to_owned(),
        Class::Int(number) => format!("At::Constant(Const::Int({number}))"),
        Class::Float(bits) => format!("At::Constant(Const::Float({bits:#x}))"),
        Class::AnyInt => "At::Constant(Const::Int(_))".to_owned(),
        Class::AnyFloat => "At::Constant(Const::Float(_) | Const::Single(_))".to_owned(),
        Class::Op(op) => {
            let names =
                (0..op.operands().len()).map(|at| name(&[place.as_slice(), &[at]].concat())).collect::<Vec<_>>();
            format!("At::Op(Opcode::{op:?}, &[{}])", names.join(", "))
        }
        Class::Other => "_".to_owned(),
    }
}

/// Tries what rows are left.
fn leaf(text: &mut String, rules: &[Rule], rows: &[Row<'_>], depth: usize) {
    let indent = "    ".repeat(depth);
    let mut tried: Vec<String> = Vec::new();
    for row in rows {
        let rule = &rules[row.rule];
        let mut conditions = Vec::new();
        let mut row = row.clone();
        while let Some((place, _)) = row.asks.first() {
            let (place, class) = (place.clone(), needs(rules, &row, row.asks[0].1));
            if let Some(class) = class {
                conditions.push(format!("let {} = at(s, {})", pattern(class, &place), name(&place)));
                if let Some(next) = narrowed(rules, &row, Some(0), class, &place) {
                    row = next;
                    continue;
                }
            }
            bind(&mut row, 0);
        }
        let mut args = vec!["s".to_owned()];
        for var in 0..rule.matched {
            let places: Vec<&Place> = row.binds.iter().filter(|(own, _)| *own == var).map(|(_, place)| place).collect();
            args.extend(places.first().map(|place| name(place)));
            conditions.extend(places.windows(2).map(|two| format!("same(s, {}, {})", name(two[0]), name(two[1]))));
        }
        if rule.needs_single_use() {
            conditions.extend(row.inner.iter().map(|place| format!("s.used_once({})", name(place))));
        }
        conditions.push(format!("let Some(target) = rule_{}({})", rule.name, args.join(", ")));
        let condition = conditions.join(" && ");
        if !tried.contains(&condition) {
            let _ = writeln!(
                text,
                "{indent}if {condition} {{\n{indent}    return fired({}, target);\n{indent}}}",
                row.rule
            );
            tried.push(condition);
        }
    }
    let _ = writeln!(text, "{indent}None");
}

/// What a rule checks, computes and gives, as a function of what it has matched.
fn function(text: &mut String, number: usize, rule: &Rule) {
    let params: String = (0..rule.matched).map(|var| format!(", {}: Operand", operand(rule, var))).collect();
    let _ = writeln!(text, "\n/// {number}: `{}`", rule.arrow());
    let _ = writeln!(text, "fn rule_{}<S: Subject>(s: &S{params}) -> Option<Built> {{", rule.name);
    for var in (0..rule.matched).filter(|var| rule.vars[*var].ty() == Type::Int) {
        match rule.vars[var].kind {
            VarKind::Constant(_) => {
                let _ = writeln!(
                    text,
                    "    let Some(Const::Int({})) = s.constant({}) else {{ return None }};",
                    own(rule, var),
                    operand(rule, var)
                );
            }
            _ => {
                let _ = writeln!(text, "    let {} = || s.bound({});", own(rule, var), operand(rule, var));
            }
        }
    }
    for step in &rule.steps {
        let _ = match step {
            Step::Check(holds, _) => {
                writeln!(text, "    if !({}) {{\n        return None;\n    }}", truth(rule, holds))
            }
            Step::Int(var, value) => writeln!(text, "    let {} = {};", own(rule, *var), int(rule, value)),
            Step::Bound(var, value) => writeln!(text, "    let {} = {};", own(rule, *var), bound(rule, value)),
            Step::Bool(var, holds) => writeln!(text, "    let {} = {};", own(rule, *var), truth(rule, holds)),
        };
    }
    let _ = writeln!(text, "    Some({})\n}}", built(rule, &rule.target));
}

/// The name of what is known of a variable: a constant's or computed value, or a function that gives a bound.
fn own(rule: &Rule, var: usize) -> String {
    format!("v_{}", rule.vars[var].name)
}

/// The name of a variable's operand.
fn operand(rule: &Rule, var: usize) -> String {
    format!("o_{}", rule.vars[var].name)
}

fn built(rule: &Rule, term: &Term) -> String {
    match term {
        Term::Op(op, args) => {
            let args: Vec<String> = args.iter().map(|arg| built(rule, arg)).collect();
            format!("Built::Op(Opcode::{op:?}, vec![{}])", args.join(", "))
        }
        Term::Var(var) if *var < rule.matched => format!("Built::Operand({})", operand(rule, *var)),
        Term::Var(var) => format!("Built::int({})", own(rule, *var)),
        Term::Int(value) => format!("Built::int({})", literal(*value)),
        Term::Float(number) => format!("Built::Operand(Operand::Const(Const::Float({:#x})))", number.to_bits()),
    }
}

fn literal(value: Literal) -> String {
    match value.value::<64>() {
        i64::MIN => "i64::MIN".to_owned(),
        i64::MAX => "i64::MAX".to_owned(),
        number => format!("{number}i64"),
    }
}

fn int(rule: &Rule, value: &Int) -> String {
    match value {
        Int::Literal(value) => literal(*value),
        Int::Var(var) => own(rule, *var),
        Int::Op(op, args) => {
            let args: Vec<String> = args.iter().map(|arg| int(rule, arg)).collect();
            match (op, &args[..]) {
                (Opcode::IntAdd, [a, b]) => format!("i64::wrapping_add({a}, {b})"),
                (Opcode::IntSub, [a, b]) => format!("i64::wrapping_sub({a}, {b})"),
                (Opcode::IntMul, [a, b]) => format!("i64::wrapping_mul({a}, {b})"),
                (Opcode::IntNeg, [a]) => format!("i64::wrapping_neg({a})"),
                (Opcode::IntInvert, [a]) => format!("(!{a})"),
                (Opcode::IntAnd, [a, b]) => format!("({a} & {b})"),
                (Opcode::IntOr, [a, b]) => format!("({a} | {b})"),
                (Opcode::IntXor, [a, b]) => format!("({a} ^ {b})"),
                (Opcode::IntLshift, [a, b]) => format!("i64::wrapping_shl({a}, {b} as u32)"),
                (Opcode::IntRshift, [a, b]) => format!("i64::wrapping_shr({a}, {b} as u32)"),
                (Opcode::UintRshift, [a, b]) => format!("(u64::wrapping_shr({a} as u64, {b} as u32) as i64)"),
                _ => unreachable!("the operators are ops of these"),
            }
        }
        Int::Min(both) => format!("i64::min({}, {})", int(rule, &both[0]), int(rule, &both[1])),
        Int::Max(both) => format!("i64::max({}, {})", int(rule, &both[0]), int(rule, &both[1])),
        Int::HighestBit(of) => format!("(63 - i64::from(i64::leading_zeros({})))", int(rule, of)),
        Int::Attribute(attribute, of) => {
            let part = format!("{}.{}()", bound(rule, of), attribute.method());
            match attribute.method() {
                "lower" | "upper" => part,
                _ => format!("({part} as i64)"),
            }
        }
        Int::ConstantOf(of) => format!("{}.get_constant_int()?", bound(rule, of)),
    }
}

fn truth(rule: &Rule, holds: &Bool) -> String {
    let joined = |parts: &[Bool], by: &str| {
        parts.iter().map(|part| format!("({})", truth(rule, part))).collect::<Vec<_>>().join(by)
    };
    match holds {
        Bool::Var(var) => own(rule, *var),
        Bool::Not(of) => format!("!({})", truth(rule, of)),
        Bool::And(parts) => joined(parts, " && "),
        Bool::Or(parts) => joined(parts, " || "),
        Bool::Compare(op, both) => {
            let (a, b) = (int(rule, &both[0]), int(rule, &both[1]));
            let (unsigned, mark) = match op {
                Opcode::IntEq => (false, "=="),
                Opcode::IntNe => (false, "!="),
                Opcode::IntLt => (false, "<"),
                Opcode::IntLe => (false, "<="),
                Opcode::IntGt => (false, ">"),
                Opcode::IntGe => (false, ">="),
                Opcode::UintLt => (true, "<"),
                Opcode::UintLe => (true, "<="),
                Opcode::UintGt => (true, ">"),
                Opcode::UintGe => (true, ">="),
                _ => unreachable!("the comparisons are ops of these"),
            };
            if unsigned { format!("(({a}) as u64) {mark} (({b}) as u64)") } else { format!("({a}) {mark} ({b})") }
        }
        Bool::Predicate(predicate, of) => format!("{}.{}()", bound(rule, of), predicate.method()),
        Bool::Known(op, both) => {
            let method = COMPARISONS.iter().find(|(.., own)| own == op).map_or("", |(_, method, _)| method);
            format!("{}.{method}({})", bound(rule, &both[0]), bound(rule, &both[1]))
        }
        Bool::CannotOverflow(overflow, args) => called(rule, overflow.method(), args),
    }
}

fn bound(rule: &Rule, of: &BoundExpr) -> String {
    match of {
        BoundExpr::Var(var) if *var < rule.matched => format!("{}()", own(rule, *var)),
        BoundExpr::Var(var) => own(rule, *var),
        BoundExpr::Constant(value) => format!("IntBound::constant({})", int(rule, value)),
        BoundExpr::Transfer(transfer, args) => called(rule, transfer.method(), args),
    }
}

fn called(rule: &Rule, method: &str, args: &[BoundExpr]) -> String {
    let others: Vec<String> = args[1..].iter().map(|arg| bound(rule, arg)).collect();
    format!("{}.{method}({})", bound(rule, &args[0]), others.join(", "))
}
