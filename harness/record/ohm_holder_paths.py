"""What the paths from variables to tensors are called (ohm_holders): the container, the steps to it, the
line that makes it hold more."""
import collections
import functools
import re
import sys
import time
import types

from ohm_growing_lines import Attribute, Item, Name, Sources, growing_place

MOST_SECONDS = 1.0  # to look for lines
SEQUENCES = (list, tuple, set, frozenset, collections.deque)
FUNCTION_CACHE = type(functools.lru_cache(lambda: None))
# As programs write them: model._modules['0'] is model[0].
PART_OF_MODULE = re.compile(r"\._(?:modules|parameters|buffers)\['(\w+)'\]")


def file_of_module(name):
    return getattr(sys.modules.get(name), "__file__", None) or ""


def chain_of(found):
    """From the variable to the object."""
    chain = []
    while found is not None:
        chain.insert(0, found)
        found = found.parent
    return chain


def group_name(found, torch):
    """The innermost object that stands for the whole, and its name: the container of a tensor, a
    module, an optimizer."""
    chain = chain_of(found)
    name = chain[0].label
    model = model_in(chain, torch)
    for one, following in zip(chain, chain[1:]):
        is_whole = one is model or isinstance(one.thing, torch.optim.Optimizer)
        if is_whole or isinstance(one.thing, SEQUENCES) or is_dictionary_of(one.thing, torch):
            return one, as_written(name)
        name = following.label if following.step == "closure" else longer_name(name, following.label)
    return found, as_written(name)


def longer_name(name, label):
    return name + label if len(name) < 80 else name


def as_written(name):
    return PART_OF_MODULE.sub(lambda part: f"[{part[1]}]" if part[1].isdigit() else f".{part[1]}", name)


def model_in(chain, torch):
    """The outermost module, of whose parameters or buffers the tensor is one; None: it is another's, or
    what a module keeps beside them."""
    modules = [index for index, one in enumerate(chain) if isinstance(one.thing, torch.nn.Module)]
    if not modules or modules[-1] + 1 == len(chain):
        return None
    is_part = chain[modules[-1] + 1].label in ("._parameters", "._buffers")
    return chain[modules[0]] if is_part else None


def is_of_module(found):
    """Whether a module has this parameter, by this path."""
    return found.parent is not None and found.parent.label == "._parameters"


def is_dictionary_of(thing, torch):
    """Whether its values are tensors, mostly; or many containers, which come and go."""
    if not isinstance(thing, dict) or not thing:
        return False
    values = list(thing.values())[:8]
    if len(thing) > 8 and all(isinstance(value, (dict, *SEQUENCES)) for value in values):
        return True
    return 2 * sum(isinstance(value, torch.Tensor) for value in values) > len(values)


def kind_of(found, torch, keeps_optimizers=False):
    """In one word what holds the tensors; keeps_optimizers: what counts is the container of these."""
    chain = chain_of(found)
    if any(isinstance(one.thing, (BaseException, types.TracebackType)) for one in chain):
        return "exception"
    if not keeps_optimizers and any(isinstance(one.thing, torch.optim.Optimizer) for one in chain):
        return "optimizer"
    if any(isinstance(one.thing, FUNCTION_CACHE) for one in chain):
        return "cache"
    whole, _ = group_name(found, torch)
    if isinstance(whole.thing, torch.nn.Module):
        return "module"
    if isinstance(whole.thing, dict):
        return "dictionary"
    return "list" if isinstance(whole.thing, SEQUENCES) else "tensor"


def path_of(found, is_of_graph):
    chain = chain_of(found)
    path = [chain[0].label]
    for one in chain:
        name = type(one.thing).__name__
        if isinstance(one.thing, (*SEQUENCES, dict)):
            name += f" of {len(one.thing)}"
        if one.label and one.step == "attribute":
            name = f"{one.label} {name}"
        path.append(name)
    if len(path) > 8:
        path[4:-3] = ["…"]
    if found.thing.grad_fn is not None:
        path.append(f"grad_fn {type(found.thing.grad_fn).__name__}")
    if is_of_graph:
        path.append("saved tensor")
    return path


def short_text(key):
    text = repr(key) if isinstance(key, (str, int, tuple, float)) else type(key).__name__
    return text if len(text) <= 40 else text[:37] + "…'"


# ---- lines ----

class GrowingPlaces:
    """variables: id of an object -> the roots that name it; files: whose they are (UserFiles)."""

    def __init__(self, variables, files):
        self.variables, self.files = variables, files
        self.sources = Sources()
        self.program = [file_of_module(module.__name__) for module in program_modules(files)]
        self.deadline = time.monotonic() + MOST_SECONDS

    def of(self, first):
        """(file, Place) that makes a container hold more, or that assigns what it holds; None: neither is
        known."""
        if any(isinstance(one.thing, FUNCTION_CACHE) for one in chain_of(first)):
            return None  # each call of the function does
        assigned = None
        for file, what in self._names_of(first):
            if time.monotonic() > self.deadline:
                break
            place = growing_place(self.sources.of(file), what)
            if place is None:
                continue
            if place.grows:
                return file, place
            assigned = assigned or (file, place)
        return assigned

    def _names_of(self, found):
        """(file, how it names the object), the likeliest first."""
        roots = self.variables.get(id(found.thing), ())
        yield from ((root.file, Name(root.name, root.function, root.first_line)) for root in roots)
        if found.parent is not None and found.step == "attribute":
            yield from self._names_of_attribute(found)
        if found.parent is not None and found.step == "item":
            key = found.label[1:-1]
            yield from ((file, Item(what, key)) for file, what in self._names_of(found.parent))
            if type(found.parent.thing) not in (dict, *SEQUENCES):  # state["messages"] is state.messages
                yield from ((file, Attribute(key.strip("'"))) for file in (found.root.file, *self.program))
        for name in {root.name for root in roots if root.function == "<module>"}:
            yield from ((file, Attribute(name)) for file in self.program)

    def _names_of_attribute(self, found):
        name, owner = found.label[1:], found.parent.thing
        kinds = owner.__mro__ if isinstance(owner, type) else type(owner).__mro__
        for kind in kinds:
            file = file_of_module(kind.__module__)
            if self.files.is_program(file):
                yield file, Attribute(name, kind.__name__)
        yield from ((file, Attribute(name)) for file in (found.root.file, *self.program))


def program_modules(files):
    """Those of the program's own, the main one first."""
    modules = [module for module in list(sys.modules.values()) if isinstance(module, types.ModuleType)]
    modules.sort(key=lambda module: module.__name__ != "__main__")
    for module in modules:
        file = vars(module).get("__file__") or ""
        if module.__name__ == "__main__" or files.is_program(file):
            yield module
