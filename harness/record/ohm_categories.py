"""What memory is for: parameters, gradients and optimizer state, as a Python program's own objects
tell by their addresses; data and what is computed of it, as the lines of its source tell."""
import bisect
import collections
import gc
import time

FIRST_MOMENTS = 16
LAST_MOMENTS = 64


class Moments:
    """Addresses of which something is known (their category), at the moments when they were looked
    at: the first ones and the last ones are kept."""

    def __init__(self):
        self.first = []  # (time in microseconds, {address: what is known})
        self.last = collections.deque(maxlen=LAST_MOMENTS)

    def has_first(self):
        return len(self.first) >= FIRST_MOMENTS

    def note(self, torch, modules, optimizers):
        categories = {}
        for optimizer in optimizers:
            note_optimizer(torch, optimizer, categories)
        for module in modules:
            note_parameters(vars(module).get("_parameters", {}).values(), categories)
        self.add(categories)

    def add(self, known):
        moments = self.last if self.has_first() else self.first
        moments.append((time.time_ns() // 1000, known))

    def all(self):
        return self.first + list(self.last)


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
            categories.setdefault(address_of(tensor.untyped_storage()), category)
    except (AttributeError, NotImplementedError, RuntimeError):
        pass  # without a storage: a tensor of a subclass, a fake one


def address_of(storage):
    """Past what follows a program's own reads of addresses (ohm_host_values.py)."""
    read = type(storage).data_ptr
    return getattr(read, "__wrapped__", read)(storage)


def note_parameters(parameters, categories):
    for parameter in parameters:
        if parameter is None:
            continue
        note_address(parameter, "parameter", categories)
        if parameter.grad is not None:
            note_address(parameter.grad, "gradient", categories)


def note_optimizer(torch, optimizer, categories):
    # What a constructor that failed has left behind may have neither.
    made = vars(optimizer)
    for group in made.get("param_groups", ()):
        note_parameters(group["params"], categories)
    for state in list(made.get("state", {}).values()):
        for value in state.values() if isinstance(state, dict) else ():
            if isinstance(value, torch.Tensor):
                note_address(value, "optimizer_state", categories)


def mark_categories(snapshot, moments):
    """Gives the allocations of these addresses, at these times, their category."""
    for entry, category in last_allocation_at(snapshot, moments):
        entry.setdefault("category", category)
    if not moments:
        return
    at_end = moments[-1][1]
    for segment in snapshot["segments"]:
        for block in segment["blocks"]:
            category = at_end.get(block.get("address"))
            if category and block["state"].startswith("active"):
                block["category"] = category


def last_allocation_at(snapshot, moments):
    """Of each address at each moment: the entry that had allocated it, and what is known."""
    wanted = {address for _, known in moments for address in known}
    for trace in snapshot["device_traces"]:
        entries = collections.defaultdict(list)  # of an address, the oldest first
        for entry in trace:
            if entry["action"] == "alloc" and entry["addr"] in wanted:
                entries[entry["addr"]].append(entry)
        times = {address: [entry["time_us"] for entry in of] for address, of in entries.items()}
        for moment, known in moments:
            for address, what in known.items():
                last = bisect.bisect_right(times.get(address, ()), moment) - 1
                if last >= 0:
                    yield entries[address][last], what


def active_blocks(snapshot):
    """(device, address) of each that is allocated."""
    return {(segment["device"], block["address"]) for segment in snapshot["segments"]
            for block in segment["blocks"] if block["state"] == "active_allocated"}


def mark_by_address(snapshot, blocks, category):
    """Blocks that are there at the end, as active_blocks names them, and their allocations."""
    rest = set(blocks)
    for device, trace in enumerate(snapshot["device_traces"]):
        for entry in reversed(trace):
            if entry["action"] == "alloc" and (device, entry["addr"]) in rest:
                entry["category"] = category
                rest.remove((device, entry["addr"]))
    for segment in snapshot["segments"]:
        for block in segment["blocks"]:
            if (segment["device"], block.get("address")) in blocks:
                block["category"] = category


def mark_lines(snapshot, lines):
    """What no object has told of, by the line that asked for it."""
    known = {}  # one list of frames stands for all requests of a stack
    requests = [entry for trace in snapshot["device_traces"] for entry in trace
                if entry["action"] == "alloc"]
    # What is older than the history is known by its block alone.
    requests += [block for segment in snapshot["segments"] for block in segment["blocks"]
                 if block["state"].startswith("active")]
    for request in requests:
        frames = request.get("frames") or []
        if "category" in request or not frames:
            continue
        if id(frames) not in known:
            known[id(frames)] = lines.category_of(frames)
        if known[id(frames)]:
            request["category"] = known[id(frames)]


def stacks_of(snapshot):
    """The lists of frames, each once: one list stands for all requests of a stack."""
    known = {}
    for trace in snapshot["device_traces"]:
        known.update((id(entry["frames"]), entry["frames"]) for entry in trace if "frames" in entry)
    for segment in snapshot["segments"]:
        for part in (segment, *segment["blocks"]):
            if "frames" in part:
                known[id(part["frames"])] = part["frames"]
    return known.values()
