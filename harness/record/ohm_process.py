"""What recorders of a Python process have in common: PyTorch is waited for, a history that the
program itself asks for is left to it, and the end is not missed."""
import atexit
import contextlib
import errno
import functools
import os
import signal
import sys
import threading
import traceback
import types

from ohm_categories import (
    Moments, active_blocks, mark_by_address, mark_categories, mark_lines, modules_and_optimizers,
    stacks_of)
from ohm_console import say
from ohm_imports import when_imported
from ohm_memory import without_collections
from ohm_protocol import RECORD_EVENTS_VARIABLE, RECORD_NAMES_VARIABLE
from ohm_sources import Lines, is_own, program_frames
from ohm_user_files import StartedIn, note_folders

DEFAULT_EVENTS = 200_000
# Known to cut_history (reports/history).
DROPPED_NAME = "dropped events"


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


class ProcessRecorder:
    """Of this process: start() is called when CUDA is there and nothing has been allocated yet,
    end() once, when the process that did that ends. Nothing here may change what the program does:
    errors are kept as problems, never raised."""

    command = "ohm exec"

    def __init__(self):
        self.torch = None
        self.most_events = DEFAULT_EVENTS
        self.process = None  # that has initialized CUDA; a fork of it has another number
        self.program_records = False  # the program has asked for a history of its own
        self.problems = []
        self.moments = Moments()
        self.started_in = StartedIn()

    def record_when_torch_is_imported(self):
        when_imported("torch", self.wait_for_cuda)
        # The first to be registered is the last to run: what others do at the end is recorded, too.
        atexit.register(self.on_exit)

    @noting_errors
    def wait_for_cuda(self, torch):
        self.torch = torch
        if torch.version.cuda is None:
            return
        torch.cuda._lazy_call(self._on_cuda)
        self._follow_program_history()

    @noting_errors
    def _on_cuda(self):
        self.process = os.getpid()
        self.start()

    @noting_errors
    def on_exit(self):
        if self.process is None or self.process != os.getpid():
            return
        self.process = None
        self.end()

    @noting_errors
    def read_events_variable(self):
        self.most_events = int(os.environ.get(RECORD_EVENTS_VARIABLE, DEFAULT_EVENTS))

    def has_history(self):
        """Whether memory goes through PyTorch's own allocator."""
        backend = self.torch.cuda.memory.get_allocator_backend()
        if backend != "native":
            self.problems.append(
                f"PyTorch keeps no history of backend:{backend} (PYTORCH_CUDA_ALLOC_CONF)"
            )
            return False
        if not os.environ.get("PYTORCH_NO_CUDA_MEMORY_CACHING"):
            return True
        self.problems.append(
            "PYTORCH_NO_CUDA_MEMORY_CACHING is set: no memory goes through the allocator"
        )
        return False

    def record_history(self, context):
        if not self.program_records:
            # One more than are kept: where there are so many, some are dropped.
            self.record_memory_history("all", context=context, stacks="python",
                                       max_entries=min(self.most_events + 1, sys.maxsize),
                                       **self._whose_annotations())

    def _whose_annotations(self):
        """PyTorch ties them to the thread that asks for the history, and complains when another
        one ends it: a program may use CUDA in a thread first."""
        if threading.current_thread() is threading.main_thread():
            return {}
        import inspect  # PyTorch has it; other programs would wait for it

        options = getattr(self.torch.cuda.memory, "_record_memory_history_impl", None)
        name = "global_record_annotations"
        is_known = options is not None and name in inspect.signature(options).parameters
        return {name: True} if is_known else {}

    def follow_ends(self):
        """Those that no atexit sees: exiting at once, becoming another program, and signals that
        ask a program to end which does not see to them by itself."""
        self._follow_signals()
        exit_at_once = os._exit

        def exit_after_writing(status):
            self.on_exit()
            exit_at_once(status)

        os._exit = exit_after_writing
        for name in ("execv", "execve"):  # all others call one of them
            setattr(os, name, self._after_writing(getattr(os, name)))

    @noting_errors
    def _follow_signals(self):
        if threading.current_thread() is not threading.main_thread():
            return  # Python lets no other thread do it
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, self._end_by_signal)

    def _end_by_signal(self, number, _frame):
        self.on_exit()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _after_writing(self, become):
        @functools.wraps(become)
        def become_after_writing(path, *rest, **named):
            # A path is searched by trying; what is there and can be run is what is run.
            if isinstance(path, int) or os.path.isfile(path) and os.access(path, os.X_OK):
                self.on_exit()
            return become(path, *rest, **named)

        return become_after_writing

    def snapshot(self):
        """With the categories of what is known."""
        self.note_all_addresses()
        with no_compiled_code():
            snapshot = self.torch.cuda.memory._snapshot()
        leave_out_own_frames(snapshot)
        self._drop_oldest(snapshot)
        note_folders(snapshot, self.started_in.folders())
        self._mark(snapshot)
        return snapshot

    @noting_errors
    def _drop_oldest(self, snapshot):
        """Of each device, beyond those that are kept; readers of the snapshot are told."""
        if self.program_records:
            return
        for device, trace in enumerate(snapshot["device_traces"]):
            if len(trace) <= self.most_events:
                continue
            del trace[: len(trace) - self.most_events]
            snapshot.setdefault("external_annotations", []).append(
                {"stage": "START", "name": f"{self.command} {DROPPED_NAME}", "device": device,
                 "time_us": trace[0]["time_us"]})

    @noting_errors
    def _mark(self, snapshot):
        mark_categories(snapshot, self.moments.all())
        mark_lines(snapshot, Lines(self.torch))

    @without_collections  # else what is garbage may be freed between the two snapshots
    def last_snapshot(self):
        """With the workspaces that cuBLAS has kept, which are let go to find them: nothing is
        recorded or allocated after it."""
        snapshot = self.snapshot()
        self._mark_workspaces(snapshot)
        return snapshot

    @noting_errors
    def _mark_workspaces(self, snapshot):
        self.record_memory_history(None)
        before = active_blocks(snapshot)
        mark_by_address(snapshot, before - self._active_without_workspaces(), "workspace")

    @without_collections
    def kept_workspaces(self):
        """Lets go of them."""
        with no_compiled_code():
            before = active_blocks(self.torch.cuda.memory._snapshot())
        return before - self._active_without_workspaces()

    def _active_without_workspaces(self):
        self.torch._C._cuda_clearCublasWorkspaces()
        with no_compiled_code():
            return active_blocks(self.torch.cuda.memory._snapshot())

    @noting_errors
    def note_addresses(self, optimizer):
        self.moments.note(self.torch, [], [optimizer])

    @noting_errors
    def note_all_addresses(self):
        self.moments.note(self.torch, *modules_and_optimizers(self.torch))

    def _follow_program_history(self):
        """A history that the program has asked for stays the one that it asked for."""
        memory = self.torch.cuda.memory
        self.record_memory_history = memory._record_memory_history

        @functools.wraps(self.record_memory_history)
        def record_memory_history(enabled="all", *arguments, **named):
            self.program_records = True
            return self.record_memory_history(enabled, *arguments, **named)

        memory._record_memory_history = record_memory_history


def leave_out_own_frames(snapshot):
    for frames in stacks_of(snapshot):
        if any(is_own(frame["filename"]) for frame in frames):
            frames[:] = program_frames(frames, lambda frame: frame["filename"])


def is_power_of_two(number):
    return number & (number - 1) == 0


def was_cut(snapshot):
    """Whether a recorder has dropped its oldest events."""
    return any(annotation["name"].endswith(DROPPED_NAME)
               for annotation in snapshot.get("external_annotations", []))


def write_whole(path, content):
    """The file is there as a whole, or as it was. Where it cannot be written ohm record finds a
    mark of that, which is empty, among the names of files."""
    part = path + ".part"
    try:
        with open(part, "wb") as file:
            file.write(content)
        os.replace(part, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.remove(part)
        note_unwritten(error)
        say(f"what was recorded cannot be written: {error}")
        raise


def note_unwritten(error):
    names = os.environ.get(RECORD_NAMES_VARIABLE)
    if not names:
        return
    mark = f"{os.getpid()}.unwritten-{error.errno or errno.EIO}"
    with contextlib.suppress(OSError), open(os.path.join(names, mark), "wb"):
        pass


def end_as_interrupted():
    """Python ends itself by SIGINT after an unhandled interrupt, unless text was compiled
    and run since, which a snapshot makes PyTorch do."""
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        pass


@contextlib.contextmanager
def no_compiled_code():
    """A snapshot looks into the frames of compiled code, for which it would import the compiler
    into a program that has not: that takes seconds, and makes a folder."""
    name = "torch._inductor.codecache"
    if name in sys.modules:
        with mapped_lines_alone(getattr(sys.modules[name], "PyCodeCache", None)):
            yield
        return
    stand_in = types.ModuleType(name)
    stand_in.PyCodeCache = types.SimpleNamespace(stack_frames_for_code=lambda path, line: None)
    sys.modules[name] = stand_in
    try:
        with lazy_compiler_not_imported(stand_in):
            yield
    finally:
        del sys.modules[name]


@contextlib.contextmanager
def lazy_compiler_not_imported(code_cache):
    """Newer versions ask torch for its compiler, which it imports when it is asked."""
    members = vars(sys.modules["torch"])
    name = "_inductor"
    if name in members:
        yield
        return
    stand_in = members[name] = types.SimpleNamespace(codecache=code_cache)
    try:
        yield
    finally:
        if members.get(name) is stand_in:  # no other thread has imported it meanwhile
            del members[name]


@contextlib.contextmanager
def mapped_lines_alone(cache):
    """PyTorch 2.6 fails at a frame of compiled code that has no map of its lines, as kernels have
    that were only timed."""
    name = "stack_frames_for_code"
    if cache is None or name not in vars(cache):
        yield
        return
    own, frames_of = vars(cache)[name], getattr(cache, name)

    def frames_or_none(path, line):
        try:
            return frames_of(path, line)
        except ValueError:
            return None

    setattr(cache, name, staticmethod(frames_or_none))
    try:
        yield
    finally:
        setattr(cache, name, own)
