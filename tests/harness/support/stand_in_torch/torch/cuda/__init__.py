import ctypes
import types

from .. import _C
from . import memory

OutOfMemoryError = _C.OutOfMemoryError
_waiting = []
_is_initialized = False


def _lazy_call(callback):
    _waiting.append(callback)


def _lazy_init():
    global _is_initialized
    if _is_initialized:
        return
    _is_initialized = True
    for callback in _waiting:
        callback()


def device_count():
    count = ctypes.c_int()
    _C.runtime.cudaGetDeviceCount(ctypes.byref(count))
    return count.value


def get_device_properties(device):
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    _C.runtime.cudaMemGetInfo(ctypes.byref(free), ctypes.byref(total))
    return types.SimpleNamespace(name="a GPU", total_memory=total.value)


def memory_stats(device):
    if device != 0:
        return {}
    counts = ("num_ooms", "num_alloc_retries", "num_device_alloc")
    stats = {name: _C.statistics[name] for name in counts}
    for name in ("allocated_bytes", "reserved_bytes"):
        stats[f"{name}.all.current"] = _C.statistics[name]
        stats[f"{name}.all.peak"] = _C.peaks[name]
    return stats


def memory_stats_as_nested_dict(device):
    stats = {name: _C.statistics[name] for name in ("num_ooms", "num_alloc_retries")}
    for name in ("allocated_bytes", "reserved_bytes"):
        stats[name] = {"all": {"current": _C.statistics[name], "peak": _C.peaks[name]}}
    stats["allocation"] = {"all": {"allocated": _C.statistics["num_alloc"]}}
    return stats


def reset_accumulated_memory_stats(device=0):
    _C._cuda_resetAccumulatedMemoryStats(device)


def reset_peak_memory_stats(device=0):
    _C._cuda_resetPeakMemoryStats(device)
