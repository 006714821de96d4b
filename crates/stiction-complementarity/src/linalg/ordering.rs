//! Elimination order of a symmetric matrix, by minimum degree within two classes.
//!
//! For a saddle-point matrix [−M W; Wᵀ 0] the rows with a diagonal are eliminated first, so their pivots are definite. The
//! diagonal of the others fills in with Wᵀ M⁻¹ W, which is definite if W has full column rank. Numerical pivoting is then
//! not needed.   [MLCP-4]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Elimination order and the rows that each step couples; the next analysis reuses its memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Elimination {
    /// `order[k]` is the row eliminated at step k.
    pub(super) order: Vec<usize>,
    /// Rows coupled by step k: `coupled[ends[k − 1]..ends[k]]`.
    coupled: Vec<usize>,
    ends: Vec<usize>,
    /// Remaining rows that each row is coupled to, ascending.
    neighbours: Vec<Vec<usize>>,
    union: Vec<usize>,
    eliminated: Vec<bool>,
    /// Class, degree and row of the candidates; entries whose degree has changed since are skipped.
    queue: BinaryHeap<Reverse<(bool, usize, usize)>>,
}

impl Elimination {
    /// Computes the minimum-degree order of a symmetric graph of `n` rows, rows with `late` last.
    ///
    /// Of equal degrees the first row is taken. `edges` gives the neighbours of a row; the row itself and duplicates are
    /// allowed.
    pub(super) fn minimum_degree<E: IntoIterator<Item = usize>>(
        &mut self,
        n: usize,
        edges: impl Fn(usize) -> E,
        late: impl Fn(usize) -> bool,
    ) {
        self.begin(n, edges, &late);
        let Self { order, coupled, ends, neighbours, union, eliminated, queue } = self;
        while let Some(Reverse((_, degree, next))) = queue.pop() {
            if eliminated[next] || neighbours[next].len() != degree {
                continue;
            }
            eliminated[next] = true;
            order.push(next);
            let begin = coupled.len();
            coupled.extend_from_slice(&neighbours[next]);
            ends.push(coupled.len());
            for &i in &coupled[begin..] {
                unite(&neighbours[i], &coupled[begin..], [i, next], union);
                neighbours[i].clear();
                neighbours[i].extend_from_slice(union);
                queue.push(Reverse((late(i), union.len(), i)));
            }
        }
        debug_assert_eq!(order.len(), n, "every row is eliminated once");
    }

    /// Remaining rows that step k couples: the pattern of column k of L.
    pub(super) fn couples(&self, k: usize) -> &[usize] {
        let begin = if k == 0 { 0 } else { self.ends[k - 1] };
        &self.coupled[begin..self.ends[k]]
    }

    fn begin<E: IntoIterator<Item = usize>>(
        &mut self,
        n: usize,
        edges: impl Fn(usize) -> E,
        late: &impl Fn(usize) -> bool,
    ) {
        self.order.clear();
        self.coupled.clear();
        self.ends.clear();
        self.queue.clear();
        self.eliminated.clear();
        self.eliminated.resize(n, false);
        // The outer list never shrinks, so that unused inner lists keep their memory for later.
        self.neighbours.resize(n.max(self.neighbours.len()), Vec::new());
        for (i, list) in self.neighbours.iter_mut().take(n).enumerate() {
            list.clear();
            list.extend(edges(i).into_iter().filter(|&j| j != i));
            list.sort_unstable();
            list.dedup();
            self.queue.push(Reverse((late(i), list.len(), i)));
        }
    }
}

/// out ← the union of two ascending lists, ascending, without the two rows `except`.
fn unite(a: &[usize], b: &[usize], except: [usize; 2], out: &mut Vec<usize>) {
    out.clear();
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    loop {
        let next = match (a.peek(), b.peek()) {
            (Some(&x), Some(&y)) => x.min(y),
            (Some(&x), None) | (None, Some(&x)) => x,
            (None, None) => return,
        };
        a.next_if_eq(&next);
        b.next_if_eq(&next);
        if !except.contains(&next) {
            out.push(next);
        }
    }
}
