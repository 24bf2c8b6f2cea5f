"""Whether a call or a statement only prints, draws or saves something, which makes nothing on a GPU
(ohm_use_search.py)."""
import ast
import types

from ohm_use_collections import is_nothing, values_of
from ohm_use_files import name_of
from ohm_use_kinds import computes, is_text
from ohm_use_names import CHANGES_FILES, DRAWN_ON, DRAWS, MAKES_TEXT, OF_FILES, PRINTS, SAVED, SAVES, UPDATES
from ohm_use_rates import sets_rates

LOGS = frozenset("debug info warning warn error critical exception log".split())
EMIT = ast.Call(func=ast.Name(id="emit", ctx=ast.Load()), args=[], keywords=[])  # of a handler of logging
WALKS_WEIGHTS = frozenset("state_dict parameters named_parameters buffers named_buffers".split())
OF_COPY = frozenset("clone numpy detach copy contiguous".split())
MOST_CALLS = 3  # of functions of the user's that call one another


def root_of(node):
    """The name that an expression such as axes[0].text begins with, or None."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return getattr(node, "id", None)


def prints_by_name(call):
    name, root = name_of(call), root_of(call.func)
    return name in PRINTS or name in DRAWS and root in DRAWN_ON or name in CHANGES_FILES and root in OF_FILES


def opens_file(node):
    return isinstance(node, ast.Call) and name_of(node) == "open"


def only_names(node):
    """Whether an expression only gives something a name, or several things: no arithmetic but that of text and paths,
    no elements that a tensor may choose."""
    for part in ast.walk(node):
        is_of_text = isinstance(part, ast.BinOp) and (is_text(part.left) or is_text(part.right))
        is_indexed = isinstance(part, ast.Subscript) and not isinstance(part.slice, (ast.Constant, ast.Name))
        if isinstance(part, ast.BinOp) and not is_of_text or isinstance(part, (ast.UnaryOp, ast.Compare)) or is_indexed:
            return False
    return not computes(node, SAVED)


def copies_to_host(node):
    """Of one such as {name: weight.cpu().clone() for name, weight in net.state_dict().items()}: whether it keeps
    copies on the host, and takes no memory on a GPU."""
    loops = getattr(node, "generators", ())
    element = node.value if isinstance(node, ast.DictComp) else getattr(node, "elt", None)
    if len(loops) != 1 or loops[0].ifs or computes(loops[0].iter, WALKS_WEIGHTS):
        return False
    names = []
    while isinstance(element, ast.Call) and isinstance(element.func, ast.Attribute):
        names.append("cpu" if ast.unparse(element).endswith(".to('cpu')") else element.func.attr)
        element = element.func.value
    while isinstance(element, ast.Attribute) and element.attr == "data":
        element = element.value
    is_copied = isinstance(element, ast.Name) and "cpu" in names
    after, before = (names[:names.index("cpu")], names[names.index("cpu") + 1:]) if is_copied else ((), ())
    return is_copied and OF_COPY.issuperset(after) and set(before) <= {"detach"}


def raises(function):
    """Another error than one that it has caught."""
    return any(isinstance(part, ast.Raise) and part.exc is not None for part in ast.walk(function))


def is_other_function(value, name):
    """Whether a variable, which is named like one that prints, is a function of another name."""
    return isinstance(value, types.FunctionType) and value.__name__ != name


class Effects:
    """Of a branch or a loop. find(call): the user's functions that it may call; numbers: Numbers."""

    def __init__(self, file, statement, find, numbers):
        self.file, self.statement, self.find, self.numbers = file, statement, find, numbers
        self.rates = []  # statements that set learning rates, of what was looked at

    def only_prints(self, call, depth=MOST_CALLS):
        """Or saves."""
        name = name_of(call)
        functions = self.find(call)
        if is_other_function(self.numbers.value(call.func), name):
            return False
        if name == "update" and self.numbers.is_collection(getattr(call.func, "value", None)):
            return False
        if name in LOGS and any(map(raises, self.find(EMIT))):
            return False
        parts = [*call.args, *(keyword.value for keyword in call.keywords)]
        if any(computes(part, SAVED) for part in parts):
            return False
        if functions and name not in PRINTS:
            inner = [statement for function in functions for statement in function.body]
            return depth > 0 and all(self._only_saves(one, depth - 1) for one in inner)
        return (prints_by_name(call) or name in MAKES_TEXT or name in SAVES) and not (name in UPDATES and functions)

    def loads_weights(self, call):
        """Of a module, which copies them to where its own are."""
        if name_of(call) != "load_state_dict" or call.keywords or any(map(computes, call.args)):
            return False
        owner = self.numbers.value(getattr(call.func, "value", None))
        if isinstance(getattr(owner, "__dict__", {}).get("_parameters"), dict):
            return type(owner).load_state_dict.__module__ == "torch.nn.modules.module"
        weights = [value for one in call.args for value in values_of(self.file, one) if not is_nothing(value)]
        return not self.find(call) and bool(weights) and all(map(copies_to_host, weights))

    def sets_rates(self, statement):
        if not sets_rates(statement):
            return False
        self.rates.append(statement)
        return True

    def is_of_statement(self, assignment):
        """Whether it assigns to variables that nothing else than this statement uses, and computes nothing."""
        targets = assignment.targets if isinstance(assignment, ast.Assign) else []
        inner = set(ast.walk(self.statement))
        return bool(targets) and only_names(assignment.value) and not self._calls_own(assignment.value) and all(
            isinstance(target, ast.Name) and self._uses_of(target) <= inner for target in targets)

    def _calls_own(self, node):
        """Whether it calls functions of the user's, which may be named like others."""
        return any(self.find(part) for part in ast.walk(node) if isinstance(part, ast.Call))

    def _uses_of(self, target):
        return set(self.file.names(self.file.home(self.file.scope(target), target.id), target.id))

    def _only_saves(self, statement, depth):
        """Of a function of the user's."""
        value = getattr(statement, "value", None)
        if self.sets_rates(statement):
            return True
        if isinstance(statement, (ast.If, ast.For, ast.With)):
            heads = [getattr(statement, name) for name in ("test", "iter") if hasattr(statement, name)]
            opens = all(opens_file(item.context_expr) for item in getattr(statement, "items", ()))
            inner = [*statement.body, *getattr(statement, "orelse", ())]
            return opens and not any(map(computes, heads)) and all(self._only_saves(one, depth) for one in inner)
        if isinstance(statement, ast.Assign):
            holds_nothing = all(isinstance(one, ast.Name) or self.numbers.is_number(one) for one in statement.targets)
            return holds_nothing and only_names(value)
        if isinstance(statement, ast.Return):
            return value is None or not computes(value, SAVED)
        if isinstance(statement, ast.Expr):
            is_call = isinstance(value, ast.Call)
            return self.only_prints(value, depth) if is_call else isinstance(value, ast.Constant)
        return isinstance(statement, (ast.Pass, ast.Import))
