"""Operators on sparse and nested tensors of the GPU (ohm exec --values cpu). PyTorch chooses their
kernels before it looks for the key of ohm_memory.py, and none of those computes anything: the host
does, with tensors on the same memory (ohm_layouts.py), and the device is told how many elements the
results have.

They are followed from the first such tensor on: programs without one do not wait for it."""
import functools

from ohm_known import NOT_COMPUTED
from ohm_layouts import count_of
from ohm_operators import MOVES_NOTHING, Operator, makes_views, tensors_in

# Used by nothing else, and in front of those of these layouts.
KEY = "Fake"
BACKENDS = ("SparseCUDA", "SparseCsrCUDA", "NestedTensorCUDA")
# They are composed of operators on the parts.
OF_PARTS = frozenset("""copy clone _to_copy detach empty_like sparse_resize sparse_resize_and_clear
    resize_as_sparse _coalesced values _values _indices""".split())
COMPOSED = "aten::_nested_tensor_from_tensor_list"  # without a kernel of these, and makes a nested one
MAKES_OTHERS = ("sparse", "nested")  # in names of operators that make such tensors


class Parts:
    def __init__(self, values):
        self.values = values
        self.torch = values.torch
        c = values.c
        self.key = c._parse_dispatch_key(KEY)
        self.keys_below = c._dispatch_keyset_full_after(self.key)
        self.has_kernel = c._dispatch_has_kernel_for_dispatch_key
        self.names = {}  # of operators that may be followed: whether they are
        self.libraries = []
        self.kinds = frozenset((self.torch.Tensor, self.torch.nn.Parameter))
        self.strided = self.torch.strided

    def register(self):
        fallthrough = self.torch.library.Library("_", "IMPL")
        fallthrough.fallback(self.torch.library.fallthrough_kernel, KEY)
        self.libraries += [fallthrough, self.torch.library.Library("aten", "IMPL")]
        for name in self.values.c._dispatch_get_all_op_names():
            if name.startswith("aten::") and self._has_layout(name):
                if self._computes(name):
                    self.names[name] = False
        self.follow_higher_order()
        self._follow(name for name in self.names if any(word in name for word in MAKES_OTHERS))

    def _has_layout(self, name):
        return name.startswith(COMPOSED) or any(self.has_kernel(name, b) for b in BACKENDS)

    def _computes(self, name):
        """Or makes a nested tensor of one that holds its values."""
        base, _, overload = name[6:].partition(".")
        schema = self.values.c._get_schema(name.partition(".")[0], overload)
        is_view = makes_views(schema) and "nested" not in name
        return (base.rstrip("_") not in OF_PARTS | MOVES_NOTHING and base not in OF_PARTS
                and not is_view and any("Tensor" in str(r.type) for r in schema.returns))

    def follow_higher_order(self):
        """Those, in Python, have no fallback."""
        compute = self.torch._ops._compute_keyset

        @functools.wraps(compute)
        def without_keys(arguments, named, keys):
            return compute(arguments, named, keys.remove(self.key).remove(self.values.key.key))

        self.torch._ops._compute_keyset = without_keys

    def _follow(self, names):
        for name in [name for name in names if not self.names[name]]:
            self.names[name] = True
            self.libraries[-1].m.impl(name[6:], KEY, self._kernel(name), True)

    def _kernel(self, name):
        operators = []

        def kernel(keys, *arguments, **named):
            if not operators:
                operators.append(Operator.named(self.torch, name, self.key))
            return self.run(operators[0], keys & self.keys_below, arguments, named)

        return kernel

    def run(self, operator, keys, arguments, named):
        if not self._is_followed(operator, arguments, named):
            result = operator.call(keys, arguments, named)
            if any(self._is_other(tensor) for tensor in tensors_in(self.torch, result)):
                self._follow(self.names)
            return result
        is_known = self.values.are_known(operator, arguments, named)
        found = NOT_COMPUTED
        if is_known and (not operator.writes or self._puts_together(operator, arguments)):
            found = self._on_host(operator, arguments, named)
        counts = self._counts(arguments, named, found)
        if operator.writes and found is not NOT_COMPUTED:
            counts = [0]  # the device compares the largest index with the size
        with self.values.memory.answers(*counts):
            result = self.values.call_alone(operator, keys, arguments, named, is_known)
        if is_known and operator.writes and found is NOT_COMPUTED:
            found = self.values.on_host(operator, arguments, named)
        self._finish(operator, arguments, named, result, found)
        return result

    def _counts(self, arguments, named, found):
        """How many elements the device finds: of the result, or of the first argument, which it may
        look through for equal places."""
        count = count_of(self.torch, found)
        if count is not None:
            return [count]
        with self.values.without_key(self.values.excluded):
            for value in (*arguments, *named.values()):
                for tensor in tensors_in(self.torch, value):
                    if tensor.layout is self.torch.sparse_coo:
                        return [self.values.moved(tensor).coalesce()._nnz()]
        return []

    def _puts_together(self, operator, arguments):
        coo = self.torch.sparse_coo
        return operator.base == "add" and all(a.layout is coo for a in arguments[:2])

    def _on_host(self, operator, arguments, named):
        """The GPU puts the elements of two sums next to each other; the CPU merges them."""
        if not self._puts_together(operator, arguments):
            return self.values.on_host(operator, arguments, named)
        with self.values.without_key(self.values.excluded):
            first, second = self.values.moved(arguments[:2])
            return self.torch.sparse_coo_tensor(
                self.torch.cat([first._indices(), second._indices()], 1),
                self.torch.cat([first._values(), second._values() * named.get("alpha", 1)]),
                first.size(), is_coalesced=False, check_invariants=False)

    def _is_followed(self, operator, arguments, named):
        if operator.makes_views:
            return False
        is_other, kinds = self._is_other, self.kinds
        for value in (*arguments, *named.values()) if named else arguments:
            if type(value) in kinds:
                if is_other(value):
                    return True
            elif type(value) in (list, tuple) and any(map(is_other, tensors_in(self.torch, value))):
                return True
        return False

    def _is_other(self, tensor):
        return (type(tensor) in self.kinds and (tensor.layout is not self.strided or tensor.is_nested
                                                or tensor.is_quantized) and tensor.is_cuda)

    def _finish(self, operator, arguments, named, result, found):
        values = self.values
        if not any(True for _ in tensors_in(self.torch, result)) and not operator.writes:
            return
        if found is NOT_COMPUTED:
            values.forget(operator, arguments, named, result)
            return
        try:
            values.take(result, found)
            for tensor in operator.written(self.torch, arguments, named):
                values.mark_known(tensor)
        except Exception as error:
            values.note(operator.base, error)
            values.forget(operator, arguments, named, result)
