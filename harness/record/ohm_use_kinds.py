"""What an expression makes of a value in it, and what a statement does: by its syntax (ohm_uses.py)."""
import ast
import builtins

from ohm_use_files import FUNCTIONS, name_of, name_of_target
from ohm_use_names import (
    ASKS_NO_VALUE, COUNTS_IN_ARRAY, DERIVES, KEEPS, KEEPS_MASK, KEEPS_SET, MAKES_ARRAY, MAKES_MASK, MAKES_TEXT,
    OF_CHOSEN, PRINTS, UPDATES)

# What the expression on the way is, where its length or what it selects depends on the values: an array, a
# mask of its elements, a set or another collection of unknown length, lists of unknown lengths, what an
# index has chosen; or text. None: a number, or nothing that is known.
ARRAY, MASK, SET, LISTS, CHOSEN, TEXT = "array", "mask", "set", "lists", "chosen", "text"
BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor)
REPEATED = (ast.List, ast.Tuple, ast.ListComp)
EVERY_ERROR = frozenset((None, "Exception", "BaseException"))  # None: an `except` without a type
PLAIN = (DERIVES | MAKES_TEXT | ASKS_NO_VALUE | OF_CHOSEN) - frozenset("to clone copy deepcopy".split())


def made_by(node, made):
    """What a node makes of a part that is `made`."""
    if isinstance(node, (ast.Set, ast.SetComp)):
        return SET
    if isinstance(node, ast.Compare):
        return None if made is TEXT else MASK
    if made is TEXT:
        return TEXT
    if isinstance(node, ast.Call):
        return made_by_call(name_of(node), made)
    if isinstance(node, ast.BinOp):
        is_kept = made is ARRAY or made is MASK and isinstance(node.op, BITWISE)
        return made if is_kept else None
    if isinstance(node, ast.Subscript):
        if made is LISTS:
            return SET
        if made is CHOSEN:
            return CHOSEN
        has_slice = any(isinstance(part, ast.Slice) for part in ast.walk(node.slice))
        return made if has_slice else None
    return made


def made_by_call(name, made):
    if name in MAKES_ARRAY:
        return MASK if made is MASK else ARRAY
    if name in ("set", "frozenset"):
        return SET
    if made is LISTS and name in ("max", "min", "next"):
        return SET
    if name in MAKES_MASK:
        return MASK if made in (ARRAY, MASK) else None
    keeps = {SET: KEEPS_SET, LISTS: KEEPS_SET, MASK: KEEPS_MASK}.get(made, KEEPS)
    return made if name in keeps else None


def counts_in_array(call):
    """Whether a call of an array gives as much as its values choose."""
    name = name_of(call)
    return name in COUNTS_IN_ARRAY and (name != "where" or len(call.args) == 1)


def is_text(node):
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str))


def chooses_text(node):
    """As 'good' if loss < 1 else 'bad' does."""
    return is_text(node.body) and is_text(node.orelse)


def may_stop(statement):
    """Of one that only prints."""
    return isinstance(statement, ast.Assert) or any(isinstance(inner, ast.Raise)
                                                    for inner in [*statement.body, *statement.orelse])


def errors_of(statement):
    """Names of what an `assert`, or an `if` that raises, is caught by."""
    if isinstance(statement, ast.Assert):
        return with_bases({"AssertionError"})
    raised = [inner.exc for inner in ast.walk(statement) if isinstance(inner, ast.Raise)]
    return with_bases({name_of_target(getattr(error, "func", error)) for error in raised})


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


def suppresses(manager, errors):
    """As contextlib.suppress(ValueError) does."""
    return isinstance(manager, ast.Call) and name_of(manager) == "suppress" and any(
        name_of_target(kind) in errors for kind in manager.args)


def catches(handler, errors):
    """Whether an `except` catches one of these errors and raises none itself."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    is_caught = any(name_of_target(kind) in errors for kind in kinds)
    return is_caught and not any(isinstance(inner, ast.Raise) for inner in handler.body)


def only_prints(statement, defined):
    """Whether nothing but text depends on a branch, or it stops the program. defined: functions of the file, by
    name."""
    if not isinstance(statement, ast.If):
        return isinstance(statement, ast.Assert)
    for inner in [*statement.body, *statement.orelse]:
        is_call = isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Call)
        if is_call and prints(inner.value, defined) or isinstance(inner, (ast.Raise, ast.Pass)):
            continue
        return False
    return True


def prints(call, defined):
    name = name_of(call)
    is_printing = name in PRINTS or name in MAKES_TEXT
    return is_printing and not (name in UPDATES and name in defined) and not any(map(computes, call.args)) and (
        not any(computes(keyword.value) for keyword in call.keywords))


def computes(node):
    """Whether an expression or a statement calls what may make more than a number or a text."""
    if isinstance(node, ast.AugAssign):
        return False
    calls = (inner for inner in ast.walk(node) if isinstance(inner, ast.Call))
    return any(name_of(call) not in PLAIN for call in calls)


def is_called(parents, node):
    parent = parents.get(node)
    return isinstance(parent, ast.Call) and parent.func is node


def unknown_part(loop, made):
    """Of what a loop assigns to: keys and places are known, where only values are unknown."""
    pairs = isinstance(loop.iter, ast.Call) and name_of(loop.iter) in ("items", "enumerate")
    is_pair = isinstance(loop.target, ast.Tuple) and len(loop.target.elts) == 2
    return loop.target.elts[1] if pairs and is_pair and made is not SET else loop.target
