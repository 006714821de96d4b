//! A forest of links: parents before children, with the numbering of coordinates and velocities.

use std::ops::Range;

use nalgebra::{Matrix3, Vector3};
use stiction_geometry::{Dimension, Pose};

use super::{inertia::RigidInertia, joint::TreeJoint};
use crate::{Element, LinkId, ModelError, check::Check, limits};

/// Specification of a link to be added to a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpec {
    /// Name, for reports.
    pub name: String,
    /// Parent link; `None` is the world.
    pub parent: Option<LinkId>,
    /// Joint between the parent and this link.
    pub joint: TreeJoint,
    /// Joint frame in the frame of the parent link.
    pub placement: Pose,
    /// Mass, kg; zero for a massless frame.
    pub mass: f64,
    /// Centre of mass in the link frame, m.
    pub center: Vector3<f64>,
    /// Inertia about the centre of mass in link axes, kg m²; zero for a point mass.
    pub inertia: Matrix3<f64>,
    /// Inertia of the rotor of each velocity of the joint, reflected to the joint, kg m² or kg.
    pub armature: f64,
}

impl LinkSpec {
    /// A massless link on the world, its joint at the origin.
    pub fn new(name: impl Into<String>, joint: TreeJoint) -> Self {
        Self {
            name: name.into(),
            parent: None,
            joint,
            placement: Pose::identity(),
            mass: 0.0,
            center: Vector3::zeros(),
            inertia: Matrix3::zeros(),
            armature: 0.0,
        }
    }

    /// Sets the parent and the joint frame on it.
    pub fn on(mut self, parent: LinkId, placement: Pose) -> Self {
        self.parent = Some(parent);
        self.placement = placement;
        self
    }

    /// Sets the mass, the centre of mass and the inertia about it.
    pub fn with_mass(mut self, mass: f64, center: Vector3<f64>, inertia: Matrix3<f64>) -> Self {
        self.mass = mass;
        self.center = center;
        self.inertia = inertia;
        self
    }

    /// Sets the rotor inertia of every velocity of the joint.
    pub fn with_armature(mut self, armature: f64) -> Self {
        self.armature = armature;
        self
    }

    /// Returns the link with unit axes and the symmetric part of its inertia, or an error if it is illegal.
    fn checked(mut self) -> Result<Self, ModelError> {
        let check = Check::new(Element::Body(self.name.clone()));
        check.frame(("placement", "placement"), &self.placement, Dimension::Spatial)?;
        check.vector("center", self.center, limits::LENGTH)?;
        check.non_negative("armature", self.armature, limits::INERTIA.1)?;
        if self.mass != 0.0 {
            check.within("mass", self.mass, limits::MASS)?;
        }
        if self.inertia != Matrix3::zeros() {
            self.inertia = check.inertia(&self.inertia)?;
        }
        match &mut self.joint {
            TreeJoint::Revolute { axis } | TreeJoint::Prismatic { axis } | TreeJoint::Cylindrical { axis } => {
                *axis = check.direction("axis", *axis)?;
            }
            TreeJoint::Universal { axes: [a, b] } => {
                *a = check.direction("axes", *a)?;
                *b = check.direction("axes", *b)?;
                if a.cross(b).norm() < limits::DIRECTION {
                    return Err(check.error("axes", "must not be parallel"));
                }
            }
            _ => {}
        }
        Ok(self)
    }
}

/// A link of a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    spec: LinkSpec,
    inertia: RigidInertia,
    coordinates: Range<usize>,
    velocities: Range<usize>,
    last_velocity: Option<usize>,
    moved_by: u64,
}

impl Link {
    /// Its specification.
    #[inline]
    pub fn spec(&self) -> &LinkSpec {
        &self.spec
    }

    /// Its inertia in link axes about the link's origin.
    #[inline]
    pub fn inertia(&self) -> &RigidInertia {
        &self.inertia
    }

    /// Its joint.
    #[inline]
    pub fn joint(&self) -> &TreeJoint {
        &self.spec.joint
    }

    /// Position of its parent in the tree.
    #[inline]
    pub fn parent(&self) -> Option<usize> {
        self.spec.parent.map(LinkId::index)
    }

    /// Its coordinates among those of the tree.
    #[inline]
    pub fn coordinates(&self) -> Range<usize> {
        self.coordinates.clone()
    }

    /// Its velocities among those of the tree.
    #[inline]
    pub fn velocities(&self) -> Range<usize> {
        self.velocities.clone()
    }

    /// Last velocity that moves the link: the first of [`Tree::ancestors`].
    #[inline]
    pub fn last_velocity(&self) -> Option<usize> {
        self.last_velocity
    }

    /// Bit mask of the velocities that move the link; velocities beyond the 64th are left out.
    #[inline]
    pub fn moved_by(&self) -> u64 {
        self.moved_by
    }
}

/// A forest of links in topological order, immutable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    links: Vec<Link>,
    gravity: Vector3<f64>,
    coordinates: usize,
    /// Parent of each velocity on the path to the root, and the number of velocities from the root to it, itself included.
    velocity_parent: Vec<Option<usize>>,
    velocity_depth: Vec<usize>,
    armature: Vec<f64>,
    link_of_velocity: Vec<LinkId>,
}

impl Tree {
    /// The links, parents before children.
    #[inline]
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Handles of all links, in order.
    #[inline]
    pub fn link_ids(&self) -> impl Iterator<Item = LinkId> + use<> {
        (0..self.links.len()).map(LinkId::from_index)
    }

    /// Gravitational acceleration, m/s².
    #[inline]
    pub fn gravity(&self) -> Vector3<f64> {
        self.gravity
    }

    /// Number of coordinates.
    #[inline]
    pub fn coordinates(&self) -> usize {
        self.coordinates
    }

    /// Number of velocities.
    #[inline]
    pub fn velocities(&self) -> usize {
        self.velocity_parent.len()
    }

    /// Rotor inertia of each velocity.
    #[inline]
    pub fn armature(&self) -> &[f64] {
        &self.armature
    }

    /// Link whose joint has a velocity.
    #[inline]
    pub fn link_of(&self, velocity: usize) -> Option<LinkId> {
        self.link_of_velocity.get(velocity).copied()
    }

    /// Parent of a velocity: the next one on the path to the root.
    #[inline]
    pub fn velocity_parent(&self, velocity: usize) -> Option<usize> {
        debug_assert!(velocity < self.velocities(), "the tree has no velocity {velocity}");
        self.velocity_parent.get(velocity).copied().flatten()
    }

    /// Number of velocities from this one to the root, itself included.
    #[inline]
    pub fn velocity_depth(&self, velocity: usize) -> usize {
        debug_assert!(velocity < self.velocities(), "the tree has no velocity {velocity}");
        self.velocity_depth.get(velocity).copied().unwrap_or(0)
    }

    /// Number of velocities that move a link.
    #[inline]
    pub fn depth(&self, link: LinkId) -> usize {
        debug_assert!(link.index() < self.links.len(), "the tree has no link {}", link.index());
        let head = self.links.get(link.index()).and_then(Link::last_velocity);
        head.map_or(0, |velocity| self.velocity_depth(velocity))
    }

    /// This velocity and its ancestors, up to the root.
    #[inline]
    pub fn ancestors(&self, velocity: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(velocity, |&k| self.velocity_parent(k))
    }

    /// A link and its ancestors, by position, up to a root.
    #[inline]
    pub fn path_to_root(&self, link: LinkId) -> impl Iterator<Item = usize> + '_ {
        debug_assert!(link.index() < self.links.len(), "the tree has no link {}", link.index());
        let first = (link.index() < self.links.len()).then_some(link.index());
        std::iter::successors(first, |&i| self.links.get(i).and_then(Link::parent))
    }

    /// Coordinates at which every link frame coincides with its joint frame.
    pub fn neutral(&self) -> Vec<f64> {
        let mut q = vec![0.0; self.coordinates];
        for link in &self.links {
            link.joint().write_neutral(&mut q[link.coordinates()]);
        }
        q
    }

    /// q ⊕ h v, in place.   [ART-4]
    pub fn integrate(&self, q: &mut [f64], v: &[f64], h: f64) {
        debug_assert_eq!((q.len(), v.len()), (self.coordinates, self.velocities()), "q and v are those of the tree");
        for link in &self.links {
            link.joint().integrate(&mut q[link.coordinates()], &v[link.velocities()], h);
        }
    }

    /// Velocities that move `from` to `to` in unit time.   [ART-4]
    pub fn difference(&self, from: &[f64], to: &[f64], v: &mut [f64]) {
        debug_assert_eq!((from.len(), to.len()), (self.coordinates, self.coordinates), "q is that of the tree");
        debug_assert_eq!(v.len(), self.velocities(), "v is that of the tree");
        for link in &self.links {
            let range = link.coordinates();
            link.joint().difference(&from[range.clone()], &to[range], &mut v[link.velocities()]);
        }
    }
}

/// Builder of a tree. Parents are added before their children, so there are no cycles.
#[derive(Clone, Debug)]
pub struct TreeBuilder {
    tree: Tree,
}

impl TreeBuilder {
    /// A forest without links.
    pub fn new(gravity: Vector3<f64>) -> Result<Self, ModelError> {
        let gravity = Check::new(Element::Model).vector("gravity", gravity, limits::LOAD)?;
        let tree = Tree {
            links: Vec::new(),
            gravity,
            coordinates: 0,
            velocity_parent: Vec::new(),
            velocity_depth: Vec::new(),
            armature: Vec::new(),
            link_of_velocity: Vec::new(),
        };
        Ok(Self { tree })
    }

    /// Adds a link, or returns an error if it is illegal.
    pub fn link(&mut self, spec: LinkSpec) -> Result<LinkId, ModelError> {
        let spec = spec.checked()?;
        let tree = &mut self.tree;
        let (mut head, mut moved_by) = (None, 0);
        if let Some(parent) = spec.parent {
            let Some(link) = tree.links.get(parent.index()) else {
                let reason = format!("link {} is not in this tree", parent.index());
                return Err(ModelError::new(Element::Body(spec.name), "parent", reason));
            };
            (head, moved_by) = (link.last_velocity, link.moved_by);
        }
        let (coordinates, velocities) = (tree.coordinates, tree.velocities());
        let coordinates = coordinates..coordinates + spec.joint.coordinates();
        let velocities = velocities..velocities + spec.joint.velocities();
        tree.coordinates = coordinates.end;
        for velocity in velocities.clone() {
            tree.velocity_depth.push(1 + head.map_or(0, |k| tree.velocity_depth[k]));
            tree.velocity_parent.push(head);
            tree.armature.push(spec.armature);
            tree.link_of_velocity.push(LinkId::from_index(tree.links.len()));
            head = Some(velocity);
            moved_by |= u32::try_from(velocity).ok().and_then(|k| 1_u64.checked_shl(k)).unwrap_or(0);
        }
        debug_assert_eq!(tree.velocities(), velocities.end, "the numbering of velocities has no gaps");
        debug_assert_eq!(tree.armature.len(), velocities.end, "one rotor inertia per velocity");
        let inertia = RigidInertia::new(spec.mass, spec.center, &spec.inertia);
        tree.links.push(Link { spec, inertia, coordinates, velocities, last_velocity: head, moved_by });
        Ok(LinkId::from_index(tree.links.len() - 1))
    }

    /// Number of velocities so far.
    #[inline]
    pub fn velocities(&self) -> usize {
        self.tree.velocities()
    }

    /// The tree.
    pub fn build(self) -> Tree {
        self.tree
    }
}
