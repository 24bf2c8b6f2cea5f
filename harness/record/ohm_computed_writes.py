"""Copies, fills and selections where all values are computed (ohm_computed)."""
from ohm_layouts import is_plain
from ohm_operators import Operator
from ohm_writes import Writes


class ComputedWrites(Writes):
    def __init__(self, torch, known):
        super().__init__(torch, known)
        self.copies, self.fills, self.zeros = (
            Operator(torch, overload, known.key.key)
            for overload in (self.copy_operator, self.fill_operator, self.zero_operator))

    def _copy(self, mark, keys, target, source, non_blocking=False):
        if self.known.graphs.is_capturing():
            return self._captured(self.copies, target, source, non_blocking)
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
        if self._is_copied_as_one(tensor):
            return super()._fill(mark, keys, tensor, value)
        return self.fill_operator.redispatch(keys & self.known.keys_below, tensor, value)

    def _zero(self, mark, keys, tensor):
        if self.known.graphs.is_capturing():
            return self._captured(self.zeros, tensor)
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
