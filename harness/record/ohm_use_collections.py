"""Which collection a variable, an attribute or an item of a dict is, by all that it is assigned (ohm_use_search.py)."""
import ast

from ohm_use_files import FUNCTIONS, LISTINGS, name_of, name_of_target, parameters_of
from ohm_use_frames import value_in
from ohm_use_names import MAPPINGS

COPIES = frozenset("cpu numpy detach float double astype copy clone asarray array tolist reshape flatten ravel".split())
MAKES_LIST = frozenset("list tuple deque sorted field".split())


def is_mapping(file, node):
    """Whether it is assigned a dict."""
    return any(map(is_dict, values_or_alike(file, node)))


def is_collection(file, node):
    """Whether it is assigned a dict or a set."""
    return any(is_dict(value) or is_set(value) for value in values_or_alike(file, node))


def is_list(file, node, frame=None):
    """Whether it is a list that is written out, or is assigned lists alone. frame: one that runs the code of the node,
    where it may be one that nothing in the file assigns."""
    values = values_of_item(file, node) if isinstance(node, ast.Subscript) else values_of(file, node)
    if not values and frame is not None:
        return isinstance(value_in(frame, node), (list, tuple))
    others = [value for value in values if not is_nothing(value)]
    return isinstance(node, LISTINGS) or bool(others) and all(map(makes_list, others))


def values_or_alike(file, node):
    """What is assigned to it, or else to what has its name."""
    return values_of(file, node) or file.assigned.get(name_of_target(node), ())


def values_of(file, node, depth=2):
    """Of a variable of its scope, or of every attribute of this name. Of a parameter they are what the file's calls
    pass. None is among them where a loop gives it something, for example."""
    if isinstance(node, ast.Attribute):
        return [file.given[target] for target in file.targets.get(node.attr, ()) if is_attribute(file, target)]
    if not isinstance(node, ast.Name):
        return []
    scope = file.home(file.scope(node), node.id)
    values = [file.given.get(target) for target in stores_of(file, scope, node.id)]
    if not depth or not isinstance(scope, FUNCTIONS) or node.id not in parameters_of(scope):
        return values
    for passed in file.passed(scope, node.id):
        values += values_of(file, passed, depth - 1) or [passed]
    return values


def values_of_item(file, node):
    """Of a constant key of a dict that is a variable, with those of dicts that are written out."""
    key = getattr(node.slice, "value", None)
    displays = [one for one in values_or_alike(file, node.value) if isinstance(one, ast.Dict)]
    values = [value for display in displays for name, value in zip(display.keys, display.values)
              if getattr(name, "value", None) == key]
    return values + [file.given[target] for target in file.targets.get(None, ())
                     if ast.unparse(target) == ast.unparse(node)]


def stores_of(file, scope, name):
    for node in file.by_name.get(name, ()):
        is_added = isinstance(file.parents[node], ast.AugAssign)
        is_stored = isinstance(node.ctx, ast.Store) and not is_added and not file.is_of_comprehension(node)
        if is_stored and not is_attribute(file, node) and file.home(file.scope(node), name) is scope:
            yield node


def is_attribute(file, target):
    """Also of one that a class assigns in its body."""
    return isinstance(target, ast.Attribute) or isinstance(file.parents[file.parents[target]], ast.ClassDef)


def makes_list(value):
    parts = (value.left, value.right) if isinstance(value, ast.BinOp) else (value,)
    return any(isinstance(part, (*LISTINGS, ast.ListComp)) or (
        isinstance(part, ast.Call) and name_of(part) in MAKES_LIST) for part in parts)


def is_copy_of_tensor(file, node, depth=2):
    """Whether an array is what a tensor holds, with which nothing was computed on the host."""
    while isinstance(node, ast.Call) and name_of(node) in COPIES:
        if name_of(node) in ("cpu", "numpy"):
            return True
        node = node.func.value if isinstance(node.func, ast.Attribute) else next(iter(node.args), None)
    values = values_of(file, node) if isinstance(node, ast.Name) and depth else ()
    return bool(values) and all(is_copy_of_tensor(file, value, depth - 1) for value in values)


def is_nothing(value):
    return isinstance(value, ast.Constant) and value.value is None


def is_dict(node):
    is_display = isinstance(node, (ast.Dict, ast.DictComp))
    return is_display or isinstance(node, ast.Call) and name_of(node) in MAPPINGS


def makes_container(node):
    """Of a list or a dict: {}, [0, 0], [0] * 2, defaultdict(int)"""
    parts = (node.left, node.right) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) else (node,)
    return is_dict(node) or any(isinstance(part, (ast.List, ast.ListComp)) for part in parts)


def is_set(node):
    is_display = isinstance(node, (ast.Set, ast.SetComp))
    return is_display or isinstance(node, ast.Call) and name_of(node) == "set"
