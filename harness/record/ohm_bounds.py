"""Whether a program limits what it puts into a container: a replay buffer, a cache with a size. While one
fills up, it holds more in each step, and does not leak (ohm_holder_paths)."""
import ast
import collections
import sys

from ohm_growing_lines import grows, targets_of
from ohm_trainings import attributes_of
from ohm_use_files import name_of

REMOVES = frozenset("clear heappop heappushpop heapreplace pop popitem popleft remove".split())
BRANCHES = (ast.If, ast.While)


def is_filling(found, names):
    """Of a container, as far as the program says how many items it may have; names: (source, what)
    that name it in files of the program."""
    thing = found.thing
    if isinstance(thing, collections.deque) and thing.maxlen is not None:
        return True
    try:
        items = len(thing)
    except TypeError:
        return False
    for source, what in names:
        part = source and what.part_of(source)
        for limit in limits_in(part, what) if part else ():
            most = value_of(limit, found)
            if most is None or items <= most:
                return True
    return False


def limits_in(part, what):
    """The expressions that its length is compared with, where the outcome decides over its growth; and
    slices of it that replace it."""
    for node in ast.walk(part):
        if isinstance(node, BRANCHES) and decides(node, what):
            yield from (limit for one in ast.walk(node.test) for limit in compared_with_length(one, what))
        elif is_cut(node, what):
            yield None


def is_cut(node, what):
    """kept = kept[-most:], kept[:] = kept[-most:], del kept[:-most]"""
    if isinstance(node, ast.Assign):
        return is_slice(node.value, what) and any(map(what.is_in, targets_of(node)))
    return isinstance(node, ast.Delete) and any(is_slice(one, what) for one in node.targets)


def is_slice(node, what):
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and what.is_in(node.value)


def decides(branch, what):
    """if len(kept) < most: kept.append(one); while len(kept) > most: kept.pop()"""
    parts = [one for statement in branch.body + branch.orelse for one in ast.walk(statement)]
    steps = [one for one in parts if isinstance(one, (ast.Assign, ast.AugAssign, ast.Call))]
    return any(removes(one, what) or grows(one, what) for one in steps) or any(
        isinstance(one, ast.Delete) and any(map(what.is_in, ast.walk(one))) for one in parts)


def removes(node, what):
    if not isinstance(node, ast.Call) or name_of(node) not in REMOVES:
        return False
    return any(map(what.is_in, [getattr(node.func, "value", None), *node.args]))


def compared_with_length(node, what):
    if not isinstance(node, ast.Compare) or len(node.comparators) != 1:
        return
    sides = [node.left, node.comparators[0]]
    for side, other in (sides, sides[::-1]):
        is_length = isinstance(side, ast.Call) and name_of(side) == "len" and len(side.args) == 1
        if is_length and what.is_in(side.args[0]):
            yield other


def attribute_of(owner, name):
    """Without running anything of its class."""
    places = [attributes_of(owner), *(kind.__dict__ for kind in type(owner).__mro__)]
    return next((values[name] for values in places if name in values), None)


def value_of(limit, found):
    """A number; None: it is not known."""
    if isinstance(limit, ast.Constant):
        return limit.value if isinstance(limit.value, int) else None
    owner = found.parent.thing if found.parent is not None and found.step == "attribute" else None
    if isinstance(limit, ast.Attribute) and isinstance(limit.value, ast.Name) and limit.value.id == "self":
        value = attribute_of(owner, limit.attr)
    elif isinstance(limit, ast.Name):
        value = vars(sys.modules.get("__main__", sys)).get(limit.id)
    else:
        value = None
    return value if isinstance(value, int) else None
