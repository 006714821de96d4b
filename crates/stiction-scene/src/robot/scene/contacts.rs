//! Collision pairs and their friction.
//!
//! Rules of a scene are for pairs of bodies, so the shapes of a body share their coefficients: each is the greatest
//! among the shapes. The greater coefficient of two bodies counts, as for two shapes in `MuJoCo`.

use std::collections::BTreeMap;

use super::{SceneWriter, pair, text};
use crate::{MAX_FILE_SIZE, robot::description::Shape};

/// Default coefficients of sliding, torsional and rolling friction: those of `MuJoCo`.
const USUAL: [f64; 3] = [1.0, 0.005, 0.0001];

/// Common contact properties of the shapes of a body.
#[derive(Clone, Copy, PartialEq)]
struct Surface {
    friction: [f64; 3],
    dimension: u8,
    types: u32,
    affinities: u32,
}

/// Friction, lever of torsional friction and coefficient of rolling friction of a pair, as bits, so that equal rules can be counted.
type Rule = [u64; 3];

impl Surface {
    /// Returns the surface of a shape with its groups and those it meets; none if it collides with nothing.
    fn of(shape: &Shape, [types, affinities]: [u32; 2]) -> Option<Self> {
        let friction = shape.friction.unwrap_or(USUAL);
        (types | affinities != 0).then_some(Self { friction, dimension: shape.dimension, types, affinities })
    }

    fn with(&self, other: &Self) -> Self {
        let mut friction = self.friction;
        for (own, other) in friction.iter_mut().zip(other.friction) {
            *own = own.max(other);
        }
        Self {
            friction,
            dimension: self.dimension.max(other.dimension),
            types: self.types | other.types,
            affinities: self.affinities | other.affinities,
        }
    }

    fn meets(&self, other: &Self) -> bool {
        self.types & other.affinities != 0 || other.types & self.affinities != 0
    }

    /// Returns the friction of two bodies, the lever of torsional friction, whose torque is at most friction · lever ·
    /// normal force, and the coefficient of rolling friction, whose torque is at most this times the normal force.
    ///
    /// In `MuJoCo` the elliptic cone limits sliding, torsion and rolling together. Here rolling has a limit of its own.
    fn rule(&self, other: &Self) -> Rule {
        let both = self.with(other);
        let [slide, spin, roll] = both.friction;
        let friction = if both.dimension == 1 { 0.0 } else { slide };
        let lever = if both.dimension >= 4 && friction > 0.0 { spin / friction } else { 0.0 };
        let rolling = if both.dimension >= 6 && friction > 0.0 { roll } else { 0.0 };
        [friction, lever, rolling].map(f64::to_bits)
    }
}

impl SceneWriter<'_> {
    pub(super) fn add_contacts(&mut self) {
        let surfaces = self.surfaces();
        self.direct_parents();
        for &[a, b] in &self.robot.excludes {
            let (a, b) = (self.seat(a.0), self.seat(b.0));
            self.apart.insert(pair(a, b));
        }
        let mut count: BTreeMap<Rule, usize> = BTreeMap::new();
        self.for_pairs(&surfaces, |_, rule| {
            *count.entry(rule).or_default() += 1;
            true
        });
        let usual = count.iter().max_by_key(|(_, count)| **count).map(|(rule, _)| *rule);
        let usual = usual.unwrap_or([USUAL[0].to_bits(), 0, 0]);
        self.text.later_table("contact_default");
        self.rule(usual);
        let mut others = Vec::new();
        let written = self.text.bytes();
        self.for_pairs(&surfaces, |pair, rule| {
            if rule != usual {
                others.push((pair, rule));
            }
            // More pairs would exceed the size limit of a scene file.
            written + 40 * others.len() < MAX_FILE_SIZE as usize
        });
        let special: BTreeMap<[usize; 2], Rule> = others.into_iter().collect();
        let mut pairs: Vec<[usize; 2]> = special.keys().chain(&self.apart).chain(&self.joined).copied().collect();
        pairs.sort_unstable();
        pairs.dedup();
        for pair in pairs {
            self.pair_rule(&surfaces, pair, special.get(&pair).copied());
        }
    }

    /// Writes the rule of one pair, if it needs one.
    fn pair_rule(&mut self, surfaces: &BTreeMap<usize, Surface>, [a, b]: [usize; 2], special: Option<Rule>) {
        let (Some(of_a), Some(of_b)) = (surfaces.get(&a), surfaces.get(&b)) else { return };
        if !of_a.meets(of_b) || self.children.contains(&[a, b]) {
            return;
        }
        let apart = self.apart.contains(&[a, b]);
        let names = [a, b].map(|link| self.bodies.get(link).cloned().flatten().unwrap_or_default());
        self.text.entry("contact");
        self.text.key("between", text::list(names.iter().map(|name| text::quoted(name))));
        if apart {
            self.text.key("collide", false);
            return;
        }
        if self.joined.contains(&[a, b]) {
            self.text.key("collide", true);
        }
        if let Some(rule) = special {
            self.rule(rule);
        }
    }

    fn rule(&mut self, [friction, lever, rolling]: Rule) {
        self.text.number("friction", f64::from_bits(friction));
        if lever != 0 {
            self.text.number("torsion", f64::from_bits(lever));
        }
        if rolling != 0 {
            self.text.number("rolling", f64::from_bits(rolling));
        }
    }

    /// Returns the contact properties of the bodies, by link; differences among the shapes of one body are noted.
    fn surfaces(&mut self) -> BTreeMap<usize, Surface> {
        let robot = self.robot;
        let mut shapes: BTreeMap<usize, Vec<&Shape>> = BTreeMap::new();
        for (index, link) in robot.links.iter().enumerate() {
            shapes.entry(self.seat(index)).or_default().extend(&link.shapes);
        }
        let mut surfaces = BTreeMap::new();
        for (link, shapes) in shapes {
            let each: Vec<_> = shapes.iter().filter_map(|shape| Surface::of(shape, self.filter(shape))).collect();
            let Some(surface) = each.iter().copied().reduce(|a, b| a.with(&b)) else { continue };
            let name = self.bodies.get(link).cloned().flatten().unwrap_or_default();
            if each.iter().any(|own| (own.friction[0], own.dimension) != (surface.friction[0], surface.dimension)) {
                self.note(format!(
                    "body \"{name}\": its shapes differ in friction; the greatest coefficients count for all"
                ));
            }
            let [slide, spin, roll] = surface.friction;
            let without_slide =
                slide == 0.0 && surface.dimension >= 4 && (spin > 0.0 || (surface.dimension >= 6 && roll > 0.0));
            if without_slide {
                self.note(format!(
                    "body \"{name}\": torsional and rolling friction need sliding friction, which is 0; they act only against bodies that have it"
                ));
            }
            surfaces.insert(link, surface);
        }
        surfaces
    }

    /// Returns the link that represents the body of a link. Fixed links have bodies of their own.
    fn seat(&self, link: usize) -> usize {
        match self.carriers.get(link) {
            Some(&carrier) if carrier > 0 => carrier,
            _ => link,
        }
    }

    /// Finds the pairs of bodies that a joint of the robot connects: they do not collide, without any rule.
    fn direct_parents(&mut self) {
        let robot = self.robot;
        for (index, link) in robot.links.iter().enumerate().filter(|(_, link)| link.joints.len() == 1) {
            let free = link.joints.iter().any(|joint| joint.kind == super::super::JointKind::Free);
            let parent = link.parent.map_or(0, |parent| parent.0);
            let fixed = self.carriers.get(parent) == Some(&0);
            if !free && (!fixed || robot.format == super::super::Format::Urdf) {
                self.children.insert(pair(self.seat(parent), index));
            }
        }
    }

    /// Calls `each` for all pairs that may collide, until it returns false.
    fn for_pairs(&self, surfaces: &BTreeMap<usize, Surface>, mut each: impl FnMut([usize; 2], Rule) -> bool) {
        let moves = |link: usize| self.carriers.get(link) == Some(&link) && link > 0;
        for (index, (&a, of_a)) in surfaces.iter().enumerate() {
            for (&b, of_b) in surfaces.iter().skip(index + 1) {
                let key = pair(a, b);
                let touch = (moves(a) || moves(b)) && of_a.meets(of_b);
                if touch && !self.apart.contains(&key) && !self.children.contains(&key) && !each(key, of_a.rule(of_b)) {
                    return;
                }
            }
        }
    }
}
