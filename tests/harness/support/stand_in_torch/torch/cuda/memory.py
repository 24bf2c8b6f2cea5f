import os
import sys
import threading

from .. import _C

_annotating = None  # the thread that has asked for the history, if annotations are its own

def get_allocator_backend():
    settings = os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "")
    return "cudaMallocAsync" if "backend:cudaMallocAsync" in settings else "native"


def _record_memory_history(enabled="all", *args, **kwargs):
    _record_memory_history_impl(enabled, *args, **kwargs)


def _record_memory_history_impl(enabled="all", context="all", stacks="all",
                                max_entries=sys.maxsize, global_record_annotations=False):
    global _annotating
    this = threading.get_ident()
    if not enabled and _annotating not in (None, this):
        print("Requested callback is not found", file=sys.stderr)
    _annotating = this if enabled and not global_record_annotations else None
    _C.most_events = max_entries if enabled else 0
    _C.has_stacks = context is not None


def _snapshot():
    compiler = sys.modules.get("torch._inductor.codecache")
    if compiler is not None:
        compiler.PyCodeCache.stack_frames_for_code("compiled.py", 1)
    getattr(sys.modules["torch"], "_inductor", None)  # newer versions ask, and import it
    segments = [
        {"device": 0, "address": address, "total_size": segment, "allocated_size": segment,
         "active_size": segment, "requested_size": size, "stream": 0, "segment_type": "large",
         "segment_pool_id": (0, 0), "is_expandable": False, "frames": frames,
         "blocks": [{"address": address, "size": segment, "requested_size": size,
                     "state": "active_allocated", "frames": frames}]}
        for address, (size, segment, frames) in sorted(_C.blocks.items())
    ]
    return {"segments": segments, "device_traces": [list(_C.trace)]}
