"""Values of everything: each operator of the GPU runs for its allocations, and then the same operator
of the CPU computes on the same memory (ohm exec --values cpu).

Where the CPU has no such operator, ohm_substitutes.py computes what it computes. Results of what is
left are unknown, and so is what is computed of them. ohm_random.py draws the card's random numbers."""
import contextlib
import functools
import os
import threading

from ohm_attention import Filled
from ohm_compiled import CompiledGraphs
from ohm_computed_writes import ComputedWrites
from ohm_console import say
from ohm_gradients import remember_keys
from ohm_graphs import Graphs
from ohm_imports import when_imported
from ohm_interpreted import InterpretedKernels
from ohm_known import NOT_COMPUTED, KnownValues, launches
from ohm_layouts import is_plain, pairs_of_parts, parts_of, twin_of
from ohm_memory import KEY, is_dense, span_of
from ohm_operators import Operator, paired, tensors_in
from ohm_parts import KEY as PARTS_KEY, Parts
from ohm_plain_calls import PlainCalls
from ohm_precision import in_single_precision, is_rounded_once, lacks_half_precision
from ohm_random import RandomNumbers
from ohm_substitutes import COPIED_TO_HOST, SUBSTITUTES

# Of operators that PyTorch composes of others.
COMPOSITIONS = ("ExplicitAutograd", "ImplicitAutograd", "ExplicitAutogradNonFunctional")


class _Told(threading.local):
    """Of the operator that runs on the GPU."""

    is_own = False  # PyTorch's: kernels of Triton that it launches are computed with it
    rows = None  # as many as it selects
    copied = None  # what it copies to the host: a tensor


class ComputedValues(KnownValues):
    includes_key = True
    writes = ComputedWrites

    def register(self):
        self.told = _Told()
        self.graphs = Graphs(self)
        interpreted = InterpretedKernels(self)
        self.compute_kernel = interpreted.run
        when_imported("triton.runtime.autotuner", interpreted.follow)
        self.plain_calls = PlainCalls(self, super().alias)
        super().register()
        self.memory.compute_values()
        self.parts = Parts(self)
        self.excluded = self.c.DispatchKeySet(self.key.key) | self.c.DispatchKeySet(self.parts.key)
        self.random = RandomNumbers(self.torch)
        self.leave_out_composed()
        self.parts.register()
        remember_keys(self.torch)
        self.c._jit_override_can_fuse_on_gpu(False)  # kernels that TorchScript makes of several operators
        self._include_key()
        self._follow_threads()

    def leave_out_composed(self, namespace="aten"):
        """Operators that PyTorch composes of others: those are computed. PyTorch takes this key for
        one of a backend, and would prefer what is composed to what other layouts and shapes alone
        have."""
        library = self.torch.library.Library(namespace, "IMPL")
        self.libraries.append(library)
        has_kernel = self.c._dispatch_has_kernel_for_dispatch_key
        for name in self.c._dispatch_get_all_op_names():
            if name.startswith(f"{namespace}::") and not has_kernel(name, "CUDA") and any(
                    has_kernel(name, f"Composite{kind}") for kind in COMPOSITIONS) and (
                    not launches(self.c, name)):
                # Where PyTorch selects the backend, it looks for no key that falls through.
                is_selected = has_kernel(name, "BackendSelect")
                library.m.impl(name.partition("::")[2], KEY, self._kernel_below(name)
                               if is_selected else self.torch.library.fallthrough_kernel, True)

    def _kernel_below(self, name):
        operators = []

        def kernel(keys, *arguments, **named):
            if not operators:
                operators.append(Operator.named(self.torch, name, self.key.key))
            return operators[0].call(keys & self.keys_below, arguments, named)

        return kernel

    def _include_key(self):
        for key in (KEY, PARTS_KEY):
            self.c._dispatch_tls_set_dispatch_key_included(key, True)

    def follow_compiled(self, compile_fx):
        CompiledGraphs(self).follow(compile_fx)

    def leave_out_fake_tensors(self, fake_tensor):
        """Of torch._subclasses: operators run for shapes alone, and none of them is the GPU's."""
        invocation = fake_tensor.in_kernel_invocation_manager

        @contextlib.contextmanager
        def without_values(mode):
            with self.without_key(self.excluded), invocation(mode) as result:
                yield result

        fake_tensor.in_kernel_invocation_manager = without_values

    def _follow_threads(self):
        """Threads of autograd inherit the keys of the one that asks for gradients; Python's do not."""
        run = threading.Thread.run

        def run_with_key(thread):
            self._include_key()
            run(thread)

        threading.Thread.run = run_with_key

    def follow(self, replace):
        super().follow(replace)
        described = self.torch.Tensor.__cuda_array_interface__

        def describe(tensor):
            """To libraries whose kernels nothing computes: they may write to it."""
            found = described.fget(tensor)
            self.mark_unknown(tensor)
            return found

        self.torch.Tensor.__cuda_array_interface__ = property(describe)

    def follows_within(self, overload):
        """What a kernel that no operator calls writes to would be taken for computed."""
        return False

    # ---- operators ----

    def kernel_of(self, operator):
        return self.plain_calls.kernel(operator, super().kernel_of(operator))

    def run(self, operator, keys, arguments, named):
        keys = keys & self.keys_below
        if operator.moves_nothing:
            return operator.call(keys, arguments, named)
        if not self._is_of_device(arguments, named):
            with self.without_key(self.excluded):  # kernels of meta tensors call others of theirs
                return operator.call(keys, arguments, named)
        if operator.draws:
            with self.random.drawing(self.random.state_of(arguments, named)):
                return self._run(operator, keys, arguments, named)
        return self._run(operator, keys, arguments, named)

    def _run(self, operator, keys, arguments, named):
        if self.graphs.is_capturing():
            with self.without_key(self.excluded):
                result = operator.call(keys, arguments, named)
                self.graphs.capture(operator, arguments, named, result)
            return result
        is_known = self.are_known(operator, arguments, named)
        if is_known and operator.counts_results:
            return self.run_counting(operator, keys, arguments, named)
        if is_known and operator.returns_answer:
            return self.run_answering(operator, keys, arguments, named)
        if operator.reads_nested:
            result = operator.call(keys, arguments, named)
        else:
            result = self.call_alone(operator, keys, arguments, named, is_known)
        self.finish(operator, arguments, named, result, is_known)
        return result

    def call_alone(self, operator, keys, arguments, named, is_known):
        """What it reads of known values that it has written itself is no finding."""
        thread = self.reads.thread
        before, thread.is_ignored = thread.is_ignored, thread.is_ignored or is_known
        try:
            with self.without_key(self.excluded), self.telling(operator), self.unchecked():
                return operator.call(keys, arguments, named)
        finally:
            thread.is_ignored = before

    def unchecked(self):
        """The indices of sparse tensors that an operator makes are computed after it."""
        return self.torch.sparse.check_sparse_tensor_invariants(False)

    @contextlib.contextmanager
    def telling(self, operator):
        before, self.told.is_own = self.told.is_own, operator.is_own
        try:
            yield
        finally:
            self.told.is_own = before

    def finish(self, operator, arguments, named, result, is_known):
        if not operator.writes and not any(True for _ in paired(self.torch, result, result)):
            return  # of no tensors
        if not is_known or not self.compute(operator, arguments, named, result):
            self.forget(operator, arguments, named, result)

    def _is_of_device(self, arguments, named):
        """Whether a tensor of the GPU goes in, or comes out, or unknown values of the host."""
        for value in (*arguments, *named.values()):
            if isinstance(value, self.torch.Tensor) and value.is_cuda:
                return True
            for tensor in tensors_in(self.torch, value):
                if tensor.is_cuda or tensor.device.type == "cpu" and self.key.has(tensor):
                    return True
        device = named.get("device")
        return device is not None and self.torch.device(device).type == "cuda"

    def compute(self, operator, arguments, named, result):
        values = self.on_host(operator, arguments, named)
        if values is NOT_COMPUTED:
            return False
        try:
            if operator.makes_results:
                self.take(result, values)
            for tensor in operator.written(self.torch, arguments, named):
                self.mark_known(tensor)
        except Exception as error:  # a layout that the host has not
            self.note(operator.base, error)
            return False
        return True

    def on_host(self, operator, arguments, named):
        substitute = SUBSTITUTES.get(operator.base) or SUBSTITUTES.get(operator.full_name)
        with self.without_key(self.excluded):
            if is_rounded_once(self.torch, operator, arguments):
                return self._in_single_precision(operator, arguments, named)
            if not operator.draws and substitute is None:
                return super().on_host(operator, arguments, named)
            if self.random.is_drawn_as_on_card(operator):
                return self._on_host_by_name(operator, arguments, named,
                                             functools.partial(self.random.draw, operator))
            with self.random.seeding_host():
                if substitute is None:
                    return super().on_host(operator, arguments, named)
                return self._on_host_by_name(operator, arguments, named,
                                             functools.partial(substitute, self.torch))

    def _on_host_by_name(self, operator, arguments, named, compute):
        with self.c._AutoDispatchBelowAutograd():
            try:
                full = operator.full_arguments(arguments, named)
                on_host = {name: self.moved(value) for name, value in full.items()}
                return self._written_out(operator, on_host, compute(on_host))
            except Exception as error:
                self.note(operator.base, error)
                return NOT_COMPUTED

    def _written_out(self, operator, on_host, values):
        """To the arguments that the operator writes its results to, where there are any."""
        places = [on_host[name] for name in operator.results_to]
        if len(places) == 1:
            places[0].copy_(values)
        elif places:
            for place, value in zip(places, values):
                if value is not None:
                    place.copy_(value)
        return values

    def on_refusal(self, operator, arguments, named, error):
        """What the CPU has not for half precision it may have for numbers of 32 bits."""
        if not lacks_half_precision(error):
            return super().on_refusal(operator, arguments, named, error)
        return self._in_single_precision(operator, arguments, named)

    def _in_single_precision(self, operator, arguments, named):
        with self.c._AutoDispatchBelowAutograd():
            try:
                return in_single_precision(self, operator, arguments, named)
            except Exception as error:
                return super().on_refusal(operator, arguments, named, error)

    def take(self, result, values):
        """Results that nothing reads stay as they are; some are filled with a number."""
        with self.without_key(self.excluded):
            if self._is_taken_as_one(result, values):
                with self.c._AutoDispatchBelowAutograd():
                    super().alias(result).copy_(values)
                self.mark_known(result)
                return
            if isinstance(values, (list, tuple)):
                for tensor, value in zip(result, values):
                    if isinstance(value, Filled) and tensor.numel():
                        self.alias(tensor).fill_(value.value)
            pairs = [pair for tensor, value in paired(self.torch, result, values)
                     if value is not None
                     for pair in pairs_of_parts(self.torch, tensor, value)]
            for tensor, value in pairs:
                self._compare_sizes(tensor, value, len(pairs) > 1)
            super().take([tensor for tensor, _ in pairs], [value for _, value in pairs])

    def _is_taken_as_one(self, result, values):
        """As most are."""
        kind = self.torch.Tensor
        return (isinstance(result, kind) and isinstance(values, kind) and result.is_cuda
                and is_plain(self.torch, result) and is_plain(self.torch, values)
                and result.size() == values.size())

    @staticmethod
    def _compare_sizes(tensor, value, has_others):
        """One of several results may be what only the GPU keeps, or only the CPU."""
        is_left_out = has_others and 0 in (tensor.numel(), value.numel())
        if tensor.is_cuda and tensor.size() != value.size() and not is_left_out:
            raise ValueError(f"of {tuple(tensor.size())}, not {tuple(value.size())}")

    def without_fillings(self, values):
        """Numbers in their places."""
        if isinstance(values, (list, tuple)):
            return type(values)(self.torch.tensor(v.value) if isinstance(v, Filled) else v
                                for v in values)
        return values

    def alias(self, tensor):
        with self.without_key(self.excluded):
            return self._alias(tensor)

    def _alias(self, tensor):
        """Below the keys."""
        if is_plain(self.torch, tensor):
            return super().alias(tensor)
        return twin_of(self.torch, tensor, super().alias)

    def forget(self, operator, arguments, named, result):
        if os.environ.get("OHM_VALUES_TRACE"):
            say(f"unknown from here: {operator.overload}")
        super().forget(operator, arguments, named, result)
        if operator.makes_results:
            for tensor in tensors_in(self.torch, result):
                self.mark_unknown(tensor)

    def follow_factories(self, replace):
        """Of operators that are called without this key. What makes the others is computed."""
        for name in ("tril_indices", "triu_indices"):
            replace(self.torch, name, self.factories.make)
        self.factories.follow_comparisons(replace)

    def follow_graphs(self):
        self.graphs.follow()

    def is_capturing(self):
        """What is captured is computed at each replay, and not unknown."""
        return False

    def run_counting(self, operator, keys, arguments, named):
        values = self.on_host(operator, arguments, named)
        if values is NOT_COMPUTED:
            result = operator.call(keys, arguments, named)
            self.forget(operator, arguments, named, result)
            return result
        copied = COPIED_TO_HOST.get(operator.overload._schema.name)
        if copied is not None:
            with self.without_key(self.excluded):
                self.told.copied = copied(self.torch, self.moved(arguments), values)
        result = self.call_counting(operator, keys, arguments, named,
                                    operator.counts_results(arguments, values))
        self.told.copied = None
        self._take_or_forget(operator, arguments, named, result, values)
        return result

    def call_counting(self, operator, keys, arguments, named, counts):
        before, self.told.rows = self.told.rows, counts[0]
        try:
            with self.without_key(self.excluded), self.telling(operator):
                return super().call_counting(operator, keys, arguments, named, counts)
        finally:
            self.told.rows = before

    def _take_or_forget(self, operator, arguments, named, result, values):
        try:
            self.take(result, values)
        except Exception as error:
            self.note(operator.base, error)
            self.forget(operator, arguments, named, result)

    # ---- what is known ----

    def moved(self, value):
        """To be called below the keys."""
        if isinstance(value, self.torch.Tensor):
            return self._alias(value) if value.is_cuda else value
        if isinstance(value, self.torch.Generator):
            return None  # the host's, which is seeded
        return super().moved(value)

    def may_compute(self, operator):
        return True

    def may_fill(self, tensor):
        return True

    def is_small(self, tensor):
        return True

    @staticmethod
    def are_small(tensors, most_numbers=0):
        return True

    def _parts(self, tensor):
        if is_plain(self.torch, tensor):
            return (tensor,)
        with self.without_key(self.excluded):
            return parts_of(self.torch, tensor) or ()

    def is_known(self, tensor):
        if tensor.is_cuda:
            return all(self.memory.is_known(*span_of(part)) for part in self._parts(tensor))
        return tensor.device.type != "cpu" or not self.key.has(tensor)

    def mark_known(self, tensor):
        for part in self._parts(tensor):
            if is_dense(part):
                self.memory.mark_known(*span_of(part))

    mark_filled = mark_known

    def mark_unknown(self, tensor):
        if not tensor.is_cuda:
            super().mark_unknown(tensor)
            return
        for part in self._parts(tensor):
            self.memory.mark_unknown(*span_of(part))
