"""Runs small PyTorch programs, one after the other, and prints what each allocated.

    ohm exec --no-record --gpu golden-sm80 -- python record.py < PROGRAMS

A line of PROGRAMS is {"program": name, "source": Python}. For each: "== name", then the lines of a
recording (tests/golden/pytorch/recordings), and "error: …" where it raised an exception. Each begins
with empty caches, no workspaces and the library's settings as they are at the start.

A program may call mark(label), as recorded programs do, and layout(tensor): its dtype, shape and
strides become a line.
"""
import builtins
import contextlib
import gc
import json
import os
import shutil
import sys
import tempfile
import time

import torch
import torch.nn.functional as F
from torch import nn


class Notes:
    """What a program noted, each with the number of events before it."""

    def __init__(self):
        self.lines = []

    def add(self, line):
        trace = torch.cuda.memory._snapshot()["device_traces"][0]
        self.lines.append((len([e for e in trace if e["action"] != "snapshot"]), line))

    def mark(self, label):
        wait_for_failed_backward()
        figures = [torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated(),
                   torch.cuda.memory_reserved(), torch.cuda.max_memory_reserved()]
        self.add(" ".join(["=", *map(str, figures), label]))

    def layout(self, tensor):
        dtype = str(tensor.dtype).removeprefix("torch.")
        self.add(f": {dtype} {list(tensor.shape)} {list(tensor.stride())}")


class Segments:
    """Segments by the order in which they came. An expandable one is the range from where it was first
    mapped on, as long as anything of it is mapped."""

    def __init__(self):
        self.alive, self.count, self.mapped = {}, 0, {}
        total = torch.cuda.get_device_properties(0).total_memory
        self.reserved = total + total // 8

    def find(self, address):
        return next((base for base, (_, size) in self.alive.items() if base <= address < base + size), None)

    def place(self, address):
        base = self.find(address)
        return f"{self.alive[base][0]} {address - base}"

    def add(self, address, size):
        self.alive[address] = (self.count, size)
        self.count += 1

    def map(self, address, size):
        if self.find(address) is None:
            self.add(address, self.reserved)
        base = self.find(address)
        self.mapped[base] = self.mapped.get(base, 0) + size
        return self.place(address)

    def unmap(self, address, size):
        base, place = self.find(address), self.place(address)
        self.mapped[base] -= size
        if self.mapped[base] == 0:
            del self.mapped[base], self.alive[base]
        return place


def event_line(event, segments):
    action, size, address = event["action"], event["size"], event.get("addr")
    if action == "segment_alloc":
        segments.add(address, size)
        return f"S {size} {segments.count - 1}"
    if action == "segment_free":
        number, _ = segments.alive.pop(address)
        return f"s {size} {number}"
    if action == "segment_map":
        return f"M {size} {segments.map(address, size)}"
    if action == "segment_unmap":
        return f"m {size} {segments.unmap(address, size)}"
    if action in ("alloc", "free_requested", "free_completed"):
        stream = "" if event["stream"] == torch.cuda.default_stream().cuda_stream else " ~"
        block = f"{segments.place(address)}{stream}"
        return f"+ {size} {block}" if action == "alloc" else f"{action[5]} {block}"
    if action == "oom":
        return f"! {size} {event['device_free']}"
    return f"{action} {size}"


def lines_of(trace, notes):
    lines, segments, waiting = [], Segments(), list(notes)
    events = [event for event in trace if event["action"] != "snapshot"]
    for number, event in enumerate(events + [None]):
        while waiting and waiting[0][0] == number:
            lines.append(waiting.pop(0)[1])
        if event is None:
            break
        line = event_line(event, segments)
        completes_last = line[0] == "c" and lines and lines[-1] == "r" + line[1:]
        if completes_last:
            lines[-1] = "-" + line[1:].removesuffix(" ~")
        else:
            lines.append(line)
    return lines


def wait_for_failed_backward():
    """Its thread holds the error, and what that holds, a moment longer than the program."""
    trace = torch.cuda.memory._snapshot()["device_traces"][0]
    if any(event["action"] == "oom" for event in trace):
        time.sleep(0.01)


def wait_for_backward():
    """The thread of a pass that failed lets go what it held a moment after the error is seen."""
    deadline = time.monotonic() + 10
    while torch.cuda.memory_allocated() and time.monotonic() < deadline:
        time.sleep(0.001)


def reset():
    gc.collect()
    gc.freeze()  # what is left is the library's: later collections need not look at it
    torch._C._cuda_clearCublasWorkspaces()
    wait_for_backward()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    torch.cuda.set_per_process_memory_fraction(1.0)
    torch.backends.cudnn.enabled = False
    torch.cuda.memory._record_memory_history(None)
    torch.cuda.memory._record_memory_history(enabled="all", context=None, stacks="python",
                                             max_entries=10**6)


class KeptCurvature(torch.Tensor):
    """What LBFGS compares the curvature by."""


class ComparisonsWithoutValues:
    """Kernels compute nothing, so that LBFGS compares what a block happens to hold. Here it keeps
    every direction, and else no comparison of tensors is true and every loss is 0, as in the runtime
    without values."""

    def __enter__(self):
        self.replaced = {name: getattr(torch.Tensor, name) for name in ("__gt__", "__bool__", "__float__")}

        def greater(tensor, other):
            result = self.replaced["__gt__"](tensor, other)
            is_curvature = other.__class__ is float and other == 1e-10
            return result.as_subclass(KeptCurvature) if is_curvature else result

        def of_device(name, value):
            return lambda tensor: value(tensor) if tensor.is_cuda else self.replaced[name](tensor)

        torch.Tensor.__gt__ = greater
        torch.Tensor.__bool__ = of_device("__bool__", lambda tensor: isinstance(tensor, KeptCurvature))
        torch.Tensor.__float__ = of_device("__float__", lambda tensor: 0.0)

    def __exit__(self, *error):
        for name, function in self.replaced.items():
            setattr(torch.Tensor, name, function)


class MemoryAt:
    """What lies at an address of the GPU, as 32-bit integers."""

    def __init__(self, address, count):
        self.__cuda_array_interface__ = {"shape": (count,), "typestr": "<i4", "data": (address, False),
                                         "version": 2, "strides": None, "stream": None}


def write_in_free_blocks(number):
    """At the beginning of each small block that the allocator has: what is allocated next holds it."""
    values = torch.tensor([number, 0], dtype=torch.int32)
    for segment in torch.cuda.memory_snapshot():
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] == "inactive" and segment["segment_type"] == "small":
                torch.as_tensor(MemoryAt(address, 2), device="cuda").copy_(values)
            address += block["size"]


class MasksChooseAll:
    """SyncBatchNorm leaves out ranks that have no input by a mask that a kernel computes, and kernels
    compute nothing: nonzero would find as many as the block holds in which they are counted. Here every
    rank has an input, so that the count is that of the mask, which is put where it is looked for."""

    def __enter__(self):
        self.replaced = torch.Tensor.__getitem__

        def chosen(tensor, index):
            if isinstance(index, torch.Tensor) and index.dtype == torch.bool and index.is_cuda:
                write_in_free_blocks(index.numel())
            return self.replaced(tensor, index)

        torch.Tensor.__getitem__ = chosen

    def __exit__(self, *error):
        torch.Tensor.__getitem__ = self.replaced


def record(name, source):
    with contextlib.ExitStack() as stack:
        if "LBFGS" in source:
            stack.enter_context(ComparisonsWithoutValues())
        if "SyncBatchNorm" in source:
            stack.enter_context(MasksChooseAll())
        return record_as_is(name, source)


def record_as_is(name, source):
    reset()
    notes, error = Notes(), None
    builtins.mark, builtins.layout = notes.mark, notes.layout
    scope = {"__name__": "__main__", "torch": torch, "nn": nn, "F": F}
    try:
        exec(compile(source, name, "exec"), scope)
    except Exception as exception:
        error = f"error: {exception}".splitlines()[0]
    notes.mark("end of program (globals alive)")
    time.sleep(0.005)  # backward's thread holds its last gradients a moment longer
    for module in ("torch", "nn", "F"):
        del scope[module]
    scope.clear()
    gc.collect()
    notes.mark("globals deleted")
    lines = lines_of(torch.cuda.memory._snapshot()["device_traces"][0], notes.lines)
    return lines + ([error] if error else [])


def begin():
    torch.cuda.init()
    # What PyTorch makes once in a process is there before the first program.
    record("first", 'torch.randn(2, 2, device="cuda").mm(torch.randn(2, 2, device="cuda"))')


def print_recorded(program):
    print("\n".join([f"== {program['program']}", *record(program["program"], program["source"])]),
          flush=True)


def numbers_nodes_in_backward(program):
    """PyTorch numbers nodes by thread and runs the highest number first. Nodes that backward makes are
    of another thread: whether they come before those of the program depends on what was run before."""
    return "create_graph" in program["source"]


def keeps_something(program):
    """What a sharded model is in stays until its process ends."""
    return "builtins.kept" in program["source"]


def sets_the_allocator(program):
    """For as long as its process lives."""
    return "_set_allocator_settings" in program["source"]


def needs_a_process(program):
    return numbers_nodes_in_backward(program) or keeps_something(program) or sets_the_allocator(program)


def run_in_fork(program):
    child = os.fork()
    if child == 0:
        begin()
        print_recorded(program)
        os._exit(0)
    os.waitpid(child, 0)


def main():
    programs = [json.loads(line) for line in sys.stdin]
    folder = tempfile.mkdtemp()  # for what programs save
    os.chdir(folder)
    for program in filter(needs_a_process, programs):
        run_in_fork(program)
    begin()
    for program in programs:
        if not needs_a_process(program):
            print_recorded(program)
    shutil.rmtree(folder)
    os._exit(0)  # PyTorch's own threads do not always survive an ordinary end


if __name__ == "__main__":
    main()
