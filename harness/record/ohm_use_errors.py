"""Errors that a branch raises: whether the program goes on after them (ohm_use_search.py)."""
import ast
import builtins

from ohm_use_files import FUNCTIONS, name_of, name_of_target, within

EVERY_ERROR = frozenset((None, "Exception", "BaseException"))  # None: an `except` without a type
ENDS_LOOPS = frozenset("StopIteration StopAsyncIteration".split())
ANSWERS_BY_ERROR = frozenset("__getattr__ __getitem__ __missing__".split())
EXITS = frozenset("exit _exit quit abort".split())


def may_stop(statement):
    """Of one that only prints."""
    return isinstance(statement, ast.Assert) or any(map(stops, ast.walk(statement)))


def stops(statement):
    """By an error, or sys.exit()."""
    value = getattr(statement, "value", None)
    is_exit = isinstance(statement, ast.Expr) and isinstance(value, ast.Call) and name_of(value) in EXITS
    return is_exit or isinstance(statement, ast.Raise)


def errors_of(statement):
    """Names of what an `assert`, or an `if` that raises, is caught by."""
    if isinstance(statement, ast.Assert):
        return with_bases({"AssertionError"})
    raised = [inner.exc for inner in ast.walk(statement) if isinstance(inner, ast.Raise)]
    return with_bases({name_of_target(getattr(error, "func", error)) for error in raised})


def is_caught_by_python(function, errors):
    """Whether it ends a loop, or is the answer of a method that Python asks."""
    return not ENDS_LOOPS.isdisjoint(errors) or getattr(function, "name", "") in ANSWERS_BY_ERROR


def with_bases(names):
    """Those that Python knows of errors of these names."""
    kinds = [getattr(builtins, name or "", Exception) for name in names]
    return names | {None} | {base.__name__ for kind in kinds if isinstance(kind, type) for base in kind.__mro__}


def is_handled(node, parents, errors, is_caller=False):
    """Whether the function continues after one of these errors. parents: node -> node around it. is_caller: of
    the function that raises it; handlers of every error count within a loop."""
    while node in parents and not isinstance(node, FUNCTIONS):
        parent = parents[node]
        if isinstance(parent, ast.Try) and node in parent.body:
            named = errors - EVERY_ERROR if is_caller and not is_in_loop(parent, parents) else errors
            if any(catches(handler, named) for handler in parent.handlers):
                return True
        if isinstance(parent, ast.With) and node in parent.body:
            if any(suppresses(item.context_expr, errors) for item in parent.items):
                return True
        node = parent
    return False


def is_in_loop(node, parents):
    while node in parents and not isinstance(node, FUNCTIONS):
        node = parents[node]
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            return True
    return False


def is_managed(files, file, node, errors):
    """Whether a context manager of the user's, which is entered around a node, ends one of these errors."""
    for call in managers_around(file, node):
        known = files.class_of(file, name_of(call))
        if known and any(ends_errors(method) for method in known[1].body):
            return True
        if any(handles_what_it_yields_to(function, errors) for _, function in files.functions(file, name_of(call))):
            return True
    return False


def managers_around(file, node):
    """Calls that give the context managers that are entered where a node is."""
    while node in file.parents and not isinstance(node, FUNCTIONS):
        parent = file.parents[node]
        if isinstance(parent, (ast.With, ast.AsyncWith)) and node in parent.body:
            for item in parent.items:
                made = [item.context_expr, *file.assigned.get(name_of_target(item.context_expr), ())]
                yield from (one for one in made if isinstance(one, ast.Call))
        node = parent


def ends_errors(method):
    """Whether it is an `__exit__` that may return true."""
    if getattr(method, "name", "") not in ("__exit__", "__aexit__"):
        return False
    results = [node.value for node in within(method) if isinstance(node, ast.Return) and node.value is not None]
    return any(not isinstance(value, ast.Constant) or value.value for value in results)


def handles_what_it_yields_to(function, errors):
    """Of a generator that contextlib.contextmanager makes a manager of."""
    return any(isinstance(node, ast.Try) and any(isinstance(part, ast.Yield) for part in ast.walk(node)) and any(
        catches(handler, errors) for handler in node.handlers) for node in within(function))


def suppresses(manager, errors):
    """As contextlib.suppress(ValueError) does."""
    return isinstance(manager, ast.Call) and name_of(manager) == "suppress" and any(
        name_of_target(kind) in errors for kind in manager.args)


def catches(handler, errors):
    """Whether an `except` catches one of these errors and raises none itself."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    is_caught = any(name_of_target(kind) in errors for kind in kinds)
    return is_caught and not any(isinstance(inner, ast.Raise) for inner in handler.body)
