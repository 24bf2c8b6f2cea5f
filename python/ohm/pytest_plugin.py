"""The pytest plugin: GPU memory of each test, on a virtual GPU (--ohm-gpu) or a real one.

docs/pytest.md describes the options, marks and fixtures.
"""
from __future__ import annotations

import argparse
import contextlib
import os
from typing import Any, Iterator, List

import pytest

import ohm._testing as testing
from ohm._testing import marks

# Where any of these is given, all tests are measured; else those that ask for it.
_FOR_ALL = ("ohm_baseline", "ohm_peaks", "ohm_sweep", "ohm_oom_at")
_PEAKS_SHOWN = 10
_BASELINE = "ohm-baseline.json"

_MARKS = (
    "gpu_memory(peak=None, reserved=None, growth_per_step=None, leak=None): limits on the GPU memory "
    "of a test, in bytes or as \"2 GiB\" (ohm)",
    "oom_at(n): the n-th GPU allocation of the test fails (ohm)",
    "oom_sweep(points=\"unique\", max=200, timeout=60): each GPU allocation of the test fails once, in "
    "a copy of the process (ohm)",
)


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("ohm", "GPU memory (ohm)")
    add = group.addoption
    add("--ohm-gpu", metavar="PROFILE", help="run the session on this virtual GPU: "
        "NAME[,capacity=SIZE][,count=N]; ohm gpus lists the names")
    add("--ohm-values", choices=("none", "known", "cpu"), help="values on the virtual GPU: known (track "
        "which ones are known; default), cpu (compute them on the CPU) or none")
    add("--ohm-peaks", metavar="N", type=_rows, help="show the N tests that take most memory, -1 for all "
        f"(default: {_PEAKS_SHOWN} on a virtual GPU, otherwise 0)")
    add("--ohm-baseline", metavar="FILE", help="compare the figures of each test with this file "
        f"(default: {_BASELINE} in the root folder, with the next two options)")
    add("--ohm-update-baseline", action="store_true", help="write the figures of passed tests to the "
        "baseline")
    add("--ohm-fail-on-increase", action="store_true", help="fail a test whose peak allocated, peak "
        "reserved or left memory exceeds its baseline")
    add("--ohm-allow-unknown-values", action="store_true", help="judge and store figures that depend "
        "on values that were not computed, too")
    add("--ohm-sweep", action="store_true", help="fail each GPU allocation of each test, in copies of "
        "the process")
    add("--ohm-oom-at", metavar="N", type=_positive, help="fail the N-th GPU allocation of each test")


def _rows(text: str) -> int:
    return _whole_number(text, -1)


def _positive(text: str) -> int:
    return _whole_number(text, 1)


def _whole_number(text: str, least: int) -> int:
    with contextlib.suppress(ValueError):
        if int(text) >= least:
            return int(text)
    raise argparse.ArgumentTypeError(f"must be a whole number from {least}, not {text!r}")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: Any, parser: Any, args: List[str]) -> None:
    """Before anything may have imported PyTorch."""
    options = early_config.known_args_namespace
    asks = options.ohm_gpu is not None or options.ohm_values is not None
    if asks and "PYTEST_XDIST_WORKER" not in os.environ:
        from ohm._testing import virtual_gpu

        virtual_gpu.enter(early_config, list(early_config.invocation_params.args))


def pytest_configure(config: Any) -> None:
    for mark in _MARKS:
        config.addinivalue_line("markers", mark)
    options = config.option
    uses_baseline = options.ohm_update_baseline or options.ohm_fail_on_increase
    if uses_baseline and options.ohm_baseline is None:
        options.ohm_baseline = _BASELINE
    is_for_all = _is_on_virtual_gpu() or any(
        getattr(options, name) not in (None, False) for name in _FOR_ALL)
    if not is_for_all:
        config.pluginmanager.register(_Waiting(), "ohm-waiting")
        return
    from ohm._testing.summary import Summary

    known = _baseline(config)
    config.pluginmanager.register(Summary(config, known, _shown(options)), "ohm-summary")
    _measure(config, True, known)


def _is_on_virtual_gpu() -> bool:
    if testing.GPU_VARIABLE not in os.environ:
        return False
    from ohm._testing import virtual_gpu

    return virtual_gpu.is_here()


class _Waiting:
    """A session in which no test asks for anything pays for nothing."""

    def pytest_collection_finish(self, session: Any) -> None:
        if any(marks.is_to_be_measured(item) for item in session.items):
            _measure(session.config, False, None).pytest_collection_finish(session)


def _measure(config: Any, is_for_all: bool, known: Any) -> Any:
    from ohm._testing.measuring import Measuring

    measuring = Measuring(config, is_for_all, known)
    config.pluginmanager.register(measuring, "ohm-measuring")
    return measuring


def _baseline(config: Any) -> Any:
    """What --ohm-baseline names. Raises pytest.UsageError before any test has run."""
    options = config.option
    if not options.ohm_baseline:
        return None
    from ohm._testing import baseline

    path = baseline.named_by(options.ohm_baseline, str(config.rootpath))
    gpu = os.environ.get(testing.GPU_VARIABLE, "this computer's")
    known = baseline.Baseline(path, gpu, is_needed=not options.ohm_update_baseline)
    if options.ohm_update_baseline:
        known.check_can_be_written()
    else:
        known.check_is_of_this_gpu()
    return known


def _shown(options: Any) -> int:
    if options.ohm_peaks is not None:
        return int(options.ohm_peaks)
    return _PEAKS_SHOWN if _is_on_virtual_gpu() else 0


@pytest.fixture
def gpu_memory(request: Any) -> Iterator[Any]:
    """The GPU memory of this test until now: `peak`, `reserved`, `current` and `before` in bytes,
    `snapshot()` and `live_allocations()`."""
    from ohm._testing.fixtures import GpuMemory

    yield GpuMemory(_measuring(request), request.node)


@pytest.fixture
def fail_allocation(request: Any) -> Any:
    """Fails GPU allocations of a block: `with fail_allocation(nth=3, times=1, min_size="1 MiB"): ...`.
    Skips the test where there is no virtual GPU."""
    from ohm._testing.faults import NEEDS_VIRTUAL_GPU, FailAllocation

    if not _is_on_virtual_gpu():
        pytest.skip(NEEDS_VIRTUAL_GPU)
    return FailAllocation(_measuring(request).requests)


def _measuring(request: Any) -> Any:
    measuring = request.config.pluginmanager.getplugin("ohm-measuring")
    if measuring is None or measuring.running is None:
        pytest.fail(f"{request.fixturename}: name it among the test's arguments, so that the test is "
                    "measured from its beginning")
    return measuring
