//! A list that is walked by `Option<&mut Node>`: what is `None` where it is traced first leads somewhere later.

use hueshift::JitOptions;
use hueshift::embed::Jit;

#[hueshift::interpreter]
mod lang {
    use hueshift::prelude::*;

    pub struct Node<'a> {
        pub v: i64,
        pub next: Next<'a>,
    }
    #[repr(C)]
    pub enum Next<'a> {
        End,
        To(&'a mut Node<'a>),
    }
    fn get(n: &Node) -> i64 {
        n.v
    }
    #[portal(greens(), reds(cur, n, acc))]
    pub fn walk<'b, 'a>(mut cur: Option<&'b mut Node<'a>>, mut n: i64, mut acc: i64) -> i64 {
        loop {
            merge_point!();
            if n == 0 {
                return acc;
            }
            n -= 1;
            match cur {
                None => {
                    acc += 1;
                    cur = None;
                }
                Some(node) => {
                    let x = get(node);
                    node.v = x + 1;
                    let y = get(node);
                    acc = acc * 3 + x * 10 + y;
                    match &mut node.next {
                        Next::To(x) => cur = Some(&mut **x),
                        Next::End => cur = None,
                    }
                }
            }
            can_enter_jit!();
        }
    }
}

/// A list of three.
fn with_a_list<R>(f: impl FnOnce(&mut lang::Node) -> R) -> R {
    let mut c = lang::Node { v: 5, next: lang::Next::End };
    let mut b = lang::Node { v: 7, next: lang::Next::To(&mut c) };
    let mut a = lang::Node { v: 9, next: lang::Next::To(&mut b) };
    f(&mut a)
}

#[test]
fn a_list_is_walked_to_its_end() {
    for (threshold, bridge) in
        [2, 3, 5, 10, 50].into_iter().flat_map(|threshold| [1, 2, 5].map(|bridge| (threshold, bridge)))
    {
        let options = JitOptions { threshold, bridge, background: false, ..Jit::usual_options() };
        let mut jit = Jit::with_options(&lang::INTERPRETER, options);
        for round in 0..30 {
            let wanted = with_a_list(|a| lang::walk(Some(a), 60, 0));
            let got = with_a_list(|a| lang::jit::walk(&mut jit, Some(a), 60, 0));
            assert_eq!(got.ok(), Some(wanted), "threshold {threshold}, bridge {bridge}, round {round}");
        }
    }
}

/// A portal is handed a `&mut` under a name of its own, in a parameter that isn't `mut`.
#[hueshift::interpreter]
mod named {
    use hueshift::prelude::*;

    type Cells<'a> = &'a mut [i64];

    #[portal(greens(code, first), reds(cells, n, acc))]
    pub fn sum(code: &[u8], first: usize, cells: Cells, mut n: i64, mut acc: i64) -> i64 {
        loop {
            merge_point!();
            if n == 0 {
                return acc;
            }
            n -= 1;
            let at = code[first] as usize;
            cells[at] += n;
            acc = acc.wrapping_mul(3) + cells[at];
            can_enter_jit!();
        }
    }
}

#[test]
fn a_reference_under_a_name_of_its_own() {
    let code = [2, 1];
    for (threshold, bridge) in [(2, 1), (10, 5)] {
        let options = JitOptions { threshold, bridge, background: false, ..Jit::usual_options() };
        let mut jit = Jit::with_options(&named::INTERPRETER, options);
        for first in [0, 1, 0] {
            let (mut wanted_cells, mut cells) = ([1, 2, 3], [1, 2, 3]);
            let wanted = named::sum(&code, first, &mut wanted_cells, 40, 0);
            let got = named::jit::sum(&mut jit, &code, first, &mut cells, 40, 0);
            assert_eq!((got.ok(), cells), (Some(wanted), wanted_cells), "threshold {threshold}, first {first}");
        }
    }
}

hueshift::interpreter_file!(
    "../tests/dialect/lent_from_memory.rs",
    mod lent,
    entry of_a_local(code),
    entry of_what_is_handed_in(code),
    entry that_change_places(code)
);

/// A function that nobody looks into follows what a portal was handed from memory.
#[test]
fn what_is_lent_from_memory_is_seen_there() {
    for (threshold, bridge) in [2, 5, 20].into_iter().flat_map(|threshold| [1, 2, 5].map(|bridge| (threshold, bridge)))
    {
        let options = JitOptions { threshold, bridge, background: false, ..Jit::usual_options() };
        let mut jit = Jit::with_options(&lent::INTERPRETER, options);
        for code in [&b"cL"[..], b"cxcL", b"cxpcsL", b"cscpxsL"] {
            for n in [1, 7, 60, 200] {
                let what = format!("{code:?}, {n} rounds, threshold {threshold}, bridge {bridge}");
                let got = lent::jit::of_a_local(&mut jit, code, n).expect("no trap");
                assert_eq!(got, lent::of_a_local(code, n), "{what}");
                let got = lent::jit::that_change_places(&mut jit, code, n).expect("no trap");
                assert_eq!(got, lent::that_change_places(code, n), "{what}");
                let (mut own, mut wanted) = (lent::Regs { a: n }, lent::Regs { a: n });
                let got = lent::jit::of_what_is_handed_in(&mut jit, code, n, &mut own).expect("no trap");
                assert_eq!(got, lent::of_what_is_handed_in(code, n, &mut wanted), "{what}");
                assert_eq!(own.a, wanted.a, "{what}");
            }
        }
    }
}
