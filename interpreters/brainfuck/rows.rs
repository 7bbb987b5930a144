//! The domain of rows of instructions, for the bytecode interpreter `bf.rs`.

use super::lang::{Code, Insn};
use super::{Domain, Sequence};
use std::fmt::Write;

impl Insn {
    fn new(code: Code) -> Insn {
        Insn { code, by: 0, by2: 0, to: 0, to2: 0 }
    }
}

/// A program means the instructions that carry it out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rows;

impl Rows {
    /// The instructions with the places to which brackets lead.
    pub fn finish(program: Sequence<Insn>) -> Vec<Insn> {
        let mut rows: Vec<Insn> = program.into_iter().collect();
        let mut open = Vec::new();
        for at in 0..rows.len() {
            match rows[at].code {
                Code::Open => open.push(at),
                Code::Close => {
                    let Some(start) = open.pop() else { unreachable!("brackets are made in pairs") };
                    (rows[start].to, rows[at].to) = (at as i64 + 1, start as i64 + 1);
                }
                _ => {}
            }
        }
        rows
    }

    /// As `--args` takes it.
    pub fn arguments(rows: &[Insn]) -> String {
        let mut out = String::from("[");
        for (i, insn) in rows.iter().enumerate() {
            let Insn { code, by, by2, to, to2 } = insn;
            let comma = if i == 0 { "" } else { "," };
            let _ = write!(out, "{comma}{{code:Code::{code:?},by:{by},by2:{by2},to:{to},to2:{to2}}}");
        }
        out + "]"
    }
}

impl Domain for Rows {
    type Repr = Sequence<Insn>;

    fn unit(&mut self) -> Sequence<Insn> {
        Sequence::default()
    }

    fn join(&mut self, first: Sequence<Insn>, then: Sequence<Insn>) -> Sequence<Insn> {
        first.join(then)
    }

    fn plus(&mut self, by: u8) -> Sequence<Insn> {
        Sequence::of(Insn { by, ..Insn::new(Code::Plus) })
    }

    fn right(&mut self, to: i64) -> Sequence<Insn> {
        Sequence::of(Insn { to, ..Insn::new(Code::Right) })
    }

    fn input(&mut self) -> Sequence<Insn> {
        Sequence::of(Insn::new(Code::Input))
    }

    fn output(&mut self) -> Sequence<Insn> {
        Sequence::of(Insn::new(Code::Output))
    }

    fn loop_(&mut self, body: Sequence<Insn>) -> Sequence<Insn> {
        body.between(Insn::new(Code::Open), Insn::new(Code::Close))
    }

    fn zero(&mut self) -> Sequence<Insn> {
        Sequence::of(Insn::new(Code::Zero))
    }

    fn scale_move(&mut self, to: i64, by: u8) -> Sequence<Insn> {
        Sequence::of(Insn { to, by, ..Insn::new(Code::ScaleMove) })
    }

    fn scale_move2(&mut self, (to, to2): (i64, i64), (by, by2): (u8, u8)) -> Sequence<Insn> {
        Sequence::of(Insn { code: Code::ScaleMove2, by, by2, to, to2 })
    }
}
