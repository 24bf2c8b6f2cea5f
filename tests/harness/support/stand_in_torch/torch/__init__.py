"""As much of PyTorch as the recorder of ohm exec uses, without a wheel: every tensor is a segment of its
own, from cudaMalloc of whatever takes CUDA's place, and the history is kept as the caching allocator
keeps it."""
import sys
import types

__version__ = "2.6.0"
version = types.SimpleNamespace(cuda="12.4")

from . import _C, cuda, nn, optim  # noqa: E402


class Tensor:
    """Of so many bytes on the GPU."""

    is_cuda = True
    grad = None
    _address = None

    def __init__(self, size):
        cuda._lazy_init()
        self._address = _C.allocate(size, sys._getframe(1))

    def __del__(self):
        if self._address is not None and _C is not None:  # None while Python ends
            _C.free(self._address)

    def untyped_storage(self):
        return self

    def data_ptr(self):
        return self._address


def empty(size):
    return Tensor(size)


def compile(function):
    return function


def mm(size):
    """A result of so many bytes, and at the first time the workspace that cuBLAS keeps."""
    result = Tensor(size)
    if not _C.workspaces:
        _C.workspaces.append(_C.allocate(2 << 20, sys._getframe(1)))
    return result
