//! Constraints of a step as one list of blocks.
//!
//! A block is a joint, a contact, a support point, the rigid core of a compliant layer, or a joint-space row: its law, its rows and their
//! constant terms. Block rows of the problem are in the order of this list, and every stage finds a block by its source. Joints come first,
//! then contacts, support points, cores and joint-space rows. Jammed contacts and limits share one auxiliary mass, the last.

use stiction_complementarity::Law;
use stiction_multibody::{Body, BodyId, Dimension, Model, Wrench};

use crate::{
    Contact, SupportPointContact,
    contact_rows::{ContactRows, contact_law, support_rows},
    joint_space_dof::JointSpaceDof,
    rates::JointRow,
    rates::JointSpaceRow,
    reduced::{Reduced, joint_ids_in_problem},
    slack::{Slack, may_jam},
    surface::{LayerSurface, Penetrations},
};

/// Constraints of a step: contacts, support points, layers, joints and joint-space constraints, and the list of their blocks.
#[derive(Default)]
pub struct Constraints {
    /// Potential contacts in the order of their ids.
    pub contacts: Vec<Contact>,
    /// Support points of supported bodies, in the order of the model.
    pub support_points: Vec<SupportPointContact>,
    /// Surfaces of compliant layers, in the order of `contacts`.   [SOFT-3]
    pub(crate) layer_surfaces: Vec<LayerSurface>,
    /// Penetrations −ψ at which the normal laws of layers are linearised in this pass and in the next, in steps by mean velocities.   [SOFT-7]
    pub penetrations: Penetrations,
    pub(crate) next_penetrations: Penetrations,
    /// Joint rows with their constants.
    pub joint_rows: Vec<JointRow>,
    /// Joint DOFs with limits, dry friction, passive forces, motors or couplings.
    pub(crate) joint_space_dofs: Vec<JointSpaceDof>,
    /// Joint-space rows of these DOFs.
    pub joint_space_rows: Vec<JointSpaceRow>,
    /// True if the problem contains all joint limits, not only those within reach.
    pub all_limits: bool,
    /// Blocks of the problem with second-order cones, as [`Self::collect`] lists them.
    pub(crate) blocks: Vec<Block>,
    /// Rows of all blocks: wrenches of a unit impulse on the two bodies of the block. A joint-space row has its terms in
    /// `joint_space_rows` instead, and zeros here.
    rows: Vec<(Wrench, Wrench)>,
    /// Constant term of each row: bias or prescribed velocity.
    constants: Vec<f64>,
    /// Part of q by which joints contradict each other, left out of the problem; empty if there is none.   [EQ-2]
    pub(crate) contradictions: Vec<f64>,
    /// Slack of jammed contacts; none if the problem has a solution without.   [EXIST-1]
    pub(crate) slack: Option<Slack>,
}

/// Constraint block: law, rows and source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// Constraint that the block belongs to.
    pub(crate) source: Source,
    /// Law between the impulses and velocities of its rows; bounds are in N s.
    pub(crate) law: Law,
    /// The two bodies of its rows; none for a joint-space row.
    pub(crate) bodies: Option<(BodyId, BodyId)>,
    /// First of its rows.
    first: usize,
    /// Auxiliary mass that its rows act on, besides the bodies.
    pub(crate) auxiliary: Option<AuxiliaryMass>,
}

/// Constraint that a block belongs to, by its index in the list of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Joint of the model.
    Joint(usize),
    /// Contact, or the surface of its compliant layer.
    Contact(usize),
    /// Support point.
    SupportPoint(usize),
    /// Core contact: contact of the rigid core below a compliant layer, between the same two bodies.   [SOFT-5]
    Core {
        /// Surface of the layer.
        surface: usize,
        /// Contact of the layer.
        contact: usize,
    },
    /// Joint-space row: limit, dry friction, motor or coupling.
    JointSpace(usize),
}

/// Auxiliary mass of a block: a block column besides those of the bodies.   [SOFT-3] [SUP-4] [JSPACE-2] [EXIST-1]
#[derive(Clone, Copy, Debug)]
pub(crate) struct AuxiliaryMass {
    /// Block column after those of the bodies.
    pub(crate) column: usize,
    pub(crate) kind: AuxiliaryKind,
}

/// Kind of an auxiliary mass.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AuxiliaryKind {
    /// Mass that the known load of a support point accelerates: that of its body, for good scaling.   [SUP-4]
    SupportPoint {
        /// Mass without proximal fraction, kg.
        mass: f64,
        /// Load, N.
        load: f64,
    },
    /// Outer surface of a compliant layer, by its index.   [SOFT-3]
    Layer(usize),
    /// Compliance of a joint-space row: the rate under a unit impulse.   [JSPACE-2]
    JointSpace(f64),
    /// Mass of the slack of jammed contacts, kg, which their blocks share.   [EXIST-1]
    Slack(f64),
}

impl Constraints {
    /// Lists the blocks of the problem with their rows.
    pub(crate) fn collect(&mut self, model: &Model, reduced: Option<&Reduced>) {
        self.blocks.clear();
        self.rows.clear();
        self.constants.clear();
        for index in joint_ids_in_problem(model, reduced) {
            self.collect_joint(model, index);
        }
        let dimension = model.dimension();
        let mut surface = 0;
        for index in 0..self.contacts.len() {
            self.collect_contact(dimension, index, &mut surface);
        }
        debug_assert_eq!(surface, self.layer_surfaces.len(), "surfaces are in the order of their contacts");
        for index in 0..self.support_points.len() {
            self.collect_support_point(model, index);
        }
        for index in 0..self.layer_surfaces.len() {
            self.collect_core(dimension, index);
        }
        let mut column = self.support_points.len() + self.layer_surfaces.len();
        for (index, row) in self.joint_space_rows.iter().enumerate() {
            let auxiliary = (row.compliance > 0.0).then(|| {
                column += 1;
                AuxiliaryMass { column: column - 1, kind: AuxiliaryKind::JointSpace(row.compliance) }
            });
            let (source, first) = (Source::JointSpace(index), self.rows.len());
            self.blocks.push(Block { source, law: row.law, bodies: None, first, auxiliary });
            self.rows.push(Default::default());
            self.constants.push(row.bias);
        }
        self.attach_slack(column);
        debug_assert_eq!(self.rows.len(), self.constants.len(), "every row has a constant term");
        debug_assert_eq!(
            self.rows.len(),
            self.blocks.iter().map(|block| block.law.rows()).sum::<usize>(),
            "blocks have as many rows as their laws"
        );
    }

    /// Rows of a block, and their constant terms.
    pub(crate) fn rows_of(&self, block: &Block) -> (&[(Wrench, Wrench)], &[f64]) {
        let rows = block.first..block.first + block.law.rows();
        debug_assert!(
            rows.end <= self.rows.len() && rows.end <= self.constants.len(),
            "the rows of a block are listed"
        );
        (self.rows.get(rows.clone()).unwrap_or_default(), self.constants.get(rows).unwrap_or_default())
    }

    /// Lets the blocks that may jam act on the mass of the slack. Blocks with an auxiliary mass of their own yield by that, and contacts that
    /// keep their overlap do not get deeper.
    fn attach_slack(&mut self, column: usize) {
        let Self { blocks, contacts, slack, .. } = self;
        let Some(slack) = slack else { return };
        debug_assert_eq!(
            blocks.len(),
            slack.connected.len(),
            "the blocks are those of the problem that had no solution"
        );
        for (block, connected) in blocks.iter_mut().zip(&slack.connected) {
            let is_kept = matches!(block.source, Source::Contact(index) if contacts.get(index).is_some_and(|contact| contact.overlap.is_kept));
            if *connected && !is_kept && block.auxiliary.is_none() && may_jam(block.law) {
                block.auxiliary = Some(AuxiliaryMass { column, kind: AuxiliaryKind::Slack(slack.mass) });
            }
        }
    }

    /// Auxiliary masses in the order of their columns: support points, surfaces of layers, compliant joint-space rows, slack.
    pub(crate) fn auxiliary_masses(&self) -> impl Iterator<Item = AuxiliaryKind> {
        let of = |wanted: fn(&AuxiliaryKind) -> bool| {
            self.blocks.iter().filter_map(|block| block.auxiliary).map(|mass| mass.kind).filter(wanted)
        };
        of(|kind| matches!(kind, AuxiliaryKind::SupportPoint { .. }))
            .chain(of(|kind| matches!(kind, AuxiliaryKind::Layer(_))))
            .chain(of(|kind| matches!(kind, AuxiliaryKind::JointSpace(_))))
            .chain(self.slack.iter().map(|slack| AuxiliaryKind::Slack(slack.mass)))
    }

    fn collect_joint(&mut self, model: &Model, index: usize) {
        let Some(joint) = model.joints().get(index) else {
            debug_assert!(false, "the joints of the problem are joints of the model");
            return;
        };
        let (source, law) = (Source::Joint(index), Law::Equality { rows: joint.rows() });
        let bodies = Some((joint.a.0, joint.b.0));
        self.blocks.push(Block { source, law, bodies, first: self.rows.len(), auxiliary: None });
        let first = joint.first_row();
        debug_assert!(
            first + joint.rows() <= self.joint_rows.len(),
            "the rows of all joints of the problem are written"
        );
        for row in self.joint_rows.iter().skip(first).take(joint.rows()) {
            self.rows.push((row.a, row.b));
            self.constants.push(row.bias);
        }
    }

    fn collect_contact(&mut self, dimension: Dimension, index: usize, next_surface: &mut usize) {
        let Self { contacts, layer_surfaces: surfaces, support_points, blocks, rows, constants, .. } = self;
        let Some(contact) = contacts.get(index) else { return };
        let surface = surfaces.get(*next_surface).filter(|surface| surface.contact == index);
        let auxiliary = surface.map(|_| AuxiliaryMass {
            column: support_points.len() + *next_surface,
            kind: AuxiliaryKind::Layer(*next_surface),
        });
        *next_surface += usize::from(surface.is_some());
        let (source, law, first) = (Source::Contact(index), contact_law(dimension, contact), rows.len());
        blocks.push(Block { source, law, bodies: Some((contact.a, contact.b)), first, auxiliary });
        push_contact_rows(contact, contact.bias, law.rows(), (rows, constants));
    }

    fn collect_support_point(&mut self, model: &Model, index: usize) {
        let Self { support_points, blocks, rows, constants, .. } = self;
        let Some(support_point) = support_points.get(index) else { return };
        let law = support_point.law();
        let mass = model.body(support_point.body).and_then(Body::mass).unwrap_or(1.0);
        let kind = AuxiliaryKind::SupportPoint { mass, load: support_point.load };
        blocks.push(Block {
            source: Source::SupportPoint(index),
            law,
            bodies: Some((support_point.supporting_body, support_point.body)),
            first: rows.len(),
            auxiliary: Some(AuxiliaryMass { column: index, kind }),
        });
        rows.extend(support_rows(support_point, law.rows()).into_iter().take(law.rows()));
        let [x, y] = SupportPointContact::tangents().map(|t| t.dot(&support_point.surface_velocity));
        constants.extend([0.0, x, y, support_point.torsion * support_point.surface_spin].into_iter().take(law.rows()));
    }

    fn collect_core(&mut self, dimension: Dimension, index: usize) {
        let Self { contacts, layer_surfaces: surfaces, blocks, rows, constants, .. } = self;
        let Some((surface, bias)) = surfaces.get(index).and_then(|surface| Some((surface, surface.core_bias?))) else {
            return;
        };
        let Some(contact) = contacts.get(surface.contact) else {
            debug_assert!(false, "the surface of a layer belongs to a contact");
            return;
        };
        let source = Source::Core { surface: index, contact: surface.contact };
        let law = contact_law(dimension, contact);
        blocks.push(Block { source, law, bodies: Some((contact.a, contact.b)), first: rows.len(), auxiliary: None });
        push_contact_rows(contact, bias, law.rows(), (rows, constants));
    }
}

fn push_contact_rows(
    contact: &Contact,
    bias: f64,
    count: usize,
    (rows, constants): (&mut Vec<(Wrench, Wrench)>, &mut Vec<f64>),
) {
    let kinds = ContactRows::new(contact, count);
    kinds.push_wrenches(rows);
    kinds.push_constants(bias, constants);
}
