//! Rows of a problem in reduced coordinates: wrenches on bodies and impulses at velocities, as entries of y = L v.

use stiction_complementarity::{SparseMatrix, linalg::BlockMatrix};
use stiction_multibody::{
    BodyId, Forest, LinkId, Wrench,
    articulated::{half_response, half_response_of_row, wrench_row},
};

use super::Reduced;

/// Velocity change by a unit wrench below which it counts as rounding: the wrench does not move the links.
const IMMOVABLE: f64 = 1e-12;

/// Scratch memory for the rows of one law.
#[derive(Debug, Default)]
pub(crate) struct RowScratch {
    /// Dense rows, one after the other, with an entry for each velocity of the forest.
    dense: Vec<f64>,
    /// Links whose velocities have entries; sorted before they are read.
    touched: Vec<usize>,
    is_touched: Vec<bool>,
    pub(super) path: Vec<f64>,
    /// Scale 1/√d of every velocity, d being its pivot.
    pub(super) whitening: Vec<f64>,
}

impl RowScratch {
    /// Computes the scales from residuals of half responses to entries of L⁻ᵀ h.   [RED-2]
    pub(super) fn whiten(&mut self, pivots: &[f64]) {
        self.whitening.clear();
        self.whitening.extend(pivots.iter().map(|d| 1.0 / d.sqrt()));
    }
}

impl Reduced {
    /// Starts the rows of a law.
    pub(crate) fn begin_rows(&mut self, forest: &Forest, rows: usize) {
        let (n, links) = (forest.tree().velocities(), forest.tree().links().len());
        let RowScratch { dense, touched, is_touched, .. } = &mut self.row;
        if is_touched.len() != links {
            is_touched.clear();
            is_touched.resize(links, false);
            dense.clear();
        }
        let held = dense.len() / n.max(1);
        for link in touched.drain(..) {
            is_touched[link] = false;
            for row in 0..held {
                for k in forest.tree().links()[link].velocities() {
                    dense[row * n + k] = 0.0;
                }
            }
        }
        if dense.len() < rows * n {
            dense.resize(rows * n, 0.0);
        }
    }

    /// Adds a wrench on a body, about its reference point, to a row.   [RED-2]
    pub(crate) fn add_wrench(&mut self, forest: &Forest, row: usize, body: BodyId, wrench: &Wrench) {
        if let Some(link) = self.write_half_response(forest, body, wrench) {
            self.spread_path(forest, row, link);
        }
    }

    /// Writes the inward half of the response to a wrench on a body into `path`; returns the link it moves.   [RED-2]
    pub(super) fn write_half_response(&mut self, forest: &Forest, body: BodyId, wrench: &Wrench) -> Option<LinkId> {
        if self.is_linearised_ahead() {
            let link = self.write_path(forest, body, wrench)?;
            half_response_of_row(forest.tree(), &self.at, &self.factors, link, &mut self.row.path);
            return Some(link);
        }
        let (link, wrench) = forest.on_link(&self.at, body, wrench)?;
        let tree = forest.tree();
        self.row.path.resize(tree.depth(link), 0.0);
        let origin = self.at.pose(link).translation.vector;
        half_response(tree, &self.at, &self.factors, link, (&wrench, &origin), &mut self.row.path);
        Some(link)
    }

    /// Writes the inward half of the response to an impulse at a velocity of the forest into `path`; returns its link.
    pub(super) fn write_half_response_at(&mut self, forest: &Forest, velocity: usize, impulse: f64) -> Option<LinkId> {
        let tree = forest.tree();
        let link = tree.link_of(velocity)?;
        self.row.path.clear();
        self.row.path.resize(tree.depth(link), 0.0);
        let head = tree.links()[link.index()].velocities().end;
        debug_assert!(head - 1 - velocity < self.row.path.len(), "the velocity is one of its link");
        if let Some(entry) = self.row.path.get_mut(head - 1 - velocity) {
            *entry = impulse;
        }
        half_response_of_row(tree, &self.at, &self.factors, link, &mut self.row.path);
        Some(link)
    }

    /// Writes the generalised impulse of a wrench on a body into `path`; returns the link it moves.
    fn write_path(&mut self, forest: &Forest, body: BodyId, wrench: &Wrench) -> Option<LinkId> {
        let (link, wrench) = forest.on_link(self.linear(), body, wrench)?;
        let tree = forest.tree();
        let mut path = std::mem::take(&mut self.row.path);
        path.clear();
        path.resize(tree.depth(link), 0.0);
        let origin = self.linear().pose(link).translation.vector;
        wrench_row(tree, self.linear(), link, (&wrench, &origin), &mut path);
        self.row.path = path;
        Some(link)
    }

    /// True if some velocity of the forest changes the rate of a row between two bodies.
    pub(crate) fn moves(&mut self, forest: &Forest, sides: [(BodyId, &Wrench); 2]) -> bool {
        self.begin_rows(forest, 1);
        for (body, wrench) in sides {
            if let Some(link) = self.write_path(forest, body, wrench) {
                self.spread_path(forest, 0, link);
            }
        }
        let links = self.row.touched.iter().filter_map(|&link| forest.tree().links().get(link));
        let mut velocities = links.flat_map(stiction_multibody::articulated::Link::velocities);
        velocities.any(|k| self.row.dense.get(k).is_some_and(|entry| entry.abs() > IMMOVABLE))
    }

    /// Adds an impulse at a velocity of the forest to a row.
    pub(crate) fn add_velocity(&mut self, forest: &Forest, row: usize, velocity: usize, coefficient: f64) {
        if let Some(link) = self.write_half_response_at(forest, velocity, coefficient) {
            self.spread_path(forest, row, link);
        }
    }

    /// Adds the entries in `path` to those of a row.
    fn spread_path(&mut self, forest: &Forest, row: usize, link: LinkId) {
        let tree = forest.tree();
        let RowScratch { dense, touched, is_touched, path, .. } = &mut self.row;
        let n = tree.velocities();
        debug_assert_eq!(path.len(), tree.depth(link), "the path has an entry for each velocity up to the root");
        let mut path = path.iter();
        for i in tree.path_to_root(link) {
            let velocities = tree.links()[i].velocities();
            if !is_touched[i] && !velocities.is_empty() {
                is_touched[i] = true;
                touched.push(i);
            }
            for (k, entry) in velocities.rev().zip(path.by_ref()) {
                dense[row * n + k] += entry;
            }
        }
    }

    /// Writes the rows as blocks, one for each link with entries, at the block columns `columns`.
    pub(crate) fn push_blocks(
        &mut self,
        forest: &Forest,
        (rows, unit): (usize, f64),
        columns: &[usize],
        jacobian: &mut BlockMatrix,
        block: &mut Vec<f64>,
    ) {
        let (n, root) = (forest.tree().velocities(), unit.sqrt());
        let RowScratch { dense, touched, whitening, .. } = &mut self.row;
        touched.sort_unstable();
        for &link in touched.iter() {
            let velocities = forest.tree().links()[link].velocities();
            block.clear();
            for row in 0..rows {
                block.extend(velocities.clone().map(|k| dense[row * n + k] * whitening[k] * root));
            }
            jacobian.push(columns[link], block);
        }
    }

    /// Writes the first row as entries of a sparse matrix.
    pub(crate) fn push_entries(&mut self, forest: &Forest, unit: f64, matrix: &mut SparseMatrix) {
        let root = unit.sqrt();
        let RowScratch { dense, touched, whitening, .. } = &mut self.row;
        touched.sort_unstable();
        for &link in touched.iter() {
            for k in forest.tree().links()[link].velocities() {
                matrix.push(k, dense[k] * whitening[k] * root);
            }
        }
    }
}
