"""Functions of torch whose results follow from their arguments, and tensors of numbers that were read."""

# Functions of torch that make tensors of numbers.
FACTORIES = "arange linspace logspace eye tril_indices triu_indices".split()
TAKE_NUMBERS = "tensor as_tensor".split()


class Factories:
    """Of KnownValues."""

    def __init__(self, torch, known):
        self.torch = torch
        self.known = known

    def follow(self, replace):
        """replace(name, call): call(function, arguments, named) in place of the function of torch."""
        for name in FACTORIES:
            replace(name, self.make)
        replace("empty", self._make_empty)
        for name in TAKE_NUMBERS:
            replace(name, self._take_numbers)

    def make(self, function, arguments, named):
        result = function(*arguments, **named)
        if self._is_followed(result) and self.known.is_small(result):
            on_host = {k: v for k, v in named.items() if k not in ("out", "requires_grad")}
            self.known.take(result, function(*arguments, **{
                **on_host, "device": self.known.host, "dtype": result.dtype}))
        return result

    def _make_empty(self, function, arguments, named):
        """What is filled in pieces: views that are made of it first have the key, too."""
        result = function(*arguments, **named)
        if self._is_followed(result) and not (result.is_floating_point() or result.is_complex()):
            self.known.sharing.give_key(result)
        return result

    def _take_numbers(self, function, arguments, named):
        result = function(*arguments, **named)
        if arguments and holds_one_of(self.known.reads.number_types, arguments[0]):
            self.known.mark_unknown(result)
        return result

    def _is_followed(self, tensor):
        is_plain = type(tensor) is self.torch.Tensor and tensor.is_cuda
        return is_plain and not self.torch.compiler.is_compiling() and not self.known.is_capturing()

    def assume(self, tensor, value, assumption):
        """All of an unknown tensor of the GPU is taken for this value."""
        known = self.known
        if not self._is_followed(tensor) or known.is_known(tensor) or not known.is_small(tensor):
            return
        with known.c._AutoDispatchBelowAutograd():
            known.alias(tensor).fill_(value)
        known.mark_known(tensor)
        known.memory.note_assumption(assumption)


def holds_one_of(types, value):
    """A number, or a list of numbers or of lists."""
    if isinstance(value, (list, tuple)):
        return any(holds_one_of(types, item) for item in value)
    return type(value) in types
