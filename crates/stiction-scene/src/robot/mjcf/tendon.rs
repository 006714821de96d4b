//! `<tendon>`: fixed tendons along one joint, on which actuators act.

use super::Mjcf;
use crate::robot::{files::Refusal, reader::Words, xml::Element};

const WORDS: Words = Words {
    read: &["name", "class"],
    quiet: &["group", "width", "material", "rgba", "user"],
    noted: &[
        "limited",
        "range",
        "margin",
        "solreflimit",
        "solimplimit",
        "solreffriction",
        "solimpfriction",
        "frictionloss",
        "springlength",
        "stiffness",
        "damping",
        "armature",
        "actuatorfrclimited",
        "actuatorfrcrange",
    ],
};

impl Mjcf<'_> {
    /// Reads a tendon: of length coefficient times coordinate if it is a fixed one along one joint, without effect otherwise.
    pub(super) fn tendon(&mut self, element: &Element) -> Result<(), Refusal> {
        let name = element.text("name").unwrap_or_default().to_owned();
        let joints: Vec<&Element> = element.children_of("joint").collect();
        let along = match joints.as_slice() {
            [joint] if element.tag == "fixed" => {
                // The defaults of a tendon are those of `tendon`, for both kinds.
                let as_tendon = Element { tag: "tendon".to_owned(), ..element.clone() };
                let whole = Element { tag: element.tag.clone(), ..self.classes.applied(&as_tendon, None)? };
                self.reader.check_attributes(&whole, &WORDS);
                joint.required("coef")?;
                Some((self.joint_named(joint.required("joint")?)?, joint.number("coef")?.unwrap_or(1.0)))
            }
            _ => {
                let what = format!("<{}> tendon", element.tag);
                self.reader.note(&element.place, what, "is not supported, only fixed tendons along one joint are");
                None
            }
        };
        self.names.tendons.insert(name, along);
        Ok(())
    }
}
