"""What a program does with a value that it reads, as its source tells: whether a size or a branch
depends on it, or whether it is only printed.

The expression that is being evaluated is found in the syntax tree by the instruction of a frame, and
followed outwards: into variables and their uses, into functions and attributes of the user's files, to
callers by the frames that are running. Logs and progress bars end it, and text that is not compared."""
import ast

from ohm_use_files import Files, caller_of, is_method_call, is_property, name_of, parameters_of
from ohm_use_kinds import (
    ARRAY, CHOSEN, LISTS, MASK, REPEATED, SET, TEXT, chooses_text, counts_in_array, errors_of, is_handled,
    is_text, made_by, may_stop, only_prints)
from ohm_use_names import (
    ADDS_KEY, ASKS_NO_VALUE, COLLECTS, DERIVES, FILLED, MAKES_TEXT, OF_NUMBERS, PRINTS, READS_TEXT,
    SIZE_KEYWORDS, SIZES)

# From what matters most.
SHAPE, BRANCH, VALUE = "shape", "branch", "value"
RANK = {SHAPE: 3, BRANCH: 2, VALUE: 1, None: 0}
MOST_STEPS = 1000  # of one read
LOOKUP_ERRORS = "KeyError", "IndexError", "LookupError"
MATCH = getattr(ast, "Match", ())  # () before Python 3.10


def worse(first, second):
    return first if RANK[first] >= RANK[second] else second


class Uses:
    def __init__(self, own_files=None):
        """own_files: UserFiles, to follow attributes and functions into the user's other files."""
        self.files = Files(own_files)
        self.stops = {}  # (file, first line) -> last line of statements that may stop the program for a value

    def of_result(self, frame, is_followed=False):
        """What depends on the value of the expression that this frame evaluates: SHAPE, BRANCH,
        VALUE, or None where it is only printed. is_followed: the value tells itself when it is
        used (ohm_numbers.py), so that it may go where the source does not tell."""
        try:
            found = _Search(self, is_followed).of_frame(frame)
        except RecursionError:  # a long chain of functions
            found = VALUE
        return None if is_followed and found == VALUE else found

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


class _Search:
    """One question. Nodes are visited once for each thing that they may be."""

    def __init__(self, uses, is_followed):
        self.uses = uses
        self.files = uses.files
        self.is_followed = is_followed
        self.visited = set()
        self.made = None  # of the value, on the way to the node that is looked at

    def of_frame(self, frame, is_result=False):
        """is_result: the value is what the frame's expression gives, as it was returned to it."""
        file = self.files.file(frame.f_code.co_filename)
        node = file.expression(frame) if file else None
        if node is None:
            return VALUE
        if isinstance(node, ast.stmt):
            return self._of_statement(file, node, None, frame)
        if not is_result:
            if isinstance(node, ast.Call) and counts_in_array(node):  # numpy.flatnonzero(tensor)
                return SHAPE
            self.made = made_by(node, None)
        return self._outwards(file, node, frame)

    def _outwards(self, file, node, frame):
        """`frame` runs the code of the node; None: it is another function's, or an earlier call."""
        before = self.made
        try:
            return self._through_expressions(file, node, frame)
        finally:
            self.made = before

    def _through_expressions(self, file, node, frame):
        while True:
            step = node, self.made
            if step in self.visited:
                return None
            self.visited.add(step)
            if len(self.visited) > MOST_STEPS:
                return VALUE
            parent = file.parents.get(node)
            if isinstance(parent, ast.stmt):
                return self._of_statement(file, parent, node, frame)
            found = self._of_expression(file, parent, node, frame)
            if found is not _GOES_ON:
                return found
            is_index = isinstance(parent, ast.Subscript) and node is parent.slice
            self.made = CHOSEN if is_index and self.made is not TEXT else made_by(parent, self.made)
            node = parent

    def _of_expression(self, file, parent, node, frame):
        if isinstance(parent, (ast.FormattedValue, ast.JoinedStr)):
            self.made = TEXT
            return _GOES_ON
        if isinstance(parent, ast.Slice):
            return SHAPE
        if isinstance(parent, ast.Subscript) and node is parent.slice:
            return self._of_index(file, parent, frame)
        if isinstance(parent, ast.DictComp) and node is parent.key or (
                isinstance(parent, ast.Dict) and node in parent.keys):
            self.made = SET
        if isinstance(parent, ast.IfExp) and node is parent.test and chooses_text(parent):
            self.made = TEXT
            return _GOES_ON
        if isinstance(parent, ast.BoolOp) or isinstance(parent, ast.IfExp) and node is parent.test:
            return None if self.made is TEXT else BRANCH
        if isinstance(parent, ast.comprehension):
            return self._of_loop(file, parent, node, frame, file.parents[parent])
        if isinstance(parent, ast.keyword):
            return self._of_argument(file, file.parents[parent], parent, frame)
        if isinstance(parent, ast.Call):
            return self._of_call(file, parent, node, frame)
        if isinstance(parent, ast.BinOp):
            return self._of_operator(parent, node)
        if isinstance(parent, ast.NamedExpr):
            return worse(self._of_target(file, parent.target, frame),
                         self._outwards(file, parent, frame))
        if isinstance(parent, ast.Compare) and all(isinstance(operator, (ast.Is, ast.IsNot))
                                                   for operator in parent.ops):
            return None
        if isinstance(parent, (ast.Yield, ast.YieldFrom)):
            return self._of_caller(file, parent, frame)
        if isinstance(parent, ast.Lambda) or parent is None:
            return VALUE
        if isinstance(parent, ast.Attribute):
            return self._of_part(file, parent, node, frame)
        return _GOES_ON

    def _of_part(self, file, parent, node, frame):
        """Of an attribute of it."""
        if parent.attr in ("shape", "size", "dtype", "device"):
            return None
        if self.made is CHOSEN and parent.attr in COLLECTS and isinstance(node, ast.Subscript):
            self.made = LISTS  # one of a container's
            return self._of_target(file, node.value, frame, is_changed=True)
        return _GOES_ON

    def _of_index(self, file, parent, frame):
        is_stored = isinstance(parent.ctx, ast.Store)
        if self.made is MASK and not file.is_listing(parent.value):
            return SHAPE
        if self.made is SET and not is_stored:
            return SHAPE
        if is_stored and file.is_mapping(parent.value):
            self.made = SET
            return self._of_target(file, parent.value, frame)
        return BRANCH if is_handled(parent, file.parents, LOOKUP_ERRORS) else _GOES_ON

    def _of_operator(self, parent, node):
        other = parent.left if node is parent.right else parent.right
        if is_text(other) and isinstance(parent.op, (ast.Mod, ast.Mult)):
            self.made = TEXT
        elif isinstance(parent.op, ast.Mult) and isinstance(other, REPEATED) and self.made is None:
            return SHAPE
        return _GOES_ON

    def _of_loop(self, file, loop, node, frame, scope):
        if node is not loop.iter or self.made is SET:
            return BRANCH
        self._enter_loop()
        return self._of_names(file, scope, loop.target, frame)

    def _enter_loop(self):
        """From what is looped over to what a round is given."""
        self.made = {LISTS: SET, TEXT: TEXT}.get(self.made)

    # ---- calls ----

    def _of_call(self, file, call, node, frame):
        if node is not call.func:
            return self._of_argument(file, call, node, frame)
        if self.made is CHOSEN:  # of several modules or functions
            return BRANCH
        if self._counts(call):
            return SHAPE
        return _GOES_ON

    def _counts(self, call):
        """Elements of an array that the values choose."""
        return self.made in (ARRAY, MASK) and counts_in_array(call)

    def _of_argument(self, file, call, argument, frame):
        name = name_of(call)
        if self.made is TEXT:
            return self._of_text(file, call, argument, frame)
        if name == "len" and self.made is SET:
            return self._outwards(file, call, frame)
        if name in MAKES_TEXT:
            self.made = TEXT
            return self._outwards(file, call, frame)
        if name in PRINTS:
            return self._of_printed(file, call, argument)
        if name in ASKS_NO_VALUE:
            return None
        if name in FILLED and argument is not (call.args or [None])[0]:
            self.made = ARRAY
            return self._outwards(file, call, frame)
        if name in SIZES:
            return BRANCH if name == "range" else SHAPE
        if self._counts(call):
            return SHAPE
        if name in COLLECTS and isinstance(call.func, ast.Attribute):
            if name in ADDS_KEY and argument is call.args[0]:
                self.made = SET
            return self._of_target(file, call.func.value, frame, is_changed=True)
        functions = self.files.functions(file, name, has_others=name not in DERIVES)
        if functions:
            return worse(self._of_parameters(functions, call, argument),
                         self._outwards(file, call, frame))
        if name == "map":
            return self._of_mapped(file, call, frame)
        if name in DERIVES or self._is_of_numbers(call, frame):
            if isinstance(argument, ast.keyword) and argument.arg in SIZE_KEYWORDS:
                return SHAPE
            self.made = made_by(call, self.made)
            return self._outwards(file, call, frame)
        return VALUE

    def _is_of_numbers(self, call, frame):
        """Whether it is a function of math, NumPy and their like."""
        node = call.func
        while isinstance(node, ast.Attribute):
            node = node.value
        if not isinstance(node, ast.Name) or frame is None:
            return isinstance(node, ast.Name) and node.id in (*OF_NUMBERS, "np")
        value = frame.f_globals.get(node.id)
        home = getattr(value, "__name__", "") if node is not call.func else getattr(value, "__module__", "")
        return isinstance(home, str) and home.partition(".")[0] in OF_NUMBERS

    def _of_mapped(self, file, call, frame):
        """map(str, values)"""
        function = getattr(call.args[0], "attr", None) or getattr(call.args[0], "id", "")
        if function in PRINTS:
            return None
        if function in MAKES_TEXT:
            self.made = TEXT
        elif function not in DERIVES:
            return VALUE
        return self._outwards(file, call, frame)

    def _of_text(self, file, call, argument, frame):
        name = name_of(call)
        if name == "len":
            self.made = None
            return self._outwards(file, call, frame)
        if name in PRINTS or name in ASKS_NO_VALUE:
            return None
        if name in COLLECTS and isinstance(call.func, ast.Attribute):
            return self._of_target(file, call.func.value, frame, is_changed=True)
        is_read = name in READS_TEXT or name == "map" and call.args and (
            getattr(call.args[0], "id", "") in READS_TEXT)
        if is_read:
            self.made = None
        elif name not in DERIVES and name not in MAKES_TEXT:
            functions = self.files.functions(file, name)
            return self._of_parameters(functions, call, argument, otherwise=None)
        return self._outwards(file, call, frame)

    def _of_printed(self, file, call, argument):
        """A number that tells itself is followed by that; others, into a method of the program's own."""
        if self.is_followed:
            return None
        functions = self.files.functions(file, name_of(call))
        found = self._of_parameters(functions, call, argument, otherwise=None)
        return None if found == VALUE else found

    def _of_parameters(self, functions, call, argument, otherwise=VALUE):
        found = None
        for file, function in functions:
            found = worse(found, self._of_parameter(file, function, call, argument, otherwise))
        return found

    def _of_parameter(self, file, function, call, argument, otherwise):
        names = parameters_of(function)
        if isinstance(argument, ast.keyword):
            name = argument.arg
        else:
            place = call.args.index(argument) if argument in call.args else -1
            place += is_method_call(call, names)
            name = names[place] if 0 <= place < len(names) else None
        return self._of_variable(file, function, name, None) if name else otherwise

    # ---- statements ----

    def _of_statement(self, file, statement, node, frame):
        if isinstance(statement, (ast.If, ast.While, ast.Assert)):
            if node is not None and node is not statement.test or self.made is TEXT:
                return None
            if not only_prints(statement):
                return BRANCH
            if may_stop(statement):
                if is_handled(statement, file.parents, errors_of(statement)):
                    return BRANCH
                self.uses.stops[file.name, statement.lineno] = statement.end_lineno
            return None
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = getattr(statement, "targets", None) or [statement.target]
            found = None
            for target in targets:
                found = worse(found, self._of_target(file, target, frame))
            return found
        if isinstance(statement, (ast.For, ast.AsyncFor)):
            if self.made is SET:
                return BRANCH
            self._enter_loop()
            return self._of_target(file, statement.target, frame)
        if isinstance(statement, ast.Return):
            return self._of_caller(file, statement, frame)
        if isinstance(statement, MATCH):
            return BRANCH
        return None

    def _of_target(self, file, target, frame, is_changed=False):
        """Of what is assigned to; is_changed: of an object that stays the same one."""
        if isinstance(target, (ast.Tuple, ast.List)):
            found = None
            for element in target.elts:
                found = worse(found, self._of_target(file, element, frame))
            return found
        if isinstance(target, ast.Subscript):
            if self.made is None and not file.is_mapping(target.value) and not is_changed:
                self.made = ARRAY
            return self._of_target(file, target.value, frame, is_changed=True)
        if isinstance(target, ast.Starred):
            return self._of_target(file, target.value, frame)
        if isinstance(target, ast.Attribute):
            return self._of_attribute(file, target.attr, frame)
        if isinstance(target, ast.Name):
            scope = file.home(file.scope(target), target.id)
            found = self._of_variable(file, scope, target.id, frame)
            return worse(found, self._of_passed(file, scope, target)) if is_changed else found
        return None

    def _of_passed(self, file, scope, target):
        """Of what callers pass for a parameter that is changed."""
        step = target, (self.made, "passed")
        if scope is file.tree or step in self.visited or target.id not in parameters_of(scope):
            return None
        self.visited.add(step)
        found = None
        for argument in file.passed(scope, target.id):
            found = worse(found, self._of_target(file, argument, None, is_changed=True))
        return found

    def _of_attribute(self, file, name, frame):
        found = self._of_nodes(file, file.attributes(name, self.made is CHOSEN), frame)
        if self.is_followed:
            return found
        for other in self.files.elsewhere(file, f".{name}"):
            nodes = other.attributes(name, self.made is CHOSEN)
            found = worse(found, self._of_nodes(other, nodes, None))
        return found

    def _of_names(self, file, scope, target, frame):
        found = None
        for name in ast.walk(target):
            if isinstance(name, ast.Name):
                found = worse(found, self._of_nodes(file, file.names(scope, name.id), frame))
        return found

    def _of_variable(self, file, scope, name, frame):
        return self._of_nodes(file, file.names(scope, name), frame)

    def _of_nodes(self, file, nodes, frame):
        found = None
        for node in nodes:
            found = worse(found, self._outwards(file, node, frame))
        return found

    def _of_caller(self, file, statement, frame):
        function = file.scope(statement)
        caller = caller_of(file, function, frame)
        if caller is None or self._is_event_loop(function, caller):
            return self._of_results(file, function)
        return self.of_frame(caller, is_result=True)

    def _is_event_loop(self, function, caller):
        is_coroutine = isinstance(function, ast.AsyncFunctionDef)
        return is_coroutine and not self.files.is_own(caller.f_code.co_filename)

    def _of_results(self, file, function):
        """Of what calls of a function give, or reads of a property."""
        name = getattr(function, "name", "")
        if is_property(function):
            return self._of_attribute(file, name, None)
        found = self._of_nodes(file, file.calls(name), None)
        if name and not self.is_followed:
            for other in self.files.elsewhere(file, f"{name}("):
                found = worse(found, self._of_nodes(other, other.calls(name), None))
        return found


_GOES_ON = object()
