"""Values of the host that were read of unknown memory, where they go on as copies: through copy, pickle,
files, other processes, and bytes of storages.

A file says nothing of that. Tensors that are read from one are unknown where the process has written
unknown ones that look the same to any."""
import contextlib
import ctypes
import functools
import importlib
import sys
import weakref

from ohm_imports import when_imported
from ohm_memory import span_of
from ohm_reads import tracked

MOST_COMPARED = 512  # bytes


class HostValues:
    """Of KnownValues."""

    def __init__(self, torch, known):
        self.torch = torch
        self.known = known
        self.written = set()  # looks
        self.rated = None  # id -> optimizers whose learning rates the program sets where a branch says so
        self.follows_all_rates = False  # where it is not known which optimizer's

    def follow(self, replace):
        """replace(home, name, call): call(function, arguments, named) in place of home.name."""
        replace(self.torch.Tensor, "__deepcopy__", self._copy)
        replace(self.torch.Tensor, "__reduce_ex__", self._write)
        replace(self.torch._utils, "_rebuild_tensor", self._read)
        replace(self.torch._tensor_str, "_str", self._make_text)
        self._follow_processes()
        self._follow_sizes(replace)
        when_imported("safetensors.torch", functools.partial(self._follow_safetensors, replace))
        for home in (self.torch.UntypedStorage, self.torch.storage.TypedStorage):
            replace(home, "tolist", self._read_storage)
            replace(home, "__getitem__", self._read_storage)
        if not self.known.includes_key:
            for home in (self.torch.Tensor, self.torch.UntypedStorage, self.torch.storage.TypedStorage):
                replace(home, "data_ptr", self._tell_address)

    def _is_unknown(self, tensor):
        if type(tensor) not in (self.torch.Tensor, self.torch.nn.Parameter):
            return False
        if tensor.layout is not self.torch.strided or tensor.device.type not in ("cpu", "cuda"):
            return False
        return tensor.numel() != 0 and not self.known.is_known(tensor)

    def _make_text(self, function, arguments, named):
        with self.known.reads.ignored(), self.known.selection.of_text():
            text = function(*arguments, **named)
        if self._is_unknown(arguments[0]):
            self.known.reads.note_text()
        return text

    def _follow_safetensors(self, replace, module):
        for name in ("save", "save_file"):
            replace(module, name, self._write_all)
        for name in ("load", "load_file"):
            replace(module, name, self._read_all)

    def _write_all(self, function, arguments, named):
        tensors = arguments[0] if arguments else named.get("tensors", {})
        self.written.update(look_of(tensor) for tensor in tensors.values() if self._is_unknown(tensor))
        return function(*arguments, **named)

    def _read_all(self, function, arguments, named):
        result = function(*arguments, **named)
        for tensor in result.values():
            self._recognize(tensor)
        return result

    def _copy(self, function, arguments, named):
        result = function(*arguments, **named)
        if arguments[0].device.type == "cpu" and self._is_unknown(arguments[0]):
            self.known.mark_unknown(result)
        return result

    def _write(self, function, arguments, named):
        tensor = arguments[0]
        if self._is_unknown(tensor):
            self.written.add(look_of(tensor))
        return function(*arguments, **named)

    def _follow_processes(self):
        """Tensors and numbers go to other processes, where nothing follows them, and to files."""
        with contextlib.suppress(AttributeError):  # before PyTorch 2.5
            self.torch.serialization.add_safe_globals([kind.plain for kind in self.known.reads.number_types])
        with contextlib.suppress(ImportError, AttributeError):
            importlib.import_module("torch.multiprocessing.reductions")
            pickler = importlib.import_module("multiprocessing.reduction").ForkingPickler
            for kind in (self.torch.Tensor, self.torch.nn.Parameter):
                pickler.register(kind, self._noting(pickler._extra_reducers[kind], self._is_unknown))
            for kind in self.known.reads.number_types:
                pickler.register(kind, self._noting(kind.__reduce__, lambda number: True))

    def _follow_sizes(self, replace):
        """Functions that take sizes from tensors on the host without an operator."""
        sequences = importlib.import_module("torch.nn.utils.rnn")
        for name in ("pack_padded_sequence", "unpad_sequence"):
            replace(sequences, name, functools.partial(self._take_sizes, "lengths"))
        for home in (self.torch, self.torch.Tensor):
            replace(home, "tensor_split", functools.partial(self._take_sizes, "indices_or_sections"))
            replace(home, "multinomial", self._draw)
        replace(self.torch, "sparse_coo_tensor", self._make_sparse)
        replace(self.torch.optim.lr_scheduler.ReduceLROnPlateau, "step", self._reduce_rate)
        replace(self.torch.optim.Optimizer, "__init__", self._make_optimizer)
        self.known.reads.uses.on_rates = self._follow_rates

    def _take_sizes(self, name, function, arguments, named):
        sizes = arguments[1] if len(arguments) > 1 else named.get(name)
        if self._is_unknown(sizes):
            self.known.reads.note_shape()
        return function(*arguments, **named)

    def _reduce_rate(self, function, arguments, named):
        """The learning rate goes on as a number that tells itself."""
        score = arguments[1] if len(arguments) > 1 else named.get("metrics")
        result = function(*arguments, **named)
        is_tensor = isinstance(score, self.torch.Tensor)
        if self._is_unknown(score) if is_tensor else isinstance(score, self.known.reads.number_types):
            scheduler = arguments[0]
            track_rates(scheduler.optimizer.param_groups)
            scheduler._last_lr = [group["lr"] for group in scheduler.optimizer.param_groups]
        return result

    def _follow_rates(self, optimizer):
        """Those that the program sets itself, of an optimizer or of one that is not known (None)."""
        if self.rated is None:
            self.rated = {}
            optimizers = importlib.import_module("torch.optim.optimizer")
            optimizers.register_optimizer_step_pre_hook(self._track_rates)
        if optimizer is None:
            self.follows_all_rates = True
        else:
            self.rated[id(optimizer)] = weakref.ref(optimizer)

    def _make_optimizer(self, function, arguments, named):
        """One that is made after such a branch may be given a rate that it has set."""
        if self.rated is not None:
            self.rated[id(arguments[0])] = weakref.ref(arguments[0])
        return function(*arguments, **named)

    def _track_rates(self, optimizer, *_):
        groups = getattr(optimizer, "param_groups", ())
        rated = (one() for one in self.rated.values())
        if self.follows_all_rates or any(share_one(getattr(one, "param_groups", ()), groups) for one in rated):
            track_rates(groups)

    def _make_sparse(self, function, arguments, named):
        """Without a size it is as large as its largest indices."""
        has_size = len(arguments) > 2 or named.get("size") is not None
        if not has_size and arguments and self._is_unknown(arguments[0]):
            self.known.reads.note_shape()
        return function(*arguments, **named)

    def _draw(self, function, arguments, named):
        """By weights, which must not all be zero."""
        try:
            return function(*arguments, **named)
        except RuntimeError:
            if self._is_unknown(arguments[0]):
                self.known.reads.note_value()
            raise

    def _noting(self, reduce, is_unknown):
        def call(value):
            if is_unknown(value):
                self.known.reads.note_value()
            return reduce(value)

        return call

    def _read_storage(self, function, arguments, named):
        """Of bytes."""
        if self._is_unknown_storage(arguments[0]):
            self.known.reads.note_value()
        return function(*arguments, **named)

    def _is_unknown_storage(self, storage):
        storage = getattr(storage, "_untyped_storage", storage)
        return storage.device.type == "cpu" and self.known.host_aliases.is_unknown(storage)

    def _tell_address(self, function, arguments, named):
        """To a file of the user's that reads memory by itself."""
        reads = self.known.reads
        if reads.are_on_host and self._is_unknown_memory(arguments[0]):
            if reads.uses.mentions(sys._getframe(2), "ctypes"):  # the one that calls data_ptr
                reads.note_value()
        return function(*arguments, **named)

    def _is_unknown_memory(self, holder):
        if isinstance(holder, self.torch.Tensor):
            return holder.is_cpu and self.known.key.has(holder)
        return self._is_unknown_storage(holder)

    def _read(self, function, arguments, named):
        result = function(*arguments, **named)
        self._recognize(result)
        return result

    def _recognize(self, tensor):
        if self.written and tensor.device.type in ("cpu", "cuda") and look_of(tensor) in self.written:
            self.known.mark_unknown(tensor)


def track_rates(groups):
    for group in groups:
        if "lr" in group:
            group["lr"] = tracked(group["lr"])


def share_one(some, others):
    return any(one is other for one in some for other in others)


def look_of(tensor):
    address, size = span_of(tensor)
    return tensor.dtype, tensor.shape, ctypes.string_at(address, min(size, MOST_COMPARED))
