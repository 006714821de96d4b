//! `<joint>` and `<freejoint>`.

use nalgebra::{Isometry3, Point3, Vector3};

use super::Mjcf;
use crate::robot::{
    description::{Joint, JointKind},
    files::Refusal,
    orientation,
    reader::Words,
    xml::Element,
};

const WORDS: Words = Words {
    read: &[
        "name",
        "class",
        "type",
        "pos",
        "axis",
        "limited",
        "range",
        "ref",
        "springref",
        "stiffness",
        "damping",
        "armature",
        "frictionloss",
        "actuatorfrcrange",
        "actuatorfrclimited",
    ],
    quiet: &["group", "user"],
    noted: &[
        "margin",
        "springdamper",
        "solreflimit",
        "solimplimit",
        "solreffriction",
        "solimpfriction",
        "actuatorgravcomp",
    ],
};

impl Mjcf<'_> {
    /// Reads a joint in a frame of its link, with defaults applied.
    pub(super) fn read_joint(&mut self, element: &Element, frame: &Isometry3<f64>) -> Result<Joint, Refusal> {
        if element.tag == "freejoint" {
            let words = Words { read: &["name"], quiet: &["group", "align"], noted: &[] };
            self.reader.check_attributes(element, &words);
            let name = element.text("name").unwrap_or_default().to_owned();
            return Ok(Joint { name, ..Joint::at_rest(JointKind::Free) });
        }
        self.reader.check_attributes(element, &WORDS);
        let kind = match element.text("type").unwrap_or("hinge") {
            "hinge" => JointKind::Revolute,
            "slide" => JointKind::Prismatic,
            "ball" => JointKind::Ball,
            "free" => JointKind::Free,
            other => {
                let hint = crate::suggestion(other, ["hinge", "slide", "ball", "free"]);
                return Err(element.required("type")?.refuse(format!("\"{other}\" is no joint of MJCF")).hint(hint));
            }
        };
        // Coordinates of hinges and the range of balls are angles.
        let unit = if kind == JointKind::Prismatic { 1.0 } else { self.compiler.angle };
        let axis = element.vector("axis")?.unwrap_or_else(Vector3::z);
        let direction = orientation::direction(axis)
            .ok_or_else(|| element.place.refuse("<joint> has an `axis` without direction"))?;
        let coordinate = |name: &str| Ok(element.number(name)?.map_or(0.0, |value| value * unit));
        Ok(Joint {
            name: element.text("name").unwrap_or_default().to_owned(),
            anchor: frame * Point3::from(element.vector("pos")?.unwrap_or_default()),
            axis: frame.rotation * direction,
            limits: self.limits(element, "limited", "range", unit)?,
            reference: coordinate("ref")?,
            spring_reference: coordinate("springref")?,
            stiffness: element.amount("stiffness", 0.0)?,
            damping: element.amount("damping", 0.0)?,
            armature: element.amount("armature", 0.0)?,
            friction: element.amount("frictionloss", 0.0)?,
            ..Joint::at_rest(kind)
        })
    }

    /// Returns the range of an element that is limited by it.
    pub(super) fn limits(
        &self,
        element: &Element,
        limited: &str,
        range: &str,
        unit: f64,
    ) -> Result<Option<[f64; 2]>, Refusal> {
        let given: Option<[f64; 2]> = element.numbers(range)?;
        let on = element.flag(limited)?.unwrap_or(self.compiler.auto_limits && given.is_some());
        match (on, given, element.get(range)) {
            (false, ..) => Ok(None),
            (true, Some([least, most]), _) if least < most => Ok(Some([least * unit, most * unit])),
            (true, Some(_), Some(attribute)) => Err(attribute.refuse("must be the least value and a greater one")),
            _ => Err(element.place.refuse(format!("<{}> is limited and needs `{range}`", element.tag))),
        }
    }
}
