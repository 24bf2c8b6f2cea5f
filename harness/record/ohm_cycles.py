"""Objects of the program that no variable reaches any more, and that keep each other alive until the
garbage collector comes to them: it counts objects, not what they hold of a GPU (ohm_holders)."""
import gc
import sys
import types

from ohm_growing_lines import Attribute, growing_place
from ohm_holder_paths import file_of_module
from ohm_trainings import attributes_of

FEWEST = 3
MOST_SAMPLES = 12  # of tensors: asking who refers to one takes milliseconds
MOST_CHECKED = 3
MOST_OBJECTS = 10_000  # that one leads to
OWN_REFERENCES = 2  # of a dictionary, and of the call that counts them


def row_of_cycles(look, sources):
    """Like those of holders; None: there are no such objects, or not enough is known."""
    kinds = {key for tensor in samples_of(look) for key in owners_of(tensor, look)}
    found = [key for key in sorted(kinds, key=str) if are_garbage(key[0], look)]
    rows = (row_of(look, sources, kind, name) for kind, name in found)
    return max(rows, key=lambda row: row["bytes"], default=None)


def samples_of(look):
    tensor = look.torch.Tensor
    found = [one for one in gc.get_objects()
             if issubclass(type(one), tensor) and id(one) not in look.seen and look.is_on_device(one)]
    return found[::len(found) // MOST_SAMPLES + 1] if len(found) >= FEWEST else []


def owners_of(tensor, look):
    """(class of the program's own, name of the attribute) of objects that no variable reaches."""
    for one in gc.get_referrers(tensor):
        for owner in gc.get_referrers(one) if type(one) is dict else [one]:
            if id(owner) in look.seen or isinstance(owner, (types.FrameType, type)):
                continue
            if look.holders.files.is_program(file_of_module(type(owner).__module__)):
                attributes = attributes_of(owner).items()
                yield from ((type(owner), name) for name, value in attributes if value is tensor)


def unreached(kind, look):
    return [one for one in gc.get_objects() if type(one) is kind and id(one) not in look.seen]


def are_garbage(kind, look):
    """Of the first ones, which are looked at one by one: what refers to another would count."""
    count = min(MOST_CHECKED, len(unreached(kind, look)))
    return count >= FEWEST and all(is_garbage(unreached(kind, look).pop(index)) for index in range(count))


def is_garbage(owner):
    """Whether it is in a cycle of which no object is held by any other one."""
    first = id(owner)
    within = {first: owner}
    del owner
    edges = edges_within(within)
    cycle = ids_that_lead_to(first, edges)
    if len(within) > MOST_OBJECTS or first not in edges:
        return False
    inside = sum(holder in cycle for one in cycle for holder in edges.get(one, ()))
    return sum(sys.getrefcount(within[one]) - OWN_REFERENCES for one in cycle) == inside


def edges_within(within):
    """id of an object -> those of the objects that refer to it; adds to `within` what it leads to."""
    edges = {}
    waiting = list(within)
    while waiting and len(within) <= MOST_OBJECTS:
        holder = waiting.pop()
        for one in gc.get_referents(within[holder]):
            if isinstance(one, (type, types.ModuleType)):
                continue
            edges.setdefault(id(one), []).append(holder)
            if id(one) not in within:
                within[id(one)] = one
                waiting.append(id(one))
    return edges


def ids_that_lead_to(first, edges):
    found, waiting = {first}, [first]
    while waiting:
        for one in edges.get(waiting.pop(), ()):
            if one not in found:
                found.add(one)
                waiting.append(one)
    return found


def row_of(look, sources, kind, name):
    tensors = [attributes_of(one).get(name) for one in unreached(kind, look)]
    tensors = [one for one in tensors if issubclass(type(one), look.torch.Tensor)]
    bytes_each = list(map(look.take, tensors))
    file = file_of_module(kind.__module__)
    place = growing_place(sources.of(file), Attribute(name, kind.__name__))
    return {"variable": f"{kind.__name__}.{name}", "function": kind.__name__, "file": file,
            "line": place.line if place else 0, "bytes": sum(bytes_each), "graph_bytes": 0,
            "blocks": sum(map(bool, bytes_each)), "tensors": len(tensors), "scalars": 0, "with_graph": 0,
            "kind": "cycle", "is_in_model": False, "is_concatenated": False, "is_differentiated": False,
            "path": [kind.__name__, f".{name} Tensor"]}
