"""The attribute of many objects in one container that makes each of them hold more: a cached
property, or one that the program sets while it goes through the container (ohm_holders)."""
import ast
import functools

from ohm_growing_lines import (Place, innermost_loop, is_empty, line_of_result, stores_numbers,
                               targets_of)

CONSTRUCTORS = frozenset(("__init__", "__new__", "__post_init__"))


def item_attribute(found, container):
    """The Found of the attribute of an object in the container that leads to what is found; None:
    none does."""
    while found is not container and found.parent is not None:
        item = found.parent
        if item.parent is container:
            return found if found.step == "attribute" and item.step == "item" else None
        found = item
    return None


def cached_property_of(found):
    """The function behind the attribute; None: it is no such property."""
    name = found.label[1:]
    for kind in type(found.parent.thing).__mro__:
        value = kind.__dict__.get(name)
        if value is not None:
            return value.func if isinstance(value, functools.cached_property) else None
    return None


def place_of_property(sources, found, of_items=False):
    """(file, Place) of what it returns."""
    function = cached_property_of(found)
    code = getattr(function, "__code__", None)
    source = code and sources.of(code.co_filename)
    node = source and source.function(code.co_name, code.co_firstlineno)
    if not node:
        return None
    return code.co_filename, Place(line_of_result(node), grows=of_items, is_added_to=of_items)


def place_of_setting(source, name, container_grows):
    """The Place that sets the attribute of objects that a container has already. Where no line puts
    more into the container, also a method of theirs."""
    within = [node for node in source.steps if sets(node, name) and not stores_numbers(node)]
    found = [node for node in within if is_of_item(source, node, name)]
    if not found and not container_grows:
        found = [node for node in within if not is_in_constructor(source, node)]
    lines = [node.lineno for node in found]
    return Place(max(lines), grows=True, is_added_to=True) if lines else None


def sets(node, name):
    """And not to something made of it: out.logits = out.logits.detach()"""
    if not any(is_attribute(target, name) for target in targets_of(node)) or is_empty(node.value):
        return False
    return not any(is_attribute(one, name) for one in ast.walk(node.value))


def is_attribute(node, name):
    return isinstance(node, ast.Attribute) and node.attr == name


def is_of_item(source, node, name):
    """for document in documents: document.vector = …; documents[i].vector = …"""
    loop = innermost_loop(source, node)
    targets = ast.walk(loop.target) if isinstance(loop, (ast.For, ast.AsyncFor)) else ()
    passed = {one.id for one in targets if isinstance(one, ast.Name)}
    owners = [target.value for target in targets_of(node) if is_attribute(target, name)]
    return any(isinstance(one, ast.Subscript) or isinstance(one, ast.Name) and one.id in passed
               for one in owners)


def is_in_constructor(source, node):
    functions = [one for one in source.functions if one.lineno <= node.lineno <= one.end_lineno]
    return any(one.name in CONSTRUCTORS for one in functions)
