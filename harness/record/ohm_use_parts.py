"""What parts of a value are: its attributes and methods, its items, and what operators make of it
(ohm_use_search.py)."""
import ast

from ohm_use_collections import is_list, is_mapping, values_of
from ohm_use_errors import is_handled
from ohm_use_frames import running
from ohm_use_kinds import (
    BRANCH, CHOSEN, GOES_ON, HOLDER, LISTS, MASK, REPEATED, SET, SHAPE, TEXT, WITHIN, computes, is_called, is_text,
    item_of_index)
from ohm_use_names import COLLECTS, DECIDES_BY_TEXT, HOW_MANY, OF_CHOSEN, READS_TEXT, TAKES_APART, TELLS_NO_VALUE
from ohm_use_stores import WRITES, is_written

LOOKUP_ERRORS = "KeyError", "IndexError", "LookupError"


class Parts:
    """Of Search."""

    def _is_other_item(self, subscript):
        """Than the one that is a collection of unknown length."""
        index = item_of_index(subscript.slice)
        is_known = None not in (self.item, index) and type(index) is type(self.item)
        return self.made in WITHIN and is_known and index != self.item

    def _of_part(self, file, parent, node, frame):
        """Of an attribute of it."""
        if self.made is SET and parent.attr in HOW_MANY:
            self.made = None
            return GOES_ON
        if self.made is not CHOSEN and parent.attr in TELLS_NO_VALUE:
            return None
        if self.made is CHOSEN and parent.attr in COLLECTS and isinstance(node, ast.Subscript):
            self.made = LISTS  # one of a container's
            return self._of_target(file, node.value, frame, is_changed=True)
        if is_called(file.parents, parent):
            if parent.attr == "keys" and self.made is not SET:
                return None
            if self.made is CHOSEN and parent.attr not in OF_CHOSEN:
                return BRANCH
            if self.made is TEXT and parent.attr in DECIDES_BY_TEXT and not is_written(file, parent):
                return BRANCH
            if self.made is TEXT and parent.attr in READS_TEXT:
                self.made = None
            if self.made is TEXT and parent.attr in TAKES_APART:
                return self._of_pieces(file, file.parents[parent], frame)
            if parent.attr in WRITES:  # array.tofile(path)
                return self._of_written(file, file.parents[parent], frame)
        return GOES_ON

    def _of_pieces(self, file, call, frame):
        """Of a text: there always is a first one, and a last one."""
        index = getattr(file.parents.get(call), "slice", None)
        is_certain = isinstance(index, (ast.Constant, ast.UnaryOp)) and ast.unparse(index) in ("0", "-1")
        self.made = TEXT if is_certain else SET
        return self._outwards(file, call, frame)

    def _of_index(self, file, parent, frame):
        is_stored = isinstance(parent.ctx, ast.Store)
        if isinstance(parent.ctx, ast.Del):
            return BRANCH
        if is_stored and computes(file.parents.get(parent)):
            return BRANCH
        if self.made is MASK and not is_stored and self._is_array_of_host(file, parent.value, frame):
            self.made = SET
            return self._outwards(file, parent, frame)
        if self.made is MASK and not is_list(file, parent.value, running(file, parent, frame or self.frame)):
            return SHAPE
        if self.made in HOLDER and not is_stored:
            return SHAPE
        if is_stored and (self.made is TEXT or is_mapping(file, parent.value)):
            self.made = SET
            return self._of_target(file, parent.value, frame)
        return BRANCH if is_handled(parent, file.parents, LOOKUP_ERRORS) else GOES_ON

    def _is_array_of_host(self, file, node, frame):
        """Whether all that a variable is assigned is what NumPy and its like give."""
        values = values_of(file, node) if isinstance(node, ast.Name) else ()
        return bool(values) and all(
            isinstance(value, ast.Call) and self._is_of_numbers(file, value, frame) for value in values)

    def _of_operator(self, parent, node):
        other = parent.left if node is parent.right else parent.right
        if is_text(other) and isinstance(parent.op, (ast.Mod, ast.Mult, ast.Add)):
            self.made = TEXT
        elif isinstance(parent.op, ast.Mult) and isinstance(other, REPEATED) and self.made is None:
            return SHAPE
        return GOES_ON
