"""What libohm_cuda.so knows of device memory (allocator_shim/interpose/known_values.h), and the tensors
that may hold known values.

A tensor that may hold known values carries a dispatch key of its own, so that PyTorch calls the
kernels of ohm_known.py for it, and for no other tensor: steps of training, whose values no kernel
computes, run as fast as without. The key says that values may be known; whether they are is asked of
the library, by address. On the host it is the other way round: there the key marks a tensor whose
values were copied from unknown memory."""
import atexit
import contextlib
import ctypes
import gc

# Of no backend, and not used by PyTorch; below autograd and autocast, above the backends.
KEY = "CustomRNGKeyId"


class DeviceMemory:
    """The library's functions. Addresses and sizes are bytes.

    They keep Python's lock: they are short, call nothing of Python's, and are called so often that a
    busy thread would otherwise take its turn at each."""

    def __init__(self, library):
        self.library = library
        library = ctypes.PyDLL(None, handle=library._handle)
        for name in ("mark_known", "mark_unknown", "is_known", "mark_provisionally"):
            function = library[f"ohm_{name}"]
            function.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
            function.restype = ctypes.c_int if name == "is_known" else None
            setattr(self, name, function)
        self.confirm = library.ohm_confirm_values
        self.confirm.restype = None
        self.answer, self.end_answers = library.ohm_answer_reads, library.ohm_end_answers
        self.follower = self.judge = None

    def follow_reads(self, follower):
        """follower(): after each copy of unknown bytes to the host."""
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t)
        self.follower = kind(lambda address, size: follower())
        self.library.ohm_follow_unknown_reads(self.follower)
        atexit.register(self.library.ohm_follow_unknown_reads, None)

    def follow_work(self, judge):
        """judge(): of each piece of work that follows what was marked provisionally."""
        self.judge = ctypes.CFUNCTYPE(ctypes.c_int)(judge)
        self.library.ohm_follow_work(self.judge)
        atexit.register(self.library.ohm_follow_work, None)

    def compute_values(self):
        """Blocks are known from their allocation on, and copies of any size are done."""
        self.library.ohm_compute_values()

    @contextlib.contextmanager
    def answers(self, *counts):
        """What operators of this thread read as the number of their results."""
        self.answer((ctypes.c_int64 * len(counts))(*counts), len(counts))
        try:
            yield
        finally:
            self.end_answers()

    def note_assumption(self, name):
        self.library.ohm_note_assumption(name.encode())


class TensorKey:
    """Sets the key on tensors. PyTorch has no function for that: the word of a tensor that holds its
    keys is found by comparing tensors of different keys. Raises RuntimeError where it is not."""

    def __init__(self, torch):
        c = torch._C
        self.key = c._parse_dispatch_key(KEY)
        self.bit = c.DispatchKeySet(self.key).raw_repr()
        self.offset = self._find_offset(torch)

    @staticmethod
    def _find_offset(torch):
        samples = [torch.empty(2), torch.empty(2, device="meta"), torch.empty(1, dtype=torch.int8),
                   torch.nn.Parameter(torch.empty(1))]
        return offset_of("keys of a tensor", [
            (sample._cdata, torch._C._dispatch_keys(sample).raw_repr()) for sample in samples])

    def _word(self, tensor):
        return ctypes.c_uint64.from_address(tensor._cdata + self.offset)

    def has(self, tensor):
        return self._word(tensor).value & self.bit != 0

    def add(self, tensor):
        self._word(tensor).value |= self.bit

    def remove(self, tensor):
        word = self._word(tensor)
        word.value &= ~self.bit


class StorageFields:
    """Where tensors have their memory, read without asking PyTorch for the storage: an object of Python's
    that is made for a storage stays with it, and autograd, which takes it for another holder, adds
    gradients elsewhere. Raises RuntimeError where the fields are not found."""

    def __init__(self, torch):
        self.samples = [torch.empty(size, dtype=torch.int8) for size in (12345, 23456, 34567)]
        self.storages = [sample.untyped_storage() for sample in self.samples]
        self.place = offset_of("storage of a tensor", [
            (sample._cdata, storage._cdata) for sample, storage in zip(self.samples, self.storages)])
        self.size = offset_of("size of a storage", [
            (storage._cdata, storage.nbytes()) for storage in self.storages])

    def address_of(self, tensor):
        """Of the storage itself; 0: it has none."""
        return word_at(tensor._cdata + self.place).value

    def bytes_of(self, tensor):
        return word_at(self.address_of(tensor) + self.size).value


class TensorStorage(StorageFields):
    """Also how many hold a storage."""

    def __init__(self, torch):
        super().__init__(torch)
        self.count = torch._C._storage_Use_Count
        self.object = offset_of("object of a storage", [
            (storage._cdata, id(storage)) for storage in self.storages])
        sample = self.samples[0]
        del self.samples, self.storages
        untouched = torch.empty(1)
        self.alone = self.count(self.address_of(untouched))
        self.with_object = self.count(self.address_of(sample)) - self.alone

    def others(self, tensor):
        """How many hold the storage beside the tensor and Python's object."""
        address = self.address_of(tensor)
        has_object = word_at(address + self.object).value != 0
        return self.count(address) - self.alone - (self.with_object if has_object else 0)


class StorageExtents:
    """Addresses and bytes of storages; where the fields are not found, those of the tensors."""

    def __init__(self, torch):
        self.fields = None
        with contextlib.suppress(RuntimeError):
            fields = StorageFields(torch)
            self.data = offset_of("memory of a storage", [
                (storage._cdata, storage.data_ptr()) for storage in fields.storages], first=True)
            self.fields = fields
            del fields.samples, fields.storages

    def span_of(self, tensor):
        """(first address, bytes) of its storage."""
        if self.fields is None:
            return span_of(tensor)
        storage = self.fields.address_of(tensor)
        if not storage:
            return 0, 0
        return word_at(storage + self.data).value, self.fields.bytes_of(tensor)


word_at = ctypes.c_uint64.from_address
MOST_WORDS = 28  # of a tensor; a storage has fewer, and lies in a larger block


def offset_of(name, samples, first=False):
    """Where objects have a word. samples: (address of an object, the word) of several. first: the word may
    stand there more than once."""
    offsets = set(range(0, MOST_WORDS * 8, 8))
    for address, word in samples:
        offsets = {offset for offset in offsets if word_at(address + offset).value == word}
    if not offsets or len(offsets) > 1 and not first:
        raise RuntimeError(f"the {name} is not found in this version of PyTorch")
    return min(offsets)


def is_plain(torch, tensor):
    """Of the GPU, with its elements in memory of its own: neither sparse nor nested."""
    return tensor.is_cuda and tensor.layout is torch.strided and not tensor.is_nested


def span_of(tensor):
    """(first address, bytes) from its first to its last element."""
    size = tensor.numel()
    if size and not tensor.is_contiguous():
        size = 1 + sum((n - 1) * s for n, s in zip(tensor.size(), tensor.stride()))
    return tensor.data_ptr(), size * tensor.element_size()


def zeros_of(tensor):
    """The arguments of memset."""
    address, size = span_of(tensor)
    return address, 0, size


def is_dense(tensor):
    """Whether its elements are all that lies between its first and its last one."""
    if tensor.is_contiguous():
        return True
    return span_of(tensor)[1] == tensor.numel() * tensor.element_size() and 0 not in tensor.stride()


def without_collections(kernel):
    """What a kernel makes for itself does not decide when Python looks for cycles, and with them when
    a program's tensors go."""

    def call(*arguments, **named):
        if not gc.isenabled():
            return kernel(*arguments, **named)
        gc.disable()
        try:
            return kernel(*arguments, **named)
        finally:
            gc.enable()

    return call
