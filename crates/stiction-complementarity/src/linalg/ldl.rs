//! Sparse LDLᵀ factorisation P A Pᵀ = L D Lᵀ of a symmetric saddle-point matrix A = [−M W; Wᵀ 0].   [MLCP-4]
//!
//! There is no numerical pivoting. The analysis (order and pattern of L) is kept while the pattern of A stays. The numeric
//! phase then does not allocate and works row by row ("up-looking"), as in [Davis2005, sec. 2]. The caller guarantees that A
//! is symmetric; this is not checked.

use super::ordering::Elimination;
use super::{SingularRow, SparseMatrix, VANISHED_PIVOT};

/// LDLᵀ factors of a sparse symmetric matrix, in memory that is reused.
#[derive(Clone, Debug, Default)]
pub struct SparseLdl {
    /// The matrix last analysed; only its pattern matters.
    analysed: SparseMatrix,
    /// True for rows that are eliminated last because their diagonal is zero.
    late: Vec<bool>,
    late_now: Vec<bool>,
    order: Vec<usize>,
    position: Vec<usize>,
    /// L by columns: entries of column j lie at `column_offsets[j]..column_offsets[j + 1]`, rows ascending.
    column_offsets: Vec<usize>,
    entry_rows: Vec<usize>,
    entry_values: Vec<f64>,
    /// The columns of each row of L, ascending.
    row_offsets: Vec<usize>,
    row_columns: Vec<usize>,
    diagonal: Vec<f64>,
    /// Next free entry of each column during the numeric phase.
    next: Vec<usize>,
    work: Vec<f64>,
    /// Scratch of the analysis.
    elimination: Elimination,
}

impl SparseLdl {
    /// Factorises the symmetric matrix `a` and reuses the analysis if the pattern is that of the last call.
    pub fn factor(&mut self, a: &SparseMatrix) -> Result<(), SingularRow> {
        self.late_now.clear();
        self.late_now.extend((0..a.rows()).map(|i| !a.row(i).any(|(j, value)| j == i && value != 0.0)));
        if self.late != self.late_now || !self.analysed.same_pattern(a) {
            self.analyse(a);
        }
        self.next.copy_from_slice(&self.column_offsets[..a.rows()]);
        self.work.fill(0.0);
        for k in 0..a.rows() {
            self.factor_row(a, k)?;
        }
        debug_assert!(
            self.next.iter().zip(self.column_offsets.iter().skip(1)).all(|(next, end)| next == end),
            "every column of L is filled"
        );
        Ok(())
    }

    /// Number of entries of L below the diagonal: the measure of fill-in.
    pub fn fill(&self) -> usize {
        self.entry_values.len()
    }

    /// x ← A⁻¹ b.
    pub fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        for (t, &row) in self.work.iter_mut().zip(&self.order) {
            *t = b[row];
        }
        self.solve_work(x);
    }

    /// x ← A⁻¹ b for a sparse b.
    pub fn solve_sparse(&mut self, b: impl Iterator<Item = (usize, f64)>, x: &mut [f64]) {
        self.work.fill(0.0);
        for (row, value) in b {
            self.work[self.position[row]] += value;
        }
        self.solve_work(x);
    }

    fn analyse(&mut self, a: &SparseMatrix) {
        let n = a.rows();
        self.analysed.copy_from(a);
        self.late.clone_from(&self.late_now);
        let mut elimination = std::mem::take(&mut self.elimination);
        elimination.minimum_degree(n, |i| a.row(i).map(|(j, _)| j), |i| self.late[i]);
        self.order.clone_from(&elimination.order);
        self.position.resize(n, 0);
        for (k, &row) in self.order.iter().enumerate() {
            self.position[row] = k;
        }
        self.column_offsets.clear();
        self.entry_rows.clear();
        self.row_offsets.clear();
        self.row_offsets.resize(n + 1, 0);
        self.column_offsets.push(0);
        for k in 0..n {
            let begin = self.entry_rows.len();
            self.entry_rows.extend(elimination.couples(k).iter().map(|&row| self.position[row]));
            self.entry_rows[begin..].sort_unstable();
            self.column_offsets.push(self.entry_rows.len());
        }
        self.elimination = elimination;
        self.entry_values.resize(self.entry_rows.len(), 0.0);
        self.list_rows();
        self.diagonal.resize(n, 0.0);
        self.next.resize(n, 0);
        self.work.resize(n, 0.0);
    }

    /// Lists the columns of each row of L, which is the transpose of its pattern.
    fn list_rows(&mut self) {
        let n = self.order.len();
        for &row in &self.entry_rows {
            self.row_offsets[row + 1] += 1;
        }
        for k in 0..n {
            self.row_offsets[k + 1] += self.row_offsets[k];
        }
        let mut place = self.row_offsets.clone();
        self.row_columns.resize(self.entry_rows.len(), 0);
        for column in 0..n {
            for &row in &self.entry_rows[self.column_offsets[column]..self.column_offsets[column + 1]] {
                self.row_columns[place[row]] = column;
                place[row] += 1;
            }
        }
        debug_assert_eq!(place[..n], self.row_offsets[1..], "every row of the pattern is filled");
    }

    /// Computes row k of L from the rows above it: L_{<k} y = A_{<k,k}, L_kj = y_j / d_j, d_k = A_kk − Σ y_j L_kj.
    fn factor_row(&mut self, a: &SparseMatrix, k: usize) -> Result<(), SingularRow> {
        let (mut d, mut size) = (0.0, 0.0);
        for (column, value) in a.row(self.order[k]) {
            let j = self.position[column];
            if j < k {
                self.work[j] += value;
            } else if j == k {
                d += value;
                size += value.abs();
            }
        }
        for &j in &self.row_columns[self.row_offsets[k]..self.row_offsets[k + 1]] {
            let y_j = std::mem::take(&mut self.work[j]);
            let done = self.column_offsets[j]..self.next[j];
            for (&row, &value) in self.entry_rows[done.clone()].iter().zip(&self.entry_values[done]) {
                self.work[row] -= value * y_j;
            }
            let l_kj = y_j / self.diagonal[j];
            debug_assert_eq!(self.entry_rows[self.next[j]], k, "row of the next entry of column {j}");
            self.entry_values[self.next[j]] = l_kj;
            self.next[j] += 1;
            d -= y_j * l_kj;
            size += (y_j * l_kj).abs();
        }
        self.diagonal[k] = d;
        // The comparison rejects a NaN too.
        if d.abs() > VANISHED_PIVOT * size && d.is_finite() { Ok(()) } else { Err(SingularRow { row: self.order[k] }) }
    }

    /// Solves with the permuted right side in `work` and writes the solution in the original order.
    fn solve_work(&mut self, x: &mut [f64]) {
        let n = self.order.len();
        for j in 0..n {
            let t_j = self.work[j];
            if t_j != 0.0 {
                let column = self.column_offsets[j]..self.column_offsets[j + 1];
                for (&row, &value) in self.entry_rows[column.clone()].iter().zip(&self.entry_values[column]) {
                    self.work[row] -= value * t_j;
                }
            }
        }
        for j in (0..n).rev() {
            let column = self.column_offsets[j]..self.column_offsets[j + 1];
            let below: f64 = self.entry_rows[column.clone()]
                .iter()
                .zip(&self.entry_values[column])
                .map(|(&row, &value)| value * self.work[row])
                .sum();
            self.work[j] = self.work[j] / self.diagonal[j] - below;
            x[self.order[j]] = self.work[j];
        }
    }
}
