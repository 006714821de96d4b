//! Elimination order of a symmetric saddle matrix, by minimum degree within two classes.
//!
//! The rows with a diagonal are eliminated first: in [−M W; Wᵀ 0] that gives them definite pivots and fills in the
//! diagonal of the others with Wᵀ M⁻¹ W, which is definite when W has full column rank. No pivoting for size is then
//! needed.   [MLCP-4]

use super::SparseMatrix;
use std::collections::BTreeSet;

/// The order of elimination, and what each elimination couples.
pub(super) struct Elimination {
    /// `order[k]` is the row eliminated at step k.
    pub(super) order: Vec<usize>,
    /// `couples[k]` holds the rows, not yet eliminated, that step k couples: the pattern of column k of L.
    pub(super) couples: Vec<Vec<usize>>,
}

/// Eliminates the graph of the symmetric matrix `a`: first the rows where `late` is false, then the others, within each
/// class always a row of least degree (the first of equals).
pub(super) fn minimum_degree(a: &SparseMatrix, late: &[bool]) -> Elimination {
    let n = a.rows();
    let mut neighbours: Vec<Vec<usize>> = (0..n)
        .map(|i| {
            let mut list: Vec<usize> = a.row(i).map(|(j, _)| j).filter(|&j| j != i).collect();
            list.sort_unstable();
            list.dedup();
            list
        })
        .collect();
    let mut queue: BTreeSet<(bool, usize, usize)> = (0..n).map(|i| (late[i], neighbours[i].len(), i)).collect();
    let mut result = Elimination { order: Vec::with_capacity(n), couples: Vec::with_capacity(n) };
    while let Some((_, _, eliminated)) = queue.pop_first() {
        let coupled = std::mem::take(&mut neighbours[eliminated]);
        for &i in &coupled {
            queue.remove(&(late[i], neighbours[i].len(), i));
            neighbours[i] = joined(&neighbours[i], &coupled, [i, eliminated]);
            queue.insert((late[i], neighbours[i].len(), i));
        }
        result.order.push(eliminated);
        result.couples.push(coupled);
    }
    result
}

/// The union of two ascending lists, ascending, without the two rows `except`.
fn joined(a: &[usize], b: &[usize], except: [usize; 2]) -> Vec<usize> {
    let mut union = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    loop {
        let next = match (a.peek(), b.peek()) {
            (Some(&x), Some(&y)) => x.min(y),
            (Some(&x), None) | (None, Some(&x)) => x,
            (None, None) => return union,
        };
        a.next_if_eq(&next);
        b.next_if_eq(&next);
        if !except.contains(&next) {
            union.push(next);
        }
    }
}
