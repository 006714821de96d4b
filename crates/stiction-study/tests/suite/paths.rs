//! Paths as motions and as expressions.

use stiction::{Expression, Motion};
use stiction_study::push::Path;

fn path() -> Path {
    Path::new(vec![[-0.7, 0.1], [-0.1, -0.35], [0.2, 0.05], [0.2, 0.45]], 0.5).unwrap()
}

#[test]
fn the_twist_is_the_derivative_of_the_pose() {
    let (motion, h) = (path().motion(0.3), 1e-6);
    let corners = [1.5, 2.5, 3.3];
    for k in 0..400 {
        let t = 0.0101 * f64::from(k) + h;
        if corners.iter().any(|corner: &f64| (corner - t).abs() < 2.0 * h) {
            continue;
        }
        let (before, at, after) = (motion.at(t - h), motion.at(t), motion.at(t + h));
        let difference = (after.position - before.position) / (2.0 * h);
        assert!((difference - at.twist.linear).norm() < 1e-9, "at {t}");
        assert_eq!((at.angle, at.twist.angular.norm()), (0.3, 0.0));
    }
}

#[test]
fn a_path_goes_through_its_points_at_its_speed_and_rests_at_the_last() {
    let (path, motion) = (path(), path().motion(0.0));
    assert!((path.length() - 1.65).abs() < 1e-15 && (path.duration() - 3.3).abs() < 1e-15);
    for (t, [x, y], speed) in
        [(0.0, [-0.7, 0.1], 0.5), (1.5, [-0.1, -0.35], 0.5), (2.5, [0.2, 0.05], 0.5), (3.3, [0.2, 0.45], 0.0)]
    {
        let sample = motion.at(t + 1e-12);
        assert!((sample.position.x - x).hypot(sample.position.y - y) < 2e-12, "at {t}");
        assert!((sample.twist.linear.norm() - speed).abs() < 1e-12, "at {t}: {:?}", sample.twist);
    }
    assert_eq!(motion.at(100.0).position.y, 0.45);
    // At a corner the velocity is that after it.
    assert!(path.motion(0.0).at(path.duration()).twist.linear.norm() == 0.0);
}

#[test]
fn expressions_have_the_bits_of_the_motion() {
    let (motion, expressions) =
        (path().motion(0.0), path().expressions().map(|text| Expression::parse(&text).unwrap()));
    for k in 0..=500 {
        let t = 0.007 * f64::from(k);
        let sample = motion.at(t);
        for (k, expression) in expressions.iter().enumerate() {
            let jet = expression.jet(t);
            assert_eq!(jet.value.to_bits(), sample.position[k].to_bits(), "at {t}");
            assert_eq!(jet.rate, sample.twist.linear[k], "at {t}");
        }
    }
}

#[test]
fn what_is_no_path_is_refused() {
    for points in [vec![], vec![[0.0, 0.0]], vec![[0.0, 0.0], [0.0, 0.0]], vec![[0.0, f64::NAN], [1.0, 0.0]]] {
        assert!(Path::new(points, 1.0).is_err());
    }
    for speed in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        assert!(Path::new(vec![[0.0, 0.0], [1.0, 0.0]], speed).is_err());
    }
}
