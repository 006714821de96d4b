//! Precedence, derivatives against closed forms and differences, and hostile text.

use proptest::prelude::*;

use super::{Expression, Jet, MAX_DEPTH, MAX_LENGTH};

fn parsed(text: &str) -> Expression {
    Expression::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn value(text: &str) -> f64 {
    parsed(text).value(0.7)
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

#[track_caller]
fn assert_jet(text: &str, t: f64, expected: [f64; 3]) {
    let Jet { value, rate, curvature } = parsed(text).jet(t);
    for (name, found, wanted) in
        [("value", value, expected[0]), ("rate", rate, expected[1]), ("curvature", curvature, expected[2])]
    {
        assert!(close(found, wanted, 1e-14), "{text} at {t}: {name} is {found}, not {wanted}");
    }
}

#[test]
fn precedence_is_the_usual_one() {
    for (text, expected) in [
        ("1 + 2*3", 7.0),
        ("(1 + 2)*3", 9.0),
        ("8/4/2", 1.0),
        ("8 - 4 - 2", 2.0),
        ("2^3^2", 512.0),
        ("-2^2", -4.0),
        ("(-2)^2", 4.0),
        ("2^-1", 0.5),
        ("2*-3", -6.0),
        ("--3", 3.0),
        ("1 - -3", 4.0),
        ("+4", 4.0),
        ("7 % 4 * 2", 6.0),
        (".5 + 5.", 5.5),
        ("1e-3*1E3", 1.0),
        ("pi/pi", 1.0),
        ("min(3, 2) + max(3, 2)*10", 32.0),
        ("clamp(5, 0, 1) + clamp(-5, 0, 1)", 1.0),
        ("if(1 <= 1, 2, 3) + if(1 < 1, 20, 30)", 32.0),
        ("if(2 > 1, 2, 3) + if(1 >= 2, 20, 30)", 32.0),
        ("\t1\n+ 1 ", 2.0),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn modulo_has_the_sign_of_the_divisor() {
    for (a, b, expected) in [(5.5, 2.0, 1.5), (-0.5, 2.0, 1.5), (0.5, -2.0, -1.5), (-4.0, 2.0, 0.0), (6.0, 0.75, 0.0)] {
        assert_eq!(value(&format!("mod({a}, {b})")), expected, "{a} mod {b}");
        assert_eq!(value(&format!("({a}) % ({b})")), expected, "{a} % {b}");
    }
}

#[test]
fn derivatives_match_closed_forms() {
    let t = 0.7_f64;
    let (s, c) = libm::sincos(2.0 * t);
    assert_jet("3", t, [3.0, 0.0, 0.0]);
    assert_jet("t", t, [t, 1.0, 0.0]);
    assert_jet("1 - 2*t + 3*t^2", t, [1.0 - 2.0 * t + 3.0 * t * t, -2.0 + 6.0 * t, 6.0]);
    assert_jet("sin(2*t)", t, [s, 2.0 * c, -4.0 * s]);
    assert_jet("exp(-t)*cos(2*t)", t, {
        let e = libm::exp(-t);
        [e * c, e * (-c - 2.0 * s), e * (4.0 * s - 3.0 * c)]
    });
    assert_jet("1/(1 + t)", t, [1.0 / 1.7, -1.0 / (1.7 * 1.7), 2.0 / (1.7 * 1.7 * 1.7)]);
    assert_jet("sqrt(t)", t, [t.sqrt(), 0.5 / t.sqrt(), -0.25 / (t * t.sqrt())]);
    assert_jet("log(t)", t, [libm::log(t), 1.0 / t, -1.0 / (t * t)]);
    let (power, log) = (libm::pow(t, t), libm::log(t));
    assert_jet("t^t", t, [power, power * (1.0 + log), power * ((1.0 + log) * (1.0 + log) + 1.0 / t)]);
    assert_jet("(-t)^3", t, [-t * t * t, -3.0 * t * t, -6.0 * t]);
}

#[test]
fn powers_are_differentiable_at_zero() {
    assert_jet("t^0", 0.0, [1.0, 0.0, 0.0]);
    assert_jet("t^1", 0.0, [0.0, 1.0, 0.0]);
    assert_jet("t^2", 0.0, [0.0, 0.0, 2.0]);
    assert_jet("sqrt(0)*t", 0.0, [0.0, 0.0, 0.0]);
}

#[test]
fn kinks_take_the_right_derivative() {
    assert_jet("abs(t - 1)", 1.0, [0.0, 1.0, 0.0]);
    assert_jet("abs(1 - t)", 1.0, [0.0, 1.0, 0.0]);
    assert_jet("min(t, 1)", 1.0, [1.0, 0.0, 0.0]);
    assert_jet("min(1, t)", 1.0, [1.0, 0.0, 0.0]);
    assert_jet("max(t, 1)", 1.0, [1.0, 1.0, 0.0]);
    assert_jet("max(1, t)", 1.0, [1.0, 1.0, 0.0]);
    assert_jet("clamp(t, 0, 1)", 0.0, [0.0, 1.0, 0.0]);
    assert_jet("max(-t^2, t^2)", 0.0, [0.0, 0.0, 2.0]);
}

#[test]
fn switches_use_the_branch_in_force() {
    assert_jet("if(t < 1, t^2, 2*t - 1)", 1.0, [1.0, 2.0, 0.0]);
    assert_jet("if(t <= 1, t^2, 2*t - 1)", 1.0, [1.0, 2.0, 2.0]);
    assert_jet("floor(t)*t", 2.0, [4.0, 2.0, 0.0]);
    assert_jet("mod(3*t, 1)", 1.0, [0.0, 3.0, 0.0]);
    assert_jet("mod(t, t^2)", 0.5, [0.0, 1.0 - 2.0, -2.0 * 2.0]);
    assert_jet("step(t - 1)*t", 1.0, [1.0, 1.0, 0.0]);
    assert_jet("sign(t - 1)*t", 0.5, [-0.5, -1.0, 0.0]);
    // The branch not taken may be as singular as it likes.
    assert_jet("if(t > 0, log(t), 5)", 0.0, [5.0, 0.0, 0.0]);
}

#[test]
fn errors_name_the_place() {
    for (text, at, part) in [
        ("", 0, "ends here"),
        ("1 +", 3, "ends here"),
        ("(1", 2, "expected `)`"),
        ("1)", 1, "expected an operator"),
        ("2t", 1, "written with `*`"),
        ("sine(t)", 0, "`sine` is not known"),
        ("nan", 0, "`nan` is not known"),
        ("1 + inf", 4, "`inf` is not known"),
        ("1e400", 0, "too large"),
        ("1e", 1, "expected an operator"),
        (".", 0, "is not a number"),
        ("sin t", 4, "expected `(`"),
        ("sin(t, 1)", 5, "takes 1 argument"),
        ("min(t)", 5, "takes 2 arguments"),
        ("clamp(t, 1)", 10, "takes 3 arguments"),
        ("t < 1", 2, "comparisons belong"),
        ("if(t, 1, 2)", 4, "expected a comparison"),
        ("if(t < 1, 2)", 11, "expected `,`"),
        ("1 + × 2", 4, "found `×`"),
        ("1,0", 1, "expected an operator"),
    ] {
        let error = Expression::parse(text).expect_err(text);
        assert!(error.at == at && error.reason.contains(part), "{text}: {error:?}");
    }
}

#[test]
fn size_and_depth_are_bounded() {
    let deep = |n: usize| format!("{}t{}", "(".repeat(n), ")".repeat(n));
    assert!(Expression::parse(&deep(MAX_DEPTH)).is_ok());
    assert!(Expression::parse(&deep(MAX_DEPTH + 1)).expect_err("deep").reason.contains("nested"));
    assert!(Expression::parse(&"2^".repeat(4000)).is_err());
    assert!(Expression::parse(&format!("{}t", "-".repeat(MAX_LENGTH - 1))).is_ok());
    let wide = format!("1{}", "+1".repeat((MAX_LENGTH - 1) / 2));
    assert_eq!(parsed(&wide).value(0.0), wide.len().div_ceil(2) as f64);
    assert!(Expression::parse(&format!("{wide}+1")).expect_err("long").reason.contains("bytes long"));
    // Few levels, but many waiting operands.
    let waiting = format!("{}t{}", "if(t<1,1,1+2*3^(".repeat(20), "))".repeat(20));
    assert!(Expression::parse(&waiting).expect_err("waiting").reason.contains("nested"));
}

#[test]
fn constants_and_texts_round_trip() {
    for value in [0.0, -0.0, 1.0, -2.5, 1e308, 5e-324, 0.1 + 0.2] {
        let constant = Expression::constant(value);
        let again: Expression = constant.to_string().parse().expect("a finite constant");
        assert_eq!(again, constant);
        assert_eq!(again.value(3.0).to_bits(), value.to_bits());
        assert_eq!(again.as_constant(), Some(value));
    }
    let text = "0.5+0.4 * sin( t )";
    assert_eq!(parsed(&parsed(text).to_string()), parsed("0.5 + 0.4*sin(t)"));
}

/// Smooth expressions, built so that they stay moderate for t in (0.3, 2).
fn smooth() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![Just("t".to_owned()), (-2.0..2.0_f64).prop_map(|x| format!("({x})"))];
    leaf.prop_recursive(4, 24, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            pair.clone().prop_map(|(a, b)| format!("({a} + {b})")),
            pair.clone().prop_map(|(a, b)| format!("({a} - {b})")),
            pair.clone().prop_map(|(a, b)| format!("sin({a})*cos({b})")),
            pair.clone().prop_map(|(a, b)| format!("{a}/(2 + cos({b}))")),
            pair.prop_map(|(a, b)| format!("(2 + sin({a}))^(atan({b}))")),
            inner.clone().prop_map(|a| format!("-atan({a})")),
            inner.clone().prop_map(|a| format!("exp(sin({a}))")),
            inner.clone().prop_map(|a| format!("log(3 + cos({a}))")),
            inner.clone().prop_map(|a| format!("sqrt(2 + sin({a}))")),
            inner.clone().prop_map(|a| format!("asin(0.9*sin({a}))")),
            inner.clone().prop_map(|a| format!("acos(0.9*cos({a}))")),
            inner.prop_map(|a| format!("tan(0.5*sin({a}))")),
        ]
    })
}

proptest! {
    /// f′ from f and f″ from f′, by central differences with one extrapolation (error of order d⁴).
    #[test]
    fn derivatives_match_differences(text in smooth(), t in 0.3..2.0_f64) {
        let f = parsed(&text);
        let jet = f.jet(t);
        let difference = |g: &dyn Fn(f64) -> f64, d: f64| (g(t + d) - g(t - d)) / (2.0 * d);
        let extrapolated = |g: &dyn Fn(f64) -> f64| {
            let d = 2e-4;
            (4.0 * difference(g, d / 2.0) - difference(g, d)) / 3.0
        };
        let scale = 1.0 + jet.value.abs() + jet.rate.abs() + jet.curvature.abs();
        prop_assume!(scale < 1e3);
        let rate = extrapolated(&|t| f.jet(t).value);
        let curvature = extrapolated(&|t| f.jet(t).rate);
        prop_assert!((rate - jet.rate).abs() < 1e-6 * scale, "{text}: {rate} against {}", jet.rate);
        prop_assert!((curvature - jet.curvature).abs() < 1e-6 * scale, "{text}: {curvature} against {}", jet.curvature);
    }

    #[test]
    fn any_text_gives_a_value_or_a_place(text in ".{0,80}") {
        check_hostile(&text)?;
    }

    #[test]
    fn almost_expressions_give_a_value_or_a_place(
        words in prop::collection::vec(prop::sample::select(vec![
            "t", "pi", "1", "1e-3", "1e400", ".", "e", "+", "-", "*", "/", "%", "^", "(", ")", ",", "<", "<=", ">", "if(",
            "sin(", "min(", "clamp(", "mod(", "floor(", " ", "é", "nan", "inf", "_",
        ]), 0..40)
    ) {
        check_hostile(&words.concat())?;
    }
}

fn check_hostile(text: &str) -> Result<(), TestCaseError> {
    match Expression::parse(text) {
        Ok(f) => {
            for t in [0.0, 1.0, -1e300, f64::MAX] {
                f.jet(t);
            }
            prop_assert_eq!(&f.to_string().parse::<Expression>().ok(), &Some(f));
        }
        Err(error) => {
            prop_assert!(error.at <= text.len() && text.is_char_boundary(error.at));
            prop_assert!(!error.reason.is_empty());
        }
    }
    Ok(())
}
