"""The places of a program that make requests for GPU memory, for a sweep."""
import hashlib
import os
import sys

from ohm_sources import is_of_library, program_frames
from ohm_user_files import LIBRARY, PACKAGES, StartedIn


class Places:
    """The places of the program that make requests: Python's stack, of each frame the file as it is
    called on every machine, the line and the function."""

    def __init__(self, torch):
        self.torch = torch
        self.start_folder = os.getcwd() + os.sep
        self.files = StartedIn().files()
        self.known = {}  # frames -> index
        self.rows = []

    def index(self, frame):
        # Code is equal to code of another file that reads the same.
        key = tuple((frame.f_code, frame.f_code.co_filename, frame.f_lineno)
                    for frame in frames_from(frame))
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = len(self.rows)
            self.rows.append(self.row(key))
        return known

    def row(self, key):
        frames = [(code.co_filename, line, getattr(code, "co_qualname", code.co_name))
                  for code, _, line in key]
        text = "\n".join(f"{self.name_of(file)}:{line} {function}"
                         for file, line, function in frames)
        own = [(file, line) for file, line, _ in frames if not self.of_library(file)]
        file, line = self.files.named(own, lambda frame: frame[0]) or ("", 0)
        return {
            "hash": hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest(),
            "function": frames[0][2] if frames else "",
            "file": self.name_of(file),
            "line": line,
            "stack": [f"{self.name_of(file)}:{line}" for file, line in reversed(own)],
        }

    def of_library(self, file):
        return self.files.ownership(file) == LIBRARY or is_of_library(file, self.torch)

    def name_of(self, file):
        for folder in (*PACKAGES, f"python3.{sys.version_info.minor}{os.sep}"):
            if folder in file:
                return file.rpartition(folder)[2]
        return file[len(self.start_folder):] if file.startswith(self.start_folder) else file


def innermost_place():
    """Of the program and its libraries, where a request is made."""
    frames = frames_from(sys._getframe(1))
    return (frames[0].f_code, frames[0].f_lineno) if frames else None


def frames_from(frame):
    """This one and its callers, without our own."""
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return program_frames(frames, lambda frame: frame.f_code.co_filename)


def innermost_file(error):
    """That raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_filename if trace is not None else ""
