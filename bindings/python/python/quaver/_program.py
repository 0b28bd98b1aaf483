"""The command line `quaver`, which is part of the package: trains, exports and evaluates in a process of its own."""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, Optional

from . import _toml

_log = logging.getLogger("quaver")
_OS_ERROR = re.compile(r"\(os error (\d+)\)")
_NO_FILE = re.compile(r": no such file\b")
_NOTE = "note: "


def path() -> Path:
    """The program: that of the package, or the one that the environment variable QUAVER_PROGRAM names."""
    named = os.environ.get("QUAVER_PROGRAM")
    found = Path(named) if named else Path(__file__).parent / "bin" / ("quaver.exe" if os.name == "nt" else "quaver")
    if not found.is_file():
        raise FileNotFoundError(
            f"there is no program {found}: install the wheel that `cargo xtask bindings Python` builds, or set "
            f"QUAVER_PROGRAM to a `quaver` that `cargo build --release -p quaver-trainer` has built"
        )
    return found


def main() -> None:
    """The command `quaver` of an environment that has the package."""
    arguments = [str(path()), *sys.argv[1:]]
    if os.name == "nt":
        sys.exit(subprocess.call(arguments))
    os.execv(arguments[0], arguments)


def options(given: Mapping[str, Any]) -> list[str]:
    """Keyword arguments as options: `no_baselines=True` is `--no-baselines`; a list repeats its option."""
    found = []
    for name, value in given.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            found.append(flag)
        elif isinstance(value, (list, tuple)):
            found.extend(f"{flag}={one}" for one in value)
        elif value is not None and value is not False:
            found.append(f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return found


def json_of(command: str, *arguments: Any, **given: Any) -> dict[str, Any]:
    """What a command prints with `--json`."""
    found: dict[str, Any] = json.loads(run([command, *map(str, arguments), *options(given), "--json"]))
    return found


def run(arguments: list[str], note: Callable[[str], None] = lambda line: None) -> str:
    """Runs a command and returns what it prints. `note` gets every line of its progress as it comes; an exception in
    it, or Ctrl-C, ends the command."""
    # Errors are raised with their whole text; a backtrace would only hide it.
    environment = {**os.environ, "RUST_BACKTRACE": "0"}
    lines: list[str] = []
    with tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
        process = subprocess.Popen(
            [str(path()), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.PIPE,
            env=environment,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        assert process.stderr is not None
        try:
            for line in process.stderr:
                lines.append(line.rstrip("\n"))
                _log.info("%s", lines[-1])
                note(lines[-1])
            status = process.wait()
        except BaseException:
            _end(process)
            raise
        finally:
            process.stderr.close()
        if status != 0:
            _fail(arguments, status, lines)
        for line in lines:
            if line.startswith(_NOTE):
                warnings.warn(line[len(_NOTE) :], UserWarning, stacklevel=4)
        printed.seek(0)
        return printed.read()


def _end(process: subprocess.Popen[str]) -> None:
    """A run folder is intact whenever its process ends."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _fail(arguments: list[str], status: int, lines: list[str]) -> NoReturn:
    starts = [index for index, line in enumerate(lines) if line.startswith("error: ")]
    if not starts:
        last = "\n".join(lines[-5:])
        ended = f"by signal {-status}" if status < 0 else f"with status {status}"
        raise RuntimeError(f"`quaver {' '.join(arguments)}` ended {ended}\n{last}".rstrip())
    text = "\n".join(lines[starts[-1] :])[len("error: ") :].rstrip()
    number = _OS_ERROR.search(text)
    if number is not None:
        raise OSError(int(number.group(1)), text)
    if _NO_FILE.search(text):
        raise FileNotFoundError(errno.ENOENT, text)
    raise ValueError(text)


@contextmanager
def config_file(config: Any) -> Iterator[tuple[Path, Optional[str]]]:
    """A config as a file, and the folder of its relative paths unless it is that of the file. A dictionary is
    written to a temporary one; its paths are relative to the current folder."""
    if not isinstance(config, Mapping):
        yield Path(config), None
        return
    init = config.get("init")
    if isinstance(init, Mapping) and init.get("from") is not None:
        config = {**config, "init": {**init, "from": os.path.abspath(init["from"])}}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "config.toml"
        file.write_text(_toml.dumps(config), encoding="utf-8")
        try:
            yield file, os.getcwd()
        except ValueError as error:
            # Its lines are nobody's; the key is named as well.
            raise ValueError(re.sub(re.escape(str(file)) + r"(:\d+)*", "config", str(error))) from None
