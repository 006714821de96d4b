"""Conversion of Python values to values of a scene."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


def plain(value: Any) -> Any:
    """Converts numbers, text, lists and tables without numpy types."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (str, bool)) or value is None:
        return value
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)) or (isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray))):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        from .errors import SceneError

        raise SceneError(f"a scene holds finite numbers, not {value}")
    return value


def as_json(value: Any) -> str:
    """A table as JSON, without entries that are None."""
    return json.dumps(_without_none(plain(value)))


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_none(item) for item in value]
    return value


def as_toml(value: Any) -> str:
    """One value as TOML.

    >>> as_toml([1, 2.5, "30 deg", True])
    '[1, 2.5, "30 deg", true]'
    """
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(as_toml(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {as_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, str):
        return json.dumps(value)
    return repr(value)


def vector(what: str, values: npt.ArrayLike, lengths: list[int]) -> list[float]:
    """Converts a value to this many numbers; a single zero stands for a zero vector."""
    from .errors import InputError

    try:
        array = np.asarray(plain(values), dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be numbers: {error}") from None
    if array.ndim == 0 and (float(array) == 0.0 or lengths == [1]):
        return [float(array)] * lengths[0]
    if array.ndim != 1 or len(array) not in lengths:
        raise InputError(f"{what} must be {lengths[0]} numbers, but has the shape {array.shape}")
    if not np.all(np.isfinite(array)):
        raise InputError(f"{what} must be finite numbers, but is {array.tolist()}")
    return [float(x) for x in array]
