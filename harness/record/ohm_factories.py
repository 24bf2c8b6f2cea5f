"""Functions of torch whose results follow from their arguments, and tensors of numbers that were read."""
from ohm_numbers import UnknownNumber, plain_of
from ohm_operators import tensors_in

# Functions of torch that make tensors of numbers.
FACTORIES = "arange linspace logspace eye tril_indices triu_indices".split()
SIZED = "zeros ones rand randn randint randperm".split()
TAKE_NUMBERS = "tensor as_tensor full full_like".split()
# They make a tensor of the share that they are asked for.
OF_SHARES = "quantile nanquantile".split()
# They make tensors of numbers of Python that are taken for these numbers: a copy of such a tensor of the
# GPU cannot be passed to our kernels.
COMPARE_NUMBERS = "isin searchsorted bucketize".split()
# Methods that take the first key of a tensor for its backend.
LIKE_KEYED = "new new_tensor".split()


class Factories:
    """Of KnownValues."""

    def __init__(self, torch, known):
        self.torch = torch
        self.known = known

    def follow(self, replace):
        """replace(home, name, call): call(function, arguments, named) in place of home.name."""
        for name in FACTORIES:
            replace(self.torch, name, self.make)
        for name in SIZED:
            replace(self.torch, name, self._make_sized)
        replace(self.torch, "empty", self._make_empty)
        replace(self.torch, "scalar_tensor", self._make_scalar)
        for name in OF_SHARES:
            for home in (self.torch, self.torch.Tensor):
                replace(home, name, self._find_share)
        self.follow_comparisons(replace)
        for name in TAKE_NUMBERS:
            replace(self.torch, name, self._take_numbers)
        replace(self.torch.Tensor, "new_full", self._take_numbers)
        for name in LIKE_KEYED:
            replace(self.torch.Tensor, name, self._make_like)
        UnknownNumber.on_tensor = self._take_number

    def follow_comparisons(self, replace):
        for name in COMPARE_NUMBERS:
            replace(self.torch, name, self._compare)

    def make(self, function, arguments, named):
        if function.__name__ == "arange" and holds_one_of(self.known.reads.number_types, arguments):
            self.known.reads.note_shape()
        result = function(*arguments, **named)
        given = [*arguments, *(value for name, value in named.items() if name != "out")]
        is_known = not any(self.known.is_unknown(a) for a in given if isinstance(a, self.torch.Tensor))
        if holds_one_of(self.known.reads.number_types, given):
            self.known.mark_unknown(result)
        elif is_known and self._is_followed(result) and self.known.is_small(result):
            on_host = {k: v for k, v in named.items() if k not in ("out", "requires_grad")}
            self.known.take(result, function(*arguments, **{
                **on_host, "device": self.known.host, "dtype": result.dtype}))
        return result

    def _make_sized(self, function, arguments, named):
        """PyTorch takes no numbers for sizes that were read."""
        if holds_one_of(self.known.reads.number_types, arguments):
            self.known.reads.note_shape()
            arguments = [plain_of(value) for value in arguments]
        return function(*arguments, **named)

    def _make_empty(self, function, arguments, named):
        """What is filled in pieces: views that are made of it first have the key, too."""
        result = self._make_sized(function, arguments, named)
        if self._is_followed(result) and not (result.is_floating_point() or result.is_complex()):
            self.known.sharing.give_key(result)
        return result

    def _make_scalar(self, function, arguments, named):
        """Those that operators make have no key (KnownValues)."""
        result = function(*arguments, **named)
        if self._is_followed(result) and not self.known.is_unknown(result):
            self.known.mark_known(result)
        return result

    def _find_share(self, function, arguments, named):
        tensor, *others = arguments
        if others and type(others[0]) is float and self.known.key.has(tensor):
            others[0] = self.torch.scalar_tensor(others[0], dtype=tensor.dtype, device=tensor.device)
        return function(tensor, *others, **named)

    def _compare(self, function, arguments, named):
        tensors = [a for a in arguments if isinstance(a, self.torch.Tensor) and a.is_cuda]
        if tensors:
            arguments = [self._as_tensor(a, tensors[0]) if type(a) in (int, float) else a
                         for a in arguments]
        return function(*arguments, **named)

    def _as_tensor(self, number, other):
        kind = self.torch.result_type(other, number)
        return self.torch.scalar_tensor(number, dtype=kind, device=other.device)

    def _take_numbers(self, function, arguments, named):
        result = function(*arguments, **named)
        if self.torch.compiler.is_compiling():
            return result
        if holds_one_of(self.known.reads.number_types, [*arguments, *named.values()]):
            self.known.mark_unknown(result)
        return result

    def _take_number(self, name, result, arguments):
        """A function of torch has taken a number that was read for a tensor."""
        if name == "__getitem__" or self.torch.compiler.is_compiling():
            return
        if name == "__setitem__":
            tensor, index = arguments[0], arguments[1]
            result = tensor[index] if gives_view(index) else tensor
        for tensor in tensors_in(self.torch, arguments[0] if result is None else result):
            self.known.mark_unknown(tensor)

    def _make_like(self, function, arguments, named):
        tensor = arguments[0]
        if not self.known.key.has(tensor):
            return function(*arguments, **named)
        self.known.key.remove(tensor)
        try:
            return function(*arguments, **named)
        finally:
            self.known.key.add(tensor)

    def _is_followed(self, tensor):
        is_plain = type(tensor) is self.torch.Tensor and tensor.is_cuda
        return is_plain and not self.torch.compiler.is_compiling() and not self.known.is_capturing()

    def assume(self, tensor, value, assumption):
        """All of an unknown tensor is taken for this value."""
        known = self.known
        if tensor.device.type == "cpu" and known.is_unknown(tensor):
            with known.c._AutoDispatchBelowAutograd(), known.without_key(known.excluded):
                tensor.fill_(value)
            known.key.remove(tensor)
            known.memory.note_assumption(assumption)
            return
        if not self._is_followed(tensor) or known.is_known(tensor) or not known.is_small(tensor):
            return
        with known.c._AutoDispatchBelowAutograd():
            known.alias(tensor).fill_(value)
        known.mark_known(tensor)
        known.memory.note_assumption(assumption)


def gives_view(index):
    """Of a tensor."""
    return all(type(part) in (int, slice, type(...)) for part in (
        index if isinstance(index, tuple) else (index,)))


def holds_one_of(types, value):
    """A number, or a list of numbers or of lists."""
    if isinstance(value, (list, tuple)):
        return any(holds_one_of(types, item) for item in value)
    return type(value) in types
