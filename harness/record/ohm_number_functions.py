"""Functions in C that take numbers that were read of unknown memory (ohm_numbers.py). Those of math make such
numbers of them; cmath, NumPy, statistics and struct make plain numbers, which the source is asked about."""
import cmath
import collections
import functools
import itertools
import math
import statistics
import struct

from ohm_imports import when_imported
from ohm_numbers import UnknownFloat, UnknownInt, UnknownNumber, unknown

OF_MATH = """exp exp2 expm1 log log1p log2 log10 sqrt cbrt pow fabs hypot tanh sin cos tan atan atan2
    copysign fmod""".split()
OF_CMATH = "exp log log10 sqrt phase polar rect".split()
OF_LISTS = "fsum prod".split()
OF_STATISTICS = """mean fmean geometric_mean harmonic_mean stdev pstdev variance pvariance quantiles
    linear_regression correlation covariance""".split()
OF_NUMPY = """array asarray mean median std var sum average min max amin amax ptp percentile quantile sort
    argsort argmax argmin""".split()
# Of these, the result says which of other things are chosen.
CHOOSES = frozenset("argsort argmax argmin".split())
MOST_LOOKED_AT = 16  # numbers of a list
KINDS = UnknownFloat, UnknownInt
COLLECTIONS = list, tuple, collections.deque, set, frozenset


def follow(torch, reads):
    for name in OF_MATH:
        _replace(math, name, _of_math, torch)
    _replace(math, "isclose", functools.partial(_of_compared, reads), torch)
    for name in OF_LISTS:
        _replace(math, name, _of_sum, torch)
    for name in OF_CMATH:
        _replace(cmath, name, functools.partial(_of_list, reads))
    for name in OF_STATISTICS:
        _replace(statistics, name, functools.partial(_of_values, reads))
    _replace(struct, "pack", functools.partial(_of_bytes, reads))
    when_imported("numpy", lambda numpy: _follow_numpy(numpy, reads))
    when_imported("transformers.trainer_callback", lambda callbacks: _follow_early_stop(callbacks, reads))


def _follow_numpy(numpy, reads):
    for name in OF_NUMPY:
        _replace(numpy, name, functools.partial(_of_list, reads))


def _follow_early_stop(callbacks, reads):
    """transformers' Trainer compares a metric that NumPy has averaged."""
    kind = callbacks.EarlyStoppingCallback
    check = kind.check_metric_value

    @functools.wraps(check)
    def call(*arguments, **named):
        if reads.have_metrics:
            reads.note_branch()
        return check(*arguments, **named)

    kind.check_metric_value = call


def _replace(home, name, replacement, torch=None):
    """torch: TorchScript knows the function as the object that it is."""
    function = getattr(home, name, None)
    if function is None:
        return
    call = functools.wraps(function)(replacement(function))
    setattr(home, name, call)
    in_scripts = torch and torch.jit._builtins._find_builtin(function)
    if in_scripts:
        torch.jit._builtins._register_builtin(call, in_scripts)


def _of_math(function):
    def call(*arguments):
        for value in arguments:
            if isinstance(value, UnknownNumber):
                return unknown(function(*arguments))
        return function(*arguments)

    return call


def _of_sum(function):
    def call(values, **named):
        values = list(values)
        result = function(values, **named)
        return unknown(result) if holds_number(values) else result

    return call


def _of_compared(reads, function):
    def call(*arguments, **named):
        if any(isinstance(value, UnknownNumber) for value in arguments):
            reads.on_use_of_number()
        return function(*arguments, **named)

    return call


def _of_values(reads, function):
    """Of a generator, too."""
    follow_list = _of_list(reads, function)

    def call(data, *arguments, **named):
        return follow_list(list(data) if hasattr(data, "__next__") else data, *arguments, **named)

    return call


def _of_list(reads, function):
    chooses = function.__name__ in CHOOSES

    def call(*arguments, **named):
        if arguments and holds_number(arguments[0]):
            reads.on_plain_number(chooses)
        return function(*arguments, **named)

    return call


def _of_bytes(reads, function):
    def call(*arguments):
        if holds_number(arguments):
            reads.note_value()
        return function(*arguments)

    return call


def holds_number(value):
    """Of a collection, or of those in it."""
    if type(value) not in COLLECTIONS:
        return type(value) in KINDS
    return any(map(holds_number, itertools.islice(value, MOST_LOOKED_AT)))
