"""Problems without mechanics, derivatives, comparisons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, sliding_box

import stiction


def test_random_problems_are_solved() -> None:
    random = np.random.default_rng(1)
    for n in (1, 5, 30):
        a = random.normal(size=(n, n))
        m, q = a @ a.T + np.eye(n), random.normal(size=n)
        z = stiction.solve_lcp(m, q).z
        w = m @ z + q
        assert z.min() >= 0.0
        assert w.min() >= -1e-9
        assert abs(z @ w) < 1e-9


def test_a_mixed_problem() -> None:
    # u is free with u = z − 1, and w = u + z ≥ 0: z = 1/2.
    found = stiction.solve_mixed_lcp([[1.0]], [[-1.0]], [[1.0]], [[1.0]], [1.0], [0.0])
    assert found.z == pytest.approx([0.5])
    assert found.u == pytest.approx([-0.5])


def test_friction_slides_and_sticks() -> None:
    w = np.eye(3)
    stick = stiction.solve_friction(w, [-1.0, 0.3, 0.0], [0.5]).r
    assert stick == pytest.approx([1.0, -0.3, 0.0], abs=1e-8)
    slip = stiction.solve_friction(w, [-1.0, 3.0, 4.0], [0.5]).r
    assert slip == pytest.approx([1.0, -0.3, -0.4], abs=1e-8)


def test_rolling_friction_has_a_limit_of_its_own() -> None:
    found = stiction.solve_friction(np.eye(5), [-1.0, 0.3, 0.0, 3.0, 4.0], [0.5], [0.1], method="active-set").r
    assert found == pytest.approx([1.0, -0.3, 0.0, -0.06, -0.08], abs=1e-12)
    planar = stiction.solve_friction(np.eye(3), [-1.0, -2.0, 0.05], [0.5], [0.1]).r
    assert planar == pytest.approx([1.0, 0.5, -0.05], abs=1e-8)
    with pytest.raises(stiction.ProblemError, match="mu_r"):
        stiction.solve_friction(np.eye(5), [-1.0, 0.3, 0.0, 3.0, 4.0], [0.5], [0.1, 0.1])


def test_what_has_no_solution_is_said() -> None:
    with pytest.raises(stiction.SolveError) as caught:
        stiction.solve_lcp([[0.0]], [-1.0])
    assert not caught.value.solution.solved
    assert stiction.solve_lcp([[0.0]], [-1.0], check=False).solved is False


def test_malformed_problems_are_refused() -> None:
    malformed: list[tuple[Any, Any]] = [([[1.0, 2.0]], [1.0]), ([[float("nan")]], [1.0]), ([1.0], [1.0]), ([["a"]], [1.0]), ([[1.0]], [[1.0]])]
    for m, q in malformed:
        with pytest.raises(stiction.ProblemError):
            stiction.solve_lcp(m, q)
    with pytest.raises(stiction.ProblemError, match="ladder"):
        stiction.solve_lcp([[1.0]], [1.0], method="magic")
    with pytest.raises(stiction.ProblemError):
        stiction.solve_lcp([[1.0]], [1.0], tolerance=-1.0)
    with pytest.raises(stiction.ProblemError):
        stiction.solve_friction(np.eye(3), [1.0, 0.0, 0.0], [-0.5])
    with pytest.raises(stiction.ProblemError):
        stiction.solve_friction(np.eye(3), [1.0, 0.0, 0.0], [0.5, 0.5])
    with pytest.raises(stiction.ProblemError):
        stiction.solve_file("nothing.json")


def test_problem_files_are_solved(tmp_path: Path) -> None:
    files = sorted((ROOT / "problems").rglob("*.json"))
    assert files
    solved = 0
    for file in files[:8]:
        try:
            solved += stiction.solve_file(file, check=False).solved
        except stiction.ProblemError:
            continue
    assert solved > 0


def test_gradients_agree_with_differences() -> None:
    scene = sliding_box()
    found = stiction.gradients(scene, {"contact_default.friction": 0.5}, steps=50, start=[("v", 0)])
    assert found.unknowns == ["contact_default.friction", "v[0]"]
    assert found.dq.shape == (50, 3, 2)
    beside = []
    for mu in (0.5 - 1e-5, 0.5 + 1e-5):
        simulation = stiction.Simulation.from_toml(scene.to_toml(), set={"contact_default.friction": mu})
        simulation.advance(50)
        beside.append(np.array(simulation.q))
    assert found.dq[-1, :, 0] == pytest.approx((beside[1] - beside[0]) / 2e-5, abs=1e-7)
    assert found.dv[-1, 0, 1] == pytest.approx(1.0)
    with pytest.raises(stiction.SceneError):
        stiction.gradients(scene, {"contact_default.frction": 0.5}, steps=5)
    with pytest.raises(stiction.GradientError):
        stiction.gradients(scene, {}, steps=5)


def test_schemes_are_compared() -> None:
    found = stiction.compare(sliding_box(), ["ncp", "stewart-trinkle"], [0.01, 0.005], until=0.3)
    assert [row["preset"] for row in found.rows] == ["ncp", "ncp", "stewart-trinkle", "stewart-trinkle"]
    errors = [row["errors"]["position"] for row in found.rows]
    assert errors[1] < errors[0]
    assert len(found.to_pandas()) == 4
    with pytest.raises(stiction.CompareError):
        stiction.compare(sliding_box(), ["euler"])
