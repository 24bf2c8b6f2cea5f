"""What variables of running frames hold (ohm_use_search.py)."""
import ast
import enum
import itertools
import numbers
import pathlib

from ohm_frame_variables import look_at_variables
from ohm_use_files import is_code_of

MOST_ELEMENTS = 1000
MOST_WITHIN = 20  # elements of an element
MISSING, NOT_KNOWN = object(), object()


def running(file, statement, frame):
    """The frame that runs a statement's function: this one, or one that has called it."""
    scope = file.scope(statement)
    while frame is not None:
        is_module = scope is file.tree and frame.f_code.co_name == "<module>"
        if frame.f_code.co_filename == file.name and (is_module or is_code_of(scope, frame.f_code)):
            return frame
        frame = frame.f_back
    return None


def is_plain(value, most=MOST_ELEMENTS):
    """Of numbers, texts, and what holds some of them: the first of them stand for all."""
    if isinstance(value, (dict, list, tuple)):
        parts = value.values() if isinstance(value, dict) else value
        return all(is_plain(part, MOST_WITHIN) for part in itertools.islice(parts, most))
    is_scalar = isinstance(value, (int, float, str, enum.Enum, pathlib.PurePath, type(None)))
    return is_scalar or is_scalar_of_host(value)


def is_scalar_of_host(value):
    """Of a tensor of one number."""
    return getattr(getattr(value, "device", None), "type", "") == "cpu" and value.numel() == 1


def value_in(frame, node):
    """Of a variable, an attribute or an item that nothing computes."""
    if isinstance(node, ast.Name):
        return variable_of(frame, node.id)
    if not isinstance(node, (ast.Attribute, ast.Subscript)):
        return NOT_KNOWN
    owner = value_in(frame, node.value)
    if owner is MISSING:
        return MISSING
    if isinstance(node, ast.Attribute):
        return getattr(owner, "__dict__", {}).get(node.attr, MISSING)
    return item_of(owner, node.slice)


def variable_of(frame, name):
    """In a comprehension, which has a frame of its own up to Python 3.11, also those of its function."""
    value = look_at_variables(frame, lambda variables: variables.get(name, MISSING))
    is_inner = frame.f_code.co_name.endswith("comp>") and frame.f_code in frame.f_back.f_code.co_consts
    if value is MISSING and is_inner:
        return variable_of(frame.f_back, name)
    code = frame.f_code
    is_own = name in code.co_varnames or name in code.co_cellvars or name in code.co_freevars
    return frame.f_globals.get(name, MISSING) if value is MISSING and not is_own else value


def item_of(owner, index):
    """Of a dict, a list or a tuple, by a constant."""
    is_negative = isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub)
    constant = index.operand if is_negative else index
    if not isinstance(constant, ast.Constant):
        return NOT_KNOWN
    if isinstance(owner, dict):
        return NOT_KNOWN if is_negative else dict.get(owner, constant.value, MISSING)
    if type(owner) in (list, tuple) and type(constant.value) is int and (
            constant.value < len(owner) + is_negative):
        return owner[-constant.value if is_negative else constant.value]
    return NOT_KNOWN


def are_plain(nodes, frame):
    """Numbers or text, which hold no memory of a GPU."""
    return all(isinstance(node, (ast.Constant, ast.JoinedStr)) or (
        isinstance(value_in(frame, node), (numbers.Number, str))) for node in nodes)


def have_different_shapes(container):
    """Whether an index into it chooses a tensor's shape."""
    elements = list(container.values()) if isinstance(container, dict) else container
    if not isinstance(elements, (list, tuple)) or len(elements) > MOST_ELEMENTS:
        return False
    shapes = [getattr(element, "shape", None) for element in elements]
    return len(shapes) > 1 and None not in shapes and any(shape != shapes[0] for shape in shapes)
