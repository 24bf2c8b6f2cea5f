"""CUDA graphs: a capture computes nothing, and a replay writes memory without any operator.

While a graph is captured, all operators of the thread are followed, whatever they are called with. What
they write is unknown, at once and after each replay."""
import functools

from ohm_memory import KEY, span_of
from ohm_operators import tensors_in


class Replays:
    """Of KnownValues."""

    def __init__(self, torch, known):
        self.torch = torch
        self.known = known
        self.written = None  # {first address: end} of the graph that is being captured

    def follow(self):
        graph = self.torch.cuda.CUDAGraph
        graph.capture_begin = self._beginning(graph.capture_begin)
        for name in ("capture_end", "capture_end_pre"):
            if hasattr(graph, name):
                setattr(graph, name, self._ending(getattr(graph, name)))
        graph.replay = self._replaying(graph.replay)

    def _beginning(self, method):
        @functools.wraps(method)
        def capture_begin(graph, *arguments, **named):
            method(graph, *arguments, **named)
            self.written = {}
            self._include_key(True)

        return capture_begin

    def _ending(self, method):
        @functools.wraps(method)
        def capture_end(graph, *arguments, **named):
            if self.written is not None:
                graph.ohm_written = joined(self.written)
                self.written = None
                self._include_key(self.known.includes_key)
            return method(graph, *arguments, **named)

        return capture_end

    def _replaying(self, method):
        @functools.wraps(method)
        def replay(graph):
            method(graph)
            for address, end in getattr(graph, "ohm_written", ()):
                self.known.memory.mark_unknown(address, end - address)

        return replay

    def _include_key(self, is_included):
        self.torch._C._dispatch_tls_set_dispatch_key_included(KEY, is_included)

    def run(self, operator, keys, arguments, named):
        """An operator that is captured."""
        with self.known.without_key(self.known.excluded):
            result = operator.call(keys, arguments, named)
        for tensor in [*operator.written(self.torch, arguments, named), *tensors_in(self.torch, result)]:
            if tensor.is_cuda and tensor.layout is self.torch.strided:
                self.write(tensor)
        return result

    def write(self, tensor):
        address, size = span_of(tensor)
        self.written[address] = max(self.written.get(address, 0), address + size)
        self.known.mark_unknown(tensor)


def joined(ends):
    """Disjoint ranges of addresses."""
    found = []
    for begin, end in sorted(ends.items()):
        if found and begin <= found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([begin, end])
    return found
