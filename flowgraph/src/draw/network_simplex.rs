//! The network simplex of E. R. Gansner, E. Koutsofios, S. C. North and K.-P. Vo, "A Technique for Drawing Directed
//! Graphs" (IEEE TSE 19:3, 1993): positions that keep minimal distances and make weighted distances small in sum.
//!
//! Drawings ask it twice: for the layer of each block (distances are edges), and for the horizontal places of blocks
//! and wires (distances are bends).
//!
//! Differs from the paper in two ways. The first tree is the one of longest paths, which is tight by construction. And
//! cut values are sums of node balances over subtrees, so a pivot is a few linear walks. The number of pivots is
//! bounded by a budget: positions are feasible after each of them, so running out costs beauty only.

/// `position[to] - position[from] >= min`, at the price of `weight` times their distance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constraint {
    pub from: usize,
    pub to: usize,
    pub min: i32,
    pub weight: i32,
}

/// Visits of nodes and constraints that may be spent on pivots: a tenth of a second. Graphs of 1,000 ops need no more.
const BUDGET: usize = 16_000_000;

/// The best positions that the budget allows, the least being 0; `None` if the constraints are cyclic.
pub(super) fn solve(nodes: usize, constraints: &[Constraint]) -> Option<Vec<i32>> {
    let root = nodes;
    let mut constraints = constraints.to_vec();
    let mut has_lower_bound = vec![false; nodes];
    constraints.iter().for_each(|c| has_lower_bound[c.to] = true);
    for to in (0..nodes).filter(|&v| !has_lower_bound[v]) {
        constraints.push(Constraint { from: root, to, min: 0, weight: 0 });
    }
    let mut tree = Tree::of_longest_paths(nodes + 1, &constraints)?;
    let rounds = BUDGET / (nodes + constraints.len() + 1);
    for _ in 0..rounds {
        tree.number();
        let Some(leaving) = tree.leaving() else { break };
        let Some(entering) = tree.entering(leaving) else { break };
        tree.exchange(leaving, entering);
    }
    let mut position = tree.position;
    position.truncate(nodes);
    let least = position.iter().copied().min().unwrap_or(0);
    position.iter_mut().for_each(|p| *p -= least);
    Some(position)
}

/// A spanning tree of tight constraints.
struct Tree<'a> {
    constraints: &'a [Constraint],
    position: Vec<i32>,
    parent: Vec<usize>,
    /// The constraint to the parent.
    link: Vec<usize>,
    /// Weights of constraints out of the node, less those of constraints into it.
    balance: Vec<i64>,
    /// Numbers in preorder, and the end of each subtree's range of them.
    order: Vec<usize>,
    begin: Vec<usize>,
    end: Vec<usize>,
    subtree_balance: Vec<i64>,
    first_child: Vec<usize>,
    next_sibling: Vec<usize>,
}

const NONE: usize = usize::MAX;

impl<'a> Tree<'a> {
    fn of_longest_paths(n: usize, constraints: &'a [Constraint]) -> Option<Tree<'a>> {
        let mut outgoing = vec![Vec::new(); n];
        let mut waiting = vec![0usize; n];
        let mut balance = vec![0i64; n];
        for (i, c) in constraints.iter().enumerate() {
            outgoing[c.from].push(i);
            waiting[c.to] += 1;
            balance[c.from] += i64::from(c.weight);
            balance[c.to] -= i64::from(c.weight);
        }
        let mut position = vec![i32::MIN; n];
        let (mut parent, mut link) = (vec![NONE; n], vec![NONE; n]);
        position[n - 1] = 0;
        let mut ready = vec![n - 1];
        let mut done = 0;
        while let Some(v) = ready.pop() {
            done += 1;
            for &i in &outgoing[v] {
                let c = &constraints[i];
                let at = position[v].saturating_add(c.min);
                if at > position[c.to] {
                    (position[c.to], parent[c.to], link[c.to]) = (at, v, i);
                }
                waiting[c.to] -= 1;
                if waiting[c.to] == 0 {
                    ready.push(c.to);
                }
            }
        }
        (done == n).then(|| Tree {
            constraints,
            position,
            parent,
            link,
            balance,
            order: Vec::with_capacity(n),
            begin: vec![0; n],
            end: vec![0; n],
            subtree_balance: vec![0; n],
            first_child: vec![NONE; n],
            next_sibling: vec![NONE; n],
        })
    }

    /// Numbers the nodes in preorder and sums the balances of subtrees.
    fn number(&mut self) {
        let n = self.position.len();
        self.first_child.fill(NONE);
        for v in (0..n - 1).rev() {
            let p = self.parent[v];
            self.next_sibling[v] = std::mem::replace(&mut self.first_child[p], v);
        }
        self.order.clear();
        let mut stack = vec![n - 1];
        while let Some(v) = stack.pop() {
            self.begin[v] = self.order.len();
            self.order.push(v);
            let mut child = self.first_child[v];
            while child != NONE {
                stack.push(child);
                child = self.next_sibling[child];
            }
        }
        self.subtree_balance.copy_from_slice(&self.balance);
        for v in 0..n {
            self.end[v] = self.begin[v] + 1;
        }
        for &v in self.order.iter().rev().take(n - 1) {
            let p = self.parent[v];
            self.subtree_balance[p] += self.subtree_balance[v];
            self.end[p] = self.end[p].max(self.end[v]);
        }
    }

    /// Whether the constraint to the parent of `v` leads away from the parent.
    fn leads_down(&self, v: usize) -> bool {
        self.constraints[self.link[v]].to == v
    }

    /// The node whose link to its parent has the least cut value, if that is negative.
    fn leaving(&self) -> Option<usize> {
        let cut = |v: usize| if self.leads_down(v) { -self.subtree_balance[v] } else { self.subtree_balance[v] };
        (0..self.position.len() - 1).map(|v| (cut(v), v)).min().filter(|(cut, _)| *cut < 0).map(|(_, v)| v)
    }

    /// The constraint with the least slack that leads back over the cut at `v`, and that slack.
    fn entering(&self, v: usize) -> Option<(i32, usize)> {
        let inside = |u: usize| (self.begin[v]..self.end[v]).contains(&self.begin[u]);
        let down = self.leads_down(v);
        let crosses = |c: &Constraint| inside(c.from) == down && inside(c.to) != down;
        let slack = |c: &Constraint| self.position[c.to] - self.position[c.from] - c.min;
        self.constraints.iter().enumerate().filter(|(_, c)| crosses(c)).map(|(i, c)| (slack(c), i)).min()
    }

    fn exchange(&mut self, v: usize, (slack, entering): (i32, usize)) {
        let shift = if self.leads_down(v) { slack } else { -slack };
        for at in self.begin[v]..self.end[v] {
            self.position[self.order[at]] += shift;
        }
        let c = &self.constraints[entering];
        let inside = (self.begin[v]..self.end[v]).contains(&self.begin[c.from]);
        let (mut node, mut parent) = if inside { (c.from, c.to) } else { (c.to, c.from) };
        let mut link = entering;
        loop {
            let next = std::mem::replace(&mut self.parent[node], parent);
            let next_link = std::mem::replace(&mut self.link[node], link);
            if node == v {
                return;
            }
            (parent, node, link) = (node, next, next_link);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constraint(from: usize, to: usize, min: i32, weight: i32) -> Constraint {
        Constraint { from, to, min, weight }
    }

    #[test]
    fn the_example_of_the_paper() {
        // Figure 2-2: a b c d e f g h with the long side a-b-c-d and the short ones over e, f and g.
        let edges = [(0, 1), (1, 2), (2, 3), (3, 7), (0, 4), (0, 5), (4, 6), (5, 6), (6, 7)];
        let constraints: Vec<_> = edges.iter().map(|&(a, b)| constraint(a, b, 1, 1)).collect();
        let ranks = solve(8, &constraints).unwrap();
        let length: i32 = edges.iter().map(|&(a, b)| ranks[b] - ranks[a]).sum();
        assert_eq!(length, 10);
        assert!(edges.iter().all(|&(a, b)| ranks[b] > ranks[a]));
    }

    #[test]
    fn weights_decide() {
        let ranks = solve(3, &[constraint(0, 1, 1, 1), constraint(1, 2, 1, 5), constraint(0, 2, 9, 1)]).unwrap();
        assert_eq!(ranks, [0, 8, 9]);
    }

    #[test]
    fn cycles_are_refused_and_nothing_is_fine() {
        assert_eq!(solve(2, &[constraint(0, 1, 1, 1), constraint(1, 0, 1, 1)]), None);
        assert_eq!(solve(0, &[]), Some(vec![]));
        assert_eq!(solve(3, &[]), Some(vec![0, 0, 0]));
    }
}
