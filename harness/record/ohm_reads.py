"""Reads of values that no kernel has computed: which lines of the program depend on them.

A read is a copy from unknown device memory, or a value of a tensor on the host that was copied from
there. What is only printed is no finding (ohm_uses.py). A number that is read goes on as one that knows
where it came from, as a float or an int: comparing it is a finding, too."""
import contextlib
import functools
import math
import os
import re
import sys
import sysconfig
import threading

from ohm_numbers import UnknownFloat, UnknownInt
from ohm_sources import CALLS_OPERATORS, is_of_library
from ohm_user_files import StartedIn
from ohm_use_names import COUNTS, GIVES_NUMBER, MAKES_TEXT, READS_OWN_STATE
from ohm_uses import BRANCH, SHAPE, VALUE, Uses

STANDARD_LIBRARY = sysconfig.get_paths()["stdlib"] + os.sep
ORDERS = frozenset("heapq bisect queue".split())  # modules that compare for their callers
# Modules that choose which checkpoints to keep: files.
SAVES_BEST = frozenset("""pytorch_lightning.callbacks.model_checkpoint
    lightning.pytorch.callbacks.model_checkpoint ignite.handlers.checkpoint
    timm.utils.checkpoint_saver""".split())
MOST_ROWS = 100  # of the report
OF_ARITHMETIC = re.compile(r"\bnan\b|infinit|math domain|\bzero\b", re.IGNORECASE)  # messages of a ValueError


class _Thread(threading.local):
    is_ignored = False  # reads are none of the program's
    is_scalar = False  # within a method that makes a number of a tensor
    has_read = False  # that method has read unknown memory


class Reads:
    """Of this process. `library` is the one that takes CUDA's place."""

    number_types = (UnknownFloat, UnknownInt)

    def __init__(self, torch, library):
        self.torch = torch
        self.library = library
        self.files = StartedIn().files()
        self.uses = Uses(self.files)
        self.rows = {}  # (kind, file, line) -> row
        self.order = 0
        self.last = None  # (file, line) of the last read that decides nothing
        self.made_text = set()  # (code, instruction) where a number was made text of
        self.have_metrics = False  # arrays of unknown losses or scores, which a library has collected
        self.are_on_host = False  # unknown values: any were ever copied there
        self.thread = _Thread()
        for kind in self.number_types:
            kind.on_use = self.on_use_of_number
            kind.on_plain = self.on_plain_number
            kind.on_error = self.on_error_of_number
            kind.on_text = self.on_text_of_number
            kind.on_pickle = self.on_pickle_of_number

    def follow(self, memory):
        memory.follow_reads(self.on_read)

    def report(self):
        """As the summary of a process has them (harness/exec/process_record.h)."""
        return list(self.rows.values())

    # ---- what is read ----

    @contextlib.contextmanager
    def ignored(self):
        """Reads of this thread that are none of the program's."""
        before = self.thread.is_ignored
        self.thread.is_ignored = True
        try:
            yield
        finally:
            self.thread.is_ignored = before

    def on_read(self):
        """Unknown bytes have been copied to the host, or a tensor of such bytes is looked at."""
        if self.thread.is_ignored:
            return
        if self.thread.is_scalar:
            self.thread.has_read = True
            return
        frame = self.reading_frame()
        if frame is not None:
            self._note_read(frame)

    def _note_read(self, frame):
        """Of an operator that is not one of torch.Tensor's for numbers: a call says what it reads."""
        called = self._called(frame)
        if called in ("max", "min", "histc"):  # of scalars: which of them; of a histogram: its range
            return
        if called in READS_OWN_STATE:
            self.library.ohm_note_assumption(b"passed_checks")
        elif called == "" and self.uses.has_whole_index(frame):
            self._note_use(frame, is_index=True)
        elif called == "" or called in COUNTS:
            self.note(SHAPE, frame)
        elif called == "range":
            self.note(BRANCH, frame)
        elif called is None or called in GIVES_NUMBER:
            self._note_use(frame)
        else:
            self.note(VALUE, frame)

    def _called(self, frame):
        """By the innermost frame; PyTorch's own files pass many calls on to operators."""
        innermost = called = self.uses.called(frame)
        while called not in COUNTS and is_of_library(frame.f_code.co_filename, self.torch):
            frame = frame.f_back
            if frame is None:
                return innermost
            called = self.uses.called(frame)
        return called if called in COUNTS else innermost

    def note_shape(self, detail=""):
        if not self.thread.is_ignored:
            self.note(SHAPE, self.reading_frame(), detail)

    def note_value(self):
        """Of memory that goes on where nothing follows it."""
        if not self.thread.is_ignored:
            self.note(VALUE, self.reading_frame())

    def note_branch(self):
        """Of a library."""
        self.note(BRANCH, self.reading_frame())

    def note_text(self):
        """A tensor has been made text of, for the program or to print it."""
        frame = self.reading_frame()
        while frame is not None and not self.files.is_program(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is not None and self.uses.called(frame) in MAKES_TEXT:
            self._note_use(frame)

    def _note_use(self, frame, is_followed=False, is_compared=False, is_index=False):
        kind = self.uses.of_result(frame, is_followed, is_compared, is_index)
        if kind is not None:
            self.note(kind, frame)
        else:
            self.last = self._user_line(frame)
        return kind

    def on_use_of_number(self):
        frame = self.reading_frame()
        while frame is not None and frame.f_globals.get("__name__") in ORDERS:
            frame = frame.f_back
        if frame is None:
            return
        if frame.f_globals.get("__name__") == "random":  # weights of what it draws
            self.note(VALUE, frame)
        elif not is_of_standard_library(frame.f_code.co_filename):
            self._note_use(frame, is_compared=True)

    def on_plain_number(self, is_chosen=False):
        """One that is followed becomes one that is not: by float(), or in an array of NumPy. is_chosen: as an
        index or as bytes, which nothing prints."""
        frame = self.reading_frame()
        if frame is not None and self.files.is_program(frame.f_code.co_filename):
            kind = self.uses.of_result(frame)
            if kind in (SHAPE, BRANCH) or kind is not None and is_chosen:
                self.note(kind, frame)

    def on_text_of_number(self):
        frame = self.reading_frame()
        place = (frame.f_code, frame.f_lasti) if frame is not None else None
        if place is None or place in self.made_text or not self.files.is_program(frame.f_code.co_filename):
            return
        self.made_text.add(place)
        kind = self.uses.of_result(frame, is_text=True)
        if kind in (SHAPE, BRANCH):
            self.note(kind, frame)

    def on_pickle_of_number(self):
        """Which what is unpickled tells nothing of: of torch.save and of other processes, others say it."""
        frame = self.reading_frame()
        if frame is not None and self.files.is_program(frame.f_code.co_filename) and (
                self.uses.called(frame) in ("dump", "dumps") and self.uses.reads_pickles(frame)):
            self.note(VALUE, frame)

    def on_error_of_number(self):
        """Of a division by one that is zero."""
        self.note(VALUE, self.reading_frame())

    def reading_frame(self):
        frame = sys._getframe(1)
        while frame is not None and (self._is_own(frame) or self._calls_for_own(frame)):
            frame = frame.f_back
        return frame

    def _calls_for_own(self, frame):
        """PyTorch's operators are called from Python by kernels of ohm_known.py."""
        is_between = frame.f_code.co_filename.endswith(CALLS_OPERATORS)
        return is_between and frame.f_back is not None and self._is_own(frame.f_back)

    def _is_own(self, frame):
        """Or PyTorch's, between two of them or between a call and what it calls: a default device. Or NumPy's or
        pandas': what their functions do is known by their names."""
        name = frame.f_globals.get("__name__", "")
        return name.startswith(("ohm_", "numpy.", "pandas.")) or name in ("torch._ops", "torch.utils._device")

    # ---- what is noted ----

    def note_end(self, error, trace):
        """Of an error that ends the program; trace: (file, line) of its frames. What only stops the program
        for a value is a finding where it has, and so is a number that a branch chose, where it may be why, and the
        last number that was read, where zeros in place of numbers may be why."""
        branches = list(self.uses.ending_branches(trace))
        for file, line in branches:
            self._add_row(BRANCH, os.path.abspath(file), line, "")
        if self.last and not branches and is_of_arithmetic(error):
            self._add_row(VALUE, *self.last, "")

    def note(self, kind, frame, detail=""):
        if any(one.f_globals.get("__name__") in SAVES_BEST for one in frames_of(frame)):
            return
        self._add_row(kind, *self._user_line(frame), detail)

    def _add_row(self, kind, file, line, detail):
        self.order += 1
        row = self.rows.get((kind, file, line))
        if row is None:
            if len(self.rows) >= MOST_ROWS:
                return
            row = {"kind": kind, "file": file, "line": line, "detail": detail, "count": 0}
            self.rows[kind, file, line] = row
        row["count"] += 1
        row["order"] = self.order
        self.library.ohm_note_assumption(b"unknown_values")

    def _user_line(self, frame):
        """The innermost of the user's own. Threads of autograd have none: it is that of the main
        thread, which waits for them."""
        named = self._user_frame(frame)
        if named is None and threading.current_thread() is not threading.main_thread():
            named = self._user_frame(sys._current_frames().get(threading.main_thread().ident))
        if named is not None:
            return os.path.abspath(named.f_code.co_filename), named.f_lineno or 0
        return (frame.f_code.co_filename, frame.f_lineno or 0) if frame is not None else ("", 0)

    def _user_frame(self, innermost):
        """A frame must not hold itself: all that its callers hold would stay until garbage is
        collected."""
        return self.files.named(frames_of(innermost), lambda one: one.f_code.co_filename)

    # ---- numbers that tensors give ----

    def replace_methods(self, is_unknown):
        """Of torch.Tensor: those that make numbers and arrays. is_unknown(tensor): whether no
        kernel has computed it."""
        home = self.torch.Tensor
        home.item = self._scalar(home.item)
        home.tolist = self._whole(home.tolist, is_unknown, tracked)
        home.numpy = self._whole(home.numpy, is_unknown, None)
        home.__array__ = self._whole(home.__array__, is_unknown, None)

    def _scalar(self, method):
        thread = self.thread

        @functools.wraps(method)
        def call(tensor, *arguments, **named):
            if not (self.are_on_host or tensor.is_cuda):
                return method(tensor, *arguments, **named)
            thread.is_scalar, thread.has_read = True, False
            try:
                value = method(tensor, *arguments, **named)
            finally:
                thread.is_scalar = False
            if not thread.has_read or thread.is_ignored:
                return value
            value = plausible(value)
            followed = tracked(value)
            kind = self._note_use(self.reading_frame(), type(followed) is UnknownFloat)
            return followed if kind is None else value

        return call

    def _whole(self, method, is_unknown, track):
        @functools.wraps(method)
        def call(tensor, *arguments, **named):
            if self.thread.is_ignored or not is_unknown(tensor):
                return method(tensor, *arguments, **named)
            with self.ignored():
                value = method(tensor, *arguments, **named)
            frame = self.reading_frame()
            is_metric = self._is_metric(tensor, frame)
            kind = self._note_use(frame, is_metric or track is tracked and tensor.is_floating_point())
            self.have_metrics = self.have_metrics or is_metric and kind is None
            return track(value) if track and kind is None else value

        return call

    def _is_metric(self, tensor, frame):
        """Libraries collect losses and scores to average and print them."""
        return tensor.is_floating_point() and is_of_library(frame.f_code.co_filename, self.torch)


def is_of_arithmetic(error):
    """Whether a division by zero or a NaN may have raised an error."""
    is_of_value = isinstance(error, ValueError) and OF_ARITHMETIC.search(str(error)) is not None
    return is_of_value or isinstance(error, ArithmeticError)


def frames_of(innermost):
    frames = []
    while innermost is not None:
        frames.append(innermost)
        innermost = innermost.f_back
    return frames


def is_of_standard_library(path):
    """Of Python: what it compares there, it formats."""
    return path.startswith(STANDARD_LIBRARY) and "-packages" + os.sep not in path


def plausible(value):
    """Memory that no kernel has written to may hold the bytes of anything (ohm_writes.py)."""
    if type(value) in (int, bool):
        return type(value)()
    return value if type(value) is not float or math.isfinite(value) else 0.0


def tracked(value):
    if type(value) is float:
        return UnknownFloat(value)
    if type(value) is int:
        return UnknownInt(value)
    if type(value) is list:
        return [tracked(item) for item in value]
    return value
