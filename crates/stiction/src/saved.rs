//! Saved simulations: the state as text, bit for bit.

use serde::{Deserialize, Serialize};
use stiction_multibody::State;

use crate::{RestoreError, Simulation, simulation::STEP_RANGE};

/// Version of the saved state; a change of [`State`] increments it.
const SAVE_VERSION: u32 = 4;

/// Version of a saved state, which is read before the rest: other versions have other fields.
#[derive(Deserialize)]
struct Header {
    stiction_state: u32,
}

/// Content of a saved state, as [`Simulation::save`] writes it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    stiction_state: u32,
    bodies: Vec<String>,
    step: f64,
    /// Largest step so far, if steps of other lengths were made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    largest_step: Option<f64>,
    state: State,
    /// Checksum of all other fields, which detects changed digits.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    checksum: String,
}

impl Saved {
    /// Checksum of all other fields (FNV-1a of 64 bits).
    fn sum(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        let step = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        format!("{:016x}", text.bytes().fold(0xCBF2_9CE4_8422_2325, step))
    }
}

impl Simulation {
    /// Returns the state as JSON text, bit for bit.
    pub fn save(&self) -> String {
        let mut saved = Saved {
            stiction_state: SAVE_VERSION,
            bodies: self.body_names().map(str::to_owned).collect(),
            step: self.h,
            largest_step: (self.largest_step > self.h).then_some(self.largest_step),
            state: self.state.clone(),
            checksum: String::new(),
        };
        saved.checksum = saved.sum();
        serde_json::to_string(&saved).unwrap_or_default()
    }

    /// Restores a state saved by [`Self::save`] of the same scene; on error nothing changes.
    pub fn restore(&mut self, saved: &str) -> Result<(), RestoreError> {
        let Header { stiction_state: found } = serde_json::from_str(saved)?;
        if found != SAVE_VERSION {
            return Err(RestoreError::Version { found, expected: SAVE_VERSION });
        }
        let mut saved: Saved = serde_json::from_str(saved)?;
        let checksum = std::mem::take(&mut saved.checksum);
        if checksum != saved.sum() {
            return Err(RestoreError::Damaged);
        }
        if !saved.bodies.iter().map(String::as_str).eq(self.body_names()) {
            return Err(RestoreError::Mismatch("its bodies have other names".into()));
        }
        if saved.step.to_bits() != self.h.to_bits() {
            return Err(RestoreError::Mismatch(format!("its step is {} s, here it is {} s", saved.step, self.h)));
        }
        let largest = saved.largest_step.unwrap_or(self.h);
        if !(self.h..=STEP_RANGE.1).contains(&largest) {
            return Err(RestoreError::Mismatch("its largest step is not that of a simulation".into()));
        }
        self.set_state(&saved.state)?;
        self.largest_step = largest;
        Ok(())
    }
}
