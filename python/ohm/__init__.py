"""GPU memory of PyTorch programs without the GPU: the `ohm` command from Python.

Sizes are bytes, or text such as "24 GiB". Errors of the command are OhmError, with its exit code.
Importing this imports neither PyTorch nor NumPy. docs/python.md has examples.
"""
TYPE_CHECKING = False  # typing is not imported for it
if TYPE_CHECKING:
    from typing import Any, List

    from ohm._command import OhmError as OhmError
    from ohm.estimates import Estimate as Estimate, LiveMemory as LiveMemory, estimate as estimate
    from ohm.explanations import Explanation as Explanation, why as why
    from ohm.fits import Fit as Fit, FitRow as FitRow, fit as fit
    from ohm.profiles import Gpu as Gpu, Gpus as Gpus, gpus as gpus
    from ohm.replays import Replay as Replay, WhatIf as WhatIf, replay as replay
    from ohm.snapshots import (
        Blocks as Blocks, DeviceEvents as DeviceEvents, Snapshot as Snapshot,
        read_snapshot as read_snapshot)

# Name -> module. Imported when it is first used, as the pytest plugin is in every session.
_HOMES = {
    "OhmError": "_command",
    "Estimate": "estimates", "LiveMemory": "estimates", "estimate": "estimates",
    "Explanation": "explanations", "why": "explanations",
    "Fit": "fits", "FitRow": "fits", "fit": "fits",
    "Gpu": "profiles", "Gpus": "profiles", "gpus": "profiles",
    "Replay": "replays", "WhatIf": "replays", "replay": "replays",
    "Blocks": "snapshots", "DeviceEvents": "snapshots", "Snapshot": "snapshots",
    "read_snapshot": "snapshots",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> 'Any':
    if name not in _HOMES:
        raise AttributeError(f"module 'ohm' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"ohm.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> 'List[str]':
    return sorted({*globals(), *_HOMES})
