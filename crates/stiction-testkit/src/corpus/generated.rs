//! Files from the families of this crate and from seeded random numbers.

use super::CorpusFile;
use crate::Random;
use crate::problems::{Motion, Pile, arch, chain, growing_masses, pyramid, random, stack, tower, wall, wedge};
use stiction_complementarity::{
    BoxLcp, DenseMatrix, FrictionProblem, Lcp, MixedLcp, PolygonOptions, PolygonalFriction, ProblemFile, RowBlock,
    SparseMatrix,
};

const FOLDER: &str = "generated";

/// Random velocities, so that contacts stick, slip and open in one problem.
const KICK: Motion = Motion::Kick { speed: 0.05, seed: 7 };

pub(super) fn files() -> Vec<CorpusFile> {
    [piles(), difficult_piles(), linear(), mixed(), boxes()].concat()
}

fn friction(name: &str, family: &'static str, how: &str, problem: FrictionProblem) -> CorpusFile {
    CorpusFile::new(FOLDER, name, family, format!("generated: {how}"), ProblemFile::Friction(problem))
}

/// The families at rest and with random velocities.
fn piles() -> Vec<CorpusFile> {
    let families: [(&str, &'static str, &str, Pile); 10] = [
        ("stack-10", "stack", "stack of 10 boxes, mass ratio 1, μ 0.5", stack(&growing_masses(10, 1.0), 0.5)),
        ("stack-10-ratio-100", "stack", "stack of 10 boxes, mass ratio 100", stack(&growing_masses(10, 100.0), 0.5)),
        ("stack-10-ratio-1e4", "stack", "stack of 10 boxes, mass ratio 1e4", stack(&growing_masses(10, 1e4), 0.5)),
        ("tower-20", "tower", "tower of 20 equal boxes, μ 0.5", tower(20, 0.5)),
        ("wall-4x3", "wall", "wall of 4 courses, 3 bricks wide, μ 0.5", wall(4, 3, 0.5)),
        ("pyramid-3", "pyramid", "pyramid of cubes on a square of 3 by 3, μ 0.5", pyramid(3, 0.5)),
        ("arch-9", "arch", "arch of 9 blocks in the plane, μ 0.7", arch(9, 0.7)),
        (
            "wedge-jammed",
            "wedge",
            "wedge of half angle 0.2 with μ 0.5: it jams, the cone is not pointed",
            wedge(0.2, 0.5),
        ),
        ("wedge-sliding", "wedge", "wedge of half angle 0.6 with μ 0.2: it slides", wedge(0.6, 0.2)),
        ("chain-6", "chain", "chain of 6 rods with ball joints, a motor and μ 0.5", chain(6, 0.5)),
    ];
    let mut files = Vec::new();
    for (name, family, how, pile) in families {
        files.push(friction(&format!("{name}-rest"), family, &format!("{how}; at rest"), pile.problem(Motion::Rest)));
        files.push(friction(
            &format!("{name}-kick"),
            family,
            &format!("{how}; kicked by 0.05 m/s"),
            pile.problem(KICK),
        ));
    }
    files
}

/// Rank-deficient, badly scaled and degenerate problems, and one with every law.
fn difficult_piles() -> Vec<CorpusFile> {
    let scaled = |factor: f64| stack(&[factor, 2.0 * factor, factor], 0.5);
    let weightless = |pile: Pile| Pile { gravity: [0.0; 3], ..pile };
    vec![
        friction(
            "duplicated-3-rest",
            "rank-deficient",
            "stack of 3 boxes, every contact three times; at rest",
            stack(&[1.0; 3], 0.5).repeated(3).problem(Motion::Rest),
        ),
        friction(
            "duplicated-3-kick",
            "rank-deficient",
            "stack of 3 boxes, every contact three times; kicked",
            stack(&[1.0; 3], 0.5).repeated(3).problem(KICK),
        ),
        friction("heavy-1e8", "badly-scaled", "stack of 3 boxes of about 1e8 kg; kicked", scaled(1e8).problem(KICK)),
        friction("light-1e-8", "badly-scaled", "stack of 3 boxes of about 1e-8 kg; kicked", scaled(1e-8).problem(KICK)),
        friction(
            "ratio-1e6-on-light",
            "badly-scaled",
            "1e6 kg on 1 kg, μ 0.5; at rest: sweeps stall although everything sticks",
            stack(&[1.0, 1e6], 0.5).problem(Motion::Rest),
        ),
        friction(
            "frictionless",
            "degenerate",
            "stack of 3 boxes with μ = 0; kicked",
            stack(&[1.0; 3], 0.0).problem(KICK),
        ),
        friction("mu-10", "degenerate", "stack of 3 boxes with μ = 10; kicked", stack(&[1.0; 3], 10.0).problem(KICK)),
        friction(
            "weightless-rest",
            "degenerate",
            "stack of 3 boxes without gravity and motion: q = 0, solved by zero",
            weightless(stack(&[1.0; 3], 0.5)).problem(Motion::Rest),
        ),
        friction(
            "no-contacts",
            "degenerate",
            "one body in free fall: no rows at all",
            Pile { touches: Vec::new(), ..stack(&[1.0], 0.5) }.problem(Motion::Rest),
        ),
        friction(
            "all-laws",
            "mixed-laws",
            "4 bodies with 14 random contacts, joints and motors of every law, seed 3; kicked",
            random(4, 14, 3).problem(KICK),
        ),
    ]
}

fn lcp(name: &str, family: &'static str, how: &str, m: DenseMatrix, q: Vec<f64>) -> CorpusFile {
    let lcp = Lcp::new(m, q).unwrap_or_else(|error| panic!("{name}: {error}"));
    CorpusFile::new(FOLDER, name, family, format!("generated: {how}"), ProblemFile::Lcp(lcp))
}

fn matrix(rows: usize, cols: usize, mut entry: impl FnMut(usize, usize) -> f64) -> DenseMatrix {
    let mut m = DenseMatrix::zeros(rows, cols);
    for i in 0..rows {
        m.row_mut(i).iter_mut().enumerate().for_each(|(j, value)| *value = entry(i, j));
    }
    m
}

/// Bᵀ B for a matrix B of `rank` rows.
fn gram(rank: usize, n: usize, random: &mut Random) -> DenseMatrix {
    let b = matrix(rank, n, |_, _| random.uniform(-1.0, 1.0));
    matrix(n, n, |i, j| (0..rank).map(|k| b[(k, i)] * b[(k, j)]).sum())
}

fn linear() -> Vec<CorpusFile> {
    let mut seeded = Random::new(11);
    let definite = gram(24, 20, &mut seeded);
    let deficient = gram(8, 20, &mut seeded);
    let q: Vec<f64> = (0..20).map(|_| seeded.uniform(-1.0, 1.0)).collect();
    // q = −B̄ z for some z ≥ 0 keeps the deficient problem solvable.
    let z: Vec<f64> = (0..20).map(|_| seeded.uniform(0.0, 1.0).max(0.5) - 0.5).collect();
    let reached: Vec<f64> = (0..20).map(|i| -(0..20).map(|j| deficient[(i, j)] * z[j]).sum::<f64>()).collect();
    // Rows and columns have units from 1e-8 to 1e8.
    let unit = |i: usize| libm::pow(10.0, -8.0 + 16.0 * i as f64 / 19.0);
    let scaled = matrix(20, 20, |i, j| unit(i) * definite[(i, j)] * unit(j));
    let scaled_q = q.iter().enumerate().map(|(i, q)| unit(i) * q).collect();
    let halves = matrix(12, 12, |i, j| if i == j { 1.0 } else { 0.5 });
    vec![
        lcp("definite-20", "definite", "M = BᵀB, 24 by 20 uniform numbers, seed 11", definite, q.clone()),
        lcp("deficient-20-solvable", "rank-deficient", "M = BᵀB of rank 8, q in its range", deficient.clone(), reached),
        lcp("deficient-20-ray", "rank-deficient", "M = BᵀB of rank 8, q outside its range", deficient, q),
        lcp("scaled-20", "badly-scaled", "definite-20 in units from 1e-8 to 1e8", scaled, scaled_q),
        lcp("ties-12", "degenerate", "ones on halves with q = −1: every row ties", halves, vec![-1.0; 12]),
        lcp(
            "zero-q-3",
            "degenerate",
            "identity with q = 0: z = w = 0",
            matrix(3, 3, |i, j| f64::from(i == j)),
            vec![0.0; 3],
        ),
        lcp("empty", "degenerate", "no rows at all", DenseMatrix::zeros(0, 0), Vec::new()),
    ]
}

fn sparse(m: &DenseMatrix) -> SparseMatrix {
    let mut out = SparseMatrix::default();
    out.clear(m.rows(), m.cols());
    for i in 0..m.rows() {
        m.row(i).iter().enumerate().filter(|(_, value)| **value != 0.0).for_each(|(j, &value)| out.push(j, value));
        out.finish_row();
    }
    out
}

/// The problem 0 = A u + C z + a, w = D u + B z + b.
fn mixed_lcp(name: &str, how: &str, blocks: [&DenseMatrix; 4], a: Vec<f64>, b: Vec<f64>) -> CorpusFile {
    let [m_a, m_c, m_d, m_b] = blocks;
    let equality = RowBlock { on_free: sparse(m_a), on_complementary: sparse(m_c), constant: a };
    let complementarity = RowBlock { on_free: sparse(m_d), on_complementary: sparse(m_b), constant: b };
    let mixed = MixedLcp::new(equality, complementarity).unwrap_or_else(|error| panic!("{name}: {error}"));
    CorpusFile::new(FOLDER, name, "equalities", format!("generated: {how}"), ProblemFile::MixedLcp(mixed))
}

fn mixed() -> Vec<CorpusFile> {
    let mut seeded = Random::new(5);
    let (free, pairs) = (4, 6);
    let a = gram(6, free, &mut seeded);
    let d = matrix(pairs, free, |_, _| seeded.uniform(-1.0, 1.0));
    let c = matrix(free, pairs, |i, j| -d[(j, i)]);
    let b = gram(8, pairs, &mut seeded);
    let constants: Vec<f64> = (0..free + pairs).map(|_| seeded.uniform(-1.0, 1.0)).collect();
    let (of_a, of_b) = constants.split_at(free);
    // A copy of the last equality and a free unknown without coefficients: solvable, but A is singular.
    let doubled = |m: &DenseMatrix, cols: usize| {
        matrix(free + 1, cols, |i, j| if j < m.cols() { m[(i.min(free - 1), j)] } else { 0.0 })
    };
    let (singular, widened) = (doubled(&a, free + 1), doubled(&c, pairs));
    let d_wide = matrix(pairs, free + 1, |i, j| if j < free { d[(i, j)] } else { 0.0 });
    let repeated = |extra: f64| [of_a, &[of_a[free - 1] + extra]].concat();
    let polygon = |name: &str, how: &str, pile: &Pile| {
        let posed = PolygonalFriction::new(&pile.problem(KICK), &PolygonOptions::default());
        let posed = posed.unwrap_or_else(|error| panic!("{name}: {error}"));
        let problem = ProblemFile::MixedLcp(posed.problem().clone());
        CorpusFile::new(FOLDER, name, "polygon", format!("generated: {how}, eight directions per contact"), problem)
    };
    vec![
        mixed_lcp("regular-4-6", "A and B definite, C = −Dᵀ, seed 5", [&a, &c, &d, &b], of_a.to_vec(), of_b.to_vec()),
        mixed_lcp(
            "redundant-5-6",
            "regular-4-6 with one equality twice",
            [&singular, &widened, &d_wide, &b],
            repeated(0.0),
            of_b.to_vec(),
        ),
        mixed_lcp(
            "contradictory-5-6",
            "regular-4-6 with one equality twice, the second with another constant",
            [&singular, &widened, &d_wide, &b],
            repeated(1.0),
            of_b.to_vec(),
        ),
        polygon("polygon-stack-2", "stack of 2 boxes, kicked", &stack(&[1.0, 1.0], 0.5)),
        polygon("polygon-chain-2", "chain of 2 rods, kicked", &chain(2, 0.5)),
    ]
}

fn boxes() -> Vec<CorpusFile> {
    // Blocks in a row, coupled by springs, each with dry friction of limit 1 and a slightly different load.
    let n = 12;
    let springs = matrix(n, n, |i, j| match i.abs_diff(j) {
        0 => 2.5,
        1 => -1.0,
        _ => 0.0,
    });
    let push: Vec<f64> = (0..n).map(|i| 0.9 * i as f64 - 5.0).collect();
    let file = |name: &str, how: &str, lower: f64, upper: f64| {
        let problem = BoxLcp::new(springs.clone(), push.clone(), vec![lower; n], vec![upper; n]);
        let problem = problem.unwrap_or_else(|error| panic!("{name}: {error}"));
        CorpusFile::new(FOLDER, name, "dry-friction", format!("generated: {how}"), ProblemFile::BoxLcp(problem))
    };
    vec![
        file("springs-12", "12 blocks in a row with dry friction, bounds ±1", -1.0, 1.0),
        file("springs-12-one-sided", "the same with lower bounds only", 0.0, f64::INFINITY),
        file("springs-12-free", "the same without bounds", f64::NEG_INFINITY, f64::INFINITY),
        file("springs-12-fixed", "the same with both bounds at 0.5", 0.5, 0.5),
    ]
}
