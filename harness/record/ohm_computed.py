"""Values of everything: each operator of the GPU runs for its allocations, and then the same operator
of the CPU computes on the same memory (ohm exec --values cpu).

Where the CPU has no such operator, ohm_substitutes.py computes what it computes. Results of what is
left are unknown, and so is what is computed of them. Random numbers follow from the GPU's generator,
its seed and its offset, but are not those of a card."""
import os
import sys
import threading

from ohm_known import NOT_COMPUTED, KnownValues
from ohm_memory import KEY, is_dense, is_plain, span_of
from ohm_operators import MOVES_NOTHING, paired, tensors_in
from ohm_substitutes import SUBSTITUTES, Filled, remember_keys


class ComputedValues(KnownValues):
    includes_key = True

    def register(self):
        super().register()
        self.memory.compute_values()
        self.seeded = self.torch.Tag.nondeterministic_seeded
        remember_keys(self.torch)
        self._include_key()
        self._follow_threads()

    def _include_key(self):
        self.c._dispatch_tls_set_dispatch_key_included(KEY, True)

    def _follow_threads(self):
        """Threads of autograd inherit the key of the thread that asks for gradients; Python's do not."""
        run = threading.Thread.run

        def run_with_key(thread):
            self._include_key()
            run(thread)

        threading.Thread.run = run_with_key

    # ---- operators ----

    def run(self, operator, keys, arguments, named):
        keys = keys & self.keys_below
        if operator.base in MOVES_NOTHING:
            return operator.call(keys, arguments, named)
        if not self._is_of_device(arguments, named):
            with self.without_key(self.excluded):  # kernels of meta tensors call others of theirs
                return operator.call(keys, arguments, named)
        if self.is_capturing():
            return self.replays.run(operator, keys, arguments, named)
        is_known = self.are_known(operator, arguments, named)
        random = self._random_state(operator, arguments, named)
        if is_known and operator.counts_results:
            return self._seeded(random, self.run_counting, operator, keys, arguments, named)
        result = self.call(operator, keys, arguments, named)
        if not operator.writes and not any(True for _ in paired(self.torch, result, result)):
            return result  # of no tensors
        if not is_known or not self._seeded(random, self.compute, operator, arguments, named, result):
            self.forget(operator, arguments, named, result)
        return result

    def _is_of_device(self, arguments, named):
        """Whether a tensor of the GPU goes in, or comes out, or unknown values of the host."""
        for value in (*arguments, *named.values()):
            for tensor in tensors_in(self.torch, value):
                if tensor.is_cuda or tensor.device.type == "cpu" and self.key.has(tensor):
                    return True
        device = named.get("device")
        return device is not None and self.torch.device(device).type == "cuda"

    def on_host(self, operator, arguments, named):
        substitute = SUBSTITUTES.get(operator.base)
        with self.without_key(self.excluded):
            if substitute is None:
                return super().on_host(operator, arguments, named)
            with self.c._AutoDispatchBelowAutograd():
                try:
                    full = operator.full_arguments(arguments, named)
                    return substitute(self.torch, {k: self.moved(v) for k, v in full.items()})
                except Exception as error:
                    self.note_not_computed(operator, error)
                    return NOT_COMPUTED

    def take(self, result, values):
        """Results that nothing reads stay as they are; some are filled with a number."""
        with self.without_key(self.excluded):
            if isinstance(values, (list, tuple)):
                for tensor, value in zip(result, values):
                    if isinstance(value, Filled) and tensor.numel():
                        self.alias(tensor).fill_(value.value)
            pairs = [(t, v) for t, v in paired(self.torch, result, values) if v is not None]
            super().take([t for t, _ in pairs], [v for _, v in pairs])

    def alias(self, tensor):
        with self.without_key(self.excluded):
            return super().alias(tensor)

    def forget(self, operator, arguments, named, result):
        if os.environ.get("OHM_VALUES_TRACE"):
            sys.stderr.write(f"ohm: unknown from here: {operator.overload}\n")
        super().forget(operator, arguments, named, result)
        if not operator.writes:
            for tensor in tensors_in(self.torch, result):
                self.mark_unknown(tensor)

    # ---- random numbers ----

    def _random_state(self, operator, arguments, named):
        """The seed and the offset of the generator that the operator draws from; None: of none."""
        if self.seeded not in operator.overload.tags:
            return None
        for value in (*arguments, *named.values()):
            if isinstance(value, self.torch.Generator):
                return value.get_state().numpy().tobytes()
        device = self.torch.cuda.current_device()
        return self.torch.cuda.default_generators[device].get_state().numpy().tobytes()

    def _seeded(self, random, compute, *arguments):
        """With the host's generator seeded by the GPU's, and as it was afterwards."""
        if random is None:
            return compute(*arguments)
        generator = self.torch.default_generator
        with self.without_key(self.excluded):
            before = generator.get_state()
            generator.manual_seed(int.from_bytes(random[:8], "little") * 0x9E3779B97F4A7C15
                                  + int.from_bytes(random[8:16], "little") & (1 << 63) - 1)
        try:
            return compute(*arguments)
        finally:
            with self.without_key(self.excluded):
                generator.set_state(before)

    def moved(self, value):
        if isinstance(value, self.torch.Generator):
            return None  # the host's, which is seeded
        return super().moved(value)

    # ---- what is known ----

    def may_compute(self, operator):
        return True

    def may_fill(self, tensor):
        return True

    def is_small(self, tensor):
        return True

    @staticmethod
    def are_small(tensors, most_numbers=0):
        return True

    def is_known(self, tensor):
        if tensor.is_cuda:
            return is_plain(self.torch, tensor) and self.memory.is_known(*span_of(tensor))
        return tensor.device.type != "cpu" or not self.key.has(tensor)

    def mark_known(self, tensor):
        if is_dense(tensor):
            self.memory.mark_known(*span_of(tensor))

    def mark_unknown(self, tensor):
        if is_plain(self.torch, tensor):
            self.memory.mark_unknown(*span_of(tensor))
        else:
            super().mark_unknown(tensor)
