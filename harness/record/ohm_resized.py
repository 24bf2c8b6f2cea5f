"""Tensors of the GPU that grow (Tensor.resize_): they keep what is known of them.

The bytes that they grow by hold whatever lay there, and no program can go by them: they are zeros.
Objects that ranks exchange are padded so, to the longest of all."""
import ctypes

from ohm_memory import KEY, span_of


class ResizedTensors:
    """Of KnownValues."""

    def __init__(self, torch, known):
        self.torch = torch
        self.known = known
        self.operator = torch.ops.aten.resize_.default

    def follow(self, library):
        library.m.impl("resize_", KEY, self._resize, True)

    def _resize(self, keys, tensor, *arguments, **named):
        values = self._values(tensor)
        self.operator.redispatch(keys & self.known.keys_below, tensor, *arguments, **named)
        grown = self.known.sharing.storages.bytes_of(tensor) - len(values)
        if values and grown > 0 and self.known.is_small(tensor):
            address = span_of(tensor)[0]
            ctypes.memmove(address, values, len(values))
            ctypes.memset(address + len(values), 0, grown)
            self.known.mark_known(tensor)
        return tensor

    def _values(self, tensor):
        """Bytes of a tensor that has all of its storage; none: they are not known."""
        address, size = span_of(tensor)
        is_whole = size == self.known.sharing.storages.bytes_of(tensor)
        if not is_whole or not self.known.is_known(tensor) or not self.known.is_small(tensor):
            return b""
        return ctypes.string_at(address, size)
