//! `<keyframe>`: states by name.

use super::Mjcf;
use crate::robot::{description::Keyframe, files::Refusal, reader::Words, xml::Element};

const WORDS: Words =
    Words { read: &["name", "time", "qpos", "qvel", "ctrl"], quiet: &[], noted: &["act", "mpos", "mquat"] };

impl Mjcf<'_> {
    pub(super) fn keyframe(&mut self, key: &Element) -> Result<(), Refusal> {
        if key.tag != "key" {
            return self.reader.not_read(key, &["key"], &[]);
        }
        self.reader.check_attributes(key, &WORDS)?;
        let keyframe = Keyframe {
            name: key.text("name").map(str::to_owned),
            time: key.number("time")?.unwrap_or(0.0),
            coordinates: exactly(key, "qpos", self.robot.coordinates())?,
            velocities: exactly(key, "qvel", self.robot.dof())?,
            controls: self.controls(key)?,
        };
        self.robot.keyframes.push(keyframe);
        Ok(())
    }

    /// Returns the controls; they have no meaning if actuators were left out.
    fn controls(&mut self, key: &Element) -> Result<Option<Vec<f64>>, Refusal> {
        let Some(attribute) = key.get("ctrl") else { return Ok(None) };
        let given = attribute.value.split_whitespace().count();
        if given != self.robot.actuators.len() {
            self.reader.note(&attribute.place, "key ctrl".to_owned(), "does not fit the actuators that are supported");
            return Ok(None);
        }
        exactly(key, "ctrl", given)
    }
}

fn exactly(key: &Element, name: &str, count: usize) -> Result<Option<Vec<f64>>, Refusal> {
    let Some(attribute) = key.get(name) else { return Ok(None) };
    let values = attribute.list(count)?;
    if values.len() < count {
        return Err(attribute.refuse(format!("needs {count} numbers, but has {}", values.len())));
    }
    Ok(Some(values))
}
