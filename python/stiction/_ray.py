"""Trials on a Ray cluster.

Text is transferred: the study with its scenes, and trials as lines with checksums. A trial is a function of the study and its number, and
the table contains the trials in the order of their numbers. The results are therefore those of one machine bit for bit, whichever worker
runs a trial and however often a lost one is repeated.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _stiction
from .errors import StudyError

if TYPE_CHECKING:
    from .design import Design
    from .study import Study

#: Number of repetitions of a batch whose worker was lost.
RETRIES = 20

#: Batches in flight per processor of the cluster: enough to keep it busy, few enough to lose little.
IN_FLIGHT = 3

#: Default of the smallest number of trials in a batch; a task costs about a millisecond.
LEAST_BATCH = 16


@contextlib.contextmanager
def cluster(address: str | None) -> Iterator[Any]:
    """Connects to Ray; a cluster started here is stopped at the end."""
    try:
        import ray
    except ImportError as error:
        raise StudyError("engine=\"ray\" needs Ray: pip install 'stiction[ray]'") from error
    ours = not ray.is_initialized()
    if ours and address is not None:
        ray.init(address=address, log_to_driver=False)
    elif ours:
        ray.init(include_dashboard=False, log_to_driver=False)
    try:
        yield ray
    finally:
        if ours:
            ray.shutdown()


@functools.lru_cache(maxsize=4)
def _study(parcel: str) -> _stiction.Study:
    return _stiction.Study.unpack(parcel)


def _make(parcel: str, trials: list[int]) -> list[str]:
    """Runs on a worker."""
    return _study(parcel).make_packets(trials)


def _search(file: str, text: str, scene: str, start: int, known: list[str]) -> list[str]:
    """Runs on a worker."""
    return _stiction.Design.unpack(file, text, scene).search_start(start, known)


def _gather(
    ray: Any, submit: Callable[[Any], Any], work: list[Any], take: Callable[[Any], None], late: Callable[[], bool]
) -> None:
    """Distributes the work over the cluster and collects the results; work of lost workers is repeated."""
    processors = max(int(ray.cluster_resources().get("CPU", 1)), 1)
    waiting = [(item, 0) for item in reversed(work)]
    flying: dict[Any, tuple[Any, int]] = {}
    while (waiting and not late()) or flying:
        while waiting and len(flying) < IN_FLIGHT * processors and not late():
            item, lost = waiting.pop()
            flying[submit(item)] = (item, lost)
        done, _ = ray.wait(list(flying), timeout=0.5)
        for reference in done:
            item, lost = flying.pop(reference)
            try:
                take(ray.get(reference))
            except ray.exceptions.RayTaskError:
                raise
            except ray.exceptions.RayError as error:
                if lost >= RETRIES:
                    raise StudyError(f"a batch was lost {lost} times, the last time by: {error}") from error
                waiting.append((item, lost + 1))


def make_study(
    study: Study,
    folder: Path,
    existing: tuple[bool, bool],
    address: str | None,
    batch: int | None,
    progress: Callable[[int], object] | None,
    max_seconds: float | None,
) -> dict[str, Any]:
    """Runs the trials of a study on a cluster; the table and the report are made locally."""
    started = time.monotonic()
    max_seconds = study.max_seconds if max_seconds is None else max_seconds
    resume, replace = existing
    collector = study.collector(folder, resume, replace)
    missing = collector.missing()
    made = study.count - len(missing)
    with cluster(address) as ray:
        processors = max(int(ray.cluster_resources().get("CPU", 1)), 1)
        size = batch or max(LEAST_BATCH, min(1000, len(missing) // (10 * processors)))
        parcel = ray.put(study.pack())
        task = ray.remote(max_retries=RETRIES)(_make)

        def take(packets: list[str]) -> None:
            nonlocal made
            made += sum(collector.accept(packet) for packet in packets)
            if progress is not None:
                progress(made)

        batches = [missing[first : first + size] for first in range(0, len(missing), size)]
        late = lambda: max_seconds is not None and time.monotonic() - started > max_seconds  # noqa: E731
        _gather(ray, lambda trials: task.remote(parcel, trials), batches, take, late)
    left = None if max_seconds is None else 0.0 if len(collector.missing()) > 0 else max_seconds
    return study.make_all(folder, 0, True, False, left, progress)


def search_starts(
    design: Design, path: Path, known: list[str], address: str | None, progress: Callable[[int], object] | None
) -> list[str]:
    """Searches from every start on a worker; returns the stored evaluations, which are not repeated, and the new ones."""
    text = path.read_text(encoding="utf-8")
    lines = dict.fromkeys(known)
    with cluster(address) as ray:
        shared = ray.put(known)
        task = ray.remote(max_retries=RETRIES)(_search)

        def take(found: list[str]) -> None:
            lines.update(dict.fromkeys(found))
            if progress is not None:
                progress(len(lines))

        submit = lambda start: task.remote(path.name, text, design.scene_text, start, shared)  # noqa: E731
        _gather(ray, submit, list(range(design.starts)), take, lambda: False)
    return list(lines)
