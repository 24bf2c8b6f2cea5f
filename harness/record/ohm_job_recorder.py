"""Records what a job does with its GPU's memory, for ohm record: one snapshot of each process that
uses CUDA, as torch.cuda.memory._dump_snapshot writes it, with the job's steps marked.

$OHM_RECORD_FILE is the snapshot at the end of the process; one beside it, .oom in its name, that of
its first out-of-memory error. Ranks and further processes have names of their own, which they take
in $OHM_RECORD_NAMES, a folder that ohm record looks into when the job has ended: it is empty where
nothing has used CUDA.

Steps, and the GPU and PyTorch's version, are annotations, as PyTorch's own are, which every reader of
snapshots knows or leaves out.

Steps that have become alike are not recorded any further: the snapshot is of those before. When a
step is not like them, the history begins anew.
"""
import collections
import os
import pickle
import sys
import time

from ohm_alike import AlikeSteps
from ohm_calls import STEPS as NOTED_STEPS
from ohm_categories import active_blocks, mark_by_address
from ohm_console import say
from ohm_modules import NamedCalls
from ohm_process import (
    ProcessRecorder, end_as_interrupted, is_power_of_two, noting_errors, was_cut, write_whole)
from ohm_protocol import (
    RECORD_ALL_STEPS_VARIABLE, RECORD_MODULES_VARIABLE, RECORD_NAMES_VARIABLE,
    RECORD_NO_STACKS_VARIABLE, RECORD_STEPS_VARIABLE, RECORD_VARIABLE)

# What torchrun and its like tell each process.
RANK_VARIABLES = ("RANK", "LOCAL_RANK")
STEP_NAME = "ohm record step"
ORIGIN_NAME = "ohm record on"
# Known to snapshot_result (reports/history).
LEFT_OUT_NAME = "ohm record left out"
OWN_FILES = frozenset((__file__, noting_errors.__code__.co_filename))


class JobRecorder(ProcessRecorder):
    command = "ohm record"

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.steps = None
        self.is_recording = False
        self.has_oom_file = False
        self.has_oom_on_record = False
        self.most_steps = None
        self.named_calls = None
        self.alike = None  # None: every step is recorded
        self.paused_after = None  # steps; None: it is recorded
        self.written = None  # when steps became alike: how many, and their largest peak
        self.missed_peak = 0  # of steps that were not recorded, where it is larger

    def start(self):
        self.path = own_path(self.path)
        self.read_events_variable()
        self.steps = Steps(self.most_events)
        self.follow_ends()
        if self.has_history():
            self._record()

    @noting_errors
    def _record(self):
        from torch.optim import optimizer

        self._begin_history()
        self.is_recording = True
        if os.environ.get(RECORD_STEPS_VARIABLE):
            self.most_steps = int(os.environ[RECORD_STEPS_VARIABLE])
        elif not os.environ.get(RECORD_ALL_STEPS_VARIABLE) and not os.environ.get(RECORD_VARIABLE):
            self.alike = AlikeSteps(self.torch)
        optimizer.register_optimizer_step_post_hook(self._on_step)
        self.torch._C._cuda_attach_out_of_memory_observer(self._on_out_of_memory)
        if os.environ.get(RECORD_MODULES_VARIABLE):
            self.named_calls = NamedCalls(self.torch)
            self.named_calls.begin(self.torch)

    def _begin_history(self):
        self.record_history(None if os.environ.get(RECORD_NO_STACKS_VARIABLE) else "alloc")

    @noting_errors
    def _on_step(self, optimizer, *_):
        if self.problems or not self.is_recording:
            return
        self.steps.add(optimizer)
        is_enough = self.most_steps is not None and self.steps.ended >= self.most_steps
        if is_enough and self.process == os.getpid():
            self._stop()
            return
        if self.alike and self.alike.is_due(self.steps.ended) and self.process == os.getpid():
            self._follow_alike_steps()
        if self.named_calls and self.steps.ended >= NOTED_STEPS:
            self.named_calls.end_notes()
        # Looking at all parameters takes its time; what lasts is found in a few of the steps.
        if self.paused_after is None and is_power_of_two(self.steps.count):
            self.note_addresses(optimizer)

    def _follow_alike_steps(self):
        if self.paused_after is not None:
            if not self.alike.still_are(self.steps.ended):
                self._resume()
        elif self.alike.have_become(self.steps.ended) and not self.program_records:
            self._pause()

    def _pause(self):
        if self._has_more_to_say():
            self.written = (self.steps.ended, self.alike.largest_peak())
            self._write(self.path, self.snapshot(), self.steps.ends_of_whole_ones())
        self.paused_after = self.steps.ended
        self.record_memory_history(None)

    def _resume(self):
        if self._has_more_to_say():
            self.missed_peak = self.alike.largest_peak()
        self.paused_after = None
        self.alike.begin_again()
        self._begin_history()

    def _has_more_to_say(self):
        """Than what was written before: a larger peak."""
        return self.written is None or self.alike.largest_peak() > self.written[1]

    @noting_errors
    def _stop(self):
        """The rest of the job runs as if it had not been recorded."""
        self.stop_following()
        self.steps.leave_out_unfinished()
        self._write(self.path, self.snapshot(), self.steps.ends())
        if not self.program_records and not os.environ.get(RECORD_VARIABLE):
            self.record_memory_history(None)

    def note_addresses(self, optimizer):
        super().note_addresses(optimizer)
        self._note_gradients()

    def note_all_addresses(self):
        super().note_all_addresses()
        self._note_gradients()

    @noting_errors
    def _note_gradients(self):
        if self.named_calls:
            self.named_calls.note_gradients()

    def _mark(self, snapshot):
        super()._mark(snapshot)
        self._mark_modules(snapshot)

    @noting_errors
    def _mark_modules(self, snapshot):
        if self.named_calls:
            self.named_calls.mark(snapshot)

    def stop_following(self):
        self.is_recording = False
        if self.named_calls:
            self.named_calls.end()

    @noting_errors
    def _on_out_of_memory(self, device, requested, _, free):
        if not self.is_recording or self.process != os.getpid():
            return
        was_paused = self.paused_after is not None
        self.has_oom_on_record = self.has_oom_on_record or not was_paused
        if not self.has_oom_file:
            self.has_oom_file = True
            snapshot = self.snapshot()
            if was_paused:
                snapshot["device_traces"][device].append(out_of_memory_entry(requested, free))
            self._write(with_part(self.path, "oom"), snapshot, self.steps.ends())
        if was_paused:
            self._resume()

    def end(self):
        if self.is_recording:
            self._write_last()
        if self.problems:
            reason = self.problems[0].strip().splitlines()[-1]
            process = f"process {os.getpid()}"
            say(f"{process} is not recorded as it should be: {reason}")
        if isinstance(getattr(sys, "last_value", None), KeyboardInterrupt):
            end_as_interrupted()

    @noting_errors
    def _write_last(self):
        if self.written and not self.has_oom_on_record:
            self.alike.still_are(self.steps.ended)
            if self.paused_after is not None or not self._has_more_to_say():
                self._end_written()
                return
        if self.missed_peak:
            self._tell_missed_peak()
        # Under ohm exec, that still records.
        is_last = not os.environ.get(RECORD_VARIABLE)
        snapshot = self.last_snapshot() if is_last else self.snapshot()
        self._write(self.path, snapshot, self.steps.ends())

    def _end_written(self):
        """What is known at the end of the steps that were written before."""
        with open(self.path, "rb") as file:
            snapshot = pickle.load(file)
        self._mark_kept_workspaces(snapshot)
        steps, peak = self.written
        left_out = len(self.steps.ends()) + self.steps.forgotten - steps
        if self.has_oom_file:
            say(f"memory ran out behind the steps in {self.path}")
        elif self._has_more_to_say():
            say(f"the {left_out} steps behind those in {self.path} seemed alike, but allocated "
                f"{self.alike.largest_peak():,} bytes in place of {peak:,}: ohm record --all-steps "
                "has them")
        elif self.missed_peak:
            self._tell_missed_peak()
        else:
            mark_left_out(snapshot, left_out)
            say(f"the {left_out} steps behind those in {self.path} needed no more memory, and are "
                "left out")
        write_whole(self.path, pickle.dumps(snapshot, protocol=4))

    def _tell_missed_peak(self):
        say(f"a step that was left out allocated {self.missed_peak:,} bytes: where {self.path} has "
            "none like it, ohm record --all-steps does")

    @noting_errors
    def _mark_kept_workspaces(self, snapshot):
        mark_by_address(snapshot, active_blocks(snapshot) & self.kept_workspaces(), "workspace")

    def _write(self, path, snapshot, ends):
        self._annotate(snapshot, ends)
        write_whole(path, pickle.dumps(snapshot, protocol=4))
        events = f"{sum(len(trace) for trace in snapshot['device_traces']):,} events are in {path}"
        if was_cut(snapshot):
            events = f"the last {events}; earlier ones were not kept, --max-entries keeps more"
        say(events)

    @noting_errors
    def _annotate(self, snapshot, ends):
        mark_steps(snapshot, ends)
        mark_origin(snapshot, self.torch)


class Steps:
    """The ends of the last steps, in microseconds since 1970. A step has ended when all of its
    optimizers have stepped: when one of them steps again, the last one before it was the end. A new
    one that goes on alone has taken over: those before it had ended a step."""

    def __init__(self, most):
        self.count = 0  # of optimizers' steps
        self.ended = 0  # of the job's own
        self.forgotten = 0  # the oldest ends
        self._ends = collections.deque(maxlen=most)
        self._stepped = {}  # in the step that has not ended: when, by the optimizers' identities
        self._last_step = frozenset()  # the optimizers of the one before it

    def add(self, optimizer):
        self.count += 1
        if id(optimizer) in self._stepped:
            self._end_before(id(optimizer))
        self._stepped[id(optimizer)] = time.time_ns() // 1000

    def _end_before(self, next_one):
        before = self._last_step
        if before and next_one not in before and before <= self._stepped.keys():
            self._end(before)
        self._end(frozenset(self._stepped))

    def _end(self, optimizers):
        self.forgotten += len(self._ends) == self._ends.maxlen
        self._ends.append(max(self._stepped.pop(optimizer) for optimizer in optimizers))
        self.ended += 1
        self._last_step = optimizers

    def leave_out_unfinished(self):
        self._stepped.clear()

    def ends_of_whole_ones(self):
        return list(self._ends)

    def ends(self):
        return list(self._ends) + ([max(self._stepped.values())] if self._stepped else [])


def mark_steps(snapshot, ends):
    """Those that are in the history, as far as it reaches back."""
    first = min((trace[0]["time_us"] for trace in snapshot["device_traces"] if trace), default=None)
    if first is None:
        return
    begin = first
    annotations = snapshot.setdefault("external_annotations", [])
    for number, end in enumerate(ends, 1):
        if end < first:
            continue
        for stage, moment in (("START", begin), ("END", end)):
            annotations.append({"stage": stage, "name": f"{STEP_NAME} {number}", "device": 0,
                                "time_us": moment})
        begin = end


def mark_origin(snapshot, torch):
    """Where it was recorded, which PyTorch's own snapshots do not say: of each GPU that was used."""
    for device, trace in enumerate(snapshot["device_traces"]):
        if trace:
            origin = f"{torch.cuda.get_device_properties(device).name}, PyTorch {torch.__version__}"
            snapshot.setdefault("external_annotations", []).append(
                {"stage": "START", "name": f"{ORIGIN_NAME} {origin}", "device": device,
                 "time_us": trace[0]["time_us"]})


def mark_left_out(snapshot, steps):
    """How many came behind what is recorded."""
    last = max((trace[-1]["time_us"] for trace in snapshot["device_traces"] if trace), default=0)
    snapshot.setdefault("external_annotations", []).append(
        {"stage": "START", "name": f"{LEFT_OUT_NAME} {steps}", "device": 0, "time_us": last})


def out_of_memory_entry(requested, free):
    """As PyTorch would have recorded it, for its observer, in the thread that asked."""
    return {"action": "oom", "device_free": free, "size": requested, "stream": 0,
            "time_us": time.time_ns() // 1000,
            "frames": [frame for frame in frames_of_thread() if frame["filename"] not in OWN_FILES]}


def frames_of_thread():
    """The innermost first."""
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        yield {"name": code.co_name, "filename": code.co_filename, "line": frame.f_lineno or 0}
        frame = frame.f_back


def own_path(path):
    """The process's own: memory.rank3.pickle of a rank, and memory.pid1234.pickle of what comes
    second to a name."""
    for variable in RANK_VARIABLES:
        rank = os.environ.get(variable, "")
        if rank.isdigit():
            path = with_part(path, f"rank{rank}")
            break
    chosen, ordinal = path, 0
    while not take_name(os.path.basename(chosen)):
        ordinal += 1
        chosen = with_part(path, f"pid{os.getpid()}" + (f"-{ordinal}" if ordinal > 1 else ""))
    return chosen


def take_name(name):
    """False where another process has it."""
    try:
        os.close(os.open(os.path.join(os.environ[RECORD_NAMES_VARIABLE], name), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def with_part(path, part):
    """memory.pickle: memory.PART.pickle."""
    stem, extension = os.path.splitext(path)
    return f"{stem}.{part}{extension}"
