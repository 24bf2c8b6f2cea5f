"""Which collection a variable, an attribute or an item of a dict is, by all that it is assigned (ohm_use_search.py)."""
import ast

from ohm_use_files import FUNCTIONS, LISTINGS, name_of, name_of_target, parameters_of, within
from ohm_use_frames import value_in
from ohm_use_names import MAPPINGS

COPIES = frozenset("cpu numpy detach float double astype copy clone asarray array tolist reshape flatten ravel".split())
MAKES_LIST = frozenset("list tuple deque sorted".split())


def is_mapping(file, node):
    """Whether it is assigned a dict."""
    return any(gives_dict(file, value) for value in values_or_alike(file, node))


def is_only_mapping(file, node):
    """Whether it is assigned nothing else."""
    values = [value for value in values_or_alike(file, node) if not is_nothing(value)]
    return bool(values) and all(gives_dict(file, value) for value in values)


def is_collection(file, node):
    """Whether it is assigned a dict or a set."""
    return any(is_dict(value) or is_set(value) for value in values_or_alike(file, node))


def is_list(file, node, frame=None, is_other=None):
    """Whether it is a list that is written out, or is assigned lists alone. frame: one that runs the code of the node,
    where it may be one, as far as the file does not tell what is assigned. is_other: whether an attribute that is
    assigned is another one of this name."""
    values = values_of_item(file, node) if isinstance(node, ast.Subscript) else values_of(file, node, is_other=is_other)
    others = [value for value in values if not is_nothing(value) and not is_part_of(value, node)]
    unclear = [value for value in others if not makes_list(file, value)]
    if isinstance(node, LISTINGS) or others and not unclear:
        return True
    has_one = len(unclear) < len(others) or frame is not None
    is_now = isinstance(value_in(frame, node), (list, tuple)) if frame is not None else True
    return has_one and is_now and all(may_be_list(file, value) for value in unclear)


def values_or_alike(file, node):
    """What is assigned to it, or else to what has its name."""
    return values_of(file, node) or file.assigned.get(name_of_target(node), ())


def values_of(file, node, depth=2, is_other=None):
    """Of a variable of its scope, or of every attribute of this name. Of a parameter they are what the file's calls
    pass. None is among them where a loop gives it something, for example."""
    if isinstance(node, ast.Attribute):
        return [file.given[target] for target in file.targets.get(node.attr, ())
                if is_attribute(file, target) and not (is_other and is_other(target))]
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
    """Of a constant key of a dict: those of the dicts that are written out, and of every item of this key. None is
    among them where the dict may have others."""
    key, owner = getattr(node.slice, "value", None), ast.unparse(node.value)
    dicts = values_or_alike(file, node.value)
    values = [value for one in dicts if isinstance(one, ast.Dict) for name, value in zip(one.keys, one.values)
              if getattr(name, "value", None) == key]
    has_others = owner in file.changed or not all(isinstance(one, ast.Dict) for one in dicts)
    return values + file.items_given.get(key, []) + ([None] if has_others else [])


def stores_of(file, scope, name):
    for node in file.by_name.get(name, ()):
        is_added = isinstance(file.parents[node], ast.AugAssign)
        is_stored = isinstance(node.ctx, ast.Store) and not is_added and not file.is_of_comprehension(node)
        if is_stored and not is_attribute(file, node) and file.home(file.scope(node), name) is scope:
            yield node


def is_attribute(file, target):
    """Also of one that a class assigns in its body."""
    around = file.parents[target]
    while isinstance(around, ast.expr):
        around = file.parents[around]
    return isinstance(target, ast.Attribute) or isinstance(file.parents[around], ast.ClassDef)


def makes_list(file, value, depth=2):
    """depth: of functions that return what others return."""
    if isinstance(value, ast.BoolOp):
        return any(makes_list(file, part, depth) for part in value.values)
    if isinstance(value, ast.IfExp):
        return makes_list(file, value.body, depth) or makes_list(file, value.orelse, depth)
    if isinstance(value, ast.BinOp):
        parts = value.left, value.right
        is_certain = not isinstance(value.op, ast.Mult) or any(isinstance(part, ast.Constant) for part in parts)
        return is_certain and any(makes_list(file, part, depth) for part in parts)
    if not isinstance(value, ast.Call):
        return isinstance(value, (*LISTINGS, ast.ListComp))
    if name_of(value) == "field":
        return any(one.arg == "default_factory" and name_of_target(one.value) == "list" for one in value.keywords)
    is_of_function = depth > 0 and gives(file, value, lambda one: makes_list(file, one, depth - 1))
    return name_of(value) in MAKES_LIST or is_of_function


def may_be_list(file, value):
    """Whether nothing tells what a variable, an attribute or an item is."""
    values = values_of(file, value) if isinstance(value, ast.Name) else ()
    is_named = isinstance(value, (ast.Name, ast.Attribute, ast.Subscript))
    return is_named and all(isinstance(one, (ast.Name, ast.Attribute, ast.Subscript)) or one is not None and (
        makes_list(file, one)) for one in values)


def gives(file, call, makes):
    """Whether all that a function of the file returns is made so, directly or as a variable."""
    results = [one.value for function in file.functions(name_of(call)) for one in within(function)
               if isinstance(one, ast.Return)]
    return bool(results) and all(one is not None and (makes(one) or isinstance(one, ast.Name) and any(
        value is not None and makes(value) for value in values_of(file, one))) for one in results)


def is_part_of(value, node):
    """Whether it is a slice of the same variable: recent[-3:]"""
    is_slice = isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice)
    return is_slice and ast.unparse(value.value) == ast.unparse(node)


def gives_dict(file, value):
    """Also of a function's that returns one."""
    if isinstance(value, ast.IfExp):
        return gives_dict(file, value.body) or gives_dict(file, value.orelse)
    return is_dict(value) or isinstance(value, ast.Call) and gives(file, value, is_dict)


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
