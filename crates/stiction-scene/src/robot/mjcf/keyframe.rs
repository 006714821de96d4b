//! `<keyframe>`: states by name.

use super::Mjcf;
use crate::robot::{description::Keyframe, files::Refusal, reader::Words, xml::Element};

const WORDS: Words =
    Words { read: &["name", "time", "qpos", "qvel", "ctrl"], quiet: &[], noted: &["act", "mpos", "mquat"] };

impl Mjcf<'_> {
    pub(super) fn keyframe(&mut self, key: &Element) -> Result<(), Refusal> {
        if key.tag != "key" {
            self.reader.not_read(key, &["key"], &[]);
            return Ok(());
        }
        self.reader.check_attributes(key, &WORDS);
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

    /// Returns the controls of the actuators that are supported.
    fn controls(&mut self, key: &Element) -> Result<Option<Vec<f64>>, Refusal> {
        let Some(attribute) = key.get("ctrl") else { return Ok(None) };
        let Some(all) = exactly(key, "ctrl", self.actuators.len())? else { return Ok(None) };
        let left_out = self.actuators.iter().filter(|read| !**read).count();
        if left_out > 0 {
            let reason = "has no effect on actuators that are not supported";
            self.reader.note(&attribute.place, "key ctrl".to_owned(), reason);
        }
        Ok(Some(all.into_iter().zip(&self.actuators).filter_map(|(value, read)| read.then_some(value)).collect()))
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
