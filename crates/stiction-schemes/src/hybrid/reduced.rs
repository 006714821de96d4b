//! Problems of the root in impulses alone: the velocities of handles are results, not unknowns. They are written by substitution; nothing
//! is inverted or factorised.

use stiction_complementarity::{FrictionProblem, Law, Lcp, Operator, ProblemError, linalg::BlockMatrix};

use super::root::RootEquations;

impl RootEquations {
    /// The linear problem in λ_N, λ_F, S: Ξ (2 + η) unknowns.   [DCA-14]
    pub fn reduced(&self, out: &mut Lcp) -> Result<(), ProblemError> {
        let (polygon, contacts) = (&self.polygon, self.contacts.len());
        let pushes = contacts * (1 + polygon.len());
        out.refill(pushes + contacts, |m, q| {
            for (row, push) in polygon.pushes(contacts).enumerate() {
                let contact = &self.contacts[push.contact];
                for (column, other) in polygon.pushes(contacts).enumerate() {
                    let along = |i: usize| push.parts[i] * other.along(self.delassus.row(3 * push.contact + i));
                    m[(row, column)] = (0..3).map(along).sum();
                }
                q[row] = push.parts.iter().zip(&contact.free).map(|(part, free)| part * free).sum();
                if row < contacts {
                    q[row] += contact.normal_constant;
                } else {
                    m[(row, pushes + push.contact)] = 1.0;
                    m[(pushes + push.contact, row)] = -1.0;
                }
            }
            for (place, contact) in self.contacts.iter().enumerate() {
                m[(pushes + place, place)] = contact.friction;
            }
        })
    }

    /// The problem with second-order cones, u = W r + q.   [DCA-15]
    pub fn cone(&self, out: &mut FrictionProblem) -> Result<(), ProblemError> {
        out.refill(|operator, laws, q| {
            laws.clear();
            laws.extend(self.contacts.iter().map(|contact| Law::Cone { rows: 3, mu: contact.friction }));
            q.clear();
            q.extend(self.contacts.iter().flat_map(|contact| {
                let [n, t, o] = contact.free;
                [n + contact.normal_constant, t, o]
            }));
            if !matches!(operator, Operator::Assembled(_)) {
                *operator = Operator::Assembled(BlockMatrix::default());
            }
            let Operator::Assembled(w) = operator else {
                debug_assert!(false, "the operator has just been assembled");
                return Ok(());
            };
            let sizes = || std::iter::repeat_n(3, self.contacts.len());
            w.clear(sizes(), sizes());
            for row in 0..self.contacts.len() {
                for column in 0..self.contacts.len() {
                    let mut block = [0.0; 9];
                    for (i, entries) in block.chunks_exact_mut(3).enumerate() {
                        entries.copy_from_slice(&self.delassus.row(3 * row + i)[3 * column..3 * column + 3]);
                    }
                    w.push(column, &block);
                }
                w.finish_row();
            }
            Ok(())
        })
    }
}
