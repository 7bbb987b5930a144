//! Expressions, by the type that they are to have.

use super::generator::{DEPTH, Generator, Lock, Target, braces};
use super::methods::{self, Of, On};
use super::place::Use;
use super::types::{BOOL, INTEGERS, SCALARS, Ty, U8, U32, USIZE};
use flowgraph::ir::Scalar;

impl Generator<'_, '_> {
    /// An expression of the type. Its own type can be seen from it: literals have suffixes.
    pub fn expr(&mut self, ty: &Ty, depth: usize) -> String {
        self.cost += self.weight;
        if depth == 0 || self.is_tired() || !self.affords(1) {
            return self.leaf(ty);
        }
        let special = match ty {
            Ty::Scalar(Scalar::Bool) => 12,
            Ty::Scalar(_) => 12,
            _ => 5,
        };
        match self.choose(&[4, special, 6]) {
            0 => self.leaf(ty),
            1 => match ty {
                Ty::Scalar(Scalar::Bool) => self.condition(depth),
                Ty::Scalar(scalar) => self.number(*scalar, depth),
                _ => self.aggregate(ty, depth),
            },
            _ => self.control(ty, depth),
        }
    }

    /// A place or a literal.
    pub fn leaf(&mut self, ty: &Ty) -> String {
        if self.source.chance(7, 8) || self.is_tired() {
            if let Some(text) = self.read_place(ty) {
                return text;
            }
            if let Ty::Scalar(scalar) = ty
                && let Some(text) = self.near(*scalar)
            {
                return text;
            }
        }
        let constants: Vec<String> =
            self.items.constants.iter().filter(|c| c.ty == *ty).map(|c| c.path.clone()).collect();
        if self.source.chance(1, 2)
            && let Some(path) = self.source.pick(&constants)
        {
            return path.clone();
        }
        self.literal(ty)
    }

    /// What is made of a variable of another type, so that values depend on each other.
    pub fn near(&mut self, scalar: Scalar) -> Option<String> {
        let castable = |t: &Ty| matches!(t, Ty::Scalar(from) if methods::is_castable(*from, scalar));
        let scalars = |t: &Ty| matches!(t, Ty::Scalar(from) if from.is_integer());
        let places = self.places(if scalar == Scalar::Bool { &scalars } else { &castable }, Use::Read);
        let (text, place) = self.one_of(places)?;
        let text = if place.cell { format!("{text}.get()") } else { text };
        Some(match (scalar, &place.ty) {
            (Scalar::Bool, Ty::Scalar(from)) => format!("({text} > {})", self.scalar_literal(*from, true)),
            _ => format!("({text} as {})", scalar.name()),
        })
    }

    /// A value that is written out.
    pub fn literal(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::Unit => "()".to_owned(),
            Ty::Scalar(scalar) => self.scalar_literal(*scalar, true),
            Ty::Tuple(items) => {
                let items: Vec<String> = items.iter().map(|item| self.leaf(item)).collect();
                format!("({}{})", items.join(", "), if items.len() == 1 { "," } else { "" })
            }
            Ty::Struct(_) | Ty::Enum(_) => self.constructor(ty, 0),
            Ty::Option(inner) => match self.source.below(2) {
                0 => "None".to_owned(),
                _ => format!("Some({})", self.leaf(inner)),
            },
            Ty::Result(ok, err) => match self.source.below(2) {
                0 => format!("Ok({})", self.leaf(ok)),
                _ => format!("Err({})", self.leaf(err)),
            },
            Ty::Array(elem, n) => match self.source.below(2) {
                0 => format!("[{}; {n}]", self.leaf(elem)),
                _ => {
                    let items: Vec<String> = (0..*n).map(|_| self.leaf(elem)).collect();
                    format!("[{}]", items.join(", "))
                }
            },
            Ty::Ref(mutable, to) => format!("&{}{}", if *mutable { "mut " } else { "" }, self.literal(to)),
            Ty::Slice(mutable, elem) => {
                let n = self.source.below(4);
                let items: Vec<String> = (0..n).map(|_| self.literal(elem)).collect();
                format!("&{}[{}]", if *mutable { "mut " } else { "" }, items.join(", "))
            }
            Ty::Str => ["\"\"", "\"abc\"", "\"x = 1\"", "\"ä€\""][self.source.below(4)].to_owned(),
        }
    }

    /// A scalar that is written out, with a suffix where the type isn't clear otherwise.
    pub fn scalar_literal(&mut self, scalar: Scalar, suffix: bool) -> String {
        let name = if suffix { scalar.name() } else { "" };
        match scalar {
            Scalar::Bool => ["false", "true"][self.source.below(2)].to_owned(),
            Scalar::Char => {
                ["'a'", "'Z'", "'0'", "'\\n'", "'ß'", "'\\u{10ffff}'", "'\\''"][self.source.below(7)].to_owned()
            }
            Scalar::F64 | Scalar::F32 => {
                let single = scalar == Scalar::F32;
                match self.source.below(10) {
                    0 if suffix => format!("{name}::NAN"),
                    1 if suffix => format!("{name}::INFINITY"),
                    2 if suffix => format!("{name}::MAX"),
                    3 if suffix => format!("{name}::MIN_POSITIVE"),
                    4 if suffix => format!("{name}::EPSILON"),
                    _ => {
                        let bits = self.source.float();
                        let float = f64::from_bits(bits);
                        let float = if single { f64::from(float as f32) } else { float };
                        let float = if float.is_finite() { float } else { 1.5 };
                        let text = if single { format!("{:?}", float as f32) } else { format!("{float:?}") };
                        let text = text + name;
                        if text.starts_with('-') { format!("({text})") } else { text }
                    }
                }
            }
            Scalar::U8 if self.source.chance(1, 5) => {
                ["b'a'", "b'0'", "b' '", "b'\\n'", "b'\\xff'", "b'Z'"][self.source.below(6)].to_owned()
            }
            _ if suffix && self.source.chance(1, 8) => match self.source.below(3) {
                0 => format!("{name}::MAX"),
                1 => format!("{name}::MIN"),
                _ => format!("({name}::BITS as {name})"),
            },
            _ => {
                let word = scalar.canonical(self.source.int() as u64);
                self.integer_text(scalar, word, name)
            }
        }
    }

    fn integer_text(&mut self, scalar: Scalar, word: u64, suffix: &str) -> String {
        if scalar.is_signed() && (word as i64) < 0 {
            return format!("({}{suffix})", word as i64);
        }
        match self.source.below(8) {
            7 => format!("{word:#x}{}{suffix}", if suffix.is_empty() { "" } else { "_" }),
            6 => format!("{word:#b}{}{suffix}", if suffix.is_empty() { "" } else { "_" }),
            5 => format!("{word:#o}{}{suffix}", if suffix.is_empty() { "" } else { "_" }),
            _ => format!("{word}{suffix}"),
        }
    }

    // ---- what has fields

    fn aggregate(&mut self, ty: &Ty, depth: usize) -> String {
        match ty {
            Ty::Tuple(items) => {
                if let Some(call) = self.method_giving(ty, depth).filter(|_| self.source.chance(2, 3)) {
                    return call;
                }
                let items: Vec<String> = items.iter().map(|item| self.expr(item, depth.saturating_sub(1))).collect();
                format!("({}{})", items.join(", "), if items.len() == 1 { "," } else { "" })
            }
            Ty::Struct(_) | Ty::Enum(_) => self.constructor(ty, depth.saturating_sub(1)),
            Ty::Option(inner) => {
                if self.source.chance(1, 2)
                    && let Some(call) = self.method_giving(ty, depth)
                {
                    return call;
                }
                match self.source.below(4) {
                    0 => "None".to_owned(),
                    _ => format!("Some({})", self.expr(inner, depth.saturating_sub(1))),
                }
            }
            Ty::Result(ok, err) => match self.source.below(3) {
                0 => format!("Err({})", self.expr(err, depth.saturating_sub(1))),
                _ => format!("Ok({})", self.expr(ok, depth.saturating_sub(1))),
            },
            Ty::Array(elem, n) => {
                if *elem == Box::new(U8)
                    && self.source.chance(1, 2)
                    && let Some(call) = self.method_giving(ty, depth)
                {
                    return call;
                }
                match self.source.below(2) {
                    0 => format!("[{}; {n}]", self.expr(elem, depth.saturating_sub(1))),
                    _ => {
                        let items: Vec<String> = (0..*n).map(|_| self.expr(elem, depth.saturating_sub(1))).collect();
                        format!("[{}]", items.join(", "))
                    }
                }
            }
            _ => self.leaf(ty),
        }
    }

    /// A struct or a variant with its fields.
    fn constructor(&mut self, ty: &Ty, depth: usize) -> String {
        let (path, tuple, fields) = match ty {
            Ty::Struct(id) => {
                let decl = &self.items.structs[*id];
                (decl.path.clone(), decl.tuple, decl.fields.clone())
            }
            Ty::Enum(id) => {
                let variants = self.items.enums[*id].variants.clone();
                let variant = &variants[self.source.below(variants.len())];
                (variant.path.clone(), variant.tuple, variant.fields.clone())
            }
            _ => return "()".to_owned(),
        };
        let mut shown = Vec::new();
        for field in &fields {
            let value = if depth == 0 { self.leaf(&field.ty) } else { self.expr(&field.ty, depth) };
            let value = if field.cell { format!("Cell::new({value})") } else { value };
            shown.push(match tuple {
                true => value,
                false if value == field.name => value,
                false => format!("{}: {value}", field.name),
            });
        }
        match (tuple, shown.is_empty()) {
            (_, true) => path,
            (true, _) => format!("{path}({})", shown.join(", ")),
            (false, _) => format!("({path} {{ {} }})", shown.join(", ")),
        }
    }

    // ---- numbers

    fn number(&mut self, scalar: Scalar, depth: usize) -> String {
        match self.choose(&[5, 6, 3, 2, 2, 2, 1]) {
            0 => self.operator(scalar, depth),
            1 => self.method_giving(&Ty::Scalar(scalar), depth).unwrap_or_else(|| self.leaf(&Ty::Scalar(scalar))),
            2 => self.cast(scalar, depth),
            3 => self.conversion(scalar, depth),
            4 => self.hint(scalar, depth),
            5 => self.of_memory(scalar, depth),
            _ => self.input(scalar, depth),
        }
    }

    fn operator(&mut self, scalar: Scalar, depth: usize) -> String {
        let ty = Ty::Scalar(scalar);
        if scalar == Scalar::Char {
            return self.leaf(&ty);
        }
        let left = self.expr(&ty, depth.saturating_sub(1));
        if scalar.is_float() {
            let right = self.expr(&ty, depth.saturating_sub(1));
            return match self.source.below(6) {
                0 => format!("({left} + {right})"),
                1 => format!("({left} - {right})"),
                2 => format!("({left} * {right})"),
                3 => format!("({left} / {right})"),
                4 => format!("({left} % {right})"),
                _ => format!("(-{left})"),
            };
        }
        let op = ["+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%", "!", "neg"][self.source.below(12)];
        match op {
            "!" => format!("(!{left})"),
            "neg" if scalar.is_signed() => format!("(-{left})"),
            "neg" => format!("({left} ^ {})", self.scalar_literal(scalar, false)),
            "<<" | ">>" => {
                let by = Ty::Scalar(*self.source.pick(&INTEGERS).unwrap_or(&Scalar::U32));
                let right = if self.source.chance(1, 2) {
                    format!("{}", self.source.below(scalar.bits() as usize))
                } else {
                    self.expr(&by, depth.saturating_sub(1))
                };
                format!("({left} {op} {right})")
            }
            "/" | "%" => {
                let right = self.divisor(scalar, depth.saturating_sub(1));
                format!("({left} {op} {right})")
            }
            _ => {
                let right = if self.source.chance(1, 4) {
                    self.scalar_literal(scalar, false)
                } else {
                    self.expr(&ty, depth.saturating_sub(1))
                };
                format!("({left} {op} {right})")
            }
        }
    }

    /// Something to divide by: rarely nothing.
    fn divisor(&mut self, scalar: Scalar, depth: usize) -> String {
        let right = self.expr(&Ty::Scalar(scalar), depth);
        if self.tame {
            return format!("({right} & 6 | 1)");
        }
        if self.source.chance(1, 8) { right } else { format!("({right} | 1)") }
    }

    /// A call of a number method that gives the type.
    pub fn method_giving(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        let candidates = methods::giving(ty);
        if let Ty::Scalar(scalar) = ty
            && scalar.is_float()
            && self.source.chance(1, 3)
        {
            return Some(self.mathematics(*scalar, depth));
        }
        let (method, on) = *self.source.pick(&candidates)?;
        let by_path = self.source.chance(1, 4);
        Some(self.method_call(method, on, depth, by_path))
    }

    /// A call of a number method, perhaps by its path.
    fn method_call(&mut self, method: &methods::Method, on: Scalar, depth: usize, by_path: bool) -> String {
        let divides = ["div", "rem"].iter().any(|d| method.name.contains(d)) && !method.name.starts_with("checked");
        let receiver = match method.name {
            "to_bits" => self.real(on, depth.saturating_sub(1)),
            _ => self.expr(&Ty::Scalar(on), depth.saturating_sub(1)),
        };
        let mut args = Vec::new();
        for param in method.params {
            let arg = match (param, method.name) {
                (Of::Same, _) if divides => self.divisor(on, depth.saturating_sub(1)),
                (Of::Same, "copysign") => self.real(on, depth.saturating_sub(1)),
                (Of::U32, name) if name.contains("pow") => {
                    format!("({} & 7)", self.expr(&U32, depth.saturating_sub(1)))
                }
                (param, _) => self.expr(&param.ty(on), depth.saturating_sub(1)),
            };
            args.push(arg);
        }
        let receiver = match (method.on, method.name) {
            // Which zero is the lesser is left open.
            (On::Float, "min" | "max") => {
                args = args.iter().map(|arg| format!("({arg} + 0.0)")).collect();
                format!("({receiver} + 0.0)")
            }
            (On::Float, "is_sign_negative" | "is_sign_positive" | "signum") => {
                let _ = receiver;
                self.real(on, 0)
            }
            _ => receiver,
        };
        if method.name == "clamp" {
            // Mostly in order.
            if self.tame || self.source.chance(7, 8) {
                let scalar = on.name();
                args = vec![format!("{scalar}::min({}, 3)", args[0]), format!("{scalar}::max({}, 3)", args[1])];
            }
        }
        self.cost += 2 * self.weight;
        if method.on != On::Ascii && by_path {
            args.insert(0, receiver);
            return format!("{}::{}({})", on.name(), method.name, args.join(", "));
        }
        format!("{receiver}.{}({})", method.name, args.join(", "))
    }

    /// One of the many constructs that few expressions would have by chance, with its type.
    pub fn sample(&mut self) -> (Ty, String) {
        match self.choose(&[16, 4, 4, 2]) {
            0 => {
                // The methods of integers are as many as those of floats, on five times as many types.
                let pairs = methods::METHODS.iter().flat_map(|method| {
                    SCALARS.into_iter().filter(|on| method.on.takes(*on)).map(move |on| (method, on))
                });
                let pairs: Vec<(&methods::Method, Scalar)> = pairs.collect();
                let (method, on) = pairs[self.source.below(pairs.len())];
                let by_path = self.source.chance(2, 3);
                (method.result.ty(on), self.method_call(method, on, 2, by_path))
            }
            1 => {
                let scalar = [Scalar::F64, Scalar::F32][self.source.below(2)];
                (Ty::Scalar(scalar), self.mathematics(scalar, 1))
            }
            2 => {
                let scalar = SCALARS[self.source.below(SCALARS.len())];
                (Ty::Scalar(scalar), self.cast(scalar, 1))
            }
            _ => {
                let scalars =
                    [Scalar::U16, Scalar::I16, Scalar::U32, Scalar::I32, Scalar::U64, Scalar::I64, Scalar::Usize];
                let scalar = scalars[self.source.below(7)];
                (Ty::Scalar(scalar), self.of_memory(scalar, 2))
            }
        }
    }

    /// A float that isn't NaN: the bits of those are left open.
    fn real(&mut self, scalar: Scalar, depth: usize) -> String {
        let value = self.expr(&Ty::Scalar(scalar), depth);
        let name = if scalar == Scalar::F64 { "real64" } else { "real32" };
        self.wanted.insert(name);
        format!("{name}({value})")
    }

    /// A function of the mathematics library. Every tier of ours has the same one, but rustc's builds have their own,
    /// so what is seen of the result is coarse, and never on the edge of a step.
    fn mathematics(&mut self, scalar: Scalar, depth: usize) -> String {
        let (name, params) = *self.source.pick(methods::MATHEMATICS).unwrap_or(&methods::MATHEMATICS[0]);
        let receiver = self.expr(&Ty::Scalar(scalar), depth.saturating_sub(1));
        let mut args: Vec<String> = params.iter().map(|p| self.expr(&p.ty(scalar), depth.saturating_sub(1))).collect();
        if name == "powi" {
            // How exact others are is left open.
            args[0] = format!("({} % 8)", args[0]);
        }
        let helper = if scalar == Scalar::F64 { "coarse64" } else { "coarse32" };
        self.wanted.insert(helper);
        format!("{helper}({receiver}.{name}({}))", args.join(", "))
    }

    fn cast(&mut self, scalar: Scalar, depth: usize) -> String {
        let enums: Vec<usize> = (0..self.items.enums.len()).filter(|id| self.items.enums[*id].is_c_like()).collect();
        if scalar.is_integer()
            && self.source.chance(1, 6)
            && let Some(id) = self.source.pick(&enums)
        {
            return format!("({} as {})", self.expr(&Ty::Enum(*id), depth.saturating_sub(1)), scalar.name());
        }
        let from: Vec<Scalar> = SCALARS.into_iter().filter(|from| methods::is_castable(*from, scalar)).collect();
        let Some(from) = self.source.pick(&from) else { return self.leaf(&Ty::Scalar(scalar)) };
        format!("({} as {})", self.expr(&Ty::Scalar(*from), depth.saturating_sub(1)), scalar.name())
    }

    fn conversion(&mut self, scalar: Scalar, depth: usize) -> String {
        if scalar.is_float() && self.source.chance(1, 3) {
            let bits = Of::Bits.ty(scalar);
            return format!("{}::from_bits({})", scalar.name(), self.expr(&bits, depth.saturating_sub(1)));
        }
        if scalar.is_integer() && self.source.chance(1, 3) {
            let order = ["from_le_bytes", "from_be_bytes"][self.source.below(2)];
            return format!(
                "{}::{order}({})",
                scalar.name(),
                self.expr(&Of::Bytes.ty(scalar), depth.saturating_sub(1))
            );
        }
        let from: Vec<Scalar> = SCALARS.into_iter().filter(|from| methods::is_lossless(*from, scalar)).collect();
        match self.source.pick(&from) {
            Some(from) => {
                format!("{}::from({})", scalar.name(), self.expr(&Ty::Scalar(*from), depth.saturating_sub(1)))
            }
            None => self.cast(scalar, depth),
        }
    }

    fn hint(&mut self, scalar: Scalar, depth: usize) -> String {
        let greens: Vec<String> = self
            .vars
            .iter()
            .filter(|v| v.green && v.lock < Lock::All && v.ty == Ty::Scalar(scalar))
            .map(|v| v.name.clone())
            .collect();
        match (self.source.below(3), self.source.pick(&greens).cloned()) {
            (0, Some(green)) => match scalar.is_integer() {
                true => format!("concrete({green} & {})", self.scalar_literal(scalar, false)),
                false => format!("concrete({green})"),
            },
            (1, _) if !scalar.is_float() => {
                let value = self.expr(&Ty::Scalar(scalar), depth.saturating_sub(1));
                if scalar.is_integer() { format!("promote({value} & 7)") } else { format!("promote({value})") }
            }
            _ => format!("variable({})", self.expr(&Ty::Scalar(scalar), depth.saturating_sub(1))),
        }
    }

    /// A length, or bytes of a slice read as a number.
    fn of_memory(&mut self, scalar: Scalar, depth: usize) -> String {
        if scalar == Scalar::Usize
            && self.source.chance(2, 3)
            && let Some(length) = self.length()
        {
            return length;
        }
        let helper = match scalar {
            Scalar::U16 | Scalar::I16 | Scalar::U32 | Scalar::I32 | Scalar::U64 | Scalar::I64 => scalar.name(),
            _ => return self.operator(scalar, depth),
        };
        if self.tame {
            return self.operator(scalar, depth);
        }
        let bytes = Ty::Slice(false, Box::new(U8));
        let Some((slice, root)) = self.slice_argument(&bytes, false) else { return self.operator(scalar, depth) };
        let at = match root {
            Some(root) => self.locked(root, Lock::Write, |g| g.small_index(depth.saturating_sub(1))),
            None => self.small_index(depth.saturating_sub(1)),
        };
        format!("read_{helper}_le({slice}, {at})")
    }

    /// A byte of the input, or -1 at its end.
    fn input(&mut self, scalar: Scalar, depth: usize) -> String {
        if self.tame || self.frozen > 0 || !methods::is_castable(Scalar::I64, scalar) {
            return self.operator(scalar, depth);
        }
        self.does_io = true;
        if scalar == Scalar::I64 { "get_byte()".to_owned() } else { format!("(get_byte() as {})", scalar.name()) }
    }

    /// A number that is often a good index.
    pub fn small_index(&mut self, depth: usize) -> String {
        match self.source.below(4) {
            0 | 1 => self.source.below(3).to_string(),
            2 => format!("({} & 3)", self.expr(&USIZE, depth)),
            _ => self.expr(&USIZE, depth),
        }
    }

    // ---- conditions

    /// A `bool`.
    pub fn condition(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.leaf(&BOOL);
        }
        match self.choose(&[8, 3, 3, 3, 1, 1, 1, 1, 3]) {
            0 => {
                let ty = Ty::Scalar(*self.source.pick(&SCALARS).unwrap_or(&Scalar::I64));
                let (left, right) = (self.expr(&ty, depth.saturating_sub(1)), self.expr(&ty, depth.saturating_sub(1)));
                let op = ["<", "==", "!=", "<=", ">", ">="][self.source.below(6)];
                format!("({left} {op} {right})")
            }
            1 => {
                let (left, right) = (self.condition(depth.saturating_sub(1)), self.condition(depth.saturating_sub(1)));
                format!("({left} {} {right})", ["&&", "||"][self.source.below(2)])
            }
            2 => format!("(!{})", self.condition(depth.saturating_sub(1))),
            3 => {
                let sums = self.places(&|t| matches!(t, Ty::Option(_) | Ty::Result(..)), Use::Read);
                if self.source.chance(3, 4)
                    && let Some((text, place)) = self.one_of(sums)
                {
                    let tests =
                        if matches!(place.ty, Ty::Option(_)) { ["is_some", "is_none"] } else { ["is_ok", "is_err"] };
                    return format!("{text}.{}()", tests[self.source.below(2)]);
                }
                let ty = self.value_type(2);
                self.equality(&ty)
            }
            4 => format!("likely({})", self.condition(depth.saturating_sub(1))),
            5 => format!("promote({})", self.condition(depth.saturating_sub(1))),
            6 => {
                let op = ["&", "|", "^"][self.source.below(3)];
                format!(
                    "({} {op} {})",
                    self.condition(depth.saturating_sub(1)),
                    self.condition(depth.saturating_sub(1))
                )
            }
            7 => self.is_empty().unwrap_or_else(|| self.leaf(&BOOL)),
            _ => self.method_giving(&BOOL, depth).unwrap_or_else(|| self.leaf(&BOOL)),
        }
    }

    /// Whether two values with fields are equal: both are leaves, since `==` borrows them.
    fn equality(&mut self, ty: &Ty) -> String {
        let op = ["==", "!="][self.source.below(2)];
        let left = self.read_place(ty).unwrap_or_else(|| self.bound_literal(ty));
        let right = self.freeze(|g| g.leaf(ty));
        format!("({left} {op} {right})")
    }

    /// A literal whose type is said.
    pub fn bound_literal(&mut self, ty: &Ty) -> String {
        let value = self.literal(ty);
        match ty {
            Ty::Scalar(_) | Ty::Struct(_) | Ty::Enum(_) | Ty::Unit => value,
            _ => {
                let name = self.fresh("t");
                format!("({{ let {name}: {} = {value}; {name} }})", self.items.written(ty))
            }
        }
    }

    // ---- what any type can come from

    fn control(&mut self, ty: &Ty, depth: usize) -> String {
        match self.choose(&[4, 3, 6, 4, 2, 2, 2, 2]) {
            0 => {
                let condition = self.condition(depth.saturating_sub(1));
                let then = self.value_block(ty, depth.saturating_sub(1));
                let otherwise = self.value_block(ty, depth.saturating_sub(1));
                self.chosen(format!("if {condition} {then} else {otherwise}"))
            }
            1 => self.match_value(ty, depth.saturating_sub(1)),
            2 => self.call(ty, depth).unwrap_or_else(|| self.leaf(ty)),
            3 => self.unwrapped(ty, depth),
            4 => {
                let block = self.value_block(ty, depth.saturating_sub(1));
                self.chosen(block)
            }
            5 => self.loop_value(ty, depth.saturating_sub(1)),
            6 => {
                let label = format!("'{}", self.fresh("b"));
                let target = Target { label: Some(label.clone()), value: Some(ty.clone()), is_loop: false };
                if self.frozen > 0 {
                    return self.leaf(ty);
                }
                self.targets.push(target);
                let block = self.value_block(ty, depth.saturating_sub(1));
                self.targets.pop();
                self.chosen(format!("{label}: {block}"))
            }
            _ => self.part(ty, depth),
        }
    }

    /// Parentheses around what would end a statement.
    fn chosen(&mut self, text: String) -> String {
        format!("({text})")
    }

    /// A block that has a value.
    pub fn value_block(&mut self, ty: &Ty, depth: usize) -> String {
        self.scoped(|g| {
            let n = if g.frozen > 0 || g.nesting > 3 { 0 } else { g.source.below(3) };
            let mut lines = g.statements(n);
            lines.push(g.expr(ty, depth));
            braces(&lines)
        })
    }

    /// `loop { … break value; … }`
    fn loop_value(&mut self, ty: &Ty, depth: usize) -> String {
        if self.frozen > 0 || self.nesting > 2 || !self.affords(12) {
            return self.leaf(ty);
        }
        let counter = self.fresh("n");
        let label = if self.source.chance(1, 2) { Some(format!("'{}", self.fresh("l"))) } else { None };
        let times = 1 + self.source.below(3);
        let target = Target { label: label.clone(), value: Some(ty.clone()), is_loop: true };
        let body = self.scoped(|g| {
            g.repeated(times as u64 + 1, |g| {
                g.targets.push(target);
                g.declare(&counter, &U32, false);
                let stop = g.expr(ty, depth);
                let to = label.as_ref().filter(|_| g.source.chance(1, 2)).map(|l| format!(" {l}")).unwrap_or_default();
                let mut lines =
                    vec![format!("{counter} += 1;"), format!("if {counter} > {times} {{ break{to} {stop}; }}")];
                let n = g.source.below(3);
                lines.extend(g.statements(n));
                g.targets.pop();
                lines
            })
        });
        let label = label.map(|l| l + ": ").unwrap_or_default();
        format!("({{ let mut {counter} = 0u32; {label}loop {} }})", braces(&body))
    }

    /// `unwrap`, `expect`, `unwrap_or`, `?`.
    fn unwrapped(&mut self, ty: &Ty, depth: usize) -> String {
        let option = Ty::Option(Box::new(ty.clone()));
        let (ok, err) = match &self.result {
            Ty::Option(_) => (None, None),
            Ty::Result(_, err) => (Some(Ty::Result(Box::new(ty.clone()), err.clone())), Some(err.clone())),
            _ => (None, None),
        };
        let free = self.frozen == 0;
        if free && matches!(self.result, Ty::Option(_)) && self.source.chance(2, 3) {
            let value = self.known(&option, depth);
            return format!("{value}?");
        }
        if free
            && let (Some(result), Some(_)) = (ok, err)
            && self.source.chance(2, 3)
        {
            let value = self.known(&result, depth);
            return format!("{value}?");
        }
        let result = Ty::Result(Box::new(ty.clone()), Box::new(U8));
        let which = if self.source.chance(1, 4) { &result } else { &option };
        let value = self.known(which, depth);
        match self.choose(if self.tame { &[1] } else { &[6, 1, 1] }) {
            0 => format!("{value}.unwrap_or({})", self.expr(ty, depth.saturating_sub(1))),
            1 => format!("{value}.unwrap()"),
            _ => format!("{value}.expect(\"a {{value}} was expected\")"),
        }
    }

    /// An expression of a type that can be seen from it.
    pub fn known(&mut self, ty: &Ty, depth: usize) -> String {
        if let Some(place) = self.read_place(ty).filter(|_| self.source.chance(1, 2)) {
            return place;
        }
        if let Some(call) = self.call(ty, depth).filter(|_| self.source.chance(2, 3)) {
            return call;
        }
        if let Some(call) = self.method_giving(ty, depth).filter(|_| self.source.chance(2, 3)) {
            return call;
        }
        let name = self.fresh("t");
        let value = self.expr(ty, depth.saturating_sub(1));
        format!("({{ let {name}: {} = {value}; {name} }})", self.items.written(ty))
    }

    /// Part of something larger: a field of a tuple, an element of an array.
    fn part(&mut self, ty: &Ty, depth: usize) -> String {
        match self.source.below(3) {
            0 if matches!(ty, Ty::Scalar(s) if s.is_integer()) => {
                let pair = Ty::Tuple(vec![ty.clone(), BOOL]);
                match self.method_giving(&pair, depth) {
                    Some(call) => format!("{call}.0"),
                    None => self.leaf(ty),
                }
            }
            1 => {
                let tuple = Ty::Tuple(vec![U8, ty.clone()]);
                format!("{}.1", self.expr(&tuple, depth.saturating_sub(1)))
            }
            _ => {
                let items: Vec<String> = (0..2).map(|_| self.expr(ty, depth.saturating_sub(1))).collect();
                let at = self.source.below(2);
                format!("[{}][{at}]", items.join(", "))
            }
        }
    }

    /// How deep an expression of a statement goes.
    pub fn some_depth(&mut self) -> usize {
        [1, 2, 1, 2, 1, DEPTH - 1][self.source.below(6)]
    }
}
