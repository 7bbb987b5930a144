//! The peephole optimizer: from any domain to a domain.
//!
//! It interprets a program abstractly. A part of a program is a [`Buffer`]: the commands of which something is known and may
//! still come to less with what follows, and the meanings, in the domain below, of those about which there is nothing to say
//! but whether the cell is 0 behind them. Whatever is put at the end of a buffer is held against the end by these rules:
//!
//! | end | next | both |
//! | --- | --- | --- |
//! | | `plus 0`, `right 0` | nothing |
//! | `plus a` | `plus b` | `plus (a + b)` |
//! | `right a` | `right b` | `right (a + b)` |
//! | `plus a` | `zero` | `zero` |
//! | what leaves 0 | `zero`, or a loop | what leaves 0 |
//!
//! A loop that only adds and moves, and comes back to its cell one less or one more, is an idiom.
//!
//! An optimized program does what the program does that it was made from, except that it may leave out that a cell is
//! touched: so where one is beyond the end of the tape the optimized program may go on.

use super::Domain;

/// The optimizer before the domain `D`.
#[derive(Clone, Debug, Default)]
pub struct Peephole<D> {
    below: D,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Item<R> {
    Plus(u8),
    Right(i64),
    Zero,
    /// Something that is done as long as, or only if, the cell is not 0, and leaves 0 in it.
    Loop(R),
    /// Input and output.
    Other(R),
}

impl<R> Item<R> {
    fn leaves_zero(&self) -> bool {
        matches!(self, Item::Zero | Item::Loop(_))
    }
}

/// A part of a program on its way through the optimizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer<R>(Vec<Item<R>>);

impl<R> Buffer<R> {
    fn of(item: Item<R>) -> Buffer<R> {
        let mut buffer = Buffer(Vec::new());
        buffer.push(item);
        buffer
    }

    /// Puts an item at the end, where the rules hold it against the end.
    fn push(&mut self, item: Item<R>) {
        match (self.0.last_mut(), item) {
            (_, Item::Plus(0) | Item::Right(0)) => {}
            (Some(Item::Plus(a)), Item::Plus(b)) => {
                *a = a.wrapping_add(b);
                self.drop_nothing();
            }
            (Some(Item::Right(a)), Item::Right(b)) => {
                *a = a.wrapping_add(b);
                self.drop_nothing();
            }
            (Some(Item::Plus(_)), Item::Zero) => {
                self.0.pop();
                self.push(Item::Zero);
            }
            (Some(end), Item::Zero | Item::Loop(_)) if end.leaves_zero() => {}
            (_, item) => self.0.push(item),
        }
    }

    /// Drops an end that does nothing.
    fn drop_nothing(&mut self) {
        self.0.pop_if(|end| matches!(end, Item::Plus(0) | Item::Right(0)));
    }
}

/// What a loop may come to that only adds and moves.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Idiom {
    Zero,
    ScaleMove(i64, u8),
    ScaleMove2((i64, i64), (u8, u8)),
}

impl Idiom {
    /// The idiom that a loop with this body is, if it is one.
    fn of<R>(body: &[Item<R>]) -> Option<Idiom> {
        if let [Item::Plus(by)] = body
            && by % 2 == 1
        {
            return Some(Idiom::Zero); // an odd step meets 0 in the end
        }
        // What a round adds, by the cell's distance, in the order of first use.
        let mut added: Vec<(i64, u8)> = vec![(0, 0)];
        let mut at = 0_i64;
        for item in body {
            match item {
                Item::Right(by) => at = at.wrapping_add(*by),
                Item::Plus(by) => match added.iter_mut().find(|(cell, _)| *cell == at) {
                    Some((_, sum)) => *sum = sum.wrapping_add(*by),
                    None => added.push((at, *by)),
                },
                Item::Zero | Item::Loop(_) | Item::Other(_) => return None,
            }
        }
        // There are as many rounds as the cell says, or as many as are missing to 256.
        let per_unit = match (at, added[0].1) {
            (0, 255) => 1,
            (0, 1) => 255_u8,
            _ => return None,
        };
        let mut targets = added[1..].iter().filter(|(_, by)| *by != 0).map(|(to, by)| (*to, by.wrapping_mul(per_unit)));
        match (targets.next(), targets.next(), targets.next()) {
            (None, ..) => Some(Idiom::Zero),
            (Some((to, by)), None, _) => Some(Idiom::ScaleMove(to, by)),
            (Some((to, by)), Some((to2, by2)), None) => Some(Idiom::ScaleMove2((to, to2), (by, by2))),
            _ => None,
        }
    }
}

impl<D: Domain> Peephole<D> {
    /// The optimizer before a domain.
    pub fn new(below: D) -> Peephole<D> {
        Peephole { below }
    }

    /// The domain that it stands before.
    pub fn below(self) -> D {
        self.below
    }

    /// What a program means in the domain below.
    pub fn finish(&mut self, program: Buffer<D::Repr>) -> D::Repr {
        let below = &mut self.below;
        let unit = below.unit();
        program.0.into_iter().fold(unit, |done, item| {
            let next = match item {
                Item::Plus(by) => below.plus(by),
                Item::Right(by) => below.right(by),
                Item::Zero => below.zero(),
                Item::Loop(repr) | Item::Other(repr) => repr,
            };
            below.join(done, next)
        })
    }
}

impl<D: Domain> Domain for Peephole<D> {
    type Repr = Buffer<D::Repr>;

    fn unit(&mut self) -> Self::Repr {
        Buffer(Vec::new())
    }

    fn join(&mut self, mut first: Self::Repr, then: Self::Repr) -> Self::Repr {
        if first.0.is_empty() {
            return then;
        }
        then.0.into_iter().for_each(|item| first.push(item));
        first
    }

    fn plus(&mut self, by: u8) -> Self::Repr {
        Buffer::of(Item::Plus(by))
    }

    fn right(&mut self, by: i64) -> Self::Repr {
        Buffer::of(Item::Right(by))
    }

    fn input(&mut self) -> Self::Repr {
        Buffer(vec![Item::Other(self.below.input())])
    }

    fn output(&mut self) -> Self::Repr {
        Buffer(vec![Item::Other(self.below.output())])
    }

    fn loop_(&mut self, body: Self::Repr) -> Self::Repr {
        match Idiom::of(&body.0) {
            Some(Idiom::Zero) => Buffer::of(Item::Zero),
            Some(Idiom::ScaleMove(to, 1)) => Buffer::of(Item::Loop(self.below.move_(to))),
            Some(Idiom::ScaleMove(to, by)) => Buffer::of(Item::Loop(self.below.scale_move(to, by))),
            Some(Idiom::ScaleMove2(to, by)) => Buffer::of(Item::Loop(self.below.scale_move2(to, by))),
            // What leaves 0 is done once, if at all; and by itself it does nothing where the cell is 0.
            None if body.0.len() == 1 && body.0[0].leaves_zero() => body,
            None => {
                let body = self.finish(body);
                Buffer::of(Item::Loop(self.below.loop_(body)))
            }
        }
    }
}
