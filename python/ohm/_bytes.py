"""Sizes as text: "2 GiB" to bytes and back, as the `ohm` command reads and prints them."""
from __future__ import annotations

import math
import re
from typing import Union

_UNITS = {"": 1, "B": 1, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*")


def parse_bytes(size: Union[int, float, str]) -> int:
    """Bytes of 512, "512 MiB" or "1.5GiB". Units are powers of 1024.

    Raises ValueError for anything else, such as a negative number or "2 GB".
    """
    if isinstance(size, (int, float)) and not isinstance(size, bool):
        if not math.isfinite(size) or size < 0 or size != int(size):
            raise ValueError(f"a size is a whole number of bytes, at least 0, not {size!r}")
        return int(size)
    match = _SIZE.fullmatch(size) if isinstance(size, str) else None
    factor = _UNITS.get(match.group(2).upper()) if match else None
    if match is None or factor is None:
        raise ValueError(f'a size is a number of bytes, or text such as "512 MiB" or "2 GiB", not {size!r}')
    return int(float(match.group(1)) * factor) if "." in match.group(1) else int(match.group(1)) * factor


def human_bytes(count: int) -> str:
    """"512 B", "1.50 GiB"; a minus sign in front of what is less than nothing."""
    if count < 0:
        return "-" + human_bytes(-count)
    if count < 1024:
        return f"{count} B"
    value, unit = float(count), ""
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if value < 1024:
            break
    return f"{value:.2f} {unit}"
