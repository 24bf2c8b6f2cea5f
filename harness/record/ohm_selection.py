"""How many of unknown values an operator selects: none, or the share that $OHM_ASSUME_SELECTED states."""
import contextlib
import os

from ohm_protocol import ASSUME_SELECTED_VARIABLE


class Selection:
    """Of KnownValues."""

    def __init__(self, known):
        self.known = known
        self.share = assumed_share()
        self.takes_all = False

    def rows_of(self, most, what, least=0):
        """Of `most` rows. A share that is assumed is noted; without one the size is a finding."""
        if self.takes_all:
            return most
        if self.share is not None:
            self.known.memory.note_assumption("assumed_selection")
            return max(int(most * self.share), least)
        self.known.reads.note_shape(f"{least} of {most:,} {what}")
        return least

    @contextlib.contextmanager
    def of_text(self):
        """PyTorch makes text of tensors by the numbers that are finite and not zero: of all, as far as is known."""
        before, self.takes_all = self.takes_all, True
        try:
            yield
        finally:
            self.takes_all = before

    def follow(self, replace):
        """replace(home, name, call): call(function, arguments, named) in place of home.name."""
        for name in ("unique", "unique_consecutive"):
            replace(self.known.torch, name, self._find_different)
        for home in (self.known.torch, self.known.torch.Tensor):
            replace(home, "bincount", self._count_classes)
        replace(self.known.torch.Tensor, "coalesce", self._coalesce)

    def _find_different(self, function, arguments, named):
        tensor = arguments[0] if arguments else named["input"]
        if self.known.torch.compiler.is_compiling() or not self.known.is_unknown(tensor):
            return function(*arguments, **named)
        return self.different_values(tensor, named.get("dim"), lambda: function(*arguments, **named))

    def different_values(self, tensor, dimension, find):
        """Of an unknown one of the GPU, which find() finds: of any values it finds one."""
        most = tensor.numel() if dimension is None else tensor.shape[dimension]
        count = self.rows_of(most, "values taken as distinct", least=min(most, 1))
        with self.known.reads.ignored(), self.known.memory.answers(count):
            return find()

    def _count_classes(self, function, arguments, named):
        """A program that states how many classes there are has no others."""
        tensor = arguments[0] if arguments else named["input"]
        classes = named.get("minlength", arguments[2] if len(arguments) > 2 else 0)
        if not classes or not tensor.is_cuda or not self.known.is_unknown(tensor):
            return function(*arguments, **named)
        self.known.memory.note_assumption("counted_classes")
        with self.known.reads.ignored(), self.known.memory.answers(0, classes - 1):
            return function(*arguments, **named)

    def _coalesce(self, function, arguments, named):
        """The GPU counts the different places of a sparse tensor in memory that no operator asks for."""
        tensor = arguments[0]
        torch = self.known.torch
        if not tensor.is_cuda or tensor.layout is not torch.sparse_coo or tensor.is_coalesced():
            return function(*arguments, **named)
        indices = tensor.detach()._indices()
        if not self.known.is_known(indices):
            count = self.rows_of(indices.shape[1], "places taken as distinct", least=min(indices.shape[1], 1))
            with self.known.reads.ignored(), self.known.memory.answers(count):
                return function(*arguments, **named)
        places = different_places(torch, self.known.alias(indices), tensor.shape)
        with self.known.memory.answers(places.shape[1]):
            result = function(*arguments, **named)
        self.known.take(result.detach()._indices(), places)
        return result


def different_places(torch, indices, shape):
    """Columns of indices on the host, sorted."""
    flat = torch.zeros(indices.shape[1], dtype=indices.dtype)
    for index, size in zip(indices, shape):
        flat = flat * size + index
    flat = flat.unique()
    places = []
    for size in reversed(shape[:len(indices)]):
        places.insert(0, flat % size)
        flat = torch.div(flat, size, rounding_mode="floor")
    return torch.stack(places) if places else indices.new_empty(0, len(flat))


def assumed_share():
    """None: not told."""
    text = os.environ.get(ASSUME_SELECTED_VARIABLE, "")
    if not text:
        return None
    return 1.0 if text == "max" else float(text)
