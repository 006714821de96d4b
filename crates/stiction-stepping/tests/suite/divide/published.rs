use stiction_testkit::reference;

use super::pendulum::Pendulum;

#[test]
fn explore() {
    let case = reference("c29");
    for h in [1e-3, 5e-4] {
        let mut p = Pendulum::exact(&case, "planar");
        let mut mode = "";
        let mut e0 = f64::INFINITY;
        while p.state.time < 6.0 {
            p.step(h);
            let c = p.stepper.contacts()[0];
            let new = if c.impulse[0] <= 0.0 { "open" } else if c.after[1].abs() < 1e-8 { "stick" } else { "slip" };
            if new != mode { println!("{h} t {} {new} imp {:?} after {:?}", p.state.time, c.impulse, c.after); mode = new; }
            let e = p.energy();
            if e > e0 + 1e-6 { println!("energy grows {} {}", p.state.time, e - e0); }
            e0 = e;
            for t in [0.5,1.0,3.0, 6.0] { if (p.state.time-t).abs()<h/2.0 { println!("{h} {t} x {} z {:e} y {:e} E {}", p.p1().x, p.p1().z, p.p1().y, e); } }
        }
    }
    let case = reference("c30");
    for h in [1e-3, 5e-4] {
        let mut p = Pendulum::exact(&case, "planar");
        let mut n = 0;
        while p.state.time < 1.5 {
            p.step(h);
            let c = p.stepper.contacts()[0];
            if c.impulse[0] > 0.0 && n < 60 { n += 1; println!("{h} t {} gap {:e} imp {:?} before {:?} after {:?} {}", p.state.time, c.gap, c.impulse, c.before[0], c.after[0], c.rebound); }
        }
    }
}
