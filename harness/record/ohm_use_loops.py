"""What a loop, a comprehension or an order makes of a value that it loops over, selects or sorts by
(ohm_use_search.py)."""
import ast

from ohm_use_branches import Branch
from ohm_use_calls import gives_keys
from ohm_use_files import name_of
from ohm_use_frames import MISSING, are_plain, is_plain, running, value_in
from ohm_use_host import sources_of
from ohm_use_kinds import (
    ALL_CHOSEN, BRANCH, CHOSEN, SET, TEXT, VALUE, WITHIN, computes, consumer_of, kept_by, unknown_part, worse)
from ohm_use_names import PRINTS, TAKES_APART


def is_compared(element, test):
    """Whether a variable is what a condition compares: a number, as one that was read came here."""
    operands = [operand for part in ast.walk(test) if isinstance(part, ast.Compare)
                for operand in (part.left, *part.comparators)]
    names = {operand.id for operand in operands if isinstance(operand, ast.Name)}
    return isinstance(element, ast.Name) and element.id in names


def is_taken_from_plain(file, element, loop, frame):
    """Whether a variable of a loop counts its rounds, or comes from numbers and texts. frame: the one around it."""
    if not isinstance(element, ast.Name):
        return False
    is_counted = isinstance(loop.iter, ast.Call) and name_of(loop.iter) == "enumerate"
    if is_counted and isinstance(loop.target, ast.Tuple) and getattr(loop.target.elts[0], "id", None) == element.id:
        return True
    return frame is not None and any(is_made_plain(file, source, frame) for source in sources_of(loop, element.id))


def is_made_plain(file, node, frame):
    """Whether a variable holds numbers and texts, or is yet to be assigned lists of numbers."""
    value = value_in(frame, node)
    if value is not MISSING or not isinstance(node, ast.Name):
        return is_plain(value)
    values = file.assigned_in(file.scope(node), node.id)
    return bool(values) and all(isinstance(one, ast.Call) and name_of(one) == "tolist" for one in values)


class Loops:
    """Of Search."""

    def _of_loop(self, file, loop, node, frame, scope):
        consumer = consumer_of(scope, file.parents)
        is_uncertain = node is not loop.iter or self.made is SET
        if is_uncertain and consumer is not None:  # sum(1 for ... if ...)
            self.made = TEXT if name_of(consumer) == "join" else None
            return self._outwards(file, consumer, frame)
        if is_uncertain:
            return self._of_filtered(file, scope, loop, frame)
        if gives_keys(file, loop.iter, self.made):
            return None
        target = unknown_part(loop, self.made, self.place)
        self._enter_loop()
        return self._of_names(file, scope, target, frame)

    def _of_for(self, file, loop, frame):
        """How often it runs or in which order may only decide what is printed."""
        if gives_keys(file, loop.iter, self.made):
            return None
        found = Branch(self, file, loop, frame).decides() if self.made in (SET, CHOSEN) else None
        target = unknown_part(loop, self.made, self.place)
        self._enter_loop()
        return found if found == BRANCH else worse(found, self._of_target(file, target, frame))

    def _of_filtered(self, file, comprehension, loop, frame):
        """Numbers and text are only counted, as far as nothing else depends on how many there are."""
        elements = kept_by(comprehension, loop)
        if not elements or self.made is SET and any(computes(test, TAKES_APART) for test in loop.ifs):
            return BRANCH
        if self.made is SET:
            return self._outwards(file, comprehension, frame)
        is_running = frame is not None and file.runs_in(frame, loop.ifs[0])
        if self.tells and not is_running:
            return VALUE  # the comparison tells
        around = running(file, comprehension, frame or self.frame)
        if not are_plain(elements, frame) if is_running else not all(
                is_compared(one, loop.ifs[0]) or is_taken_from_plain(file, one, loop, around) for one in elements):
            return BRANCH
        self.made = SET
        return self._outwards(file, comprehension, frame)

    def _enter_loop(self):
        """From what is looped over to what a round is given."""
        self.made = {**WITHIN, ALL_CHOSEN: CHOSEN, CHOSEN: CHOSEN, TEXT: TEXT}.get(self.made)

    def _of_ordered(self, file, call, frame, has_things):
        """Of a call that compares values and whose result is not used: it orders a list, of numbers or of things
        that have some."""
        if not self.files.is_own(file.name) or name_of(call) in PRINTS:
            return None
        if name_of(call) == "sort" and isinstance(call.func, ast.Attribute):
            self.made = ALL_CHOSEN if call.keywords or has_things else None
            return self._of_target(file, call.func.value, frame, is_changed=True)
        return BRANCH

    def _of_lambda(self, file, function):
        """Of what a lambda gives, where it is assigned to a variable or orders something."""
        assigned = file.parents.get(function)
        if isinstance(assigned, ast.keyword) and assigned.arg == "key":
            call = file.parents[assigned]
            if isinstance(file.parents.get(call), ast.Expr):
                return self._of_ordered(file, call, None, True)
            self.made = ALL_CHOSEN if name_of(call) == "sorted" else CHOSEN
            return self._outwards(file, call, None)
        if not isinstance(assigned, ast.Assign) or not isinstance(assigned.targets[0], ast.Name):
            return VALUE
        return self._of_nodes(file, file.calls(assigned.targets[0].id), None)
