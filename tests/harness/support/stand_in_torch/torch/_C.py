"""The allocator and its history."""
import collections
import ctypes
import time
import types

GRANULE = 2 << 20

runtime = ctypes.CDLL("libcudart.so.12")
blocks = {}  # address -> (bytes, segment's bytes, frames)
trace = []
most_events = 0
has_stacks = True
statistics = collections.Counter()
peaks = collections.Counter()
observers = []
workspaces = []  # that cuBLAS keeps
_nn = types.SimpleNamespace()


class OutOfMemoryError(RuntimeError):
    pass


def frames_of(frame):
    frames = []
    while has_stacks and frame is not None:
        code = frame.f_code
        frames.append({"filename": code.co_filename, "line": frame.f_lineno, "name": code.co_name})
        frame = frame.f_back
    return frames


def add_event(action, address, size, frames=()):
    if len(trace) >= most_events:
        del trace[: len(trace) - most_events + 1]
    if most_events == 0:
        return
    key = "device_free" if action == "oom" else "addr"
    trace.append({"action": action, key: address, "size": size, "stream": 0,
                  "time_us": time.time_ns() // 1000, "frames": list(frames)})


def count(name, change):
    statistics[name] += change
    peaks[name] = max(peaks[name], statistics[name])


def allocate(size, frame):
    frames = frames_of(frame)
    segment = -(-size // GRANULE) * GRANULE
    address = ctypes.c_void_p()
    if runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(segment)) != 0:
        statistics["num_ooms"] += 1
        add_event("oom", 0, segment, frames)
        for observer in observers:
            observer(0, segment, 0, 0)
        raise OutOfMemoryError(f"CUDA out of memory. Tried to allocate {segment >> 20} MiB.")
    statistics["num_device_alloc"] += 1
    statistics["num_alloc"] += 1
    add_event("segment_alloc", address.value, segment, frames)
    add_event("alloc", address.value, size, frames)
    blocks[address.value] = (size, segment, frames)
    count("reserved_bytes", segment)
    count("allocated_bytes", segment)
    return address.value


def free(address):
    size, segment, frames = blocks.pop(address)
    for action in ("free_requested", "free_completed"):
        add_event(action, address, size, frames)
    add_event("segment_free", address, segment, frames)
    runtime.cudaFree(ctypes.c_void_p(address))
    count("reserved_bytes", -segment)
    count("allocated_bytes", -segment)


def _cuda_resetPeakMemoryStats(device):
    for name in peaks:
        peaks[name] = statistics[name]


def _cuda_resetAccumulatedMemoryStats(device):
    for name in ("num_ooms", "num_alloc_retries", "num_device_alloc"):
        statistics[name] = 0


def _cuda_attach_out_of_memory_observer(observer):
    observers.append(observer)


def _cuda_clearCublasWorkspaces():
    while workspaces:
        free(workspaces.pop())


def _set_multithreading_enabled(enabled):
    """There is no backward that could have threads."""
