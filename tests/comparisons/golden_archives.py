#!/usr/bin/env python3
"""Reads and writes the recordings of tests/golden, which are stored compressed.

    golden_archives.py unpack NAME FOLDER    writes the files of a recording to FOLDER
    golden_archives.py pack NAME FOLDER      makes the archive of those that are not kept readable

A recording NAME is a folder of files. Some are kept readable in tests/golden/NAME, as examples; all
others are members of tests/golden/NAME.tar.xz, whose hash is in tests/golden/SHA256SUMS. CMake
unpacks the archives for the tests in C++ (tests/golden.cmake).
"""
import hashlib
import io
import lzma
import pathlib
import sys
import tarfile

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"


class HashMismatch(Exception):
    """An archive is not the one whose hash is pinned."""


def archive_of(name, golden=GOLDEN):
    return golden / f"{name}.tar.xz"


def pinned_hashes(golden=GOLDEN):
    lines = (golden / "SHA256SUMS").read_text().splitlines()
    return {path: digest for digest, path in (line.split() for line in lines)}


def pin(name, golden=GOLDEN):
    hashes = pinned_hashes(golden)
    hashes[f"{name}.tar.xz"] = hashlib.sha256(archive_of(name, golden).read_bytes()).hexdigest()
    (golden / "SHA256SUMS").write_text(
        "".join(f"{digest}  {path}\n" for path, digest in sorted(hashes.items())))


def members_of(name, golden=GOLDEN):
    """{file: bytes} of the archive."""
    data = archive_of(name, golden).read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    pinned = pinned_hashes(golden).get(f"{name}.tar.xz")
    if digest != pinned:
        raise HashMismatch(f"{archive_of(name, golden)} does not match tests/golden/SHA256SUMS: "
                           f"its hash is {digest}, pinned is {pinned}")
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:xz") as archive:
        return {member.name: archive.extractfile(member).read() for member in archive.getmembers()}


def readable_files(name, golden=GOLDEN):
    return sorted(path for path in (golden / name).rglob("*") if path.is_file())


def files_of(name, golden=GOLDEN):
    """{file: bytes} of a recording: its readable files and its archive's."""
    files = members_of(name, golden)
    files.update((str(path.relative_to(golden / name)), path.read_bytes())
                 for path in readable_files(name, golden))
    return dict(sorted(files.items()))


def read(name, golden=GOLDEN):
    return {file: data.decode() for file, data in files_of(name, golden).items()}


def unpack(name, folder):
    for file, data in files_of(name).items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(data)


def pack(name, members, golden=GOLDEN):
    """Makes the archive of {file: bytes}: the same bytes for the same files. Files of the same name in
    several folders stand side by side: they are alike."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for file in sorted(members, key=lambda path: path.split("/")[::-1]):
            header = tarfile.TarInfo(file)
            header.size = len(members[file])
            archive.addfile(header, io.BytesIO(members[file]))
    compressed = lzma.compress(packed.getvalue(), preset=9 | lzma.PRESET_EXTREME)
    archive_of(name, golden).write_bytes(compressed)
    pin(name, golden)


def write(name, texts, golden=GOLDEN):
    """Adds or replaces files of a recording, each where it is stored: readable, or in the archive."""
    members = members_of(name, golden)
    for file, text in texts.items():
        readable = golden / name / file
        if readable.exists():
            readable.write_text(text)
        else:
            members[file] = text.encode()
    pack(name, members, golden)


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("pack", "unpack"):
        sys.exit(__doc__)
    command, name, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    if command == "unpack":
        unpack(name, folder)
        return
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    pack(name, {file: path.read_bytes() for file, path in files.items()
                if not (GOLDEN / name / file).exists()})


if __name__ == "__main__":
    main()
