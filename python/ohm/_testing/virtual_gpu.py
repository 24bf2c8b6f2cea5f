"""Whether this process is on a virtual GPU, and how a pytest session gets there."""
from __future__ import annotations

import importlib
import os
import subprocess
import sys
from types import ModuleType
from typing import Any, List, Optional

import pytest

from ohm._command import OhmError, command_path

# What `ohm exec` sets (allocator_shim/interpose/gpu_variable.h).
GPU_VARIABLE = "OHM_GPU"
VALUES_VARIABLE = "OHM_VALUES"
RECORD_VARIABLE = "OHM_RECORD"

# A Python started with these ignores what ohm exec puts into its environment.
_IGNORING_FLAGS = "-I, -E and -S"


def is_here() -> bool:
    """Whether ohm exec started this process."""
    return GPU_VARIABLE in os.environ and "ohm_values" in sys.modules


def record_module(name: str) -> Optional[ModuleType]:
    """A module of the folder that ohm exec puts in front of PYTHONPATH; None on a real GPU."""
    if not is_here():
        return None
    if name in sys.modules:
        return sys.modules[name]
    folder = os.path.dirname(os.path.abspath(sys.modules["ohm_values"].__file__ or ""))
    sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(folder)


def enter(config: Any, arguments: List[str]) -> None:
    """Restarts pytest on the GPU that --ohm-gpu names; returns where it is there already.

    Raises pytest.UsageError for what cannot be started.
    """
    options = config.known_args_namespace
    profile, values = options.ohm_gpu, options.ohm_values
    if profile is None:
        if values is not None and not is_here():
            raise pytest.UsageError("--ohm-values: there is no virtual GPU; add --ohm-gpu PROFILE")
        return
    if GPU_VARIABLE in os.environ:
        _check_is_same(profile, values)
        return
    command = _exec_command(profile, values)
    _check(command)
    python = _this_python(arguments)
    _keep_to_one_thread(values)
    _give_back_output(config)
    os.execv(command[0], [*command, "--", *python])


def _check_is_same(profile: str, values: Optional[str]) -> None:
    here = os.environ[GPU_VARIABLE]
    if profile != here:
        raise pytest.UsageError(
            f"--ohm-gpu {profile}: ohm exec has started pytest on {here}; remove one of the two")
    if values is not None and values != (os.environ.get(VALUES_VARIABLE) or "known"):
        raise pytest.UsageError(f"--ohm-values {values}: ohm exec has started pytest with --values "
                                f"{os.environ.get(VALUES_VARIABLE) or 'known'}; remove one of the two")
    if not is_here():
        raise pytest.UsageError(f"--ohm-gpu {profile}: this Python ignores its environment "
                                f"({_IGNORING_FLAGS}), so it is not on the virtual GPU")


def _exec_command(profile: str, values: Optional[str]) -> List[str]:
    try:
        command = [command_path(), "exec", "--no-record", "--gpu", profile]
    except OhmError as error:
        raise pytest.UsageError(f"--ohm-gpu: {error}") from None
    return command + (["--values", values] if values else [])


def _check(command: List[str]) -> None:
    """Runs nothing on the GPU, so that a wrong name is pytest's usage error."""
    try:
        tried = subprocess.run([*command, "--", "true"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace")
    except OSError as error:
        raise pytest.UsageError(f"--ohm-gpu: {command[0]} cannot be run: {error}") from None
    if tried.returncode != 0:
        said = tried.stdout.strip().replace("ohm: ", "", 1)
        raise pytest.UsageError(f"--ohm-gpu: {said or f'ohm exec ended with {tried.returncode}'}")


def _this_python(arguments: List[str]) -> List[str]:
    """The command line of this session."""
    if sys.flags.ignore_environment or sys.flags.no_site:
        raise pytest.UsageError(f"--ohm-gpu: Python ignores its environment ({_IGNORING_FLAGS})")
    if list(arguments) != sys.argv[1:]:
        raise pytest.UsageError(
            "--ohm-gpu: pytest was started by a program (pytest.main), which cannot be restarted; "
            "run the program under ohm exec --gpu PROFILE -- python PROGRAM")
    words = getattr(sys, "orig_argv", None)
    if words:
        return [sys.executable, *words[1:]]
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return [sys.executable, *flags, "-m", "pytest", *arguments]


def _keep_to_one_thread(values: Optional[str]) -> None:
    """Without values the CPU has little to compute, and a process of one thread can be copied for a
    sweep."""
    if values != "cpu":
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ.setdefault(name, "1")


def _give_back_output(config: Any) -> None:
    """Pytest has begun to capture it."""
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.suspend_global_capture(in_=True)
    sys.stdout.flush()
    sys.stderr.flush()
