"""Kernels of Triton that a program has written, computed by Triton's own interpreter on the host
(ohm exec --values cpu).

The interpreter replaces functions of triton.language while it runs; they are put back, for the compiler
needs them as they were. What it can't run is unknown."""
import contextlib
import threading
import types


class InterpretedKernels:
    """Of ComputedValues."""

    def __init__(self, values):
        self.values = values
        self.torch = values.torch
        self.lock = threading.Lock()
        self.is_measured = False  # the times of an autotuner: its last run alone counts

    def follow(self, autotuner):
        """Of triton.runtime.autotuner: runs that are made to be timed."""
        bench = autotuner.Autotuner._bench

        def measure(tuner, *arguments, **named):
            self.is_measured = True
            try:
                return bench(tuner, *arguments, **named)
            finally:
                self.is_measured = False

        autotuner.Autotuner._bench = measure

    def run(self, kernel, arguments, named):
        """Whether it was computed, or need not be."""
        if named.get("warmup") or self.is_measured or self.values.told.is_own:
            return True
        try:
            self._run(kernel, arguments, named)
        except Exception as error:
            self.values.note(f"{kernel.__name__} of Triton", error)
            return False
        return True

    def _run(self, kernel, arguments, named):
        tensors = [v for v in (*arguments, *named.values()) if isinstance(v, self.torch.Tensor)]
        if not all(self.values.is_known(tensor) for tensor in tensors):
            raise ValueError("it is given unknown values")
        from triton.runtime.interpreter import InterpretedFunction

        values = self.values
        with values.without_key(values.excluded), values.c._AutoDispatchBelowAutograd():
            arguments = [self._on_host(value) for value in arguments]
            named = {name: self._on_host(value) for name, value in named.items()
                     if name in kernel.arg_names or name in ("grid", "warmup")}
            with self.lock, language_put_back(), functions_interpreted(InterpretedFunction):
                InterpretedFunction(kernel.fn).run(*arguments, **named)

    def _on_host(self, value):
        if isinstance(value, self.torch.Tensor):
            return self.values.moved(value)
        if value is None or isinstance(value, (bool, int, float, str, self.torch.dtype, tuple)):
            return value
        if hasattr(value, "base"):  # a tensor taken for another type, or a descriptor of one
            raise TypeError(f"{type(value).__name__} is not interpreted")
        return value


@contextlib.contextmanager
def language_put_back():
    import triton.language as language

    homes = [language, language.core, language.math, language.tensor, language.core.dtype]
    homes += [value for value in vars(language.core).values()
              if isinstance(value, type) and value.__module__.startswith("triton.language")]
    before = [(home, dict(vars(home))) for home in dict.fromkeys(homes)]
    try:
        yield
    finally:
        for home, members in before:
            for name in set(vars(home)) | set(members):
                put_back(home, name, members)


def put_back(home, name, members):
    if name not in members:
        delattr(home, name)
    elif vars(home).get(name) is not members[name] and not isinstance(
            members[name], types.GetSetDescriptorType):
        setattr(home, name, members[name])


@contextlib.contextmanager
def functions_interpreted(kind):
    """Kernels call others: as functions of the compiler these refuse to be called."""
    from triton.runtime.jit import JITFunction

    call = JITFunction.__call__
    made = {}  # by the function within: the hash of one of the compiler's is that of all it calls

    def interpreted(function, *arguments, **named):
        if function.fn not in made:
            made[function.fn] = kind(function.fn)
        return made[function.fn](*arguments, **named)

    JITFunction.__call__ = interpreted
    try:
        yield
    finally:
        JITFunction.__call__ = call
