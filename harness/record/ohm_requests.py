"""Requests to PyTorch's caching allocator, which the library that takes CUDA's place can follow."""
import ctypes
import os

from ohm_imports import when_imported
from ohm_protocol import FAULT_VARIABLE, ONE_THREAD_VARIABLE


def prepare_when_torch_is_imported():
    """What the environment asks for: a fault plan that holds for requests, autograd in one thread."""
    fails_requests = "level(request)" in os.environ.get(FAULT_VARIABLE, "")
    has_one_thread = bool(os.environ.get(ONE_THREAD_VARIABLE))
    if fails_requests or has_one_thread:
        when_imported("torch", _Preparation(fails_requests, has_one_thread).wait_for_cuda)


class _Preparation:
    def __init__(self, fails_requests, has_one_thread):
        self.fails_requests = fails_requests
        self.has_one_thread = has_one_thread

    def wait_for_cuda(self, torch):
        if torch.version.cuda is not None:
            torch.cuda._lazy_call(lambda: self.prepare(torch))

    def prepare(self, torch):
        if self.fails_requests:
            follow_requests(torch, "request", None)
        if self.has_one_thread:
            keep_to_one_thread(torch)


def keep_to_one_thread(torch):
    """Backward runs in the thread that asks for it."""
    torch._C._set_multithreading_enabled(False)


def follow_requests(torch, level, follower):
    """Asks `follower` at each request of this level; None: the fault plan is asked."""
    library = ctypes.CDLL(None)
    address = ctypes.cast(follower, ctypes.c_void_p) if follower else None
    if level == "segment":
        library.ohm_follow_segments(address)
        return
    error = library.ohm_follow_requests(caching_allocator(torch), address)
    if error:
        raise OSError(error, "requests of PyTorch's allocator cannot be followed")


def caching_allocator(torch):
    """PyTorch's object."""
    c10 = ctypes.CDLL(library_of_cuda(torch))
    return ctypes.c_void_p.in_dll(c10, "_ZN3c104cuda20CUDACachingAllocator9allocatorE")


def library_of_cuda(torch):
    """Where its allocator is."""
    return os.path.join(os.path.dirname(torch.__file__), "lib", "libc10_cuda.so")
