"""How many of unknown values an operator selects: none, or the share that $OHM_ASSUME_SELECTED states."""
import os

from ohm_protocol import ASSUME_SELECTED_VARIABLE


class Selection:
    """Of KnownValues."""

    def __init__(self, known):
        self.known = known
        self.share = assumed_share()

    def rows_of(self, most, what, least=0):
        """Of `most` rows. A share that is assumed is noted; without one the size is a finding."""
        if self.share is not None:
            self.known.memory.note_assumption("assumed_selection")
            return max(int(most * self.share), least)
        self.known.reads.note_shape(f"{least} of {most:,} {what}")
        return least

    def follow(self, replace):
        """replace(home, name, call): call(function, arguments, named) in place of home.name."""
        for name in ("unique", "unique_consecutive"):
            replace(self.known.torch, name, self._find_different)

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


def assumed_share():
    """None: not told."""
    text = os.environ.get(ASSUME_SELECTED_VARIABLE, "")
    if not text:
        return None
    return 1.0 if text == "max" else float(text)
