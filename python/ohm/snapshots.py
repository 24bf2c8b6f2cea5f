"""Memory snapshots as columns."""
from __future__ import annotations

import dataclasses
import json
import os
import tempfile
from typing import TYPE_CHECKING, Any, Dict, List, Tuple

from ohm import _html
from ohm._bytes import human_bytes
from ohm._command import run
from ohm._inputs import Recording, recording_file

if TYPE_CHECKING:
    import numpy
    import numpy.typing

    Column = numpy.typing.NDArray[Any]

Frame = Tuple[str, int, str]  # file, line, function

# The rows of reports/json/snapshot_columns.h.
_ROW = [("address", "<u8"), ("bytes", "<u8"), ("time_us", "<i8"), ("stack", "<u4"), ("detail", "<u4")]
_DETAIL_BITS = 28


@dataclasses.dataclass(frozen=True)
class DeviceEvents:
    """The events of one device, oldest first; arrays of equal length."""

    action: "Column"  # index into Snapshot.actions
    address: "Column"  # of oom: the free bytes of the device
    bytes: "Column"  # requested of a block; of a segment all; of oom the rounded request
    time_us: "Column"  # since the epoch; the smallest integer where it was not recorded
    stack: "Column"  # a number for Snapshot.frames()
    stream: "Column"

    def __len__(self) -> int:
        return len(self.action)


@dataclasses.dataclass(frozen=True)
class Blocks:
    """What segments hold at the end; arrays of equal length."""

    device: "Column"
    address: "Column"
    bytes: "Column"
    requested_bytes: "Column"
    state: "Column"  # 0 active_allocated, 1 active_pending_free, 2 inactive
    stack: "Column"  # a number for Snapshot.frames()
    category: "Column"  # text; empty where it was not recorded

    def __len__(self) -> int:
        return len(self.address)


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """A snapshot of PyTorch's allocator: events and blocks."""

    actions: List[str]  # names: alloc, free_requested, free_completed, segment_alloc, …
    events: List[DeviceEvents]  # index: device
    blocks: Blocks
    reserved_bytes: int  # in all segments at the end
    _frames: List[Frame] = dataclasses.field(repr=False)
    _stacks: Dict[int, List[int]] = dataclasses.field(repr=False)

    def frames(self, stack: int) -> List[Frame]:
        """(file, line, function) of a stack, the innermost frame first; empty where none was recorded."""
        return [self._frames[frame] for frame in self._stacks.get(int(stack), [])]

    def allocated(self, device: int = 0) -> "Column":
        """Requested bytes of this device's blocks after each event, less what was alive before the
        first one."""
        import numpy

        events = self.events[device]
        names = {name: index for index, name in enumerate(self.actions)}
        signed = events.bytes.astype(numpy.int64)
        change = numpy.where(events.action == names["alloc"], signed, 0)
        return numpy.cumsum(change - numpy.where(events.action == names["free_completed"], signed, 0))

    def _repr_html_(self) -> str:
        return _html.table(("device", "events", "blocks", "allocated at the end"), (
            (device, len(events), int((self.blocks.device == device).sum()),
             human_bytes(int(self.blocks.bytes[(self.blocks.device == device)
                                               & (self.blocks.state == 0)].sum())))
            for device, events in enumerate(self.events)))


def read_snapshot(recording: Recording) -> Snapshot:
    """Reads a snapshot (torch.cuda.memory._dump_snapshot, ohm record, ohm run --snapshot): a path, or
    what torch.cuda.memory._snapshot() returns. Nothing in the file is executed, unlike by pickle.

    Needs NumPy. Raises OhmError for a file that is no snapshot, FileNotFoundError where there is none.
    """
    import numpy

    with recording_file(recording) as path, tempfile.TemporaryDirectory(
            prefix="ohm-columns-", dir=_memory_folder(path)) as folder:
        columns = os.path.join(folder, "columns")
        run(["report", path, "--columns", columns])
        with open(columns, "rb") as file:
            line = file.readline()
        header = json.loads(line)
        rows = numpy.memmap(columns, dtype=_ROW, mode="c", offset=len(line),
                            shape=(sum(header["events"]),)) if sum(header["events"]) else \
            numpy.zeros(0, dtype=_ROW)
    return _snapshot(header, rows)  # the mapping outlives the file


def _memory_folder(path: str) -> Any:
    """Where there is room for the columns, which are smaller than the file: shared memory, else the
    folder of temporary files."""
    try:
        room = os.statvfs("/dev/shm")
        if room.f_bavail * room.f_frsize > 2 * os.path.getsize(path) and os.access("/dev/shm", os.W_OK):
            return "/dev/shm"
    except OSError:
        pass
    return None


def _snapshot(header: Dict[str, Any], rows: Any) -> Snapshot:
    import numpy

    streams = numpy.array([row[0] for row in header["details"]] or [0], dtype=numpy.int64)
    events, first = [], 0
    for count in header["events"]:
        part = rows[first:first + count]
        first += count
        events.append(DeviceEvents(
            action=(part["detail"] >> _DETAIL_BITS).astype(numpy.uint8), address=part["address"],
            bytes=part["bytes"], time_us=part["time_us"], stack=part["stack"],
            stream=streams[part["detail"] & ((1 << _DETAIL_BITS) - 1)]))
    return Snapshot(
        actions=header["actions"], events=events, blocks=_blocks(header),
        reserved_bytes=sum(row[2] for row in header["segments"]),
        _frames=[tuple(row) for row in header["frames"]],
        _stacks={row[0]: row[1:] for row in header["stacks"]})


def _blocks(header: Dict[str, Any]) -> Blocks:
    import numpy

    rows = header["blocks"]
    devices = [row[0] for row in header["segments"]]

    def column(index: int, dtype: Any) -> Any:
        return numpy.array([row[index] for row in rows], dtype=dtype)

    return Blocks(
        device=numpy.array([devices[row[0]] for row in rows], dtype=numpy.int32),
        address=column(1, numpy.uint64), bytes=column(2, numpy.uint64),
        requested_bytes=column(3, numpy.uint64), state=column(4, numpy.uint8),
        stack=column(5, numpy.uint32), category=column(6, str) if rows else numpy.array([], dtype=str))
