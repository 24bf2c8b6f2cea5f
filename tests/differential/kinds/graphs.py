"""Programs that are graphs of ops: results are used several times, as layers of models do.

What one op alone does not show: in which order gradients of a tensor with several uses are added up,
which strides gradients have that come through views, and when what nobody needs any more goes.
"""

UNARY = ("F.relu({a})", "F.gelu({a})", "torch.tanh({a})", "torch.sigmoid({a})", "{a} * 2.0", "{a} + 1.0",
         "{a} ** 2", "F.softmax({a}, dim=-1)", "F.log_softmax({a}, dim=-1)", "{a}.contiguous()",
         "F.dropout({a}, 0.5, True)", "torch.exp({a})", "F.silu({a})", "-{a}", "{a}.clone()", "{a} / 3.0",
         "{a}.clamp(min=0)", "F.softplus({a})", "{a}.abs()", "1.0 - {a}", "{a}.detach()")
BINARY = ("{a} + {b}", "{a} * {b}", "{a} - {b}", "torch.maximum({a}, {b})", "{a} / {b}",
          "torch.lerp({a}, {b}, 0.5)", "torch.where({a} > 0, {a}, {b})")
LEAST_LAYERS, MOST_LAYERS = 4, 14


class Graph:
    """Statements, and the tensors that there are with their shapes."""

    def __init__(self, rng, dtype):
        self.rng = rng
        self.options = "" if dtype == "float32" else f", dtype=torch.{dtype}"
        self.lines = []
        self.shapes = {}
        self.parameters = 0
        self.made = 0

    def add(self, line):
        self.lines.append(line)

    def leaf(self, shape, prefix="p"):
        name = f"{prefix}{self.parameters}"
        self.parameters += 1
        sizes = ", ".join(map(str, shape))
        self.add(f'{name} = torch.randn({sizes}, device="cuda"{self.options}, requires_grad=True)')
        return name

    def result(self, expression, shape):
        name = f"v{self.made}"
        self.made += 1
        self.add(f"{name} = {expression}")
        self.shapes[name] = list(shape)
        return name

    def any(self, least=1, most=4):
        """A tensor of so many dimensions, newer ones rather than older ones."""
        fitting = [name for name, shape in self.shapes.items() if least <= len(shape) <= most]
        if not fitting:
            return None
        return fitting[-1] if self.rng.random() < 0.5 else self.rng.choice(fitting)

    def like(self, name):
        """Another tensor of the same shape, or the same."""
        return self.rng.choice([other for other in self.shapes if self.shapes[other] == self.shapes[name]])


def unary(graph):
    a = graph.any()
    graph.result(graph.rng.choice(UNARY).format(a=a), graph.shapes[a])


def binary(graph):
    a = graph.any()
    graph.result(graph.rng.choice(BINARY).format(a=a, b=graph.like(a)), graph.shapes[a])


def broadcast(graph):
    """With what lacks the first dimensions, or has one element in some of them."""
    rng, a = graph.rng, graph.any(2)
    if a is None:
        return
    shape = graph.shapes[a]
    other = shape[rng.randint(1, len(shape) - 1):] if rng.random() < 0.5 else [
        1 if rng.random() < 0.5 else size for size in shape]
    b = graph.leaf(other)
    graph.result(f"{a} {rng.choice('+*-')} {b}", shape)


def linear(graph):
    rng, a = graph.rng, graph.any(2)
    if a is None:
        return
    shape = graph.shapes[a]
    width = rng.choice((1, 4, 6, shape[-1]))
    w = graph.leaf([width, shape[-1]], "w")
    if rng.random() < 0.6:
        b = graph.leaf([width], "b")
        expression = f"F.linear({a}, {w}, {b})"
    else:
        expression = rng.choice((f"F.linear({a}, {w})", f"{a} @ {w}.t()", f"torch.matmul({a}, {w}.t())"))
    graph.result(expression, shape[:-1] + [width])


def product(graph):
    a = graph.any(2)
    if a is None:
        return
    shape, b = graph.shapes[a], graph.like(a)
    graph.result(f"torch.matmul({a}, {b}.transpose(-2, -1))", shape[:-1] + [shape[-2]])


def norm(graph):
    a = graph.any()
    size = graph.shapes[a][-1]
    w, b = graph.leaf([size], "w"), graph.leaf([size], "b")
    graph.result(f"F.layer_norm({a}, ({size},), {w}, {b})", graph.shapes[a])


def rearranged(graph):
    rng, a = graph.rng, graph.any(2)
    if a is None:
        return
    shape = graph.shapes[a]
    dims = list(range(len(shape)))
    first, second = rng.sample(dims, 2)
    swapped = list(shape)
    swapped[first], swapped[second] = shape[second], shape[first]
    order = rng.sample(dims, len(dims))
    choices = [(f"{a}.transpose({first}, {second})", swapped),
               (f"{a}.permute({', '.join(map(str, order))})", [shape[dim] for dim in order]),
               (f"{a}.flatten(0, 1)", [shape[0] * shape[1]] + shape[2:]),
               (f"{a}.reshape({shape[0]}, -1)", [shape[0], product_of(shape[1:])])]
    if len(shape) < 4:
        place = rng.randint(0, len(shape))
        choices.append((f"{a}.unsqueeze({place})", shape[:place] + [1] + shape[place:]))
        if shape[-1] % 2 == 0:
            halves = ", ".join(map(str, shape[:-1] + [2, shape[-1] // 2]))
            choices.append((f"{a}.reshape({halves})", shape[:-1] + [2, shape[-1] // 2]))
    if 1 in shape:
        place = shape.index(1)
        choices += 2 * [(f"{a}.squeeze({place})", shape[:place] + shape[place + 1:])]
    expression, sizes = rng.choice([choice for choice in choices if choice[1]])
    graph.result(expression, sizes)


def product_of(sizes):
    result = 1
    for size in sizes:
        result *= size
    return result


def part(graph):
    rng, a = graph.rng, graph.any(2)
    if a is None:
        return
    shape = graph.shapes[a]
    dim = rng.randrange(len(shape))
    size = shape[dim]
    start = rng.randrange(size)
    length = rng.randint(1, size - start)
    kept = shape[:dim] + [length] + shape[dim + 1:]
    choices = [(f"{a}.narrow({dim}, {start}, {length})", kept),
               (f"{a}.select({dim}, {start})", shape[:dim] + shape[dim + 1:])]
    if size % 2 == 0:
        half = shape[:dim] + [size // 2] + shape[dim + 1:]
        choices.append((f"{a}.chunk(2, dim={dim})[{rng.randint(0, 1)}]", half))
    expression, sizes = rng.choice(choices)
    graph.result(expression, sizes)


def joined(graph):
    rng, a = graph.rng, graph.any(1, 3)
    if a is None:
        return
    shape, b = graph.shapes[a], graph.like(a)
    if rng.random() < 0.5:
        dim = rng.randrange(len(shape))
        sizes = shape[:dim] + [2 * shape[dim]] + shape[dim + 1:]
        graph.result(f"torch.cat([{a}, {b}], dim={dim})", sizes)
    else:
        dim = rng.randint(0, len(shape))
        graph.result(f"torch.stack([{a}, {b}], dim={dim})", shape[:dim] + [2] + shape[dim:])


def reduced(graph):
    rng, a = graph.rng, graph.any(2)
    if a is None:
        return
    shape = graph.shapes[a]
    dim = rng.randrange(len(shape))
    name = rng.choice(("sum", "mean", "amax", "logsumexp"))
    if rng.random() < 0.4:
        graph.result(f"{a}.{name}(dim={dim}, keepdim=True)", shape[:dim] + [1] + shape[dim + 1:])
    else:
        graph.result(f"{a}.{name}(dim={dim})", shape[:dim] + shape[dim + 1:])


def summed(graph):
    """A product of two or three operands by their letters."""
    rng, a = graph.rng, graph.any(2, 3)
    if a is None:
        return
    shape, b, c = graph.shapes[a], graph.like(a), graph.like(a)
    letters = "bld"[:len(shape)]
    size_of = dict(zip(letters, shape))
    w = graph.leaf([shape[-1], 5], "w")
    size_of["n"] = 5
    equations = [(f"{letters},{letters}->{letters}", f"{a}, {b}"),
                 (f"{letters},{letters[-1]}n->{letters[:-1]}n", f"{a}, {w}"),
                 (f"{letters},{letters},{letters}->{letters[:-1]}", f"{a}, {b}, {c}"),
                 (f"{letters},{letters[-1]}n,{letters}->{letters}n", f"{a}, {w}, {b}"),
                 (f"{letters},{letters}->{letters[0]}", f"{a}, {b}")]
    equation, operands = rng.choice(equations)
    graph.result(f'torch.einsum("{equation}", {operands})', [size_of[x] for x in equation.split("->")[1]])


def attended(graph):
    a = graph.any(3, 4)
    if a is None:
        return
    causal = ", is_causal=True" if graph.rng.random() < 0.5 else ""
    graph.result(f"F.scaled_dot_product_attention({a}, {graph.like(a)}, {graph.like(a)}{causal})",
                 graph.shapes[a])


def convolved(graph):
    rng, a = graph.rng, graph.any(3, 4)
    if a is None:
        return
    shape = graph.shapes[a]
    lines = len(shape) - 2
    channels = rng.choice((1, 4, shape[1]))
    w = graph.leaf([channels, shape[1]] + lines * [3], "w")
    b = f", {graph.leaf([channels], 'b')}" if rng.random() < 0.5 else ""
    graph.result(f"F.conv{lines}d({a}, {w}{b}, padding=1)", [shape[0], channels] + shape[2:])


def batch_normed(graph):
    a = graph.any(3, 4)
    if a is None:
        return
    channels = graph.shapes[a][1]
    w, b = graph.leaf([channels], "w"), graph.leaf([channels], "b")
    graph.result(f"F.batch_norm({a}, None, None, {w}, {b}, True)", graph.shapes[a])


def picked(graph):
    """Rows by their numbers, from a tensor or a table."""
    rng, a = graph.rng, graph.any(2)
    if a is None:
        return
    shape = graph.shapes[a]
    count = rng.choice((1, 3, 5))
    graph.add(f'ids{graph.made} = torch.zeros({count}, dtype=torch.long, device="cuda")')
    ids, dim = f"ids{graph.made}", rng.randrange(len(shape))
    kept = shape[:dim] + [count] + shape[dim + 1:]
    choices = [(f"{a}.index_select({dim}, {ids})", kept), (f"{a}[{ids}]", [count] + shape[1:])]
    if len(shape) == 2:
        choices.append((f"F.embedding({ids}, {a})", [count] + shape[1:]))
    expression, sizes = rng.choice(choices)
    graph.result(expression, sizes)


def written_over(graph):
    """What is new gets other values."""
    a = graph.any()
    name = graph.result(f"{a} + 0.5", graph.shapes[a])
    graph.add(f"{name}.{graph.rng.choice(('mul_(2.0)', 'relu_()', 'add_(1.0)', 'tanh_()', f'add_({a})'))}")


def widened(graph):
    rng, a = graph.rng, graph.any(2)
    if a is None or 1 not in graph.shapes[a]:
        return
    shape = list(graph.shapes[a])
    shape[shape.index(1)] = rng.choice((2, 3))
    graph.result(f"{a}.expand({', '.join(map(str, shape))})", shape)


def taken_apart(graph):
    """Unbound, each part changed, and stacked again: as loops over time do."""
    rng, a = graph.rng, graph.any(2, 3)
    if a is None:
        return
    shape = graph.shapes[a]
    dim = rng.randrange(len(shape))
    if shape[dim] > 6:
        return
    parts = []
    for number in range(shape[dim]):
        rest = shape[:dim] + shape[dim + 1:]
        part = graph.result(f"{a}.select({dim}, {number})", rest)
        parts.append(graph.result(graph.rng.choice(UNARY).format(a=part), rest) if rest else part)
    place = rng.randint(0, len(shape) - 1)
    rest = shape[:dim] + shape[dim + 1:]
    graph.result(f"torch.stack([{', '.join(parts)}], dim={place})", rest[:place] + [shape[dim]] + rest[place:])


LAYERS = [unary] * 5 + [binary] * 3 + [linear] * 4 + [rearranged] * 4 + [part] * 2 + [joined] * 2 + [
    broadcast, product, norm, reduced, reduced, summed, attended, convolved, batch_normed, picked, written_over,
    widened, taken_apart]


def graph_program(rng):
    graph = Graph(rng, rng.choice(("float32", "float32", "float32", "float16", "bfloat16")))
    shape = [rng.choice((2, 3, 4, 6)) for _ in range(rng.choice((2, 3, 3, 4)))]
    for _ in range(rng.randint(1, 2)):
        leaf = graph.leaf(shape, "x")
        graph.result(f"{leaf} * 1.5", shape)
    for _ in range(rng.randint(LEAST_LAYERS, MOST_LAYERS)):
        rng.choice(LAYERS)(graph)
        if rng.random() < 0.08 and len(graph.shapes) > 3:
            gone = rng.choice(list(graph.shapes)[:-1])
            del graph.shapes[gone]
            graph.add(f"del {gone}")
    ends = list(graph.shapes)[-1:] + rng.sample(list(graph.shapes)[:-1], min(2, len(graph.shapes) - 1))
    graph.add("loss = " + " + ".join(f"{end}.{rng.choice(('sum', 'mean'))}()" for end in ends))
    graph.add('mark("forward")')
    if rng.random() < 0.25:
        graph.add("loss.backward(retain_graph=True)")
        graph.add('mark("first")')
    graph.add("loss.backward()")
    graph.add('mark("backward")')
    return graph.lines
