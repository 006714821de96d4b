//! Values against recordings and closed forms, units, places of errors, hostile text.
#![allow(clippy::disallowed_methods)] // Tests make files and need not have the same bits everywhere.

use std::path::PathBuf;

use nalgebra::Vector2;
use proptest::prelude::*;
use stiction_geometry::{Dimension, Shape, planar};
use stiction_multibody::{BodyBuilder, ContactRule, ModelBuilder};
use stiction_stepping::Preset;

use super::{MAX_DEPTH, MAX_LENGTH, Measure, Value, series};
use crate::{
    Simulation,
    record::{Ending, Recorder, Recording, RunLabels, RunTables},
};

/// A box that falls on the floor, slides and stops, recorded once for a test.
struct Run {
    folder: PathBuf,
    tables: RunTables,
}

impl Run {
    fn new(name: &str) -> Self {
        let mut builder = ModelBuilder::new(Dimension::Planar);
        builder.gravity(0.0, -9.81, 0.0).expect("gravity");
        let floor = planar::Shape::half_plane(Vector2::y()).expect("floor");
        builder.body(BodyBuilder::fixed("floor").shape(Shape::Planar(floor))).expect("floor");
        let shape = planar::Shape::rectangle([0.2, 0.1]).expect("box");
        let body = BodyBuilder::planar("my box", 2.0, 0.02).position(0.0, 0.3, 0.0).velocity(1.0, 0.0, 0.0);
        builder.body(body.shape(Shape::Planar(shape))).expect("box");
        builder.default_contact(ContactRule { friction: 0.3, ..ContactRule::default() }).expect("rule");
        let model = builder.build().expect("model");
        let mut simulation = Simulation::new(model, Preset::Ncp.scheme(), 0.002).expect("simulation");
        let folder = std::env::temp_dir().join(format!("stiction-measure-{}-{name}", std::process::id()));
        let labels = RunLabels { scene: "box".into(), preset: "ncp".into(), solver: "ladder".into(), record_every: 1 };
        let mut recorder = Recorder::create(&folder, &labels, &simulation).expect("recorder");
        for _ in 0..400 {
            let report = simulation.step().expect("step");
            recorder.record(&simulation, &report);
        }
        assert!(recorder.finish(&simulation, 0.0, Ending::Finished).trouble.is_none());
        Self { tables: RunTables::open(&folder).expect("tables"), folder }
    }

    fn measure(&self, text: &str) -> (Value, Option<String>) {
        let measured = Measure::parse(text).and_then(|measure| measure.evaluate(&self.tables));
        let measured = measured.unwrap_or_else(|error| panic!("{error}"));
        (measured.value, measured.unit)
    }

    #[track_caller]
    fn scalar(&self, text: &str) -> f64 {
        match self.measure(text).0 {
            Value::Scalar(x) => x,
            Value::Series(_) => panic!("{text} is a series"),
        }
    }

    #[track_caller]
    fn series(&self, text: &str) -> Vec<f64> {
        match self.measure(text).0 {
            Value::Series(values) => values,
            Value::Scalar(_) => panic!("{text} is a scalar"),
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn columns_are_those_of_the_recording() {
    let run = Run::new("columns");
    let recording = Recording::read(&run.folder).expect("recording");
    let recorded: Vec<f64> = recording.frames().map(|frame| frame.q[1]).collect();
    assert_eq!(run.series("\"my box\".y"), recorded);
    assert_eq!(run.series("'my box.y'"), recorded);
    let halves: Vec<f64> = recorded.iter().map(|y| 0.5 * y).collect();
    assert_eq!(run.series("\"my box.y\"/2"), halves);
    assert_eq!(run.scalar("step"), 0.002);
    assert_eq!(run.scalar("final(step_number)"), 400.0);
}

#[test]
fn contacts_are_gathered_moment_by_moment() {
    let run = Run::new("contacts");
    let recording = Recording::read(&run.folder).expect("recording");
    let sums: Vec<f64> =
        recording.frames().map(|frame| frame.contacts.iter().map(|contact| contact.normal_impulse).sum()).collect();
    assert_eq!(run.series("sum_contacts(normal_impulse)"), sums);
    let counts: Vec<f64> = recording.frames().map(|frame| frame.contacts.len() as f64).collect();
    assert_eq!(run.series("count_contacts(1)"), counts);
    // It lies on the floor at the end: the force is its weight, and it sticks.
    let (weight, unit) = run.measure("final(sum_contacts(normal_impulse)/step)");
    assert!(matches!(weight, Value::Scalar(force) if (force - 2.0 * 9.81).abs() < 1e-9), "{weight:?}");
    assert_eq!(unit.as_deref(), Some("N"));
    let sticking = run.scalar("final(count_contacts(mode == \"stick\"))");
    assert_eq!(sticking, run.scalar("final(count_contacts(mode != \"slip\"))"));
    assert_eq!(sticking, *counts.last().expect("frames"));
    // Without contacts there is no least gap.
    assert!(run.series("min_contacts(gap)")[0].is_nan());
    let first = recording.frames().find(|frame| !frame.contacts.is_empty()).expect("contact");
    assert_eq!(run.scalar("first(count_contacts(1) > 0)"), first.time);
    assert_eq!(run.scalar("first(t >= 0.1)"), 0.1);
    assert!(run.scalar("first(t < 0)").is_nan());
}

#[test]
fn one_contact_has_gaps_where_it_is_absent() {
    let run = Run::new("one");
    let labels = run.tables.contact_column("contact").expect("labels");
    let crate::record::Column::Texts(labels) = labels else { panic!("no words") };
    let label = &labels.words[0];
    let impulses = run.series(&format!("contact(\"{label}\").normal_impulse"));
    assert!(impulses[0].is_nan() && impulses.last().is_some_and(|impulse| *impulse > 0.0));
    let filled = run.series(&format!("default(contact(\"{label}\").normal_impulse, 0)"));
    assert!(filled.iter().zip(&impulses).all(|(x, y)| if y.is_nan() { *x == 0.0 } else { x == y }));
}

#[test]
fn rates_and_integrals_belong_together() {
    let run = Run::new("rates");
    // While it falls the position is a parabola, whose rate three moments give exactly; the scheme's velocity is half a
    // step ahead.
    let (rate, unit) = run.measure("at(deriv(\"my box\".y), 0.1)");
    assert!(matches!(rate, Value::Scalar(v) if (v + 0.981 + 0.5 * 9.81 * 0.002).abs() < 1e-9), "{rate:?}");
    assert_eq!(unit.as_deref(), Some("m/s"));
    let times = [0.0, 0.1, 0.3, 0.4, 0.8];
    let parabola: Vec<f64> = times.iter().map(|t| 1.0 + 2.0 * t - 3.0 * t * t).collect();
    let rates = series::derivative(&parabola, &times);
    for k in 1..4 {
        assert!((rates[k] - (2.0 - 6.0 * times[k])).abs() < 1e-12);
    }
    let line: Vec<f64> = times.iter().map(|t| 3.0 * t).collect();
    for (k, area) in series::integral(&line, &times).into_iter().enumerate() {
        assert!((area - 1.5 * times[k] * times[k]).abs() < 1e-12);
    }
    assert!((series::mean(&line, &times) - 1.2).abs() < 1e-12);
    assert_eq!(run.measure("integral(total)").1.as_deref(), Some("N m s"));
}

#[test]
fn scalars_and_series_follow_the_usual_rules() {
    let run = Run::new("rules");
    for (text, expected) in [
        ("1 + 2*3", 7.0),
        ("2^3^2", 512.0),
        ("-2^2", -4.0),
        ("7 % 4 * 2", 6.0),
        ("1 < 2 and not 2 < 1", 1.0),
        ("1 > 2 or 3 == 3", 1.0),
        ("(1 < 2) + (2 <= 2) + (3 != 3)", 2.0),
        ("if(1 < 2, 5, 6)", 5.0),
        ("clamp(7, 0, 1) + min(3, 2) + max(3, 2)", 6.0),
        ("hypot(3, 4) + atan2(0, 1) + abs(-1) + sign(-3)", 5.0),
        ("sqrt(16) + floor(2.7) + cos(0) + exp(0) + log(1)", 8.0),
        ("final(t)", 0.8),
        ("max(t) - min(t)", 0.8),
        ("initial(t) + any(t > 0.5) + all(t >= 0)", 2.0),
        ("at(t*t, 0.0305)", 0.030_5 * 0.030_5 + 0.000_5 * 0.001_5),
        ("mean(t)", 0.4),
        ("final(cumsum(t))", 0.002 * 400.0 * 401.0 / 2.0),
        ("last(t < 0.5)", 0.498),
    ] {
        let value = run.scalar(text);
        assert!((value - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{text} is {value}");
    }
    assert!(run.scalar("at(t, 99)").is_nan() && run.scalar("0/0 == 0/0") == 0.0);
}

#[test]
fn units_follow_where_that_is_simple() {
    let run = Run::new("units");
    for (text, unit) in [
        ("t", Some("s")),
        ("\"my box\".x", Some("m")),
        ("\"my box\".angle + 1", Some("rad")),
        ("\"my box\".wz", Some("rad/s")),
        ("\"my box\".wz * \"my box\".y", Some("m/s")),
        ("deriv(\"my box\".vx)", Some("m/s²")),
        ("hypot(\"my box\".vx, \"my box\".vy)", Some("m/s")),
        ("sqrt(\"my box\".x^2 + \"my box\".y^2)", Some("m")),
        ("total - initial(total)", Some("J")),
        ("deriv(kinetic)", Some("W")),
        ("max_contacts(spin_impulse)", Some("N m s")),
        ("min_contacts(gap)", Some("m")),
        ("\"my box\".x + \"my box\".vx", None),
        ("sin(t)", Some("")),
        ("t > 0.1", Some("")),
        ("1/t", Some("1/s")),
        ("\"my box\".x^3", Some("m³")),
        ("residual", None),
    ] {
        assert_eq!(run.measure(text).1.as_deref(), unit, "{text}");
    }
}

#[test]
fn errors_name_the_place_and_the_next_best() {
    let run = Run::new("errors");
    for (text, span, reason, hint) in [
        ("", 0..0, "ends here", ""),
        ("1 +", 3..3, "ends here", ""),
        ("1 + \"my box\".yy", 4..15, "no column `my box.yy`", "did you mean `my box."),
        ("kinetik", 0..7, "no column `kinetik`", "did you mean `kinetic`?"),
        ("sine(t)", 0..4, "no function `sine`", "did you mean"),
        ("min(t, t, t)", 0..12, "takes 2 or 1 arguments, not 3", ""),
        ("2 t", 2..3, "expected an operator", "`*`"),
        ("(1", 2..2, "expected `)`", ""),
        ("1 = 1", 2..3, "written with `==`", ""),
        ("1 < 2 < 3", 6..7, "two sides", "and"),
        ("\"open", 0..5, "no closing", ""),
        ("1 # 2", 2..3, "no meaning", ""),
        ("1e999", 0..5, "too large", ""),
        ("contact(3).gap", 8..9, "label of a contact", ""),
        ("contact(\"x\")", 0..12, "a column of the contact is missing", ""),
        ("contact(\"x\").gap", 0..16, "the run has no contact with the label `x`", "known here"),
        ("sum_contacts(gapp)", 13..17, "no column of contacts `gapp`", "did you mean `gap`?"),
        ("sum_contacts(mode)", 13..17, "holds text", "mode =="),
        ("sum_contacts(deriv(gap))", 13..23, "cannot contain a series over time", ""),
        ("sum_contacts(sum_contacts(gap))", 13..30, "do not nest", ""),
        ("at(t, t)", 6..7, "one number", ""),
    ] {
        let error = Measure::parse(text).and_then(|measure| measure.evaluate(&run.tables)).expect_err(text);
        assert_eq!(error.span, span, "{text}: {error}");
        assert!(error.reason.contains(reason), "{text}: {error}");
        assert!(error.hint.as_deref().unwrap_or_default().contains(hint), "{text}: {error}");
    }
    let error = Measure::parse("1 + 2 t").expect_err("two operands");
    assert_eq!(error.to_string(), "expected an operator\n  1 + 2 t\n        ^ a product is written with `*`");
}

#[test]
fn length_and_depth_are_limited() {
    let deep = |n: usize| format!("{}1{}", "(".repeat(n), ")".repeat(n));
    assert!(Measure::parse(&deep(MAX_DEPTH - 1)).is_ok());
    assert!(Measure::parse(&deep(MAX_DEPTH + 1)).expect_err("deep").reason.contains("nested"));
    for hostile in ["not ", "2^", "-", "(", "abs(", "1+"] {
        let _ = Measure::parse(&hostile.repeat(MAX_LENGTH / hostile.len()));
    }
    assert!(Measure::parse(&"1".repeat(MAX_LENGTH + 1)).expect_err("long").reason.contains("bytes long"));
}

proptest! {
    #[test]
    fn any_text_is_an_expression_or_has_a_place(text in ".{0,60}") {
        if let Err(error) = Measure::parse(&text) {
            prop_assert!(text.get(error.span.clone()).is_some() && !error.to_string().is_empty());
        }
    }

    #[test]
    fn almost_expressions_are_refused_with_a_place(
        words in prop::collection::vec(prop::sample::select(vec![
            "t", "rod.y", "1", "1e3", ".", "\"a b\"", ".y", "+", "-", "*", "^", "(", ")", ",", "<", "==", "and", "or", "not",
            "sin(", "min(", "contact(", "sum_contacts(", "if(", " ", "é", "'",
        ]), 0..30)
    ) {
        let text = words.concat();
        if let Err(error) = Measure::parse(&text) {
            prop_assert!(text.get(error.span.clone()).is_some(), "{error:?}");
        }
    }
}

#[test]
fn averages_run_over_a_window_and_sums_over_a_raster() {
    let times: Vec<f64> = (0..=1000).map(|k| 0.001 * f64::from(k)).collect();
    let line: Vec<f64> = times.iter().map(|t| 3.0 * t).collect();
    // The mean of a straight line over a window is its value in the middle.
    let average = series::average(&line, &times, 0.1);
    assert_eq!(average[0], 0.0);
    assert!((average[50] - 3.0 * 0.025).abs() < 1e-12);
    assert!((average[700] - 3.0 * 0.65).abs() < 1e-12);
    // A whole period of a sine has no mean, wherever it begins; the window ends between two moments.
    let period = 0.0731;
    let wave: Vec<f64> = times.iter().map(|t| (std::f64::consts::TAU * t / period).sin()).collect();
    let worst = series::average(&wave, &times, period).into_iter().skip(74).fold(0.0, |w: f64, x| w.max(x.abs()));
    assert!(worst < 2e-3, "{worst}");
    // 0.25 + 0.5 + 0.75 + 1, three times.
    assert!((series::sum_every(&line, &times, 0.25) - 7.5).abs() < 1e-12);
    // Times that are not moments take the nearest one, so that conditions stay conditions.
    let odd: Vec<f64> = (0..=1000).map(|k| f64::from(k % 2)).collect();
    assert_eq!(series::sum_every(&odd, &times, 0.0998), 5.0);
    assert!(series::sum_every(&[], &[], 0.1) == 0.0 && series::average(&[], &[], 0.1).is_empty());
}

#[test]
fn averages_and_sums_refuse_times_that_are_none() {
    let run = Run::new("raster");
    assert!((run.scalar("sum_every(t, 0.2)") - 2.0).abs() < 1e-9);
    assert!((run.scalar("final(average(t, 0.1))") - 0.75).abs() < 1e-9);
    for text in ["sum_every(t, 0)", "average(t, -1)", "average(t, 0/0)", "sum_every(t, t)"] {
        let refused = Measure::parse(text).and_then(|measure| measure.evaluate(&run.tables));
        assert!(refused.is_err(), "{text}");
    }
}
