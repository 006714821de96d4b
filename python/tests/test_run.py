"""Runs and what is read from them."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest
from conftest import sliding_box

import stiction
from stiction import Run, Simulation


def test_a_run_has_columns_tables_and_a_page(box: Simulation, tmp_path: Path) -> None:
    run = box.run(0.3)
    assert run.frames == 301
    assert run.t[-1] == pytest.approx(0.3)
    x = run["box.x"]
    assert isinstance(x, np.ndarray)
    assert x[-1] == box["box"].position[0]
    assert run.measure("max(abs(box.vx))") == pytest.approx(1.0)
    assert np.asarray(run.measure("box.vx")).shape == (301,)
    assert run.summary["steps"] == 300
    frame = run.to_pandas()
    assert frame.shape == (301, len(run))
    assert run.to_arrow().num_rows == 301
    assert set(run.contacts["mode"]) == {"slip", "stick"}
    assert len(run.contacts.to_pandas()) == len(run.contacts["gap"])
    kept = run.save(tmp_path / "kept")
    del run
    again = Run.open(tmp_path / "kept")
    assert np.array_equal(np.asarray(again["box.x"]), np.asarray(x))
    assert np.array_equal(np.asarray(kept["box.x"]), np.asarray(x))
    html = again._repr_html_()
    assert html.startswith("<iframe") and "stiction" in html
    assert "<iframe" in box._repr_html_()
    assert again.page(tmp_path / "view.html").startswith("<!")
    assert (tmp_path / "view.html").exists()


def test_a_run_lasts_as_long_as_its_object(box: Simulation) -> None:
    run = box.run(0.01)
    folder = run.folder
    assert folder.exists()
    del run
    assert not folder.exists()


def test_runs_go_where_they_are_told(box: Simulation, tmp_path: Path) -> None:
    run = box.run(steps=7, out=tmp_path / "out", record_every=7)
    assert run.folder == tmp_path / "out"
    assert run.frames == 2
    with pytest.raises(stiction.StateError):
        box.run(0.1, steps=3)
    with pytest.raises(stiction.RecordingError):
        box.run(0.1, out="/dev/null/nowhere")
    with pytest.raises(stiction.RecordingError):
        Run.open(tmp_path)


def test_without_arguments_it_runs_as_long_as_the_scene_says(box: Simulation) -> None:
    box.advance(400)
    run = box.run()
    assert box.step_count == 1000
    assert run.frames == 601
    assert box.run().frames == 1


def test_columns_that_are_not_there_are_named(box: Simulation) -> None:
    run = box.run(0.01)
    with pytest.raises(KeyError, match="box.x"):
        _ = run["box.u"]
    with pytest.raises(stiction.MeasureError) as caught:
        run.measure("max(box.u)")
    assert caught.value.text == "max(box.u)"
    assert caught.value.span == (4, 9)


def test_a_failed_step_says_where_and_leaves_what_was_recorded() -> None:
    scene = sliding_box(preset="quasistatic")
    scene.document["body"][1].pop("velocity")
    scene.document["body"][1]["position"] = [0.0, 1.0]
    simulation = scene.simulation()
    before = simulation.save()
    with pytest.raises(stiction.StepError) as caught:
        simulation.run()
    error = caught.value
    assert error.step == 1
    assert error.worst is not None and "box" in error.worst
    assert error.run is not None and error.run.frames == 1
    assert simulation.save() == before


def test_scenes_are_refused_with_their_place() -> None:
    with pytest.raises(stiction.SceneError) as caught:
        Simulation.from_toml("[simulation]\nduration = 1.0\nstep = 0.1\n[[body]]\nname = 'a'\nmas = 1.0\n", "a.toml")
    error = caught.value
    assert (error.file, error.line, error.column) == ("a.toml", 6, 1)
    assert error.hint is not None and "mass" in error.hint
    assert isinstance(error, ValueError)
    with pytest.raises(stiction.SceneError):
        Simulation.from_file("no such file.toml")
    with pytest.raises(stiction.SceneError):
        sliding_box(record_every=float("nan")).simulation()
    with pytest.raises(stiction.SceneError):
        sliding_box(gravitas=[0.0, 1.0]).simulation()


@pytest.mark.parametrize("work", ["compare", "gradients"])
def test_long_work_can_be_interrupted(work: str) -> None:
    """Either would take long; whoever presses Ctrl-C does not want to wait for them."""
    scene = sliding_box()
    # A shell starts programs in the background with SIGINT ignored, and then nothing would interrupt this test.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        if work == "compare":
            stiction.compare(scene, ["ncp"], [1e-6], until=1.0)
        else:
            stiction.gradients(scene, {"contact_default.friction": 0.5}, steps=10**7)
    timer.join()
