"""CUDA graphs: what is captured computes nothing then, and everything at each replay, on the same
memory (ohm exec --values cpu)."""
import functools

from ohm_known import NOT_COMPUTED
from ohm_memory import span_of
from ohm_operators import paired, tensors_in


class Step:
    """One operator of a graph, on tensors of the host that lie on the memory of the GPU's."""

    def __init__(self, operator, arguments, named, results, own, offset):
        self.operator = operator
        self.arguments = arguments
        self.named = named
        self.results = results
        self.own = own  # ids of tensors that the program has on the host: their values are known
        self.offset = offset  # of its random numbers, behind the graph's; None: it draws none


class Graphs:
    """Of this process. PyTorch captures one graph at a time."""

    def __init__(self, values):
        self.values = values
        self.torch = values.torch
        self.steps = None  # of the graph that is captured
        self.offset = 0  # of random numbers within it

    def follow(self):
        kind = self.torch.cuda.graphs.CUDAGraph
        begin, end, replay, reset = (getattr(kind, name) for name in
                                     ("capture_begin", "capture_end", "replay", "reset"))

        @functools.wraps(begin)
        def capture_begin(graph, *arguments, **named):
            begin(graph, *arguments, **named)
            graph.ohm_steps = self.steps = []
            self.offset = 0

        @functools.wraps(end)
        def capture_end(graph):
            self.steps = None
            return end(graph)

        @functools.wraps(replay)
        def replay_with_values(graph):
            state = self.values.random.state_of((), {})
            replay(graph)
            self._compute(getattr(graph, "ohm_steps", ()), state)

        @functools.wraps(reset)
        def reset_with_values(graph):
            graph.ohm_steps = []
            return reset(graph)

        kind.capture_begin, kind.capture_end = capture_begin, capture_end
        kind.replay, kind.reset = replay_with_values, reset_with_values

    def is_capturing(self):
        return self.steps is not None and self.torch.cuda.is_current_stream_capturing()

    def capture(self, operator, arguments, named, result):
        values, offset = self.values, None
        on_host = values.moved(arguments), {k: values.moved(v) for k, v in named.items()}
        if operator.draws:
            offset = self.offset
            self.offset += values.random.advance(operator, operator.full_arguments(*on_host))
        own = {id(tensor) for value in (*arguments, *named.values())
               for tensor in tensors_in(self.torch, value) if tensor.is_cpu}
        self.steps.append(Step(operator, *on_host, values.moved(result), own, offset))

    def _compute(self, steps, state):
        values = self.values
        for step in steps:
            drawn = None
            if state is not None and step.offset is not None:
                drawn = state[0], state[1] + step.offset
            with values.random.drawing(drawn):
                self._compute_step(step)

    def _compute_step(self, step):
        values, operator = self.values, step.operator
        written = list(operator.written(self.torch, step.arguments, step.named))
        made = list(tensors_in(self.torch, step.results)) if operator.makes_results else []
        is_found = self._are_known(step)
        if is_found:
            found = values.on_host(operator, step.arguments, step.named)
            is_found = found is not NOT_COMPUTED
        mark = values.memory.mark_known if is_found else values.memory.mark_unknown
        if is_found and made:
            with values.without_key(values.excluded), values.c._AutoDispatchBelowAutograd():
                for tensor, value in paired(self.torch, step.results, found):
                    if value is not None:
                        tensor.copy_(value)
        for tensor in (*written, *made):
            mark(*span_of(tensor))

    def _are_known(self, step):
        memory = self.values.memory
        return all(memory.is_known(*span_of(tensor))
                   for name, value in step.operator.inputs(step.arguments, step.named)
                   if name not in step.operator.unread
                   for tensor in tensors_in(self.torch, value)
                   if id(tensor) not in step.own and tensor.numel())
