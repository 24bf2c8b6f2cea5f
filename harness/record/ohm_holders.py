"""What keeps a GPU's memory alive: the paths from the program's variables to its tensors, and through
autograd's graphs to what these have saved.

It looks and changes nothing: no memory of the GPU is asked for or let go, no storage gets an object
of Python's, no hook of saved tensors runs. A look ends after a time and a number of objects."""
import collections
import gc
import threading
import time
import types

from ohm_cycles import row_of_cycles
from ohm_frame_variables import look_at_variables
from ohm_holder_groups import SEVERAL, Group, version_of
from ohm_holder_paths import (SEQUENCES, GrowingPlaces, chain_of, file_of_module, group_name,
                              is_buffer, is_of_module, link_in, own_name, program_modules, short_text)
from ohm_holder_rows import MOST_GROUPS, Told, may_grow
from ohm_item_attributes import item_attribute
from ohm_memory import StorageExtents
from ohm_trainings import KeptModels, Trainings, attributes_of

MOST_SECONDS = 2.0  # of the thread: what a busy machine does beside it does not count
MOST_OBJECTS = 400_000
MOST_HOLDERS = 12
UPDATES = 3  # copying into a tensor is one

ATOMS = (str, bytes, int, float, complex, bool, type(None), types.CodeType, types.BuiltinFunctionType,
         types.ModuleType, range, slice)


class Root:
    """A variable of the program: of a function that begins in a line, or of a module."""

    def __init__(self, name, function, file, first_line=0, is_in_model=False):
        self.name, self.function, self.file = name, function, file
        self.first_line, self.is_in_model = first_line, is_in_model


class Found:
    """An object on the way from a root: how its parent names it, and of which kind the step is."""

    __slots__ = ("thing", "parent", "label", "step", "root")

    def __init__(self, thing, parent, label, step, root):
        self.thing, self.parent, self.label, self.step, self.root = thing, parent, label, step, root


class Holders:
    """Of a process; `torch` is imported. main_file: its script; files: whose they are (UserFiles). Follows
    from then on whether saved tensors have hooks: what is behind those cannot be looked at."""

    def __init__(self, torch, files, main_file):
        self.torch, self.files, self.main_file = torch, files, main_file
        self.extents = StorageExtents(torch)
        self.trainings = Trainings()
        self.saved_names = {}  # type of node -> names of what it has saved
        self.has_hooks = False
        self._follow_hooks()

    def _follow_hooks(self):
        c = self.torch._C._autograd
        push = c._push_saved_tensors_default_hooks

        def push_noting(*hooks):
            self.has_hooks = True
            return push(*hooks)

        c._push_saved_tensors_default_hooks = push_noting

    def look(self, device, frames=(), seeks_cycles=False):
        """What variables of the frames (frame, whether it is of a model's call), outermost first, and of
        the program's modules hold on the device; or else objects that no variable reaches any more."""
        collects = gc.isenabled()
        gc.disable()  # else it frees what is garbage by now
        try:
            with self.torch._C.DisableTorchFunctionSubclass():
                return Look(self, device).run(frames, seeks_cycles)
        finally:
            if collects:
                gc.enable()


class Look:
    def __init__(self, holders, device):
        self.holders, self.torch, self.device = holders, holders.torch, device
        self.deadline = time.thread_time() + MOST_SECONDS
        self.queue = collections.deque()
        self.seen = set()  # ids of objects that the queue has had
        self.nodes = set()  # of graphs
        self.counted = set()  # addresses of storages
        self.kept_models = KeptModels(self.torch, holders.trainings)
        self.repeated = set()  # ids of optimizers that stand for the same parameters as others
        self.tensors = []  # Found
        self.parameters = []  # Found, of what a module may hold as well
        self.optimizers = collections.defaultdict(set)  # id of a parameter -> of those with its state
        self.groups = {}
        self.filled = {}  # buffers, attributes of objects in containers -> (file, Place), or None
        self.variables = collections.defaultdict(list)  # id of an object -> roots, by all of its names
        self.is_whole = True

    def run(self, frames, seeks_cycles=False):
        self._add_frames(frame for frame in frames if not frame[1])
        for module in program_modules(self.holders.files):
            is_main = module.__name__ == "__main__"
            file = self.holders.main_file if is_main else module.__file__
            self._add_variables(vars(module), Root("", "<module>", file))
        self._search()
        # Last: what a model's call works on may be what the program itself keeps, which is told.
        self._add_frames(frame for frame in frames if frame[1])
        self._search()
        self.places = GrowingPlaces(self.variables, self.holders.files)
        for found in self.tensors:
            self._count_tensor(found)
        for found in self._keeping_first():
            self._count_graph(found)
        self.repeated = {one for ids in self.optimizers.values() if len(ids) >= SEVERAL for one in ids}
        told = Told(self)
        groups = told.joined(sorted(self.groups.values(), key=lambda group: -group.bytes))
        rows = [told.row(group) for group in groups[:MOST_HOLDERS] if group.bytes]
        growing = [row["bytes"] for row, group in zip(rows, groups) if may_grow(row, group)]
        if seeks_cycles:
            self._add_cycles(rows)
        return {"device": self.device, "is_whole": self.is_whole,
                "bytes": sum(group.bytes for group in groups), "growing_bytes": max(growing, default=0),
                "holders": rows}

    def _add_cycles(self, rows):
        """Where most of the memory is held by no variable."""
        held = sum(row["bytes"] for row in rows)
        allocated = self.torch.cuda.memory_stats(self.device).get("allocated_bytes.all.current", 0)
        if 2 * held >= allocated or self._is_late():
            return
        row = row_of_cycles(self, self.places.sources)
        if row is not None:
            rows.append(row)
            rows.sort(key=lambda one: -one["bytes"])

    # ---- where paths begin ----

    def _add_frames(self, frames):
        for frame, is_in_model in frames:
            self._add_frame(frame, is_in_model)

    def _add_frame(self, frame, is_in_model):
        code = frame.f_code
        name = "<module>" if frame.f_locals is frame.f_globals else code.co_name
        of = Root("", name, code.co_filename, code.co_firstlineno, is_in_model)
        look_at_variables(frame, lambda variables: self._add_variables(variables, of))

    def _add_variables(self, values, of):
        for name, value in list(values.items()):
            if not isinstance(name, str) or name.startswith("__") or isinstance(value, ATOMS):
                continue
            root = Root(name, of.function, of.file, of.first_line, of.is_in_model)
            self.variables[id(value)].append(root)
            self._add(value, None, name, "variable", root)

    def _add(self, thing, parent, label, step, root):
        if isinstance(thing, ATOMS) or id(thing) in self.seen:
            return
        self.seen.add(id(thing))
        self.queue.append(Found(thing, parent, label, step, root))

    # ---- from object to object, the shortest path first ----

    def _search(self):
        while self.queue or self.parameters:
            if len(self.seen) > MOST_OBJECTS or self._is_late():
                self.is_whole = False
                return
            if not self.queue:
                self._add_parameters()
                continue
            found = self.queue.popleft()
            if not isinstance(found.thing, self.torch.Tensor):
                self._add_parts(found)
            elif isinstance(found.thing, self.torch.nn.Parameter) and not is_of_module(found):
                self.seen.discard(id(found.thing))
                self.parameters.append(found)
            else:
                self._add_tensor(found)

    def _add_parameters(self):
        """Those in lists that no module has."""
        for found in self.parameters:
            if id(found.thing) not in self.seen:
                self.seen.add(id(found.thing))
                self._add_tensor(found)
        self.parameters = []

    def _is_late(self):
        return time.thread_time() > self.deadline

    def _add_tensor(self, found):
        tensor = found.thing
        self.tensors.append(found)
        if tensor.is_leaf and tensor.grad is not None:
            self._add(tensor.grad, found, ".grad", "attribute", found.root)
        self._add_attributes(found)

    def _add_parts(self, found):
        thing = found.thing
        if isinstance(thing, self.torch.optim.Optimizer):
            for parameter in vars(thing).get("state", ()):
                self.optimizers[id(parameter)].add(id(thing))
        if isinstance(thing, dict):
            for key, value in list(thing.items()):
                self._add(value, found, f"[{short_text(key)}]", "item", found.root)
                self._add(key, found, f"[{short_text(key)}]", "item", found.root)  # a tensor may be one
        elif isinstance(thing, SEQUENCES):
            for index, value in enumerate(list(thing)):
                self._add(value, found, f"[{index}]", "item", found.root)
        elif isinstance(thing, type):
            if self.holders.files.is_program(file_of_module(thing.__module__)):
                self._add_attributes(found)
        elif isinstance(thing, types.FunctionType):
            self._add_closure(found)
        elif isinstance(thing, types.TracebackType):
            self._add_referents(found, "traceback")
        else:
            self._add_attributes(found)
            if isinstance(thing, threading.local):
                self._add_attributes_in_threads(found)
            self._add_referents(found)

    def _add_attributes_in_threads(self, found):
        """threading.local() has a dictionary of attributes for each thread."""
        for threads in gc.get_referents(found.thing):
            for values in list(threads.values()) if isinstance(threads, dict) else ():
                for name, value in list(values.items()) if isinstance(values, dict) else ():
                    self._add(value, found, f".{name}", "attribute", found.root)

    def _add_closure(self, found):
        code = found.thing.__code__
        is_own = self.holders.files.is_program(code.co_filename)
        for name, cell in zip(code.co_freevars, found.thing.__closure__ or ()):
            try:
                value = cell.cell_contents
            except ValueError:  # not assigned yet
                continue
            root = Root(name, code.co_name, code.co_filename, code.co_firstlineno) if is_own else found.root
            if is_own:
                self.variables[id(value)].append(root)
            self._add(value, found, name, "closure", root)

    def _add_attributes(self, found):
        for name, value in list(attributes_of(found.thing).items()):
            self._add(value, found, f".{name}", "attribute", found.root)

    def _add_referents(self, found, step="referent"):
        for value in gc.get_referents(found.thing):
            if not isinstance(value, type):
                self._add(value, found, "", step, found.root)

    # ---- what tensors hold ----

    def is_on_device(self, tensor):
        if not tensor.is_cuda or tensor.layout is not self.torch.strided or tensor.is_nested:
            return False
        return tensor.get_device() == self.device

    def take(self, tensor):
        """The bytes of its storage on the device, the first time that it is met."""
        if not self.is_on_device(tensor):
            return 0
        address, size = self.holders.extents.span_of(tensor)
        if not address or address in self.counted:
            return 0
        self.counted.add(address)
        return size

    def _group_of(self, found):
        place = self._place_of_buffer(found)
        if place is not None:
            group = self.groups.setdefault(id(found.thing), Group(found, own_name(found)))
            group.place = place
            return group
        first, name = group_name(found, self.torch, self.kept_models)
        key = (id(first.thing) if first.step != "variable" else (found.root.name, found.root.function))
        place, attribute = self._filled_attribute(found, first)
        if place is not None:
            name += f"[…]{attribute}"
        group = self.groups.setdefault((found.root.function, key, attribute), Group(first, name))
        group.place = group.place or place
        if group.place is None and group.is_linked is None:
            self._note_links(group, found)
        return group

    def _note_links(self, group, found):
        chain = chain_of(found)
        group.is_linked = group.first is link_in(chain, self.torch)
        if group.is_linked:
            group.place = self.places.of_links(group.first, chain)

    def _place_of_buffer(self, found):
        """Of one that gets longer; the others are of their model."""
        if not is_buffer(found):
            return None
        key = type(found.parent.parent.thing), found.label
        if key not in self.filled:
            self.filled[key] = self.places.of_buffer(found)
        return self.filled[key]

    def _filled_attribute(self, found, first):
        """(file and Place, name) of what each object in a container gets behind its construction."""
        attribute = item_attribute(found, first)
        if attribute is None:
            return None, ""
        key = id(first.thing), type(attribute.parent.thing), attribute.label
        if key not in self.filled:
            self.filled[key] = self.places.of_items(first, attribute)
        return (self.filled[key], attribute.label) if self.filled[key] else (None, "")

    def _count_tensor(self, found):
        group = self._group_of(found)
        size = self.take(found.thing)
        group.note_owners(found, self.torch)
        if found.thing.is_cuda:
            group.tensors += 1
            group.scalars += found.thing.dim() == 0
            group.with_graph += found.thing.grad_fn is not None
        self._count(group, size, found, 0)

    def _count(self, group, size, found, graph):
        if not size:
            return
        group.bytes += size
        group.blocks += 1
        group.updated_bytes += size if not graph and self._is_updated(found.thing) else 0
        group.graph_bytes += graph
        if size > group.largest_bytes:
            group.largest_bytes, group.largest = size, (found, bool(graph))

    def _is_updated(self, tensor):
        """In place, again and again, by other code than an optimizer: an average of weights."""
        if tensor.grad_fn is not None or tensor.grad is not None or id(tensor) in self.kept_models.trained:
            return False
        return version_of(tensor) >= UPDATES

    def _keeping_first(self):
        """The tensors; first those that a variable collects or carries from step to step. The last result
        leads to the same graphs, but goes with the next."""
        with_graphs = [found for found in self.tensors if found.thing.grad_fn is not None]
        groups = sorted({self._group_of(found) for found in with_graphs}, key=lambda group: -group.bytes)
        for group in groups[:MOST_GROUPS]:
            group.place = group.place or self.places.of(group.first)
        return sorted(self.tensors, key=lambda found: not self._group_of(found).keeps_more())

    def _count_graph(self, found):
        node = found.thing.grad_fn
        if node is None or self.holders.has_hooks:
            return
        group = self._group_of(found)
        waiting = [node]
        while waiting:
            node = waiting.pop()
            if node is None or node in self.nodes:
                continue
            if self._is_late():
                self.is_whole = False
                return
            self.nodes.add(node)
            for tensor in self._saved_by(node):
                size = self.take(tensor)
                self._count(group, size, found, size)
            waiting += [following for following, _ in node.next_functions]

    def _saved_by(self, node):
        kind = type(node)
        names = self.holders.saved_names.get(kind)
        if names is None:
            names = [name for name in dir(kind) if name.startswith("_saved_") or name == "saved_tensors"]
            self.holders.saved_names[kind] = names
        for name in names:
            try:
                value = getattr(node, name)
            except (RuntimeError, AttributeError):
                continue  # it has been freed, or changed since
            for one in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(one, self.torch.Tensor):
                    yield one
