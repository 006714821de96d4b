//! `[simulation]` and `[scheme]`: checks of limits, and defaults.

use stiction_multibody::limits;
use stiction_options::{ClosingSpeed, Margin, Order, Preset, Residuals, Scheme, SchemeError, Stabilisation};

use super::reader::At;
use crate::{
    Settings,
    error::Fault,
    file::{
        AscherTable, BaumgarteTable, ClosingSpeedTable, ClosingSpeedValue, ClosingSpeedWord, Count, MarginValue,
        ResidualTable, SceneFile, StabilisationTable, StabilisationValue, StabilisationWord,
    },
    numbers::plain,
};

/// Smallest and largest time step, s.
const STEP: (f64, f64) = (1e-9, 10.0);
/// Largest number of steps.
const STEPS: f64 = 1e9;

pub(super) fn settings(file: &SceneFile, root: &At) -> Result<Settings, Fault> {
    let (table, at) = (&file.simulation, root.key("simulation"));
    if !(STEP.0..=STEP.1).contains(&table.step) {
        let [least, most, step] = [STEP.0, STEP.1, table.step].map(plain);
        let message = format!("the `step` must be from {least} to {most} seconds, but is {step}");
        return Err(at.key("step").fault(message).hint("such as 0.0025"));
    }
    if table.duration <= 0.0 || !table.duration.is_normal() {
        let duration = plain(table.duration);
        let fault = at.key("duration").fault(format!("the `duration` must be positive, but is {duration}"));
        return Err(fault.hint("such as 1.0"));
    }
    let steps = table.duration / table.step;
    if steps > STEPS {
        let message = format!(
            "{} s in steps of {} s are {steps:.2e} steps; at most {STEPS:e} are allowed",
            plain(table.duration),
            plain(table.step)
        );
        return Err(at.key("duration").fault(message).hint("take a shorter duration or longer steps"));
    }
    Ok(Settings {
        duration: table.duration,
        step: table.step,
        preset: table.preset.into(),
        scheme: scheme(file, &root.key("scheme"))?,
        record_every: table.record_every.map_or(1, |Count(count)| count),
    })
}

fn scheme(file: &SceneFile, at: &At) -> Result<Scheme, Fault> {
    let (table, preset) = (&file.scheme, Preset::from(file.simulation.preset));
    let mut scheme = preset.scheme();
    if let Some(gamma) = weight(&at.key("gamma"), table.gamma)? {
        if !matches!(preset, Preset::AnitescuHart | Preset::Ncp) && gamma != scheme.gamma {
            let message = format!("the preset \"{}\" means gamma = {}, not {gamma}", preset.name(), scheme.gamma);
            return Err(at
                .key("gamma")
                .fault(message)
                .hint("with `preset = \"anitescu-hart\"` gamma is free to choose"));
        }
        scheme.gamma = gamma;
    }
    scheme.joint_gamma = weight(&at.key("joint_gamma"), table.joint_gamma)?.unwrap_or(scheme.gamma);
    scheme.joint_closing_speed = closing_speed(table.joint_closing_speed.as_ref());
    if let Some(word) = table.jacobians {
        if preset == Preset::GeometricallyImplicit && scheme.linearise_at != word.into() {
            let message = format!("the preset \"{}\" means jacobians = \"implicit\"", preset.name());
            return Err(at.key("jacobians").fault(message).hint("leave `jacobians` out, or use `preset = \"ncp\"`"));
        }
        scheme.linearise_at = word.into();
    }
    scheme.coordinates = table.coordinates.into();
    scheme.protective_layer = table.protective_layer.unwrap_or(0.0);
    scheme.position_update = table.position_update.into();
    scheme.order = match table.order {
        None | Some(1) => Order::First,
        Some(2) => Order::Second,
        Some(order) => return Err(at.key("order").fault(format!("`order` must be 1 or 2, but is {order}"))),
    };
    scheme.substeps.count = table.substeps.unwrap_or(1);
    scheme.substeps.locate_contacts = table.locate_contacts;
    scheme.substeps.steps_per_period = table.steps_per_period.unwrap_or(0);
    scheme.friction = table.friction.map_or(scheme.friction, Into::into);
    scheme.corners = table.corners.into();
    if let Some(word) = table.undetermined {
        if preset != Preset::Quasistatic {
            let message = format!(
                "the preset \"{}\" determines every motion: `undetermined` is for `quasistatic`",
                preset.name()
            );
            return Err(at.key("undetermined").fault(message).hint("leave it out, or use `preset = \"quasistatic\"`"));
        }
        scheme.undetermined = word.into();
    }
    scheme.impact = table.impact.map_or(scheme.impact, Into::into);
    scheme.directions = table.directions.unwrap_or(scheme.directions);
    scheme.margin = margin(&at.key("margin"), table.margin.as_ref())?;
    scheme.prescribed_slip = table.prescribed_slip.into();
    scheme.orientation = table.orientation.into();
    scheme.velocity_terms = table.velocity_terms.into();
    scheme.impulse_points = table.impulse_points.into();
    scheme.stabilisation = stabilisation(&at.key("stabilisation"), table.stabilisation.as_ref())?;
    scheme.solving.halve_steps = table.halve_steps.unwrap_or(scheme.solving.halve_steps);
    let ResidualTable { aim, accept, refuse } = table.residual;
    scheme.solving.residual = Residuals { aim, accept, refuse };
    scheme.solving.on_unsolved = table.on_unsolved.into();
    scheme.validate().map_err(|error| at.key(error.field).fault(error.to_string()))?;
    Ok(scheme)
}

/// Returns the error of a scheme that contradicts itself or the model, at its key. The last part of its reason says what to use instead.
pub(super) fn contradiction(root: &At, error: &SchemeError) -> Fault {
    let in_scheme = root.key("scheme").key(error.field);
    let at = if error.field == "preset" || !in_scheme.exists() && !root.key("scheme").exists() {
        root.key("simulation").key("preset")
    } else {
        in_scheme
    };
    match error.reason.rsplit_once("; ") {
        Some((reason, instead)) => at.fault(format!("scheme, {}: {reason}", error.field)).hint(instead),
        None => at.fault(error.to_string()),
    }
}

fn closing_speed(value: Option<&ClosingSpeedValue>) -> ClosingSpeed {
    let usual = ClosingSpeed::default();
    match value {
        None => usual,
        Some(ClosingSpeedValue::Word(ClosingSpeedWord::Unbounded)) => ClosingSpeed::UNBOUNDED,
        Some(ClosingSpeedValue::Table(ClosingSpeedTable { linear, angular, overlap })) => ClosingSpeed {
            linear: linear.unwrap_or(usual.linear),
            angular: angular.unwrap_or(usual.angular),
            overlap: overlap.unwrap_or(usual.overlap),
        },
    }
}

fn stabilisation(at: &At, value: Option<&StabilisationValue>) -> Result<Stabilisation, Fault> {
    let table = match value {
        None | Some(StabilisationValue::Word(StabilisationWord::Usual)) => return Ok(Stabilisation::Usual),
        Some(StabilisationValue::Word(StabilisationWord::Multiplier)) => return Ok(Stabilisation::Multiplier),
        Some(StabilisationValue::Word(StabilisationWord::Reduction)) => return Ok(Stabilisation::Reduction),
        Some(StabilisationValue::Table(table)) => table,
    };
    match *table {
        StabilisationTable {
            baumgarte: Some(BaumgarteTable { damping, stiffness }),
            ascher: None,
            projection: None,
        } => Ok(Stabilisation::Baumgarte { damping, stiffness }),
        StabilisationTable { baumgarte: None, ascher: Some(AscherTable { rate }), projection: None } => {
            Ok(Stabilisation::Ascher { rate })
        }
        StabilisationTable { baumgarte: None, ascher: None, projection: Some(manifold) } => {
            Ok(Stabilisation::Projection(manifold.into()))
        }
        _ => {
            let fault = at.fault("`stabilisation` must have exactly one of `baumgarte`, `ascher`, `projection`");
            Err(fault.hint("such as { projection = \"positions\" }"))
        }
    }
}

fn weight(at: &At, value: Option<f64>) -> Result<Option<f64>, Fault> {
    match value {
        Some(value) if !(0.0..=1.0).contains(&value) => {
            Err(at.fault(format!("{} must lie between 0 and 1, but is {}", at.what(), plain(value))))
        }
        _ => Ok(value),
    }
}

/// Returns a margin in metres, or `auto`.
pub(super) fn margin(at: &At, value: Option<&MarginValue>) -> Result<Margin, Fault> {
    match value {
        Some(MarginValue::Distance(distance)) if (0.0..=limits::LENGTH).contains(distance) => {
            Ok(Margin::Fixed(distance.abs()))
        }
        Some(MarginValue::Distance(distance)) => {
            let (what, most, distance) = (at.what(), plain(limits::LENGTH), plain(*distance));
            Err(at.fault(format!("{what} must lie between 0 and {most} m, but is {distance}")))
        }
        Some(MarginValue::Word(_)) | None => Ok(Margin::Automatic),
    }
}
