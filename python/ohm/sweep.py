"""What `ohm sweep -- COMMAND` compares between the fault-free run and the others."""
from __future__ import annotations

import sys
from typing import Any


def state(**values: Any) -> None:
    """Names values that must equal those of the fault-free run: tensors by their bits, anything
    else by its repr(), in lists and dicts, too. The last value of each name counts.

    Does nothing outside of a sweep.
    """
    on_virtual_gpu = sys.modules.get("ohm_state")
    if on_virtual_gpu is not None:
        on_virtual_gpu.state(**values)
