"""Whether this process is on a virtual GPU, and how a pytest session gets there."""
from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType
from typing import Any, List, Optional

import pytest

from ohm._testing import EARLY_VARIABLE, GPU_VARIABLE

# What `ohm exec` sets (allocator_shim/interpose/gpu_variable.h), beside that.
VALUES_VARIABLE = "OHM_VALUES"
RECORD_VARIABLE = "OHM_RECORD"

# A module that Python imports when it starts under ohm exec.
_STARTED = "ohm_protocol"

# A Python started with these ignores what ohm exec puts into its environment.
_IGNORING_FLAGS = "-I, -E and -S"


_IS_HERE = GPU_VARIABLE in os.environ and _STARTED in sys.modules


def is_here() -> bool:
    """Whether ohm exec started this process."""
    return _IS_HERE


def record_module(name: str) -> Optional[ModuleType]:
    """A module of the folder that ohm exec puts in front of PYTHONPATH; None on a real GPU."""
    if not is_here():
        return None
    if name in sys.modules:
        return sys.modules[name]
    folder = os.path.dirname(os.path.abspath(sys.modules[_STARTED].__file__ or ""))
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
    # A configuration file may ask for other values than the command line, which was all that was known.
    is_early = EARLY_VARIABLE in os.environ
    if GPU_VARIABLE in os.environ and not (is_early and values not in (None, _values_here())):
        os.environ.pop(EARLY_VARIABLE, None)
        _check_is_same(profile, values)
        return
    from ohm._testing import restarting

    restarting.undo_early()
    command = _checked_command(profile, values)
    python = _this_python(arguments)
    _give_back_output(config)
    restarting.restart(command, python, values)


def _check_is_same(profile: str, values: Optional[str]) -> None:
    here = os.environ[GPU_VARIABLE]
    if profile != here:
        raise pytest.UsageError(
            f"--ohm-gpu {profile}: ohm exec has started pytest on {here}; remove one of the two")
    if values not in (None, _values_here()):
        raise pytest.UsageError(f"--ohm-values {values}: ohm exec has started pytest with --values "
                                f"{_values_here()}; remove one of the two")
    if not is_here():
        raise pytest.UsageError(f"--ohm-gpu {profile}: this Python ignores its environment "
                                f"({_IGNORING_FLAGS}), so it is not on the virtual GPU")


def _values_here() -> str:
    return os.environ.get(VALUES_VARIABLE) or "known"


def _checked_command(profile: str, values: Optional[str]) -> List[str]:
    """A wrong name is pytest's usage error."""
    from ohm._command import OhmError
    from ohm._testing import restarting

    try:
        command = restarting.exec_command(profile, values)
        refused = restarting.refusal(command)
    except OhmError as error:
        raise pytest.UsageError(f"--ohm-gpu: {error}") from None
    except OSError as error:
        raise pytest.UsageError(f"--ohm-gpu: {error.filename} cannot be run: {error}") from None
    if refused is not None:
        raise pytest.UsageError(f"--ohm-gpu: {refused}")
    return command


def _this_python(arguments: List[str]) -> List[str]:
    """The command line of this session."""
    from ohm._testing import restarting

    if restarting.ignores_environment():
        raise pytest.UsageError(f"--ohm-gpu: Python ignores its environment ({_IGNORING_FLAGS})")
    if list(arguments) != sys.argv[1:]:
        raise pytest.UsageError(
            "--ohm-gpu: pytest was started by a program (pytest.main), which cannot be restarted; "
            "run the program under ohm exec --gpu PROFILE -- python PROGRAM")
    words = getattr(sys, "orig_argv", None)
    if words:
        return [sys.executable, *words[1:]]
    import subprocess

    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return [sys.executable, *flags, "-m", "pytest", *arguments]


def _give_back_output(config: Any) -> None:
    """Pytest has begun to capture it."""
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.suspend_global_capture(in_=True)
    sys.stdout.flush()
    sys.stderr.flush()


def initialized_torch() -> Any:
    """PyTorch, where the program has imported it and initialized CUDA."""
    torch = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    return torch if cuda is not None and cuda.is_initialized() else None
