"""Values that travel between ranks, and between the GPUs of a process.

The library moves them and says which of the memory they arrive in is known
(allocator_shim/interpose/collective.h). PyTorch's tensors on that memory carry no key until then: they
are what a program made to receive something. After each collective that a program asks for, the key of
all its tensors is what the library says. Those that PyTorch asks for itself go on with copies, which ask
the library."""
import functools
import threading
import weakref

from ohm_memory import KEY, span_of

FUNCTIONAL = "_c10d_functional"
# Of torch._C: what DataParallel and torch.cuda.nccl move between the GPUs of a process.
WITHIN_PROCESS = """_broadcast _broadcast_out _broadcast_coalesced _scatter _scatter_out _gather
    _gather_out _nccl_all_gather _nccl_all_reduce _nccl_broadcast _nccl_reduce
    _nccl_reduce_scatter""".split()
GATHERS = "_gather", "_gather_out"
# Of torch.distributed.ProcessGroup, in whichever version; those that only send change nothing.
OF_GROUPS = """_allgather_base _reduce_scatter_base all_gather_single all_gather_single_coalesced
    all_to_all_single allgather allgather_coalesced allgather_into_tensor_coalesced allreduce
    allreduce_coalesced alltoall alltoall_base broadcast gather gather_into_tensor gather_single recv
    recv_anysource reduce reduce_scatter reduce_scatter_single reduce_scatter_single_coalesced
    reduce_scatter_tensor_coalesced scatter""".split()


class _Thread(threading.local):
    waiting = None  # tensors of collectives that are done together; None: each at once


class Collectives:
    """Of KnownValues."""

    def __init__(self, torch, known):
        self.torch = torch
        self.known = known
        self.thread = _Thread()
        self.unknown_after = weakref.WeakKeyDictionary()  # work -> tensors of the host
        self.library = None  # of registrations, which last as long as it

    def follow(self, instead_of):
        """instead_of(function, module): decorates what is called in its place."""
        decorate = functools.partial(self._replace, instead_of)
        for name in WITHIN_PROCESS:
            decorate(self.torch._C, name, self.torch.cuda, self._gather if name in GATHERS else self._after)
        if not self.torch.distributed.is_available():
            return
        group = self.torch.distributed.ProcessGroup
        for name in OF_GROUPS:
            decorate(group, name, self.torch.distributed, self._after)
        decorate(group, "_start_coalescing", self.torch.distributed, self._start)
        decorate(group, "_end_coalescing", self.torch.distributed, self._end)
        decorate(self.torch.distributed.Work, "wait", self.torch.distributed, self._wait)
        self._follow_functional()

    def _replace(self, instead_of, home, name, module, call_instead):
        function = getattr(home, name, None)
        if function is None:
            return

        @instead_of(function, module)
        def call(*arguments, **named):
            return call_instead(function, arguments, named)

        setattr(home, name, call)

    def _follow_functional(self):
        """Functional collectives are operators, whatever calls them. The kernel that they have for all
        backends is called as for the host."""
        prefix = f"{FUNCTIONAL}::"
        self.library = self.torch.library.Library(FUNCTIONAL, "IMPL")
        for name in self.torch._C._dispatch_get_all_op_names():
            if name.startswith(prefix):
                base, _, overload = name.removeprefix(prefix).partition(".")
                packet = getattr(getattr(self.torch.ops, FUNCTIONAL), base)
                kernel = self._kernel(getattr(packet, overload or "default"))
                for key in ("CUDA", KEY):
                    self.library.impl(name.removeprefix(prefix), kernel, key)

    def _kernel(self, overload):
        def kernel(*arguments, **named):
            result = overload.redispatch(self.known.host_keys, *arguments, **named)
            self.look_at((arguments, result))
            return result

        return kernel

    # ---- calls ----

    def _after(self, function, arguments, named):
        result = function(*arguments, **named)
        values = (arguments, tuple(named.values()), result)
        self._spread_on_host(values, result)
        if self.thread.waiting is None:
            self.look_at(values)
        else:
            self.thread.waiting.append(values)
        return result

    def _gather(self, function, arguments, named):
        """What it copies the tensors to has a view for each meanwhile, so that it does not get the key."""
        result = self._after(function, arguments, named)
        target = result if isinstance(result, self.torch.Tensor) else arguments[1]
        if isinstance(target, self.torch.Tensor) and target.is_cuda and all(map(self.known.is_known, arguments[0])):
            self.known.mark_known(target)
        return result

    def _start(self, function, arguments, named):
        self.thread.waiting = []
        return function(*arguments, **named)

    def _end(self, function, arguments, named):
        values, self.thread.waiting = self.thread.waiting, None
        result = function(*arguments, **named)
        self.look_at(values or ())
        return result

    def look_at(self, value):
        """The library knows what the GPU's tensors hold by now."""
        tensors = [tensor for tensor in self._tensors(value) if tensor.is_cuda]
        self.known.sharing.give_key_to_all(tensors)
        for tensor in tensors:
            if tensor.numel() and self.known.memory.is_known(*span_of(tensor)):
                self.known.mark_known(tensor)
            else:
                self.known.sharing.take_key(tensor)

    def _spread_on_host(self, value, work):
        """Other libraries (gloo) move tensors of the host: where one is unknown, so are the others of
        this rank, once the work is done."""
        on_host = [tensor for tensor in self._tensors(value) if tensor.device.type == "cpu"]
        if any(map(self.known.is_unknown, on_host)):
            self._mark_unknown(on_host)
            if isinstance(work, self.torch.distributed.Work):
                self.unknown_after[work] = on_host

    def _wait(self, function, arguments, named):
        result = function(*arguments, **named)
        if self.unknown_after:
            self._mark_unknown(self.unknown_after.pop(arguments[0], ()))
        return result

    def _mark_unknown(self, tensors):
        for tensor in tensors:
            self.known.mark_unknown(tensor)

    def _tensors(self, value):
        """However deep in lists; not those of subclasses, which have no memory of their own."""
        if type(value) in (self.torch.Tensor, self.torch.nn.Parameter):
            yield value
        elif isinstance(value, (list, tuple)):
            for item in value:
                yield from self._tensors(item)
