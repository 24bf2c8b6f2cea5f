#!/usr/bin/env python3
"""Loads a snapshot that ohm wrote with Python's own pickle and checks that it has what PyTorch's
tools look for, and that its figures agree with each other: check_snapshot.py FILE 2.15. Prints a
line, exits 1 for a difference.
"""
import pickle
import sys

SNAPSHOT = {"segments", "device_traces", "allocator_settings", "external_annotations"}
SEGMENT = {"device", "address", "total_size", "allocated_size", "active_size", "requested_size",
           "stream", "segment_type", "segment_pool_id", "is_expandable", "frames", "blocks"}
BLOCK = {"address", "size", "requested_size", "state", "frames"}
ENTRY = {"action", "size", "stream", "time_us"}
FRAME = {"filename", "line", "name"}
SETTINGS = {"PYTORCH_CUDA_ALLOC_CONF", "max_split_size", "garbage_collection_threshold",
            "expandable_segments", "pinned_num_register_threads", "release_lock_on_cudamalloc",
            "pinned_use_cuda_host_register", "roundup_power2_divisions"}
# What each version of PyTorch writes beside that.
MORE = {
    "2.6": {"snapshot": set(), "settings": set(), "entry": set()},
    "2.15": {"snapshot": {"host_segments", "host_traces"},
             "settings": {"graph_capture_record_stream_reuse", "max_cached_size",
                          "max_round_threshold"},
             "entry": {"compile_context", "pool_id", "user_metadata"}},
}
ACTIONS = {"alloc", "free_requested", "free_completed", "segment_alloc", "segment_free",
           "segment_map", "segment_unmap", "snapshot", "oom"}
STATES = {"active_allocated", "active_pending_free", "inactive"}


def need(condition, what):
    if not condition:
        sys.exit(f"snapshot: {what}")


def check_frames(frames):
    for frame in frames:
        need(set(frame) == FRAME, f"a frame with the keys {sorted(frame)}")
        need(isinstance(frame["line"], int) and isinstance(frame["name"], str), "a frame's types")


def check_segment(segment):
    need(set(segment) == SEGMENT, f"a segment with the keys {sorted(segment)}")
    need(isinstance(segment["segment_pool_id"], tuple), "a pool id that is no tuple")
    need(isinstance(segment["is_expandable"], bool), "is_expandable that is no bool")
    need(segment["segment_type"] in ("small", "large"), "a segment's type")
    check_frames(segment["frames"])
    address = segment["address"]
    need(address + segment["total_size"] < 2 ** 53, "an address that JavaScript cannot hold")
    for block in segment["blocks"]:
        need(BLOCK <= set(block) <= BLOCK | {"category"}, f"a block with the keys {sorted(block)}")
        need(block["state"] in STATES, f"a block that is {block['state']}")
        need(block["address"] == address, "blocks that leave gaps")
        address += block["size"]
        check_frames(block["frames"])
    need(address == segment["address"] + segment["total_size"], "blocks that leave a gap")
    for key, states in (("allocated_size", {"active_allocated"}),
                        ("active_size", {"active_allocated", "active_pending_free"})):
        total = sum(b["size"] for b in segment["blocks"] if b["state"] in states)
        need(segment[key] == total, f"{key} that is not the sum of the blocks")


def check_entry(entry, more):
    keys = set(entry) - {"frames", "category"}
    need(entry["action"] in ACTIONS, f"the action {entry['action']}")
    where = "device_free" if entry["action"] == "oom" else "addr"
    need(keys == ENTRY | more | {where}, f"an entry with the keys {sorted(entry)}")
    check_frames(entry.get("frames", []))


def main(path, version):
    more = MORE[version]
    with open(path, "rb") as file:
        snapshot = pickle.load(file)
    need(set(snapshot) == SNAPSHOT | more["snapshot"], f"the keys {sorted(snapshot)}")
    settings = set(snapshot["allocator_settings"])
    need(settings == SETTINGS | more["settings"], f"the settings {sorted(settings)}")
    divisions = snapshot["allocator_settings"]["roundup_power2_divisions"]
    need(list(divisions) == [str(1 << i) for i in range(16)], "the roundup divisions' keys")
    for segment in snapshot["segments"]:
        check_segment(segment)
    order = [(segment["device"], segment["address"]) for segment in snapshot["segments"]]
    need(order == sorted(order), "segments that are not in the order of their addresses")
    for trace in snapshot["device_traces"]:
        for entry in trace:
            check_entry(entry, more["entry"])
        times = [entry["time_us"] for entry in trace]
        need(times == sorted(times), "a trace that is not in the order of time")
    categories = {entry["category"] for trace in snapshot["device_traces"] for entry in trace
                  if "category" in entry}
    need(not categories or "unknown" in categories, "categories that PyTorch's viewer fails on")
    entries = sum(map(len, snapshot["device_traces"]))
    print(f"{len(snapshot['segments'])} segments, {entries} entries")


if __name__ == "__main__":
    main(*sys.argv[1:])
