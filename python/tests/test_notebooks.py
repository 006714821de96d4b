"""The worked notebooks run from their first cell to the last, and the numbers that they assert hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from conftest import ROOT
from nbclient import NotebookClient

# Typed or not, by the version of nbformat.
read: Any = nbformat.read

FOLDER = ROOT / "python" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_all_are_found() -> None:
    names = ["1_first_simulation", "2_friction_laws_compared", "3_grasp_map", "4_identify_a_cube", "5_plate_design"]
    assert [notebook.stem for notebook in NOTEBOOKS] == names


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    notebook = read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    assert any("assert " in cell.source for cell in code), "a notebook checks what it says"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a cell raises is raised here, with the cell."""
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    notebook = read(path, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    shown = [kind for output in outputs for kind in output.get("data", {})]
    assert "image/png" in shown, "there is a picture"
    assert "text/html" in shown, "and a run or a table"
