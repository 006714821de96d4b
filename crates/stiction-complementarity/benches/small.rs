//! Small frictional problems, for people: `cargo bench -p stiction-complementarity --bench small`.
fn main() {
    use std::time::Instant;
    use stiction_complementarity::*;
    use stiction_testkit::plate::MOTIONS;
    for h in [1e-4, 2.5e-4] {
    for motion in MOTIONS {
        let problems = motion.problems(h, 1200);
        let mut sol = FrictionSolution::default();
        let mut guess = FrictionSolution::default();
        let mut counts = [0usize; 3];
        let options = FrictionNsgsOptions { tolerance: 1e-8, ..FrictionNsgsOptions::default() };
        let mut nsgs = FrictionNsgs::with_options(options).unwrap();
        let mut set = FrictionActiveSet::with_options({ let mut o = FrictionActiveSetOptions::default(); o.tolerance = 1e-8; o }).unwrap();
        let mut ladder = FrictionLadder::default();
        let mut best = [f64::INFINITY; 3];
        let mut sweeps = 0;
        for rep in 0..5 {
            guess.r.clear();
            let t = Instant::now();
            for p in &problems {
                let e = nsgs.run(p, Some(&guess), &mut sol);
                if rep == 0 { sweeps += e.iterations;
                    for b in 0..3 { let r = &sol.r[3*b..3*b+3]; let l = (r[1]*r[1]+r[2]*r[2]).sqrt();
                        let k = if r[0] == 0.0 {0} else if l < 0.3*r[0]*(1.0-1e-9) {1} else {2}; counts[k]+=1; } }
                std::mem::swap(&mut guess, &mut sol);
            }
            best[0] = best[0].min(t.elapsed().as_secs_f64());
            guess.r.clear();
            let t = Instant::now();
            for p in &problems {
                let _ = ladder.run(p, Some(&guess), &mut sol);
                std::mem::swap(&mut guess, &mut sol);
            }
            best[1] = best[1].min(t.elapsed().as_secs_f64());
            guess.r.clear();
            let t = Instant::now();
            let mut hist=[0;20];
            for (k,p) in problems.iter().enumerate() {
                let e = set.run(p, Some(&guess), &mut sol);
                if rep == 0 { if e.status != Status::Solved || p.residual(&sol).value > 1e-8 { println!("  {k} {e:?} {:e}", p.residual(&sol).value);}
                hist[(e.iterations as usize).min(19)]+=1; }
                std::mem::swap(&mut guess, &mut sol);
            }
            if rep==0 {println!("{hist:?}");}
            best[2] = best[2].min(t.elapsed().as_secs_f64());
        }
        println!("h {h} {:12} open/stick/slip {counts:?} sweeps {:.1} nsgs {:.2} us, ladder {:.2} us set {:.2}", motion.name, f64::from(sweeps)/1200.0, best[0]/1200.0*1e6, best[1]/1200.0*1e6, best[2]/1200.0*1e6);
    }}
}
