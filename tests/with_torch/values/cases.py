"""Runs the cases of this folder on a virtual GPU.

    cases.py known|cpu PEAKS [NAMES...]

PEAKS is a file for the peaks of the cases whose sizes are computed: those of a run before it, if it is
there, have to be the same.

A case is a function that `case` decorates. It is given a device, draws random numbers on the host, and
returns what follows from values: sizes, numbers, tensors.

A case with the parameter `decide` makes the tensors that sizes and branches are computed of with
decide(tensor). On the GPU that is where they go; in the explicit run of the same program the sizes are
computed on the host, and a copy that nothing uses lies on the GPU in place of each of those tensors. Both
runs return the same, and their peaks differ by no more than the masks and indices that are computed of
those tensors: `decisions` bytes. With --values known and cpu the peaks of every such case are the same,
and those of every case of which nothing is to be reported.

In a case without, every line that is to be reported ends with a comment `# shape`, `# branch` or
`# value`; nothing else is reported. With --values cpu every case returns what it returns on the host,
and nothing is reported."""
import contextlib
import gc
import importlib
import inspect
import io
import json
import os
import re
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
MARKER = re.compile(r"#.*\b(shape|branch|value)$")
TOLERANCE = 1e-3
MOST_DECISIONS = 16 << 10

CASES = []


class Case:
    def __init__(self, function, decisions, result, computed, since):
        self.function = function
        self.name = function.__name__
        self.decisions = decisions
        self.result = result
        self.computed = computed
        self.since = since
        self.has_twin = "decide" in inspect.signature(function).parameters

    def rows(self):
        """{(kind, line)} that are to be reported."""
        lines, first = inspect.getsourcelines(self.function)
        found = ((MARKER.search(line), first + index) for index, line in enumerate(lines))
        return {(match.group(1), line) for match, line in found if match}


def case(function=None, *, decisions=MOST_DECISIONS, result=True, computed=True, since=(2, 5)):
    """`decisions`: the most bytes by which the peaks may differ. `result`: whether what it returns can be
    compared with the host's. `computed`: whether --values cpu computes it; else it reports the same.
    `since`: the PyTorch whose known values suffice for it; older ones report a read."""
    if function is None:
        return lambda named: case(named, decisions=decisions, result=result, computed=computed, since=since)
    CASES.append(Case(function, decisions, result, computed, since))
    return function


def as_plain(value, torch):
    """For comparison."""
    if isinstance(value, torch.Tensor):
        return [tuple(value.shape), value.detach().cpu().tolist()]
    if isinstance(value, (list, tuple)):
        return [as_plain(item, torch) for item in value]
    return value


def is_same(first, second):
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        return len(first) == len(second) and all(map(is_same, first, second))
    if isinstance(first, float) or isinstance(second, float):
        return abs(first - second) <= TOLERANCE * max(1, abs(second)) or first != first and second != second
    return first == second


class Runs:
    """Of one process."""

    def __init__(self, torch, mode, peaks):
        self.torch = torch
        self.mode = mode
        self.earlier = peaks  # by name
        self.peaks = {}
        self.version = tuple(map(int, torch.__version__.split(".")[:2]))
        self.values = sys.modules["ohm_values"]

    def start(self, case, device, decide=None):
        """(what it returned, bytes at its peak, {(kind, line)} of the case's file)."""
        torch = self.torch
        torch.manual_seed(0)
        gc.collect()  # graphs of earlier cases
        gc.freeze()  # what is left is kept by modules
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        self.values._known.reads.rows.clear()
        arguments = (device,) if decide is None else (device, decide)
        with contextlib.redirect_stdout(io.StringIO()):
            result = case.function(*arguments)
        peak = torch.cuda.max_memory_allocated() - before
        rows = {(row["kind"], row["line"], os.path.basename(row["file"]))
                for row in self.values.unknown_reads()}
        return as_plain(result, torch), peak, rows

    def is_older(self, case):
        """Than the PyTorch whose known values suffice."""
        return self.mode == "known" and self.version < case.since

    def complaints(self, case):
        file = os.path.basename(inspect.getsourcefile(case.function))
        is_reported = self.mode == "known" or not case.computed
        expected = {(*row, file) for row in case.rows()} if is_reported else set()
        program = (lambda tensor: tensor.cuda()) if case.has_twin else None
        result, peak, rows = self.start(case, "cuda", program)
        if self.is_older(case):
            if not rows:
                yield f"reported nothing, though known values suffice only since {case.since}"
            return
        if rows != expected:
            yield f"reported {sorted(rows)}, not {sorted(expected)}"
        compares = case.result and not expected
        if compares and (self.mode == "cpu" or case.has_twin):
            on_host = self.start(case, "cpu", (lambda tensor: tensor) if case.has_twin else None)[0]
            if not is_same(result, on_host):
                yield f"returned {str(result)[:300]}, not {str(on_host)[:300]}"
        if case.has_twin:
            yield from self.complaints_of_explicit(case, peak)
        if case.has_twin or not case.rows():
            yield from self.complaints_of_other_mode(case, peak)

    def complaints_of_explicit(self, case, peak):
        beside = []

        def decide(tensor):
            beside.append(tensor.cuda())
            return tensor

        explicit = self.start(case, "cuda", decide)[1]
        if abs(peak - explicit) > case.decisions:
            yield f"a peak of {peak:,} bytes, {peak - explicit:,} more than with sizes of the host"

    def complaints_of_other_mode(self, case, peak):
        self.peaks[case.name] = peak
        earlier = self.earlier.get(case.name, peak)
        if peak != earlier:
            yield f"a peak of {peak:,} bytes, and {earlier:,} in the run before"


def complaints_of(runs, case):
    """Errors are caught outside the loop over the cases, like those of a program that ends with one."""
    try:
        return list(runs.complaints(case))
    except Exception:
        return [traceback.format_exc()]


def warm_up(torch):
    """Libraries get their workspaces."""
    for _ in range(2):
        torch.nn.Linear(8, 8).cuda()(torch.ones(8, 8).cuda()).sum().backward()


def read_peaks(path):
    try:
        with open(path) as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def main():
    mode, path, *names = sys.argv[1:]
    import torch
    sys.modules["cases"] = sys.modules["__main__"]
    sys.path.insert(0, HERE)
    for name in sorted(os.listdir(HERE)):
        if name.endswith(".py") and name != "cases.py":
            importlib.import_module(name[:-3])
    warm_up(torch)
    runs = Runs(torch, mode, read_peaks(path))
    failed = 0
    chosen = [case for case in CASES if not names or case.name in names]
    for case in chosen:
        started = time.time()
        complaints = complaints_of(runs, case)
        failed += bool(complaints)
        took = f"{time.time() - started:.1f} s" if time.time() - started > 1 else ""
        expected = ", ".join(sorted({kind for kind, _ in case.rows()})) if mode == "known" else ""
        if runs.is_older(case):
            verdict = "reported"
        else:
            verdict = "computed" if case.has_twin or not expected else f"reported: {expected}"
        print(f"{mode:5} {case.name:40} {verdict if not complaints else 'WRONG'} {took}")
        for complaint in complaints:
            print(f"    {complaint}")
    gc.unfreeze()
    with open(path, "w") as file:
        json.dump(runs.peaks, file)
    print(f"{len(chosen) - failed} of {len(chosen)} cases as expected with --values {mode}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
