//! Moving-window estimates, row after row.

use stiction_identify::{
    Recording,
    mpec::{Member, MpecOptions, fit, program::Engine, windows},
};

use super::particle;

/// Rows of a recording as a new recording.
fn part(recording: &Recording, rows: std::ops::Range<usize>) -> Recording {
    let mut part = recording.clone();
    part.times = recording.times[rows.clone()].to_vec();
    for (track, whole) in part.tracks.iter_mut().zip(&recording.tracks) {
        track.positions = whole.positions[rows.clone()].to_vec();
        track.orientations = whole.orientations[rows.clone()].to_vec();
        track.velocities = whole.velocities[rows.clone()].to_vec();
    }
    part
}

#[test]
fn windows_are_fits_of_the_last_rows() {
    let target = particle::target("mu", [0.0, 3.0]);
    // While the particle slides.
    let recording = part(&particle::seen("particle", ([0.0, 3.0], 0.2), 5e-3, 1), 30..48);
    let options = MpecOptions::new(Engine::Ipopt);
    let of = |length: usize| windows(&target, &recording, length, &options).unwrap();
    let (short, long) = (of(6), of(14));
    for (length, found) in [(6, &short), (14, &long)] {
        assert_eq!(found.iter().map(|window| window.row).collect::<Vec<_>>(), (length..18).collect::<Vec<_>>());
        for window in found {
            assert_eq!(window.time, recording.times[window.row]);
            let (mu, deviation) = (window.values[0], window.deviations[0].unwrap());
            println!("{length} rows up to {}: {mu} ± {deviation}", window.row);
            assert!((mu - 0.2).abs() < 4.0 * deviation && (0.0..=1.0).contains(&mu), "{window:?}");
        }
        let last = found.last().unwrap();
        let member = Member { rows: 17 - length..18, ..Member::whole(&target, &recording) };
        assert_eq!(fit(&[member], &options).unwrap().fit.values(), last.values);
    }
    // Both end at the same row; the longer one has more information.
    let ratio = short.last().unwrap().deviations[0].unwrap() / long.last().unwrap().deviations[0].unwrap();
    assert!(ratio > 3.0, "{ratio}");
    assert!(windows(&target, &recording, 18, &options).unwrap().is_empty());
}
