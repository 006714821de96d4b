//! The plan: its depth, its factorisations, threads, memory.

use std::hint::black_box;

use stiction_multibody::articulated::{Kinematics, divide::Divide};
use stiction_testkit::{Random, count_allocations};

use super::{assembled, free_chain, random_rows, tree_of};
use crate::articulated::{kinematics, random_state, random_wrenches, velocities};

/// n − 1 joints between n links and one at the root, none with more than six equations, for any number of links.
#[test]
fn no_factorisation_grows_with_the_chain() {
    let mut random = Random::new(7311);
    for count in [1, 2, 10, 100, 1000] {
        let tree = free_chain(&mut random, count);
        let (q, v) = random_state(&mut random, &tree);
        let at = kinematics(&tree, &q, &v);
        let mut divide = assembled(&tree, &at);
        let rows = random_rows(&mut random, &tree, 9);
        let before = divide.tally();
        assert_eq!(before.joints, count - 1 + 1);
        assert_eq!(before.largest, 6);
        // One per joint, and one more if the piece above is not a single link.
        assert!(before.factorisations >= count && before.factorisations < 2 * count);
        divide.delassus(&at, &rows, &mut [0.0; 81]);
        divide.impulse_response(&tree, &at, (&[], &[]), &mut vec![0.0; tree.velocities()]);
        assert_eq!(divide.tally(), before, "rows and impulses factorise nothing");
    }
}

/// The depth of the plan is logarithmic in the number of links, for chains, combs, stars and random trees.
#[test]
fn plans_are_shallow() {
    let mut random = Random::new(7312);
    let count = 1024;
    let shapes: [fn(&mut Random, usize) -> usize; 5] = [
        |_, i| i - 1,
        |_, _| 0,
        |_, i| (i - 1) / 2,
        |_, i| if i % 2 == 0 { i - 2 } else { i - 1 },
        |random, i| random.below(i),
    ];
    for shape in shapes {
        let depth = Divide::new(&tree_of(&mut random, count, shape)).depth();
        assert!(depth <= 2 * 10 + 2, "{depth}");
    }
    assert!(Divide::new(&free_chain(&mut random, count)).depth() <= 12);
}

/// The same bits on one, two and four threads.
#[test]
fn threads_do_not_change_a_bit() {
    let mut random = Random::new(7313);
    for tree in
        [free_chain(&mut random, 700), tree_of(&mut random, 700, Random::below), tree_of(&mut random, 700, |_, _| 0)]
    {
        let (q, v) = random_state(&mut random, &tree);
        let at = kinematics(&tree, &q, &v);
        let (tau, wrenches) = (velocities(&mut random, &tree), random_wrenches(&mut random, &tree));
        let rows = random_rows(&mut random, &tree, 6);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut divide = assembled(&tree, &at);
                let (mut a, mut b) = (vec![0.0; tree.velocities()], vec![0.0; tree.velocities()]);
                let mut entries = vec![0.0; 36];
                divide.forward_dynamics(&tree, &at, (&tau, &wrenches), &mut a);
                divide.impulse_response(&tree, &at, (&tau, &wrenches), &mut b);
                divide.delassus(&at, &rows, &mut entries);
                [a, b, entries].concat().into_iter().map(f64::to_bits).collect::<Vec<_>>()
            })
        };
        let alone = run(1);
        assert!(run(2) == alone && run(4) == alone);
    }
}

#[test]
fn nothing_allocates_after_the_first_call() {
    let mut random = Random::new(7314);
    let tree = tree_of(&mut random, 40, Random::below);
    let (q, v) = random_state(&mut random, &tree);
    let (tau, wrenches) = (velocities(&mut random, &tree), random_wrenches(&mut random, &tree));
    let rows = random_rows(&mut random, &tree, 6);
    let (mut at, mut divide) = (Kinematics::new(&tree), Divide::new(&tree));
    let (mut out, mut entries) = (vec![0.0; tree.velocities()], vec![0.0; 36]);
    let mut step = || {
        at.update(&tree, &q, &v);
        divide.update(&tree, &at, &[]).unwrap();
        divide.forward_dynamics(&tree, &at, (&tau, &wrenches), &mut out);
        divide.impulse_response(&tree, &at, (&tau, &wrenches), &mut out);
        divide.delassus(&at, &rows, &mut entries);
        black_box((&out, &entries));
    };
    step();
    assert_eq!(count_allocations(step).count, 0);
}
