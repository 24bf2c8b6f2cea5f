#!/usr/bin/env python3
"""What Python's own pickle reads in the snapshots of tests/golden/snapshots, as figures.

Writes tests/golden/snapshots/figures.txt; with --check it changes nothing and fails when the file
says something else. With paths it prints the figures of those files instead.

The digest is FNV-1a (64 bits) over the text that text_of() makes, which holds every field that ohm
reads; tests/support/snapshot_text.h makes the same text.
"""
import pathlib
import pickle
import platform
import sys
import tempfile
from collections import Counter

import golden_archives

FOLDER = pathlib.Path(__file__).parent.parent / "golden" / "snapshots"


def stack_text(entry):
    return "|".join(
        f"{f['filename']}:{f.get('line', 0)}:{f['name']}" for f in entry.get("frames", []))


def note(entry, key):
    value = entry.get(key, "")
    return value if isinstance(value, str) else ""


def segment_lines(segment):
    blocks = segment["blocks"]
    allocated = sum(b["size"] for b in blocks if b["state"] == "active_allocated")
    active = [b for b in blocks if b["state"] != "inactive"]
    pool = segment.get("segment_pool_id", (0, 0))
    yield " ".join(map(str, [
        "segment", segment.get("device", 0), segment["address"], segment["total_size"],
        segment.get("allocated_size", allocated),
        segment.get("active_size", sum(b["size"] for b in active)),
        segment.get("requested_size", sum(b.get("requested_size", 0) for b in active)),
        segment.get("stream", 0), segment["segment_type"], pool[0], pool[1],
        int(segment.get("is_expandable", False)), stack_text(segment)]))
    address = segment["address"]
    for block in blocks:
        yield " ".join(map(str, [
            "block", block.get("address", address), block["size"],
            block.get("requested_size", 0), block["state"], note(block, "category"),
            stack_text(block)]))
        address += block["size"]


def entry_line(entry):
    address = entry.get("addr", 0)
    if entry["action"] == "oom":
        address = entry.get("device_free", address)
    return " ".join(map(str, [
        entry["action"], address, entry["size"], entry.get("stream", 0),
        entry.get("time_us", "-"), note(entry, "category"), note(entry, "compile_context"),
        note(entry, "user_metadata"), stack_text(entry)]))


def settings_line(settings):
    conf = settings.get("PYTORCH_CUDA_ALLOC_CONF", settings.get("PYTORCH_ALLOC_CONF", ""))
    reuse = settings.get("graph_capture_record_stream_reuse")
    roundup = settings.get("roundup_power2_divisions", {})
    return " ".join(map(str, [
        "settings", conf, settings["max_split_size"],
        f"{settings.get('garbage_collection_threshold', 0):.6f}",
        int(settings.get("expandable_segments", False)),
        settings.get("pinned_num_register_threads", 1),
        int(settings.get("release_lock_on_cudamalloc", False)),
        int(settings.get("pinned_use_cuda_host_register", False)),
        "-" if reuse is None else int(reuse)] + [roundup.get(str(1 << i), 0) for i in range(16)]))


def text_of(snapshot):
    lines = []
    for segment in snapshot["segments"]:
        lines.extend(segment_lines(segment))
    for device, trace in enumerate(snapshot["device_traces"]):
        lines.append(f"trace {device}")
        lines.extend(map(entry_line, trace))
    if "allocator_settings" in snapshot:
        lines.append(settings_line(snapshot["allocator_settings"]))
    for mark in snapshot.get("external_annotations", []):
        lines.append(" ".join(map(str, [
            "annotation", mark["name"], mark["stage"], mark.get("device", 0),
            mark.get("time_us", "-")])))
    return "".join(line + "\n" for line in lines)


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def figures(path):
    with open(path, "rb") as file:
        snapshot = pickle.load(file)
    segments = snapshot["segments"]
    blocks = [block for segment in segments for block in segment["blocks"]]
    entries = [entry for trace in snapshot["device_traces"] for entry in trace]
    actions = Counter(entry["action"] for entry in entries)
    text = text_of(snapshot)
    values = [
        ("segments", len(segments)),
        ("segment_bytes", sum(s["total_size"] for s in segments)),
        ("allocated_bytes", sum(s["allocated_size"] for s in segments)),
        ("blocks", len(blocks)),
        ("block_requested_bytes", sum(b.get("requested_size", 0) for b in blocks)),
        ("devices", len(snapshot["device_traces"])),
        ("entries", len(entries)),
    ]
    values += [(f"entries.{action}", actions[action]) for action in sorted(actions)]
    values += [
        ("alloc_bytes", sum(e["size"] for e in entries if e["action"] == "alloc")),
        ("frames", sum(len(e.get("frames", [])) for e in entries)),
        ("stacks", len({stack_text(e) for e in entries})),
        ("annotations", len(snapshot.get("external_annotations", []))),
        ("text_bytes", len(text.encode("utf-8", "surrogatepass"))),
        ("digest", f"{fnv1a(text.encode('utf-8', 'surrogatepass')):016x}"),
    ]
    return "".join(f"{path.name} {name} {value}\n" for name, value in values)


def main(arguments):
    if arguments and arguments != ["--check"]:
        for path in map(pathlib.Path, arguments):
            print(figures(path), end="")
        return 0
    text = (f"# figures of the snapshots here, read with Python {platform.python_version()}'s "
            "pickle by tests/comparisons/snapshot_figures.py\n")
    with tempfile.TemporaryDirectory() as unpacked:
        golden_archives.unpack("snapshots", pathlib.Path(unpacked))
        text += "".join(figures(path) for path in sorted(pathlib.Path(unpacked).glob("*.pickle")))
    golden = FOLDER / "figures.txt"
    if not arguments:
        golden.write_text(text, encoding="utf-8")
        return 0
    same = golden.read_text(encoding="utf-8").splitlines()[1:] == text.splitlines()[1:]
    print("agrees" if same else f"{golden} differs from what pickle reads")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
