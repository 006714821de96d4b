//! `<actuator>`: motors and servos on joints.

use super::Mjcf;
use crate::robot::{
    description::{Actuator, ActuatorLaw, JointId},
    files::Refusal,
    reader::Words,
    xml::Element,
};

const KINDS: [&str; 4] = ["motor", "position", "velocity", "general"];
const NOTED: [&str; 8] = ["intvelocity", "damper", "cylinder", "muscle", "adhesion", "plugin", "dcmotor", "orbit"];
const WORDS: Words = Words {
    read: &[
        "name",
        "class",
        "joint",
        "gear",
        "ctrllimited",
        "ctrlrange",
        "forcelimited",
        "forcerange",
        "kp",
        "kv",
        "gaintype",
        "biastype",
        "gainprm",
        "biasprm",
        "dyntype",
        "tendon",
        "site",
        "cranksite",
        "slidersite",
        "body",
        "jointinparent",
        "refsite",
        "cranklength",
    ],
    quiet: &["group", "user"],
    noted: &[
        "dampratio",
        "timeconst",
        "inheritrange",
        "actlimited",
        "actrange",
        "lengthrange",
        "actdim",
        "dynprm",
        "actearly",
        "delay",
        "nsample",
        "interp",
        "armature",
        "damping",
    ],
};
/// Attributes of force laws: those of servos, then those of general actuators.
const LAWS: [&str; 7] = ["kp", "kv", "gaintype", "biastype", "gainprm", "biasprm", "dyntype"];
/// Targets of actuators other than joints.
const OTHER_TARGETS: [&str; 5] = ["site", "cranksite", "slidersite", "body", "jointinparent"];

impl Mjcf<'_> {
    pub(super) fn actuator(&mut self, element: &Element) -> Result<(), Refusal> {
        if !KINDS.contains(&element.tag.as_str()) {
            self.reader.not_read(element, &KINDS, &NOTED);
            return Ok(());
        }
        let element = self.classes.applied(element, None)?;
        self.reader.check_attributes(&element, &WORDS);
        if let Some(target) = OTHER_TARGETS.iter().find_map(|name| element.get(name)) {
            let what = format!("<{}> on a {}", element.tag, target.name);
            self.reader.note(&element.place, what, "is not supported: actuators act on joints");
            return Ok(());
        }
        let Some((joint, length)) = self.transmission(&element)? else { return Ok(()) };
        let gains: &[&str] = match element.tag.as_str() {
            "motor" => &[],
            "position" => &["kp", "kv"],
            "velocity" => &["kv"],
            _ => &LAWS[2..],
        };
        for foreign in element.attributes.iter().filter(|attribute| {
            let name = attribute.name.as_str();
            LAWS.contains(&name) && !gains.contains(&name)
        }) {
            let what = format!("{} {}", element.tag, foreign.name);
            self.reader.note(&foreign.place, what, "has no effect on this kind of actuator");
        }
        let Some(law) = self.law(&element)? else { return Ok(()) };
        let actuator = Actuator {
            name: element.text("name").unwrap_or_default().to_owned(),
            joint,
            gear: element.numbers_or("gear", [1.0, 0.0, 0.0, 0.0, 0.0, 0.0])?.map(|gear| gear * length),
            law,
            control_limits: self.limits(&element, "ctrllimited", "ctrlrange", 1.0)?,
            force_limits: self.limits(&element, "forcelimited", "forcerange", 1.0)?,
        };
        self.robot.actuators.push(actuator);
        Ok(())
    }

    /// Returns the joint of an actuator, and the way of the actuator per coordinate of the joint before the gear.
    fn transmission(&mut self, element: &Element) -> Result<Option<(JointId, f64)>, Refusal> {
        let Some(attribute) = element.get("tendon") else {
            return Ok(Some((self.joint_named(element.required("joint")?)?, 1.0)));
        };
        let along = super::named(&self.names.tendons, attribute, "tendon")?;
        if along.is_none() {
            let what = format!("<{}> on a tendon", element.tag);
            self.reader.note(&element.place, what, "is not supported: this tendon is not along one joint");
        }
        Ok(along)
    }

    fn law(&mut self, element: &Element) -> Result<Option<ActuatorLaw>, Refusal> {
        Ok(Some(match element.tag.as_str() {
            "motor" => ActuatorLaw::Motor,
            "position" => {
                ActuatorLaw::Position { stiffness: element.amount("kp", 1.0)?, damping: element.amount("kv", 0.0)? }
            }
            "velocity" => ActuatorLaw::Velocity { gain: element.amount("kv", 1.0)? },
            _ => {
                let word = |name: &str, default| element.text(name).unwrap_or(default).to_owned();
                let kinds = [word("dyntype", "none"), word("gaintype", "fixed"), word("biastype", "none")];
                let bias = match kinds.each_ref().map(String::as_str) {
                    ["none", "fixed", "none"] => [0.0; 3],
                    ["none", "fixed", "affine"] => first(&element.numbers_or("biasprm", [0.0; 10])?),
                    [dynamics, gain, bias] => {
                        let what = format!("<general> of types {dynamics}, {gain}, {bias}");
                        self.reader.note(&element.place, what, "is not supported");
                        return Ok(None);
                    }
                };
                let [gain, ..] = element.numbers_or("gainprm", [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])?;
                ActuatorLaw::Affine { gain, bias }
            }
        }))
    }
}

fn first(&[a, b, c, ..]: &[f64; 10]) -> [f64; 3] {
    [a, b, c]
}
