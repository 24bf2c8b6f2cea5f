"""How each op is called in PyTorch, where its name there is another or it is made of several."""
import torch
import torch.nn.functional as F



def batch_norm(x, mean=None, var=None, weight=None, bias=None, training=False, momentum=0.1,
               eps=1e-5):
    # The op moves its running statistics in place; the case keeps what it was given.
    copies = [None if t is None else t.clone() for t in (mean, var)]
    return F.batch_norm(x, *copies, weight, bias, training, momentum, eps)


def instance_norm(x, mean=None, var=None, *rest):
    copies = [None if t is None else t.clone() for t in (mean, var)]
    return F.instance_norm(x, *copies, *rest)


def embedding_bag(x, weight, offsets=None, mode="mean", factors=None, last=False, padding=None):
    return F.embedding_bag(x, weight, offsets, mode=mode, per_sample_weights=factors,
                           include_last_offset=last, padding_idx=padding)


def subscript(indices, dims):
    whole = slice(None)
    named = dict(zip(dims, indices))
    return tuple(named.get(dim, whole) for dim in range(max(dims) + 1))


def padded(indices, dims):
    named = dict(zip(dims or range(len(indices)), indices))
    return [named.get(dim) for dim in range(max(named) + 1)]


def gates_of(input_gates, hidden_gates, input_bias, hidden_bias, count):
    if input_bias is not None:
        input_gates, hidden_gates = input_gates + input_bias, hidden_gates + hidden_bias
    return input_gates.chunk(count, 1), hidden_gates.chunk(count, 1)


# Younger than some PyTorch that this may run with.
def rms_norm(x, shape, weight, eps):
    dims = tuple(range(-len(shape), 0))
    result = x * torch.rsqrt(x.pow(2).mean(dims, keepdim=True) + eps)
    return result if weight is None else result * weight


# The fused cells are for GPUs alone; these are their equations.
def gru_cell(input_gates, hidden_gates, hx, input_bias=None, hidden_bias=None):
    gates, hidden = gates_of(input_gates, hidden_gates, input_bias, hidden_bias, 3)
    reset, update = torch.sigmoid(gates[0] + hidden[0]), torch.sigmoid(gates[1] + hidden[1])
    new = torch.tanh(gates[2] + reset * hidden[2])
    return (hx - new) * update + new


def lstm_cell(input_gates, hidden_gates, cx, input_bias=None, hidden_bias=None):
    gates, hidden = gates_of(input_gates, hidden_gates, input_bias, hidden_bias, 4)
    entry, forget, cell, output = (a + b for a, b in zip(gates, hidden))
    next_cell = torch.sigmoid(forget) * cx + torch.sigmoid(entry) * torch.tanh(cell)
    return [torch.sigmoid(output) * torch.tanh(next_cell), next_cell]


CALLS = {
    "multilabel_soft_margin_loss": lambda x, y, weight=None, reduction="mean": F.multilabel_soft_margin_loss(
        x, y, weight, reduction=reduction),
    "parameters_to_vector": torch.nn.utils.parameters_to_vector,
    "get_total_norm": lambda tensors, norm_type=2.0: torch.nn.utils.get_total_norm(
        tensors, norm_type),
    "add": lambda x, y, alpha=1: torch.add(x, y, alpha=alpha),
    "rsub": lambda x, y, alpha=1: torch.rsub(x, y, alpha=alpha),
    "nonzero": lambda x, as_tuple=False: torch.nonzero(x, as_tuple=as_tuple),
    "sub": lambda x, y, alpha=1: torch.sub(x, y, alpha=alpha),
    "sum": lambda x, dim=None, keepdim=False, dtype=None: torch.sum(
        x, dim if dim is not None else list(range(x.dim())), keepdim, dtype=dtype),
    "mean": lambda x, dim=None, keepdim=False: torch.mean(
        x, dim if dim is not None else list(range(x.dim())), keepdim),
    "view": lambda x, shape: x.view(shape),
    "expand": lambda x, shape: x.expand(shape),
    "squeeze": lambda x, dim=None: x.squeeze() if dim is None else x.squeeze(dim),
    "contiguous": lambda x: x.contiguous(),
    "copy_": lambda x, source: x.clone().copy_(source),
    "fill_": lambda x, value: x.clone().fill_(value),
    "zero_": lambda x: x.clone().zero_(),
    "cat": lambda tensors, dim=0: torch.cat(tensors, dim),
    "stack": lambda tensors, dim=0: torch.stack(tensors, dim),
    **{name: (lambda op: lambda x, dim=None, keepdim=False: op(x) if dim is None else op(
        x, dim[0], keepdim))(getattr(torch, name)) for name in ("any", "all")},
    "argmax": lambda x, dim=None, keepdim=False: torch.argmax(x, dim, keepdim),
    "softmax": lambda x, dim, dtype=None: F.softmax(x, dim, dtype=dtype),
    "log_softmax": lambda x, dim, dtype=None: F.log_softmax(x, dim, dtype=dtype),
    "mse_loss": lambda x, t, reduction="mean": F.mse_loss(x, t, reduction=reduction),
    "l1_loss": lambda x, t, reduction="mean": F.l1_loss(x, t, reduction=reduction),
    "smooth_l1_loss": lambda x, t, reduction="mean", beta=1.0: F.smooth_l1_loss(
        x, t, reduction=reduction, beta=beta),
    "huber_loss": lambda x, t, reduction="mean", delta=1.0: F.huber_loss(
        x, t, reduction=reduction, delta=delta),
    "binary_cross_entropy": lambda x, t, weight=None, reduction="mean": F.binary_cross_entropy(
        x, t, weight=weight, reduction=reduction),
    "binary_cross_entropy_with_logits":
        lambda x, t, weight=None, reduction="mean", pos_weight=None:
        F.binary_cross_entropy_with_logits(
            x, t, weight=weight, reduction=reduction, pos_weight=pos_weight),
    "nll_loss": lambda x, t, weight=None, ignore_index=-100, reduction="mean": F.nll_loss(
        x, t, weight=weight, ignore_index=ignore_index, reduction=reduction),
    "cross_entropy": lambda x, t, weight=None, ignore_index=-100, reduction="mean", smoothing=0.0:
        F.cross_entropy(x, t, weight=weight, ignore_index=ignore_index, reduction=reduction,
                        label_smoothing=smoothing),
    "max_pool2d": F.max_pool2d,
    "max_pool3d": F.max_pool3d,
    "avg_pool2d": F.avg_pool2d,
    "adaptive_avg_pool2d": lambda x, size: F.adaptive_avg_pool2d(x, (size * 2)[:2]),
    "avg_pool3d": F.avg_pool3d,
    "adaptive_avg_pool3d": lambda x, size: F.adaptive_avg_pool3d(x, (size * 3)[:3]),
    "batch_norm": batch_norm,
    "layer_norm": F.layer_norm,
    "_weight_norm": torch._weight_norm,
    "norm_except_dim": torch.norm_except_dim,
    "embedding": F.embedding,
    "conv2d": F.conv2d,
    "conv_transpose2d": F.conv_transpose2d,
    "addmm": lambda x, a, b, beta=1, alpha=1: torch.addmm(x, a, b, beta=beta, alpha=alpha),
    "baddbmm": lambda x, a, b, beta=1, alpha=1: torch.baddbmm(x, a, b, beta=beta, alpha=alpha),
    "scaled_dot_product_attention": lambda q, k, v, mask=None, dropout_p=0.0, is_causal=False:
        F._scaled_dot_product_attention(q, k, v, mask, dropout_p, False, is_causal)[0],
    "_thnn_fused_gru_cell": gru_cell,
    "_thnn_fused_lstm_cell": lstm_cell,
    "linear": F.linear,
    "gelu": lambda x, approximate="none": F.gelu(x, approximate=approximate),
    "norm": lambda x, p=2.0, dim=None, keepdim=False, dtype=None: torch.norm(
        x, p, dim, keepdim, dtype=dtype),
    "var": lambda x, dim=None, unbiased=None, keepdim=False, correction=None: torch.var(
        x, dim if dim is not None else list(range(x.dim())), keepdim=keepdim,
        correction=correction if unbiased is None else int(unbiased)),
    "std": lambda x, dim=None, unbiased=None, keepdim=False, correction=None: torch.std(
        x, dim if dim is not None else list(range(x.dim())), keepdim=keepdim,
        correction=correction if unbiased is None else int(unbiased)),
    "sort": lambda x, dim=-1, descending=False: torch.sort(x, stable=True, dim=dim, descending=descending),
    "index": lambda x, indices, dims=None: x[subscript(indices, dims or range(len(indices)))],
    "repeat": lambda x, repeats: x.repeat(repeats),
    "interpolate": lambda x, size=None, scale_factor=None, mode="nearest", align_corners=False:
        F.interpolate(x, size, scale_factor and (scale_factor * 2)[:x.dim() - 2], mode,
                      align_corners if mode not in ("nearest", "area") else None),
    "kl_div": lambda x, t, reduction="mean", log_target=False: F.kl_div(
        x, t, reduction=reduction, log_target=log_target),
    "normalize": lambda x, p=2.0, dim=1, eps=1e-12: F.normalize(x, p, dim, eps),
    "cosine_similarity": F.cosine_similarity,
    "pairwise_distance": F.pairwise_distance,
    "rms_norm": rms_norm,
    "instance_norm": instance_norm,
    "group_norm": F.group_norm,
    "softmin": lambda x: F.softmin(x, -1),
    "prod": lambda x, dim=None, keepdim=False: x.prod() if dim is None else x.prod(dim, keepdim),
    "amax": lambda x, dim=None, keepdim=False: torch.amax(x, dim or (), keepdim),
    "amin": lambda x, dim=None, keepdim=False: torch.amin(x, dim or (), keepdim),
    "einsum": lambda equation, operands: torch.einsum(equation, operands),
    "ctc_loss": lambda x, t, lengths, target_lengths, blank=0, reduction="mean", zero=False:
        F.ctc_loss(x, t, lengths, target_lengths, blank, reduction, zero),
    "index_add": lambda x, dim, index, source, alpha=1: torch.index_add(
        x, dim, index, source, alpha=alpha),
    "one_hot": F.one_hot,
    "embedding_bag": embedding_bag,
    "slice": lambda x, dim=0, start=None, end=None, step=1: x[
        (slice(None),) * dim + (slice(start, end, step),)],
    "argsort": lambda x, dim=-1, descending=False, stable=False: torch.argsort(
        x, dim=dim, descending=descending, stable=stable),
    "margin_ranking_loss": lambda a, b, t, margin=0.0, reduction="mean": F.margin_ranking_loss(
        a, b, t, margin, reduction=reduction),
    "hinge_embedding_loss": lambda x, t, margin=1.0, reduction="mean": F.hinge_embedding_loss(
        x, t, margin, reduction=reduction),
    "triplet_margin_loss": lambda a, p, n, margin=1.0, norm=2.0, eps=1e-6, swap=False,
        reduction="mean": F.triplet_margin_loss(a, p, n, margin, norm, eps, swap,
                                                reduction=reduction),
    "poisson_nll_loss": lambda x, t, log_input=True, eps=1e-8, reduction="mean":
        F.poisson_nll_loss(x, t, log_input, False, eps=eps, reduction=reduction),
    "unflatten": lambda x, dim, sizes: x.unflatten(dim, sizes),
    "reshape_as": lambda x, other: x.reshape_as(other),
    "unfold": lambda x, dim, size, step: x.unfold(dim, size, step),
    "sum_to_size": lambda x, size: x.sum_to_size(*size),
    "broadcast_tensors": lambda tensors: torch.broadcast_tensors(*tensors),
    "meshgrid": lambda tensors, indexing="ij": torch.meshgrid(*tensors, indexing=indexing),
    "div": lambda x, y, rounding_mode=None: torch.div(x, y, rounding_mode=rounding_mode),
    "expand_as": lambda x, other: x.expand_as(other),
    "view_as": lambda x, other: x.view_as(other),
    "conv1d": F.conv1d,
    "conv_transpose1d": F.conv_transpose1d,
    "max_pool1d": F.max_pool1d,
    "avg_pool1d": F.avg_pool1d,
    "adaptive_avg_pool1d": lambda x, size: F.adaptive_avg_pool1d(x, size),
    **{name: (lambda method: lambda x, *a: getattr(x * 1.0, method)(*a))(name) for name in (
        "sigmoid_", "tanh_", "exp_", "sqrt_", "neg_", "clamp_", "log_", "log2_", "log10_", "log1p_", "sin_",
        "cos_", "tan_", "erf_", "expm1_", "rsqrt_", "reciprocal_", "floor_", "ceil_", "round_", "sign_")},
    **{name: (lambda op: lambda x, *a: op(x * 1.0, *a))(getattr(torch.Tensor, name)) for name in (
        "erfc_", "erfinv_", "lgamma_", "digamma_", "sinc_", "logit_", "trunc_",
        "frac_", "sinh_", "cosh_", "asin_", "acos_", "atan_", "exp2_", "square_", "pow_", "clamp_min_",
        "clamp_max_", "triu_", "tril_")},
    **{name: (lambda op: lambda x, *a: op(x.clone(), *a))(getattr(torch.Tensor, name)) for name in (
        "index_fill_", "index_copy_", "masked_scatter_", "logical_and_", "logical_or_", "logical_xor_",
        "logical_not_", "scatter_reduce_")},
    "addcdiv_": lambda x, a, b, value=1: x.clone().addcdiv_(a, b, value=value),
    "index_put": lambda x, indices, values, accumulate=False, dims=None: torch.ops.aten.index_put(
        x, padded(indices, dims), values, accumulate),
    "index_put_": lambda x, indices, values, accumulate=False, dims=None: torch.ops.aten.index_put_(
        x.clone(), padded(indices, dims), values, accumulate),
    "addmv": lambda x, m, v, beta=1, alpha=1: torch.addmv(x, m, v, beta=beta, alpha=alpha),
    **{name: (lambda op: lambda x, a, b, beta=1, alpha=1:
              op(x.clone(), a, b, beta=beta, alpha=alpha))(getattr(torch.Tensor, name))
       for name in ("addmm_", "baddbmm_", "addbmm_", "addmv_", "addr_", "addbmm")},
    "index_reduce": lambda x, dim, index, source, reduce, include_self=True: torch.index_reduce(
        x, dim, index, source, reduce, include_self=include_self),
    "index_reduce_": lambda x, dim, index, source, reduce, include_self=True: x.clone().index_reduce_(
        dim, index, source, reduce, include_self=include_self),
    "addr": lambda x, a, b, beta=1, alpha=1: torch.addr(x, a, b, beta=beta, alpha=alpha),
    "unique_consecutive": lambda x, inverse=False, counts=False: torch.unique_consecutive(
        x, return_inverse=inverse, return_counts=counts),
    "nanmedian": lambda x, dim=None, keepdim=False: torch.nanmedian(x) if dim is None else torch.nanmedian(
        x, dim, keepdim),
    "median": lambda x, dim=None, keepdim=False: torch.median(x) if dim is None else torch.median(x, dim, keepdim),
    **{name: (lambda op: lambda x, dim=None, unbiased=None, keepdim=False, correction=None: op(
        x, dim if dim is not None else list(range(x.dim())), keepdim=keepdim,
        correction=correction if unbiased is None else int(unbiased)))(getattr(torch, name))
       for name in ("var_mean", "std_mean")},
    "count_nonzero": lambda x, dim=None: torch.count_nonzero(x, dim),
    "scatter_reduce": lambda x, dim, index, src, reduce, include_self=True: torch.scatter_reduce(
        x, dim, index, src, reduce, include_self=include_self),
    "searchsorted": lambda row, x, int32=False, right=False, side=None: torch.searchsorted(
        row, x, out_int32=int32, right=right, side=side),
    "bucketize": lambda x, row, int32=False, right=False: torch.bucketize(
        x, row, out_int32=int32, right=right),
    "isin": lambda x, others, unique=False, invert=False: torch.isin(
        x, others, assume_unique=unique, invert=invert),
    "bincount": lambda x, weights=None, minlength=0: torch.bincount(x, weights, minlength),
    "tensor_split": lambda x, sections=None, dim=0, indices=None: torch.tensor_split(
        x, sections if indices is None else indices, dim),
    **{name: (lambda op: lambda x, sections=None, indices=None: op(
        x, sections if indices is None else indices))(getattr(torch, name))
       for name in ("hsplit", "vsplit", "dsplit")},
    "cartesian_prod": lambda tensors: torch.cartesian_prod(*tensors),
    "block_diag": lambda tensors: torch.block_diag(*tensors),
    "tensordot": lambda a, b, dims=2, of_a=None, of_b=None: torch.tensordot(
        a, b, dims if of_a is None else (of_a, of_b)),
    "cross": lambda a, b, dim=None: torch.cross(a, b) if dim is None else torch.cross(a, b, dim=dim),
    "logit": lambda x, eps=None: torch.logit(x, eps),
    "addcmul": lambda x, a, b, value=1: torch.addcmul(x, a, b, value=value),
    "addcdiv": lambda x, a, b, value=1: torch.addcdiv(x, a, b, value=value),
    "im2col": lambda x, *sizes: F.unfold(x, *[(size * 2)[:2] for size in sizes]),
    "fold": lambda x, *sizes: F.fold(x, *[(size * 2)[:2] for size in sizes]),
    "adaptive_max_pool2d": lambda x, size: F.adaptive_max_pool2d(x, (size * 2)[:2]),
    "channel_shuffle": torch.channel_shuffle,
    "affine_grid": lambda theta, size, align_corners=False: F.affine_grid(
        theta, size, align_corners=align_corners),
    "grid_sample": lambda x, grid, mode="bilinear", padding="zeros", align_corners=False:
        F.grid_sample(x, grid, mode, padding, align_corners),
    "soft_margin_loss": lambda x, t, reduction="mean": F.soft_margin_loss(
        x, t, reduction=reduction),
    "multi_margin_loss": lambda x, t, p=1, margin=1.0, weight=None, reduction="mean":
        F.multi_margin_loss(x, t, p, margin, weight, reduction=reduction),
    "cosine_embedding_loss": lambda a, b, t, margin=0.0, reduction="mean":
        F.cosine_embedding_loss(a, b, t, margin, reduction=reduction),
    "gaussian_nll_loss": lambda x, t, var, full=False, eps=1e-6, reduction="mean":
        F.gaussian_nll_loss(x, t, var, full, eps, reduction),
    **{name: getattr(F, name) for name in (
        "adaptive_max_pool1d", "pixel_unshuffle",
        "local_response_norm",
        "softsign", "tanhshrink", "pixel_shuffle",
        "silu", "leaky_relu", "elu", "hardtanh", "relu6", "hardsigmoid", "hardswish", "hardshrink",
        "softshrink", "threshold", "mish", "softplus", "logsigmoid", "glu", "pad")},
}
