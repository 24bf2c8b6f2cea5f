"""Records what PyTorch's caching allocator does in this process: one snapshot, as
torch.cuda.memory._dump_snapshot writes it, and beside it what else is known of the process.

The folder to write to is in $OHM_RECORD; each process that uses CUDA writes PID.json when its CUDA
is initialized (so that one which is killed is known), and PID.pickle and PID.json again when it
ends; a program that becomes another one, and uses CUDA again, PID-2.json. Blocks of parameters,
gradients and optimizer state are marked with their category, under the key that ohm's own snapshots
have for it.

Nothing here may change what the program does: errors are noted in the JSON, never raised.
"""
import atexit
import bisect
import collections
import contextlib
import ctypes
import functools
import gc
import importlib.util
import json
import os
import pickle
import sys
import threading
import time
import traceback
import types

FOLDER_VARIABLE = "OHM_RECORD"
EVENTS_VARIABLE = "OHM_RECORD_EVENTS"
DEFAULT_EVENTS = 200_000

# Of torch.cuda.memory_stats.
PEAKS = ("allocated_bytes", "reserved_bytes", "requested_bytes")
COUNTS = ("num_ooms", "num_alloc_retries", "num_device_alloc")

# Of memory that optimizer steps use, the moments that are kept: the first ones and the last ones.
FIRST_MOMENTS = 16
LAST_MOMENTS = 64


def record_when_torch_is_imported():
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return
    recorder = Recorder(folder)
    sys.meta_path.insert(0, TorchFinder(recorder))
    # The first to be registered is the last to run: what others do at the end is recorded, too.
    atexit.register(recorder.on_exit)


class TorchFinder:
    """Finds torch where it is, once, and tells the recorder (or whoever waits) after its import."""

    def __init__(self, recorder):
        self.recorder = recorder

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            self._follow_import(spec.loader)
        return spec

    def _follow_import(self, loader):
        execute = loader.exec_module

        def exec_module(module):
            vars(loader).pop("exec_module", None)  # another one that waits may have done so
            execute(module)
            self.recorder.wait_for_cuda(module)

        loader.exec_module = exec_module


def noting_errors(method):
    """The program goes on, whatever happens to the recorder."""

    @functools.wraps(method)
    def call(self, *arguments, **named):
        try:
            return method(self, *arguments, **named)
        except Exception:
            self.problems.append(traceback.format_exc())
            return None

    return call


class Recorder:
    def __init__(self, folder):
        self.folder = folder
        self.torch = None
        self.most_events = DEFAULT_EVENTS
        self.start_folder = ""
        self.process = None  # that has initialized CUDA; a fork of it has another number
        self.name = ""  # of its files
        self.program_records = False  # the program has asked for a history of its own
        self.problems = []
        self.error = None
        self.peaks = {}  # (device, statistic) -> the largest before the program reset it
        self.counts = collections.Counter()  # (device, statistic) -> the sum before it did
        self.first_moments = []  # (time in microseconds, {address: category})
        self.last_moments = collections.deque(maxlen=LAST_MOMENTS)

    @noting_errors
    def wait_for_cuda(self, torch):
        self.torch = torch
        if torch.version.cuda is None:
            return
        torch.cuda._lazy_call(self._start)
        self._follow_program_history()
        self._follow_errors_of_processes()

    @noting_errors
    def _start(self):
        """CUDA is there, and nothing has been allocated yet."""
        self.process = os.getpid()
        self._choose_name()
        self._write_summary(ended=False)
        if os.environ.get("PYTORCH_NO_CUDA_MEMORY_CACHING"):
            self.problems.append(
                "PYTORCH_NO_CUDA_MEMORY_CACHING is set: no memory goes through the allocator"
            )
            self._write_summary(ended=False)
            return
        self._read_environment()
        self._follow_statistics()
        self._follow_optimizers()
        self._follow_end()
        self._record_history()
        self._write_summary(ended=False)

    @noting_errors
    def _read_environment(self):
        self.start_folder = os.getcwd()
        self.most_events = int(os.environ.get(EVENTS_VARIABLE, DEFAULT_EVENTS))

    @noting_errors
    def _record_history(self):
        if not self.program_records:
            self.record_memory_history("all", context="all", stacks="python",
                                       max_entries=self.most_events)
        self.torch._C._cuda_attach_out_of_memory_observer(self._on_out_of_memory)

    # ---- what is followed ----

    def _follow_program_history(self):
        """A history that the program has asked for stays the one that it asked for."""
        memory = self.torch.cuda.memory
        self.record_memory_history = memory._record_memory_history

        @functools.wraps(self.record_memory_history)
        def record_memory_history(enabled="all", *arguments, **named):
            self.program_records = True
            return self.record_memory_history(enabled, *arguments, **named)

        memory._record_memory_history = record_memory_history

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
        optimizer.register_optimizer_step_post_hook(self._on_step)

    def _follow_end(self):
        exit_at_once = os._exit

        def exit_after_writing(status):
            self.on_exit()
            exit_at_once(status)

        os._exit = exit_after_writing
        report = threading.excepthook

        def excepthook(arguments):
            if arguments.exc_value is not None:
                self._note_error(arguments.exc_value)
            report(arguments)

        threading.excepthook = excepthook

    @noting_errors
    def _note_error(self, error):
        trace = traceback.extract_tb(error.__traceback__)
        frames = [frame for frame in trace if not is_of_library(frame.filename, self.torch)]
        self.error = {
            "type": type(error).__name__,
            "message": str(error),
            "file": frames[-1].filename if frames else "",
            "line": (frames[-1].lineno or 0) if frames else 0,
            "out_of_memory": isinstance(error, self.torch.cuda.OutOfMemoryError),
        }

    def _on_step(self, optimizer, *_):
        self._note_addresses([], [optimizer])

    def _on_out_of_memory(self, *_):
        # Of a program that catches the error again and again the first ones are of interest.
        if len(self.first_moments) < FIRST_MOMENTS:
            self._note_addresses(*modules_and_optimizers(self.torch))

    @noting_errors
    def on_exit(self):
        if self.process is None or self.process != os.getpid():
            return
        self.process = None
        # Set when an error leaves the program, whoever prints it.
        last_error = getattr(sys, "last_value", None)
        if last_error is not None:
            self._note_error(last_error)
        self._write_snapshot()
        self._write_summary(ended=True)
        if isinstance(last_error, KeyboardInterrupt):
            end_as_interrupted()

    @noting_errors
    def _write_snapshot(self):
        if self.problems:
            return
        self._note_addresses(*modules_and_optimizers(self.torch))
        self._keep_peaks()
        with no_compiled_code():
            snapshot = self.torch.cuda.memory._snapshot()
        mark_categories(snapshot, self.first_moments + list(self.last_moments))
        self._write("pickle", pickle.dumps(snapshot, protocol=4))

    # ---- what is known ----

    @noting_errors
    def _note_addresses(self, modules, optimizers):
        categories = {}
        for optimizer in optimizers:
            note_optimizer(self.torch, optimizer, categories)
        for module in modules:
            note_parameters(module._parameters.values(), categories)
        moments = self.first_moments
        if len(moments) >= FIRST_MOMENTS:
            moments = self.last_moments
        moments.append((time.time_ns() // 1000, categories))

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
        while os.path.exists(self._path("json")):
            ordinal += 1
            self.name = f"{os.getpid()}-{ordinal}"

    def _path(self, extension):
        return os.path.join(self.folder, f"{self.name}.{extension}")

    @noting_errors
    def _write_summary(self, ended):
        summary = {
            "pid": os.getpid(),
            "arguments": list(getattr(sys, "argv", [])),
            "folder": self.start_folder,
            "rank": os.environ.get("RANK", ""),
            "torch": str(self.torch.__version__),
            "ended": ended,
            "most_events": self.most_events,
            "devices": self._statistics() if ended else [],
            "error": self.error,
            "problems": self.problems,
        }
        self._write("json", json.dumps(printable(summary)).encode())

    def _write(self, extension, content):
        path = self._path(extension)
        try:
            with open(path + ".part", "wb") as file:
                file.write(content)
            os.replace(path + ".part", path)
        except OSError as error:
            sys.stderr.write(f"ohm: what was recorded cannot be written: {error}\n")
            if os.path.exists(path + ".part"):
                os.remove(path + ".part")
            raise


def modelled_names(device):
    """What the figures rest on that only a real GPU's libraries know: the virtual GPU tells. A real
    one has nothing to tell."""
    tell = getattr(ctypes.CDLL(None), "ohm_modelled", None)
    if tell is None:
        return []
    tell.restype = ctypes.c_char_p
    return tell(device).decode().split()


def is_of_library(path, torch):
    """PyTorch's own files, and others that were installed."""
    return "-packages" + os.sep in path or path.startswith(os.path.dirname(torch.__file__))


def end_as_interrupted():
    """Python ends itself by SIGINT after an interrupt that nobody handled, unless text was compiled
    and run since, which a snapshot makes PyTorch do."""
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        pass


def printable(value):
    """Names of files may hold bytes that are no text."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {key: printable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [printable(item) for item in value]
    return value


@contextlib.contextmanager
def no_compiled_code():
    """A snapshot looks into the frames of compiled code, for which it would import the compiler into
    a program that has not: that takes a second, and makes a folder."""
    name = "torch._inductor.codecache"
    if name in sys.modules:
        yield
        return
    stand_in = types.ModuleType(name)
    stand_in.PyCodeCache = types.SimpleNamespace(stack_frames_for_code=lambda path, line: None)
    sys.modules[name] = stand_in
    try:
        yield
    finally:
        del sys.modules[name]


# ---- categories ---------------------------------------------------------------------------------


def modules_and_optimizers(torch):
    """All that are alive. Asks for no attribute of strangers' objects: some act when asked."""
    modules, optimizers = [], []
    for thing in gc.get_objects():
        ancestors = type(thing).__mro__
        if torch.nn.Module in ancestors:
            modules.append(thing)
        elif torch.optim.Optimizer in ancestors:
            optimizers.append(thing)
    return modules, optimizers


def note_address(tensor, category, categories):
    """By the storage's address, which is the block's. What knows a tensor best says so first."""
    try:
        if tensor.is_cuda:
            categories.setdefault(tensor.untyped_storage().data_ptr(), category)
    except (AttributeError, NotImplementedError, RuntimeError):
        pass  # without a storage: a tensor of a subclass, a fake one


def note_parameters(parameters, categories):
    for parameter in parameters:
        if parameter is None:
            continue
        note_address(parameter, "parameter", categories)
        if parameter.grad is not None:
            note_address(parameter.grad, "gradient", categories)


def note_optimizer(torch, optimizer, categories):
    for group in optimizer.param_groups:
        note_parameters(group["params"], categories)
    for state in list(optimizer.state.values()):
        for value in state.values() if isinstance(state, dict) else ():
            if isinstance(value, torch.Tensor):
                note_address(value, "optimizer_state", categories)


def mark_categories(snapshot, moments):
    """Gives the allocations of these addresses, at these times, their category."""
    wanted = {address for _, categories in moments for address in categories}
    for trace in snapshot["device_traces"]:
        allocations = collections.defaultdict(list)  # address -> entries, the oldest first
        for entry in trace:
            if entry["action"] == "alloc" and entry["addr"] in wanted:
                allocations[entry["addr"]].append(entry)
        for moment, categories in moments:
            mark_allocations(allocations, moment, categories)
    if not moments:
        return
    at_end = moments[-1][1]
    for segment in snapshot["segments"]:
        for block in segment["blocks"]:
            category = at_end.get(block.get("address"))
            if category and block["state"].startswith("active"):
                block["category"] = category


def mark_allocations(allocations, moment, categories):
    for address, category in categories.items():
        entries = allocations.get(address)
        if not entries:
            continue
        times = [entry["time_us"] for entry in entries]
        last = bisect.bisect_right(times, moment) - 1
        if last >= 0:
            entries[last].setdefault("category", category)
