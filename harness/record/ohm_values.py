"""Values that libraries read of a GPU whose kernels compute nothing, where all that matters is which
way a program goes on: they are 0, parameters of distributions are valid, and sequences that
transformers generates grow as long as they may.

What is read is read all the same: a program asks for the same memory, in the same order. Names of
both stand among the assumptions of allocator_shim/base/assumption.h.
"""
import contextlib
import ctypes
import functools
import os
import threading

from ohm_imports import when_imported
from ohm_requests import caching_allocator, library_of_cuda

# Distributions whose parameters are compared with each other, behind what Distribution checks.
# Others go on to calls of libraries, which read whether anything went wrong.
CHECKED_BY_THEMSELVES = ("ContinuousBernoulli", "Geometric", "Uniform")

# Of a tensor of bools that are all true: the version that is, which writes in place leave behind. And
# the most of them that are written there, as programs look at few.
TRUE_MARK = "_ohm_all_true"
LARGEST_THAT_IS_READ = 512


def grant_when_imported():
    """Nothing on a real GPU, where values are what they are."""
    library = ctypes.CDLL(None)
    if not hasattr(library, "ohm_note_assumption"):
        return
    checks = _Checks(library)
    generation = _Generation(library)
    for module, grant in (
            ("torch", lambda torch: clear_small_blocks(torch, library)),
            ("torch", checks.grant_to_normal),
            ("torch", grant_finite_numbers),
            ("torch.distributions", checks.grant_to_distributions),
            ("transformers.generation.stopping_criteria", generation.follow_lengths),
            ("transformers.generation.utils", generation.grant)):
        when_imported(module, where_it_is(grant))


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


def grant_finite_numbers(torch):
    """Zeros are finite: what torch.isfinite returns is true, and so is whether all of it is."""
    for home in (torch, torch.Tensor):
        for name, is_granted in (("isfinite", lambda tensor: True), ("all", is_known_true)):
            setattr(home, name, made_true(torch, getattr(home, name), is_granted))
    for name in ("isfinite", "all"):
        keep_for_scripts(torch, name)


def instead_of(function, home):
    """Decorates what is called instead of a function of the module `home`. Histories of memory, and
    their readers, take its frames for the function's."""

    def decorate(call):
        name = getattr(function, "__name__", call.__name__)
        path = os.path.join(os.path.dirname(home.__file__), os.path.basename(__file__))
        call.__code__ = call.__code__.replace(co_filename=path, co_name=name)
        return functools.wraps(function)(call)

    return decorate


def is_known_true(tensor):
    return getattr(tensor, TRUE_MARK, None) == version_of(tensor)


def version_of(tensor):
    """How often it was written to; tensors of inference do not count."""
    return 0 if tensor.is_inference() else tensor._version


def made_true(torch, function, is_granted):
    """The function, which makes a tensor of bools of its first argument."""

    @instead_of(function, torch)
    def call(*arguments, **named):
        result = function(*arguments, **named)
        if torch.compiler.is_compiling() or not arguments or not is_granted(arguments[0]):
            return result
        if type(result) is torch.Tensor and result.is_cuda:
            setattr(result, TRUE_MARK, version_of(result))
            if result.numel() <= LARGEST_THAT_IS_READ and result.is_contiguous():
                with contextlib.suppress(RuntimeError):  # a transform's, which has no memory
                    ctypes.memset(result.data_ptr(), 1, result.numel())
        return result

    return call


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

    def _granted(self, has_unfinished, home):
        @instead_of(has_unfinished, home)
        def call(*arguments, **named):
            goes_on = has_unfinished(*arguments, **named)
            is_complete, self.is_complete = self.is_complete, None
            if is_complete is None:
                return goes_on
            self.library.ohm_note_assumption(b"generated_length")
            return not is_complete

        return call
