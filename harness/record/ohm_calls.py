"""Notes the calls of modules in the first steps of a job, for what checkpointing them would change:
where in the history each begins and ends, which blocks go in and come out, and where backward comes
to each of the nodes that it has made.

Places are counts of allocations and frees, which the allocator keeps: they are as exact as the
history. A call is noted where its graph is recorded, in the program's first thread.
"""
import threading

# Of each call, an annotation: known to CheckpointedModules (harness/replay).
CALL_NAME = "ohm record call"
STEPS = 3

# Nodes that have always saved something: what goes in or comes out, or a weight.
ALWAYS_SAVE = frozenset(
    name + "Backward0" for name in
    "Addmm Mm Bmm Baddbmm Convolution CudnnConvolution NativeLayerNorm NativeGroupNorm NativeBatchNorm "
    "CudnnBatchNorm Embedding Gelu Silu Relu Tanh Sigmoid Softmax LogSoftmax NativeDropout "
    "ScaledDotProductEfficientAttention ScaledDotProductFlashAttention "
    "ScaledDotProductCudnnAttention".split())
# Whose gradients autograd itself sums up where a shape was broadcast.
BROADCAST = frozenset(
    name + "Backward0" for name in
    "Add Addbmm Addcdiv Addcmul Addmm Addmv Atan2 Baddbmm Copysign Div Fmod Hypot Lerp Maximum Minimum "
    "Mul Pow Remainder Rsub Sub Where".split())


class Call:
    def __init__(self, caller, device, place, number, inputs, casts):
        self.caller = caller
        self.device = device
        self.begin = self.end = place
        self.numbers = range(number, number)  # of its nodes
        self.inputs = inputs  # addresses
        self.outputs = frozenset()
        self.casts = casts  # under autocast


class NotedCalls:
    def __init__(self, torch, callers):
        self.torch = torch
        self.callers = callers  # of modules, by their ids
        self.calls = []
        self.places = {}  # number of a node -> where backward comes to it, and its kind
        self.repeated = set()  # numbers of those that it comes to more than once
        self.hooked = set()

    # ---- what a call passes; whatever goes wrong, the program goes on ----

    def begin(self, module, arguments, named):
        try:
            if not self._is_noted():
                return None
            device = self.torch.cuda.current_device()
            inputs = addresses(self.torch, (arguments, named))
            return Call(self.callers[id(module)], device, self._place(device), self._number(), inputs,
                        self.torch.is_autocast_enabled())
        except Exception:  # a program's own tensors do what they like
            return None

    def end(self, call, result):
        if call is not None:
            try:
                call.end = self._place(call.device)
                call.numbers = range(call.numbers.start, self._number())
                call.outputs = addresses(self.torch, result)
                self._follow(call, result)
                self.calls.append(call)
            except Exception:
                pass  # it is not noted
        return result

    def _is_noted(self):
        return (self.torch.is_grad_enabled() and self.torch.cuda.is_initialized()
                and threading.current_thread() is threading.main_thread())

    def _number(self):
        return self.torch._C._autograd._get_sequence_nr()

    def _place(self, device):
        count = self.torch.cuda.memory_stats_as_nested_dict(device)["allocation"]["all"]
        return count["allocated"], count["freed"]

    def _follow(self, call, result):
        """Asks the nodes of this call to tell when backward comes to them."""
        rest = [tensor.grad_fn for tensor in tensors(self.torch, result)]
        passed = set()
        while rest:
            node = rest.pop()
            if node is None or node.name().endswith("AccumulateGrad"):
                continue
            number = node._sequence_nr()
            if number not in call.numbers or number in passed:
                continue
            passed.add(number)
            if number not in self.hooked:
                self.hooked.add(number)
                node.register_prehook(self._hook(number, call.device, node.name(),
                                                 node.next_functions, saves(node)))
            rest += [function for function, _ in node.next_functions]

    def _hook(self, number, device, name, next_functions, saved):
        def note(gradients):
            try:
                if number in self.places:
                    self.repeated.add(number)
                kind = kind_of(name, next_functions, saved, gradients)
                self.places[number] = (*self._place(device), kind)
            except Exception:
                self.repeated.add(number)

        return note

    # ---- what a snapshot is told ----

    def mark(self, snapshot, path_of):
        """Where the history is there from its beginning on: each call with the indices of its
        events, of the allocations of what goes in and comes out, and of its nodes."""
        histories = [History(trace) for trace in snapshot["device_traces"]]
        annotations = snapshot.setdefault("external_annotations", [])
        for call in self.calls:
            history = histories[call.device]
            numbers = [number for number in call.numbers if number in self.hooked]
            if not numbers or history.is_cut(call.end):
                continue
            nodes = [self.places.get(number) for number in numbers]
            if None in nodes or not self.repeated.isdisjoint(numbers):
                nodes = []  # it has no backward, or several
            begin, end = history.index(call.begin), history.index(call.end)
            outputs = call.outputs - call.inputs
            words = [begin, end, listed(history.nodes(nodes)),
                     listed(history.allocations(call.inputs, begin)),
                     listed(history.allocations(outputs, end)), int(call.casts),
                     path_of(call.caller)]
            annotations.append({"stage": "START", "name": " ".join(map(str, (CALL_NAME, *words))),
                                "device": call.device, "time_us": history.time(begin)})


class History:
    """A device's trace, of which places are known by their counts."""

    def __init__(self, trace):
        self.trace = trace
        self.indices = []  # of the events that are counted
        self.allocated_at = {}  # address -> indices
        frees = 0
        for index, entry in enumerate(trace):
            if entry["action"] == "alloc":
                self.allocated_at.setdefault(entry["addr"], []).append(index)
            elif entry["action"] == "free_requested":
                frees += 1
            else:
                continue
            self.indices.append((index, len(self.indices) + 1 - frees, frees))

    def is_cut(self, place):
        """Whether the counts are not those of the trace: its beginning is gone."""
        count = sum(place)
        return count > len(self.indices) or count > 0 and self.indices[count - 1][1:] != tuple(place)

    def index(self, place):
        count = sum(place)
        return self.indices[count - 1][0] + 1 if count else 0

    def nodes(self, nodes):
        """"105s": the index where backward comes to it, and its kind."""
        found = sorted((self.index(place), kind) for *place, kind in nodes)
        return [f"{index}{kind}" for index, kind in found]

    def time(self, index):
        return self.trace[min(index, len(self.trace) - 1)]["time_us"]

    def allocations(self, addresses_there, before):
        """The last one of each address."""
        found = []
        for address in addresses_there:
            earlier = [index for index in self.allocated_at.get(address, ()) if index < before]
            found += earlier[-1:]
        return sorted(found)


def saves(node):
    """Whether it may have saved tensors, as far as its class tells."""
    return any(name.startswith("_raw_saved") for name in dir(node))


def kind_of(name, next_functions, saved, gradients):
    """n: saves nothing, s: something, m: maybe. r2: saves something, and when its two results are
    there, the gradient of what was broadcast is summed up; u: the same of who knows how many."""
    kind = "s" if name in ALWAYS_SAVE else "m" if saved else "n"
    if kind == "n" or name not in BROADCAST or not sums_up(name, next_functions, gradients):
        return kind
    if name != "AddmmBackward0":
        return "u"
    return f"r{sum(function is not None for function, _ in next_functions[1:])}"


def sums_up(name, next_functions, gradients):
    """Whether a gradient has another shape than what it is of."""
    if gradients[0] is None:
        return False
    edges = next_functions[:1] if name == "AddmmBackward0" else next_functions
    for function, number in edges:
        if function is None:
            continue
        is_leaf = function.name().endswith("AccumulateGrad")
        shape = function.variable.shape if is_leaf else function._input_metadata[number].shape
        if tuple(shape) != tuple(gradients[0].shape):
            return True
    return False


def listed(numbers):
    return ",".join(map(str, numbers)) or "-"


def tensors(torch, value, depth=0):
    """Those of a module's arguments or results."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict) and depth < 4:
        for item in value.values():
            yield from tensors(torch, item, depth + 1)
    elif isinstance(value, (list, tuple)) and depth < 4:
        for item in value:
            yield from tensors(torch, item, depth + 1)


def addresses(torch, value):
    return frozenset(tensor.untyped_storage().data_ptr() for tensor in tensors(torch, value)
                     if tensor.is_cuda)
