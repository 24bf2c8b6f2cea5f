"""Memory of the host that is known by several names: other tensors, and arrays of NumPy.

The key says of a tensor of the host that its values are unknown (ohm_memory.py), and PyTorch does not tell
which others lie on the same memory (parameter.data, views that were made before). So Python is asked for
all its tensors, once for those that it has."""
import gc
import sys
import weakref

from ohm_memory import TensorStorage, span_of

# References to an array that is_held has itself.
OF_IS_HELD = 2


class HostAliases:
    """Of KnownValues."""

    def __init__(self, torch, known):
        self.torch = torch
        self.known = known
        self.storages = TensorStorage(torch)
        self.found = {}  # address of a storage -> weak references to its tensors
        self.arrays = {}  # address of a storage -> (weak reference to an array, holds it, first address, end)

    def follow(self, replace):
        """replace(home, name, call): call(function, arguments, named) in place of home.name."""
        replace(self.torch, "from_numpy", self._of_array)
        replace(self.torch, "as_tensor", self._of_array)
        replace(self.torch.Tensor, "numpy", self._to_array)
        replace(self.torch.Tensor, "__dlpack__", self._show)

    # ---- arrays ----

    def _of_array(self, function, arguments, named):
        result = function(*arguments, **named)
        if arguments and type(arguments[0]).__name__ == "ndarray":
            self._keep(arguments[0], result, True)
        return result

    def _to_array(self, function, arguments, named):
        result = function(*arguments, **named)
        self._keep(result, arguments[0], False)
        return result

    def _keep(self, array, tensor, is_holder):
        """is_holder: whether the tensor holds the array, and not the other way round."""
        if self.torch.compiler.is_compiling() or type(tensor) is not self.torch.Tensor or not tensor.is_cpu:
            return
        address, size = span_of(tensor)
        storage = self.storages.address_of(tensor)
        self.arrays[storage] = weakref.ref(array), is_holder, address, address + size

    def _show(self, function, arguments, named):
        """To whoever reads it: from_dlpack of other libraries."""
        tensor = arguments[0]
        if tensor.device.type == "cpu" and self.known.is_unknown(tensor):
            self.known.reads.note_value()
        return function(*arguments, **named)

    def is_array(self, tensor):
        """Whether a program reads this memory as an array."""
        found = self.arrays.get(self.storages.address_of(tensor))
        if found is None:
            return False
        kept, is_holder, first, end = found
        return overlaps(tensor, first, end) and is_held(kept(), is_holder)

    # ---- tensors ----

    def of(self, tensor):
        """Other tensors on the memory of one."""
        others = self.storages.others(tensor)
        if others <= (tensor._base is not None):
            return [tensor._base] * others
        found = self._found(tensor)
        if len(found) < others:
            self._ask()
            found = self._found(tensor)
        begin, size = span_of(tensor)
        return [alias for alias in found if overlaps(alias, begin, begin + size)]

    def is_unknown(self, storage):
        """Whether a tensor that lies there has unknown values."""
        if not self.known.reads.are_on_host:
            return False
        self._ask()
        tensors = [kept() for kept in self.found.get(storage._cdata, ())]
        return any(tensor is not None and self.known.key.has(tensor) for tensor in tensors)

    def _found(self, tensor):
        address = self.storages.address_of(tensor)
        tensors = [kept() for kept in self.found.get(address, ())]
        return [alias for alias in tensors if alias is not None and alias is not tensor
                and self.storages.address_of(alias) == address]

    def _ask(self):
        """Python, of all its tensors of the host."""
        self.found.clear()
        kinds = self.torch.Tensor, self.torch.nn.Parameter
        for thing in gc.get_objects():
            if type(thing) in kinds and thing.is_cpu and thing.layout is self.torch.strided:
                address = self.storages.address_of(thing)
                self.found.setdefault(address, []).append(weakref.ref(thing))


def overlaps(tensor, begin, end):
    address, size = span_of(tensor)
    return address < end and begin < address + size


def is_held(array, by_others):
    """Whether a program has the array, or a view of it: by_others, how many hold it beside the program."""
    while array is not None and type(array).__name__ == "ndarray":
        if sys.getrefcount(array) > OF_IS_HELD + by_others:
            return True
        array, by_others = array.base, 1  # which the view holds
    return False
