"""What a program does with a value that it reads, as its source tells: whether a size or a branch
depends on it, or whether it is only printed.

The expression that is being evaluated is found in the syntax tree by the instruction of a frame, and
followed outwards: into variables and their uses, into functions and attributes of the user's files, to
callers by the frames that are running (ohm_use_search.py). Logs and progress bars end it, and text that
nothing decides by."""
import ast
import linecache
import re

from ohm_use_files import Files, name_of
from ohm_use_kinds import BRANCH, SHAPE, VALUE
from ohm_use_search import Search

__all__ = ["BRANCH", "SHAPE", "VALUE", "Uses"]


class Uses:
    def __init__(self, own_files=None):
        """own_files: UserFiles, to follow attributes and functions into the user's other files."""
        self.files = Files(own_files)
        self.stops = {}  # (file, first line) -> last line of statements that may stop the program for a value
        self.chosen = {}  # (file, line) of a branch -> names of variables to which it assigns numbers

    def of_result(self, frame, is_followed=False, is_compared=False):
        """What depends on the value of the expression that this frame evaluates: SHAPE, BRANCH,
        VALUE, or None where it is only printed. is_followed: the value tells itself when it is
        used (ohm_numbers.py), so that it may go where the source does not tell. is_compared: the
        expression compares such values, as a call of sort does."""
        try:
            found = Search(self, is_followed).of_frame(frame, is_compared=is_compared)
        except Exception:  # a long chain of functions, or a source that is not understood: the program goes on
            found = VALUE
        return None if is_followed and found == VALUE else found

    def ending_branches(self, trace):
        """(file, line) of branches on a value that an error may come from. trace: (file, line) of its frames."""
        for (file, first), last in self.stops.items():
            if any(frame == file and first <= line <= last for frame, line in trace):
                yield file, first
        words = {word for frame, line in trace if self.files.is_own(frame)
                 for word in re.findall(r"\w+", linecache.getline(frame, line))}
        yield from (place for place, names in self.chosen.items() if not names.isdisjoint(words))

    def called(self, frame):
        """The name of what the frame calls: "" for an index, None for anything else."""
        file = self.files.file(frame.f_code.co_filename)
        node = file.expression(frame) if file else None
        if isinstance(node, ast.Call):
            return name_of(node)
        return "" if isinstance(node, ast.Subscript) else None

    def mentions(self, frame, text):
        """Whether a frame runs a file of the user's that has this text."""
        name = frame.f_code.co_filename if frame is not None else ""
        return self.files.is_own(name) and text in self.files.text(name)
