//! `stiction plot`: figures and error messages.

use std::path::{Path, PathBuf};

use crate::program::{call, folder, scene};

/// A folder with a recorded run of the falling rod in `rod`.
fn recorded(name: &str) -> PathBuf {
    let folder = folder(name);
    call(&folder, &["run", &scene("falling_rod"), "--out", "rod"]).expect(0);
    folder
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).expect("a picture")
}

#[test]
fn columns_and_expressions_become_panels_with_units() {
    let folder = recorded("plot-panels");
    let said = call(&folder, &["plot", "rod", "--title", "A rod & more", "--events"]).expect(0);
    assert_eq!(said.stdout.trim(), "rod/plot.svg");
    let svg = read(&folder, "rod/plot.svg");
    for part in
        ["A rod &amp; more", ">energy / J<", ">normal force / N<", ">time / s<", ">kinetic<", ">total<", ">touch"]
    {
        assert!(svg.contains(part), "{part} is missing");
    }
    let again = ["plot", "rod", "--title", "A rod & more", "--events", "-o", "again.svg"];
    call(&folder, &again).expect(0);
    assert_eq!(svg, read(&folder, "again.svg"), "the same bytes every time");
}

#[test]
fn phase_plots_names_and_ranges_are_as_asked() {
    let folder = recorded("plot-phase");
    let y = "turning: rod.wz";
    call(&folder, &["plot", "rod", "--x", "angle of rod: rod.angle", "--y", y, "-o", "phase.svg"]).expect(0);
    let svg = read(&folder, "phase.svg");
    assert!(svg.contains(">angle of rod / rad<") && svg.contains(">turning / (rad/s)<"));
    let force = "sum_contacts(normal_impulse)/step";
    call(&folder, &["plot", "rod", "--y", force, "--from", "0.1", "--to", "0.2", "-o", "part.svg"]).expect(0);
    let svg = read(&folder, "part.svg");
    assert!(
        svg.contains(">0.15<") && !svg.contains(">0.8<") && svg.contains(">sum_contacts(normal_impulse)/step / N<")
    );
    let log = call(&folder, &["plot", "rod", "--y", "t", "--log-y", "-o", "log.svg"]).expect(0);
    // Zero has no logarithm; a message says so.
    assert!(log.stderr.contains("cannot be drawn") && read(&folder, "log.svg").contains("cannot be drawn"));
}

#[test]
fn several_runs_share_a_figure_and_a_legend() {
    let folder = recorded("plot-runs");
    call(&folder, &["run", &scene("falling_rod"), "--step", "0.02", "--out", "coarse"]).expect(0);
    call(&folder, &["plot", "rod", "coarse", "--y", "rod.y", "--y", "rod.x", "-o", "both.svg"]).expect(0);
    let svg = read(&folder, "both.svg");
    for part in [">rod.y, rod<", ">rod.x, coarse<", ">length / m<", "stroke-dasharray"] {
        assert!(svg.contains(part), "{part} is missing");
    }
}

#[test]
fn pictures_can_be_png() {
    let folder = recorded("plot-png");
    call(&folder, &["plot", "rod", "--y", "rod.y", "-o", "rod.png", "--dpi", "100", "--width", "50.8"]).expect(0);
    let png = std::fs::read(folder.join("rod.png")).expect("a picture");
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(png[16..20], 200_u32.to_be_bytes());
}

#[test]
fn mistakes_are_named_with_their_place() {
    let folder = recorded("plot-mistakes");
    for (arguments, parts) in [
        (
            vec!["plot", "rod", "--y", "kinetik"],
            vec!["--y", "there is no column `kinetik`", "did you mean `kinetic`?", "━━━"],
        ),
        (vec!["plot", "rod", "--y", "1 +"], vec!["--y", "ends here"]),
        (vec!["plot", "rod", "--x", "foo(t)"], vec!["--x", "there is no function `foo`"]),
        (vec!["plot", "rod", "-o", "rod.pdf"], vec!["rod.pdf", ".svg or .png"]),
        (vec!["plot", "nowhere"], vec!["nowhere", "cannot read"]),
        (vec!["plot", "rod", "--from", "7"], vec!["no recorded moment"]),
        (vec!["plot", "rod", "--width", "3"], vec!["between 20 and 2000"]),
        (vec!["plot", "rod", "-o", "missing/x.svg"], vec!["cannot write missing/x.svg"]),
    ] {
        let said = call(&folder, &arguments).expect(2);
        for part in parts {
            assert!(said.stderr.contains(part), "{part}: {}", said.stderr);
        }
    }
}

/// Runs what docs/plot.md shows and compares its pictures, byte by byte.
#[test]
fn the_pictures_of_the_documentation_are_current() {
    let folder = folder("plot-pictures");
    for arguments in [
        &["run", &scene("falling_rod")][..],
        &["run", &scene("falling_rod"), "--step", "0.02", "--out", "out/coarse"],
        &["run", &scene("pendulum_on_belt")],
        &["plot", "out/falling_rod", "--events", "-o", "plot_defaults.svg"],
        &[
            "plot",
            "out/falling_rod",
            "out/coarse",
            "--y",
            "height of rod: rod.y",
            "--y",
            "way of rod: rod.x",
            "-o",
            "plot_runs.svg",
        ],
        &[
            "plot",
            "out/pendulum_on_belt",
            "--x",
            "angle: lower.angle",
            "--y",
            "angular velocity: lower.wz",
            "-o",
            "plot_phase.svg",
        ],
    ] {
        call(&folder, arguments).expect(0);
    }
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
    for name in ["plot_defaults.svg", "plot_runs.svg", "plot_phase.svg"] {
        let same = read(&folder, name) == read(&committed, name);
        assert!(same, "docs/pictures/{name} differs from {}", folder.join(name).display());
    }
}
