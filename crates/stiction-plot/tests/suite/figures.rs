//! Content of the SVG of ordinary figures.

use stiction_plot::{Axis, Figure, HeatMap, Layer, Marker, Panel, Shape};

pub(crate) fn axes() -> Panel {
    Panel::new(Axis::new("time", "s"), Axis::new("height", "m"))
}

/// Points of the first coloured curve, as connected parts.
pub(crate) fn curve(svg: &str) -> Vec<Vec<[f64; 2]>> {
    let path = svg.lines().find(|line| line.contains("stroke=\"#0072b2\"")).expect("a curve");
    let data = path.split('"').nth(1).expect("data of a path");
    let pair = |text: &str| {
        let (x, y) = text.trim_end_matches("h0").split_once(' ').expect("a pair");
        [x.parse().expect("x"), y.parse().expect("y")]
    };
    data.split('M').skip(1).map(|piece| piece.split('L').map(pair).collect()).collect()
}

#[test]
fn units_stand_on_every_axis() {
    let panel =
        Panel::new(Axis::new("time", "s"), Axis::new("speed", "m/s")).with(Layer::line(vec![0.0, 1.0], vec![0.0, 1.0]));
    let svg = Figure::new("").with(panel).to_svg();
    assert!(svg.contains(">time / s<") && svg.contains(">speed / (m/s)<"), "{svg}");
    assert_eq!(Axis::new("ratio", "").text(), "ratio");
    assert_eq!(Axis::new("", "N m").text(), "N m");
}

#[test]
fn names_stand_where_numbers_would() {
    let names = ["shooting", "filter"];
    let panel = Panel::new(Axis::new("method", "").named(names), Axis::new("mu", ""))
        .with(Layer::points(vec![0.0, 1.0], vec![0.3, 0.4]).marker(Marker::Disc));
    let svg = Figure::new("").with(panel).to_svg();
    let place = |name: &str| -> f64 {
        let line = svg.lines().find(|line| line.contains(&format!(">{name}<"))).expect("a name");
        let x = line.split("x=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("where it stands");
        x.parse().expect("a number")
    };
    assert!(place("shooting") < place("filter"));
    // The axis has no other labels: neither 0 nor 0.5.
    assert!(!svg.contains(">0<") && !svg.contains(">0.5<"), "{svg}");
}

#[test]
fn a_million_points_give_a_small_file_that_keeps_every_peak() {
    let n = 1_000_000;
    let x: Vec<f64> = (0..n).map(f64::from).collect();
    let mut y: Vec<f64> = x.iter().map(|x| (0.37 * x).sin()).collect();
    y[123_456] = 7.0;
    y[654_321] = -5.0;
    let svg = Figure::new("").with(axes().with(Layer::line(x, y))).to_svg();
    assert!(svg.len() < 200_000, "{} bytes", svg.len());
    let points = curve(&svg).concat();
    // The highest point of the data is the highest on the page, where y is downwards; 7 is 12 above -5.
    let top = points.iter().min_by(|a, b| a[1].total_cmp(&b[1])).expect("points");
    let bottom = points.iter().max_by(|a, b| a[1].total_cmp(&b[1])).expect("points");
    let span = points.iter().map(|p| p[0]).fold(f64::NEG_INFINITY, f64::max) - points[0][0];
    assert!(((top[0] - points[0][0]) / span - 0.123_456).abs() < 2e-3);
    assert!(((bottom[0] - points[0][0]) / span - 0.654_321).abs() < 2e-3);
    let sines = points.iter().filter(|p| p[1] != top[1] && p[1] != bottom[1]).map(|p| p[1]);
    let highest_sine = sines.fold(f64::INFINITY, f64::min);
    assert!(((highest_sine - top[1]) / (bottom[1] - top[1]) - 0.5).abs() < 1e-3, "from 7 down to 1 is half of 12");
}

#[test]
fn not_a_number_breaks_a_line_and_infinity_is_counted() {
    let x: Vec<f64> = (0..10).map(f64::from).collect();
    let mut y: Vec<f64> = x.iter().map(|x| x * x).collect();
    y[3] = f64::NAN;
    let gap = Figure::new("").with(axes().with(Layer::line(x.clone(), y.clone())));
    assert_eq!((curve(&gap.to_svg()).len(), gap.left_out()), (2, 0));
    y[6] = f64::NEG_INFINITY;
    let infinite = Figure::new("").with(axes().with(Layer::line(x, y)));
    let svg = infinite.to_svg();
    assert_eq!((curve(&svg).len(), infinite.left_out()), (3, 1));
    assert!(svg.contains("1 value cannot be drawn"));
}

#[test]
fn a_single_point_between_gaps_is_a_dot() {
    let y = vec![1.0, f64::NAN, 2.0, f64::NAN, 3.0];
    let svg = Figure::new("").with(axes().with(Layer::line(vec![0.0, 1.0, 2.0, 3.0, 4.0], y))).to_svg();
    assert_eq!(svg.matches("h0").count(), 3);
}

#[test]
fn logarithmic_axes_leave_out_what_they_cannot_show_and_say_so() {
    let panel = Panel::new(Axis::new("step", "s").log(), Axis::new("error", "m").log());
    let panel = panel.with(Layer::line(vec![1e-3, 1e-2, 1e-1, -1.0], vec![1e-6, 0.0, 1e-4, 1.0]));
    let figure = Figure::new("").with(panel);
    let svg = figure.to_svg();
    assert_eq!(figure.left_out(), 2);
    assert!(svg.contains("2 values cannot be drawn"));
    // Exponents are small superscript letters, not Unicode characters that a font may lack.
    assert!(svg.contains(">10<tspan dy=\"-3.04\" font-size=\"5.6\">−3</tspan>"), "{svg}");
}

#[test]
fn degenerate_data_draw() {
    let with = |layer| Figure::new("").with(axes().with(layer)).to_svg();
    for svg in [
        Figure::new("").to_svg(),
        Figure::new("").with(axes()).to_svg(),
        Figure::new("").with(Panel::new(Axis::new("a", "").log(), Axis::new("b", "").log())).to_svg(),
        with(Layer::line(vec![], vec![])),
        with(Layer::line(vec![1.0, 2.0], vec![])),
        with(Layer::line(vec![1.0; 5], vec![2.0; 5])),
        with(Layer::line(vec![0.0; 5], vec![0.0; 5])),
        with(Layer::line(vec![f64::NAN; 5], vec![f64::INFINITY; 5])),
        with(Layer::line(vec![-f64::MAX, f64::MAX], vec![f64::MIN_POSITIVE, f64::MAX])),
        with(Layer::line(vec![1e300, 1e300 * (1.0 + 1e-12)], vec![5e-324, 1e-323])),
        with(Layer::heat(HeatMap::default())),
        with(Layer::heat(HeatMap { y_edges: (0..1000).map(f64::from).collect(), ..HeatMap::default() })),
        with(Layer::heat(HeatMap { x_edges: vec![0.0, 1.0], y_edges: vec![0.0, 1.0, 2.0], ..HeatMap::default() })),
        with(Layer::bars(HeatMap::default())),
        with(Layer::bars(HeatMap {
            x_edges: vec![0.0, 1.0],
            y_edges: vec![0.0, 0.0, f64::NAN],
            values: vec![f64::INFINITY, 1e308],
            ..HeatMap::default()
        })),
        with(Layer::outlines(vec![vec![], vec![[0.0, 0.0]], vec![[f64::NAN, 1.0]; 3]])),
        with(Layer::arrows(vec![[0.0, 0.0]; 2], vec![[0.0, 0.0], [f64::INFINITY, 1.0]])),
        with(Layer::band(vec![0.0], vec![1.0], vec![2.0])),
        Figure::new("").with(axes().equal_aspect()).panel_size(f64::NAN, -3.0).to_svg(),
        Figure::new("")
            .with(Panel::new(Axis::new("", "").range(2.0, 1.0), Axis::new("", "").log().range(-1.0, 1.0)))
            .to_svg(),
    ] {
        assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}

#[test]
fn a_chosen_range_of_time_decides_about_the_other_axis() {
    let x: Vec<f64> = (0..=100).map(f64::from).collect();
    let y: Vec<f64> = x.iter().map(|x| if *x > 50.0 { 1000.0 } else { *x }).collect();
    let panel = Panel::new(Axis::new("time", "s").range(0.0, 10.0), Axis::new("height", "m")).with(Layer::line(x, y));
    let svg = Figure::new("").with(panel).to_svg();
    assert!(svg.contains(">10<") && !svg.contains(">1000<"), "{svg}");
}

#[test]
fn one_unit_is_as_long_on_both_axes_when_asked() {
    let square = vec![vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]];
    let svg = Figure::new("").with(axes().with(Layer::outlines(square)).equal_aspect()).to_svg();
    let path = svg.lines().find(|line| line.contains("fill=\"#0072b2\"")).expect("an outline");
    let data = path.split('"').nth(1).expect("data").trim_start_matches('M').trim_end_matches('Z');
    let corners: Vec<Vec<f64>> =
        data.split('L').map(|pair| pair.split(' ').map(|x| x.parse().expect("a number")).collect()).collect();
    let (width, height) = (corners[1][0] - corners[0][0], corners[0][1] - corners[2][1]);
    assert!((width - height).abs() < 0.03 && width > 50.0, "{width} by {height}");
}

#[test]
fn legends_name_layers_and_do_not_cover_data() {
    let x: Vec<f64> = (0..=100).map(f64::from).collect();
    let rising = |k: f64| x.iter().map(|x| k * x).collect::<Vec<_>>();
    let panel = axes()
        .with(Layer::line(x.clone(), rising(1.0)).named("one"))
        .with(Layer::line(x.clone(), rising(0.9)).named("two"));
    let svg = Figure::new("").with(panel).to_svg();
    let legend = svg.lines().find(|line| line.contains("#cccccc")).expect("a legend inside");
    let value = |name: &str| -> f64 {
        let rest = legend.split(&format!(" {name}=\"")).nth(1).expect("an attribute");
        rest.split('"').next().and_then(|text| text.parse().ok()).expect("a number")
    };
    let (left, top, right, bottom) =
        (value("x"), value("y"), value("x") + value("width"), value("y") + value("height"));
    let covered = |[x, y]: &[f64; 2]| (left..=right).contains(x) && (top..=bottom).contains(y);
    assert!(!curve(&svg).concat().iter().any(covered));
    // If no position is free, the legend is above the panel, without a box.
    let wild = x.iter().map(|x| if *x as i64 % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let full = Figure::new("").with(axes().with(Layer::line(x, wild).named("wild"))).to_svg();
    assert!(full.contains(">wild<") && !full.contains("#cccccc"));
}

#[test]
fn the_same_figure_gives_the_same_bytes() {
    let x: Vec<f64> = (0..500).map(|i| 0.01 * f64::from(i)).collect();
    let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
    let figure = Figure::new("twice")
        .with(axes().with(Layer::points(x.clone(), y.clone()).marker(Marker::Cross)).with(Layer::steps(x.clone(), y)));
    assert_eq!(figure.to_svg(), figure.clone().to_svg());
    assert!(matches!(figure.panels[0].layers[0].shape, Shape::Points { .. }));
}

#[test]
fn cells_of_one_colour_are_one_rectangle_and_no_value_is_grey() {
    let map = HeatMap {
        x_edges: (0..=1000).map(f64::from).collect(),
        y_edges: (0..=1000).map(f64::from).collect(),
        values: (0..1_000_000).map(|i| if i == 0 { f64::NAN } else { f64::from(i / 1000) }).collect(),
        label: "pressure".into(),
        unit: "Pa".into(),
        ..HeatMap::default()
    };
    let svg = Figure::new("").with(axes().with(Layer::heat(map))).to_svg();
    assert!(svg.len() < 100_000 && svg.contains(">pressure / Pa<"), "{} bytes", svg.len());
}

/// Two by two cells with one that has no value.
fn four_cells() -> HeatMap {
    HeatMap {
        x_edges: vec![0.0, 1.0, 2.0],
        y_edges: vec![0.0, 5.0, 10.0],
        values: vec![50.0, 0.0, 100.0, f64::NAN],
        label: "success".into(),
        unit: "%".into(),
        range: Some([0.0, 100.0]),
        notes: ["half <1>", "none", "all", "never tried"].map(String::from).into(),
    }
}

#[test]
fn cells_tell_their_notes_and_maps_without_have_none() {
    let svg = Figure::new("").with(axes().with(Layer::heat(four_cells()))).to_svg();
    for note in ["half &lt;1&gt;", "none", "all", "never tried"] {
        assert_eq!(svg.matches(&format!("<g><title>{note}</title><rect")).count(), 1, "{note} in {svg}");
    }
    let silent = HeatMap { notes: Vec::new(), ..four_cells() };
    assert!(!Figure::new("").with(axes().with(Layer::heat(silent))).to_svg().contains("<title>"));
}

/// The corners of the filled areas of a noted bar, in the order in which they are drawn: the sides, then the top.
fn faces(svg: &str, note: &str) -> Vec<Vec<[f64; 2]>> {
    let bar =
        svg.split(&format!("<title>{note}</title>")).nth(1).and_then(|rest| rest.split("</g>").next()).expect(note);
    let corners = |path: &str| {
        let data = path.split('"').next().expect("data").trim_start_matches('M').trim_end_matches('Z');
        let pair = |text: &str| {
            let (x, y) = text.split_once(' ').expect("a pair");
            [x.parse().expect("x"), y.parse().expect("y")]
        };
        data.split('L').map(pair).collect()
    };
    bar.split("<path d=\"").skip(1).map(corners).collect()
}

#[test]
fn bars_are_as_high_as_their_values_and_those_in_front_are_drawn_last() {
    let svg = Figure::new("").with(axes().with(Layer::bars(four_cells()))).to_svg();
    let [half, none, all, untried] = ["half &lt;1&gt;", "none", "all", "never tried"].map(|note| faces(&svg, note));
    assert_eq!([half.len(), none.len(), all.len(), untried.len()], [3, 1, 3, 1], "flat cells have no sides");
    // The length of a vertical edge of the front side is the value.
    let height = |faces: &[Vec<[f64; 2]>]| faces[0][0][1] - faces[0][3][1];
    assert!((height(&all) / height(&half) - 2.0).abs() < 1e-3 && height(&half) > 10.0, "{svg}");
    // x increases towards the lower right, y towards the upper right.
    let middle = |faces: &[Vec<[f64; 2]>]| {
        let top = faces.last().expect("a top");
        [0, 1].map(|k| top.iter().map(|p| p[k]).sum::<f64>() / 4.0)
    };
    let on_ground = |faces: &[Vec<[f64; 2]>]| {
        let [x, y] = middle(faces);
        [x, if faces.len() > 1 { y + height(faces) } else { y }]
    };
    let [half, none, all, untried] = [half, none, all, untried].map(|faces| on_ground(&faces));
    assert!(none[0] > half[0] && none[1] > half[1] && all[0] > half[0] && all[1] < half[1]);
    assert!((untried[0] - all[0] - (none[0] - half[0])).abs() < 0.05, "{untried:?}");
    let order = ["all", "never tried", "half", "none"].map(|note| svg.find(&format!("<title>{note}")).expect(note));
    assert!(order.is_sorted(), "{order:?}");
    for text in [">time / s<", ">height / m<", ">success / %<", ">100<"] {
        assert!(svg.contains(text), "{text} in {svg}");
    }
}

#[cfg(feature = "png")]
#[test]
fn raster_pictures_have_the_size_asked_for_and_show_letters_without_fonts() {
    let figure =
        Figure::new("Words").with(axes().with(Layer::line(vec![0.0, 1.0], vec![0.0, 1.0]))).panel_size(50.8, 25.4);
    let png = figure.to_png(100.0).expect("a picture");
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let at = |i: usize| u32::from_be_bytes([png[i], png[i + 1], png[i + 2], png[i + 3]]);
    // The width is two inches; the height is one inch plus the title.
    assert_eq!(at(16), 200);
    assert!((100..140).contains(&at(20)), "{}", at(20));
    let wordless = Figure { title: " ".into(), ..figure.clone() };
    assert_ne!(png, wordless.to_png(100.0).expect("a picture"), "the title leaves no trace");
    assert!(figure.to_png(1e9).is_err() && figure.to_png(f64::NAN).is_err() && figure.to_png(0.0).is_err());
}

/// Two adjacent panels whose titles are wider than their plotting areas: the letters become smaller and do not overlap.
#[test]
fn long_titles_do_not_meet() {
    let title = "high surface, medium jaws, double force";
    let panel = || axes().with(Layer::line(vec![0.0, 1.0], vec![0.0, 1.0])).titled(title);
    let mut figure = Figure::new("").with(panel()).with(panel()).with(panel());
    figure.columns = 3;
    let svg = figure.to_svg();
    let attribute = |line: &str, name: &str| -> f64 {
        let from = line.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
        line[from..].split('"').next().unwrap().parse().unwrap()
    };
    let titles: Vec<[f64; 2]> = svg
        .lines()
        .filter(|line| line.contains("<text") && line.contains(title))
        .map(|line| [attribute(line, "x"), attribute(line, "font-size")])
        .collect();
    assert_eq!(titles.len(), 3, "{svg}");
    for pair in titles.windows(2) {
        // Letters of this font are about half as wide as high.
        let wide = 0.5 * pair[0][1] * title.len() as f64;
        assert!(pair[1][0] - pair[0][0] > 0.9 * wide, "{titles:?}");
    }
}
