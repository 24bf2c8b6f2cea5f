"""Known values on a GPU whose kernels compute nothing.

What a program copies from the host or fills in is known, and so is what is computed of known values:
masks, lengths, indices, small numbers. It is computed here, on the host, where PyTorch's operators are
dispatched for tensors that may hold known values (ohm_memory.py): the operator of the GPU runs first,
so that every allocation is PyTorch's own, then the same operator of the CPU, on the same memory. An
operator that counts its results on the device is told their number (DeviceMemory.answers).

Everything else is unknown. Reads of unknown values are recorded by ohm_reads.py."""
import collections
import ctypes
import os
import sys
import warnings

from ohm_memory import KEY, DeviceMemory, TensorKey, is_dense, span_of
from ohm_operators import (
    COLLECTIVES, FILLS, FINDS_OVERFLOW, GIVES_NUMBER, HAS_COUNTED_SIZE,
    IS_RANDOM, Operator, makes_views,
    paired, tensors_in)

# Larger tensors are not computed: of integers and bools, which are masks and indices, and of others.
MOST_INTEGERS = 64 << 20
MOST_NUMBERS = 4 << 20
# Gradients and optimizer state begin with zeros: what is filled is smaller.
MOST_FILLED = 256 << 10
# Functions of torch that make tensors of numbers.
FACTORIES = "arange linspace logspace eye tril_indices triu_indices".split()
# Copies that the library leaves out (allocator_shim/interpose/copies.h).
LARGEST_HOST_COPY = 64 << 20

NOT_COMPUTED = object()  # the CPU has no such operator, or refuses its arguments


class KnownValues:
    def __init__(self, torch, library, reads):
        self.torch = torch
        self.c = torch._C
        self.memory = DeviceMemory(library)
        self.key = TensorKey(torch)
        self.reads = reads
        self.not_computed = collections.Counter()  # names of operators
        self.host = torch.device("cpu")
        self.host_keys = self.c.DispatchKeySet(self.c.DispatchKey.CPU)
        self.keys_below = self.c._dispatch_keyset_full_after(self.key.key)
        aten = torch.ops.aten
        self.copy_operator = aten.copy_.default
        self.fill_operator = aten.fill_.Scalar
        self.zero_operator = aten.zero_.default
        self.nonzero_into = aten.nonzero.out
        self.assumed_share = assumed_share()
        self.others = {}  # operators of other libraries
        self.libraries = []  # registrations last as long as these

    # ---- registration ----

    def register(self):
        c = self.c
        self.reads.follow(self.memory)
        library = self.torch.library.Library("aten", "IMPL")
        self.libraries.append(library)
        for name in c._dispatch_get_all_op_names():
            if name.startswith("aten::") and c._dispatch_has_kernel_for_dispatch_key(name, "CUDA"):
                library.m.impl(name[6:], KEY, self._kernel(name), True)
        library.m.impl("copy_", KEY, self._copy, True)
        with warnings.catch_warnings():  # of kernels that are replaced
            warnings.simplefilter("ignore")
            library.m.impl("copy_", "CUDA", self._copy, True)
            library.m.impl("fill_.Scalar", "CUDA", self._fill, True)
            library.m.impl("zero_", "CUDA", self._zero, True)
            library.m.impl("nonzero", "CUDA", self._nonzero, True)
        others = self.torch.library.Library("_", "IMPL")
        others.fallback(self._others, KEY, with_keyset=True)
        self.libraries.append(others)

    def _kernel(self, name):
        """Made when it is first called: few of the operators ever are."""
        if name == "aten::copy_" or self._is_view(name):
            return self.torch.library.fallthrough_kernel
        operators = []

        def kernel(keys, *arguments, **named):
            if not operators:
                operators.append(Operator.named(self.torch, name, self.key.key))
            return self.run(operators[0], keys, arguments, named)

        return kernel

    def _is_view(self, name):
        base, _, overload = name[6:].partition(".")
        return makes_views(self.c._get_schema(f"aten::{base}", overload))

    def _others(self, keys, overload, *arguments, **named):
        """Operators without a kernel of ours: of other libraries, or with none for the GPU."""
        if overload.namespace in COLLECTIVES or makes_views(overload._schema):
            return overload.redispatch(keys & self.keys_below, *arguments, **named)
        if overload not in self.others:
            self.others[overload] = Operator(self.torch, overload, self.key.key)
        return self.run(self.others[overload], keys, arguments, named)

    # ---- operators ----

    def run(self, operator, keys, arguments, named):
        keys = keys & self.keys_below
        is_known = self.are_known(operator, arguments, named)
        if is_known and self.may_compute(operator):
            if operator.counts_results:
                return self.run_counting(operator, keys, arguments, named)
            result = operator.call(keys, arguments, named)
            if self.compute(operator, arguments, named, result):
                return result
        else:
            result = operator.call(keys, arguments, named)
        self.forget(operator, arguments, named, result)
        return result

    def may_compute(self, operator):
        return operator.is_cheap

    def are_known(self, operator, arguments, named):
        """Of all that is read. Tensors that turn out to be unknown lose their key."""
        for name, value in operator.inputs(arguments, named):
            if type(value) in self.reads.number_types:
                return False
            for tensor in tensors_in(self.torch, value):
                if not self.is_known(tensor) and name not in operator.unread:
                    return False
        return True

    def is_known(self, tensor):
        if not self.key.has(tensor):
            return tensor.device.type == "cpu"
        if not tensor.is_cuda:
            return False
        if self.memory.is_known(*span_of(tensor)):
            return True
        self.key.remove(tensor)
        return False

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
                self.note(operator.base, error)
                return NOT_COMPUTED

    def note(self, name, error):
        self.not_computed[name] += 1
        if os.environ.get("OHM_VALUES_TRACE"):
            sys.stderr.write(f"ohm: {name} was not computed: {str(error)[:200]!r}\n")

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
        """Of what has been written with known values. Where a part of unknown memory is known, it is
        the tensor of all of it that carries the key, too: what it writes then is followed."""
        if not tensor.is_contiguous() and not is_dense(tensor):
            return
        self.memory.mark_known(*span_of(tensor))
        self.key.add(tensor)
        base = tensor._base
        if base is not None and base.is_cuda:
            self.key.add(base)

    def mark_unknown(self, tensor):
        if tensor.is_cuda:
            self.memory.mark_unknown(*span_of(tensor))
            self.key.remove(tensor)
        else:
            self.key.add(tensor)
            if tensor._base is not None:
                self.key.add(tensor._base)

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

    @staticmethod
    def _reads_nothing(operator):
        return operator.base in FILLS or operator.base in IS_RANDOM

    def follow_factories(self, decorate):
        """Functions of torch whose results follow from their arguments. decorate(name, call): `call`
        takes the function and its arguments in its place."""
        for name in FACTORIES:
            decorate(name, self._make)

    def _make(self, function, arguments, named):
        result = function(*arguments, **named)
        is_plain = type(result) is self.torch.Tensor and result.is_cuda
        if is_plain and not self.torch.compiler.is_compiling() and self.is_small(result):
            on_host = {k: v for k, v in named.items() if k not in ("out", "requires_grad")}
            self.take(result, function(*arguments, **{**on_host, "device": self.host,
                                                      "dtype": result.dtype}))
        return result

    def is_unknown_on_host(self, tensor):
        return tensor.device.type == "cpu" and self.key.has(tensor)

    def assume(self, tensor, value, assumption):
        """All of an unknown tensor of the GPU is taken for this value."""
        is_plain = type(tensor) is self.torch.Tensor and tensor.is_cuda
        if not is_plain or self.is_known(tensor) or not self.is_small(tensor):
            return
        with self.c._AutoDispatchBelowAutograd():
            self.alias(tensor).fill_(value)
        self.mark_known(tensor)
        self.memory.note_assumption(assumption)

    # ---- where known values come from ----

    def _copy(self, keys, target, source, non_blocking=False):
        if not isinstance(source, self.torch.Tensor):
            source = self.torch.tensor(source)
        thread = self.reads.thread
        before, thread.is_ignored = thread.is_ignored, True
        try:
            self.copy_operator.redispatch(self.host_keys, target, source, non_blocking)
        finally:
            thread.is_ignored = before
        if target.is_cuda:
            self._copy_to_device(target, source)
        elif source.is_cuda:
            if self.memory.is_known(*span_of(source)):
                self.key.remove(target)
            else:
                self.mark_unknown(target)
        elif self.key.has(source):
            self.mark_unknown(target)
        elif is_dense(target):
            self.key.remove(target)
        return target

    def _copy_to_device(self, target, source):
        if not (self.is_small(target) and self.is_small(source) and self.is_known(source)):
            self.memory.mark_unknown(*span_of(target))
            return
        is_done = (source.device.type == "cpu" and source.dtype == target.dtype
                   and source.size() == target.size() and source.is_contiguous()
                   and target.is_contiguous()
                   and target.numel() * target.element_size() <= LARGEST_HOST_COPY)
        if not is_done and source.device.type in ("cpu", "cuda"):
            with self.c._AutoDispatchBelowAutograd():
                self.alias(target).copy_(self.moved(source))
        self.mark_known(target)

    def _fill(self, keys, tensor, value):
        self.fill_operator.redispatch(self.host_keys, tensor, value)
        self.fill(tensor, value)
        return tensor

    def _zero(self, keys, tensor):
        self.zero_operator.redispatch(self.host_keys, tensor)
        self.fill(tensor, 0)
        return tensor

    def fill(self, tensor, value):
        if type(value) in self.reads.number_types or not self.may_fill(tensor):
            self.memory.mark_unknown(*span_of(tensor))
            return
        if type(value) in (int, float) and value == 0 and tensor.is_contiguous():
            ctypes.memset(*zeros_of(tensor))
        else:
            with self.c._AutoDispatchBelowAutograd():
                self.alias(tensor).fill_(value)
        self.mark_known(tensor)

    def may_fill(self, tensor):
        if tensor.dtype is self.torch.uint8:  # workspaces
            return tensor.numel() <= MOST_FILLED
        return self.are_small((tensor,), MOST_FILLED)

    def _nonzero(self, keys, tensor):
        with self.c._AutoDispatchBelowAutograd():
            result = self.torch.empty((0,), dtype=self.torch.int64, device=tensor.device)
        if self.is_known(tensor):
            with self.c._AutoDispatchBelowAutograd():
                rows = self.alias(tensor).nonzero()
            with self.memory.answers(len(rows)):
                self.nonzero_into(tensor, out=result)
            self.take(result, rows)
            return result
        share = self.assumed_share
        count = int(tensor.numel() * share) if share is not None else 0
        if share is not None:
            self.memory.note_assumption("assumed_selection")
        else:
            self.reads.note_shape(f"0 of {tensor.numel():,} rows selected")
        with self.reads.ignored(), self.memory.answers(count):
            self.nonzero_into(tensor, out=result)
        return result


def zeros_of(tensor):
    """The arguments of memset."""
    address, size = span_of(tensor)
    return address, 0, size


def assumed_share():
    """$OHM_ASSUME_SELECTED: of the rows that a mask of unknown values selects; None: not told."""
    text = os.environ.get("OHM_ASSUME_SELECTED", "")
    if not text:
        return None
    return 1.0 if text == "max" else float(text)
