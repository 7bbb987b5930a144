//! From text to rules. What is wrong is told all at once: behind a mistake, reading goes on at the next rule.

use super::token::{Token, tokens};
use super::{Between, Element, Expr, ExprKind, File, Line, Name, Pattern, PatternKind, Problem, RuleText, Span};

/// How deep terms and expressions may be nested.
const DEEPEST: usize = 100;

/// Reads a file of rules.
///
/// # Errors
///
/// All that can't be read.
pub fn parse(text: &str) -> Result<File, Vec<Problem>> {
    let (file, problems) = parse_what_can_be(text);
    if problems.is_empty() { Ok(file) } else { Err(problems) }
}

/// The rules that can be read, and what is wrong with others.
pub(crate) fn parse_what_can_be(text: &str) -> (File, Vec<Problem>) {
    let mut problems = Vec::new();
    let tokens = tokens(text, &mut problems);
    let mut parser = Parser { tokens, at: 0, depth: 0, inside: Vec::new(), parens: 0 };
    let mut file = File::default();
    loop {
        let before = parser.between();
        if parser.peek() == &Token::End {
            file.end = before;
            break;
        }
        match parser.rule(before) {
            Ok(rule) => file.rules.push(rule),
            Err(problem) => {
                problems.push(problem);
                parser.skip_to_next_rule();
            }
        }
    }
    (file, problems)
}

type Parsed<T> = Result<T, Problem>;

struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
    depth: usize,
    /// Comments inside of parentheses.
    inside: Vec<Between>,
    parens: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    /// Where the last token ended.
    fn end(&self) -> usize {
        self.tokens[self.at.saturating_sub(1)].1.1
    }

    fn next(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        self.skip_lines_in_parens();
    }

    /// Lines end where parentheses are closed.
    fn skip_lines_in_parens(&mut self) {
        while self.parens > 0 {
            match self.peek() {
                Token::Newline => {}
                Token::Comment { text, .. } => {
                    let text = text.clone();
                    self.inside.push(Between::Comment { text, moved_in: true });
                }
                _ => break,
            }
            self.at += 1;
        }
    }

    fn takes(&mut self, mark: &str) -> bool {
        let there = matches!(self.peek(), Token::Mark(found) if *found == mark);
        if there {
            match mark {
                "(" => self.parens += 1,
                ")" => self.parens = self.parens.saturating_sub(1),
                _ => {}
            }
            self.next();
        }
        there
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let there = matches!(self.peek(), Token::Name(name) if name == word);
        if there {
            self.next();
        }
        there
    }

    fn expect(&mut self, mark: &str, help: &str) -> Parsed<()> {
        if self.takes(mark) { Ok(()) } else { Err(self.expected(&format!("`{mark}`"), help)) }
    }

    fn expected(&self, what: &str, help: &str) -> Problem {
        let found = match self.peek() {
            Token::Name(name) => format!("`{name}`"),
            Token::Number(number) => format!("`{number}`"),
            Token::TooLargeByOne => "9223372036854775808, which is more than MAXINT".to_owned(),
            Token::Float(number) => format!("`{number:?}`"),
            Token::Mark(mark) => format!("`{mark}`"),
            Token::Comment { .. } | Token::Newline => "the end of the line".to_owned(),
            Token::End => "the end of the file".to_owned(),
        };
        Problem::new(self.span(), format!("{what} is expected here, not {found}")).help(help)
    }

    /// Empty lines and comments up to the next line that says something.
    fn between(&mut self) -> Vec<Between> {
        let mut found = std::mem::take(&mut self.inside);
        let mut empty = true;
        loop {
            match self.peek() {
                Token::Newline if empty => found.push(Between::Blank),
                Token::Newline => empty = true,
                Token::Comment { text, moved_in, .. } => {
                    found.push(Between::Comment { text: text.clone(), moved_in: *moved_in });
                    empty = false;
                }
                _ => return found,
            }
            self.next();
        }
    }

    /// The end of a line, and the comment there.
    fn line_end(&mut self, help: &str) -> Parsed<Option<String>> {
        let comment = match self.peek() {
            Token::Comment { text, trails: true, .. } => Some(text.clone()),
            _ => None,
        };
        if comment.is_some() {
            self.next();
        }
        match self.peek() {
            Token::Newline => self.next(),
            Token::End => {}
            _ => return Err(self.expected("the end of the line", help)),
        }
        Ok(comment)
    }

    /// Goes to where the next rule begins: a name and a colon at the beginning of a line.
    fn skip_to_next_rule(&mut self) {
        (self.parens, self.depth) = (0, 0);
        self.inside.clear();
        let begins = |at: usize| {
            let head = |offset| self.tokens.get(at + offset).map(|(token, _)| token);
            matches!((head(0), head(1)), (Some(Token::Name(_)), Some(Token::Mark(":"))))
        };
        let newline = |at: &usize| self.tokens[*at].0 == Token::Newline;
        let next = (self.at..self.tokens.len() - 1).filter(newline).map(|at| at + 1).find(|at| begins(*at));
        self.at = next.unwrap_or(self.tokens.len() - 1);
    }

    fn rule(&mut self, before: Vec<Between>) -> Parsed<RuleText> {
        let help = "a rule begins with its name: `add_zero: int_add(x, 0)`";
        let name = self.name("the name of a rule", help)?;
        self.expect(":", help)?;
        let pattern = self.pattern()?;
        let inside = std::mem::take(&mut self.inside);
        let after = self.line_end("a pattern ends with its line")?;
        let head = Line { before: [before, inside].concat(), says: (name, pattern), after };
        let mut elements = Vec::new();
        loop {
            let before = self.between();
            if self.takes("=>") {
                let says = self.pattern()?;
                let inside = std::mem::take(&mut self.inside);
                let after = self.line_end("a rule ends with its target; the next one begins on a new line")?;
                let target = Line { before: [before, inside].concat(), says, after };
                return Ok(RuleText { head, elements, target });
            }
            let says = self.element()?;
            let inside = std::mem::take(&mut self.inside);
            let after = self.line_end("one check or computation a line; parentheses may go over lines")?;
            elements.push(Line { before: [before, inside].concat(), says, after });
        }
    }

    fn element(&mut self) -> Parsed<Element> {
        let span = self.span();
        let help = "a rule goes on with `check …`, `name = …`, `SORRY_Z3` or `=> target`";
        if self.takes_word("SORRY_Z3") {
            return Ok(Element::Sorry(span));
        }
        if self.takes_word("check") {
            return Ok(Element::Check(self.expr()?));
        }
        if let (Token::Name(name), Some((Token::Mark(":"), _))) = (self.peek(), self.tokens.get(self.at + 1)) {
            let message = format!("the rule before `{name}` has no target");
            return Err(Problem::new(span, message).help("it ends with `=> target`"));
        }
        let name = self.name("`check`, a name, `SORRY_Z3` or `=>`", help)?;
        self.expect("=", help)?;
        Ok(Element::Compute(name, self.expr()?))
    }

    fn name(&mut self, what: &str, help: &str) -> Parsed<Name> {
        let span = self.span();
        match self.peek() {
            Token::Name(name) if !["and", "or", "not", "check", "SORRY_Z3"].contains(&name.as_str()) => {
                let text = name.clone();
                self.next();
                Ok(Name { text, span })
            }
            _ => Err(self.expected(what, help)),
        }
    }

    /// Something nested, not too deep.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEEPEST {
            return Err(Problem::new(self.span(), format!("nested more than {DEEPEST} deep"))
                .help("compute a part on a line of its own"));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn pattern(&mut self) -> Parsed<Pattern> {
        self.nested(Self::pattern_here)
    }

    fn pattern_here(&mut self) -> Parsed<Pattern> {
        let help = "patterns are ops of patterns, names and numbers: `int_add(x, int_neg(y))`";
        let start = self.span().0;
        let minus = self.takes("-");
        if minus || self.takes("+") {
            let number = self.signed(minus).ok_or_else(|| self.expected("a number", help))?;
            self.next();
            return Ok(Pattern { kind: number, span: (start, self.end()) });
        }
        if let Some(kind) = self.signed(false) {
            self.next();
            return Ok(Pattern { kind, span: (start, self.end()) });
        }
        let name = self.name("an op, a name or a number", help)?;
        if !self.takes("(") {
            return Ok(Pattern { span: name.span, kind: PatternKind::Name(name.text) });
        }
        let args = self.list(Self::pattern)?;
        Ok(Pattern { kind: PatternKind::Op(name, args), span: (start, self.end()) })
    }

    /// The number that stands here.
    fn signed(&self, minus: bool) -> Option<PatternKind> {
        match self.peek() {
            Token::Number(number) => Some(PatternKind::Number(if minus { number.wrapping_neg() } else { *number })),
            Token::TooLargeByOne if minus => Some(PatternKind::Number(i64::MIN)),
            Token::Float(number) => Some(PatternKind::Float(if minus { -number } else { *number })),
            _ => None,
        }
    }

    /// What stands behind an opening parenthesis, up to the closing one.
    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.skip_lines_in_parens();
        let mut found = Vec::new();
        if self.takes(")") {
            return Ok(found);
        }
        loop {
            found.push(item(self)?);
            if self.takes(")") {
                return Ok(found);
            }
            self.expect(",", "arguments are separated by commas, and end with `)`")?;
        }
    }

    fn expr(&mut self) -> Parsed<Expr> {
        self.nested(Self::or)
    }

    fn or(&mut self) -> Parsed<Expr> {
        self.several("or", Self::and, ExprKind::Or)
    }

    fn and(&mut self) -> Parsed<Expr> {
        self.several("and", Self::not, ExprKind::And)
    }

    fn several(
        &mut self,
        word: &str,
        part: impl Fn(&mut Self) -> Parsed<Expr>,
        make: fn(Vec<Expr>) -> ExprKind,
    ) -> Parsed<Expr> {
        let start = self.span().0;
        let mut parts = vec![part(self)?];
        while self.takes_word(word) {
            parts.push(part(self)?);
        }
        match parts.len() {
            1 => Ok(parts.swap_remove(0)),
            _ => Ok(Expr { kind: make(parts), span: (start, self.end()) }),
        }
    }

    fn not(&mut self) -> Parsed<Expr> {
        let start = self.span().0;
        if self.takes_word("not") {
            let of = Box::new(self.nested(Self::not)?);
            return Ok(Expr { kind: ExprKind::Not(of), span: (start, self.end()) });
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Parsed<Expr> {
        const COMPARISONS: [&str; 10] = ["==", "!=", "<", "<=", ">", ">=", "<u", "<=u", ">u", ">=u"];
        let start = self.span().0;
        let first = self.binary(0)?;
        let mut rest = Vec::new();
        while let Some(mark) = COMPARISONS.into_iter().find(|mark| self.takes(mark)) {
            rest.push((mark, self.binary(0)?));
        }
        match rest.is_empty() {
            true => Ok(first),
            false => Ok(Expr { kind: ExprKind::Compare(Box::new(first), rest), span: (start, self.end()) }),
        }
    }

    /// Python's precedences, from the loosest on.
    fn binary(&mut self, level: usize) -> Parsed<Expr> {
        const LEVELS: [&[&str]; 6] = [&["|"], &["^"], &["&"], &["<<", ">>", ">>u"], &["+", "-"], &["*"]];
        let Some(marks) = LEVELS.get(level) else { return self.unary() };
        let start = self.span().0;
        let mut left = self.binary(level + 1)?;
        while let Some(mark) = marks.iter().copied().find(|mark| self.takes(mark)) {
            let right = self.binary(level + 1)?;
            left = Expr { kind: ExprKind::Binary(mark, Box::new(left), Box::new(right)), span: (start, self.end()) };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.span().0;
        if self.takes("-") {
            if self.peek() == &Token::TooLargeByOne {
                self.next();
                return Ok(Expr { kind: ExprKind::Number(i64::MIN), span: (start, self.end()) });
            }
            let of = Box::new(self.nested(Self::unary)?);
            // A number with a sign is a number.
            let kind = match of.kind {
                ExprKind::Number(number) => ExprKind::Number(number.wrapping_neg()),
                _ => ExprKind::Unary("-", of),
            };
            return Ok(Expr { kind, span: (start, self.end()) });
        }
        if self.takes("+") {
            return self.nested(Self::unary);
        }
        if self.takes("~") {
            let of = Box::new(self.nested(Self::unary)?);
            return Ok(Expr { kind: ExprKind::Unary("~", of), span: (start, self.end()) });
        }
        self.postfix()
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let start = self.span().0;
        let mut of = self.atom()?;
        while self.takes(".") {
            let name = self.name("the name of a method or attribute", "`x.lower`, `x.known_nonnegative()`")?;
            let kind = match self.takes("(") {
                true => ExprKind::Method(Box::new(of), name, self.list(Self::expr)?),
                false => ExprKind::Attribute(Box::new(of), name),
            };
            of = Expr { kind, span: (start, self.end()) };
        }
        Ok(of)
    }

    fn atom(&mut self) -> Parsed<Expr> {
        let help = "expressions are made of numbers, names, calls, operators and parentheses";
        let start = self.span().0;
        if let Token::Number(number) = self.peek() {
            let kind = ExprKind::Number(*number);
            self.next();
            return Ok(Expr { kind, span: (start, self.end()) });
        }
        if let Token::Float(_) | Token::TooLargeByOne = self.peek() {
            return Err(self.expected("an integer of 64 bits", "expressions compute with integers alone"));
        }
        if self.takes("(") {
            self.skip_lines_in_parens();
            let of = self.expr()?;
            self.expect(")", "a parenthesis that is opened is closed")?;
            return Ok(Expr { kind: of.kind, span: (start, self.end()) });
        }
        let name = self.name("a value", help)?;
        let kind = match self.takes("(") {
            true => ExprKind::Call(name, self.list(Self::expr)?),
            false => ExprKind::Name(name.text),
        };
        Ok(Expr { kind, span: (start, self.end()) })
    }
}
