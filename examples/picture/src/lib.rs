//! Pictures as formulas. A picture is a row of operations on numbers, each of which uses results of earlier ones; a
//! point is inside where the last of them is negative. [`lang`] evaluates a row at a point; compiled for a row that is
//! known, that is one straight function of x and y.
//!
//! The text is that of M. Keeter's [Prospero challenge](https://www.mattkeeter.com/projects/prospero/): lines as `_4
//! add _0 _3`.

/// A row of operations in the interpreter's dialect: the evaluator, and what draws with it.
#[hueshift::interpreter(entry value(ops), entry draw(ops))]
pub mod lang {
    use hueshift::prelude::*;

    /// What an operation does.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Kind {
        /// Its constant.
        Const,
        /// x.
        VarX,
        /// y.
        VarY,
        /// The sum.
        Add,
        /// The difference.
        Sub,
        /// The product.
        Mul,
        /// The greater.
        Max,
        /// The lesser.
        Min,
        /// The opposite.
        Neg,
        /// The square.
        Square,
        /// The square root.
        Sqrt,
    }

    /// One operation: its operands are the results of the operations with these numbers.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Op {
        /// What it does.
        pub kind: Kind,
        /// The first operand.
        pub a: u16,
        /// The second operand.
        pub b: u16,
        /// What a constant is.
        pub constant: f32,
    }

    /// The most operations that a picture may have.
    pub const MOST: usize = 8192;

    /// The most pixels in a row. (It also tells the compiler that no coordinate is infinite: so none of the usual
    /// pictures has a NaN in it.)
    pub const LARGEST: usize = 4096;

    /// What the last operation gives at a point.
    pub fn value(ops: &[Op], x: f32, y: f32) -> f32 {
        let mut values = [0.0; MOST];
        let mut at = concrete(0);
        while at < concrete(ops.len()) {
            let op = ops[at];
            let a = values[op.a as usize];
            let b = values[op.b as usize];
            values[at] = match concrete(op.kind) {
                Kind::Const => op.constant,
                Kind::VarX => x,
                Kind::VarY => y,
                Kind::Add => a + b,
                Kind::Sub => a - b,
                Kind::Mul => a * b,
                Kind::Max => a.max(b),
                Kind::Min => a.min(b),
                Kind::Neg => -a,
                Kind::Square => a * a,
                Kind::Sqrt => a.sqrt(),
            };
            at += 1;
        }
        values[ops.len() - 1]
    }

    /// Draws a picture from -1 to 1 in both directions, `size` wide and high, the uppermost row first: 255 is inside.
    pub fn draw(ops: &[Op], size: usize, image: &mut [u8]) {
        assert!(size >= 1);
        assert!(size <= LARGEST);
        let step = 2.0 / size as f32;
        let mut row = 0;
        while row < size {
            let y = 1.0 - (row as f32 + 0.5) * step;
            let mut column = 0;
            while column < size {
                let x = (column as f32 + 0.5) * step - 1.0;
                image[row * size + column] = if value(ops, x, y) < 0.0 { 255 } else { 0 };
                column += 1;
            }
            row += 1;
        }
    }
}

use lang::{Kind, MOST, Op};
use std::collections::HashMap;

/// What is wrong with a picture's text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {what}")]
pub struct Wrong {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there, and what would be right.
    pub what: String,
}

/// The names of the operations, and how many operands each has.
const NAMES: [(&str, Kind, usize); 11] = [
    ("const", Kind::Const, 0),
    ("var-x", Kind::VarX, 0),
    ("var-y", Kind::VarY, 0),
    ("add", Kind::Add, 2),
    ("sub", Kind::Sub, 2),
    ("mul", Kind::Mul, 2),
    ("max", Kind::Max, 2),
    ("min", Kind::Min, 2),
    ("neg", Kind::Neg, 1),
    ("square", Kind::Square, 1),
    ("sqrt", Kind::Sqrt, 1),
];

/// Reads a picture.
///
/// # Errors
/// The first line that can't be read.
///
/// ```
/// let circle = "_0 var-x\n_1 var-y\n_2 square _0\n_3 square _1\n_4 add _2 _3\n_5 const 0.5\n_6 sub _4 _5\n";
/// let ops = picture::read(circle).unwrap();
/// assert!(picture::lang::interp::value(&ops, 0.0, 0.25).unwrap() < 0.0);
/// assert_eq!(picture::read("_0 var-z").unwrap_err().to_string(), "1: there is no operation `var-z`");
/// ```
pub fn read(text: &str) -> Result<Vec<Op>, Wrong> {
    let mut ops: Vec<Op> = Vec::new();
    let mut numbers: HashMap<&str, u16> = HashMap::new();
    for (line, words) in (1..).zip(text.lines()) {
        let wrong = |what: String| Wrong { line, what };
        let words: Vec<&str> = words.split_whitespace().take_while(|word| !word.starts_with('#')).collect();
        let [name, operation, rest @ ..] = &words[..] else {
            if words.is_empty() {
                continue;
            }
            return Err(wrong("a line is a name, an operation and its operands: `_2 add _0 _1`".to_owned()));
        };
        let known = NAMES.iter().find(|(known, ..)| known == operation);
        let Some(&(_, kind, count)) = known else { return Err(wrong(format!("there is no operation `{operation}`"))) };
        let expected = if kind == Kind::Const { 1 } else { count };
        if rest.len() != expected {
            return Err(wrong(format!("`{operation}` takes {expected} operands, {} are given", rest.len())));
        }
        if ops.len() == MOST {
            return Err(wrong(format!("a picture has at most {MOST} operations")));
        }
        let (mut operands, mut constant) = ([0; 2], 0.0);
        if kind == Kind::Const {
            constant = rest[0].parse().map_err(|_| wrong(format!("`{}` is no number", rest[0])))?;
        } else {
            for (operand, given) in operands.iter_mut().zip(rest) {
                *operand = *numbers.get(given).ok_or_else(|| wrong(format!("there is no `{given}` above")))?;
            }
        }
        if numbers.insert(name, ops.len() as u16).is_some() {
            return Err(wrong(format!("`{name}` is there twice")));
        }
        ops.push(Op { kind, a: operands[0], b: operands[1], constant });
    }
    if ops.is_empty() {
        return Err(Wrong { line: 1, what: "there are no operations".to_owned() });
    }
    Ok(ops)
}

/// The same as a C program that draws the picture in the size it is given, and prints how long a pixel took: what a C
/// compiler makes of it is what compiled code is compared with.
pub fn to_c(ops: &[Op]) -> String {
    let mut text = "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n\
                    static float value(float x, float y) {\n"
        .to_owned();
    for (at, op) in ops.iter().enumerate() {
        let (a, b) = (format!("v{}", op.a), format!("v{}", op.b));
        let term = match op.kind {
            Kind::Const if op.constant.is_finite() => format!("{:?}f", op.constant),
            Kind::Const if op.constant.is_nan() => "NAN".to_owned(),
            Kind::Const => (if op.constant > 0.0 { "INFINITY" } else { "-INFINITY" }).to_owned(),
            Kind::VarX => "x".to_owned(),
            Kind::VarY => "y".to_owned(),
            Kind::Add => format!("{a} + {b}"),
            Kind::Sub => format!("{a} - {b}"),
            Kind::Mul => format!("{a} * {b}"),
            Kind::Max => format!("{a} > {b} ? {a} : {b}"),
            Kind::Min => format!("{a} < {b} ? {a} : {b}"),
            Kind::Neg => format!("-{a}"),
            Kind::Square => format!("{a} * {a}"),
            Kind::Sqrt => format!("sqrtf({a})"),
        };
        text.push_str(&format!("    float v{at} = {term};\n"));
    }
    text.push_str(&format!("    return v{};\n}}\n", ops.len().saturating_sub(1)));
    text.push_str(MAIN);
    text
}

const MAIN: &str = r#"int main(int argc, char **argv) {
    int size = argc > 1 ? atoi(argv[1]) : 256;
    unsigned char *image = malloc((size_t)size * size);
    float step = 2.0f / size;
    struct timespec begun, ended;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (int row = 0; row < size; row++) {
        float y = 1.0f - (row + 0.5f) * step;
        for (int column = 0; column < size; column++) {
            float x = (column + 0.5f) * step - 1.0f;
            image[row * size + column] = value(x, y) < 0 ? 255 : 0;
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    double ns = (ended.tv_sec - begun.tv_sec) * 1e9 + (ended.tv_nsec - begun.tv_nsec);
    printf("C: %.0f ns a pixel\n", ns / size / size);
    if (argc > 2) {
        FILE *file = fopen(argv[2], "wb");
        fprintf(file, "P5 %d %d 255\n", size, size);
        fwrite(image, 1, (size_t)size * size, file);
        fclose(file);
    }
    return 0;
}
"#;
