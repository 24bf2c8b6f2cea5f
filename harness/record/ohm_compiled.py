"""Values of what torch.compile has made with inductor (ohm exec --values cpu): its Triton kernels
compute nothing. The graph that inductor was given is computed on the host, operator by operator,
before the compiled one runs for its allocations; then its results are filled in.

Random numbers are those of Triton's functions, without the blocks that autotuning chooses."""
import copy
import functools
import types

from ohm_known import NOT_COMPUTED
from ohm_memory import span_of
from ohm_operators import Operator, tensors_in
from ohm_random import triton_numbers, triton_seeds


class NotComputed(Exception):
    pass


class CompiledGraphs:
    def __init__(self, values):
        self.values = values
        self.torch = values.torch
        self.kinds = set()  # of what inductor returns, whose calls are followed

    def follow(self, module):
        """Of torch._inductor.compile_fx."""
        compile_inner = module.compile_fx_inner

        @functools.wraps(compile_inner)
        def compile_with_values(graph, *arguments, **named):
            kept = self._kept(graph)
            compiled = compile_inner(graph, *arguments, **named)
            if kept is not None and callable(compiled):
                self._follow_calls(type(compiled))
                compiled.ohm_graph = kept
            return compiled

        module.compile_fx_inner = compile_with_values
        for function in list(vars(module).values()):
            if isinstance(function, types.FunctionType):
                replace_default(function, compile_inner, compile_with_values)
        # What comes out of its cache has no graph.
        self.torch._functorch.config.enable_autograd_cache = False

    def _kept(self, graph):
        """As it was before inductor changed it; None: nothing of it is the GPU's."""
        if not any(is_of_gpu(node) for node in graph.graph.nodes):
            return None
        kept = self.torch.fx.GraphModule(graph, copy.deepcopy(graph.graph))
        return ComputedGraph(self.values, kept)

    def _follow_calls(self, kind):
        if kind in self.kinds:
            return
        self.kinds.add(kind)
        call = kind.__call__

        @functools.wraps(call)
        def call_with_values(compiled, inputs):
            graph = getattr(compiled, "ohm_graph", None)
            if graph is None:
                return call(compiled, inputs)
            return graph.run(inputs, functools.partial(call, compiled))

        kind.__call__ = call_with_values


def replace_default(function, old, new):
    if old in (function.__defaults__ or ()):
        function.__defaults__ = tuple(new if v is old else v for v in function.__defaults__)
    for name, value in (function.__kwdefaults__ or {}).items():
        if value is old:
            function.__kwdefaults__[name] = new


def is_of_gpu(node):
    found = node.meta.get("val")
    found = found if isinstance(found, (list, tuple)) else [found]
    return any(getattr(getattr(v, "device", None), "type", "") == "cuda" for v in found)


class ComputedGraph:
    """One graph of aten's operators."""

    def __init__(self, values, module):
        self.values = values
        self.torch = values.torch
        self.module = module
        self.operators = {}
        self.written = self._written_inputs()

    def _written_inputs(self):
        inputs = [node for node in self.module.graph.nodes if node.op == "placeholder"]
        written = set()
        for node in self.module.graph.nodes:
            schema = getattr(node.target, "_schema", None)
            for argument, given in zip(schema.arguments if schema else (), node.args):
                if argument.alias_info and argument.alias_info.is_write and given in inputs:
                    written.add(inputs.index(given))
        return written

    def run(self, inputs, call):
        values, torch = self.values, self.torch
        kept = [values.alias(v) if isinstance(v, torch.Tensor) and v.is_cuda else v
                for v in inputs]
        given = [v.clone() if index in self.written else v for index, v in enumerate(kept)]
        counts = []
        found = self._computed(inputs, given, counts)
        with values.without_key(values.excluded), values.memory.answers(*counts):
            result = call(inputs)
        self._fill_in(kept, given, result, found)
        return result

    def _computed(self, inputs, given, counts):
        values = self.values
        if not all(values.is_known(tensor) for tensor in tensors_in(self.torch, list(inputs))):
            return NOT_COMPUTED
        try:
            with values.without_key(values.excluded), self.torch.no_grad():
                found = interpreter(self.torch)(self, counts).run(*given)
                return self._apart(found, given)
        except NotComputed:
            return NOT_COMPUTED
        except Exception as error:
            values.note("compiled graph", error)
            return NOT_COMPUTED

    def _apart(self, found, given):
        """From inputs, whose memory the compiled graph may use for others."""
        places = {tensor.untyped_storage().data_ptr() for tensor in tensors_in(self.torch, given)}
        return [value.clone() if isinstance(value, self.torch.Tensor)
                and value.untyped_storage().data_ptr() in places else value for value in found]

    def _fill_in(self, kept, given, result, found):
        values = self.values
        made = [tensor for tensor in tensors_in(self.torch, list(result))]
        if found is NOT_COMPUTED:
            for tensor in made:
                values.mark_unknown(tensor)
            for index in self.written:
                values.memory.mark_unknown(*span_of(kept[index]))
            return
        with values.without_key(values.excluded), self.torch.no_grad():
            for index in self.written:
                kept[index].copy_(given[index])
                values.memory.mark_known(*span_of(kept[index]))
            values.take(list(result), list(found))

    def call(self, overload, arguments, named):
        operator = self.operators.get(overload)
        if operator is None:
            operator = Operator(self.torch, overload, self.values.key.key)
            self.operators[overload] = operator
        if operator.name.startswith("inductor_") and operator.name in DRAWN:
            return DRAWN[operator.name](self, *arguments, **named)
        state = None
        if operator.draws:
            state = self.values.random.state_of((), {})
        with self.values.random.drawing(state):
            found = self.values.on_host(operator, arguments, named)
        if found is NOT_COMPUTED:
            raise NotComputed
        return self.values.without_fillings(found)


@functools.cache
def interpreter(torch):
    class Interpreter(torch.fx.Interpreter):
        """counts: numbers that the compiled graph reads on the device are appended to it."""

        def __init__(self, graph, counts):
            super().__init__(graph.module)
            self.graph_of_values = graph
            self.counts = counts

        def call_function(self, target, args, kwargs):
            if not isinstance(target, torch._ops.OpOverload):
                return super().call_function(target, args, kwargs)
            found = self.graph_of_values.call(target, args, kwargs)
            name = target._schema.name
            if name == "aten::_local_scalar_dense" and isinstance(found, int):
                self.counts.append(int(found))
            elif name == "aten::nonzero":
                self.counts.append(len(found))
            return found

    return Interpreter


# ---- random numbers of inductor ----


def seeds(graph, count, *_):
    return triton_seeds(graph.values.random.launch({}, graph.values.random.state_of((), {})), count)


def one_seed(graph, *_):
    return seeds(graph, 1)[0]


def one_of(graph, found, index):
    return found[index]


def random(graph, size, seed, mode, offset=0, **_):
    return graph.torch.from_numpy(triton_numbers(int(seed), size, mode, offset)).view(size)


DRAWN = {
    "inductor_seeds": seeds,
    "inductor_seed": one_seed,
    "inductor_lookup_seed": one_of,
    "inductor_random": random,
}
