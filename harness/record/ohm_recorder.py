"""Records what PyTorch's caching allocator does in this process: one snapshot, as
torch.cuda.memory._dump_snapshot writes it, and beside it what else is known of the process.

The folder to write to is in $OHM_RECORD; each process that uses CUDA writes PID.json when its CUDA
is initialized (so that one which is killed is known), and PID.pickle and PID.json again when it
ends; a program that becomes another one, and uses CUDA again, PID-2.json. Blocks of parameters,
gradients and optimizer state are marked with their category, under the key that ohm's own snapshots
have for it.

Nothing here may change what the program does: errors are noted in the JSON, never raised.
"""
import collections
import ctypes
import functools
import json
import os
import pickle
import sys
import threading
import traceback

from ohm_forward_calls import running_call
from ohm_growth_looks import GrowthLooks, fullest_device
from ohm_holders import Holders
from ohm_process import ProcessRecorder, end_as_interrupted, noting_errors
from ohm_program_frames import frames_of_error, program_frames_of
from ohm_protocol import message_of
from ohm_record_files import RecordFolder
from ohm_values import not_computed, note_end, unknown_reads

# Of torch.cuda.memory_stats.
PEAKS = ("allocated_bytes", "reserved_bytes", "requested_bytes")
MOST_LOOKS = 4  # when memory ran out
COUNTS = ("num_ooms", "num_alloc_retries", "num_device_alloc")


def without_errors(look):
    """What keeps memory alive is told where it can be: without it the record is whole all the same."""

    @functools.wraps(look)
    def look_or_not(*arguments):
        try:
            look(*arguments)
        except Exception:
            return

    return look_or_not


class Recorder(ProcessRecorder):
    def __init__(self, folder):
        super().__init__()
        self.folder = RecordFolder(folder)
        self.rank = ""
        self.name = ""  # of its files
        self.error = None
        self.holders = None  # what looks for them
        self.growth_looks = None
        self.looks = 0
        self.held = None  # what they held when memory ran out, or else in a step or at the end
        self.peaks = {}  # (device, statistic) -> the largest before the program reset it
        self.counts = collections.Counter()  # (device, statistic) -> the sum before it did

    @noting_errors
    def wait_for_cuda(self, torch):
        super().wait_for_cuda(torch)
        if torch.version.cuda is not None:
            self._follow_errors_of_processes()

    def start(self):
        end_native_record()
        self.folder.open()
        self._choose_name()
        self._read_environment()
        self._write_summary(ended=False)
        if not self.has_history():
            self._write_summary(ended=False)
            return
        self._follow_statistics()
        self._follow_optimizers()
        self._follow_end()
        self._follow_holders()
        self._record_history()
        self._write_summary(ended=False)

    @noting_errors
    def _read_environment(self):
        self.rank = os.environ.get("RANK", "")
        self.read_events_variable()

    @without_errors
    def _follow_holders(self):
        main = sys.modules.get("__main__")
        self.holders = Holders(self.torch, self.started_in.files(), getattr(main, "__file__", None) or "")
        self.growth_looks = GrowthLooks(self.torch, self.holders)
        self.growth_looks.follow_growth(self._look_in_growth)

    @noting_errors
    def _record_history(self):
        self.record_history("all")
        self.torch._C._cuda_attach_out_of_memory_observer(self._on_out_of_memory)

    # ---- what is followed ----

    def _follow_errors_of_processes(self):
        """Those that multiprocessing prints itself, before any hook sees them."""
        import multiprocessing.process

        run = multiprocessing.process.BaseProcess.run

        @functools.wraps(run)
        def run_noting_errors(process):
            try:
                return run(process)
            except Exception as error:
                self._note_error(error)
                raise

        multiprocessing.process.BaseProcess.run = run_noting_errors

    def _follow_statistics(self):
        """Figures outlive the program's resetting them."""
        c = self.torch._C
        reset_peaks = c._cuda_resetPeakMemoryStats
        reset_counts = c._cuda_resetAccumulatedMemoryStats

        def after_keeping_peaks(device):
            self._keep_peaks()
            return reset_peaks(device)

        def after_keeping_counts(device):
            self._keep_counts()
            return reset_counts(device)

        c._cuda_resetPeakMemoryStats = after_keeping_peaks
        c._cuda_resetAccumulatedMemoryStats = after_keeping_counts

    def _follow_optimizers(self):
        from torch.optim import optimizer

        optimizer.register_optimizer_step_pre_hook(self._on_step)
        optimizer.register_optimizer_step_post_hook(self._after_step)
        self._follow_new_optimizers(optimizer.Optimizer)

    def _follow_new_optimizers(self, optimizer_class):
        init = optimizer_class.__init__

        @functools.wraps(init)
        def init_noting(optimizer, *arguments, **named):
            init(optimizer, *arguments, **named)
            self._note_optimizer(optimizer)

        optimizer_class.__init__ = init_noting

    @without_errors
    def _note_optimizer(self, optimizer):
        if self.holders is not None:
            self.holders.trainings.note_optimizer(optimizer)

    def _follow_end(self):
        self.follow_ends()
        report = threading.excepthook

        def excepthook(arguments):
            if arguments.exc_value is not None:
                self._note_error(arguments.exc_value)
            report(arguments)

        threading.excepthook = excepthook

    @noting_errors
    def _note_error(self, error):
        trace = traceback.extract_tb(error.__traceback__)
        note_end(error, [(frame.filename, frame.lineno) for frame in trace])
        frame = self.started_in.files().named(trace[::-1], lambda frame: frame.filename)
        self.error = {
            "type": type(error).__name__,
            "message": str(error),
            "file": frame.filename if frame else "",
            "line": (frame.lineno or 0) if frame else 0,
            "out_of_memory": isinstance(error, self.torch.cuda.OutOfMemoryError),
        }

    def _on_step(self, optimizer, *_):
        self.note_addresses(optimizer)

    def _after_step(self, optimizer, *_):
        self._on_step(optimizer)
        self._look_in_step(optimizer)

    @without_errors
    def _look_in_step(self, optimizer):
        if self.holders is not None:
            self.holders.trainings.note_step(optimizer)
        # What was held when memory ran out says more.
        if self.growth_looks is not None and self.held is None:
            self.growth_looks.after_step()

    @without_errors
    def _look_in_growth(self):
        if self.held is None and self.process == os.getpid():
            self.growth_looks.after_growth()

    def _on_out_of_memory(self, device=0, *_):
        if not self.moments.has_first():
            self.note_all_addresses()
        self._look_when_out_of_memory(device)

    @without_errors
    def _look_when_out_of_memory(self, device):
        if self.holders is None or self.looks >= MOST_LOOKS:
            return
        self.looks += 1
        files = self.holders.files
        frames = list(sys._current_frames().values())
        own = sys._getframe()
        frames.sort(key=lambda frame: not is_below(own, frame))
        program = [one for frame in frames for one in program_frames_of(files, frame)]
        held = self.holders.look(device, program, seeks_cycles=True)
        self.held = {"moment": "oom", "call": running_call(self.torch, files, frames), **held}

    @without_errors
    def _look_at_end(self, error):
        """Where it has not run out of memory. What more was held in a step is of functions that returned."""
        if self.held is not None or self.holders is None:
            return
        frames = frames_of_error(self.holders.files, error) if error is not None else []
        at_end = self.holders.look(fullest_device(self.torch), frames, seeks_cycles=True)
        moment, held = self.growth_looks.shown(at_end)
        self.held = {"moment": moment, "call": None, **held}

    def end(self):
        # Set when an error leaves the program, whatever prints it.
        last_error = getattr(sys, "last_value", None)
        if last_error is not None:
            self._note_error(last_error)
        self._look_at_end(last_error)
        self._keep_peaks()
        devices = self._statistics()
        self._write_snapshot()
        self._write_summary(ended=True, devices=devices)
        if isinstance(last_error, KeyboardInterrupt):
            end_as_interrupted()

    @noting_errors
    def _write_snapshot(self):
        if self.problems:
            return
        snapshot = self.last_snapshot()
        self._write("pickle", pickle.dumps(snapshot, protocol=4))

    # ---- what is known ----

    @noting_errors
    def _keep_peaks(self):
        for device in range(self.torch.cuda.device_count()):
            statistics = self.torch.cuda.memory_stats(device)
            for name, value in statistics.items():
                if name.endswith(".all.peak"):
                    known = self.peaks.get((device, name), 0)
                    self.peaks[device, name] = max(known, value)

    @noting_errors
    def _keep_counts(self):
        for device in range(self.torch.cuda.device_count()):
            statistics = self.torch.cuda.memory_stats(device)
            for name in COUNTS:
                self.counts[device, name] += statistics.get(name, 0)

    @noting_errors
    def _statistics(self):
        """Of each device, in the words of torch.cuda.memory_stats."""
        devices = []
        for device in range(self.torch.cuda.device_count()):
            now = self.torch.cuda.memory_stats(device)
            row = {"modelled": modelled_names(device)}
            for name in PEAKS:
                row[f"peak_{name}"] = self.peaks.get((device, f"{name}.all.peak"), 0)
            row["allocated_at_end_bytes"] = now.get("allocated_bytes.all.current", 0)
            for name in COUNTS:
                row[name] = self.counts[device, name] + now.get(name, 0)
            properties = self.torch.cuda.get_device_properties(device)
            row["name"] = properties.name
            row["capacity_bytes"] = properties.total_memory
            devices.append(row)
        return devices

    # ---- what is written ----

    def _choose_name(self):
        """A program that becomes another one keeps its number."""
        ordinal, self.name = 1, str(os.getpid())
        while os.path.exists(os.path.join(self.folder.path, f"{self.name}.json")):
            ordinal += 1
            self.name = f"{os.getpid()}-{ordinal}"

    @noting_errors
    def _write_summary(self, ended, devices=None):
        summary = {
            "pid": os.getpid(),
            "arguments": list(getattr(sys, "argv", [])),
            "folder": self.started_in.folder,
            "user_folders": self.started_in.folders(),
            "rank": self.rank,
            "torch": str(self.torch.__version__),
            "ended": ended,
            "most_events": self.most_events,
            "devices": devices or [],
            "error": self.error,
            "held": self.held,
            "unknown_values": unknown_reads(),
            "not_computed": not_computed(),
            "problems": self.problems,
        }
        self._write("json", json.dumps(message_of(printable(summary))).encode())

    def _write(self, extension, content):
        self.folder.write(f"{self.name}.{extension}", content)


def is_below(frame, outer):
    while frame is not None and frame is not outer:
        frame = frame.f_back
    return frame is not None


@without_errors
def end_native_record():
    """PyTorch's own events say more than the requests of its allocator."""
    ctypes.CDLL(None).ohm_end_record()


def modelled_names(device):
    """What the figures rest on that only a real GPU's libraries know: the virtual GPU tells. A real
    one has nothing to tell."""
    tell = getattr(ctypes.CDLL(None), "ohm_modelled", None)
    if tell is None:
        return []
    tell.restype = ctypes.c_char_p
    return tell(device).decode().split()


def printable(value):
    """Names of files may hold bytes that are no text."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {key: printable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [printable(item) for item in value]
    return value
