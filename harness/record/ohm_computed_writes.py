"""Copies, fills and selections where all values are computed (ohm_computed)."""
import ctypes
import mmap

from ohm_layouts import is_plain
from ohm_operators import Operator
from ohm_plain_calls import way_below
from ohm_writes import Writes

MANY_BYTES = 1 << 20  # from here on pages are given back instead of written


class ComputedWrites(Writes):
    def __init__(self, torch, known):
        super().__init__(torch, known)
        self.copies, self.fills, self.zeros = (
            Operator(torch, overload, known.key.key)
            for overload in (self.copy_operator, self.fill_operator, self.zero_operator))

    def follow(self, library):
        """With the short way of plain tensors in front."""
        plain = self.known.plain_calls
        self.twins, self.tensors = plain.twins, plain.tensors
        self.copy_below, self.fill_below = (
            way_below(operator, self.known.host_keys) for operator in (self.copy_operator, self.fill_operator))
        super().follow(library)

    def _copied(self, target, source, non_blocking):
        """Whether it is done, as both are plain and of the GPU."""
        if type(target) not in self.tensors or type(source) not in self.tensors:
            return False
        place, values = self.twins.to_write(target), self.twins.of(source)
        if place is None or values is None:
            return False
        with self.known.without_key(self.known.excluded):
            self.copy_below(target, source, non_blocking)
            self.copy_below(place[0], values)
        self.twins.mark_known(*place[1:])
        return True

    def _filled(self, tensor, value):
        """Whether it is done, as the tensor is plain and of the GPU."""
        place = self.twins.to_write(tensor) if type(tensor) in self.tensors else None
        if place is None:
            return False
        with self.known.without_key(self.known.excluded):
            self.fill_below(tensor, value)
            self.fill_below(place[0], value)
        self.twins.mark_known(*place[1:])
        return True

    def _zeroed(self, tensor):
        """As _filled, by fill_ as in PyTorch, but the pages of a large tensor are not touched: benchmarks zero
        the same hundreds of megabytes again and again, and much of what is zeroed is never read."""
        place = self.twins.to_write(tensor) if type(tensor) in self.tensors else None
        if place is None or place[2] < MANY_BYTES or place[2] != tensor.numel() * tensor.element_size():
            return self._filled(tensor, 0)
        with self.known.without_key(self.known.excluded):
            self.fill_below(tensor, 0)
        zero_pages(*place[1:])
        self.twins.mark_known(*place[1:])
        return True

    def _copy(self, mark, keys, target, source, non_blocking=False):
        if self.known.graphs.is_capturing():
            return self._captured(self.copies, target, source, non_blocking)
        if self._copied(target, source, non_blocking):
            return target
        told = self.known.told.copied
        if told is not None and not target.is_cuda and target.numel() == told.numel():
            self.known.alias(source).copy_(told.view(source.shape))
        if self._is_copied_as_one(target) and self._is_copied_as_one(source):
            return super()._copy(mark, keys, target, source, non_blocking)
        below = keys & self.known.keys_below
        return self.copy_operator.redispatch(below, target, source, non_blocking)

    def _fill(self, mark, keys, tensor, value):
        if self.known.graphs.is_capturing():
            return self._captured(self.fills, tensor, value)
        if self._filled(tensor, value):
            return tensor
        if self._is_copied_as_one(tensor):
            return super()._fill(mark, keys, tensor, value)
        return self.fill_operator.redispatch(keys & self.known.keys_below, tensor, value)

    def _zero(self, mark, keys, tensor):
        if self.known.graphs.is_capturing():
            return self._captured(self.zeros, tensor)
        if self._zeroed(tensor):
            return tensor
        if self._is_copied_as_one(tensor):
            return super()._zero(mark, keys, tensor)
        return self.zero_operator.redispatch(keys & self.known.keys_below, tensor)

    def _captured(self, operator, tensor, *arguments):
        known = self.known
        with known.without_key(known.excluded):
            operator.overload.redispatch(known.host_keys, tensor, *arguments)
            known.graphs.capture(operator, (tensor, *arguments), {}, tensor)
        return tensor

    def _nonzero(self, keys, tensor):
        known = self.known
        if known.told.rows is None:
            return super()._nonzero(keys, tensor)
        with known.without_key(known.excluded), self.c._AutoDispatchBelowAutograd():
            result = self.torch.empty((0,), dtype=self.torch.int64, device=tensor.device)
        with known.memory.answers(known.told.rows):
            self.nonzero_into(tensor, out=result)
        return result

    def _is_copied_as_one(self, value):
        """Others are copied in parts, or hold no values."""
        return not isinstance(value, self.torch.Tensor) or (
            is_plain(self.torch, value) and value.device.type in ("cpu", "cuda"))


def zero_pages(address, size):
    """Of a virtual GPU, whose memory is private and of no file: pages that are given back read as zeros."""
    first = -(-address // mmap.PAGESIZE) * mmap.PAGESIZE
    last = (address + size) // mmap.PAGESIZE * mmap.PAGESIZE
    ctypes.memset(address, 0, first - address)
    ctypes.memset(last, 0, address + size - last)
    if _madvise(ctypes.c_void_p(first), ctypes.c_size_t(last - first), mmap.MADV_DONTNEED) != 0:
        ctypes.memset(first, 0, last - first)


_madvise = ctypes.CDLL(None).madvise
