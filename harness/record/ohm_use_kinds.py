"""What an expression makes of a value in it, and what a statement does: by its syntax (ohm_uses.py)."""
import ast

from ohm_use_files import FUNCTIONS, name_of, name_of_target
from ohm_use_names import (
    CALLS_MODULE, COUNTS_IN_ARRAY, KEEPS, KEEPS_MASK, KEEPS_SET, MAKES_ARRAY, MAKES_MASK, MAKES_TEXT, PRINTS)

# What the expression on the way is, where its length or what it selects depends on the values: an array, a
# mask of its elements, a set or another collection of unknown length, lists of unknown lengths, what an
# index has chosen; or text. None: a number, or nothing that is known.
ARRAY, MASK, SET, LISTS, CHOSEN, TEXT = "array", "mask", "set", "lists", "chosen", "text"
BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor)
REPEATED = (ast.List, ast.Tuple, ast.ListComp)


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
        has_slice = any(isinstance(part, ast.Slice) for part in ast.walk(node.slice))
        return made if has_slice else None
    if isinstance(node, ast.Attribute) and made is CHOSEN and node.attr not in CALLS_MODULE:
        return None
    return made


def made_by_call(name, made):
    if name in MAKES_ARRAY:
        return MASK if made is MASK else ARRAY
    if name in ("set", "frozenset"):
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
    """Names of what an `assert`, or an `if` that raises, is caught by. None: an `except` without a type."""
    bases = {None, "Exception", "BaseException"}
    if isinstance(statement, ast.Assert):
        return bases | {"AssertionError"}
    raised = [inner.exc for inner in ast.walk(statement) if isinstance(inner, ast.Raise)]
    return bases | {name_of_target(getattr(error, "func", error)) for error in raised}


def is_handled(node, parents, errors):
    """Whether the function continues after one of these errors. parents: node -> node around it."""
    while not isinstance(node, (*FUNCTIONS, ast.Module)):
        parent = parents[node]
        if isinstance(parent, ast.Try) and node in parent.body:
            if any(catches(handler, errors) for handler in parent.handlers):
                return True
        node = parent
    return False


def catches(handler, errors):
    """Whether an `except` catches one of these errors and raises none itself."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    is_caught = any(name_of_target(kind) in errors for kind in kinds)
    return is_caught and not any(isinstance(inner, ast.Raise) for inner in handler.body)


def only_prints(statement):
    """Whether nothing but text depends on a branch, or it stops the program."""
    if not isinstance(statement, ast.If):
        return isinstance(statement, ast.Assert)
    for inner in [*statement.body, *statement.orelse]:
        is_call = isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Call)
        is_text = is_call and (name_of(inner.value) in PRINTS or name_of(inner.value) in MAKES_TEXT)
        if is_text or isinstance(inner, (ast.Raise, ast.Pass)):
            continue
        return False
    return True
