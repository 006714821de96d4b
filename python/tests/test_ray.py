"""Studies over a Ray cluster of two nodes, one of which is lost while they run."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from stiction import Design, Study

ray: Any = pytest.importorskip("ray")

STUDY = ROOT / "studies/sliding_box.toml"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    made: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.add_node(num_cpus=1)
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


def workers() -> list[int]:
    """Processes that are making trials; agents of Ray, whose death takes their node along, have other names."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                words = (process / "cmdline").read_bytes()
            except OSError:
                continue
            if words.startswith(b"ray::_make"):
                found.append(int(process.name))
    return found


def test_a_lost_worker_loses_nothing(cluster: Any, tmp_path: Path) -> None:
    study = Study.from_file(STUDY, trials=200)
    near = study.run(tmp_path / "near")
    killed: list[int] = []

    def kill_one(finished: int) -> None:
        if not killed and 0 < finished < study.count // 2:
            for worker in workers():
                os.kill(worker, signal.SIGKILL)
                killed.append(worker)
                break

    far = study.run(tmp_path / "far", engine="ray", batch=20, progress=kill_one)
    assert killed, "a worker was killed while the study ran"
    assert far.complete
    assert far.report == near.report
    assert (tmp_path / "far/trials.parquet").read_bytes() == (tmp_path / "near/trials.parquet").read_bytes()


def test_a_design_is_the_same_on_a_cluster_and_goes_on_from_its_log(cluster: Any, tmp_path: Path) -> None:
    design, log = Design.from_file(ROOT / "designs/slide_to_goal.toml"), tmp_path / "log"
    near = design.run()
    assert design.run(engine="ray", log=log).report == near.report
    known = design.known(log)
    assert len(known) >= near.evaluations
    seen: list[int] = []
    assert design.run(engine="ray", log=log, resume=True, progress=seen.append).report == near.report
    assert set(seen) <= {0, near.evaluations, len(known)}, "nothing was evaluated again"
    assert design.known(log) == known


def test_a_lost_node_loses_nothing(cluster: Any, tmp_path: Path) -> None:
    study = Study.from_file(STUDY, trials=200, seed=7)
    near = study.run(tmp_path / "near")
    node = cluster.add_node(num_cpus=1)
    lost: list[int] = []

    def lose_it(finished: int) -> None:
        if not lost and finished > 0:
            lost.append(finished)
            cluster.remove_node(node, allow_graceful=False)

    far = study.run(tmp_path / "far", engine="ray", batch=20, progress=lose_it)
    assert lost
    assert far.report == near.report
    assert (tmp_path / "far/trials.parquet").read_bytes() == (tmp_path / "near/trials.parquet").read_bytes()
