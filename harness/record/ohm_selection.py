"""How many of unknown values an operator selects: none, or the share that $OHM_ASSUME_SELECTED states."""
import contextlib
import functools
import os
import warnings

from ohm_memory import without_collections
from ohm_protocol import ASSUME_SELECTED_VARIABLE


class Selection:
    """Of KnownValues."""

    def __init__(self, known):
        self.known = known
        self.share = assumed_share()
        self.takes_all = self.has_sparse = False
        self.follows_kernels = hasattr(known.torch.library, "get_kernel")  # from PyTorch 2.9 on

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
        if not self.follows_kernels and not self.known.includes_key:
            torch = self.known.torch
            for home, name in ((torch, "sparse_coo_tensor"), (torch.Tensor, "to_sparse")):
                replace(home, name, functools.partial(self._make_sparse, replace))

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
        if not classes or not self.known.is_unknown(tensor):
            return function(*arguments, **named)
        self.known.memory.note_assumption("counted_classes")
        with self.known.reads.ignored(), self.known.memory.answers(0, classes - 1):
            return function(*arguments, **named)

    def follow_within(self, library):
        """Also where PyTorch's operators coalesce: as a product does that goes back through a transposed matrix."""
        torch = self.known.torch
        if not self.follows_kernels:
            return
        own = torch.library.get_kernel("aten::_coalesce", "SparseCUDA")

        def coalesce(keys, tensor):
            return self._different_places_of(tensor, lambda: own.call_boxed(keys, tensor))

        with warnings.catch_warnings():  # of kernels that are replaced
            warnings.simplefilter("ignore")
            library.m.impl("_coalesce", "SparseCUDA", without_collections(coalesce), True)

    def _make_sparse(self, replace, function, arguments, named):
        if not self.has_sparse:
            self.has_sparse, torch = True, self.known.torch
            for home, names in ((torch, "mm matmul addmm spmm"), (torch.sparse, "mm addmm"),
                                (torch.Tensor, "mm matmul addmm __matmul__")):
                for name in names.split():
                    replace(home, name, self._multiply)
        return function(*arguments, **named)

    def _multiply(self, function, arguments, named):
        """Its gradient is a product with the transposed matrix, whose places are counted once more."""
        torch = self.known.torch
        tensors = [value for value in arguments if isinstance(value, torch.Tensor)]
        if any(tensor.is_cuda and tensor.layout is torch.sparse_coo for tensor in tensors) and (
                torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)):
            self.known.reads.note_shape()
        return function(*arguments, **named)

    def _coalesce(self, function, arguments, named):
        tensor = arguments[0]
        if not tensor.is_cuda or tensor.layout is not self.known.torch.sparse_coo or tensor.is_coalesced():
            return function(*arguments, **named)
        return self._different_places_of(tensor.detach(), lambda: function(*arguments, **named))

    def _different_places_of(self, tensor, find):
        """The GPU counts them in memory that no operator asks for."""
        known = self.known
        with known.c._AutoDispatchBelowAutograd():
            indices = tensor._indices()
            places = None
            if known.is_known(indices):
                places = different_places(known.torch, known.alias(indices), tensor.shape)
        if places is None:
            most = indices.shape[1]
            count = self.rows_of(most, "places taken as distinct", least=min(most, 1))
            with known.reads.ignored(), known.memory.answers(count):
                return find()
        with known.memory.answers(places.shape[1]):
            result = find()
        with known.c._AutoDispatchBelowAutograd():
            known.take(result.detach()._indices(), places)
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
