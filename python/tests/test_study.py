"""Studies, designs, identifications, worlds side by side."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, sliding_box

import stiction
from stiction import Design, Identification, Study, Worlds

STUDY = ROOT / "studies/sliding_box.toml"


def test_a_study_is_the_same_on_any_number_of_threads(tmp_path: Path) -> None:
    study = Study.from_file(STUDY, trials=6)
    one = study.run(tmp_path / "one", threads=1)
    two = study.run(tmp_path / "two", threads=2)
    assert one.complete and one.made == study.count
    assert one.report == two.report
    assert (tmp_path / "one/trials.parquet").read_bytes() == (tmp_path / "two/trials.parquet").read_bytes()
    assert len(one.to_pandas()) == study.count
    assert one.to_arrow().num_rows == study.count
    rate, low, high = one.success()
    assert low <= rate <= high
    assert len(one.cells()) == len(one.report["variants"][0]["cells"])


def test_a_study_that_was_stopped_goes_on(tmp_path: Path) -> None:
    study = Study.from_file(STUDY, trials=40)

    class Enough(Exception):
        pass

    def stop(_: int) -> None:
        raise Enough

    with pytest.raises(Enough):
        study.run(tmp_path / "a", threads=1, progress=stop)
    with pytest.raises(stiction.StudyError):
        study.run(tmp_path / "a")
    whole = study.run(tmp_path / "a", resume=True)
    again = study.run(tmp_path / "b")
    assert whole.report == again.report
    assert (tmp_path / "a/trials.parquet").read_bytes() == (tmp_path / "b/trials.parquet").read_bytes()


def test_trials_made_elsewhere_give_the_same_table(tmp_path: Path) -> None:
    """Protocol of another engine: unpack, run, return; lost and damaged packets are repeated."""
    study = Study.from_file(STUDY, trials=4)
    far = stiction._stiction.Study.unpack(study.pack())
    collector = study.collector(tmp_path / "far")
    missing = collector.missing()
    assert missing == list(range(study.count))
    packets = far.make_packets(missing[::-1])
    assert not collector.accept(packets[0][:-10])
    assert not collector.accept(packets[0].replace("true", "false").replace("[0,", "[1,"))
    assert sum(collector.accept(packet) for packet in packets[: len(packets) // 2]) == len(packets) // 2
    assert not collector.accept(packets[0]), "once"
    result = study.make_all(tmp_path / "far", resume=True)
    near = study.run(tmp_path / "near")
    assert result == near.report
    assert (tmp_path / "far/trials.parquet").read_bytes() == (tmp_path / "near/trials.parquet").read_bytes()
    with pytest.raises(stiction.StudyError):
        far.make_packets([study.count])


def test_studies_that_cannot_be_are_refused(tmp_path: Path) -> None:
    with pytest.raises(stiction.SceneError):
        Study.from_file(tmp_path / "none.toml")
    with pytest.raises(stiction.StudyError):
        Study.from_file(ROOT / "studies/needle_push.toml")
    with pytest.raises(stiction.StudyError):
        Study.from_file(STUDY, trials=0)
    with pytest.raises(stiction.StudyError, match="engine"):
        Study.from_file(STUDY).run(engine="abacus")  # type: ignore[arg-type]


def test_a_design_is_found(tmp_path: Path) -> None:
    design = Design.from_file(ROOT / "designs/slide_to_goal.toml")
    found = design.run(log=tmp_path / "log.jsonl")
    again = design.run(log=tmp_path / "log.jsonl", resume=True, threads=1)
    assert found.report == again.report
    assert found.objective is not None
    assert found.objective == pytest.approx(design.evaluate(list(found.parameters.values())))
    lines = [line for start in range(design.starts) for line in design.search_start(start)]
    assert design.search(lines=lines) == found.report
    with pytest.raises(stiction.StudyError):
        design.evaluate([float("nan")] * len(found.parameters))


@pytest.mark.long
def test_friction_is_identified() -> None:
    identification = Identification.from_file(ROOT / "identifications/sliding_block.toml")
    result = identification.run()
    estimates = result.estimates()
    assert set(estimates) == set(identification.unknowns)
    friction = next(iter(estimates.values()))
    assert friction.interval is not None
    assert friction.interval[0] <= friction.value <= friction.interval[1]
    result.simulation().step()
    with pytest.raises(stiction.IdentificationError):
        result.estimates("guessing")


def test_worlds_step_side_by_side_like_one() -> None:
    scene = sliding_box()
    worlds = Worlds.of(scene, 7, threads=2)
    alone = []
    for k in range(7):
        simulation = scene.simulation()
        simulation.v = [0.1 * k, 0.0, 0.0]
        worlds.reset(k, v=[0.1 * k, 0.0, 0.0])
        simulation.advance(100)
        alone.append(np.array(simulation.q))
    shown = worlds.q
    assert not worlds.step(100).any()
    assert worlds.q is shown
    assert np.array_equal(worlds.q, np.array(alone))
    assert worlds.times() == pytest.approx(0.1)
    assert worlds.contact_forces(2)[:, 1] == pytest.approx(9.81)
    before = np.array(worlds.q)
    worlds.step(5, [True] * 6 + [False])
    assert np.array_equal(worlds.q[:6], before[:6])


def test_worlds_refuse_what_cannot_be() -> None:
    worlds = Worlds.of(sliding_box(), 3)
    with pytest.raises(ValueError):
        worlds.q[0, 0] = 1.0
    with pytest.raises(stiction.StateError):
        worlds.reset(0, q=[0.0, float("nan"), 0.0])
    with pytest.raises(stiction.HandleError):
        worlds.reset(3)
    with pytest.raises(stiction.StateError):
        worlds.hold_wrenches(2, np.zeros((3, 5)))
    wrenches = np.zeros((3, 6))
    wrenches[2, 0] = 1e12
    with pytest.raises(stiction.InputError):
        worlds.hold_wrenches(2, wrenches)
    with pytest.raises(stiction.StateError):
        Worlds.of(sliding_box(), 0)
    with pytest.raises(stiction.StateError, match="at most 65536"):
        Worlds.of(sliding_box(), 10**9)
