"""Values that libraries read of a GPU whose kernels compute nothing, where all that matters is which
way a program goes on: they are 0, parameters of distributions are valid, and sequences that
transformers generates grow as long as they may.

What is read is read all the same: a program asks for the same memory, in the same order. Names of
both stand among the assumptions of allocator_shim/base/assumption.h.
"""
import collections
import contextlib
import ctypes
import functools
import importlib
import os
import threading

import ohm_number_functions
from ohm_collectives import Collectives
from ohm_imports import when_imported
from ohm_computed import ComputedValues
from ohm_known import KnownValues
from ohm_memory import DeviceMemory
from ohm_protocol import VALUES_VARIABLE
from ohm_reads import Reads
from ohm_requests import caching_allocator, library_of_cuda

# Distributions whose parameters are compared with each other, behind what Distribution checks.
# Others go on to calls of libraries, which read whether anything went wrong.
CHECKED_BY_THEMSELVES = ("ContinuousBernoulli", "Geometric", "Uniform")

# What isnan and its like say of values that were not computed.
SAID_OF_FINITE = {"isfinite": True, "isnan": False, "isinf": False}


class OnlyReads(collections.namedtuple("OnlyReads", "reads memory")):
    """Where no value is known: all that is read is."""

    def is_known(self, tensor):
        return not tensor.is_cuda


_known = None  # KnownValues of this process, once PyTorch is there


def note_end(error, trace):
    """Of an error that ends this process; trace: (file, line) of its frames."""
    if _known is not None:
        _known.reads.note_end(error, trace)


def unknown_reads():
    """Of this process, as its summary has them."""
    return _known.reads.report() if _known is not None else []


def not_computed():
    """Operators of this process that the CPU did not compute, where it computes all: name -> calls."""
    return dict(_known.not_computed) if isinstance(_known, ComputedValues) else {}


def grant_when_imported():
    """Nothing on a real GPU, where values are what they are."""
    library = ctypes.CDLL(None)
    if not hasattr(library, "ohm_note_assumption"):
        return
    when_imported("torch", lambda torch: clear_small_blocks(torch, library))
    grants = []
    if values_mode() != "cpu":
        checks = _Checks(library)
        generation = _Generation(library)
        grants += [("torch", checks.grant_to_normal),
                   ("torch.distributions", checks.grant_to_distributions),
                   ("transformers.generation.stopping_criteria", generation.follow_lengths),
                   ("transformers.generation.utils", generation.grant)]
    for module, grant in grants:
        when_imported(module, where_it_is(grant))
    when_imported("torch", lambda torch: follow_values(torch, library))


def values_mode():
    """none, known or cpu."""
    return os.environ.get(VALUES_VARIABLE) or "known"


def where_it_is(grant):
    """Versions of a library without what is to be granted read zeros."""

    @functools.wraps(grant)
    def call(module):
        with contextlib.suppress(AttributeError):
            grant(module)

    return call


def clear_small_blocks(torch, library):
    """Values that were not computed are 0, not what lay there before: a loss is no NaN, a solver has no
    complaint."""
    if torch.version.cuda is not None and os.path.exists(library_of_cuda(torch)):
        torch.cuda._lazy_call(lambda: library.ohm_clear_small_requests(caching_allocator(torch)))


def reads_noted():
    """How many reads of unknown values were noted until now."""
    return _known.reads.order if _known is not None else 0


def is_unknown(value):
    """Whether a tensor, or a number that one gave, has values that no kernel has computed."""
    if not isinstance(_known, KnownValues):
        return False
    if isinstance(value, _known.reads.torch.Tensor):
        return value.numel() != 0 and not _known.is_known(value)
    return type(value) in _known.reads.number_types


def reads_ignored():
    return _known.reads.ignored() if _known is not None else contextlib.nullcontext()


def follow_values(torch, library):
    """What is known of values is computed, and what is read of others is noted."""
    global _known
    mode = values_mode()
    if torch.version.cuda is None or mode == "none":
        return
    kind = ComputedValues if mode == "cpu" else KnownValues
    reads = Reads(torch, library)
    try:
        _known = kind(torch, library, reads)
    except (AttributeError, RuntimeError):  # versions before 2.5
        _known = OnlyReads(reads, DeviceMemory(library))
        reads.follow(_known.memory)
        return
    _known.register()
    know_constructors()
    _known.reads.replace_methods(_known.is_unknown)
    ohm_number_functions.follow(torch, reads)
    if mode == "known":
        grant_finite_numbers(torch, _known)
    else:
        when_imported("torch._subclasses.fake_tensor", _known.leave_out_fake_tensors)
        when_imported("torch._inductor.compile_fx", _known.follow_compiled)
        when_imported("torch._prims", lambda _: _known.leave_out_composed("prims"))
    _known.follow(functools.partial(replace_function, torch))
    if mode == "known":
        Collectives(torch, _known).follow(instead_of)


def know_constructors():
    """To be called before any is replaced: torch.device, as a default or a context, knows PyTorch's
    functions that make tensors as the objects that they are."""
    with contextlib.suppress(AttributeError, ImportError):
        importlib.import_module("torch.utils._device")._device_constructors()


def ignoring_reads(function):
    @functools.wraps(function)
    def call(*arguments, **named):
        with reads_ignored():
            return function(*arguments, **named)

    return call


def replace_function(torch, home, name, call_instead):
    """In a module or a class of PyTorch's, where it has one of this name."""
    function = getattr(home, name, None)
    if function is None:
        return

    @instead_of(function, torch)
    def call(*arguments, **named):
        return call_instead(function, arguments, named)

    call.__prepare_scriptable__ = lambda: function  # what TorchScript compiles
    setattr(home, name, call)
    if home is torch:
        keep_for_scripts(torch, name)


def grant_finite_numbers(torch, known):
    """Values that no kernel computes are taken for finite."""
    for name, said in SAID_OF_FINITE.items():
        for home in (torch, torch.Tensor):
            setattr(home, name, saying(getattr(home, name), said, torch, known))
        keep_for_scripts(torch, name)


def saying(function, said, torch, known):
    @instead_of(function, torch)
    def call(*arguments, **named):
        result = function(*arguments, **named)
        if not torch.compiler.is_compiling():
            known.factories.assume(result, said, "finite_values")
        return result

    return call


def instead_of(function, home):
    """Decorates what is called instead of a function of the module `home`. Histories of memory, and
    their readers, take its frames for the function's."""

    def decorate(call):
        name = getattr(function, "__name__", call.__name__)
        path = os.path.join(os.path.dirname(home.__file__), os.path.basename(__file__))
        call.__code__ = call.__code__.replace(co_filename=path, co_name=name)
        return functools.wraps(function)(call)

    return decorate


def keep_for_scripts(torch, name):
    """TorchScript knows a function of PyTorch's as the object that it is."""
    torch.jit._builtins._register_builtin(getattr(torch, name), f"aten::{name}")


class _Checks:
    """A distribution reads whether all its parameters and samples are valid, and torch.normal whether
    no deviation is negative."""

    def __init__(self, library):
        self.library = library

    def grant_to_distributions(self, distributions):
        base = distributions.Distribution
        base._validate_sample = self._granted(base._validate_sample, distributions)
        for kind in (base, *(getattr(distributions, name) for name in CHECKED_BY_THEMSELVES)):
            kind.__init__ = self._granted(kind.__init__, distributions)

    def grant_to_normal(self, torch):
        torch.normal = self._granted(torch.normal, torch)
        keep_for_scripts(torch, "normal")

    def _granted(self, function, home):
        @instead_of(function, home)
        def call(*arguments, **named):
            self.library.ohm_begin_check()
            try:
                return function(*arguments, **named)
            finally:
                self.library.ohm_end_check()

        return call


class _Generation(threading.local):
    """Of a model: whether a sequence has ended is a token that a kernel chooses; whether it is as
    long as it may be is known."""

    def __init__(self, library):
        self.library = library
        self.is_complete = None  # as long as it may be; None: not asked for since it was told

    def follow_lengths(self, stopping_criteria):
        is_done = stopping_criteria.MaxLengthCriteria.__call__

        @instead_of(is_done, stopping_criteria)
        def call(criteria, input_ids, *arguments, **named):
            self.is_complete = input_ids.shape[-1] >= criteria.max_length
            return is_done(criteria, input_ids, *arguments, **named)

        stopping_criteria.MaxLengthCriteria.__call__ = call

    def grant(self, utils):
        mixin = utils.GenerationMixin
        mixin._has_unfinished_sequences = self._granted(mixin._has_unfinished_sequences, utils)
        if hasattr(utils, "StopCheck"):
            utils.StopCheck.__call__ = ignoring_reads(utils.StopCheck.__call__)

    def _granted(self, has_unfinished, home):
        @instead_of(has_unfinished, home)
        def call(*arguments, **named):
            with reads_ignored():
                goes_on = has_unfinished(*arguments, **named)
            is_complete, self.is_complete = self.is_complete, None
            if is_complete is None:
                return goes_on
            self.library.ohm_note_assumption(b"generated_length")
            return not is_complete

        return call
