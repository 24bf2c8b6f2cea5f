"""The tests that take most memory, at the end of the output."""
from __future__ import annotations

from typing import Any, Dict, List

# user_properties of reports: they reach the controller of xdist, and JUnit's file.
PREFIX = "ohm_"


def set_property(item: Any, name: str, value: Any) -> None:
    """Once of each name, also where a test is run again."""
    item.user_properties[:] = [pair for pair in item.user_properties if pair[0] != PREFIX + name]
    item.user_properties.append((PREFIX + name, value))


def remove_properties(item: Any) -> None:
    if any(pair[0].startswith(PREFIX) for pair in item.user_properties):
        item.user_properties[:] = [pair for pair in item.user_properties
                                   if not pair[0].startswith(PREFIX)]


def properties_of(report: Any) -> Dict[str, Any]:
    return {name[len(PREFIX):]: value for name, value in getattr(report, "user_properties", [])
            if name.startswith(PREFIX)}


def write_table(terminal: Any, rows: Dict[str, Dict[str, Any]], most: int, gpu: str) -> None:
    """`rows`: of each test that used a GPU, its properties."""
    ordered = sorted(rows.items(), key=lambda row: (-row[1]["peak_allocated_bytes"], row[0]))
    if not ordered or most == 0:
        return
    shown = ordered[:most] if most > 0 else ordered
    terminal.write_sep("=", f"GPU memory of {len(ordered)} tests" + (f" on {gpu}" if gpu else ""))
    terminal.write_line(f"{'peak':>12}{'reserved':>12}{'before':>12}{'left':>12}  test")
    for test, row in shown:
        terminal.write_line("".join(f"{cell:>12}" for cell in _cells(row)) + f"  {test}"
                            + ("  (depends on unknown values)" if row.get("unknown_values") else ""))
    if len(shown) < len(ordered):
        terminal.write_line(f"{'':>48}  and {len(ordered) - len(shown)} more (--ohm-peaks -1 shows all)")


def _cells(row: Dict[str, Any]) -> List[str]:
    from ohm._bytes import human_bytes

    names = ("peak_allocated_bytes", "peak_reserved_bytes", "before_bytes", "leaked_bytes")
    return [human_bytes(row[name]) if name in row else "-" for name in names]
