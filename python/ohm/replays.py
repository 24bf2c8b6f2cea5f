"""What if a recorded job had another GPU, or other settings of the allocator."""
from __future__ import annotations

import dataclasses
from typing import Any, Dict, List, Sequence, Union

from ohm import _html
from ohm._bytes import human_bytes, parse_bytes
from ohm._command import run_json
from ohm._inputs import Recording, recording_file

Size = Union[int, str]


@dataclasses.dataclass(frozen=True)
class WhatIf:
    """One device of the recording, with one capacity and one choice of settings."""

    device: int
    capacity_bytes: int  # of the device, for this process
    settings: str  # PYTORCH_CUDA_ALLOC_CONF
    fits: bool  # no request fails
    peak_allocated_bytes: int  # until the end, or until the request that fails
    peak_reserved_bytes: int
    retries: int  # requests for which cached segments were given back
    stranded_bytes: int  # free in segments that are partly used, at the peak
    failure: str  # PyTorch's message; empty where it fits


@dataclasses.dataclass(frozen=True)
class Replay:
    """All replays of one recording; `report` is the command's JSON (schema ohm.replay/1)."""

    agrees: bool  # the allocator makes what was recorded of the recorded requests
    what_ifs: List[WhatIf]
    report: Dict[str, Any] = dataclasses.field(repr=False)

    def _repr_html_(self) -> str:
        return _html.table(("capacity", "settings", "fits", "peak allocated", "peak reserved"), (
            (human_bytes(run.capacity_bytes), run.settings or "default", "yes" if run.fits else "no",
             human_bytes(run.peak_allocated_bytes), human_bytes(run.peak_reserved_bytes))
            for run in self.what_ifs))


def replay(x: Recording, *, capacity: Union[Size, Sequence[Size], None] = None,
           gpu: Union[str, Sequence[str], None] = None,
           conf: Union[str, Sequence[str], None] = None) -> Replay:
    """Replays a recording through PyTorch's allocator.

    `x` is the path of a snapshot, or the snapshot (torch.cuda.memory._snapshot()). `capacity` is the
    memory of the device for the process, in bytes or as "24 GiB"; `gpu` the name of a virtual GPU;
    `conf` the allocator's settings (PYTORCH_CUDA_ALLOC_CONF). Each may be a list: every capacity and
    GPU is replayed with each of the settings. Without any of them only `agrees` is found.

    Raises OhmError where the recording cannot be replayed, and ValueError for a size that is none.
    """
    options: List[str] = []
    for size in _listed(capacity):
        options += ["--capacity", str(parse_bytes(size))]
    for name in _listed(gpu):
        options += ["--gpu", str(name)]
    for settings in _listed(conf):
        options += ["--alloc-conf", str(settings)]
    with recording_file(x) as path:
        report = run_json(["replay", path, *(options or ["--verify"]), "--report", "json=-"],
                          accepted=(0, 1))
    return Replay(all(device["agrees"] for device in report["devices"]),
                  [_what_if(row) for row in report["what_ifs"]], report)


def _listed(value: Any) -> List[Any]:
    if value is None:
        return []
    return [value] if isinstance(value, (str, int, float)) else list(value)


def _what_if(row: Dict[str, Any]) -> WhatIf:
    return WhatIf(
        device=row["device"], capacity_bytes=row["capacity_bytes"], settings=row["settings"],
        fits=row["fits"], peak_allocated_bytes=row["peak_allocated_bytes"],
        peak_reserved_bytes=row["peak_reserved_bytes"], retries=row["retries"],
        stranded_bytes=row["stranded_bytes"], failure=(row["failure"] or {}).get("message", ""))
