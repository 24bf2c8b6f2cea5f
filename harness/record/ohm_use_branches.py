"""What a branch on a value decides: which numbers variables hold, what is printed, or whether the program goes
on, as far as its syntax and the variables of the running frame tell (ohm_use_search.py)."""
import ast
import collections
import itertools
import re
import types

from ohm_use_collections import is_collection, is_mapping, is_nothing, makes_container
from ohm_use_effects import Effects, copies_to_host, opens_file
from ohm_use_errors import errors_of, is_caught_by_python, is_handled, is_managed, may_stop, stops
from ohm_use_files import FUNCTIONS, name_of, name_of_target, targets_of, within
from ohm_use_frames import MISSING, MOST_ELEMENTS, NOT_KNOWN, is_plain, running, value_in
from ohm_use_kinds import ALL_CHOSEN, ARRAY, BRANCH, CHOSEN, MASK, NUMBER, SET, VALUE, computes, gives_text, worse
from ohm_use_names import ADDS_ELEMENT, ASKS_FINITE, MAKES_TEXT, TELLS

NAMED = (ast.Name, ast.Attribute)
# Calls that give a number or a text of anything, and those that give one of numbers.
GIVES_PLAIN = MAKES_TEXT | TELLS
GIVES_NUMBER = frozenset("float int bool item len index count".split())  # where the file has none of its own
ADDS = ADDS_ELEMENT | {"add"}
COUNTING = re.compile(r"(range|(np|numpy)\.(linspace|arange))\(")
MADE_OF_NUMBERS = frozenset("round abs min max".split())
PACKS = "ctypes", "array.array", "import array", "from multiprocessing"


class Branch:
    """An `if` or an `assert`. frame: the one that runs what the search came from."""

    def __init__(self, search, file, statement, frame):
        self.search, self.file, self.statement = search, file, statement
        self.frame = running(file, statement, frame or search.frame)  # None: it does not run

    def decides(self):
        if self.frame is None and self.search.tells and not self._are_packed():
            return VALUE  # what it compares tells
        numbers = Numbers(self.statement, self.frame, self.search.tells, self.file)
        effects = Effects(self.file, self.statement, self._functions, numbers)
        changed, found = changed_by(self.statement, effects, numbers), None
        if changed is None:
            rest = self._rest()
            changed = changed_in(rest, effects, numbers, may_return=True) if rest else None
            if changed is None:
                return self.search.of_host_branch(self.file, self.statement)
            found = self.search.of_returned(self.file, self.statement, self.frame)
        if may_stop(self.statement):
            if self._is_caught():
                return BRANCH
            self.search.uses.stops[self.file.name, self.statement.lineno] = self.statement.end_lineno
        for assignment in changed:
            for target in targets_of(assignment):
                self._note_chosen(target)
                changed_one, made = self._chosen_in(target, assignment)
                found = worse(found, self.search.of_chosen(self.file, changed_one, self.frame, made))
        for rate in effects.rates:
            found = worse(found, self.search.of_rates(self.file, self.statement, rate))
        return BRANCH if found == VALUE else found

    def _are_packed(self):
        """Whether the file, or the one that reads the number, uses modules whose objects keep the bytes of numbers,
        which tell nothing of them."""
        texts = map(self.search.files.text, {self.file.name, self.search.frame.f_code.co_filename})
        return any(name in text for text in texts for name in PACKS)

    def _functions(self, call):
        """The user's that it may call."""
        return [function for _, function in self.search.files.called(self.file, call)]

    def _rest(self):
        """The branch and what its function does after it; None where another statement is around it."""
        outer, parents = self.statement, self.file.parents
        while isinstance(parents[outer], ast.If):
            outer = parents[outer]
        body = getattr(parents[outer], "body", [])
        is_of_function = isinstance(parents[outer], FUNCTIONS) and outer in body
        return body[body.index(outer):] if is_of_function else None

    def _note_chosen(self, target):
        names = self.search.uses.chosen.setdefault((self.file.name, self.statement.lineno), set())
        names.update(name_of_target(node) for node in ast.walk(target) if isinstance(node, NAMED))

    def _chosen_in(self, target, assignment):
        """What is changed, and what it becomes: a collection of unknown length, an array of unknown values, a chosen
        number."""
        if isinstance(assignment, ast.Expr):
            return target, SET
        if not isinstance(target, ast.Subscript):
            return target, CHOSEN if copies_to_host(assignment.value) else NUMBER
        owner = value_in(self.frame, target.value)
        if is_nothing(assignment.value) or isinstance(owner, list) and any(
                one is None for one in itertools.islice(owner, MOST_ELEMENTS)):
            return target, ALL_CHOSEN  # which places are taken
        if isinstance(owner, dict) or owner is MISSING and is_mapping(self.file, target.value):
            keeps_keys = type(owner) is dict and isinstance(assignment, ast.AugAssign)
            return (target, ALL_CHOSEN) if keeps_keys else (target.value, SET)
        is_mask = isinstance(assignment.value, ast.Constant) and isinstance(assignment.value.value, bool)
        return target, MASK if is_mask else ARRAY

    def _is_caught(self):
        """Whether the program goes on after the error: in its function or in a caller, where what catches every
        error counts only within a loop."""
        files, errors = self.search.files, errors_of(self.statement)
        is_here = is_handled(self.statement, self.file.parents, errors)
        if is_here or is_caught_by_python(self.file.scope(self.statement), errors):
            return True
        if is_managed(files, self.file, self.statement, errors):
            return True
        if self.frame is None:
            return any(is_handled(node, self.file.parents, errors, is_caller=True) for node in self.file.guarded)
        return any(is_handled(node, source.parents, errors, is_caller=True) or is_managed(files, source, node, errors)
                   for node, source in self._calls_on_the_way())

    def _calls_on_the_way(self):
        files = self.search.files
        caller = self.frame.f_back
        while caller is not None:
            name = caller.f_code.co_filename
            source = files.file(name) if files.is_own(name) else None
            node = source.expression(caller) if source else None
            if node is not None:
                yield node, source
            caller = caller.f_back


class Numbers:
    """Of the frame that runs a branch; None: it is another function's. tells: the number that is compared tells
    itself, so that the branch is looked at again when it runs."""

    def __init__(self, branch, frame, tells, file):
        self.branch, self.frame, self.tells, self.file = branch, frame, tells, file
        self.asked = set()  # names of variables whose assignments are looked at

    def is_number(self, node):
        """Or a text. Where there is no value yet, or none is known: whether the branch, which is looked at because of
        a number, compares it, or it is assigned texts."""
        value = self.value(node)
        if value is not MISSING and value is not NOT_KNOWN:
            return is_plain(value)
        is_plain_later = self.tells or self._is_assigned(node, self._gives_plain) or self._is_counted(node)
        if value is MISSING and is_plain_later:
            return True
        alike = [node, *self._unpacked_with(node)]
        dumps = {ast.dump(part) for part in alike}
        return any(ast.dump(part) in dumps for part in compared_by(self.branch))

    def _is_counted(self, node):
        """Of a variable that a loop around the branch counts with: for place in range(3)"""
        loops = (loop for loop in self.file.loops_around(self.branch) if isinstance(loop, ast.For))
        return isinstance(node, ast.Name) and any(
            getattr(loop.target, "id", "") == node.id and COUNTING.match(ast.unparse(loop.iter)) for loop in loops)

    def _gives_plain(self, node):
        return gives_text(node) or gives_number(node, self)

    def _is_assigned(self, node, is_alike):
        """Of a variable of the function: whether all that it is assigned are such expressions."""
        if not isinstance(node, ast.Name) or node.id in self.asked:
            return False
        self.asked.add(node.id)
        values = self.file.assigned_in(self.file.scope(self.branch), node.id)
        is_assigned = bool(values) and all(map(is_alike, values))
        self.asked.discard(node.id)
        return is_assigned

    def _unpacked_with(self, node):
        """Variables that are assigned the other elements of the list that a function of the user's returns."""
        for name in self.file.by_name.get(getattr(node, "id", ""), ()):
            listing = self.file.parents[name]
            value = getattr(self.file.parents.get(listing), "value", None)
            is_unpacked = isinstance(listing, ast.Tuple) and isinstance(listing.ctx, ast.Store)
            functions = self.file.functions(name_of(value)) if is_unpacked and isinstance(value, ast.Call) else ()
            results = [one for function in functions for one in within(function) if isinstance(one, ast.Return)]
            if results and all(isinstance(one.value, ast.Name) for one in results):
                yield from (ast.Name(id=name.id, ctx=ast.Load()) for name in listing.elts if isinstance(name, ast.Name))

    def can_hold(self, target):
        """Whether it is a variable, or an element of a list or a dict, or of what is none yet and looked at again."""
        if isinstance(target, ast.Subscript):
            owner = self.value(target.value)
            is_made_later = owner is MISSING and (self.tells or self._is_assigned(target.value, makes_container))
            return is_made_later or isinstance(owner, (list, dict))
        return isinstance(target, NAMED)

    def is_collection(self, node):
        """Whether it is a dict or a set, as far as is known."""
        value = MISSING if node is None else self.value(node)
        return isinstance(value, (dict, set)) or getattr(node, "attr", "") == "__dict__" or (
            node is not None and is_collection(self.file, node))

    def holds_numbers(self, node):
        """Whether it is a list, a set or a dict of numbers and texts, or is none yet and looked at again."""
        value = self.value(node)
        if value is MISSING:
            return self.tells
        parts = list(value) if isinstance(value, (list, set, collections.deque)) else value
        return isinstance(parts, (list, dict)) and is_plain(parts)

    def value(self, node):
        return MISSING if self.frame is None else value_in(self.frame, node)


def compared_by(branch):
    """Variables that the tests of an `if` and of those in it compare or compute with, or ask whether they are
    finite."""
    for inner in ast.walk(branch):
        if isinstance(inner, (ast.If, ast.IfExp)):
            yield from leaves_of(inner.test)


def leaves_of(node):
    """Variables that an expression takes for numbers."""
    if isinstance(node, (*NAMED, ast.Subscript)):
        yield node
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            yield from leaves_of(node.value)  # of several numbers
    elif isinstance(node, ast.BoolOp):
        for part in node.values:
            yield from () if isinstance(part, NAMED) else leaves_of(part)
    elif isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare)) and not asks_for_object(node):
        for part in ast.iter_child_nodes(node):
            yield from leaves_of(part)
    elif isinstance(node, ast.Call) and name_of(node) in ASKS_FINITE:
        yield from node.args


def asks_for_object(node):
    return isinstance(node, ast.Compare) and any(isinstance(one, (ast.Is, ast.IsNot)) for one in node.ops)


def changed_by(statement, effects, numbers, may_return=False):
    """Assignments and additions of numbers and texts that depend on a branch, where nothing else than they and
    printing does, or it stops the program; else None. may_return: a number or a text."""
    if not isinstance(statement, (ast.If, ast.For, ast.With)):
        return [] if isinstance(statement, ast.Assert) else None
    return changed_in([*statement.body, *getattr(statement, "orelse", ())], effects, numbers, may_return)


def changed_in(statements, effects, numbers, may_return):
    changed = []
    for inner in statements:
        if effects.sets_rates(inner):
            within = []
        elif isinstance(inner, (ast.If, ast.For)) and not computes(getattr(inner, "test", None) or inner.iter):
            within = changed_by(inner, effects, numbers, may_return)
        elif isinstance(inner, ast.With) and all(opens_file(item.context_expr) for item in inner.items):
            within = changed_by(inner, effects, numbers, may_return)
        elif isinstance(inner, (ast.Assign, ast.AugAssign)) and assigns_number(inner, numbers):
            within = [inner]
        elif adds_number(inner, numbers) or keeps_weights(inner, numbers):
            within = [inner]
        elif effects.is_of_statement(inner):
            within = []
        elif isinstance(inner, ast.Return):
            within = [] if may_return and (inner.value is None or gives_number(inner.value, numbers)) else None
        else:
            is_call = isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Call)
            is_harmless = is_call and (effects.only_prints(inner.value) or effects.loads_weights(inner.value))
            is_plain = is_harmless or isinstance(inner, ast.Pass) or stops(inner)
            within = [] if is_plain else None
        if within is None:
            return None
        changed += within
    return changed


def compares(call, frame):
    """Whether a variable holds the function of `operator` that it calls: self.is_better = operator.gt."""
    function = value_in(frame, call.func) if frame is not None and isinstance(call, ast.Call) else None
    return isinstance(function, types.BuiltinFunctionType) and function.__module__ == "_operator"


def gives_bool(node, frame):
    """Of an `and` or `or`: what it compares, or variables that are bools."""
    if isinstance(node, (ast.BoolOp, ast.IfExp)):
        parts = node.values if isinstance(node, ast.BoolOp) else (node.body, node.orelse)
        return all(gives_bool(part, frame) for part in parts)
    is_negated = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return is_negated or isinstance(node, ast.Compare) or compares(node, frame) or (
        frame is not None and isinstance(value_in(frame, node), bool))


def chooses_number(file, expression, frame, tells):
    """Of one such as `a / b if b else 0` or `count or 1`."""
    numbers = Numbers(expression, frame, tells, file)
    parts = getattr(expression, "values", None) or (expression.body, expression.orelse)
    return all(gives_number(part, numbers) for part in parts)


def assigns_number(statement, numbers):
    targets = targets_of(statement)
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, NAMED) and (
            not numbers.is_number(statement.target)):
        return False
    return gives_number(statement.value, numbers) and all(map(numbers.can_hold, targets))


def adds_number(statement, numbers):
    """Whether it puts a number or a text into a list or a set of such ones."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    is_addition = name_of(call) in ADDS and len(call.args) == 1 and not call.keywords
    is_update = name_of(call) == "update" and numbers.is_collection(call.func.value)
    parts = [*call.args, *(keyword.value for keyword in call.keywords)]
    return (is_addition or is_update) and numbers.holds_numbers(call.func.value) and all(
        gives_number(part, numbers) for part in parts)


def keeps_weights(statement, numbers):
    """On the host."""
    return isinstance(statement, ast.Assign) and copies_to_host(statement.value) and all(
        map(numbers.can_hold, statement.targets))


def has_key(call):
    """Whether a function orders its arguments."""
    return any(keyword.arg == "key" for keyword in call.keywords)


def counts(call):
    """As sum(1 for ... if ...) does."""
    counted = next(iter(call.args), None) if name_of(call) == "sum" else None
    return isinstance(counted, (ast.GeneratorExp, ast.ListComp)) and isinstance(counted.elt, ast.Constant)


def gives_number(node, numbers):
    """Whether an expression gives a number or a text, whatever there is of the memory of tensors."""
    if isinstance(node, (*NAMED, ast.Subscript)):
        return numbers.is_number(node)
    if isinstance(node, ast.Call) and counts(node):
        return True
    if isinstance(node, ast.Call) and (name_of(node) not in MADE_OF_NUMBERS or has_key(node)):
        name = name_of(node)
        is_number = name in GIVES_NUMBER and not numbers.file.functions(name)
        return (is_number or name in GIVES_PLAIN) and not computes(node)
    if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Compare, ast.BoolOp, ast.Call)):
        parts = node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node)
        return all(gives_number(part, numbers) for part in parts if isinstance(part, ast.expr))
    if isinstance(node, (ast.Tuple, ast.Dict)):
        parts = node.values if isinstance(node, ast.Dict) else node.elts
        return all(gives_number(part, numbers) for part in parts)
    return isinstance(node, ast.Constant) or isinstance(node, ast.JoinedStr) and not computes(node)
