"""Copies and fills, by which values come to the GPU and leave it, and selections: PyTorch's own kernels
with ours around them, whatever tensors they are called with."""
import ctypes
import os
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
        self.nonzero_into = aten.nonzero.out
        self.scalar_operator = aten.scalar_tensor.default
        self.assumed_share = assumed_share()

    def follow(self, library):
        kernels = {"copy_": self._copy, "fill_.Scalar": self._fill, "zero_": self._zero,
                   "nonzero": self._nonzero, "scalar_tensor": self._scalar_tensor}
        library.m.impl("copy_", KEY, self._copy, True)
        with warnings.catch_warnings():  # of kernels that are replaced
            warnings.simplefilter("ignore")
            for name, kernel in kernels.items():
                library.m.impl(name, "CUDA", without_collections(kernel), True)

    def _copy(self, keys, target, source, non_blocking=False):
        if not isinstance(source, self.torch.Tensor):
            source = self.torch.tensor(source)
        thread = self.known.reads.thread
        before, thread.is_ignored = thread.is_ignored, True
        try:
            self.copy_operator.redispatch(self.known.host_keys, target, source, non_blocking)
        finally:
            thread.is_ignored = before
        if target.is_cuda:
            self._copy_to_device(target, source)
        elif not self.known.is_known(source):
            self.known.mark_unknown(target)
        elif source.is_cuda:
            self.known.key.remove(target)
        elif is_dense(target):
            self.known.key.remove(target)
        return target

    def _copy_to_device(self, target, source):
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
        self.known.mark_known(target)

    def _fill(self, keys, tensor, value):
        self.fill_operator.redispatch(self.known.host_keys, tensor, value)
        self.fill(tensor, value)
        return tensor

    def _zero(self, keys, tensor):
        self.zero_operator.redispatch(self.known.host_keys, tensor)
        self.fill(tensor, 0)
        return tensor

    def fill(self, tensor, value):
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
        self.known.mark_known(tensor)

    def _scalar_tensor(self, keys, value, **named):
        """Numbers that operators make of those of Python carry no key: they cannot be passed to our
        kernels."""
        result = self.scalar_operator.redispatch(self.known.host_keys, value, **named)
        self.known.key.remove(result)
        return result

    def _nonzero(self, keys, tensor):
        with self.c._AutoDispatchBelowAutograd():
            result = self.torch.empty((0,), dtype=self.torch.int64, device=tensor.device)
        if self.known.is_known(tensor) or tensor.numel() == 0:
            with self.c._AutoDispatchBelowAutograd():
                rows = self.known.alias(tensor).nonzero()
            with self.known.memory.answers(len(rows)):
                self.nonzero_into(tensor, out=result)
            self.known.take(result, rows)
            return result
        share = self.assumed_share
        count = int(tensor.numel() * share) if share is not None else 0
        if share is not None:
            self.known.memory.note_assumption("assumed_selection")
        else:
            self.known.reads.note_shape(f"0 of {tensor.numel():,} rows selected")
        with self.known.reads.ignored(), self.known.memory.answers(count):
            self.nonzero_into(tensor, out=result)
        return result


def assumed_share():
    """$OHM_ASSUME_SELECTED: of the rows that a mask of unknown values selects; None: not told."""
    text = os.environ.get("OHM_ASSUME_SELECTED", "")
    if not text:
        return None
    return 1.0 if text == "max" else float(text)
