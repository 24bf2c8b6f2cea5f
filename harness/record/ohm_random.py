"""Random numbers of operators of the GPU, as a card draws them (ohm_philox.py): which thread draws
for which element follows from the number of elements and from the card's multiprocessors.

Operators whose layout is not here (dropout of fused attention, poisson, binomial, gamma, dirichlet,
rrelu) draw from the host's generator, seeded by the GPU's seed and offset: the same numbers in each
run, but not a card's."""
import contextlib
import math
import threading

import ohm_philox as philox
from ohm_memory import is_dense

SEVEN = (2, 7)  # since then vectors of dropout are wider, and small remainders are drawn of 64 bits
INT_RANGE, LONG_RANGE = 1 << 32, 1 << 64
# Digits of what random_() of floats fills in.
DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
BLOCK_OF_CHOICES = 128


class _State(threading.local):
    now = None  # (seed, offset) of the operator that is computed


class RandomNumbers:
    def __init__(self, torch):
        self.torch = torch
        self.state = _State()
        self.blocks = {}  # device -> as many as run at once
        version = torch.__version__.split(".")[:2]
        self.is_newer = tuple(int(part) for part in version) >= SEVEN

    def state_of(self, arguments, named):
        """(seed, offset) of the generator that an operator draws from; None: not to be had."""
        generator = None
        for value in (*arguments, *named.values()):
            if isinstance(value, self.torch.Generator):
                generator = value
        if generator is None:
            generators = self.torch.cuda.default_generators
            generator = generators[self.torch._C._cuda_getDevice()]
        if generator.device.type != "cuda" or self.torch._C._cuda_isCurrentStreamCapturing():
            return None
        return generator.initial_seed() & LONG_RANGE - 1, generator.get_offset()

    @contextlib.contextmanager
    def drawing(self, state):
        before, self.state.now = self.state.now, state
        try:
            yield
        finally:
            self.state.now = before

    def is_drawn_as_on_card(self, operator):
        return (self.state.now is not None and operator.name in DRAWN
                and philox.numpy() is not None)

    def draw(self, operator, a):
        """What the card draws, given the operator's arguments by name, as tensors of the host."""
        return DRAWN[operator.name](self.launch(a, self.state.now))

    def launch(self, a, state):
        return Launch(self.torch, a, *state, self._most_blocks(), self.is_newer)

    def advance(self, operator, a):
        """How far the generator goes on, as far as the layout is known."""
        tensor = a.get("self") if a.get("self") is not None else a.get("input")
        if tensor is None or tensor.numel() == 0:
            return philox.WORDS
        if operator.name == "bernoulli_" and isinstance(a["p"], self.torch.Tensor):
            return 3 * philox.WORDS
        is_wide = tensor.dtype in (self.torch.float64, self.torch.int64)
        per_call = 2 if is_wide and "dropout" not in operator.name else philox.WORDS
        threads = philox.Draws(0, 0, self._most_blocks()).threads(tensor.numel())
        return ((tensor.numel() - 1) // (threads * per_call) + 1) * philox.WORDS

    @contextlib.contextmanager
    def seeding_host(self):
        """The host's generator is seeded by the GPU's, and is as it was afterwards."""
        if self.state.now is None:
            yield
            return
        seed, offset = self.state.now
        generator = self.torch.default_generator
        before = generator.get_state()
        generator.manual_seed(seed * 0x9E3779B97F4A7C15 + offset & (1 << 63) - 1)
        try:
            yield
        finally:
            generator.set_state(before)

    def _most_blocks(self):
        device = self.torch._C._cuda_getDevice()
        if device not in self.blocks:
            card = self.torch.cuda.get_device_properties(device)
            per_processor = card.max_threads_per_multi_processor // philox.THREADS_OF_BLOCK
            self.blocks[device] = card.multi_processor_count * per_processor
        return self.blocks[device]


class Launch:
    """One operator: its arguments by name, and the numbers that it draws."""

    def __init__(self, torch, arguments, seed, offset, most_blocks, is_newer):
        self.torch = torch
        self.arguments = arguments
        self.seed = seed
        self.offset = offset
        self.most_blocks = most_blocks
        self.is_newer = is_newer

    def __getitem__(self, name):
        return self.arguments[name]

    def draws(self, offset=None):
        return philox.Draws(self.seed, self.offset if offset is None else offset, self.most_blocks)

    def is_double(self, tensor):
        return tensor.dtype is self.torch.float64

    def of(self, numbers):
        return self.torch.from_numpy(numbers)

    def units(self, tensor):
        """Of more than 0 and up to 1, one for each element."""
        if self.is_double(tensor):
            return self.of(self.draws().strided(tensor.numel(), philox.uniform_double, 2))
        return self.of(self.draws().strided(tensor.numel(), philox.uniform))

    def write(self, numbers):
        """To the operator's first argument: elements are counted as they lie in memory."""
        target = self["self"]
        if target.is_contiguous():
            target.view(-1).copy_(numbers)
            return target
        lying = target.permute(sorted(range(target.dim()), key=lambda d: -target.stride(d)))
        lying.copy_(numbers.view(lying.shape))
        return target


def multiplied_and_added(numbers, factor, summand):
    """As a card does it, without rounding in between."""
    if (factor, summand) == (1, 0):
        return numbers
    made = numbers.double() * factor + summand
    return made.to(numbers.dtype)


def uniform(launch):
    kind = launch["self"].dtype
    first, last = (launch.torch.tensor(launch[name], dtype=kind) for name in ("from", "to"))
    made = multiplied_and_added(launch.units(launch["self"]), (last - first).item(), first.item())
    made = made.to(kind)
    return launch.write(launch.torch.where(made == last, first, made))


def normals(launch, target, mean, deviation):
    if launch.is_double(target):
        made = launch.of(launch.draws().strided(target.numel(), philox.normal_double, 2).copy())
    else:
        made = launch.of(launch.draws().strided(target.numel(), philox.normal))
    return multiplied_and_added(made, deviation, mean)


def normal(launch):
    target = launch["self"]
    if target.is_complex():
        launch.arguments = {**launch.arguments, "self": launch.torch.view_as_real(target)}
        launch.write(normals(launch, launch["self"], launch["mean"], launch["std"] / math.sqrt(2)))
        return target
    return launch.write(normals(launch, target, launch["mean"], launch["std"]))


def log_normal(launch):
    return launch.write(normals(launch, launch["self"], launch["mean"], launch["std"]).exp())


def exponential(launch):
    return launch.write(exponentials(launch, launch["self"], launch["lambd"]))


def exponentials(launch, target, rate):
    units = launch.units(target)
    least = launch.torch.finfo(units.dtype).eps / 2
    return -1.0 / rate * launch.torch.where(units >= 1 - least, -least, units.log())


def geometric(launch):
    return launch.write((launch.units(launch["self"]).log() / math.log1p(-launch["p"])).ceil())


def cauchy(launch):
    units = launch.units(launch["self"])
    least = launch.torch.finfo(units.dtype).eps
    tangents = (math.pi * (units.clamp(least, 1 - least) - 0.5)).tan()
    return launch.write(launch["median"] + launch["sigma"] * tangents)


def bernoulli(launch):
    target, p = launch["self"], launch["p"]
    if not isinstance(p, launch.torch.Tensor):
        units = launch.units(target)
        return launch.write(units < launch.torch.tensor(p, dtype=units.dtype))
    units = launch.of(launch.draws().by_fours(target.numel(), philox.uniform))
    return target.copy_(units.view(target.shape) <= p.expand(target.shape))


# ---- integers ----


def random(launch):
    target = launch["self"]
    if "to" in launch.arguments:
        first = launch.arguments.get("from", 0)
        if launch["to"] is None:  # of all that there are
            words = launch.draws().strided(target.numel(), philox.words_of_64, 2)
            return launch.write(launch.of(words.view(philox.numpy().int64)))
        return launch.write(integers(launch, target.numel(), first, launch["to"] - first))
    kind = str(target.dtype).removeprefix("torch.")
    is_wide = kind in ("float64", "int64")
    if kind == "bool":
        count = 2
    elif kind in DIGITS:
        count = (1 << DIGITS[kind]) + 1
    else:
        count = launch.torch.iinfo(target.dtype).max + 1
    return launch.write(integers(launch, target.numel(), 0, count, is_wide))


def integers(launch, count, first, span, is_wide=None):
    """`span` of them from the first on."""
    np = philox.numpy()
    if is_wide is None:
        is_wide = span >= (1 << 28 if launch.is_newer else 1 << 32)
    convert, per_call = ((philox.words_of_64, 2) if is_wide else (philox.words_of_32, 4))
    words = launch.draws().strided(count, convert, per_call)
    found = (words.astype(np.uint64) % np.uint64(span)).view(np.int64)
    with np.errstate(over="ignore"):
        return launch.of(found + np.int64(first))


def permutation(launch):
    """Keys are drawn and sorted; elements with the same key are shuffled by the first one's thread."""
    np = philox.numpy()
    count = launch["n"]
    if count == 0:
        return launch["out"]
    bits = min(64, math.ceil(math.log2(count - (6 * count * count + 1) / (math.log(0.9) * 12))))
    span = INT_RANGE if bits <= 32 else LONG_RANGE
    keys = integers(launch, count, -(span >> 1), span - 1).numpy()
    if bits < 64 and bits != 32:
        keys = keys & ((1 << bits) - 1)
    order = np.argsort(keys, kind="stable")
    threads = launch.draws().threads(count)
    per_call = 2 if span - 1 >= (1 << 28 if launch.is_newer else 1 << 32) else 4
    calls = (count - 1) // (threads * per_call) + 1
    _shuffle_equals(launch, keys[order], order, launch.offset + calls * philox.WORDS)
    return launch.of(order)


def _shuffle_equals(launch, keys, order, offset):
    np = philox.numpy()
    same = np.flatnonzero(keys[1:] == keys[:-1])
    starts = [int(at) for at in same if at == 0 or keys[at] != keys[at - 1]]
    for start in starts:
        size = int(np.searchsorted(keys[start:], keys[start], "right"))
        words = launch.draws(offset).of_threads([start], -(-(size - 1) // 4), philox.words_of_32)[0]
        for step, last in enumerate(range(size - 1, 0, -1)):
            other = int(words[step]) % (last + 1)
            order[[start + last, start + other]] = order[[start + other, start + last]]


def multinomial(launch):
    """Of one sample, or without replacement, it is the largest of probabilities over exponential
    numbers. With replacement each thread looks its number up in the sums."""
    torch, weights, samples = launch.torch, launch["self"], launch["num_samples"]
    if not launch["replacement"] or samples == 1:
        drawn = exponentials(launch, weights, 1.0).to(weights.dtype).view(weights.shape)
        shares = weights / drawn
        if samples == 1:
            return shares.argmax(-1, keepdim=True)
        return shares.topk(samples)[1]
    rows = weights.reshape(-1, weights.shape[-1]).float()
    sums = (rows / rows.sum(-1, keepdim=True)).cumsum(-1)
    width = -(-samples // BLOCK_OF_CHOICES) * BLOCK_OF_CHOICES
    np = philox.numpy()
    threads = (np.arange(len(rows))[:, None] * width + np.arange(samples)).reshape(-1)
    units = launch.of(launch.draws().of_threads(threads, 1, philox.uniform)[:, 0].copy())
    found = torch.searchsorted(sums, units.view(len(rows), samples))
    return found.clamp_max(weights.shape[-1] - 1).view(*weights.shape[:-1], samples)


# ---- of compiled graphs ----


def triton_seeds(launch, count):
    return integers(launch, count, -(LONG_RANGE >> 1), LONG_RANGE - 1)


def triton_numbers(seed, size, mode, offset):
    """float32, one after the other: of tl.rand or tl.randn."""
    np = philox.numpy()
    places = np.arange(math.prod(size), dtype=np.uint64) + np.uint64(offset)
    words = philox.philox(seed & LONG_RANGE - 1, places, np.zeros_like(places)).view(np.int32)
    units = np.where(words < 0, ~words, words).astype(np.float32) * np.float32(4.6566127342e-10)
    if mode == "rand":
        return units[:, 0].copy()
    radius = np.sqrt(-2 * np.log(np.maximum(np.float32(1e-7), units[:, 0])))
    return radius * np.cos(np.float32(2 * math.pi) * units[:, 1])


# ---- dropout ----


def native_dropout(launch):
    torch, source, p = launch.torch, launch["input"], launch["p"]
    if launch["train"] is False:
        return [source.clone(), torch.ones_like(source, dtype=torch.bool)]
    if p == 1:
        return [torch.zeros_like(source), torch.zeros_like(source, dtype=torch.bool)]
    return dropped(launch, source, 1.0 - p, torch.bool)


def fused_dropout(launch):
    return dropped(launch, launch["self"], launch["p"], launch.torch.uint8)


def dropped(launch, source, kept_share, kind):
    torch, draws, count = launch.torch, launch.draws(), source.numel()
    wide = torch.promote_types(source.dtype, torch.float32)
    width = vector_of(launch, source)
    units = launch.of(draws.vectors(count, philox.uniform, width) if width > 1
                      else draws.strided(count, philox.uniform))
    kept = units < torch.tensor(kept_share, dtype=wide)
    if width > 1 and not source.is_contiguous():  # as elements lie in memory
        mask = torch.empty_like(source, dtype=torch.bool)
        mask.as_strided((count,), (1,)).copy_(kept)
    else:
        mask = kept.view(source.shape)
    scale = 1.0 / torch.tensor(kept_share, dtype=wide)
    return [(source.to(wide) * mask * scale).to(source.dtype), mask.to(kind)]


def vector_of(launch, source):
    """How many elements a thread takes at once."""
    size, count = source.element_size(), source.numel()
    if not is_dense(source):
        return 1
    width = min(16 // size, 8) if launch.is_newer else 4
    while width > 1 and (source.data_ptr() % (size * width) or count % width):
        width //= 2
    return width


DRAWN = {
    "uniform_": uniform,
    "normal_": normal,
    "log_normal_": log_normal,
    "exponential_": exponential,
    "geometric_": geometric,
    "cauchy_": cauchy,
    "bernoulli_": bernoulli,
    "random_": random,
    "randperm": permutation,
    "multinomial": multinomial,
    "native_dropout": native_dropout,
    "_fused_dropout": fused_dropout,
}
