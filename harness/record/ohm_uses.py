"""What a program does with a value that it reads, as its source tells: whether a size or a branch
depends on it, or whether it is only printed.

The expression that is being evaluated is found in the syntax tree by the instruction of a frame, and
followed outwards: into variables and their uses, into functions and attributes of the user's files, to
callers by the frames that are running (ohm_use_search.py). Logs and progress bars end it, and text that
nothing decides by."""
import ast
import linecache
import re

from ohm_use_files import asks_for_truth, name_of
from ohm_use_frames import value_in
from ohm_use_host import HostFunctions
from ohm_use_kinds import BRANCH, SHAPE, VALUE
from ohm_use_program import Files
from ohm_use_search import Search

UNPICKLES = "pickle.load"  # or loads
GIVES_WHOLE = frozenset("long int argmax argmin argsort".split())

__all__ = ["BRANCH", "SHAPE", "VALUE", "Uses"]


class Uses:
    def __init__(self, own_files=None):
        """own_files: UserFiles, to follow attributes and functions into the user's other files."""
        self.files = Files(own_files)
        self.host = HostFunctions(self.files)
        self.stops = {}  # (file, first line) -> last line of statements that may stop the program for a value
        self.chosen = {}  # (file, line) of a branch -> names of variables to which it assigns numbers
        self.on_rates = lambda optimizer: None  # of a branch that sets learning rates: of one, or of any (None)

    def of_result(self, frame, is_followed=False, is_compared=False, is_index=False, is_text=False):
        """What depends on the value of the expression that this frame evaluates: SHAPE, BRANCH,
        VALUE, or None where it is only printed. is_followed: the value tells itself when it is
        used (ohm_numbers.py), so that it may go where the source does not tell. is_compared: the
        expression compares such values, as a call of sort does. is_index: the value is an index in
        it. is_text: it makes text of the value."""
        try:
            search = Search(self, is_followed)
            found = search.of_frame(frame, is_compared=is_compared, is_index=is_index, is_text=is_text)
            is_told = search.tells
        except Exception:  # a long chain of functions, or a source that is not understood: the program goes on
            found, is_told = VALUE, is_followed
        # What a library does with it is too far to follow.
        is_unclear = found == VALUE or not self.files.is_own(frame.f_code.co_filename)
        return None if is_told and is_unclear else found

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
        node = file.expression(frame) if file and not asks_for_truth(frame) else None
        if isinstance(node, ast.Call):
            return name_of(node)
        return "" if isinstance(node, ast.Subscript) else None

    def has_whole_index(self, frame):
        """Whether what the frame evaluates takes elements by integers, as far as is known: their number is known."""
        file = self.files.file(frame.f_code.co_filename)
        node = file.expression(frame)
        if isinstance(value_in(frame, node.value), (list, tuple, dict, str)):
            return True
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return all(is_whole(part, frame) for part in parts)

    def mentions(self, frame, text):
        """Whether a frame runs a file of the user's that has this text."""
        name = frame.f_code.co_filename if frame is not None else ""
        return self.files.is_own(name) and text in self.files.text(name)

    def reads_pickles(self, frame):
        """Whether a file of the user's does, this one's or another."""
        file = self.files.file(frame.f_code.co_filename)
        return self.mentions(frame, UNPICKLES) or bool(file and self.files.elsewhere(file, UNPICKLES))


def is_whole(node, frame):
    """Whether an index is an integer, or a tensor of such ones."""
    if isinstance(node, ast.Slice):
        return all(part is None or isinstance(part, ast.Constant) for part in (node.lower, node.upper, node.step))
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Call):
        return name_of(node) in GIVES_WHOLE
    if isinstance(node, ast.BinOp):
        return is_whole(node.left, frame) and is_whole(node.right, frame)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and is_whole(node.operand, frame)
    if isinstance(node, ast.Subscript):
        return is_whole(node.value, frame)
    dtype = getattr(value_in(frame, node), "dtype", None)
    return getattr(dtype, "itemsize", 0) > 1 and not dtype.is_floating_point
