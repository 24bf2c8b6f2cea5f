"""Copies and fills, by which values come to the GPU and leave it, and selections: PyTorch's own kernels
with ours around them, whatever tensors they are called with."""
import ctypes
import functools
import warnings

from ohm_memory import KEY, is_dense, without_collections, zeros_of

# Copies that the library leaves out (allocator_shim/interpose/copies.h).
LARGEST_HOST_COPY = 64 << 20


class Writes:
    """Of KnownValues."""

    def __init__(self, torch, known):
        self.torch = torch
        self.c = torch._C
        self.known = known
        aten = torch.ops.aten
        self.copy_operator = aten.copy_.default
        self.fill_operator = aten.fill_.Scalar
        self.zero_operator = aten.zero_.default
        self.nonzero_into = functools.partial(aten.nonzero.out.redispatch,
                                              self.c.DispatchKeySet(self.c.DispatchKey.CUDA))
        self.scalar_operator = aten.scalar_tensor.default

    def follow(self, library):
        """Kernels of the key, and those of the GPU: what operators write within may be written again."""
        written = {"copy_": self._copy, "fill_.Scalar": self._fill, "zero_": self._zero}
        for name, kernel in written.items():
            library.m.impl(name, KEY, functools.partial(kernel, self.known.mark_known), True)
        library.m.impl("nonzero.out", KEY, without_collections(self._nonzero_out), True)
        kernels = {name: functools.partial(kernel, self.known.mark_filled)
                   for name, kernel in written.items()}
        kernels |= {"nonzero": self._nonzero, "scalar_tensor": self._scalar_tensor}
        with warnings.catch_warnings():  # of kernels that are replaced
            warnings.simplefilter("ignore")
            for name, kernel in kernels.items():
                library.m.impl(name, "CUDA", without_collections(kernel), True)

    def _copy(self, mark, keys, target, source, non_blocking=False):
        if not isinstance(source, self.torch.Tensor):
            source = self.torch.tensor(source)
        if target.is_cuda:
            self._redispatch(self.copy_operator, target, source, non_blocking)
            self._copy_to_device(mark, target, source)
            return target
        with self.known.reads.ignored():
            self._redispatch(self.copy_operator, target, source, non_blocking)
        if not self.known.is_known(source):
            if source.is_cuda:
                self._make_plausible(target)
            self.known.mark_unknown(target)
        elif source.is_cuda or is_dense(target):
            self.known.key.remove(target)
        return target

    def _make_plausible(self, tensor):
        """Of what was copied from unknown memory, which may hold the bytes of anything: integers are places and
        classes, of which there is a first; other numbers are finite."""
        if tensor.layout is not self.torch.strided or tensor.is_quantized:
            return
        if tensor.dtype.is_complex:
            tensor = self.torch.view_as_real(tensor)
        with self.c._AutoDispatchBelowAutograd(), self.known.without_key(self.known.excluded):
            if not tensor.dtype.is_floating_point:
                tensor.zero_()
            elif tensor.element_size() > 1:
                tensor.nan_to_num_(0, 0, 0)

    def _redispatch(self, operator, *arguments):
        self.known.provisional.write(operator.redispatch, self.known.host_keys, *arguments)

    def _copy_to_device(self, mark, target, source):
        if self.known.is_capturing():
            self.known.replays.write(target)
            return
        known = self.known
        if not (known.is_small(target) and known.is_small(source) and known.is_known(source)):
            known.mark_unknown(target)
            return
        is_done = (source.device.type == "cpu" and source.dtype == target.dtype
                   and source.size() == target.size() and source.is_contiguous()
                   and target.is_contiguous()
                   and target.numel() * target.element_size() <= LARGEST_HOST_COPY)
        if not is_done and source.device.type in ("cpu", "cuda"):
            with self.c._AutoDispatchBelowAutograd():
                self.known.alias(target).copy_(self.known.moved(source))
        (mark if source.is_cuda else known.mark_known)(target)

    def _fill(self, mark, keys, tensor, value):
        self._redispatch(self.fill_operator, tensor, value)
        self._follow_fill(mark, tensor, value)
        return tensor

    def _zero(self, mark, keys, tensor):
        self._redispatch(self.zero_operator, tensor)
        self._follow_fill(mark, tensor, 0)
        return tensor

    def _follow_fill(self, mark, tensor, value):
        if not tensor.is_cuda:
            self.known.key.remove(tensor)
            return
        if self.known.is_capturing():
            self.known.replays.write(tensor)
            return
        if type(value) in self.known.reads.number_types or not self.known.may_fill(tensor):
            self.known.mark_unknown(tensor)
            return
        if type(value) in (int, float) and value == 0 and tensor.is_contiguous():
            ctypes.memset(*zeros_of(tensor))
        else:
            with self.c._AutoDispatchBelowAutograd():
                self.known.alias(tensor).fill_(value)
        mark(tensor)

    def _scalar_tensor(self, keys, value, **named):
        """Numbers that operators make of those of Python carry no key: they cannot be passed to our
        kernels."""
        result = self.scalar_operator.redispatch(self.known.host_keys, value, **named)
        self.known.key.remove(result)
        return result

    def _nonzero(self, keys, tensor):
        with self.c._AutoDispatchBelowAutograd():
            result = self.torch.empty((0,), dtype=self.torch.int64, device=tensor.device)
        self._find_places(tensor, result)
        return result

    def _nonzero_out(self, keys, tensor, *, out):
        if tensor.is_cuda and not self.known.is_capturing():
            self._find_places(tensor, out)
            return out
        return self.torch.ops.aten.nonzero.out.redispatch(keys & self.known.keys_below, tensor, out=out)

    def _find_places(self, tensor, result):
        known = self.known
        if known.is_known(tensor) or tensor.numel() == 0:
            with self.c._AutoDispatchBelowAutograd():
                rows = known.alias(tensor).nonzero()
            with known.memory.answers(len(rows)):
                self.nonzero_into(tensor, out=result)
            known.take(result, rows)
            return
        count = known.selection.rows_of(tensor.numel(), "rows selected")
        with known.reads.ignored(), known.memory.answers(count):
            self.nonzero_into(tensor, out=result)
        known.mark_unknown(result)
