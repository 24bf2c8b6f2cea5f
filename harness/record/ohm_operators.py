"""PyTorch's operators, as far as computing them on the host needs to know: which are cheap, which
arguments they read and write, and what they count on the device before they allocate their results."""

# Bases of names: of add_.Tensor and add.out it is add; of _foreach_add_ it is add, too.
COMPARISONS = """eq ne lt le gt ge logical_and logical_or logical_not logical_xor bitwise_and bitwise_or
    bitwise_not bitwise_xor bitwise_left_shift bitwise_right_shift __and__ __or__ __xor__ __iand__
    __ior__ __ixor__ __lshift__ __rshift__ isin isnan isposinf isneginf signbit""".split()
ARITHMETIC = """add sub rsub mul div remainder fmod floor_divide neg abs pow sqrt rsqrt exp exp2 expm1
    log log2 log10 log1p sign sgn floor ceil round trunc frac reciprocal clamp clamp_min clamp_max
    maximum minimum fmax fmin square sin cos tan sinh cosh tanh asin acos atan atan2 sigmoid erf erfc
    lerp addcmul addcdiv hypot copysign relu hardtanh logit gcd lcm heaviside silu xlogy
    nan_to_num threshold polar complex angle softplus softmax _softmax _log_softmax""".split()
REDUCTIONS = """sum mean any all max min amax amin aminmax argmax argmin prod cumsum cumprod cummax
    cummin _cummax_helper _cummin_helper logcumsumexp std var std_mean var_mean norm
    linalg_vector_norm count_nonzero median mode nansum nanmedian logsumexp kthvalue""".split()
PLACES = """cat flip roll repeat tril triu index_select index gather scatter scatter_add
    scatter_reduce index_put _index_put_impl _unsafe_index _unsafe_index_put index_add index_fill
    index_copy masked_fill masked_select masked_scatter take put where sort topk _unique _unique2
    unique_dim unique_consecutive bincount histc searchsorted bucketize repeat_interleave diag_embed diag
    trace embedding renorm _chunk_cat constant_pad_nd zero fill arange linspace logspace eye
    range tril_indices triu_indices segment_reduce _amp_update_scale trace dot nonzero_static
    _embedding_bag _local_scalar_dense argsort msort cross equal _convert_indices_from_coo_to_csr
    _convert_indices_from_csr_to_coo""".split()
CHEAP = frozenset(COMPARISONS + ARITHMETIC + REDUCTIONS + PLACES)

# They write all of their first argument, whatever it was.
FILLS = frozenset("copy fill zero arange linspace logspace eye range".split())
IS_RANDOM = frozenset("bernoulli cauchy exponential geometric log_normal normal random uniform".split())
# Unscales gradients (its first argument), and says whether all of them are finite.
FINDS_OVERFLOW = "_amp_foreach_non_finite_check_and_unscale"
# They make memory or say where it is; what they copy, they copy with others.
MOVES_NOTHING = frozenset("""set resize resize_as record_stream is_pinned _pin_memory is_set_to lift
    empty empty_strided empty_like new_empty new_empty_strided _cudnn_rnn_flatten_weight
    _cudnn_init_dropout_state _resize_output _reshape_alias""".split())
# They take Python's numbers for tensors.
TAKES_NUMBERS = frozenset("add div divide mul multiply sub subtract true_divide floor_divide".split())
# The GPU's operator reads what operators within it compute.
NESTED_VALUES = frozenset("""repeat_interleave bincount histc isin segment_reduce
    _to_sparse _to_sparse_csr _to_sparse_csc _to_sparse_bsr _to_sparse_bsc index _unsafe_index index_put
    _index_put_impl _unsafe_index_put masked_select masked_scatter nonzero linalg_eig
    _linalg_eigvals linalg_matrix_exp _nested_tensor_from_mask
    _nested_tensor_from_mask_left_aligned""".split())
# Arguments that an operator writes to, though its schema does not say so.
RUNNING = ("running_mean", "running_var")
HIDDEN_WRITES = {
    "native_batch_norm": RUNNING, "cudnn_batch_norm": RUNNING, "miopen_batch_norm": RUNNING,
    "_batch_norm_impl_index": RUNNING, "batch_norm_update_stats": RUNNING,
    "batch_norm_gather_stats": RUNNING, "batch_norm_gather_stats_with_counts": RUNNING,
    "rrelu_with_noise": ("noise",),
}
# Of a batch norm, for its gradient.
KEPT_IN_TRAINING = ("save_mean", "save_invstd")
# Namespaces whose operators move values between ranks.
COLLECTIVES = frozenset("c10d _c10d_functional symm_mem".split())
# They may write all of their first argument, as where a permutation is inverted.
OVERWRITES = frozenset("scatter index_copy index_put _index_put_impl _unsafe_index_put".split())
# They tell the host a value, or make a tensor whose size depends on values.
GIVES_NUMBER = frozenset("_local_scalar_dense equal".split())
UNIQUE = frozenset("_unique _unique2 unique_dim unique_consecutive".split())
HAS_COUNTED_SIZE = UNIQUE | frozenset("nonzero masked_select bincount repeat_interleave nms".split())


def rows_of_first(arguments, values):
    """The number of rows of the first result. Where the values are bools, how many are true is
    counted on the device."""
    first = values[0] if isinstance(values, (tuple, list)) else values
    return (first.shape[0] if first.dim() else first.numel(),)


def rows_of_dimension(arguments, values):
    return (values[0].shape[arguments[1]],)


def elements_of(arguments, values):
    """Of a sparse tensor."""
    return (values._nnz(),)


# Base of the name -> (arguments, values of the CPU) -> what the device counts.
COUNTS_RESULTS = {
    "_unique": rows_of_first,
    "_unique2": rows_of_first,
    "unique_dim": rows_of_dimension,
    "unique_consecutive": rows_of_first,
    **{f"_to_sparse{kind}": elements_of for kind in ("_csr", "_csc", "_bsr", "_bsc")},
}
# Those of other libraries.
COUNTS_OF_OTHERS = {"torchvision::nms": rows_of_first}


NUMBERS = (int, float, complex)  # bools are ints


class Operator:
    """One overload of an operator."""

    def __init__(self, torch, overload, key):
        self.torch = torch
        self.overload = overload
        self.name = overload._schema.name.partition("::")[2]
        self.full_name = f"{self.name}.{overload._overloadname}"
        base = self.name.removeprefix("_foreach_")
        self.base = base[:-1] if base.endswith("_") and not base.endswith("__") else base
        is_own = self.is_own = overload.namespace == "aten"
        self.is_cheap = is_own and self.base in CHEAP
        self.counts_results = (COUNTS_RESULTS.get(self.base) if is_own
                               else COUNTS_OF_OTHERS.get(overload._schema.name))
        self.moves_nothing = self.base in MOVES_NOTHING
        self.reads_nested = self.base in NESTED_VALUES
        self.returns_answer = is_own and self.base == "equal"
        self.draws = torch.Tag.nondeterministic_seeded in overload.tags
        schema = overload._schema
        self.defaults = {argument.name: argument.default_value for argument in schema.arguments}
        self.positions = [argument.name for argument in schema.arguments]
        self.takes_tensor = [str(argument.type) == "Tensor" for argument in schema.arguments]
        self.without_key = torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(key))
        self.written_names = frozenset(argument.name for argument in schema.arguments
                                       if argument.alias_info and argument.alias_info.is_write)
        self.writes = bool(self.written_names)
        self.written_names |= frozenset(HIDDEN_WRITES.get(self.base, ()) if is_own else ())
        self.makes_views = makes_views(schema)
        self.makes_results = any(r.alias_info is None for r in schema.returns)
        self.results_to = [a.name for a in schema.arguments if a.is_out]
        self.unread = frozenset(self.results_to)
        if self.base in FILLS:
            self.unread |= self.written_names

    @classmethod
    def named(cls, torch, name, key):
        """aten::add.Tensor."""
        namespace, _, rest = name.partition("::")
        base, _, overload = rest.partition(".")
        packet = getattr(getattr(torch.ops, namespace), base)
        return cls(torch, getattr(packet, overload or "default"), key)

    def call(self, keys, arguments, named):
        """The operator below ours. Numbers that stand for tensors (x * 2) are only taken where
        PyTorch dispatches anew."""
        if self._has_number_for_tensor(arguments):
            with self.without_key:
                return self.overload(*self.with_tensors(arguments), **named)
        return self.overload.redispatch(keys, *arguments, **named)

    def _has_number_for_tensor(self, arguments):
        return any(is_tensor and isinstance(value, NUMBERS)
                   for value, is_tensor in zip(arguments, self.takes_tensor))

    def with_tensors(self, arguments):
        """The arguments, where the operator takes no numbers for tensors."""
        if self.base in TAKES_NUMBERS:
            return arguments
        return [self.torch.tensor(value) if is_tensor and isinstance(value, NUMBERS) else value
                for value, is_tensor in zip(arguments, self.takes_tensor)] + list(
                    arguments[len(self.takes_tensor):])

    def full_arguments(self, arguments, named):
        """By name, with those that were left out."""
        given = dict(self.defaults)
        given.update(zip(self.positions, arguments))
        given.update(named)
        return given

    def writing_its_result(self):
        """The overload that writes this one's only result to a last argument (add.out), where the CPU has a
        kernel for it; None: there is none."""
        schema = self.overload._schema
        if len(schema.returns) != 1 or str(schema.returns[0].type) != "Tensor":
            return None
        packet = self.overload.overloadpacket
        for name in packet.overloads():
            other = getattr(packet, name)
            *same, last = other._schema.arguments or [None]
            if last is not None and last.is_out and list(map(described, same)) == list(
                    map(described, schema.arguments)):
                return other if self.torch._C._dispatch_has_kernel_for_dispatch_key(
                    other.name(), "CPU") else None
        return None

    def index_of_all(self, arguments, named):
        """(index, rows): what chooses the rows of the first argument that are written, where there are
        enough for all of them; None: it chooses none, or more than rows."""
        if self.base not in OVERWRITES:
            return None
        given = self.full_arguments(arguments, named)
        target, dimension = given["self"], given.get("dim", 0)
        index = given["index"] if "index" in given else given["indices"]
        if isinstance(index, (list, tuple)):
            index = index[0] if len(index) == 1 else None
        adds = given.get("accumulate") or given.get("reduce")
        if index is None or adds or index.dim() != 1 or index.dtype is not self.torch.int64:
            return None
        if self.base == "scatter" and target.dim() != 1 or not target.dim():
            return None
        rows = target.shape[dimension]
        return (index, rows) if 0 < rows <= index.numel() else None

    def unread_of(self, arguments, named):
        """Names of arguments that it does not read."""
        if self.base == "native_batch_norm_backward" and not self.full_arguments(arguments, named)["train"]:
            return KEPT_IN_TRAINING
        return self.unread

    def inputs(self, arguments, named):
        yield from zip(self.positions, arguments)
        yield from named.items()

    def written(self, torch, arguments, named):
        if not self.written_names:
            return
        for name, value in self.inputs(arguments, named):
            if name in self.written_names:
                yield from tensors_in(torch, value)


def described(argument):
    """Of a schema."""
    return argument.name, str(argument.type), argument.is_out


def tensors_in(torch, value):
    """Those of an argument or a result: itself, or of a list."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            if isinstance(item, torch.Tensor):
                yield item


def paired(torch, result, value):
    """(tensor, its value) of results: None where there is none."""
    if isinstance(result, torch.Tensor):
        yield result, value if isinstance(value, torch.Tensor) else None
    elif isinstance(result, (list, tuple)) and isinstance(value, (list, tuple)):
        for inner, inner_value in zip(result, value):
            yield from paired(torch, inner, inner_value)


def makes_views(schema):
    return any(r.alias_info and not r.alias_info.is_write for r in schema.returns)


def is_written_in_python(torch, overload):
    """Of an operator of another library."""
    name = overload.name().replace("::", "/")
    kernels = getattr(torch.library, "_impls", ())
    return any(f"{name}/{key}" in kernels for key in ("CUDA", "CompositeExplicitAutograd"))
