"""The virtual GPUs."""
from __future__ import annotations

import dataclasses
from typing import List, Tuple

from ohm import _html
from ohm._bytes import human_bytes
from ohm._command import run_json


@dataclasses.dataclass(frozen=True)
class Gpu:
    """A virtual GPU; its name is what `gpu=` and `--gpu` take."""

    name: str
    product: str  # as nvidia-smi prints it; empty: no card
    capacity_bytes: int
    capacity_is_exact: bool  # as a card reports it, not as its data sheet rounds it
    context_bytes: int  # that a process takes beside PyTorch's memory
    context_is_measured: bool  # on such a card; otherwise assumed
    compute_capability: Tuple[int, int]
    multiprocessors: int
    l2_cache_bytes: int  # 0: not known
    source: str  # of the capacity

    def __str__(self) -> str:
        return f"{self.name} of {human_bytes(self.capacity_bytes)}"


class Gpus(List[Gpu]):
    """A list that notebooks show as a table."""

    def _repr_html_(self) -> str:
        return _html.table(("name", "capacity", "context", "compute", "SMs"), (
            (gpu.name, human_bytes(gpu.capacity_bytes), human_bytes(gpu.context_bytes),
             ".".join(map(str, gpu.compute_capability)), gpu.multiprocessors) for gpu in self))


def gpus() -> Gpus:
    """All virtual GPUs, as `ohm gpus` lists them. Raises OhmError where there is no command."""
    return Gpus(Gpu(**{**row, "compute_capability": tuple(row["compute_capability"])})
                for row in run_json(["gpus", "--json"]))
