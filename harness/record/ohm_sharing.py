"""Tensors that share memory.

What an operator writes is followed where the tensor that it writes to carries the key (ohm_memory.py).
So memory is known only while all tensors on it carry the key: tensors that are made of another inherit
it, and the first one gets it while there is no other. Memory that has other tensors by then, or that
other libraries write to, stays unknown."""
import collections

from ohm_memory import TensorStorage, span_of


class Sharing:
    def __init__(self, torch, memory, key):
        self.torch = torch
        self.memory = memory
        self.key = key
        self.storages = TensorStorage(torch)
        self.count = torch._C._storage_Use_Count
        storage = torch.UntypedStorage(1)
        self.alone_storage = self.count(storage._cdata)
        self.exported = {}  # (first address, end) of what is written to by others -> its storages

    def _is_alone(self, tensor):
        """But for the tensor that it is a view of."""
        return self.storages.others(tensor) == (tensor._base is not None)

    def give_key(self, tensor):
        """To a tensor whose memory becomes known; False: it has to stay unknown."""
        if self.exported and self._is_exported(tensor):
            return False
        if self.key.has(tensor):
            return True
        if not self._is_alone(tensor):
            return False
        self.key.add(tensor)
        if tensor._base is not None:
            self.key.add(tensor._base)
        return True

    def give_key_to_all(self, tensors):
        """Of tensors that are new, to those that share their memory with each other alone."""
        by_storage = collections.defaultdict(list)
        for tensor in {id(tensor): tensor for tensor in tensors}.values():
            if tensor._base is None and not self.key.has(tensor):
                by_storage[self.storages.address_of(tensor)].append(tensor)
        for sharing in by_storage.values():
            if len(sharing) > 1 and self.storages.others(sharing[0]) + 1 == len(sharing):
                for tensor in sharing:
                    self.key.add(tensor)

    def take_key(self, tensor):
        """Of a tensor whose memory is unknown now; others on the same memory may hold known values."""
        if not self.key.has(tensor):
            return
        is_whole = span_of(tensor)[1] == self.storages.bytes_of(tensor)
        if is_whole and self._is_alone(tensor):
            self.key.remove(tensor)
            if tensor._base is not None:
                self.key.remove(tensor._base)

    # ---- tensors that are made of memory ----

    def follow(self, replace):
        """replace(home, name, call): call(function, arguments, named) in place of home.name."""
        tensor = self.torch.Tensor
        replace(tensor, "set_", self._set)
        replace(self.torch.UntypedStorage, "copy_", self._copy_storage)
        replace(tensor, "__dlpack__", self._export)
        for home in (self.torch, self.torch.utils.dlpack):
            replace(home, "to_dlpack", self._export)
            replace(home, "from_dlpack", self._import)
        shown = tensor.__cuda_array_interface__.fget

        def interface(tensor):
            self.export(tensor)
            return shown(tensor)

        tensor.__cuda_array_interface__ = property(interface)

    def _set(self, function, arguments, named):
        tensor = function(*arguments, **named)
        if self._is_of_device(tensor) and tensor.numel():
            if self.memory.is_known(*span_of(tensor)):
                self.key.add(tensor)
            elif not self._is_alone(tensor):
                self.export(tensor)
        return tensor

    def _copy_storage(self, function, arguments, named):
        """Of a storage without a tensor, which the next tensor on it will have with its values."""
        result = function(*arguments, **named)
        target, source = arguments[:2]
        is_new = target.device.type == "cuda" and self.count(target._cdata) == self.alone_storage
        if is_new and self._holds_known(source):
            self.memory.mark_known(target.data_ptr(), target.nbytes())
        return result

    def _holds_known(self, storage):
        if storage.device.type != "cuda":
            return True
        return self.memory.is_known(storage.data_ptr(), storage.nbytes())

    # ---- memory that others write to ----

    def _export(self, function, arguments, named):
        self.export(arguments[0])
        return function(*arguments, **named)

    def _import(self, function, arguments, named):
        result = function(*arguments, **named)
        self.export(result)
        return result

    def export(self, tensor):
        if not self._is_of_device(tensor):
            return
        storage = tensor.untyped_storage()
        address, size = storage.data_ptr(), storage.nbytes()
        self.memory.mark_unknown(address, size)
        kept = self.torch.multiprocessing.reductions.StorageWeakRef(storage)
        self.exported.setdefault((address, address + size), []).append(kept)

    def _is_of_device(self, tensor):
        is_plain = type(tensor) in (self.torch.Tensor, self.torch.nn.Parameter)
        return is_plain and tensor.is_cuda and tensor.layout is self.torch.strided

    def _is_exported(self, tensor):
        address, size = span_of(tensor)
        for (begin, end), storages in list(self.exported.items()):
            if all(storage.expired() for storage in storages):
                del self.exported[begin, end]
            elif address < end and begin < address + size:
                return True
        return False
