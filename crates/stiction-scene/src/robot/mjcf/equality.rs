//! `<equality>`: loops closed by points and frames, and coupled joints.

use nalgebra::{Isometry3, Point3, Translation3, Vector3};

use super::Mjcf;
use crate::robot::{
    description::{Constraint, ConstraintKind, LinkId},
    files::Refusal,
    orientation,
    reader::Words,
    xml::Element,
};

const WORDS: Words = Words {
    read: &[
        "name", "class", "active", "body1", "body2", "anchor", "relpose", "site1", "site2", "joint1", "joint2",
        "polycoef",
    ],
    quiet: &[],
    noted: &["solref", "solimp", "torquescale"],
};

/// A frame and the link it is on.
type OnLink = (LinkId, Isometry3<f64>);

impl Mjcf<'_> {
    pub(super) fn equality(&mut self, element: &Element) -> Result<(), Refusal> {
        let kinds = ["connect", "weld", "joint"];
        if !kinds.contains(&element.tag.as_str()) {
            self.reader.not_read(element, &kinds, &["tendon", "flex", "flexvert", "flexstrain"]);
            return Ok(());
        }
        // The defaults of an equality are those of `equality`, for all its kinds.
        let as_equality = Element { tag: "equality".to_owned(), ..element.clone() };
        let element = Element { tag: element.tag.clone(), ..self.classes.applied(&as_equality, None)? };
        self.reader.check_attributes(&element, &WORDS);
        if let Some(anchor) = element.get("anchor").filter(|_| element.tag == "weld") {
            self.reader.note(&anchor.place, "weld anchor".to_owned(), "has no effect on a rigid weld");
        }
        let kind = match element.tag.as_str() {
            "connect" => self.connect(&element)?,
            "weld" => self.weld(&element)?,
            _ => self.couple(&element)?,
        };
        let name = element.text("name").map(str::to_owned);
        let active = element.flag("active")?.unwrap_or(true);
        self.robot.constraints.push(Constraint { name, active, kind });
        Ok(())
    }

    fn bodies(&self, element: &Element) -> Result<[LinkId; 2], Refusal> {
        let second = element.get("body2").map_or(Ok(LinkId(0)), |name| self.link(name))?;
        Ok([self.link(element.required("body1")?)?, second])
    }

    /// Returns the frames of two sites, if the element names sites.
    fn sites(&self, element: &Element) -> Result<Option<[OnLink; 2]>, Refusal> {
        match element.get("site1") {
            Some(first) => Ok(Some([self.site_named(first)?, self.site_named(element.required("site2")?)?])),
            None => Ok(None),
        }
    }

    fn connect(&self, element: &Element) -> Result<ConstraintKind, Refusal> {
        if let Some([(a, at_a), (b, at_b)]) = self.sites(element)? {
            let anchors = [at_a, at_b].map(|frame| Some(Point3::from(frame.translation.vector)));
            return Ok(ConstraintKind::Connect { links: [a, b], anchors });
        }
        element.required("anchor")?;
        let anchor = element.vector("anchor")?.map(Point3::from);
        Ok(ConstraintKind::Connect { links: self.bodies(element)?, anchors: [anchor, None] })
    }

    fn weld(&self, element: &Element) -> Result<ConstraintKind, Refusal> {
        if let Some([(a, at_a), (b, at_b)]) = self.sites(element)? {
            return Ok(ConstraintKind::Weld { links: [a, b], frames: Some([at_a, at_b]) });
        }
        // A quaternion of zeros stands for the relative pose in the reference configuration.
        let [x, y, z, quaternion @ ..] = element.numbers_or("relpose", [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])?;
        let frames = orientation::quaternion(quaternion).map(|rotation| {
            let relative = Isometry3::from_parts(Translation3::from(Vector3::new(x, y, z)), rotation);
            [relative, Isometry3::identity()]
        });
        Ok(ConstraintKind::Weld { links: self.bodies(element)?, frames })
    }

    fn couple(&self, element: &Element) -> Result<ConstraintKind, Refusal> {
        let single = |name: &str| {
            let attribute = element.required(name)?;
            let id = self.joint_named(attribute)?;
            let joint = self.robot.links.get(id.link.0).and_then(|link| link.joints.get(id.joint));
            if joint.is_some_and(|joint| joint.kind.dof() == 1) {
                Ok(id)
            } else {
                Err(attribute.refuse("must be a joint of one coordinate"))
            }
        };
        let follower = single("joint1")?;
        let leader = element.get("joint2").map(|_| single("joint2")).transpose()?;
        if leader == Some(follower) {
            return Err(element.place.refuse("a joint cannot follow itself"));
        }
        let polynomial = element.numbers_or("polycoef", [0.0, 1.0, 0.0, 0.0, 0.0])?;
        Ok(ConstraintKind::Couple { follower, leader, polynomial })
    }
}
