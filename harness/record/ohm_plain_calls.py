"""Operators that are given plain tensors of known values, and numbers, as nearly all are, in few steps
(ohm exec --values cpu).

They need nothing of what ohm_computed.py does for other layouts, for sizes that depend on values and for
random numbers: the operator of the GPU runs for its allocations, then the CPU's on the same memory. Where
the CPU's can be given the results to write to, they are not copied."""
import functools

import ohm_philox as philox
from ohm_layouts import is_plain
from ohm_memory import is_dense, span_of
from ohm_operators import NUMBERS, TAKES_NUMBERS, paired
from ohm_precision import ROUNDED_ONCE, is_rounded_once
from ohm_random import DRAWN
from ohm_substitutes import SUBSTITUTES

MOST_TWINS = 1 << 13
DRAWN_IN_PLACE = frozenset(name for name in DRAWN if name.endswith("_"))
TENSORS = "Tensor", "List[Tensor]"


class Twins:
    """Tensors of the host on the memory of the GPU's. Steps of a program come to the same memory again,
    so twins are kept, by what tells one from another."""

    def __init__(self, values, alias):
        self.torch = values.torch
        self.is_known = values.memory.is_known
        self.alias = alias
        self.mark_known = values.memory.mark_known
        self.kept = {}  # (address, dtype, shape, strides) -> (twin, bytes, is dense); no twin: it has none here

    def of(self, tensor):
        """None: of unknown values, or not a plain one of the GPU."""
        if not tensor.is_cuda or tensor.is_neg():
            return None
        address = tensor.data_ptr()
        key = address, tensor.dtype, tensor.shape, tensor.stride()
        twin, size, _ = self.kept.get(key) or self._keep(key, tensor)
        return twin if size and self.is_known(address, size) else None

    def of_new(self, tensor):
        """Of a result, whose block is known."""
        key = tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride()
        return (self.kept.get(key) or self._keep(key, tensor))[0]

    def to_write(self, tensor):
        """(twin, first address, bytes) of one whose values nothing reads. None: not a plain one of the GPU, or
        what lies between its elements is unknown."""
        if not tensor.is_cuda or tensor.is_neg():
            return None
        address = tensor.data_ptr()
        key = address, tensor.dtype, tensor.shape, tensor.stride()
        twin, size, is_dense_one = self.kept.get(key) or self._keep(key, tensor)
        if twin is None or not (is_dense_one or self.is_known(address, size)):
            return None
        return twin, address, size

    def _keep(self, key, tensor):
        if len(self.kept) >= MOST_TWINS:
            self.kept.clear()
        found = None, 0, False
        if is_plain(self.torch, tensor) and not tensor.dtype.is_complex and tensor.numel():
            with self.torch.inference_mode(False):
                twin = self.alias(tensor)
            found = twin, span_of(tensor)[1], is_dense(tensor)
        self.kept[key] = found
        return found


class PlainCalls:
    """Of ComputedValues."""

    def __init__(self, values, alias):
        torch, c = values.torch, values.c
        self.values = values
        self.twins = Twins(values, alias)
        self.tensors = frozenset((torch.Tensor, torch.nn.Parameter))
        self.others = frozenset((type(None), bool, int, float, str, torch.dtype, torch.layout,
                                 torch.memory_format))
        self.device_keys = c.DispatchKeySet(c.DispatchKey.CUDA)
        self.copy = way_below(torch.ops.aten.copy_.default, values.host_keys)

    def takes(self, operator):
        """Whether what this module does may be all that an operator needs."""
        first = operator.overload._schema.arguments[:1]
        return bool(operator.is_own and first and str(first[0].type) in TENSORS
                    and not (operator.moves_nothing or operator.draws or operator.reads_nested)
                    and not (operator.counts_results or operator.returns_answer or operator.unread)
                    and all(str(r.type) in TENSORS for r in operator.overload._schema.returns)
                    and operator.base not in SUBSTITUTES and operator.full_name not in SUBSTITUTES)

    def kernel(self, operator, otherwise):
        """otherwise(keys, *arguments, **named): of arguments that are not plain."""
        if operator.is_own and operator.name in DRAWN_IN_PLACE and philox.numpy() is not None:
            return self._drawing_kernel(operator, otherwise)
        if not self.takes(operator):
            return otherwise
        values, graphs, told = self.values, self.values.graphs, self.values.told
        without_key, excluded, tensors = values.without_key, values.excluded, self.tensors
        torch, keys_below = values.torch, values.keys_below
        rounds_once = operator.base in ROUNDED_ONCE
        on_host, is_number_taken = self._on_host, self._number_test(operator)
        ways = [self._way(operator, is_anew) for is_anew in (False, True)]

        def kernel(keys, *arguments, **named):
            if graphs.steps is not None or not arguments or (
                    type(arguments[0]) not in tensors and is_empty(arguments[0])) or (
                    rounds_once and is_rounded_once(torch, operator, arguments)):
                return otherwise(keys, *arguments, **named)
            moved = on_host(arguments)
            moved_named = on_host(named.values()) if named else ()
            way = ways[is_number_taken(arguments)]
            if moved is None or moved_named is None or way is None:
                if not self._are_of_host(arguments, named):
                    return otherwise(keys, *arguments, **named)
                with without_key(excluded):
                    return operator.call(keys & keys_below, arguments, named)
            call, compute = way
            was_own, told.is_own = told.is_own, True
            try:
                with without_key(excluded):
                    result = call(*arguments, **named)
                    try:
                        compute(result, moved, dict(zip(named, moved_named)) if named else named)
                    except Exception:  # a dtype that the CPU lacks, an index that is none
                        values.finish(operator, arguments, named, result, True)
            finally:
                told.is_own = was_own
            return result

        return kernel

    def _drawing_kernel(self, operator, otherwise):
        """Of random numbers that fill the first argument."""
        values, graphs, random = self.values, self.values.graphs, self.values.random
        call = way_below(operator.overload, self.device_keys)

        def kernel(keys, *arguments, **named):
            target, *others = arguments
            place = None
            if graphs.steps is None and type(target) in self.tensors:
                if all(type(value) in self.others for value in others):
                    place = self.twins.to_write(target)
            state = random.state_of(arguments, named) if place is not None else None
            if state is None:
                return otherwise(keys, *arguments, **named)
            with values.without_key(values.excluded):
                call(*arguments, **named)
                with random.drawing(state):
                    random.draw(operator, operator.full_arguments((place[0], *others), named))
            self.twins.mark_known(*place[1:])
            return target

        return kernel

    def _on_host(self, given):
        """Arguments for the CPU; None: not all are plain."""
        tensors, others, twin_of = self.tensors, self.others, self.twins.of
        found = []
        for value in given:
            kind = type(value)
            if kind in tensors:
                value = twin_of(value)
                if value is None:
                    return None
            elif kind is list:
                if value and type(value[0]) not in (int, bool, float):
                    value = self._on_host(value)
                    if value is None:
                        return None
            elif kind not in others:
                return None
            found.append(value)
        return found

    def _are_of_host(self, arguments, named):
        """Whether all tensors are, and known; then nothing is to be done."""
        if self.values.reads.are_on_host:
            return False
        for value in (*arguments, *named.values()) if named else arguments:
            kind = type(value)
            if kind in self.tensors:
                if not value.is_cpu:
                    return False
            elif kind is list:
                if value and type(value[0]) not in (int, bool, float) and not self._are_of_host(value, {}):
                    return False
            elif kind not in self.others:
                return False
        return True

    def _number_test(self, operator):
        """is_taken(arguments): whether numbers of Python stand for tensors."""
        places = [place for place, takes in enumerate(operator.takes_tensor) if takes]
        if not places:
            return lambda arguments: False

        def is_taken(arguments):
            for place in places:
                if place < len(arguments) and isinstance(arguments[place], NUMBERS):
                    return True
            return False

        return is_taken

    # ---- what the CPU computes ----

    def _way(self, operator, is_anew):
        """(call(*arguments, **named) on the GPU, compute(result, arguments, named) on the CPU). None: numbers
        that stand for tensors are not taken."""
        if is_anew and operator.base not in TAKES_NUMBERS:
            return None
        host_keys = self.values.host_keys
        call = way_below(operator.overload, self.device_keys, is_anew)
        on_host = way_below(operator.overload, host_keys, is_anew)
        if not operator.makes_results:
            return call, lambda result, arguments, named: on_host(*arguments, **named)
        writing = operator.writing_its_result() if not operator.writes and not is_loss(operator) else None
        if writing is None:
            return call, lambda result, arguments, named: self._take(result, on_host(*arguments, **named))
        return call, self._written(operator, on_host, way_below(writing, host_keys, is_anew), writing)

    def _written(self, operator, on_host, write, writing):
        """To the result that the operator of the GPU has made. Some of the CPU resize what they are given."""
        name = writing._schema.arguments[-1].name
        twins, refused = self.twins, []

        def compute(result, arguments, named):
            if not result.numel():
                return
            twin = twins.of_new(result) if not refused else None
            if twin is None:
                self._take(result, on_host(*arguments, **named))
                return
            try:
                write(*arguments, **named, **{name: twin})
            except Exception:
                refused.append(operator)
                twins.kept.clear()  # it may have another size by now
                self._take(result, on_host(*arguments, **named))

        return compute

    def _take(self, result, found):
        for tensor, value in paired(self.values.torch, result, found):
            twin = self.twins.of_new(tensor) if tensor.is_cuda and value is not None else None
            if twin is not None and twin.shape == value.shape and value.layout is twin.layout:
                self.copy(twin, value)
            elif tensor.numel():
                self.values.take(result, found)
                return


def way_below(overload, keys, is_anew=False):
    """call(*arguments, **named). Numbers that stand for tensors (x * 2) are only taken where PyTorch dispatches
    anew."""
    return overload._op if is_anew else functools.partial(overload._handle.redispatch_boxed, keys)


def is_loss(operator):
    """Those resize what they are given."""
    return "loss" in operator.name or "cross_entropy" in operator.name


def is_empty(value):
    """Of a first argument: no list of tensors, or one without any."""
    return value is None or isinstance(value, (list, tuple)) and not value
