"""Functions of a program's own that compute with numbers, text and collections on the host alone, such as a metric:
what they decide within touches no memory of a GPU, so that only their result depends on a value (ohm_use_search.py)."""
import ast
import builtins
import collections
import itertools
import sys
import types

from ohm_frame_variables import look_at_variables
from ohm_use_effects import root_of
from ohm_use_files import COMPREHENSIONS, FUNCTIONS, is_code_of, name_of, name_of_target, parameters_of, within
from ohm_use_frames import MISSING, NOT_KNOWN, is_plain, running, value_in
from ohm_use_kinds import HOLDER, LISTS, SET, TEXT, gives_text, is_called, is_text
from ohm_use_names import FINDS_BY_KEY, TAKES_APART
from ohm_use_objects import is_of, value_of_name

# Modules whose functions compute on the host and change nothing; numbers that NumPy draws would change its state.
MODULES = frozenset("""math cmath numpy scipy statistics fractions decimal pandas sklearn.metrics collections itertools
    functools operator re string unicodedata difflib heapq bisect copy textwrap""".split())
FUNCTIONS_OF_PYTHON = frozenset("""abs all any bool bytes chr dict divmod enumerate filter float frozenset hash int
    isinstance iter len list map max min next ord pow print range repr reversed round set slice sorted str sum tuple
    type zip""".split())
CHANGES = frozenset("""add append appendleft clear discard extend extendleft insert pop popleft remove reverse
    setdefault sort update""".split())
METHODS = CHANGES | frozenset("""all any argmax argmin argsort astype capitalize clip copy count cumsum decode
    difference elements encode endswith fill find format get group groups idxmax idxmin index intersection isalnum
    isalpha isdigit islower isnumeric isspace isupper issubset issuperset item items join keys ljust lower lstrip max
    mean min most_common nonzero partition ravel replace reset_index reshape rfind rindex rjust round rpartition rsplit
    rstrip sort_values split splitlines squeeze startswith std strip sum symmetric_difference title tolist translate
    union upper values var zfill""".split())
REFUSED = (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await, ast.Raise, ast.Assert, ast.Delete, ast.With,
           ast.AsyncWith, ast.AsyncFor, ast.ClassDef, *FUNCTIONS)
CONTAINERS = (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.BinOp, ast.UnaryOp, ast.Compare)
GIVES_HOST = TAKES_APART | frozenset("tolist item numpy join lower upper strip lstrip rstrip".split())
GIVES_OTHERS = FINDS_BY_KEY | frozenset("next max min reduce asarray".split())  # what they are given, or a part of it
CALLED = types.BuiltinFunctionType, types.ModuleType, type  # calls are looked at
GIVES_NUMBER = frozenset("abs bool count find float index int len max mean min pow round std sum".split())
COLLECTIONS = (dict, list, tuple, set, frozenset, collections.deque, collections.Counter, collections.defaultdict,
               collections.OrderedDict)
MAKES_SOURCE = frozenset("default_rng RandomState".split())  # of random numbers
DRAWS_NUMBERS = frozenset("choice integers normal permutation random shuffle standard_normal uniform".split())
MOST_CALLS = 3  # of functions that call one another
MOST_LOOKED_AT = 20  # elements of a collection


class HostFunctions:
    """Of a program. files: Files."""

    def __init__(self, files):
        self.files = files
        self.known = {}  # function -> what _is_host() found
        self.asked = set()  # names of variables whose assignments are looked at

    def running(self, frame):
        """(file, function, the caller's frame, its file, its call) of the outermost one that this frame runs or that
        has called it, by its name; None: there is none."""
        found = None
        while frame is not None and self.files.is_own(frame.f_code.co_filename):
            file = self.files.file(frame.f_code.co_filename)
            function = self._of_code(file, frame.f_code) if file else None
            if function is None and not frame.f_code.co_name.startswith("<"):
                break
            caller = frame.f_back
            if function is not None:
                call = self._call_in(caller) if self._is_host(file, function) else None
                if call is None or name_of(call[1]) != function.name or not look_at_variables(frame, self._are_of_host):
                    break
                found = file, function, caller, *call
            frame = caller
        return found

    def _call_in(self, frame):
        """(file, call) that a frame evaluates, or None."""
        file = self.files.file(frame.f_code.co_filename) if frame is not None else None
        node = file.expression(frame) if file else None
        return (file, node) if isinstance(node, ast.Call) else None

    def called(self, file, call, argument, frame):
        """(file, function) of those that a call calls with things of the host alone; `argument` is one. Empty: it
        may call others."""
        functions = self.files.called(file, call)
        if not functions or not all(self._is_host(*one) for one in functions):
            return []
        frame = running(file, call, frame)
        if not isinstance(call.func, ast.Name) and not self._is_variable_of_host(file, call.func.value, frame):
            return []
        others = [part for part in (*call.args, *(keyword.value for keyword in call.keywords))
                  if part is not argument and part is not getattr(argument, "value", None)]
        return functions if all(self._is_of_host(file, part, frame) for part in others) else []

    def _of_code(self, file, code):
        for function in file.defined.get(code.co_name, ()):
            if is_code_of(function, code) and code.co_firstlineno <= function.lineno <= function.body[0].lineno:
                return function
        return None

    def _is_of_host(self, file, node, frame):
        """Whether an argument is nothing that a tensor is in."""
        if isinstance(node, (ast.Constant, ast.JoinedStr)):
            return True
        if isinstance(node, ast.Call):
            is_of_host = self._computes_on_host(file, node) or self._is_of_module(file, node)
            return self._gives_host(file, node) or is_of_host and all(
                self._is_of_host(file, part, frame) for part in node.args)
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self._is_variable_of_host(file, node, frame)
        if isinstance(node, ast.Subscript):
            return self._is_of_host(file, node.value, frame)
        if isinstance(node, COMPREHENSIONS):
            return all(self._is_of_host(file, part, frame) or self._is_bound(node, part) and all(
                self._is_of_host(file, loop.iter, frame) for loop in node.generators) for part in parts_of(node))
        return isinstance(node, CONTAINERS) and all(self._is_of_host(file, part, frame) for part in parts_of(node))

    def _computes_on_host(self, file, call):
        functions = self.files.functions(file, name_of(call)) if isinstance(call.func, ast.Name) else []
        if functions:
            return not call.keywords and all(self._is_host(*one) for one in functions)
        return name_of(call) in FUNCTIONS_OF_PYTHON

    def _is_of_module(self, file, call):
        """Whether it is a function such as numpy.concatenate."""
        root = self.files.globals_of(file).get(root_of(call.func))
        return isinstance(root, types.ModuleType) and is_of_modules(root.__name__) and not call.keywords

    def _gives_host(self, file, call):
        """Whether it is an array, a number or a text, or of a function that returns such things."""
        results = [(home, node.value) for home, function in self.files.functions(file, name_of(call))
                   for node in within(function) if isinstance(node, ast.Return)]
        return name_of(call) in GIVES_HOST or bool(results) and all(
            isinstance(value, ast.Call) and name_of(value) in GIVES_HOST or value is not None and (
                gives_text(value) or gives_number(home, value)) for home, value in results)

    def _is_variable_of_host(self, file, node, frame):
        """By its value, or by all that it is assigned where it has none yet."""
        value = value_in(frame, node) if frame is not None else MISSING
        if value is not MISSING and value is not NOT_KNOWN:
            return self._is_host_value(value)
        if not isinstance(node, ast.Name) or node.id in self.asked:
            return False
        scope = file.scope(node)
        values = [value for value in file.assigned.get(node.id, ()) if file.scope(value) is scope]
        values += looped_over(file, node)
        self.asked.add(node.id)
        is_host = bool(values) and all(self._is_of_host(file, value, frame) for value in values)
        self.asked.discard(node.id)
        return is_host

    @staticmethod
    def _is_bound(comprehension, part):
        bound = {name.id for loop in comprehension.generators for name in ast.walk(loop.target)
                 if isinstance(name, ast.Name)}
        while isinstance(part, ast.Subscript):
            part = part.value
        return isinstance(part, ast.Name) and part.id in bound

    # ---- what a variable holds ----

    def _are_of_host(self, variables):
        return all(map(self._is_host_value, variables.values()))

    def _is_host_value(self, value, depth=2):
        """Whether it is a number, text, an array of NumPy's, or what holds some of them: a collection, or an object of
        a class of the user's."""
        kind = type(value)
        if is_plain(value) or kind.__module__.partition(".")[0] in ("numpy", "pandas", "re"):
            return True
        if kind in COLLECTIONS:
            parts = list(value.values()) if isinstance(value, dict) else value
            some = itertools.islice(parts, MOST_LOOKED_AT)
            return depth > 0 and all(self._is_host_value(part, depth - 1) for part in some)
        if kind in (bytes, range, types.BuiltinFunctionType):
            return True
        home = getattr(sys.modules.get(kind.__module__), "__file__", None)
        is_object = home is not None and self.files.is_own(home) and kind.__bases__ == (object,)
        return is_object and depth > 0 and hasattr(value, "__dict__") and all(
            self._is_host_value(part, depth - 1) for part in list(vars(value).values()))

    # ---- what a function does ----

    def _is_host(self, file, function, depth=MOST_CALLS):
        key = function, depth
        if key not in self.known:
            self.known[key] = False  # of one that calls itself
            if not self.files.is_own(file.name):
                return False
            bound, parameters = file.bound_by(function), set(parameters_of(function))
            known = {name: value for name, value in self.files.globals_of(file).items() if name not in bound}
            own = {name for name in bound - parameters if is_made_in(file, function, name)}
            is_plain_function = not function.decorator_list and not parameters & called_in(function)
            self.known[key] = is_plain_function and all(
                self._does_nothing_else(file, node, own, known, depth) for node in within(function))
        return self.known[key]

    def _does_nothing_else(self, file, node, own, known, depth):
        """own: variables that hold what the function has made. known: variables of the file."""
        if isinstance(node, REFUSED):
            return False
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            return root_of(node) in own
        if isinstance(node, ast.AugAssign):
            return root_of(node.target) in own
        if isinstance(node, ast.Call):
            return self._is_harmless(file, node, own, known, depth)
        if isinstance(node, ast.Name) and node.id in known and isinstance(node.ctx, ast.Load):
            value = known[node.id]
            if isinstance(value, types.FunctionType):  # sorted(runs, key=score)
                return is_called(file.parents, node) or self._may_call(file, node.id, value, depth)
            return isinstance(value, CALLED) or self._is_host_value(value)
        return True

    def _may_call(self, file, name, function, depth):
        functions = self.files.functions(file, name)
        if not functions:
            return is_of_modules(function.__module__ or "")
        return depth > 0 and all(self._is_host(*one, depth - 1) for one in functions)

    def _is_harmless(self, file, call, own, known, depth):
        name = name_of(call)
        if isinstance(call.func, ast.Name):
            functions = self.files.functions(file, name)
            if functions or name in own:
                return depth > 0 and bool(functions) and all(self._is_host(*one, depth - 1) for one in functions)
            called = known.get(name, getattr(builtins, name, None))
            return name in FUNCTIONS_OF_PYTHON or is_of_modules(getattr(called, "__module__", None) or "")
        if not isinstance(call.func, ast.Attribute):
            return False
        root = known.get(root_of(call.func))
        if isinstance(root, types.ModuleType):
            called = value_of_name(call.func, known)
            homes = root.__name__, getattr(called, "__module__", None) or root.__name__
            return all(map(is_of_modules, homes)) and (name in MAKES_SOURCE or ".random" not in ast.unparse(call.func))
        if name in DRAWS_NUMBERS and root_of(call.func) in own:
            return True
        if name in file.defined or name not in METHODS:
            return False
        return name not in CHANGES or isinstance(call.func.value, ast.Call) or root_of(call.func) in own


def is_made_in(file, function, name):
    """Whether all that a variable of a function holds are objects that the function has made."""
    stored = [node for node in file.by_name.get(name, ())
              if isinstance(node.ctx, ast.Store) and file.scope(node) is function]
    return all(is_made_by(file, node) for node in stored)


def is_made_by(file, target):
    """Whether the statement that assigns to a variable gives it a new object."""
    around = file.parents[target]
    if isinstance(around, ast.AugAssign):
        return True
    if isinstance(around, ast.Tuple) and isinstance(file.parents[around], ast.Assign):
        value = file.parents[around].value
        return isinstance(value, ast.Tuple) and len(value.elts) == len(around.elts) and (
            is_new(file, value.elts[around.elts.index(target)]))
    return is_new(file, getattr(around, "value", None)) if isinstance(around, ast.stmt) else False


def is_new(file, node):
    """Whether an expression makes an object, rather than giving one that others may have."""
    if isinstance(node, ast.IfExp):
        return is_new(file, node.body) and is_new(file, node.orelse)
    if isinstance(node, ast.Call):
        name = name_of(node)
        return name not in GIVES_OTHERS and name not in file.defined
    return isinstance(node, (ast.Constant, ast.JoinedStr, *CONTAINERS, *COMPREHENSIONS))


def looped_over(file, name):
    """What the loops and comprehensions around a Name take it from."""
    around = file.parents.get(name)
    while around is not None and not isinstance(around, FUNCTIONS):
        loops = getattr(around, "generators", [around] if isinstance(around, ast.For) else [])
        yield from (source for loop in loops for source in sources_of(loop, name.id))
        around = file.parents.get(around)


def sources_of(loop, name):
    """What a loop takes a variable from: of zip(), the argument in its place."""
    target, iterated = loop.target, loop.iter
    is_counted = isinstance(target, ast.Tuple) and len(target.elts) == 2 and isinstance(iterated, ast.Call) and (
        name_of(iterated) == "enumerate" and iterated.args)
    if is_counted and is_named(name, target.elts[1]):
        target, iterated = target.elts[1], iterated.args[0]
    if isinstance(target, ast.Tuple) and isinstance(iterated, ast.Call) and name_of(iterated) == "zip":
        yield from (source for part, source in zip(target.elts, iterated.args) if is_named(name, part))
    elif is_named(name, target):
        yield iterated


def is_named(name, node):
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))


def called_in(function):
    """Names of variables that a function calls."""
    return {node.func.id for node in within(function) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}


def parts_of(node):
    """What a container or a comprehension holds, or an operator combines."""
    parts = [getattr(node, name, None) for name in ("elt", "key", "value", "left", "right", "operand")]
    lists = [getattr(node, name, ()) for name in ("elts", "keys", "values", "comparators")]
    found = [part for part in [*parts, *(part for one in lists for part in one)] if part is not None]
    return [part for one in found for part in (one.elts if isinstance(one, ast.Tuple) else [one])]


def is_of_modules(name):
    return is_of(name, MODULES) or name == "_operator"


def result_of(file, function, made):
    """What a function makes of what it is given: a number, TEXT, what it was, or else a SET."""
    results = [node.value for node in within(function) if isinstance(node, ast.Return) and node.value is not None]
    parts = [part for one in results for part in (one.elts if isinstance(one, ast.Tuple) else [one])]
    if all(gives_number(file, part) for part in parts):
        return None
    given = {name for name in parameters_of(function) if name not in file.assigned}
    if all(isinstance(one, ast.BinOp) and combines(one, given) for one in results):
        return made
    if all(gives_text(part) for part in parts):
        return TEXT
    values = [value for one in results for value in getattr(one, "values", ())]
    are_dicts = all(isinstance(one, ast.Dict) for one in results)
    return HOLDER.get(made, LISTS) if are_dicts and not all(gives_number(file, one) for one in values) else SET


def combines(node, given):
    """Whether an expression computes element by element, with attributes and parameters that keep what is given."""
    if isinstance(node, ast.BinOp):
        return combines(node.left, given) and combines(node.right, given)
    if isinstance(node, ast.UnaryOp):
        return combines(node.operand, given)
    if isinstance(node, ast.Name):
        return node.id in given
    return isinstance(node, ast.Attribute) or isinstance(node, ast.Constant) and not is_text(node)


def gives_number(file, node, depth=3):
    if isinstance(node, ast.Constant):
        return not isinstance(node.value, (str, bytes))
    if isinstance(node, ast.Call):
        return name_of(node) in GIVES_NUMBER or name_of_target(getattr(node.func, "value", None)) == "math"
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not) or gives_number(file, node.operand, depth)
    if isinstance(node, ast.BinOp):
        return gives_number(file, node.left, depth) and gives_number(file, node.right, depth)
    if isinstance(node, ast.IfExp):
        return gives_number(file, node.body, depth) and gives_number(file, node.orelse, depth)
    values = file.assigned.get(node.id, ()) if isinstance(node, ast.Name) and depth else ()
    return bool(values) and all(gives_number(file, value, depth - 1) for value in values)
