//! Divide and conquer in a step: the forest is assembled where constraints are linearised, and rows are propagated from
//! the leaves to the root of its assembly tree.   [DCA-17]

use stiction_multibody::{
    Forest, LinkId, Model, Wrench,
    articulated::{
        Kinematics, Link, SingularInertia, Tree, TreeForces,
        divide::{Divide, DivideRow},
    },
};

use super::{ForestAt, Reduced};
use crate::rates::Side;

/// Assembly of the forest, and the rows of the problem.
#[derive(Debug)]
pub(crate) struct Divided {
    divide: Divide,
    /// Configuration at which the forest is assembled; none if the assembly is out of date.
    assembled_at: Option<ForestAt>,
    /// Parent of each link and end of its velocities: the topology that the assembly tree was built for.
    shape: Vec<(Option<usize>, usize)>,
    /// Root of the tree of each link.
    roots: Vec<usize>,
    /// End of the halves of each row in `halves`.
    ends: Vec<usize>,
    /// Halves of rows; those from `used` on are spare memory.
    halves: Vec<Half>,
    used: usize,
    /// Known impulse of each row, not part of the unknowns.
    known: Vec<f64>,
    impulses: Vec<Wrench>,
}

/// Wrench of a row on one link.
#[derive(Debug)]
struct Half {
    link: LinkId,
    /// Wrench in world axes about the origin of the link.
    wrench: Wrench,
    carried: DivideRow,
}

impl Divided {
    pub(crate) fn new(forest: &Forest) -> Self {
        let tree = forest.tree();
        let mut roots: Vec<usize> = Vec::with_capacity(tree.links().len());
        for (index, link) in tree.links().iter().enumerate() {
            debug_assert!(link.parent().is_none_or(|parent| parent < index), "parents precede their children");
            let root = link.parent().and_then(|parent| roots.get(parent).copied());
            roots.push(root.unwrap_or(index));
        }
        Self {
            divide: Divide::new(tree),
            assembled_at: None,
            shape: shape(forest).collect(),
            roots,
            ends: Vec::new(),
            halves: Vec::new(),
            used: 0,
            known: Vec::new(),
            impulses: vec![Wrench::default(); tree.links().len()],
        }
    }

    /// True if the assembly tree was built for this forest.
    pub(crate) fn fits(&self, forest: &Forest) -> bool {
        self.shape.iter().copied().eq(shape(forest))
    }

    /// Marks the assembly as out of date.
    pub(super) fn invalidate(&mut self) {
        self.assembled_at = None;
    }

    /// Assembles the forest at the start of the step.   [DCA-5]
    pub(super) fn assemble(
        &mut self,
        forest: &Forest,
        (at, added): (&Kinematics, &[f64]),
    ) -> Result<(), SingularInertia> {
        self.assembled_at = None;
        self.divide.update(forest.tree(), at, added)?;
        self.assembled_at = Some(ForestAt::Start);
        Ok(())
    }

    /// Computes v̇ from the forces at velocities and on links, and weighted velocity terms, by the assembly at the start.   [DCA-5]
    pub(super) fn accelerate(&mut self, tree: &Tree, at: &Kinematics, acting: &TreeForces, acceleration: &mut [f64]) {
        self.divide.weighted_forward_dynamics(tree, at, acting, acceleration);
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.ends.len()
    }

    /// Appends a row by its wrenches on links.
    fn push(&mut self, forest: &Forest, at: &Kinematics, sides: &[Option<Side>]) {
        for side in sides.iter().flatten() {
            match side {
                Side::Wrench(body, wrench) => {
                    if let Some((link, wrench)) = forest.on_link(at, *body, wrench) {
                        self.push_half(at, link, wrench);
                    }
                }
                Side::Velocity(k, factor) => self.push_velocity(forest, at, (*k, *factor)),
            }
        }
        self.ends.push(self.used);
        self.known.push(0.0);
    }

    /// Adds a unit impulse at velocity k of a joint: S_k on its link and −S_k on the parent, as the columns of a joint are
    /// orthonormal.   [DCA-17]
    fn push_velocity(&mut self, forest: &Forest, at: &Kinematics, (k, factor): (usize, f64)) {
        let tree = forest.tree();
        let Some(id) = tree.link_of(k) else {
            debug_assert!(false, "every velocity belongs to a link");
            return;
        };
        let column = at.column(k);
        let wrench = Wrench { linear: column.linear * factor, angular: column.angular * factor };
        self.push_half(at, id, wrench);
        let parent = tree.links().get(id.index()).and_then(Link::parent);
        if let Some(parent) = parent.and_then(|parent| tree.link_ids().nth(parent)) {
            let arm = at.pose(id).translation.vector - at.pose(parent).translation.vector;
            let back = Wrench { linear: -wrench.linear, angular: -wrench.angular - arm.cross(&wrench.linear) };
            self.push_half(at, parent, back);
        }
    }

    fn push_half(&mut self, at: &Kinematics, link: LinkId, wrench: Wrench) {
        if self.halves.len() == self.used {
            self.halves.push(Half { link, wrench, carried: DivideRow::default() });
        }
        let Some(half) = self.halves.get_mut(self.used) else { return };
        (half.link, half.wrench) = (link, wrench);
        let origin = at.pose(link).translation.vector;
        self.divide.half_response(at, link, (&wrench, &origin), &mut half.carried);
        self.used += 1;
    }

    fn halves_of(&self, row: usize) -> &[Half] {
        debug_assert!(row < self.ends.len(), "the row is written");
        let first = row.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(row).copied().unwrap_or(first);
        self.halves.get(first..end).unwrap_or_default()
    }

    /// True if two rows act on the same tree, so that an impulse of one can change the rate of the other.
    pub(crate) fn are_coupled(&self, a: usize, b: usize) -> bool {
        let root = |half: &Half| self.roots.get(half.link.index());
        self.halves_of(a).iter().any(|x| self.halves_of(b).iter().any(|y| root(x) == root(y)))
    }

    /// Entry W_ab: the rate of row a under a unit impulse of row b; symmetric to the last bit.   [DCA-8]
    pub(crate) fn coupling(&self, a: usize, b: usize) -> f64 {
        let others = self.halves_of(a.max(b));
        let pairs = self.halves_of(a.min(b)).iter().flat_map(|x| others.iter().map(move |y| (x, y)));
        pairs.map(|(x, y)| self.divide.coupling(&x.carried, &y.carried)).sum()
    }

    /// Adds a known impulse of a row.
    pub(crate) fn add_known(&mut self, row: usize, impulse: f64) {
        debug_assert!(row < self.known.len(), "the row is written");
        if let Some(known) = self.known.get_mut(row) {
            *known += impulse;
        }
    }

    /// Computes M⁻¹ Jᵀ r from the unknown and known impulses of all rows, times `unit`.   [DCA-5]
    fn respond(
        &mut self,
        forest: &Forest,
        at: &Kinematics,
        (impulses, unit): (impl Iterator<Item = f64>, f64),
        change: &mut [f64],
    ) {
        self.impulses.fill(Wrench::default());
        debug_assert_eq!(self.ends.len(), self.known.len(), "every row has a known impulse");
        let mut first = 0;
        for ((&end, known), impulse) in self.ends.iter().zip(&self.known).zip(impulses) {
            for half in self.halves.get(first..end).unwrap_or_default() {
                if let Some(total) = self.impulses.get_mut(half.link.index()) {
                    total.add(&half.wrench.scaled((impulse + known) * unit));
                }
            }
            first = end;
        }
        debug_assert_eq!(first, self.used, "every row has an impulse");
        self.divide.impulse_response(forest.tree(), at, (&[], &self.impulses), change);
    }
}

fn shape(forest: &Forest) -> impl Iterator<Item = (Option<usize>, usize)> {
    forest.tree().links().iter().map(|link| (link.parent(), link.velocities().end))
}

impl Reduced {
    /// Starts the rows of a problem by divide and conquer, and assembles the forest where constraints are linearised if it is out of
    /// date.   [DCA-17]
    pub(crate) fn begin_divided(&mut self, forest: &Forest) -> Result<(), SingularInertia> {
        let (at, wanted) = match self.secondary.at {
            ForestAt::Linearisation => (&self.secondary.kinematics, ForestAt::Linearisation),
            ForestAt::Start | ForestAt::End => (&self.at, ForestAt::Start),
        };
        let Some(divided) = &mut self.divided else { return Ok(()) };
        if divided.assembled_at != Some(wanted) {
            divided.assembled_at = None;
            let added = if self.impulsive { &self.rotors } else { &self.added };
            divided.divide.update(forest.tree(), at, added)?;
            divided.assembled_at = Some(wanted);
        }
        divided.ends.clear();
        divided.known.clear();
        divided.used = 0;
        Ok(())
    }

    /// Appends a row; false if the problem is not formulated by divide and conquer.
    pub(crate) fn push_divided(&mut self, forest: &Forest, sides: &[Option<Side>]) -> bool {
        let at = self.secondary.at.linear(&self.at, &self.secondary.kinematics);
        let Some(divided) = &mut self.divided else { return false };
        divided.push(forest, at, sides);
        true
    }

    /// Computes v⁺ = v_free + M⁻¹ Jᵀ r by disassembly, and the velocities of the bodies where the constraints are linearised.   [DCA-17]
    pub(crate) fn find_velocity_by_response(
        &mut self,
        model: &Model,
        impulses: (impl Iterator<Item = f64>, f64),
        out: &mut Vec<f64>,
    ) {
        let forest = model.forest();
        let at = self.secondary.at.linear(&self.at, &self.secondary.kinematics);
        let Some(divided) = &mut self.divided else { return };
        divided.respond(forest, at, impulses, &mut self.velocity);
        self.momenta.refine(forest.tree(), at, &divided.impulses, &mut self.velocity);
        self.add_free_velocity(model, out);
    }
}
