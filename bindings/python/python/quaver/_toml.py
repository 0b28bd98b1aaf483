"""Dictionaries as TOML: what configs are made of, and nothing else."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from typing import Any, Optional

import numpy as np


def dumps(config: Mapping[str, Any]) -> str:
    """A config as TOML, one line per key. Keys that are None are left out: TOML has no null."""
    lines = [f"{_key(key)} = {value(item, str(key))}" for key, item in config.items() if item is not None]
    return "\n".join(lines) + "\n"


def overrides(settings: Optional[Mapping[str, Any]]) -> list[str]:
    """Values by dotted keys, as the command line takes them with `--set`."""
    return [f"{key}={value(item, key)}" for key, item in (settings or {}).items()]


def value(item: Any, key: str) -> str:
    """A value as TOML; `key` names it in errors."""
    if isinstance(item, np.generic):
        item = item.item()
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, int):
        return str(item)
    if isinstance(item, float) and math.isfinite(item):
        return repr(item)
    if isinstance(item, (str, os.PathLike)):
        return _string(os.fspath(item))
    if isinstance(item, (list, tuple, np.ndarray)):
        return "[" + ", ".join(value(one, f"{key}[{index}]") for index, one in enumerate(item)) + "]"
    if isinstance(item, Mapping):
        pairs = [f"{_key(name)} = {value(one, f'{key}.{name}')}" for name, one in item.items() if one is not None]
        return "{ " + ", ".join(pairs) + " }" if pairs else "{}"
    raise TypeError(f"`{key}` is {item!r}, which a config cannot hold: give a string, number, bool, list or dict")


def _string(text: Any) -> str:
    # A string of JSON is one of TOML, but for the character DEL.
    return json.dumps(str(text), ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"keys of a config are strings, found {key!r}")
    return _string(key)
