"""What the paths from variables to tensors are called (ohm_holders): the container, the steps to it, the
line that makes it hold more."""
import collections
import functools
import re
import sys
import time
import types

from ohm_bounds import is_filling
from ohm_growing_lines import Attribute, Item, Name, Sources, growing_place, is_read
from ohm_item_attributes import cached_property_of, place_of_property, place_of_setting

MOST_SECONDS = 1.0  # to look for lines: of the thread, as a machine may be busy
SEQUENCES = (list, tuple, set, frozenset, collections.deque)
FEWEST_LINKS = 2
OF_CODE = (types.FunctionType, types.MethodType, types.CellType, types.FrameType, types.TracebackType,
           types.MappingProxyType, type)
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


def group_name(found, torch, kept_models):
    """The innermost object that stands for the whole, and its name: the container of a tensor, a
    module, an optimizer; of models that are kept (KeptModels), their container; of objects that lead
    to each other, the first."""
    chain = chain_of(found)
    whole = whole_in(chain, torch, kept_models) or link_in(chain, torch) or found
    return whole, as_written(name_along(chain[:chain.index(whole) + 1]))


def whole_in(chain, torch, kept_models):
    model = model_in(chain, torch)
    for one in chain[:-1]:
        is_whole = one is model or isinstance(one.thing, torch.optim.Optimizer)
        if is_whole or isinstance(one.thing, SEQUENCES) or is_dictionary_of(one, torch, kept_models):
            return one
    return None


def name_along(chain):
    name = chain[0].label
    for following in chain[1:]:
        if not is_inside_queue(following):
            name = following.label if following.step == "closure" else longer_name(name, following.label)
    return name


def link_in(chain, torch):
    """The first of a linked structure's objects on the way to the last one, as of a tree's nodes; None:
    there is none."""
    links = [one for one in chain[:-1] if may_be_link(one, torch)]
    kinds = collections.Counter(type(one.thing) for one in links)
    return next((one for one in links if kinds[type(one.thing)] >= FEWEST_LINKS), None)


def may_be_link(found, torch):
    others = (torch.Tensor, torch.nn.Module, torch.optim.Optimizer, dict, *SEQUENCES, BaseException)
    return not isinstance(found.thing, (*others, *OF_CODE))


def own_name(found):
    """By the whole path."""
    chain = chain_of(found)
    return as_written(functools.reduce(longer_name, (one.label for one in chain)))


def is_buffer(found):
    parent = found.parent
    return parent is not None and parent.label == "._buffers" and parent.parent is not None


def is_inside_queue(found):
    """queue.Queue and asyncio.Queue: what they hold is in a deque of theirs."""
    owner = found.parent.thing if found.step == "attribute" else None
    return type(owner).__module__ in ("queue", "asyncio.queues")


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


def is_dictionary_of(found, torch, kept_models):
    """Whether its values are tensors, mostly; or many containers or objects of one class, which come
    and go; or models that are kept."""
    thing = found.thing
    if not isinstance(thing, dict) or not thing:
        return False
    if found.label != "._modules" and kept_models.are_in(thing):
        return True
    values = list(thing.values())[:8]
    if len(thing) > 8 and (all(isinstance(value, (dict, *SEQUENCES)) for value in values) or
                           are_objects(values, torch)):
        return True
    return 2 * sum(isinstance(value, torch.Tensor) for value in values) > len(values)


def are_objects(values, torch):
    """Of one class, which is none of Python's, nor a tensor, a module or an optimizer."""
    kind = type(values[0])
    is_other = kind.__module__ == "builtins" or issubclass(
        kind, (torch.Tensor, torch.nn.Module, torch.optim.Optimizer))
    return not is_other and all(type(value) is kind for value in values)


def is_of_exception(found):
    return any(isinstance(one.thing, (BaseException, types.TracebackType)) for one in chain_of(found))


def kind_of(found, whole, torch, keeps_optimizers=False):
    """In one word what holds the tensors; keeps_optimizers: what counts is the container of these."""
    chain = chain_of(found)
    if not keeps_optimizers and any(isinstance(one.thing, torch.optim.Optimizer) for one in chain):
        return "optimizer"
    if any(isinstance(one.thing, FUNCTION_CACHE) for one in chain):
        return "cache"
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
        self.seconds = 0.0  # that looking has taken

    def of(self, first):
        began = time.thread_time()
        try:
            return self._of(first, began + MOST_SECONDS - self.seconds)
        finally:
            self.seconds += time.thread_time() - began

    def _of(self, first, deadline):
        """(file, Place) that makes a container hold more, or that assigns what it holds; None: neither is
        known."""
        if any(isinstance(one.thing, FUNCTION_CACHE) for one in chain_of(first)):
            return None  # each call of the function does
        assigned = None
        for file, what in self._names_of(first):
            if time.thread_time() > deadline:
                break
            place = growing_place(self.sources.of(file), what)
            if place is None:
                continue
            if place.grows:
                return file, place
            assigned = assigned or (file, place)
        if assigned is None and first.step == "attribute":
            return place_of_property(self.sources, first) or self._of_carried_owner(first, deadline)
        return assigned

    def _of_carried_owner(self, found, deadline):
        """state = model(x, state) gives state.hidden its value."""
        place = self._of(found.parent, deadline) if found.parent.step == "variable" else None
        return place if place and place[1].is_carried else None

    def of_links(self, link, chain):
        """The same, of a linked structure that begins with an object: where one gets the next, or else
        where a variable moves on."""
        following = [one for one in chain[chain.index(link) + 1:] if one.step == "attribute"][:1]
        while link.step == "referent" and link.parent is not None:
            link = link.parent
        found = [place for place in map(self.of, [*following, link]) if place is not None]
        return next((place for place in found if place[1].grows), found[-1] if found else None)

    def is_filling(self, found):
        """Of a container that the program limits, and that has not reached its limit."""
        names = ((self.sources.of(file), what) for file, what in self._names_of(found))
        return is_filling(found, names)

    def of_buffer(self, found):
        """Of one that the program's own module replaces by itself and more, and computes with; None:
        it does not."""
        for file, what in self._names_of_attribute(found.label[2:-2], found.parent.parent.thing):
            source = self.sources.of(file)
            place = growing_place(source, what)
            if place and place.is_concatenated and is_read(source, what):
                return file, place
        return None

    def of_items(self, container, attribute):
        """The same, of an attribute of each object in a container; None: it is the container that
        grows, or is not known to."""
        if not self.files.is_program(file_of_module(type(attribute.parent.thing).__module__)):
            return None
        if cached_property_of(attribute) is not None:
            return place_of_property(self.sources, attribute, of_items=True)
        own = self.of(container)
        container_grows = own is not None and own[1].grows
        for file in dict.fromkeys((attribute.root.file, *self.program)):
            source = self.sources.of(file)
            place = source and place_of_setting(source, attribute.label[1:], container_grows)
            if place:
                return file, place
        return None

    def _names_of(self, found):
        """(file, how it names the object), the likeliest first."""
        roots = self.variables.get(id(found.thing), ())
        yield from ((root.file, Name(root.name, root.function, root.first_line)) for root in roots)
        if found.parent is not None and found.step == "attribute":
            if is_inside_queue(found):
                yield from self._names_of(found.parent)
                return
            owner = found.parent.thing
            yield from self._names_of_attribute(found.label[1:], owner)
            yield from ((file, Attribute(found.label[1:])) for file in (found.root.file, *self.program))
        if found.parent is not None and found.step == "item":
            key = found.label[1:-1]
            yield from ((file, Item(what, key)) for file, what in self._names_of(found.parent))
            if type(found.parent.thing) not in (dict, *SEQUENCES):  # state["messages"] is state.messages
                yield from ((file, Attribute(key.strip("'"))) for file in (found.root.file, *self.program))
        for name in {root.name for root in roots if root.function == "<module>"}:
            yield from ((file, Attribute(name)) for file in self.program)

    def _names_of_attribute(self, name, owner):
        kinds = owner.__mro__ if isinstance(owner, type) else type(owner).__mro__
        for kind in kinds:
            file = file_of_module(kind.__module__)
            if self.files.is_program(file):
                yield file, Attribute(name, kind.__name__)


def program_modules(files):
    """Those of the program's own, the main one first."""
    modules = [module for module in list(sys.modules.values()) if isinstance(module, types.ModuleType)]
    modules.sort(key=lambda module: module.__name__ != "__main__")
    for module in modules:
        file = vars(module).get("__file__") or ""
        if module.__name__ == "__main__" or files.is_program(file):
            yield module
