"""Known values on a GPU whose kernels compute nothing.

What a program copies from the host or fills in is known, and so is what is computed of known values:
masks, lengths, indices, small numbers. It is computed here, on the host, where PyTorch's operators are
dispatched for tensors that may hold known values (ohm_memory.py): the operator of the GPU runs first,
so that every allocation is PyTorch's own, then the same operator of the CPU, on the same memory. An
operator that counts its results on the device is told their number (DeviceMemory.answers).

Everything else is unknown. Reads of unknown values are recorded by ohm_reads.py."""
import collections
import os

from ohm_backward import Backward
from ohm_console import say
from ohm_factories import Factories
from ohm_host_aliases import HostAliases
from ohm_host_values import HostValues
from ohm_kernels import Kernels
from ohm_memory import KEY, DeviceMemory, TensorKey, is_dense, is_plain, span_of, without_collections
from ohm_operators import (
    COLLECTIVES, FILLS, FINDS_OVERFLOW, GIVES_NUMBER, HAS_COUNTED_SIZE,
    IS_RANDOM, UNIQUE, Operator, is_written_in_python, makes_views, paired, tensors_in)
from ohm_provisional import Provisional
from ohm_replays import Replays
from ohm_resized import ResizedTensors
from ohm_selection import Selection
from ohm_sharing import Sharing
from ohm_writes import Writes

# Larger tensors are not computed: of integers and bools, which are masks and indices, and of others.
MOST_INTEGERS = 64 << 20
MOST_NUMBERS = 4 << 20
# Gradients and optimizer state begin with zeros: what is filled is smaller.
MOST_FILLED = 256 << 10

# Operators that have kernels of their own (ohm_writes.py).
WRITES = ("aten::copy_", "aten::fill_.Scalar", "aten::zero_", "aten::nonzero.out")

NOT_COMPUTED = object()  # the CPU has no such operator, or refuses its arguments


class KnownValues:
    writes = Writes
    compute_kernel = None  # of Triton: ohm_kernels.py
    includes_key = False  # whether all operators are followed, not only those of tensors with the key

    def __init__(self, torch, library, reads):
        self.torch = torch
        self.c = torch._C
        self.memory = DeviceMemory(library)
        self.key = TensorKey(torch)
        self.sharing = Sharing(torch, self.memory, self.key)
        self.backward = Backward(torch, self)
        self.replays = Replays(torch, self)
        self.provisional = Provisional(self)
        self.selection = Selection(self)
        self.factories = Factories(torch, self)
        self.host_values = HostValues(torch, self)
        self.host_aliases = HostAliases(torch, self)
        self.reads = reads
        self.not_computed = collections.Counter()  # names of operators
        self.host = torch.device("cpu")
        self.host_keys = self.c.DispatchKeySet(self.c.DispatchKey.CPU)
        self.keys_below = self.c._dispatch_keyset_full_after(self.key.key)
        self.without_key = self.c._ExcludeDispatchKeyGuard
        self.excluded = self.c.DispatchKeySet(self.key.key)
        self.others = {}  # operators of other libraries
        self.libraries = []  # registrations last as long as these

    # ---- registration ----

    def register(self):
        c = self.c
        self.reads.follow(self.memory)
        self.provisional.follow()
        library = self.torch.library.Library("aten", "IMPL")
        self.libraries.append(library)
        for name in c._dispatch_get_all_op_names():
            is_followed = name.startswith("aten::") and name not in WRITES
            if is_followed and (c._dispatch_has_kernel_for_dispatch_key(name, "CUDA")
                                or launches(c, name)):
                library.m.impl(name[6:], KEY, self._kernel(name), True)
        self.writes(self.torch, self).follow(library)
        ResizedTensors(self.torch, self).follow(library)
        if not self.includes_key:
            self.selection.follow_within(library)
        others = self.torch.library.Library("_", "IMPL")
        others.fallback(self._others, KEY, with_keyset=True)
        self.libraries.append(others)

    def follow(self, replace):
        """What is not an operator. replace(home, name, call): call(function, arguments, named) in place
        of home.name."""
        self.follow_factories(replace)
        self.backward.follow(replace)
        self.host_values.follow(replace)
        self.host_aliases.follow(replace)
        self.selection.follow(replace)
        self.follow_graphs()
        Kernels(self.torch, self).follow()
        if not self.includes_key:
            self.sharing.follow(replace)

    def follow_factories(self, replace):
        self.factories.follow(replace)

    def follow_graphs(self):
        self.replays.follow()

    def _kernel(self, name):
        """Made when it is first called: few of the operators ever are."""
        if self._is_view(name):
            return self.torch.library.fallthrough_kernel
        made = []

        def kernel(keys, *arguments, **named):
            if not made:
                made.append(self.kernel_of(Operator.named(self.torch, name, self.key.key)))
            return made[0](keys, *arguments, **named)

        return without_collections(kernel)

    def kernel_of(self, operator):
        return lambda keys, *arguments, **named: self.run(operator, keys, arguments, named)

    def _is_view(self, name):
        base, _, overload = name[6:].partition(".")
        return makes_views(self.c._get_schema(f"aten::{base}", overload))

    def _others(self, keys, overload, *arguments, **named):
        """Operators without a kernel of ours: of other libraries, or with none for the GPU."""
        if (overload.namespace in COLLECTIVES or makes_views(overload._schema)
                or self.follows_within(overload)):
            return overload.redispatch(keys & self.keys_below, *arguments, **named)
        if overload not in self.others:
            self.others[overload] = Operator(self.torch, overload, self.key.key)
        return self.run(self.others[overload], keys, arguments, named)

    def follows_within(self, overload):
        """Of an operator of another library, whether what it calls is followed as the program's calls are.
        What it writes to may be written by kernels that no operator calls."""
        return not overload._schema.is_mutable and is_written_in_python(self.torch, overload)

    # ---- operators ----

    def run(self, operator, keys, arguments, named):
        keys = keys & self.keys_below
        if operator.moves_nothing:
            return operator.call(keys, arguments, named)
        if self.is_capturing():
            return self.replays.run(operator, keys, arguments, named)
        if self.may_compute(operator) and self.are_known(operator, arguments, named):
            if operator.counts_results:
                return self.run_counting(operator, keys, arguments, named)
            if operator.returns_answer:
                return self.run_answering(operator, keys, arguments, named)
            result = self.call(operator, keys, arguments, named)
            if self.compute(operator, arguments, named, result):
                return result
        else:
            result = self.call_unknown(operator, keys, arguments, named)
            self.memory.confirm()
        self.forget(operator, arguments, named, result)
        return result

    def call(self, operator, keys, arguments, named):
        """What it calls within is not followed, unless it reads what that computes."""
        if operator.reads_nested:
            return operator.call(keys, arguments, named)
        with self.without_key(self.excluded):
            return operator.call(keys, arguments, named)

    def call_unknown(self, operator, keys, arguments, named):
        """What it reads is unknown."""
        if operator.base not in UNIQUE:
            return self.call(operator, keys, arguments, named)
        dimension = operator.full_arguments(arguments, named).get("dim")
        return self.selection.different_values(
            arguments[0], dimension, lambda: self.call(operator, keys, arguments, named))

    def may_compute(self, operator):
        return operator.is_cheap

    def are_known(self, operator, arguments, named):
        """Of all that is read."""
        unread = operator.unread_of(arguments, named)
        for name, value in operator.inputs(arguments, named):
            if type(value) in self.reads.number_types:
                return False
            for tensor in tensors_in(self.torch, value):
                if self.is_known(tensor) or name in unread:
                    continue
                if name != "self" or not self._is_overwritten(operator, arguments, named):
                    return False
        return True

    def _is_overwritten(self, operator, arguments, named):
        """The whole first argument, by the operator."""
        index, rows = operator.index_of_all(arguments, named) or (None, 0)
        if index is None or not self.is_known(index):
            return False
        return (self.moved(index) % rows).unique().numel() == rows

    def is_known(self, tensor):
        """Also of a tensor without the key, whose memory was known when it was made: a number that
        PyTorch has put there, or what came from another rank."""
        if tensor.is_cuda:
            return is_plain(self.torch, tensor) and self.memory.is_known(*span_of(tensor))
        return tensor.device.type == "cpu" and not self.key.has(tensor)

    def is_capturing(self):
        """A CUDA graph: nothing is computed."""
        return self.replays.written is not None

    def may_fill(self, tensor):
        if tensor.dtype is self.torch.uint8:  # workspaces
            return tensor.numel() <= MOST_FILLED
        return self.are_small((tensor,), MOST_FILLED)

    def is_small(self, tensor):
        return self.are_small((tensor,))

    @staticmethod
    def are_small(tensors, most_numbers=MOST_NUMBERS):
        """Together."""
        integers = numbers = 0
        for tensor in tensors:
            if tensor.dtype.is_floating_point or tensor.dtype.is_complex:
                numbers += tensor.numel()
            else:
                integers += tensor.numel()
        return integers <= MOST_INTEGERS and numbers <= most_numbers

    def run_counting(self, operator, keys, arguments, named):
        values = self.on_host(operator, arguments, named)
        if values is NOT_COMPUTED:
            return operator.call(keys, arguments, named)
        result = self.call_counting(operator, keys, arguments, named,
                                    operator.counts_results(arguments, values))
        self.take(result, values)
        return result

    def run_answering(self, operator, keys, arguments, named):
        """One that returns no tensor; kernels that it calls for its answer are no operators."""
        with self.without_key(self.excluded), self.reads.ignored():
            answer = operator.call(keys, arguments, named)
        found = self.on_host(operator, arguments, named)
        return answer if found is NOT_COMPUTED else found

    def call_counting(self, operator, keys, arguments, named, counts):
        with self.memory.answers(*counts):
            return operator.call(keys, arguments, named)

    def compute(self, operator, arguments, named, result):
        written = list(operator.written(self.torch, arguments, named))
        if not self.are_small([*tensors_in(self.torch, result), *written]):
            return False
        values = self.on_host(operator, arguments, named)
        if values is NOT_COMPUTED:
            return False
        for tensor in written:
            self.mark_known(tensor)
        if operator.makes_results:
            self.take(result, values)
        return True

    def on_host(self, operator, arguments, named):
        """What the CPU computes, in place where the operator works in place; or NOT_COMPUTED."""
        with self.c._AutoDispatchBelowAutograd():
            try:
                return operator.overload(*operator.with_tensors(self.moved(arguments)),
                                         **{k: self.moved(v) for k, v in named.items()})
            except Exception as error:  # an index that is none, a dtype that the CPU lacks
                return self.on_refusal(operator, arguments, named, error)

    def on_refusal(self, operator, arguments, named, error):
        self.note(operator.base, error)
        return NOT_COMPUTED

    def note(self, name, error):
        self.not_computed[name] += 1
        if os.environ.get("OHM_VALUES_TRACE"):
            say(f"{name} was not computed: {str(error)[:200]!r}")

    def moved(self, value):
        """Arguments for the CPU: tensors on the same memory."""
        if isinstance(value, self.torch.Tensor):
            return self.alias(value) if value.is_cuda else value
        if isinstance(value, (list, tuple)):
            return type(value)([self.moved(item) for item in value])
        if isinstance(value, self.torch.device) and value.type == "cuda":
            return self.host
        return value

    def alias(self, tensor):
        """A tensor of the CPU on the memory of one of the GPU."""
        address, size = span_of(tensor)
        if size == 0:
            return self.torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype,
                                            device=self.host)
        made = self.torch.empty(0, dtype=tensor.dtype, device=self.host)
        storage = self.c._construct_storage_from_data_pointer(address, self.host, size)
        made.set_(storage, 0, tensor.size(), tensor.stride())
        if tensor.is_conj():
            made = made.conj()
        return made.neg() if tensor.is_neg() else made

    def take(self, result, values):
        """Copies what the CPU has computed to the results of the GPU."""
        with self.c._AutoDispatchBelowAutograd():
            for tensor, value in paired(self.torch, result, values):
                if not tensor.is_cuda:
                    continue
                if value is None or tensor.size() != value.size():
                    self.mark_unknown(tensor)
                    continue
                self.alias(tensor).copy_(value)
                self.mark_known(tensor)

    # ---- marks ----

    def mark_known(self, tensor):
        """Of what has been written with known values."""
        self._mark(tensor, self.memory.mark_known)

    def _mark(self, tensor, mark):
        if not tensor.is_contiguous() and not is_dense(tensor):
            return
        if self.sharing.give_key(tensor):
            mark(*span_of(tensor))
        else:
            self.memory.mark_unknown(*span_of(tensor))

    def mark_filled(self, tensor):
        """Of what an operator has filled with known values, or copied them to."""
        self._mark(tensor, self.provisional.mark)

    def write(self, tensor):
        """What a kernel that no operator calls may have written to."""
        if self.is_capturing():
            self.replays.write(tensor)
        elif self.includes_key or self.key.has(tensor):
            self.mark_unknown(tensor)

    def mark_unknown(self, tensor):
        if is_plain(self.torch, tensor):
            self.memory.mark_unknown(*span_of(tensor))
            self.sharing.take_key(tensor)
        elif tensor.device.type == "cpu":
            self.reads.are_on_host = True
            had_key = self.key.has(tensor)  # and so has what is made of it
            self.key.add(tensor)
            if tensor._base is not None:
                self.key.add(tensor._base)
            if not had_key and tensor.layout is self.torch.strided:
                self._mark_aliases(tensor)

    def _mark_aliases(self, tensor):
        for alias in self.host_aliases.of(tensor):
            self.key.add(alias)
        if self.host_aliases.is_array(tensor):
            self.reads.note_value()

    def forget(self, operator, arguments, named, result):
        """Of what was written, and of results on the host."""
        if operator.base == FINDS_OVERFLOW:  # found_inf says what it said
            self.memory.note_assumption("finite_values")
            arguments = arguments[:1]
        for tensor in operator.written(self.torch, arguments, named):
            if tensor.is_cuda or not self._reads_nothing(operator):
                self.mark_unknown(tensor)
            else:
                self.key.remove(tensor)
        if operator.base in GIVES_NUMBER and not arguments[0].is_cuda:
            self.reads.on_read()
        if operator.writes:
            return
        for tensor in tensors_in(self.torch, result):
            if not tensor.is_cuda:
                self.mark_unknown(tensor)
                if operator.base in HAS_COUNTED_SIZE:
                    self.reads.note_shape()
            elif operator.is_cheap and self.key.has(tensor):  # a copy within it was known
                self.mark_unknown(tensor)

    @staticmethod
    def _reads_nothing(operator):
        return operator.base in FILLS or operator.base in IS_RANDOM

    def is_unknown(self, tensor):
        """Of one whose values are asked for."""
        if tensor.device.type == "cpu":
            return self.key.has(tensor)
        if not tensor.is_cuda or tensor.numel() == 0:
            return False
        try:
            return is_plain(self.torch, tensor) and not self.is_known(tensor)
        except RuntimeError:  # it stands for other tensors
            return False


def launches(c, name):
    """Whether an operator has a kernel of its own, though PyTorch registers it as one that is composed of
    others."""
    return name.partition(".")[0] in ("aten::ldexp", "aten::ldexp_") and (
        c._dispatch_has_kernel_for_dispatch_key(name, "CompositeExplicitAutograd"))
