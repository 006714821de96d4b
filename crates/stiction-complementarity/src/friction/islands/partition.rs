//! Connected components of the graph of bodies that the constraints of the working set connect.

use crate::linalg::BlockMatrix;

/// Islands with their constraints and bodies, each ascending; islands are in the order of their first constraint.
#[derive(Clone, Debug, Default)]
pub(super) struct Partition {
    /// Parent of each body in the union-find forest.
    parent: Vec<usize>,
    /// Island of each body that represents a component: the root of its tree.
    island_of: Vec<Option<usize>>,
    /// Position of each body in its island.
    position: Vec<usize>,
    /// Constraints of the islands: `blocks[block_offsets[i]..block_offsets[i + 1]]`.
    blocks: Vec<usize>,
    block_offsets: Vec<usize>,
    /// Bodies of the islands, stored likewise.
    bodies: Vec<usize>,
    body_offsets: Vec<usize>,
    /// Next free entry of each island.
    next: Vec<usize>,
}

impl Partition {
    /// Finds the islands of the block rows in the working set; block columns are the bodies.
    pub(super) fn find(&mut self, jacobian: &BlockMatrix, working_set: &[bool]) {
        let bodies = jacobian.block_cols();
        self.parent.clear();
        self.parent.extend(0..bodies);
        let rows = || (0..jacobian.block_rows()).filter(|&block| working_set[block]);
        for block in rows() {
            let mut columns = jacobian.row(block).map(|(body, _)| body);
            let Some(first) = columns.next() else { continue };
            columns.for_each(|body| self.join(first, body));
        }
        // ---- Number the islands, count their constraints and bodies ----
        self.island_of.clear();
        self.island_of.resize(bodies, None);
        self.block_offsets.clear();
        self.block_offsets.push(0);
        for block in rows() {
            let Some(island) = self.island_or_new(jacobian, block) else { continue };
            self.block_offsets[island + 1] += 1;
        }
        let count = self.len();
        self.body_offsets.clear();
        self.body_offsets.resize(count + 1, 0);
        for body in 0..bodies {
            let root = self.root(body);
            if let Some(island) = self.island_of[root] {
                self.body_offsets[island + 1] += 1;
            }
        }
        for island in 0..count {
            self.block_offsets[island + 1] += self.block_offsets[island];
            self.body_offsets[island + 1] += self.body_offsets[island];
        }
        // ---- List them ----
        self.blocks.clear();
        self.blocks.resize(self.block_offsets[count], 0);
        self.next.clear();
        self.next.extend_from_slice(&self.block_offsets[..count]);
        for block in rows() {
            let Some(island) = self.island_or_new(jacobian, block) else { continue };
            self.blocks[self.next[island]] = block;
            self.next[island] += 1;
        }
        self.bodies.clear();
        self.bodies.resize(self.body_offsets[count], 0);
        self.position.clear();
        self.position.resize(bodies, 0);
        self.next.clear();
        self.next.extend_from_slice(&self.body_offsets[..count]);
        for body in 0..bodies {
            let root = self.root(body);
            if let Some(island) = self.island_of[root] {
                self.position[body] = self.next[island] - self.body_offsets[island];
                self.bodies[self.next[island]] = body;
                self.next[island] += 1;
            }
        }
    }

    /// Island of a constraint; a new one if its bodies have none.
    fn island_or_new(&mut self, jacobian: &BlockMatrix, block: usize) -> Option<usize> {
        let (body, _) = jacobian.row(block).next()?;
        let root = self.root(body);
        let count = self.len();
        Some(*self.island_of[root].get_or_insert_with(|| {
            self.block_offsets.push(0);
            count
        }))
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        // The body of lowest index represents the component, whatever the order of the constraints.
        self.parent[a.max(b)] = a.min(b);
    }

    fn root(&mut self, mut body: usize) -> usize {
        while self.parent[body] != body {
            self.parent[body] = self.parent[self.parent[body]];
            body = self.parent[body];
        }
        body
    }

    /// Number of islands.
    pub(super) fn len(&self) -> usize {
        self.block_offsets.len().saturating_sub(1)
    }

    /// Constraints of an island.
    pub(super) fn blocks(&self, island: usize) -> &[usize] {
        &self.blocks[self.block_offsets[island]..self.block_offsets[island + 1]]
    }

    /// Bodies of an island.
    pub(super) fn bodies(&self, island: usize) -> &[usize] {
        &self.bodies[self.body_offsets[island]..self.body_offsets[island + 1]]
    }

    /// Position of a body in its island.
    pub(super) fn position(&self, body: usize) -> usize {
        self.position[body]
    }
}
