"""Records what a job does with its GPU's memory, for ohm record: one snapshot of each process that
uses CUDA, as torch.cuda.memory._dump_snapshot writes it, with the job's steps marked.

$OHM_RECORD_FILE is the snapshot at the end of the process; one beside it, .oom in its name, that of
its first out-of-memory error. Ranks and further processes have names of their own, which they take
in $OHM_RECORD_NAMES, a folder that ohm record looks into when the job has ended: it is empty where
nothing has used CUDA.

Steps, and the GPU and PyTorch's version, are annotations, as PyTorch's own are, which every reader of
snapshots knows or leaves out.
"""
import collections
import os
import pickle
import sys
import time

from ohm_modules import NamedCalls
from ohm_process import ProcessRecorder, end_as_interrupted, noting_errors, write_whole

NAMES_VARIABLE = "OHM_RECORD_NAMES"
# Set: no stacks; the number of steps that are recorded; set: modules are named on stacks.
NO_STACKS_VARIABLE = "OHM_RECORD_NO_STACKS"
STEPS_VARIABLE = "OHM_RECORD_STEPS"
MODULES_VARIABLE = "OHM_RECORD_MODULES"
# What torchrun and its like tell each process.
RANK_VARIABLES = ("RANK", "LOCAL_RANK")
STEP_NAME = "ohm record step"
ORIGIN_NAME = "ohm record on"


class JobRecorder(ProcessRecorder):
    def __init__(self, path):
        super().__init__()
        self.path = path
        self.steps = None
        self.is_recording = False
        self.has_oom_file = False
        self.most_steps = None
        self.named_calls = None

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

        self.record_history(None if os.environ.get(NO_STACKS_VARIABLE) else "alloc")
        self.is_recording = True
        if os.environ.get(STEPS_VARIABLE):
            self.most_steps = int(os.environ[STEPS_VARIABLE])
        optimizer.register_optimizer_step_post_hook(self._on_step)
        self.torch._C._cuda_attach_out_of_memory_observer(self._on_out_of_memory)
        if os.environ.get(MODULES_VARIABLE):
            self.named_calls = NamedCalls(self.torch)
            self.named_calls.begin(self.torch)

    @noting_errors
    def _on_step(self, optimizer, *_):
        if self.problems or not self.is_recording:
            return
        self.steps.add(optimizer)
        is_enough = self.most_steps is not None and self.steps.ended >= self.most_steps
        if is_enough and self.process == os.getpid():
            self._stop()
            return
        # Looking at all parameters takes its time; what lasts is found in a few of the steps.
        if is_power_of_two(self.steps.count):
            self.note_addresses(optimizer)

    @noting_errors
    def _stop(self):
        """The rest of the job runs as if it had not been recorded."""
        self.stop_following()
        self.steps.leave_out_unfinished()
        self._write(self.path, self.snapshot())
        if not self.program_records and not os.environ.get("OHM_RECORD"):
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
    def _on_out_of_memory(self, *_):
        if not self.is_recording or self.has_oom_file or self.process != os.getpid():
            return
        self.has_oom_file = True
        self._write(with_part(self.path, "oom"), self.snapshot())

    def end(self):
        if self.is_recording:
            self._write_last()
        if self.problems:
            reason = self.problems[0].strip().splitlines()[-1]
            process = f"process {os.getpid()}"
            sys.stderr.write(f"ohm: {process} is not recorded as it should be: {reason}\n")
        if isinstance(getattr(sys, "last_value", None), KeyboardInterrupt):
            end_as_interrupted()

    @noting_errors
    def _write_last(self):
        # Under ohm exec, that still records.
        is_last = not os.environ.get("OHM_RECORD")
        self._write(self.path, self.last_snapshot() if is_last else self.snapshot())

    def _write(self, path, snapshot):
        self._annotate(snapshot)
        write_whole(path, pickle.dumps(snapshot, protocol=4))
        events = sum(len(trace) for trace in snapshot["device_traces"])
        sys.stderr.write(f"ohm: {events:,} events are in {path}\n")

    @noting_errors
    def _annotate(self, snapshot):
        mark_steps(snapshot, self.steps.ends())
        mark_origin(snapshot, self.torch)


class Steps:
    """The ends of the last steps, in microseconds since 1970. A step has ended when all of its
    optimizers have stepped: when one of them steps again, the last one before it was the end. A new
    one that goes on alone has taken over: those before it had ended a step."""

    def __init__(self, most):
        self.count = 0  # of optimizers' steps
        self.ended = 0  # of the job's own
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
        self._ends.append(max(self._stepped.pop(optimizer) for optimizer in optimizers))
        self.ended += 1
        self._last_step = optimizers

    def leave_out_unfinished(self):
        self._stepped.clear()

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
        os.close(os.open(os.path.join(os.environ[NAMES_VARIABLE], name), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def with_part(path, part):
    """memory.pickle: memory.PART.pickle."""
    stem, extension = os.path.splitext(path)
    return f"{stem}.{part}{extension}"


def is_power_of_two(number):
    return number & (number - 1) == 0
