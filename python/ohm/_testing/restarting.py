"""How pytest is restarted under `ohm exec`. It may be asked before pytest is there, so it imports none
of it."""
from __future__ import annotations

import os
import sys

from ohm._command import OhmError, command_path
from ohm._testing import EARLY_VARIABLE, GPU_VARIABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List, Optional

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_PYTESTS = ("pytest", "py.test")
_FLAGS_WITH_VALUES = ("-W", "-X", "--check-hash-based-pycs")


def early() -> None:
    """What ohm_memory.pth calls where Python starts with a command line that has --ohm-gpu: nothing
    has been imported that would be imported again. Whatever is not plain is left to the plugin, which
    says what is wrong."""
    words: List[str] = sys.orig_argv  # type: ignore[attr-defined]
    first = first_argument(words)
    if first is None or GPU_VARIABLE in os.environ or ignores_environment():
        return
    profile = option(words[first:], "--ohm-gpu")
    values = option(words[first:], "--ohm-values")
    if not profile:
        return
    try:
        command = exec_command(profile, values)
        if _is_accepted(command):
            os.environ[EARLY_VARIABLE] = " ".join(name for name in _THREADS if name not in os.environ)
            restart(command, [sys.executable, *words[1:]], values)
    except (OhmError, OSError):
        return


def undo_early() -> None:
    """Variables are as before early() restarted this process; nothing where it did not."""
    for name in os.environ.pop(EARLY_VARIABLE, "").split():
        os.environ.pop(name, None)


def first_argument(words: List[str]) -> Optional[int]:
    """Of pytest's arguments, in a command line of Python; None: it runs something else."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "-m":
            return at + 2 if words[at + 1:at + 2] == ["pytest"] else None
        if words[at] in ("-c", "-"):
            return None
        at += 2 if words[at] in _FLAGS_WITH_VALUES else 1
    is_pytest = at < len(words) and os.path.basename(words[at]) in _PYTESTS
    return at + 1 if is_pytest else None


def option(arguments: List[str], name: str) -> Optional[str]:
    """Its last value, as `--name VALUE` or `--name=VALUE`."""
    value = None
    for at, argument in enumerate(arguments):
        if argument == name:
            value = arguments[at + 1] if at + 1 < len(arguments) else None
        elif argument.startswith(name + "="):
            value = argument[len(name) + 1:]
    return value


def ignores_environment() -> bool:
    """Python ignores what ohm exec puts there."""
    return bool(sys.flags.ignore_environment or sys.flags.no_site)


def exec_command(profile: str, values: Optional[str]) -> List[str]:
    """Raises OhmError where there is no ohm."""
    command = [command_path(), "exec", "--no-record", "--gpu", profile]
    return command + (["--values", values] if values else [])


def _is_accepted(command: List[str]) -> bool:
    """As refusal(), and costs less."""
    nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    tried = os.posix_spawn(command[0], [*command, "--", "true"], os.environ, file_actions=nowhere)
    return os.waitpid(tried, 0)[1] == 0


def refusal(command: List[str]) -> Optional[str]:
    """Why ohm exec does not start a program so; None: it does. Raises OSError where ohm cannot be
    run."""
    import subprocess

    tried = subprocess.run([*command, "--", "true"], stdin=subprocess.DEVNULL, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
    if tried.returncode == 0:
        return None
    return tried.stdout.strip().replace("ohm: ", "", 1) or f"ohm exec ended with {tried.returncode}"


def restart(command: List[str], python: List[str], values: Optional[str]) -> None:
    """Without values the CPU has little to compute, and a process of one thread can be copied for a
    sweep."""
    if values != "cpu":
        for name in _THREADS:
            os.environ.setdefault(name, "1")
    os.execv(command[0], [*command, "--", *python])
