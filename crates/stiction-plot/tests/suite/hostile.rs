//! Hostile texts and numbers.

use proptest::prelude::*;
use stiction_plot::{Axis, Figure, Layer, Panel};

fn figure_of(text: &str, numbers: Vec<f64>) -> Figure {
    let x: Vec<f64> = (0..numbers.len()).map(|i| i as f64).collect();
    let panel = Panel::new(Axis::new(text, text), Axis::new(text, text))
        .titled(text)
        .with(Layer::line(x.clone(), numbers.clone()).named(text))
        .with(Layer::points(numbers.clone(), numbers.clone()))
        .with(Layer::steps(x.clone(), numbers.clone()))
        .with(Layer::band(x.clone(), numbers.clone(), x))
        .with(Layer::vertical_marks(numbers.clone()).labelled([text, text]))
        .with(Layer::horizontal_marks(numbers).labelled([text]));
    Figure::new(text).with(panel)
}

#[test]
fn names_are_escaped() {
    let svg = figure_of("<script>alert('x')</script> & \"quoted\"", vec![1.0, 2.0]).to_svg();
    assert!(!svg.contains("<script") && svg.contains("&lt;script&gt;") && svg.contains("&amp;"));
    assert!(!svg.contains("('x')") && !svg.contains("\"quoted\""));
}

#[test]
fn names_are_cut_and_lose_control_characters() {
    let svg = figure_of(&"long name ".repeat(100_000), vec![1.0, 2.0]).to_svg();
    assert!(svg.len() < 50_000 && svg.contains('…'), "{} bytes", svg.len());
    let svg = figure_of("a\u{0}b\u{1b}[31m\u{202e}c", vec![1.0, 2.0]).to_svg();
    assert!(svg.chars().all(|c| c == '\n' || !c.is_control()) && !svg.contains('\u{202e}'));
}

proptest! {
    #[test]
    #[ignore = "long: run by cargo xtask test --all"]
    fn any_text_and_any_numbers_draw(
        text in "\\PC{0,40}|.{0,40}",
        numbers in prop::collection::vec(prop_oneof![any::<f64>(), -10.0..10.0_f64], 0..40),
    ) {
        let figure = figure_of(&text, numbers.clone());
        let svg = figure.to_svg();
        let elements = |svg: &str| svg.matches('<').count() == svg.matches('>').count();
        prop_assert!(elements(&svg) && svg.ends_with("</svg>\n"));
        prop_assert!(!svg.contains("NaN"));
        let mut logarithmic = figure;
        logarithmic.panels[0].x = Axis::new("x", "").log();
        logarithmic.panels[0].y = Axis::new("y", "").log();
        prop_assert!(elements(&logarithmic.to_svg()));
    }
}
