"""The gallery keeps its word: its pictures are there, its blocks run, and the page is the one that the script writes."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import stiction
from stiction import Identification, Simulation, Study

PAGE = (ROOT / "docs/gallery.md").read_text(encoding="utf-8")
PICTURES = re.findall(r"!\[[^]]+\]\(([^)]+)\)", PAGE)
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
TITLES = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)


def test_every_entry_has_a_picture_and_a_block() -> None:
    assert 8 <= len(TITLES) <= 12
    assert len(PICTURES) == len(BLOCKS) == len(TITLES)
    for picture in PICTURES:
        start = (ROOT / "docs" / picture).read_bytes()[:200]
        assert start.startswith(b"\x89PNG") if picture.endswith(".png") else b"<?xml" in start, picture
        assert (ROOT / "docs" / picture).stat().st_size > 8000, f"{picture} is nearly empty"


def test_links_of_the_page_lead_somewhere() -> None:
    for link in re.findall(r"(?<!!)\[[^]]+\]\(([^)#]+)", PAGE):
        assert (ROOT / "docs" / link).resolve().exists(), link


def test_the_script_agrees_with_the_page() -> None:
    check = [sys.executable, str(ROOT / "scripts/gallery.py"), "--check"]
    said = subprocess.run(check, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout + said.stderr


@pytest.mark.parametrize("number", range(len(BLOCKS)), ids=TITLES)
def test_a_block_runs(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    language, text = BLOCKS[number]
    for folder in ("scenes", "studies", "identifications"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    if language == "python":
        exec(compile(text, f"docs/gallery.md, {TITLES[number]}", "exec"), {"stiction": stiction, "__name__": "gallery"})
        return
    assert language == "sh"
    written: set[str] = set()
    for line in text.splitlines():
        follow(shlex.split(line), written)


def follow(words: list[str], written: set[str]) -> None:
    """Reads what a command of the program names, as the program would: a scene makes its first step, a study is understood."""
    program, command, file, *options = words
    assert program == "stiction"
    if command == "view":
        assert file in written, f"{file} is written by no command before"
    elif command == "sweep":
        assert Study.from_file(file).count > 0
    elif command == "identify":
        assert Identification.from_file(file).unknowns
    else:
        assert command == "run"
        given = dict(zip(options[::2], options[1::2], strict=True))
        assert set(given) <= {"--set", "--keyframe", "--duration"}
        changes: dict[str, Any] = {}
        if "--set" in given:
            path, value = given["--set"].split("=")
            changes[path] = float(value)
        if file.endswith(".xml"):
            simulation = Simulation.from_mjcf(file, keyframe=given.get("--keyframe"))
        else:
            simulation = Simulation.from_file(file, set=changes)
        simulation.step()
        written.add(f"out/{Path(file).stem}")
