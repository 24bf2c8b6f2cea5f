"""The numbers that a card draws: Philox4x32-10, which thread of a launch draws which of them, and what
PyTorch makes of them. As in cuRAND's device functions and ATen/native/cuda/DistributionTemplates.h.

Logarithms, sines and cosines are those of the host: the last digits may differ from a card's."""
import functools

THREADS_OF_BLOCK = 256
WORDS = 4  # of one call of Philox
CHUNK = 1 << 14  # counters at a time: what stays in the processor's cache
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10


@functools.cache
def numpy():
    """Where it is installed. None: numbers are not the card's."""
    try:
        import numpy as found
    except ImportError:
        return None
    return found


def philox(seed, counters, sequences):
    """uint32 [n, 4] for n counters and sequences, which are uint64."""
    np = numpy()
    made = np.empty((len(counters), WORDS), np.uint32)
    for first in range(0, len(counters), CHUNK):
        part = slice(first, first + CHUNK)
        _philox(np, seed, counters[part], sequences[part], made[part])
    return made


def _philox(np, seed, counters, sequences, made):
    """Both halves of a round at once: rows are words 0 and 2 of each counter, and 1 and 3."""
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    shape = 2, len(counters)
    even, odd, products, found = (np.empty(shape, np.uint64) for _ in range(4))
    for row, words in enumerate((counters, sequences)):
        np.bitwise_and(words, low, out=even[row])
        np.right_shift(words, half, out=odd[row])
    swapped, swapped_products = found[::-1], products[::-1]
    factors, keys = round_constants(seed)
    for key in keys:
        np.multiply(even, factors, out=products)
        np.right_shift(products, half, out=found)
        np.bitwise_xor(swapped, odd, out=even)
        np.bitwise_xor(even, key, out=even)
        np.bitwise_and(swapped_products, low, out=odd)
    made[:, 0::2] = even.T
    made[:, 1::2] = odd.T


@functools.lru_cache(maxsize=64)
def round_constants(seed):
    """Multipliers, and the keys of each round."""
    np = numpy()
    keys = [[[(seed >> shift) + number * step & 0xFFFFFFFF]
             for shift, step in zip((0, 32), KEY_STEPS)] for number in range(ROUNDS)]
    return np.array(MULTIPLIERS, np.uint64)[:, None], list(np.array(keys, np.uint64))


class Draws:
    """What one launch draws. `most_blocks`: that run on the card at once."""

    def __init__(self, seed, offset, most_blocks):
        self.seed = seed
        self.first_counter = offset // WORDS
        self.most_blocks = most_blocks

    def threads(self, count):
        """Of a launch for so many elements."""
        return min(self.most_blocks, -(-count // THREADS_OF_BLOCK)) * THREADS_OF_BLOCK

    def strided(self, count, convert, per_call=WORDS):
        """One element of each thread after the other's. convert(uint32 [n, 4]): [n, per_call]."""
        np = numpy()
        threads = self.threads(count)
        if count < threads:
            return np.ascontiguousarray(convert(self._words(0, count, 1))[:, 0])
        parts = []
        for call, first in enumerate(range(0, count, threads * per_call)):
            drawing = min(threads, count - first)
            numbers = convert(self._words(call, drawing, 1))
            parts.append(np.ascontiguousarray(numbers.T).reshape(-1)
                         if drawing == threads else numbers[:, 0])
        return np.concatenate(parts)[:count]

    def vectors(self, count, convert, width):
        """`width` elements of each thread in a row."""
        np = numpy()
        calls = -(-width // WORDS)
        parts = []
        threads = self.threads(count)
        for step, first in enumerate(range(0, count, threads * width)):
            drawing = min(threads, -(-(count - first) // width))
            numbers = convert(self._words(step * calls, drawing, calls))
            parts.append(numbers.reshape(drawing, -1)[:, :width].reshape(-1))
        return np.concatenate(parts)[:count]

    def by_fours(self, count, convert):
        """Of a launch with as many threads as it needs: four elements each."""
        return convert(self._words(0, -(-count // WORDS), 1)).reshape(-1)[:count]

    def of_threads(self, threads, calls, convert):
        """[threads, calls * 4] of these threads."""
        return convert(self._of(0, numpy().asarray(threads, "uint64"), calls)).reshape(
            len(threads), -1)

    def _words(self, call, threads, calls):
        return self._of(call, numpy().arange(threads, dtype="uint64"), calls)

    def _of(self, call, threads, calls):
        np = numpy()
        first = self.first_counter + call
        if calls == 1:
            return philox(self.seed, np.full(len(threads), first, np.uint64), threads)
        counters = np.arange(first, first + calls, dtype=np.uint64)
        return philox(self.seed, np.tile(counters, len(threads)), np.repeat(threads, calls))


# ---- what is made of four words: [n, 4] of 32 bits, or [n, 2] of 64 ----

TO_UNIT = 2.0 ** -32


def uniform(words):
    """float32, more than 0 and up to 1."""
    np = numpy()
    return words.astype(np.float32) * np.float32(TO_UNIT) + np.float32(TO_UNIT / 2)


def uniform_double(words):
    np = numpy()
    wide = words.astype(np.uint64)
    pairs = wide[:, 0::2] ^ wide[:, 1::2] << np.uint64(21)
    return pairs * 2.0 ** -53 + 2.0 ** -54


def normal(words):
    np = numpy()
    turn = np.float32(TO_UNIT) * np.float32(6.2831855)
    radius = np.sqrt(np.float32(-2) * np.log(uniform(words[:, 0::2])))
    angle = words[:, 1::2].astype(np.float32) * turn + turn / np.float32(2)
    made = np.empty(words.shape, np.float32)
    np.multiply(np.sin(angle), radius, out=made[:, 0::2])
    np.multiply(np.cos(angle), radius, out=made[:, 1::2])
    return made


def normal_double(words):
    np = numpy()
    units = uniform_double(words)
    radius = np.sqrt(-2.0 * np.log(units[:, 0]))
    angle = np.pi * 2 * units[:, 1]
    return np.stack([np.sin(angle) * radius, np.cos(angle) * radius], 1)


def words_of_32(words):
    return words


def words_of_64(words):
    np = numpy()
    wide = words.astype(np.uint64)
    return wide[:, 0::2] << np.uint64(32) | wide[:, 1::2]
