//! Runs `scenes/falling_rod.toml` and draws it as a strobe picture: `docs/pictures/falling_rod.svg`.
//!
//! An example of the whole path: scene file, simulation, events, custom output.

use std::fmt::Write as _;
use std::path::Path;

use stiction::{EventKind, Simulation};

/// Pixels per metre.
const SCALE: f64 = 420.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let scene = stiction::scene::load(root.join("scenes/falling_rod.toml"))?;
    let mut simulation = Simulation::from_scene(&scene)?;
    let steps = scene.settings.steps();

    let (mut rods, mut path, mut marks) = (String::new(), String::new(), String::new());
    for step in 0..steps {
        let q = simulation.state().q.clone();
        if step % 11 == 0 {
            draw_rod(&mut rods, &q, 0.12 + 0.5 * step as f64 / steps as f64)?;
        }
        write!(path, "{:.1},{:.1} ", q[0] * SCALE, -q[1] * SCALE)?;
        let _ = simulation.step()?;
        for event in simulation.events().iter().filter(|event| event.kind == EventKind::Touch) {
            if let Some(contact) = simulation.contacts().iter().find(|contact| contact.id == event.contact) {
                let x = contact.point.x * SCALE;
                write!(marks, r##"<path d="M{x:.1} 3l-5 9h10z" fill="#d9480f"/>"##)?;
            }
        }
    }
    draw_rod(&mut rods, &simulation.state().q, 1.0)?;
    let picture = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="-330 -560 560 590" width="560" height="590" role="img">
<title>A falling rod, every 27.5 ms</title>
<rect x="-330" y="-560" width="560" height="590" fill="#fbfaf7"/>
<rect x="-330" y="0" width="560" height="30" fill="#e9e4d8"/><path d="M-330 0H230" stroke="#8a8271" stroke-width="1.5"/>
<polyline points="{path}" fill="none" stroke="#d9480f" stroke-width="1.5" stroke-dasharray="2 4"/>
{rods}{marks}
</svg>
"##
    );
    #[expect(clippy::disallowed_methods, reason = "an example program writes its picture")]
    std::fs::write(root.join("docs/pictures/falling_rod.svg"), picture)?;

    // The rod lies flat, turned over, at rest to rounding.
    let (q, v) = (&simulation.state().q, &simulation.state().v);
    assert!((q[1] - 0.05).abs() < 1e-12 && (q[2] - std::f64::consts::PI).abs() < 1e-9);
    assert!(v.iter().all(|v| v.abs() < 1e-12), "still moving: {v:?}");
    println!("docs/pictures/falling_rod.svg: the rod rests at x = {:.4} m", q[0]);
    Ok(())
}

fn draw_rod(out: &mut String, q: &[f64], opacity: f64) -> std::fmt::Result {
    let (x, y, degrees) = (q[0] * SCALE, -q[1] * SCALE, -q[2].to_degrees());
    let (length, radius) = (0.5 * SCALE, 0.05 * SCALE);
    writeln!(
        out,
        r##"<rect x="{:.1}" y="{:.1}" width="{:.1}" height="{:.1}" rx="{radius:.1}" transform="translate({x:.1} {y:.1}) rotate({degrees:.2})" fill="#1864ab" fill-opacity="{:.2}" stroke="#1864ab" stroke-opacity="{opacity:.2}"/>"##,
        -length / 2.0 - radius,
        -radius,
        length + 2.0 * radius,
        2.0 * radius,
        0.25 * opacity,
    )
}
