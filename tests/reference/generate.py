#!/usr/bin/env python3
"""Records what PyTorch computes for every op: tests/golden/reference/FAMILY.json.

Run it with any PyTorch for the CPU (Debian: python3-torch); the tests read the files alone. Each
case names an op as the registry does, with its arguments in the registry's order. Tensors in
`const()` get no gradient. A result's own gradient is drawn like everything else from a generator
that is seeded by the case's name, so that a new case changes no other. Families that are named as
arguments are written alone.
"""
import json
import math
import pathlib
import sys
import zlib

import torch
import torch.nn.functional as F

OUT = pathlib.Path(__file__).resolve().parent.parent / "golden" / "reference"


class Const:
    def __init__(self, tensor):
        self.tensor = tensor


const = Const


def randn(*shape, dtype=torch.float32):
    drawn = torch.complex128 if dtype.is_complex else torch.float64
    return torch.randn(shape, dtype=drawn).to(dtype)


def positive(*shape, dtype=torch.float32):
    return (torch.rand(shape, dtype=torch.float64) + 0.1).to(dtype)


def integers(high, *shape):
    return torch.randint(0, high, shape)


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
    **{f"fft_{name}": getattr(torch.fft, name) for name in (
        "fft", "ifft", "rfft", "irfft", "fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn",
        "irfftn", "fftshift", "ifftshift", "fftfreq", "rfftfreq")},
    "lp_pool1d": F.lp_pool1d,
    "lp_pool2d": F.lp_pool2d,
    "lp_pool3d": lambda x, *options: F.lp_pool3d(x, *options),
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
    "squeeze_": lambda x, dim=None: x.clone().squeeze_() if dim is None else x.clone().squeeze_(dim),
    **{name: (lambda op: lambda x, *dims: op(x.clone(), *dims))(getattr(torch.Tensor, name)) for name in (
        "unsqueeze_", "t_", "transpose_", "swapaxes_")},
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
    "argsort": lambda x, dim=-1, descending=False: torch.argsort(x, dim, descending),
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
    "bilinear": F.bilinear,
    "rrelu": F.rrelu,
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
        "logical_not_", "put_", "scatter_reduce_", "fill_diagonal_", "bitwise_and_", "bitwise_or_",
        "bitwise_xor_", "bitwise_not_", "bitwise_left_shift_", "bitwise_right_shift_", "gcd_", "lcm_",
        "floor_divide_", "remainder_", "fmod_")},
    "aminmax": lambda x, dim=None, keepdim=False: torch.aminmax(x, dim=dim, keepdim=keepdim),
    "addcdiv_": lambda x, a, b, value=1: x.clone().addcdiv_(a, b, value=value),
    "slice_scatter": lambda x, src, dim=0, start=None, end=None, step=1: torch.slice_scatter(
        x, src, dim, start, end, step),
    "index_put": lambda x, indices, values, accumulate=False, dims=None: torch.ops.aten.index_put(
        x, padded(indices, dims), values, accumulate),
    "index_put_": lambda x, indices, values, accumulate=False, dims=None: torch.ops.aten.index_put_(
        x.clone(), padded(indices, dims), values, accumulate),
    "take": torch.take,
    "put": torch.Tensor.put,
    "addmv": lambda x, m, v, beta=1, alpha=1: torch.addmv(x, m, v, beta=beta, alpha=alpha),
    **{name: (lambda op: lambda x, a, b, beta=1, alpha=1:
              op(x.clone(), a, b, beta=beta, alpha=alpha))(getattr(torch.Tensor, name))
       for name in ("addmm_", "baddbmm_", "addbmm_", "addmv_", "addr_", "addbmm")},
    "stft": lambda x, n_fft, hop, win, window, center, mode, normalized, onesided, return_complex:
        torch.stft(x, n_fft, hop, win, window, center, mode, normalized, onesided, return_complex),
    "cov": lambda x, correction=1, fweights=None, aweights=None: torch.cov(
        x, correction=correction, fweights=fweights, aweights=aweights),
    "index_reduce": lambda x, dim, index, source, reduce, include_self=True: torch.index_reduce(
        x, dim, index, source, reduce, include_self=include_self),
    "index_reduce_": lambda x, dim, index, source, reduce, include_self=True: x.clone().index_reduce_(
        dim, index, source, reduce, include_self=include_self),
    "addr": lambda x, a, b, beta=1, alpha=1: torch.addr(x, a, b, beta=beta, alpha=alpha),
    **{name: (lambda op: lambda y, x=None, dx=1.0, dim=-1: op(y, dx=dx, dim=dim) if x is None
              else op(y, x, dim=dim))(getattr(torch, name))
       for name in ("trapezoid", "cumulative_trapezoid")},
    **{name: (lambda op: lambda x, q, dim=None, keepdim=False, interpolation="linear": op(
        x, q, dim, keepdim, interpolation=interpolation))(getattr(torch, name))
       for name in ("quantile", "nanquantile")},
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
        "adaptive_max_pool1d", "max_unpool1d", "max_unpool2d", "max_unpool3d", "pixel_unshuffle",
        "local_response_norm",
        "softsign", "tanhshrink", "pixel_shuffle",
        "silu", "leaky_relu", "elu", "hardtanh", "relu6", "hardsigmoid", "hardswish", "hardshrink",
        "softshrink", "threshold", "mish", "softplus", "logsigmoid", "glu", "pad")},
}

HALVES = [torch.float64, torch.float32, torch.bfloat16]
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.5, -2.5]


def pointwise():
    for dtype in HALVES:
        name = str(dtype)[6:]
        yield f"add_{name}", "add", lambda: [randn(2, 3, dtype=dtype), randn(3, dtype=dtype)]
        yield f"mul_{name}", "mul", lambda: [randn(2, 3, dtype=dtype), randn(2, 1, dtype=dtype)]
        yield f"div_{name}", "div", lambda: [randn(2, 3, dtype=dtype), positive(2, 3, dtype=dtype)]
    yield "add_alpha", "add", lambda: [randn(2, 3), randn(2, 3), 2.5]
    yield "add_number", "add", lambda: [randn(2, 3), 1.5]
    yield "add_fraction_to_integers", "add", lambda: [integers(9, 2, 3), 0.5]
    yield "add_integers_and_floats", "add", lambda: [integers(9, 2, 3), const(randn(2, 3))]
    yield "sub", "sub", lambda: [randn(2, 1, 3), randn(4, 1)]
    yield "sub_alpha", "sub", lambda: [randn(3), randn(3), -0.5]
    yield "rsub", "rsub", lambda: [randn(3), 2.0]
    yield "floor_divide", "floor_divide", lambda: [const(randn(2, 3)), const(positive(3))]
    yield "floor_divide_integers", "floor_divide", lambda: [integers(9, 2, 3) - 4, 3]
    yield "abs_integers", "abs", lambda: [integers(9, 2, 3) - 4]
    for op in ("logical_and", "logical_or"):
        yield op, op, lambda: [integers(2, 2, 3), const(integers(2, 3))]
        yield f"{op}_bools", op, lambda: [randn(2, 3) > 0, randn(3) > 0]
    for op in ("bitwise_and", "bitwise_or"):
        yield op, op, lambda: [randn(2, 3) > 0, randn(3) > 0]
    yield "logical_not", "logical_not", lambda: [integers(2, 2, 3)]
    yield "bitwise_not", "bitwise_not", lambda: [randn(2, 3) > 0]
    yield "mul_integers", "mul", lambda: [integers(9, 2, 3), integers(9, 3)]
    yield "div_integers", "div", lambda: [integers(9, 2, 3), integers(9, 3) + 1]
    yield "div_number", "div", lambda: [randn(2, 3), 3.0]
    yield "maximum", "maximum", lambda: [randn(2, 3), randn(2, 3)]
    yield "minimum", "minimum", lambda: [randn(2, 3), randn(3)]
    yield "where", "where", lambda: [randn(2, 3) > 0, randn(2, 3), randn(3)]
    for op in ("neg", "exp", "abs", "relu", "sigmoid", "tanh", "gelu", "silu"):
        for dtype in HALVES:
            yield f"{op}_{str(dtype)[6:]}", op, lambda: [randn(2, 5, dtype=dtype)]
    for op in ("log", "sqrt", "reciprocal"):
        yield op, op, lambda: [positive(2, 3)]
    yield "leaky_relu", "leaky_relu", lambda: [randn(2, 3), 0.2]
    for exponent in (2.0, 3.0, 0.5, -1.0):
        yield f"pow_{exponent}", "pow", lambda: [positive(2, 3), exponent]
    yield "clamp", "clamp", lambda: [randn(3, 4), -0.5, 0.75]
    yield "clamp_min", "clamp", lambda: [randn(3, 4), 0.25]
    yield "clamp_max", "clamp", lambda: [randn(3, 4), None, 0.25]
    yield "clamp_tensors", "clamp", lambda: [randn(3, 4), randn(4), randn(3, 1)]
    yield "clamp_min_tensor", "clamp", lambda: [randn(3, 4), randn(4)]
    yield "clamp_max_tensor", "clamp", lambda: [randn(4), None, randn(3, 4)]
    for op in ("eq", "ne", "lt", "le", "gt", "ge"):
        yield op, op, lambda: [const(torch.tensor(SPECIAL)), const(torch.tensor(SPECIAL[::-1]))]
        yield f"{op}_number", op, lambda: [const(torch.tensor(SPECIAL)), 1.5]
    for op in ("isnan", "isfinite", "relu", "sigmoid", "exp"):
        yield f"{op}_special", op, lambda: [const(torch.tensor(SPECIAL))]
    for op in ("square", "sin", "cos", "tan", "erf", "expm1", "floor", "ceil", "round", "sign"):
        yield op, op, lambda: [randn(3, 4) * 2]
    yield "pow_tensor", "pow", lambda: [positive(2, 3), randn(3)]
    yield "pow_tensor_of_zero", "pow", lambda: [
        torch.tensor([0.0, 2.0, 3.0]), torch.tensor([2.0, 0.0, -1.0])]
    yield "pow_whole", "pow", lambda: [integers(9, 2, 3) - 4, 3]
    yield "pow_whole_tensor", "pow", lambda: [integers(9, 2, 3) - 4, integers(7, 3) - 2]
    yield "pow_whole_fraction", "pow", lambda: [integers(9, 2, 3), 1.5]
    yield "pow_whole_exponent", "pow", lambda: [positive(2, 3), const(integers(5, 3))]
    for op in ("sigmoid_", "tanh_", "exp_", "neg_"):
        yield op, op, lambda: [const(randn(3, 4))]
    for op in ("sin_", "cos_", "tan_", "erf_", "expm1_", "floor_", "ceil_", "round_", "sign_"):
        yield op, op, lambda: [const(randn(3, 4) * 2)]
    for op in ("sqrt_", "log_", "log2_", "log10_", "log1p_", "rsqrt_", "reciprocal_"):
        yield op, op, lambda: [const(positive(3, 4))]
    yield "clamp_", "clamp_", lambda: [const(randn(3, 4)), -0.5, 0.5]
    yield "clamp_min_op", "clamp_min", lambda: [randn(3, 4), 0.25]
    yield "clamp_max_op", "clamp_max", lambda: [randn(3, 4), 0.25]
    for op in ("rsqrt", "log2", "log10", "log1p"):
        yield op, op, lambda: [positive(2, 3)]
    yield "xlogy", "xlogy", lambda: [positive(2, 3), positive(2, 3)]
    yield "xlogy_zero", "xlogy", lambda: [
        const(torch.tensor([0.0, 0.0, 2.0])), const(torch.tensor([0.0, math.nan, 3.0]))]


def activation():
    for op in ("elu", "selu", "celu", "hardtanh", "relu6", "hardsigmoid", "hardswish", "hardshrink",
               "softshrink", "mish", "softplus", "logsigmoid"):
        yield op, op, lambda: [randn(3, 4) * 4]
    for op in ("elu", "selu", "hardswish"):
        yield f"{op}_bfloat16", op, lambda: [randn(3, 4, dtype=torch.bfloat16)]
    yield "elu_alpha", "elu", lambda: [randn(3, 4), 1.7]
    yield "celu_alpha", "celu", lambda: [randn(3, 4), 0.6]
    yield "hardtanh_limits", "hardtanh", lambda: [randn(3, 4), -0.5, 0.25]
    yield "softplus_beta", "softplus", lambda: [randn(3, 4), 2.0, 1.0]
    yield "threshold", "threshold", lambda: [randn(3, 4), 0.1, 20.0]
    yield "gelu_tanh", "gelu", lambda: [randn(3, 4), "tanh"]
    yield "glu", "glu", lambda: [randn(3, 4, 2), 1]
    yield "prelu", "prelu", lambda: [randn(3, 4), positive(1)]
    yield "prelu_channels", "prelu", lambda: [randn(2, 4, 3), positive(4)]


def indexing():
    yield "gather", "gather", lambda: [randn(3, 4), 1, integers(4, 3, 2)]
    yield "gather_first", "gather", lambda: [randn(3, 4), 0, integers(3, 2, 4)]
    yield "index_select", "index_select", lambda: [randn(3, 4), 1, integers(4, 5)]
    yield "index", "index", lambda: [randn(3, 4, 2), [integers(3, 5)]]
    yield "index_two", "index", lambda: [randn(3, 4, 2), [integers(3, 2, 1), integers(4, 3)]]
    yield "index_behind", "index", lambda: [
        randn(2, 3, 4), [integers(3, 2, 1), integers(4, 3)], [1, 2]]
    yield "index_apart", "index", lambda: [
        randn(3, 2, 4), [integers(3, 2, 1), integers(4, 3)], [0, 2]]
    yield "scatter_add", "scatter_add", lambda: [randn(3, 4), 1, integers(4, 3, 2), randn(3, 2)]
    yield "scatter", "scatter", lambda: [
        randn(3, 4), 1, torch.tensor([[0, 3], [2, 1], [2, 0]]), randn(3, 2)]
    yield "scatter_number", "scatter", lambda: [randn(3, 4), 0, integers(3, 2, 4), 0.5]
    yield "index_add", "index_add", lambda: [randn(3, 4), 0, integers(3, 5), randn(5, 4)]
    yield "index_add_alpha", "index_add", lambda: [
        randn(3, 4), 1, integers(4, 2), randn(3, 2), -0.5]
    yield "one_hot", "one_hot", lambda: [integers(5, 2, 3), 5]
    yield "one_hot_found", "one_hot", lambda: [integers(5, 2, 3)]
    yield "slice", "slice", lambda: [randn(3, 7), 1, 1, -1, 2]
    yield "slice_open", "slice", lambda: [randn(5, 2), 0, None, None, 3]
    yield "slice_outside", "slice", lambda: [randn(4), 0, -9, 9]
    for mode in ("mean", "sum"):
        yield f"embedding_bag_{mode}", "embedding_bag", lambda: [
            integers(5, 2, 3), randn(5, 4), None, mode]
        yield f"embedding_bag_{mode}_offsets", "embedding_bag", lambda: [
            integers(5, 7), randn(5, 4), const(torch.tensor([0, 3, 3, 4])), mode]
    yield "embedding_bag_max", "embedding_bag", lambda: [integers(5, 3, 4), randn(5, 4), None, "max"]
    yield "embedding_bag_max_padding", "embedding_bag", lambda: [
        integers(3, 7), randn(3, 4), const(torch.tensor([0, 3, 3, 4, 7])), "max", None, True, 1]
    yield "embedding_bag_weighted", "embedding_bag", lambda: [
        integers(5, 2, 3), randn(5, 4), None, "sum", randn(2, 3)]
    yield "embedding_bag_weighted_padding", "embedding_bag", lambda: [
        integers(3, 7), randn(3, 4), const(torch.tensor([0, 3, 3, 4])), "sum", randn(7), False, -1]
    yield "embedding_bag_mean_padding", "embedding_bag", lambda: [
        integers(3, 7), randn(3, 4), const(torch.tensor([0, 3, 3, 7])), "mean", None, True, 0]
    yield "cdist", "cdist", lambda: [randn(3, 4), randn(5, 4)]
    yield "cdist_1", "cdist", lambda: [randn(3, 4), randn(2, 4), 1.0]
    yield "cdist_3", "cdist", lambda: [randn(2, 3, 4), randn(2, 2, 4), 3.0]
    yield "cdist_largest", "cdist", lambda: [randn(3, 4), randn(2, 4), math.inf]
    yield "cdist_many", "cdist", lambda: [randn(3, 4), randn(30, 4)]
    yield "cdist_batches", "cdist", lambda: [randn(2, 3, 4), randn(2, 26, 4)]
    yield "masked_fill", "masked_fill", lambda: [randn(3, 4), randn(4) > 0, 0.5]
    yield "masked_fill_tensor", "masked_fill", lambda: [randn(3, 4), randn(3, 1) > 0, randn()]


def arrange():
    yield "flip", "flip", lambda: [randn(2, 3, 4), [0, 2]]
    yield "roll", "roll", lambda: [randn(2, 3, 4), [1, -2], [0, 2]]
    yield "roll_flat", "roll", lambda: [const(randn(2, 3)), [2]]
    yield "triu", "triu", lambda: [randn(3, 4), 1]
    yield "tril", "tril", lambda: [randn(2, 4, 3), -1]
    yield "repeat", "repeat", lambda: [randn(2, 3), [2, 1, 3]]
    yield "cumsum", "cumsum", lambda: [randn(2, 3, 4), 1]
    yield "cumprod", "cumprod", lambda: [positive(2, 3, 4), 1]
    yield "cumprod_last", "cumprod", lambda: [randn(5), -1]
    yield "cumsum_integers", "cumsum", lambda: [integers(9, 2, 3), -1]
    yield "movedim", "movedim", lambda: [randn(2, 3, 4), [0, 1], [2, 0]]
    yield "swapaxes", "swapaxes", lambda: [randn(2, 3, 4), 0, -1]
    yield "unflatten", "unflatten", lambda: [randn(2, 6), 1, [2, -1]]
    yield "expand_as", "expand_as", lambda: [randn(3, 1), const(randn(2, 3, 4))]
    yield "view_as", "view_as", lambda: [randn(2, 6), const(randn(3, 4))]
    yield "tile", "tile", lambda: [randn(2, 3), [2]]
    yield "repeat_interleave", "repeat_interleave", lambda: [randn(2, 3), 2, 1]
    yield "repeat_interleave_flat", "repeat_interleave", lambda: [randn(2, 3), 2]
    yield "pad", "pad", lambda: [randn(2, 3), [1, 2, 0, 1], "constant", 0.5]
    yield "pad_negative", "pad", lambda: [randn(4, 5), [-1, 1, 1, -2]]
    yield "interpolate", "interpolate", lambda: [randn(1, 2, 3, 4), None, [2.0]]
    yield "interpolate_scale", "interpolate", lambda: [randn(1, 2, 5, 6), None, [0.6, 1.7]]
    yield "interpolate_size", "interpolate", lambda: [randn(1, 2, 3, 4), [5, 7]]
    for corners in (False, True):
        yield f"bilinear_{corners}", "interpolate", lambda: [
            randn(2, 1, 3, 4), [5, 2], None, "bilinear", corners]
    yield "bilinear_scale", "interpolate", lambda: [
        randn(2, 1, 3, 4), None, [2.0], "bilinear", False]


def resizing():
    for corners in (False, True):
        yield f"bicubic_{corners}", "interpolate", lambda: [
            randn(2, 1, 3, 4), [7, 2], None, "bicubic", corners]
        yield f"bicubic_large_{corners}", "interpolate", lambda: [
            randn(1, 2, 3, 2, dtype=torch.float64), [11, 9], None, "bicubic", corners]
        yield f"bicubic_one_{corners}", "interpolate", lambda: [
            randn(1, 2, 1, 5), [3, 1], None, "bicubic", corners]
    yield "bicubic_scale", "interpolate", lambda: [
        randn(2, 1, 5, 4), None, [0.6, 2.5], "bicubic", False]
    yield "bicubic_same_size", "interpolate", lambda: [
        randn(1, 2, 3, 4), [3, 4], None, "bicubic", True]
    for corners in (False, True):
        yield f"linear_{corners}", "interpolate", lambda: [
            randn(2, 3, 5), [8], None, "linear", corners]
        yield f"linear_smaller_{corners}", "interpolate", lambda: [
            randn(2, 1, 7, dtype=torch.float64), [3], None, "linear", corners]
        yield f"linear_one_{corners}", "interpolate", lambda: [
            randn(1, 2, 4), [1], None, "linear", corners]
    yield "linear_scale", "interpolate", lambda: [randn(2, 3, 5), None, [1.7], "linear", False]
    yield "nearest_line", "interpolate", lambda: [randn(2, 5, 3), None, [2.0]]
    yield "nearest_line_size", "interpolate", lambda: [randn(2, 3, 7), [4]]
    yield "area_line", "interpolate", lambda: [randn(2, 3, 7), [3], None, "area"]
    yield "area", "interpolate", lambda: [randn(2, 3, 5, 6), [2, 4], None, "area"]
    yield "area_scale", "interpolate", lambda: [randn(1, 2, 4, 6), None, [0.5], "area"]
    yield "area_volume", "interpolate", lambda: [randn(1, 2, 4, 3, 5), [2, 2, 3], None, "area"]


def reduction():
    for dtype in HALVES:
        yield f"sum_{str(dtype)[6:]}", "sum", lambda: [randn(3, 4, dtype=dtype)]
        yield f"mean_{str(dtype)[6:]}", "mean", lambda: [randn(3, 4, dtype=dtype)]
    yield "prod", "prod", lambda: [randn(3, 4)]
    yield "prod_dim", "prod", lambda: [randn(2, 3, 4), 1, True]
    yield "prod_of_a_zero", "prod", lambda: [randn(3, 4) * torch.tensor([0.0, 1, 1, 1]), 1]
    yield "prod_integers", "prod", lambda: [integers(4, 2, 3) + 1]
    yield "logsumexp", "logsumexp", lambda: [randn(3, 4), [1]]
    yield "logsumexp_kept", "logsumexp", lambda: [randn(2, 3, 4) * 50, [0, 2], True]
    for op in ("amax", "amin"):
        yield op, op, lambda: [randn(2, 3, 4), [1]]
        yield f"{op}_all", op, lambda: [randn(2, 3)]
        yield f"{op}_ties", op, lambda: [torch.tensor([[1.0, 2.0, 2.0], [0.5, 0.5, 0.5]]), [1], True]
    yield "sum_dim", "sum", lambda: [randn(2, 3, 4), [1]]
    yield "sum_dims_kept", "sum", lambda: [randn(2, 3, 4), [0, -1], True]
    yield "sum_dtype", "sum", lambda: [randn(2, 3), None, False, torch.float64]
    yield "sum_integers", "sum", lambda: [integers(9, 2, 3)]
    yield "sum_bools", "sum", lambda: [randn(3, 4) > 0]
    yield "mean_dim", "mean", lambda: [randn(2, 3, 4), [-1, -2], True]
    yield "max", "max", lambda: [randn(3, 4)]
    yield "min", "min", lambda: [randn(3, 4)]
    yield "max_nan", "max", lambda: [const(torch.tensor(SPECIAL))]
    yield "argmax", "argmax", lambda: [const(randn(3, 4))]
    yield "argmax_dim", "argmax", lambda: [const(randn(3, 4)), 1, True]
    yield "norm", "norm", lambda: [randn(3, 4)]
    yield "norm_1", "norm", lambda: [randn(3, 4), 1.0, [1], True]
    yield "norm_inf", "norm", lambda: [randn(3, 4), math.inf, [0]]
    for op in ("max", "min"):
        yield f"{op}_dim", op, lambda: [randn(3, 4), 1]
        yield f"{op}_dim_kept", op, lambda: [randn(2, 3, 4), 0, True]
        yield f"{op}_of_two", op, lambda: [randn(3, 4), randn(4)]
    yield "argmin", "argmin", lambda: [const(randn(3, 4)), 0]
    yield "sort", "sort", lambda: [randn(3, 4)]
    yield "sort_descending", "sort", lambda: [randn(3, 4), 0, True]
    yield "argsort", "argsort", lambda: [const(randn(3, 4))]
    yield "argsort_stable", "argsort", lambda: [const(integers(3, 2, 9)), -1, False, True]
    yield "topk", "topk", lambda: [randn(3, 5), 2]
    yield "topk_smallest", "topk", lambda: [randn(3, 5), 2, 0, False]
    for op in ("var", "std"):
        yield op, op, lambda: [randn(3, 4)]
        yield f"{op}_dim", op, lambda: [randn(2, 3, 4), [0, 2], None, True, 0]
    for op in ("any", "all"):
        yield f"{op}_dim", op, lambda: [randn(3, 4) > 0, [1]]
        yield f"{op}_dim_kept", op, lambda: [randn(3, 4) > 0, [0], True]
    yield "any", "any", lambda: [torch.zeros(2, 2, dtype=torch.bool)]
    yield "all", "all", lambda: [torch.ones(2, 2, dtype=torch.bool)]


def matmul():
    for dtype in HALVES:
        name = str(dtype)[6:]
        yield f"mm_{name}", "mm", lambda: [randn(3, 4, dtype=dtype), randn(4, 2, dtype=dtype)]
        yield f"linear_{name}", "linear", lambda: [
            randn(3, 4, dtype=dtype), randn(2, 4, dtype=dtype), randn(2, dtype=dtype)]
    yield "mm_integers", "mm", lambda: [integers(5, 2, 3), integers(5, 3, 2)]
    yield "bmm", "bmm", lambda: [randn(2, 3, 4), randn(2, 4, 2)]
    yield "baddbmm", "baddbmm", lambda: [randn(2, 3, 2), randn(2, 3, 4), randn(2, 4, 2), 0.5, 2.0]
    yield "addmm", "addmm", lambda: [randn(2), randn(3, 4), randn(4, 2)]
    yield "addmm_matrix", "addmm", lambda: [randn(3, 2), randn(3, 4), randn(4, 2)]
    shapes = {"vectors": ((4,), (4,)), "matrix_vector": ((3, 4), (4,)),
              "vector_matrix": ((4,), (4, 3)), "batch_matrix": ((2, 3, 4), (4, 2)),
              "matrix_batch": ((3, 4), (2, 4, 2)), "batches": ((2, 3, 4), (2, 4, 2)),
              "broadcast_batches": ((2, 1, 3, 4), (3, 4, 2)), "batch_vector": ((2, 3, 4), (4,)),
              "vector_batch": ((3,), (2, 3, 4))}
    for name, (a, b) in shapes.items():
        yield f"matmul_{name}", "matmul", lambda: [randn(*a), randn(*b)]
    yield "linear_3d", "linear", lambda: [randn(2, 3, 4), randn(5, 4), randn(5)]
    yield "linear_no_bias", "linear", lambda: [randn(3, 4), randn(2, 4)]
    yield "linear_one_output", "linear", lambda: [randn(3, 4), randn(1, 4), randn(1)]


def view():
    yield "view", "view", lambda: [randn(2, 6), [3, -1]]
    yield "reshape", "reshape", lambda: [randn(2, 6), [4, 3]]
    yield "flatten", "flatten", lambda: [randn(2, 3, 4), 1, -1]
    yield "transpose", "transpose", lambda: [randn(2, 3, 4), 0, -1]
    yield "t", "t", lambda: [randn(2, 3)]
    yield "permute", "permute", lambda: [randn(2, 3, 4), [2, 0, 1]]
    yield "expand", "expand", lambda: [randn(2, 1), [3, 2, 4]]
    yield "unsqueeze", "unsqueeze", lambda: [randn(2, 3), -1]
    yield "squeeze", "squeeze", lambda: [randn(1, 2, 1)]
    yield "squeeze_dim", "squeeze", lambda: [randn(1, 2, 1), 0]
    yield "as_strided", "as_strided", lambda: [randn(3, 5), [2, 3], [4, 1], 2]
    yield "as_strided_windows", "as_strided", lambda: [randn(12), [4, 5], [2, 1]]
    yield "as_strided_repeated", "as_strided", lambda: [randn(12), [3, 2, 1, 5], [3, 0, 7, 1], 1]
    yield "unsqueeze_", "unsqueeze_", lambda: [const(randn(2, 3)), -2]
    yield "squeeze_", "squeeze_", lambda: [const(randn(1, 2, 1))]
    yield "squeeze_dim_", "squeeze_", lambda: [const(randn(1, 2, 1)), -1]
    yield "t_", "t_", lambda: [const(randn(2, 3))]
    for op in ("transpose_", "swapaxes_"):
        yield op, op, lambda: [const(randn(2, 3, 4)), 0, -1]
    yield "select", "select", lambda: [randn(3, 4), 1, -2]
    yield "narrow", "narrow", lambda: [randn(3, 4), 1, 1, 2]
    yield "split", "split", lambda: [randn(5, 2), 2, 0]
    yield "unbind", "unbind", lambda: [randn(2, 3, 2), 1]
    yield "chunk", "chunk", lambda: [randn(2, 7), 3, 1]
    yield "cat", "cat", lambda: [[randn(2, 3), randn(2, 2)], 1]
    yield "stack", "stack", lambda: [[randn(2, 3), randn(2, 3)], 1]


def copies():
    for dtype in HALVES:
        yield f"clone_{str(dtype)[6:]}", "clone", lambda: [randn(2, 3, dtype=dtype)]
    yield "contiguous", "contiguous", lambda: [randn(2, 3)]
    yield "copy", "copy_", lambda: [const(randn(2, 3)), const(randn(3, dtype=torch.float64))]
    yield "copy_to_half", "copy_", lambda: [
        const(randn(2, 3, dtype=torch.bfloat16)), const(randn(2, 3))]
    yield "copy_to_integers", "copy_", lambda: [integers(9, 2, 3), const(randn(2, 3) * 5)]
    yield "fill", "fill_", lambda: [const(randn(2, 3)), 1.25]
    yield "fill_integers", "fill_", lambda: [integers(9, 2, 3), 3.0]
    yield "zero", "zero_", lambda: [const(randn(2, 3))]


def softmax():
    for dtype in HALVES:
        name = str(dtype)[6:]
        yield f"softmax_{name}", "softmax", lambda: [randn(3, 5, dtype=dtype), -1]
        yield f"log_softmax_{name}", "log_softmax", lambda: [randn(3, 5, dtype=dtype), -1]
    yield "softmax_first", "softmax", lambda: [randn(3, 5), 0]
    yield "log_softmax_middle", "log_softmax", lambda: [randn(2, 3, 4), 1]
    yield "softmax_dtype", "softmax", lambda: [randn(3, 5), 1, torch.float64]
    yield "softmax_large", "softmax", lambda: [randn(2, 3) * 1000, 1]
    yield "softmax_masked", "softmax", lambda: [
        const(torch.tensor([[0.0, -math.inf, 1.0], [-math.inf] * 3])), 1]


def loss():
    for reduction_name in ("none", "mean", "sum"):
        for op in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
            yield f"{op}_{reduction_name}", op, lambda: [randn(3, 4), randn(3, 4), reduction_name]
        yield f"binary_cross_entropy_{reduction_name}", "binary_cross_entropy", lambda: [
            torch.rand(3, 4), torch.rand(3, 4), None, reduction_name]
        yield f"bce_with_logits_{reduction_name}", "binary_cross_entropy_with_logits", lambda: [
            randn(3, 4), torch.rand(3, 4), None, reduction_name]
        yield f"nll_loss_{reduction_name}", "nll_loss", lambda: [
            randn(4, 3), integers(3, 4), None, -100, reduction_name]
        yield f"cross_entropy_{reduction_name}", "cross_entropy", lambda: [
            randn(4, 3), integers(3, 4), const(positive(3)), 1, reduction_name]
        yield f"cross_entropy_images_{reduction_name}", "cross_entropy", lambda: [
            randn(2, 3, 2, 2), integers(3, 2, 2, 2), const(positive(3)), 1, reduction_name]
    yield "mse_loss_broadcast", "mse_loss", lambda: [randn(3, 4), randn(4)]
    yield "smooth_l1_loss_beta", "smooth_l1_loss", lambda: [randn(3, 4), randn(3, 4), "mean", 0.3]
    yield "huber_loss_delta", "huber_loss", lambda: [randn(3, 4), randn(3, 4), "mean", 0.3]
    yield "binary_cross_entropy_weight", "binary_cross_entropy", lambda: [
        torch.rand(3, 4), torch.rand(3, 4), const(positive(4))]
    yield "bce_with_logits_weights", "binary_cross_entropy_with_logits", lambda: [
        randn(3, 4), torch.rand(3, 4), const(positive(4)), "sum", const(positive(4))]
    yield "cross_entropy_one_sample", "cross_entropy", lambda: [randn(3), torch.tensor(2)]
    yield "cross_entropy_float64", "cross_entropy", lambda: [
        randn(4, 3, dtype=torch.float64), integers(3, 4)]
    for reduction_name in ("none", "mean", "sum"):
        yield f"cross_entropy_smoothed_{reduction_name}", "cross_entropy", lambda: [
            randn(4, 3), torch.tensor([0, 2, 1, 1]), None, 1, reduction_name, 0.2]
        yield f"cross_entropy_probabilities_{reduction_name}", "cross_entropy", lambda: [
            randn(4, 3, 2), torch.rand(4, 3, 2), const(positive(3)), -100, reduction_name, 0.1]
        yield f"kl_div_{reduction_name}", "kl_div", lambda: [
            randn(3, 4), torch.rand(3, 4), reduction_name]
    yield "cross_entropy_smoothed_weights", "cross_entropy", lambda: [
        randn(4, 3), torch.tensor([0, 2, 1, 1]), const(positive(3)), 1, "mean", 0.2]
    yield "kl_div_batch_mean", "kl_div", lambda: [randn(3, 4), torch.rand(3, 4), "batchmean", True]
    yield "cross_entropy_sequences", "cross_entropy", lambda: [randn(2, 3, 5), integers(3, 2, 5)]
    yield "margin_ranking", "margin_ranking_loss", lambda: [
        randn(3, 4), randn(3, 4), const(randn(3, 4).sign()), 0.3]
    yield "hinge_embedding", "hinge_embedding_loss", lambda: [
        randn(3, 4), const(randn(3, 4).sign()), 1.0, "sum"]
    yield "triplet_margin", "triplet_margin_loss", lambda: [
        randn(3, 4), randn(3, 4), randn(3, 4), 2.0]
    yield "triplet_margin_swap", "triplet_margin_loss", lambda: [
        randn(3, 4), randn(3, 4), randn(3, 4), 2.0, 2.0, 1e-6, True, "none"]
    for reduction_name in ("none", "mean", "sum"):
        yield f"ctc_loss_{reduction_name}", "ctc_loss", lambda: [
            randn(6, 3, 4), torch.tensor([[1, 1, 2], [3, 1, 3], [2, 1, 1]]),
            torch.tensor([6, 5, 4]), torch.tensor([3, 2, 0]), 0, reduction_name]
    yield "ctc_loss_one_dimension", "ctc_loss", lambda: [
        randn(6, 2, 4, dtype=torch.float64), torch.tensor([1, 3, 0]), torch.tensor([6, 2]),
        torch.tensor([2, 1]), 2, "sum"]
    # Two equal labels do not fit two steps.
    yield "ctc_loss_impossible", "ctc_loss", lambda: [
        randn(6, 2, 4), torch.tensor([[1, 1], [1, 2]]), torch.tensor([2, 6]), torch.tensor([2, 2]),
        0, "none", True]
    yield "ctc_loss_one_sequence", "ctc_loss", lambda: [
        randn(5, 4), torch.tensor([3, 3]), torch.tensor(5), torch.tensor(2)]
    yield "poisson_nll", "poisson_nll_loss", lambda: [randn(3, 4), positive(3, 4)]
    yield "poisson_nll_rate", "poisson_nll_loss", lambda: [
        positive(3, 4), positive(3, 4), False, 1e-8, "none"]


def conv():
    for dtype in HALVES:
        yield f"conv2d_{str(dtype)[6:]}", "conv2d", lambda: [
            randn(2, 3, 5, 6, dtype=dtype), randn(4, 3, 3, 3, dtype=dtype), randn(4, dtype=dtype)]
    yield "conv2d_strided", "conv2d", lambda: [
        randn(1, 2, 7, 8), randn(3, 2, 3, 2), randn(3), [2, 3], [1, 0]]
    yield "conv2d_dilated", "conv2d", lambda: [
        randn(1, 2, 7, 8), randn(3, 2, 3, 2), None, [1], [2], [2, 3]]
    yield "conv2d_groups", "conv2d", lambda: [
        randn(2, 4, 5, 5), randn(6, 2, 3, 3), randn(6), [1], [1], [1], 2]
    yield "conv2d_depthwise", "conv2d", lambda: [
        randn(2, 3, 5, 5), randn(6, 1, 3, 3), randn(6), [2], [1], [1], 3]
    yield "conv2d_pointwise", "conv2d", lambda: [randn(2, 3, 4, 5), randn(2, 3, 1, 1), randn(2)]
    yield "conv2d_one_image", "conv2d", lambda: [randn(2, 5, 5), randn(3, 2, 2, 2), randn(3)]
    yield "conv_transpose2d", "conv_transpose2d", lambda: [
        randn(2, 3, 4, 5), randn(3, 2, 3, 2), randn(2)]
    yield "conv_transpose2d_strided", "conv_transpose2d", lambda: [
        randn(1, 4, 4, 3), randn(4, 3, 3, 2), randn(6), [2, 3], [1, 0], [1, 0], 2, [1, 2]]
    yield "conv1d", "conv1d", lambda: [randn(2, 4, 8), randn(6, 2, 3), randn(6), [2], [1], [1], 2]


def padding():
    shapes = {1: (2, 3, 5), 2: (1, 2, 4, 5), 3: (1, 1, 3, 4, 3)}
    for mode in ("reflect", "replicate", "circular"):
        for dims, shape in shapes.items():
            pairs = [2, 1, 1, 3, 2, 0][:2 * dims]
            yield f"pad_{mode}_{dims}d", "pad", lambda: [randn(*shape), pairs, mode]
        yield f"pad_{mode}_without_batch", "pad", lambda: [randn(3, 4), [0, 3], mode]
        yield f"pad_{mode}_negative", "pad", lambda: [randn(2, 6, 5), [-2, 2, 1, -1], mode]
        yield f"pad_{mode}_half", "pad", lambda: [
            randn(2, 2, 4, dtype=torch.bfloat16), [3, 1], mode]
        yield f"pad_{mode}_double", "pad", lambda: [
            randn(2, 2, 4, dtype=torch.float64), [2, 2], mode]
    yield "pad_replicate_far", "pad", lambda: [randn(1, 2, 3), [7, 5], "replicate"]
    yield "conv1d_same", "conv1d", lambda: [
        randn(2, 4, 8), randn(6, 2, 3), randn(6), [1], "same", [2], 2]
    yield "conv1d_same_uneven", "conv1d", lambda: [randn(2, 7), randn(3, 2, 4), None, [1], "same"]
    yield "conv1d_valid", "conv1d", lambda: [randn(2, 4, 8), randn(6, 4, 3), None, [2], "valid"]
    yield "conv2d_same", "conv2d", lambda: [
        randn(2, 4, 5, 6), randn(3, 4, 3, 5), randn(3), [1], "same"]
    yield "conv2d_same_uneven", "conv2d", lambda: [
        randn(2, 4, 5, 6), randn(6, 2, 2, 3), randn(6), [1], "same", [1, 2], 2]
    yield "conv2d_valid", "conv2d", lambda: [
        randn(2, 4, 5, 6), randn(3, 4, 3, 2), None, [2, 1], "valid"]
    yield "conv_transpose1d", "conv_transpose1d", lambda: [
        randn(2, 4, 7), randn(4, 3, 3), randn(6), [2], [1], [1], 2, [2]]
    yield "conv_transpose1d_one_line", "conv_transpose1d", lambda: [randn(4, 7), randn(4, 3, 2)]
    yield "conv_transpose1d_half", "conv_transpose1d", lambda: [
        randn(2, 4, 7, dtype=torch.bfloat16), randn(4, 3, 2, dtype=torch.bfloat16), None, [2]]


def volumes():
    for dtype in HALVES:
        yield f"conv3d_{str(dtype)[6:]}", "conv3d", lambda: [
            randn(1, 2, 3, 4, 3, dtype=dtype), randn(2, 2, 2, 3, 2, dtype=dtype), randn(2, dtype=dtype)]
    yield "conv3d_strided", "conv3d", lambda: [
        randn(2, 2, 4, 5, 4), randn(3, 2, 2, 3, 1), randn(3), [2, 1, 3], [1, 0, 1]]
    yield "conv3d_dilated_groups", "conv3d", lambda: [
        randn(1, 4, 5, 4, 4), randn(2, 2, 2, 2, 2), None, [1], [1], [2, 1, 2], 2]
    yield "conv3d_depthwise", "conv3d", lambda: [
        randn(1, 2, 3, 4, 3), randn(4, 1, 2, 2, 2), randn(4), [1], [1], [1], 2]
    yield "conv3d_pointwise", "conv3d", lambda: [randn(2, 3, 2, 3, 2), randn(2, 3, 1, 1, 1), randn(2)]
    yield "conv3d_one_volume", "conv3d", lambda: [randn(2, 3, 3, 3), randn(3, 2, 2, 2, 2), randn(3)]
    yield "conv3d_same", "conv3d", lambda: [
        randn(1, 2, 3, 4, 3), randn(2, 2, 2, 3, 4), randn(2), [1], "same"]
    yield "conv_transpose3d", "conv_transpose3d", lambda: [
        randn(2, 2, 2, 3, 2), randn(2, 3, 2, 1, 3), randn(3)]
    yield "conv_transpose3d_strided", "conv_transpose3d", lambda: [
        randn(1, 4, 2, 2, 3), randn(4, 1, 3, 2, 2), randn(2), [2, 1, 2], [1, 0, 1], [1, 0, 1], 2, [1, 2, 1]]
    for op in ("max_pool3d", "avg_pool3d"):
        yield op, op, lambda: [randn(2, 2, 4, 5, 4), [2]]
        yield f"{op}_one_volume", op, lambda: [randn(2, 4, 4, 5), [3, 2, 2], [2, 1, 2], [1, 0, 1]]
    yield "max_pool3d_dilated_ceil", "max_pool3d", lambda: [
        randn(1, 2, 5, 6, 5), [2, 2, 3], [2], [1], [1, 2, 1], True]
    yield "avg_pool3d_without_padding", "avg_pool3d", lambda: [
        randn(1, 2, 5, 4, 5), [3], [2], [1], True, False]
    yield "avg_pool3d_divisor", "avg_pool3d", lambda: [
        randn(1, 2, 5, 4, 5), [2], [2], [1], False, True, 5]
    for size in (1, 2, [2, 3, 5]):
        yield f"adaptive_avg_pool3d_{size}", "adaptive_avg_pool3d", lambda: [
            randn(2, 2, 3, 4, 5), size if isinstance(size, list) else [size]]


def pooling():
    for op in ("max_pool2d", "avg_pool2d"):
        yield op, op, lambda: [randn(2, 3, 6, 7), [2]]
        yield f"{op}_one_image", op, lambda: [randn(3, 6, 7), [3, 2], [2, 1], [1]]
    yield "max_pool2d_dilated_ceil", "max_pool2d", lambda: [
        randn(1, 2, 8, 9), [3, 2], [2], [1], [1, 2], True]
    yield "avg_pool2d_ceil", "avg_pool2d", lambda: [randn(1, 2, 7, 8), [3], [2], [1], True]
    yield "avg_pool2d_without_padding", "avg_pool2d", lambda: [
        randn(1, 2, 7, 8), [3], [2], [1], True, False]
    yield "avg_pool2d_divisor", "avg_pool2d", lambda: [
        randn(1, 2, 7, 8), [3], [2], [1], False, True, 5]
    yield "max_pool2d_nan", "max_pool2d", lambda: [
        const(torch.tensor(SPECIAL + [3.0]).view(1, 1, 2, 4)), [2]]
    for size in (1, 2, [3, 5], [7, 9]):
        yield f"adaptive_avg_pool2d_{size}", "adaptive_avg_pool2d", lambda: [
            randn(2, 2, 6, 7), size if isinstance(size, list) else [size]]
    yield "max_pool1d", "max_pool1d", lambda: [randn(2, 3, 8), [3], [2], [1]]
    yield "avg_pool1d", "avg_pool1d", lambda: [randn(2, 3, 8), [3], [2], [1], False, False]
    yield "adaptive_avg_pool1d", "adaptive_avg_pool1d", lambda: [randn(2, 3, 8), [3]]


def unpooling():
    def pooled(pool, shape, *sizes):
        # The maxima are others than those that the indices are of.
        values, places = pool(randn(*shape), *sizes, return_indices=True)
        return [randn(*values.shape), places]

    yield "max_unpool1d", "max_unpool1d", lambda: [*pooled(F.max_pool1d, (2, 3, 8), 2), [2]]
    yield "max_unpool1d_padded", "max_unpool1d", lambda: [
        *pooled(F.max_pool1d, (3, 9), 3, 3, 1), [3], [3], [1], [9]]
    yield "max_unpool2d", "max_unpool2d", lambda: [
        *pooled(F.max_pool2d, (2, 3, 6, 4), 2), [2, 2]]
    yield "max_unpool2d_one_image", "max_unpool2d", lambda: [
        *pooled(F.max_pool2d, (3, 7, 6), (3, 2), (3, 2), (1, 0)), [3, 2], [3, 2], [1, 0], [7, 6]]
    yield "max_unpool2d_double", "max_unpool2d", lambda: [
        *pooled(lambda x, *sizes, **rest: F.max_pool2d(x.double(), *sizes, **rest), (1, 2, 5, 5), 2),
        [2, 2], None, [0, 0], [1, 2, 5, 5]]
    yield "max_unpool3d", "max_unpool3d", lambda: [
        *pooled(F.max_pool3d, (2, 2, 4, 4, 2), 2), [2, 2, 2]]
    yield "max_unpool3d_one_volume", "max_unpool3d", lambda: [
        *pooled(F.max_pool3d, (2, 5, 4, 4), (2, 2, 2)), [2, 2, 2], [2, 2, 2], [0, 0, 0], [5, 4, 4]]
    yield "max_pool1d_with_indices", "max_pool1d", lambda: [
        randn(2, 3, 8), [3], [2], [1], [1], False, True]
    yield "max_pool2d_with_indices", "max_pool2d", lambda: [
        randn(2, 3, 6, 7), [2], None, [0], [1], False, True]
    yield "max_pool3d_with_indices", "max_pool3d", lambda: [
        randn(2, 4, 4, 5), [3, 2, 2], [2, 1, 2], [1, 0, 1], [1], False, True]


def normalization():
    def statistics(channels):
        return [const(randn(channels)), const(positive(channels))]

    for shape in ((6, 3), (2, 3, 4), (2, 3, 2, 3)):
        name = f"{len(shape)}d"
        yield f"batch_norm_train_{name}", "batch_norm", lambda: [
            randn(*shape), *statistics(3), randn(3), randn(3), True]
        yield f"batch_norm_eval_{name}", "batch_norm", lambda: [
            randn(*shape), *statistics(3), randn(3), randn(3), False]
    yield "batch_norm_float64", "batch_norm", lambda: [
        randn(4, 3, 2, dtype=torch.float64), None, None, randn(3, dtype=torch.float64),
        randn(3, dtype=torch.float64), True, 0.1, 1e-3]
    yield "batch_norm_plain", "batch_norm", lambda: [randn(4, 3), None, None, None, None, True]
    for dtype in HALVES:
        yield f"layer_norm_{str(dtype)[6:]}", "layer_norm", lambda: [
            randn(3, 8, dtype=dtype), [8], randn(8, dtype=dtype), randn(8, dtype=dtype)]
    yield "layer_norm_two_dims", "layer_norm", lambda: [
        randn(2, 3, 4), [3, 4], randn(3, 4), randn(3, 4), 1e-3]
    yield "layer_norm_plain", "layer_norm", lambda: [randn(2, 3, 4), [4]]
    for dim in (0, 1, 2, -1):
        sizes = [size if i == dim else 1 for i, size in enumerate((2, 3, 4))] if dim >= 0 else []
        yield f"weight_norm_{dim}", "_weight_norm", lambda: [randn(2, 3, 4), randn(*sizes), dim]
        yield f"norm_except_dim_{dim}", "norm_except_dim", lambda: [randn(2, 3, 4), 2, dim]
    yield "weight_norm_bfloat16", "_weight_norm", lambda: [
        randn(3, 8, dtype=torch.bfloat16), randn(3, 1, dtype=torch.bfloat16)]
    yield "norm_except_dim_1_norm", "norm_except_dim", lambda: [randn(4, 3), 1, 1]


def embedding():
    yield "embedding", "embedding", lambda: [integers(5, 2, 3), randn(5, 4)]
    yield "embedding_padding", "embedding", lambda: [
        torch.tensor([1, 4, 1, 0]), randn(5, 4), 1]
    yield "embedding_bfloat16", "embedding", lambda: [
        integers(5, 6), randn(5, 4, dtype=torch.bfloat16)]


def attention():
    op = "scaled_dot_product_attention"
    for dtype in HALVES:
        yield f"attention_{str(dtype)[6:]}", op, lambda: [
            randn(2, 3, 4, dtype=dtype), randn(2, 5, 4, dtype=dtype), randn(2, 5, 3, dtype=dtype)]
    yield "attention_causal", op, lambda: [
        randn(2, 2, 3, 4), randn(2, 2, 3, 4), randn(2, 2, 3, 4), None, 0.0, True]
    yield "attention_mask", op, lambda: [
        randn(2, 3, 4), randn(2, 5, 4), randn(2, 5, 4), randn(3, 5)]


def recurrent():
    for op, gates in (("_thnn_fused_gru_cell", 3), ("_thnn_fused_lstm_cell", 4)):
        yield op, op, lambda: [randn(2, gates * 3), randn(2, gates * 3), randn(2, 3),
                               randn(gates * 3), randn(gates * 3)]
        yield op + "_no_bias", op, lambda: [randn(2, gates * 3), randn(2, gates * 3), randn(2, 3)]


def composition():
    for op in ("sinh", "cosh", "atan", "exp2", "softsign", "tanhshrink", "softmin"):
        yield op, op, lambda: [randn(3, 4)]
    for op in ("asin", "acos"):
        yield op, op, lambda: [torch.rand(3, 4) * 1.8 - 0.9]
    yield "lerp", "lerp", lambda: [randn(3, 4), randn(4), 0.3]
    yield "addcmul", "addcmul", lambda: [randn(3, 4), randn(3, 4), randn(4), 1.5]
    yield "addcdiv", "addcdiv", lambda: [randn(3, 4), randn(3, 4), positive(3, 4), -0.5]
    yield "atan2", "atan2", lambda: [randn(3, 4), randn(3, 4)]
    yield "isinf", "isinf", lambda: [const(torch.tensor(SPECIAL))]
    yield "normalize", "normalize", lambda: [randn(3, 4)]
    yield "normalize_dim0", "normalize", lambda: [randn(3, 4), 2.0, 0, 1e-12]
    yield "cosine_similarity", "cosine_similarity", lambda: [randn(3, 4), randn(3, 4)]
    yield "pairwise_distance", "pairwise_distance", lambda: [randn(3, 4), randn(3, 4)]
    yield "rms_norm", "rms_norm", lambda: [randn(3, 4), [4], positive(4), 1e-5]
    yield "rms_norm_of_two", "rms_norm", lambda: [randn(2, 3, 4), [3, 4], None, 1e-5]
    yield "instance_norm", "instance_norm", lambda: [randn(2, 3, 2, 4)]
    yield "instance_norm_affine", "instance_norm", lambda: [
        randn(2, 3, 5), None, None, positive(3), randn(3), True, 0.1, 1e-3]
    yield "instance_norm_moving", "instance_norm", lambda: [
        randn(2, 3, 5), const(randn(3)), const(positive(3)), positive(3), randn(3), True, 0.3]
    yield "instance_norm_running", "instance_norm", lambda: [
        randn(2, 3, 4, 2), const(randn(3)), const(positive(3)), positive(3), randn(3), False]
    yield "group_norm", "group_norm", lambda: [randn(2, 4, 3), 2, positive(4), randn(4)]
    yield "group_norm_plain", "group_norm", lambda: [randn(2, 6), 3]
    yield "dot", "dot", lambda: [randn(5), randn(5)]
    yield "mv", "mv", lambda: [randn(3, 4), randn(4)]
    yield "einsum", "einsum", lambda: ["ij,jk->ik", [randn(2, 3), randn(3, 4)]]
    yield "einsum_turned", "einsum", lambda: ["bij,bkj->kbi", [randn(2, 3, 4), randn(2, 5, 4)]]
    yield "einsum_implicit", "einsum", lambda: ["ba,cb", [randn(2, 3), randn(4, 2)]]
    yield "einsum_three", "einsum", lambda: [
        "ij,jk,kl->il", [randn(2, 3), randn(3, 4), randn(4, 2)]]
    yield "einsum_sum", "einsum", lambda: ["ij,j->", [randn(2, 3), randn(3)]]
    yield "bilinear", "bilinear", lambda: [randn(3, 4), randn(3, 2), randn(5, 4, 2), randn(5)]
    yield "bilinear_of_rows", "bilinear", lambda: [randn(2, 3, 4), randn(2, 3, 1), randn(2, 4, 1)]
    yield "rrelu", "rrelu", lambda: [randn(3, 4)]
    yield "rrelu_of_one_slope", "rrelu", lambda: [randn(3, 4), 0.25, 0.25, True]
    yield "outer", "outer", lambda: [randn(3), randn(4)]
    yield "pixel_shuffle", "pixel_shuffle", lambda: [randn(2, 8, 2, 3), 2]
    yield "vstack", "vstack", lambda: [[randn(3), randn(2, 3)]]
    yield "hstack", "hstack", lambda: [[randn(2, 1), randn(2, 3)]]


def selection():
    yield "nonzero", "nonzero", lambda: [randn(3, 4) > 0]
    yield "nonzero_tuple", "nonzero", lambda: [integers(3, 2, 3, 2), True]
    yield "nonzero_number", "nonzero", lambda: [torch.tensor(2.5)]
    yield "where_alone", "where", lambda: [randn(3, 4) > 0]
    yield "where_other_number", "where", lambda: [randn(2, 3) > 0, randn(2, 3), -1.5]
    yield "where_input_number", "where", lambda: [randn(2, 3) > 0, 0.25, randn(3)]
    yield "where_half_number", "where", lambda: [
        randn(2, 3) > 0, randn(2, 3, dtype=torch.bfloat16), -1.5]
    yield "masked_select", "masked_select", lambda: [randn(3, 4), randn(3, 4) > 0]
    yield "masked_select_broadcast", "masked_select", lambda: [randn(3, 1), randn(2, 1, 4) > 0]
    yield "masked_select_number", "masked_select", lambda: [randn(), torch.tensor(True)]
    yield "masked_select_integers", "masked_select", lambda: [integers(9, 3, 4), randn(3, 4) > 0]
    yield "index_mask", "index", lambda: [randn(3, 4), [randn(3, 4) > 0]]
    yield "index_mask_of_rows", "index", lambda: [randn(4, 2), [randn(4) > 0]]
    yield "index_mask_behind", "index", lambda: [randn(2, 4, 3), [randn(4) > 0], [1]]
    yield "index_mask_and_numbers", "index", lambda: [
        randn(3, 4), [torch.tensor([True, False, True]), torch.tensor([1, 3])]]
    yield "take_along_dim", "take_along_dim", lambda: [randn(3, 4), integers(4, 3, 2), 1]
    yield "take_along_dim_wide", "take_along_dim", lambda: [randn(1, 4), integers(4, 3, 1), 1]
    yield "take_along_dim_flat", "take_along_dim", lambda: [randn(3, 4), integers(12, 5)]
    yield "diagonal", "diagonal", lambda: [randn(3, 4)]
    yield "diagonal_below", "diagonal", lambda: [randn(2, 3, 4), -1, 2, 1]
    yield "diagonal_outside", "diagonal", lambda: [const(randn(2, 3)), 7]


def powers():
    yield "lp_pool1d", "lp_pool1d", lambda: [positive(2, 3, 7), 2.0, 3, 2]
    yield "lp_pool1d_ceil", "lp_pool1d", lambda: [positive(3, 8), 3.0, 3, None, True]
    yield "lp_pool2d", "lp_pool2d", lambda: [positive(1, 2, 5, 6), 2.0, [2, 3]]
    yield "lp_pool2d_stride", "lp_pool2d", lambda: [positive(1, 2, 5, 6), 1.5, [3, 3], [2, 1], True]
    yield "lp_pool3d", "lp_pool3d", lambda: [positive(1, 2, 4, 3, 5), 2.0, [2, 1, 3]]
    yield "multilabel", "multilabel_soft_margin_loss", lambda: [randn(3, 4), torch.rand(3, 4)]
    yield "multilabel_weight", "multilabel_soft_margin_loss", lambda: [
        randn(3, 4), torch.rand(3, 4), const(positive(4)), "none"]
    yield "multilabel_sum", "multilabel_soft_margin_loss", lambda: [
        randn(2, 5), torch.rand(2, 5), None, "sum"]
    yield "parameters_to_vector", "parameters_to_vector", lambda: [[randn(2, 3), randn(4), randn(1, 2)]]
    yield "total_norm", "get_total_norm", lambda: [[const(randn(2, 3)), const(randn(4))]]
    yield "total_norm_of_ones", "get_total_norm", lambda: [[const(randn(2, 3)), const(randn(4))], 1.0]


def remainders():
    yield "remainder", "remainder", lambda: [randn(2, 3) * 5, randn(3)]
    yield "remainder_number", "remainder", lambda: [randn(2, 3) * 5, -1.5]
    yield "remainder_integers", "remainder", lambda: [integers(19, 2, 3) - 9, integers(4, 3) + 1]
    yield "remainder_of_integers", "remainder", lambda: [integers(19, 2, 3) - 9, -4]
    yield "remainder_half", "remainder", lambda: [randn(2, 3, dtype=torch.bfloat16), 0.75]
    yield "remainder_special", "remainder", lambda: [const(torch.tensor(SPECIAL)), 1.0]
    yield "rsub_tensor", "rsub", lambda: [randn(2, 3), randn(3)]
    yield "rsub_alpha", "rsub", lambda: [randn(2, 3), randn(2, 1), 1.5]
    yield "rsub_number_alpha", "rsub", lambda: [randn(2, 3), 2.0, -0.5]
    yield "lerp_tensor", "lerp", lambda: [randn(2, 3), randn(2, 3), torch.rand(3)]
    yield "var_biased", "var", lambda: [randn(3, 4), None, False]
    yield "std_biased", "std", lambda: [randn(3, 4), [1], False, True]
    yield "std_correction", "std", lambda: [randn(3, 4), [0], None, False, 2]
    yield "nan_to_num", "nan_to_num", lambda: [torch.tensor(SPECIAL)]
    yield "nan_to_num_given", "nan_to_num", lambda: [torch.tensor(SPECIAL), 1.5, 7.0, -7.0]
    yield "nan_to_num_half", "nan_to_num", lambda: [const(torch.tensor(SPECIAL).bfloat16())]
    yield "nan_to_num_integers", "nan_to_num", lambda: [integers(9, 2, 3)]
    yield "positive", "positive", lambda: [randn(2, 3)]
    yield "einsum_ellipsis", "einsum", lambda: [
        "...ij,...jk->...ik", [randn(2, 3, 4), randn(2, 4, 2)]]
    yield "einsum_ellipsis_of_one", "einsum", lambda: ["...ij,jk", [randn(2, 2, 3, 4), randn(4, 2)]]
    yield "einsum_ellipsis_wide", "einsum", lambda: [
        "b...i,b...i->b...", [randn(2, 3, 4), randn(2, 1, 4)]]
    yield "einsum_ellipsis_summed", "einsum", lambda: ["i...->i", [randn(2, 3, 4)]]
    yield "einsum_trace", "einsum", lambda: ["ii->", [randn(3, 3)]]
    yield "einsum_diagonals", "einsum", lambda: ["bii,ij->ibj", [randn(2, 3, 3), randn(3, 2)]]
    yield "einsum_ones", "einsum", lambda: ["bik,cik,cj->bcj", [randn(1, 3, 4), randn(2, 3, 4), randn(2, 1)]]



def grids():
    yield "reshape_as", "reshape_as", lambda: [randn(2, 6), const(randn(3, 4))]
    yield "ravel", "ravel", lambda: [randn(2, 3)]
    yield "broadcast_to", "broadcast_to", lambda: [randn(3, 1), [2, 3, 4]]
    yield "broadcast_tensors", "broadcast_tensors", lambda: [[randn(3, 1), randn(1, 4)]]
    yield "sum_to_size", "sum_to_size", lambda: [randn(2, 3, 4), [3, 1]]
    yield "sum_to_size_same_dims", "sum_to_size", lambda: [randn(2, 3, 4), [2, 1, 4]]
    yield "meshgrid", "meshgrid", lambda: [[randn(3), randn(4)]]
    yield "meshgrid_xy", "meshgrid", lambda: [[randn(3), randn(4), randn(2)], "xy"]
    yield "meshgrid_of_one", "meshgrid", lambda: [[randn(3)], "xy"]
    yield "unfold", "unfold", lambda: [randn(2, 7), 1, 3, 1]
    yield "unfold_apart", "unfold", lambda: [randn(7, 2), 0, 2, 3]
    yield "unfold_gaps", "unfold", lambda: [randn(2, 8, 2), -2, 3, 2]
    yield "div_floor", "div", lambda: [randn(2, 3) * 4, positive(3), "floor"]
    yield "div_trunc", "div", lambda: [randn(2, 3) * 4, positive(3), "trunc"]
    yield "div_trunc_number", "div", lambda: [randn(2, 3) * 4, -1.5, "trunc"]
    yield "div_floor_integers", "div", lambda: [integers(9, 2, 3) - 4, 3, "floor"]
    yield "div_trunc_integers", "div", lambda: [integers(9, 2, 3) - 4, 3, "trunc"]
    near = lambda *shape: const(randn(*shape).mul(1e3).round().div(1e3))
    yield "isclose", "isclose", lambda: [const(torch.tensor([1.0, 1.0, math.inf, -math.inf, math.nan,
                                                             0.0, 100.0])),
                                         const(torch.tensor([1.0, 1.0001, math.inf, math.inf,
                                                             math.nan, 1e-9, 100.0009]))]
    yield "isclose_nan", "isclose", lambda: [
        const(torch.tensor([1.0, math.nan, math.nan])), const(torch.tensor([1.0, math.nan, 1.0])),
        1e-5, 1e-8, True]
    yield "isclose_tolerances", "isclose", lambda: [near(3, 4), near(4), 0.5, 0.25]
    yield "isclose_exact", "isclose", lambda: [near(2, 3), near(2, 3), 0.0, 0.0]
    yield "isclose_integers", "isclose", lambda: [integers(9, 2, 3), integers(9, 2, 3), 0.25]
    yield "logical_xor", "logical_xor", lambda: [integers(2, 2, 3), integers(3, 2, 3)]
    yield "logical_xor_floats", "logical_xor", lambda: [const(torch.relu(randn(2, 3))), const(randn(3))]
    yield "bitwise_xor", "bitwise_xor", lambda: [integers(2, 2, 3) > 0, integers(2, 3) > 0]


def sampling():
    for dtype in HALVES:
        name = str(dtype)[6:]
        yield f"unfold_{name}", "im2col", lambda: [randn(2, 2, 4, 5, dtype=dtype), [2]]
        yield f"fold_{name}", "fold", lambda: [randn(2, 8, 12, dtype=dtype), [4, 5], [2]]
        yield f"adaptive_max_pool2d_{name}", "adaptive_max_pool2d", lambda: [
            randn(2, 2, 5, 7, dtype=dtype), [3]]
        if dtype != torch.bfloat16:
            yield f"affine_grid_{name}", "affine_grid", lambda: [
                randn(2, 2, 3, dtype=dtype), [2, 1, 4, 3]]
    yield "unfold_strided", "im2col", lambda: [randn(2, 5, 6), [3, 2], [1, 2], [1, 0], [2, 1]]
    yield "unfold_one_pixel", "im2col", lambda: [randn(2, 3, 3, 2), [1]]
    yield "fold_strided", "fold", lambda: [randn(12, 12), [5, 6], [3, 2], [1, 2], [1, 0], [2, 1]]
    yield "adaptive_max_pool2d_one_image", "adaptive_max_pool2d", lambda: [randn(3, 6, 5), [2, 4]]
    yield "adaptive_max_pool2d_larger", "adaptive_max_pool2d", lambda: [randn(1, 2, 3, 2), [5]]
    yield "adaptive_max_pool1d", "adaptive_max_pool1d", lambda: [randn(2, 3, 8), [3]]
    yield "adaptive_max_pool1d_one_line", "adaptive_max_pool1d", lambda: [randn(3, 8), [5]]
    yield "pixel_unshuffle", "pixel_unshuffle", lambda: [randn(2, 2, 4, 6), 2]
    yield "channel_shuffle", "channel_shuffle", lambda: [randn(2, 6, 2, 3), 3]
    yield "affine_grid_corners", "affine_grid", lambda: [randn(1, 2, 3), [1, 2, 3, 4], True]
    yield "affine_grid_one_row", "affine_grid", lambda: [randn(1, 2, 3), [1, 2, 1, 4]]
    yield "local_response_norm", "local_response_norm", lambda: [randn(2, 5, 3, 2), 3, 0.5]
    yield "local_response_norm_lines", "local_response_norm", lambda: [
        randn(2, 4, 3), 2, 0.3, 1.5, 2.0]
    for mode in ("bilinear", "nearest", "bicubic"):
        for outside in ("zeros", "border", "reflection"):
            for corners in (False, True):
                yield f"grid_sample_{mode}_{outside}_{corners}", "grid_sample", lambda: [
                    randn(2, 2, 4, 5), randn(2, 3, 3, 2), mode, outside, corners]
    yield "grid_sample_far", "grid_sample", lambda: [
        randn(1, 1, 3, 4, dtype=torch.float64), randn(1, 4, 4, 2, dtype=torch.float64) * 4,
        "bilinear", "reflection"]
    for reduction_name in ("none", "mean", "sum"):
        yield f"soft_margin_{reduction_name}", "soft_margin_loss", lambda: [
            randn(3, 4), const(randn(3, 4).sign()), reduction_name]
        yield f"multi_margin_{reduction_name}", "multi_margin_loss", lambda: [
            randn(4, 3), integers(3, 4), 1, 0.8, None, reduction_name]
        yield f"multi_margin_squared_{reduction_name}", "multi_margin_loss", lambda: [
            randn(4, 3), integers(3, 4), 2, 1.0, const(positive(3)), reduction_name]
        yield f"cosine_embedding_{reduction_name}", "cosine_embedding_loss", lambda: [
            randn(4, 3), randn(4, 3), const(randn(4).sign()), -0.2, reduction_name]
        yield f"gaussian_nll_{reduction_name}", "gaussian_nll_loss", lambda: [
            randn(3, 4), randn(3, 4), positive(3, 4), False, 1e-6, reduction_name]
    yield "multi_margin_one_sample", "multi_margin_loss", lambda: [randn(5), torch.tensor(2)]
    yield "cosine_embedding_one_pair", "cosine_embedding_loss", lambda: [
        randn(5), randn(5), const(torch.tensor(-1.0)), -0.9]
    yield "gaussian_nll_full", "gaussian_nll_loss", lambda: [
        randn(3, 4), randn(3, 4), positive(3), True]
    yield "gaussian_nll_small", "gaussian_nll_loss", lambda: [
        randn(3, 4), randn(3, 4), positive(3, 1), False, 0.6]


def assembly():
    yield "tensor_split", "tensor_split", lambda: [randn(7, 2), 3]
    yield "tensor_split_indices", "tensor_split", lambda: [randn(2, 5), None, 1, [1, 4]]
    yield "hsplit", "hsplit", lambda: [randn(2, 6), 3]
    yield "hsplit_vector", "hsplit", lambda: [randn(6), None, [2]]
    yield "vsplit", "vsplit", lambda: [randn(4, 2), 2]
    yield "dsplit", "dsplit", lambda: [randn(2, 1, 4), 2]
    yield "split_with_sizes", "split_with_sizes", lambda: [randn(5, 2), [2, 3]]
    yield "split_with_one_size", "split_with_sizes", lambda: [randn(2, 3), [3], 1]
    for op in ("atleast_1d", "atleast_2d", "atleast_3d"):
        yield op, op, lambda: [randn(3)]
        yield f"{op}_of_number", op, lambda: [randn()]
    yield "dstack", "dstack", lambda: [[randn(2, 3), randn(2, 3)]]
    yield "column_stack", "column_stack", lambda: [[randn(3), randn(3, 2)]]
    yield "cartesian_prod", "cartesian_prod", lambda: [[randn(3), randn(2), randn(2)]]
    yield "block_diag", "block_diag", lambda: [[randn(2, 3), randn(2), randn(), randn(1, 2)]]
    yield "diag_embed", "diag_embed", lambda: [randn(2, 3), 1]
    yield "diag_embed_dims", "diag_embed", lambda: [randn(2, 3, 2), -1, 0, 2]
    yield "diag", "diag", lambda: [randn(3, 4), 1]
    yield "diag_of_vector", "diag", lambda: [randn(3), -1]
    yield "diagflat", "diagflat", lambda: [randn(2, 2)]
    yield "trace", "trace", lambda: [randn(3, 4)]
    yield "trace_square", "trace", lambda: [randn(3, 3)]
    for k in (0, 1, 2, 3, -1):
        yield f"rot90_{k}", "rot90", lambda: [randn(2, 3, 2), k, [0, 1]]
    yield "rot90_dims", "rot90", lambda: [randn(2, 3, 2), 1, [2, 0]]
    yield "diff", "diff", lambda: [randn(2, 5)]
    yield "diff_twice", "diff", lambda: [randn(4, 3), 2, 0]
    yield "diff_never", "diff", lambda: [randn(4), 0]
    yield "diff_with_ends", "diff", lambda: [randn(2, 3), 1, -1, randn(2, 1), randn(2, 2)]
    yield "diff_bools", "diff", lambda: [randn(7) > 0]
    yield "fliplr", "fliplr", lambda: [randn(2, 3)]
    yield "flipud", "flipud", lambda: [randn(2, 3)]
    yield "tensordot", "tensordot", lambda: [randn(2, 3, 4), randn(3, 4, 2)]
    yield "tensordot_one", "tensordot", lambda: [randn(2, 3), randn(3, 4), 1]
    yield "tensordot_outer", "tensordot", lambda: [randn(2), randn(3), 0]
    yield "tensordot_pairs", "tensordot", lambda: [
        randn(2, 3, 4), randn(4, 5, 2), 2, [0, 2], [2, 0]]
    yield "tensordot_single", "tensordot", lambda: [randn(2, 3), randn(1, 4), 1, [1], [0]]
    yield "inner", "inner", lambda: [randn(2, 3), randn(4, 3)]
    yield "inner_number", "inner", lambda: [randn(2, 3), randn()]
    yield "vdot", "vdot", lambda: [randn(4), randn(4)]
    yield "kron", "kron", lambda: [randn(2, 3), randn(3, 2)]
    yield "kron_dims", "kron", lambda: [randn(2), randn(2, 2, 3)]
    yield "cross", "cross", lambda: [randn(2, 3), randn(2, 3), 1]
    yield "cross_first", "cross", lambda: [randn(4, 3, 3), randn(4, 3, 3)]
    yield "cross_broadcast", "cross", lambda: [randn(3, 4), randn(3, 1), 0]


def special():
    for op in ("asinh", "erfc", "sinc", "trunc", "frac", "deg2rad", "rad2deg"):
        yield op, op, lambda: [randn(3, 4) * 2]
        yield f"{op}_double", op, lambda: [randn(3, 4, dtype=torch.float64) * 2]
    for op in ("acosh", "lgamma", "digamma"):
        yield op, op, lambda: [positive(3, 4) * 5 + 1]
        yield f"{op}_double", op, lambda: [positive(3, 4, dtype=torch.float64) * 5 + 1]
    yield "lgamma_negative", "lgamma", lambda: [-positive(3, 4, dtype=torch.float64) * 5]
    yield "digamma_negative", "digamma", lambda: [-positive(3, 4, dtype=torch.float64) * 5]
    for op in ("atanh", "erfinv"):
        yield op, op, lambda: [torch.rand(3, 4) * 1.8 - 0.9]
        yield f"{op}_double", op, lambda: [torch.rand(3, 4, dtype=torch.float64) * 1.9 - 0.95]
    for op in ("erfinv", "sinc", "trunc", "frac", "lgamma", "digamma", "erfc", "asinh"):
        yield f"{op}_special", op, lambda: [const(torch.tensor(SPECIAL + [1.0, -1.0]))]
    yield "asinh_bfloat16", "asinh", lambda: [randn(3, 4, dtype=torch.bfloat16)]
    yield "logit", "logit", lambda: [torch.rand(3, 4)]
    yield "logit_eps", "logit", lambda: [torch.rand(3, 4) * 1.2 - 0.1, 0.2]
    yield "logit_outside", "logit", lambda: [torch.tensor([-0.5, 0.25, 1.5])]
    for op in ("erfc_", "sinc_", "trunc_", "frac_"):
        yield op, op, lambda: [const(randn(3, 4) * 2)]
    for op in ("lgamma_", "digamma_"):
        yield op, op, lambda: [const(positive(3, 4) * 5 + 1)]
    for op in ("erfinv_", "logit_"):
        yield op, op, lambda: [const(torch.rand(3, 4) * 0.9)]
    for op in ("logaddexp", "logaddexp2", "hypot", "fmod", "copysign"):
        yield op, op, lambda: [randn(2, 3) * 2, randn(3)]
        yield f"{op}_double", op, lambda: [
            randn(2, 1, dtype=torch.float64), randn(2, 3, dtype=torch.float64)]
        yield f"{op}_special", op, lambda: [
            const(torch.tensor(SPECIAL)), const(torch.tensor(SPECIAL[::-1]))]
    yield "logaddexp_infinite", "logaddexp", lambda: [
        const(torch.tensor([math.inf, -math.inf, math.inf])),
        const(torch.tensor([math.inf, -math.inf, -math.inf]))]
    yield "fmod_number", "fmod", lambda: [randn(2, 3) * 4, 1.5]
    yield "copysign_number", "copysign", lambda: [randn(2, 3), -1.5]
    yield "copysign_zero", "copysign", lambda: [torch.tensor([0.0, 2.0, -3.0]), torch.tensor([-2.0, -0.0, 1.0])]
    yield "heaviside", "heaviside", lambda: [const(torch.tensor([0.0, -1.5, 2.0])), const(torch.tensor([0.5]))]
    yield "float_power", "float_power", lambda: [positive(2, 3), 1.5]
    yield "float_power_tensor", "float_power", lambda: [positive(2, 3), randn(3)]
    yield "float_power_integers", "float_power", lambda: [integers(5, 2, 3), 2.0]


def ranking():
    yield "aminmax", "aminmax", lambda: [const(randn(3, 4))]
    yield "aminmax_dim", "aminmax", lambda: [const(randn(2, 3, 4)), 1]
    yield "aminmax_kept", "aminmax", lambda: [const(randn(3, 4, dtype=torch.bfloat16)), -1, True]
    yield "aminmax_integers", "aminmax", lambda: [integers(99, 3, 4) - 50, 0]
    for op in ("cummax", "cummin"):
        yield op, op, lambda: [randn(2, 5, 3), 1]
        yield f"{op}_ties", op, lambda: [torch.tensor([1.0, 3.0, 3.0, 2.0, 1.0, 1.0]), 0]
        yield f"{op}_nan", op, lambda: [const(torch.tensor(SPECIAL)), 0]
        yield f"{op}_integers", op, lambda: [integers(9, 2, 6), -1]
    yield "logcumsumexp", "logcumsumexp", lambda: [randn(2, 5, 3), 1]
    yield "logcumsumexp_double", "logcumsumexp", lambda: [randn(6, dtype=torch.float64) * 9, 0]
    yield "logcumsumexp_infinite", "logcumsumexp", lambda: [
        const(torch.tensor([-math.inf, -math.inf, 1.0, 2.0])), 0]
    yield "median", "median", lambda: [randn(3, 4)]
    yield "median_ties", "median", lambda: [torch.tensor([2.0, 1.0, 2.0, 2.0, 5.0])]
    yield "median_nan", "median", lambda: [const(torch.tensor(SPECIAL))]
    yield "median_dim", "median", lambda: [randn(3, 5), 1]
    yield "median_dim_kept", "median", lambda: [randn(3, 4, 2), 1, True]
    yield "median_integers", "median", lambda: [integers(90, 7)]
    yield "kthvalue", "kthvalue", lambda: [randn(3, 5), 2]
    yield "kthvalue_kept", "kthvalue", lambda: [randn(3, 4, 2), 4, 1, True]
    yield "mode", "mode", lambda: [randn(3, 5), 1]
    yield "mode_kept", "mode", lambda: [randn(3, 4, 2), 0, True]
    yield "msort", "msort", lambda: [randn(4, 3)]
    for op in ("var_mean", "std_mean"):
        yield op, op, lambda: [randn(3, 4)]
        yield f"{op}_dim", op, lambda: [randn(2, 3, 4), [0, 2], None, True, 0]
        yield f"{op}_double", op, lambda: [randn(3, 4, dtype=torch.float64), [1], False]
    for op in ("nansum", "nanmean"):
        yield op, op, lambda: [torch.tensor([[1.0, math.nan, 2.5], [0.5, -1.0, math.nan]])]
        yield f"{op}_dim", op, lambda: [torch.tensor([[1.0, math.nan, 2.5], [0.5, -1.0, 4.0]]), [1], True]
    yield "nansum_integers", "nansum", lambda: [integers(9, 2, 3)]
    yield "count_nonzero", "count_nonzero", lambda: [integers(3, 4, 5)]
    yield "count_nonzero_dim", "count_nonzero", lambda: [const(torch.tensor([[0.0, math.nan], [1.0, 0.0]])), [0]]
    yield "argwhere", "argwhere", lambda: [integers(2, 3, 4)]


def placing():
    yield "index_fill", "index_fill", lambda: [randn(3, 4), 1, torch.tensor([2, 0]), 0.5]
    yield "index_fill_integers", "index_fill", lambda: [integers(9, 3, 4), 0, torch.tensor([2]), -3.0]
    yield "index_fill_", "index_fill_", lambda: [const(randn(3, 4)), 0, torch.tensor([2, 0]), 0.5]
    yield "index_copy", "index_copy", lambda: [randn(3, 4), 0, torch.tensor([2, 0]), randn(2, 4)]
    yield "index_copy_last", "index_copy", lambda: [randn(3, 4), -1, torch.tensor([3]), randn(3, 1)]
    yield "index_copy_", "index_copy_", lambda: [
        const(randn(3, 4)), 0, torch.tensor([2, 0]), const(randn(2, 4))]
    yield "masked_scatter", "masked_scatter", lambda: [
        randn(3, 4), torch.tensor([True, False, False, True]), randn(2, 4)]
    yield "masked_scatter_whole", "masked_scatter", lambda: [randn(2, 3), torch.ones(2, 3) > 0, randn(6)]
    yield "masked_scatter_", "masked_scatter_", lambda: [
        const(randn(3, 4)), torch.tensor([True, False, True, False]), const(randn(6))]
    for reduce in ("sum", "prod", "mean", "amax", "amin"):
        for include in (True, False):
            of = const if reduce == "prod" else lambda x: x
            yield f"scatter_reduce_{reduce}_{include}", "scatter_reduce", lambda: [
                of(randn(3, 4)), 1, torch.tensor([[0, 3], [2, 2], [2, 0]]), of(randn(3, 2)), reduce, include]
    yield "scatter_reduce_ties", "scatter_reduce", lambda: [
        torch.tensor([1.0, 2.0]), 0, torch.tensor([0, 0, 1]), torch.tensor([1.0, 1.0, 0.5]), "amax"]
    yield "searchsorted", "searchsorted", lambda: [
        const(torch.tensor([[1.0, 3.0, 3.0, 5.0], [0.0, 2.0, 4.0, 6.0]])),
        const(torch.tensor([[3.0, 6.0, 0.5], [2.0, -1.0, 4.5]]))]
    yield "searchsorted_right", "searchsorted", lambda: [
        const(torch.tensor([1.0, 3.0, 3.0, math.nan])), const(torch.tensor([[3.0, math.nan], [0.0, 9.0]])), True, True]
    yield "searchsorted_side", "searchsorted", lambda: [
        torch.tensor([1, 3, 3, 5]), torch.tensor([3, 5]), False, False, "right"]
    yield "searchsorted_number", "searchsorted", lambda: [const(torch.tensor([1.0, 3.0])), 2.5]
    yield "bucketize", "bucketize", lambda: [const(randn(3, 4)), const(torch.tensor([-0.5, 0.0, 0.5]))]
    yield "isin", "isin", lambda: [integers(9, 3, 4), torch.tensor([1, 4, 7])]
    yield "isin_inverted", "isin", lambda: [integers(9, 12), torch.tensor([[1, 4]]), False, True]
    yield "isin_number", "isin", lambda: [integers(4, 12), 2]
    yield "bincount", "bincount", lambda: [integers(6, 12)]
    yield "bincount_weights", "bincount", lambda: [integers(6, 12), const(randn(12)), 9]
    yield "bincount_doubles", "bincount", lambda: [integers(6, 12), const(randn(12, dtype=torch.float64))]
    yield "histc", "histc", lambda: [const(randn(20)), 5]
    yield "histc_range", "histc", lambda: [const(torch.tensor([0.0, 0.5, 1.0, 2.0, -1.0, 1.5])), 4, 0.0, 2.0]
    for op in ("sinh_", "cosh_", "atan_", "exp2_", "square_"):
        yield op, op, lambda: [const(randn(3, 4))]
    for op in ("asin_", "acos_"):
        yield op, op, lambda: [const(torch.rand(3, 4) * 1.8 - 0.9)]
    yield "pow_", "pow_", lambda: [const(positive(3, 4)), 1.5]
    for op in ("clamp_min_", "clamp_max_"):
        yield op, op, lambda: [const(randn(3, 4)), 0.25]
    for op in ("triu_", "tril_"):
        yield op, op, lambda: [const(randn(2, 4, 3)), 1]
    for op in ("logical_and_", "logical_or_", "logical_xor_"):
        yield op, op, lambda: [randn(2, 3) > 0, randn(3) > 0]
        yield f"{op}_numbers", op, lambda: [const(torch.tensor([0.0, 2.0, math.nan])), torch.tensor([1, 0, 1])]
    yield "logical_not_", "logical_not_", lambda: [const(torch.tensor([0.0, 2.0, -1.0]))]


def writing():
    rows, columns = torch.tensor([2, 0]), torch.tensor([1, -1])
    twice = torch.tensor([1, 1, -2, 0])
    for op, of in (("index_put", lambda x: x), ("index_put_", const)):
        yield op, op, lambda: [of(randn(3, 4)), [rows], of(randn(2, 4))]
        yield f"{op}_pairs", op, lambda: [of(randn(3, 4)), [rows, columns], of(randn(2))]
        yield f"{op}_one_value", op, lambda: [of(randn(3, 4)), [rows], of(randn())]
        yield f"{op}_added", op, lambda: [of(randn(3, 4)), [twice], of(randn(4, 4)), True]
        yield f"{op}_added_row", op, lambda: [of(randn(3, 4)), [twice], of(randn(4)), True]
        yield f"{op}_behind", op, lambda: [
            of(randn(2, 3, 4)), [rows, columns], of(randn(2, 2)), True, [1, 2]]
        yield f"{op}_apart", op, lambda: [
            of(randn(3, 2, 4)), [rows, columns], of(randn(2, 2)), False, [0, 2]]
        yield f"{op}_mask", op, lambda: [
            of(randn(3, 4)), [torch.tensor([True, False, True])], of(randn(2, 4))]
        yield f"{op}_mask_added", op, lambda: [of(randn(2, 3)), [torch.ones(2, 3) > 0], of(randn(6)), True]
    yield "index_put_integers", "index_put", lambda: [
        integers(9, 3, 4), [torch.tensor([[0], [2]]), torch.tensor([1, 3])], integers(9, 2, 2), True]
    yield "index_put_double", "index_put", lambda: [
        randn(3, 4, dtype=torch.float64), [rows], randn(1, 4, dtype=torch.float64)]
    yield "take", "take", lambda: [randn(3, 4), torch.tensor([[5, 0], [-1, 5]])]
    yield "take_integers", "take", lambda: [integers(9, 3, 4), torch.tensor([11, -12])]
    yield "take_number", "take", lambda: [randn(), torch.tensor([0, -1])]
    for op, of in (("put", lambda x: x), ("put_", const)):
        yield op, op, lambda: [of(randn(3, 4)), torch.tensor([[5, 0], [-1, 3]]), of(randn(2, 2))]
        yield f"{op}_other_shape", op, lambda: [of(randn(3, 4)), torch.tensor([5, 0, -1, 3]), of(randn(2, 2))]
        yield f"{op}_added", op, lambda: [of(randn(3, 4)), torch.tensor([5, 0, 5]), of(randn(3)), True]
    yield "put_integers", "put", lambda: [integers(9, 3, 4), torch.tensor([5, 5]), integers(9, 2), True]
    yield "put_bools", "put", lambda: [
        integers(2, 3, 4) > 0, torch.tensor([5, 5]), torch.tensor([True, False]), True]
    for reduce in ("sum", "mean", "amax"):
        yield f"scatter_reduce__{reduce}", "scatter_reduce_", lambda: [
            const(randn(3, 4)), 1, torch.tensor([[0, 3], [2, 2], [2, 0]]), const(randn(3, 2)), reduce]
    for op in ("fmax", "fmin"):
        yield op, op, lambda: [randn(2, 3), randn(3)]
        yield f"{op}_double", op, lambda: [
            randn(2, 1, dtype=torch.float64), randn(2, 3, dtype=torch.float64)]
        yield f"{op}_nan", op, lambda: [
            torch.tensor([math.nan, 1.0, math.nan]), torch.tensor([2.0, math.nan, math.nan])]
        yield f"{op}_special", op, lambda: [
            const(torch.tensor(SPECIAL)), const(torch.tensor(SPECIAL[::-1]))]
        yield f"{op}_integers", op, lambda: [integers(9, 2, 3), integers(9, 3)]
    for op in ("isposinf", "isneginf"):
        yield op, op, lambda: [const(torch.tensor(SPECIAL))]
        yield f"{op}_integers", op, lambda: [integers(9, 2, 3)]
    yield "addmm_weighted", "addmm", lambda: [randn(2), randn(3, 4), randn(4, 2), 0.5, -1.5]
    for op, shapes in (("addmm_", [(3, 2), (3, 4), (4, 2)]), ("addmv_", [(3,), (3, 4), (4,)]),
                       ("addr_", [(3, 4), (3,), (4,)]),
                       ("baddbmm_", [(2, 3, 2), (2, 3, 4), (2, 4, 2)]),
                       ("addbmm_", [(3, 2), (2, 3, 4), (2, 4, 2)]),
                       ("addbmm", [(2,), (2, 3, 4), (2, 4, 2)])):
        of = const if op.endswith("_") else lambda tensor: tensor
        drawn = lambda: [of(randn(*shape)) for shape in shapes]
        yield op, op, drawn
        yield f"{op}_weighted", op, lambda: [*drawn(), 0.5, -1.5]
        yield f"{op}_alpha", op, lambda: [*drawn(), 1.0, 2.0]
        yield f"{op}_beta_zero", op, lambda: [*drawn(), 0.0, 1.0]
    yield "addbmm_empty", "addbmm", lambda: [randn(3, 2), randn(0, 3, 4), randn(0, 4, 2), 2.0]
    yield "addmv", "addmv", lambda: [randn(3), randn(3, 4), randn(4)]
    yield "addmv_scaled", "addmv", lambda: [randn(1), randn(3, 4), randn(4), 0.5, -2.0]
    yield "addmv_beta_zero", "addmv", lambda: [
        const(torch.tensor([math.nan])), const(randn(3, 4)), const(randn(4)), 0.0]
    yield "addr", "addr", lambda: [randn(3, 4), randn(3), randn(4)]
    yield "addr_scaled", "addr", lambda: [randn(4), randn(3), randn(4), 0.5, -2.0]
    for op in ("trapezoid", "cumulative_trapezoid"):
        yield op, op, lambda: [randn(3, 5)]
        yield f"{op}_step", op, lambda: [randn(3, 5), None, 0.25, 0]
        yield f"{op}_places", op, lambda: [randn(3, 5), randn(5)]
        yield f"{op}_all_places", op, lambda: [randn(3, 2, 5), randn(2, 5), 1.0, 1]
        yield f"{op}_integers", op, lambda: [integers(9, 3, 5)]
        yield f"{op}_double", op, lambda: [randn(3, 5, dtype=torch.float64), randn(3, 5, dtype=torch.float64)]
    for dtype in (torch.uint8, torch.bool, torch.bfloat16):
        yield f"unique_{str(dtype)[6:]}", "unique", lambda: [const(integers(3, 3, 4).to(dtype)), True, True, True]
    for op, flags in (("unique", [True]), ("unique_consecutive", [])):
        yield op, op, lambda: [integers(5, 3, 4)]
        yield f"{op}_inverse", op, lambda: [integers(3, 12), *flags, True]
        yield f"{op}_counts", op, lambda: [integers(3, 12), *flags, False, True]
        yield f"{op}_all", op, lambda: [const(torch.randint(0, 3, (3, 4)).double() / 4), *flags, True, True]
        yield f"{op}_nan", op, lambda: [
            const(torch.tensor([math.nan, 1.0, 1.0, math.nan, math.inf, math.inf])), *flags, True, True]
        yield f"{op}_empty", op, lambda: [const(torch.zeros(0, 3)), *flags, True, True]
    numbers = [[1.0, math.nan, 3.0, 2.5], [math.nan, -1.0, math.nan, 0.5], [4.0, 0.25, -2.0, 1.5]]
    for op in ("quantile", "nanquantile"):
        yield op, op, lambda: [randn(3, 5), 0.3]
        yield f"{op}_double", op, lambda: [randn(3, 5, dtype=torch.float64), 0.9, 1]
        yield f"{op}_kept", op, lambda: [randn(3, 5), 0.5, 0, True]
        yield f"{op}_whole_kept", op, lambda: [randn(3, 5), 0.5, None, True]
        yield f"{op}_shares", op, lambda: [randn(2, 5, 3), const(torch.tensor([0.0, 0.35, 1.0])), 1]
        yield f"{op}_shares_kept", op, lambda: [randn(2, 5), const(torch.tensor([0.2, 0.8])), -1, True]
        yield f"{op}_number", op, lambda: [randn(), 0.5]
        for interpolation in ("lower", "higher", "midpoint", "nearest"):
            yield f"{op}_{interpolation}", op, lambda: [randn(3, 5), 0.3, 1, False, interpolation]
        yield f"{op}_nan", op, lambda: [torch.tensor(numbers), 0.6, 1]
        yield f"{op}_all_nan", op, lambda: [const(torch.tensor([math.nan, math.nan])), 0.6]
    yield "nanmedian", "nanmedian", lambda: [randn(3, 4)]
    yield "nanmedian_nan", "nanmedian", lambda: [torch.tensor(numbers)]
    yield "nanmedian_all_nan", "nanmedian", lambda: [const(torch.tensor([math.nan, math.nan]))]
    yield "nanmedian_dim", "nanmedian", lambda: [torch.tensor(numbers), 1]
    yield "nanmedian_dim_kept", "nanmedian", lambda: [randn(3, 4, 2), 1, True]
    yield "nanmedian_integers", "nanmedian", lambda: [integers(90, 7)]
    yield "slice_scatter", "slice_scatter", lambda: [randn(3, 6), randn(3, 2), 1, 1, 5, 2]
    yield "slice_scatter_end", "slice_scatter", lambda: [randn(4, 2), randn(2, 2), 0, -2]
    yield "select_scatter", "select_scatter", lambda: [randn(3, 4), randn(3), 1, -1]
    yield "diagonal_scatter", "diagonal_scatter", lambda: [randn(3, 4), randn(3), 1]
    yield "diagonal_scatter_dims", "diagonal_scatter", lambda: [randn(2, 3, 2), randn(3, 2), 0, 0, 2]
    yield "fill_diagonal_", "fill_diagonal_", lambda: [const(randn(3, 4)), 0.5]
    yield "fill_diagonal__tall", "fill_diagonal_", lambda: [integers(9, 5, 2), 7.0]
    yield "fill_diagonal__cube", "fill_diagonal_", lambda: [const(randn(3, 3, 3)), -1.0]
    yield "addcdiv_", "addcdiv_", lambda: [const(randn(3, 4)), const(randn(3, 4)), const(positive(4)), 0.5]
    for p in (2.0, 1.0, math.inf):
        yield f"dist_{p}", "dist", lambda: [randn(3, 4), randn(4), p]
    yield "dist_double", "dist", lambda: [randn(5, dtype=torch.float64), randn(5, dtype=torch.float64)]
    for op in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        yield f"{op}_integers", op, lambda: [integers(99, 2, 3) - 50, integers(99, 3) - 50]
        yield f"{op}_number", op, lambda: [integers(99, 2, 3).int(), 6]
        yield f"{op}_mixed", op, lambda: [integers(99, 2, 3).int(), integers(2, 3) > 0]
    yield "bitwise_not_integers", "bitwise_not", lambda: [integers(99, 2, 3) - 50]
    yield "bitwise_not_bytes", "bitwise_not", lambda: [integers(99, 2, 3).byte()]
    for op in ("bitwise_left_shift", "bitwise_right_shift"):
        for dtype in (torch.int64, torch.int32, torch.uint8):
            yield f"{op}_{str(dtype)[6:]}", op, lambda: [
                (integers(99, 3, 4) - (0 if dtype == torch.uint8 else 50)).to(dtype),
                torch.tensor([0, 3, 7, 31]).to(dtype)]
        yield f"{op}_number", op, lambda: [integers(99, 2, 3), 2]
    for op in ("gcd", "lcm"):
        yield op, op, lambda: [integers(99, 2, 6) - 40, integers(30, 6) - 12]
        yield f"{op}_mixed", op, lambda: [integers(99, 2, 3).int(), integers(30, 3).byte()]
    for op in ("bitwise_and_", "bitwise_or_", "bitwise_xor_"):
        yield op, op, lambda: [integers(99, 2, 3) - 50, integers(99, 3)]
        yield f"{op}_bools", op, lambda: [randn(2, 3) > 0, randn(3) > 0]
        yield f"{op}_number", op, lambda: [integers(99, 2, 3).to(torch.uint8), 6]
    yield "bitwise_not_", "bitwise_not_", lambda: [integers(99, 2, 3) - 50]
    yield "bitwise_not_bools_", "bitwise_not_", lambda: [randn(2, 3) > 0]
    for op in ("bitwise_left_shift_", "bitwise_right_shift_"):
        yield op, op, lambda: [integers(99, 2, 3) - 50, integers(5, 3)]
    for op in ("gcd_", "lcm_"):
        yield op, op, lambda: [integers(99, 2, 3) - 50, integers(9, 3)]
    for op in ("floor_divide_", "remainder_", "fmod_"):
        yield op, op, lambda: [const(randn(2, 3) * 5), const(randn(3))]
        yield f"{op}_number", op, lambda: [const(randn(2, 3, dtype=torch.bfloat16) * 5), -0.75]
    for op in ("floor_divide_", "remainder_"):
        yield f"{op}_integers", op, lambda: [integers(19, 2, 3) - 9, integers(4, 3) + 1]


def complex_numbers():
    both = [torch.complex64, torch.complex128]
    for dtype in both:
        kind = str(dtype)[6:]
        real = torch.float32 if dtype == torch.complex64 else torch.float64
        for op in ("abs", "angle", "conj", "imag", "neg", "real", "resolve_conj", "view_as_real"):
            yield f"{op}_{kind}", op, lambda: [randn(3, 4, dtype=dtype)]
        yield f"view_as_complex_{kind}", "view_as_complex", lambda: [randn(3, 4, 2, dtype=real)]
        yield f"complex_{kind}", "complex", lambda: [randn(3, 4, dtype=real), randn(4, dtype=real)]
        yield f"polar_{kind}", "polar", lambda: [randn(3, 4, dtype=real), randn(4, dtype=real)]
        for op in ("add", "sub", "mul", "div"):
            yield f"{op}_{kind}", op, lambda: [randn(3, 4, dtype=dtype), randn(4, dtype=dtype)]
            yield f"{op}_{kind}_real", op, lambda: [randn(3, 1, dtype=dtype), randn(3, 4, dtype=real)]
            yield f"{op}_real_{kind}", op, lambda: [randn(3, 4, dtype=real), randn(4, dtype=dtype)]
            yield f"{op}_{kind}_number", op, lambda: [randn(3, 4, dtype=dtype), 2.5]
        yield f"rsub_{kind}", "rsub", lambda: [randn(3, 4, dtype=dtype), randn(4, dtype=dtype), 2]
        yield f"sum_{kind}", "sum", lambda: [randn(3, 4, dtype=dtype), [1]]
        yield f"mean_{kind}", "mean", lambda: [randn(3, 4, dtype=dtype), [0]]
        yield f"mean_{kind}_of_all", "mean", lambda: [randn(3, 4, dtype=dtype)]
        for op, arguments in (("cat", [1]), ("stack", [0])):
            yield f"{op}_{kind}", op, lambda: [[randn(3, 4, dtype=dtype), randn(3, 4, dtype=dtype)], *arguments]
        rows = torch.tensor([2, 0, 2])
        yield f"index_{kind}", "index", lambda: [randn(3, 4, dtype=dtype), [rows], None]
        yield f"index_select_{kind}", "index_select", lambda: [randn(3, 4, dtype=dtype), 0, rows]
        yield f"mm_{kind}", "mm", lambda: [randn(3, 4, dtype=dtype), randn(4, 2, dtype=dtype)]
        yield f"bmm_{kind}", "bmm", lambda: [randn(2, 3, 4, dtype=dtype), randn(2, 4, 2, dtype=dtype)]
        yield f"matmul_{kind}", "matmul", lambda: [randn(2, 3, 4, dtype=dtype), randn(4, 2, dtype=dtype)]
        yield f"einsum_{kind}", "einsum", lambda: [
            "bixy,ioxy->boxy", [randn(2, 3, 2, 4, dtype=dtype), randn(3, 2, 2, 4, dtype=dtype)]]
    yield "mul_mixed_complex", "mul", lambda: [randn(3, dtype=torch.complex64), randn(3, dtype=torch.float64)]


def fourier():
    for dtype, real in ((torch.complex64, torch.float32), (torch.complex128, torch.float64)):
        kind = str(dtype)[6:]
        for op, of in (("fft", dtype), ("ifft", dtype), ("rfft", real), ("irfft", dtype)):
            yield f"fft_{op}_{kind}", f"fft_{op}", lambda: [randn(3, 6, dtype=of)]
            yield f"fft_{op}_{kind}_longer", f"fft_{op}", lambda: [randn(2, 5, dtype=of), 7, -1, "ortho"]
            yield f"fft_{op}_{kind}_shorter", f"fft_{op}", lambda: [randn(6, 2, dtype=of), 5, 0, "forward"]
            yield f"fft_{op}2_{kind}", f"fft_{op}2", lambda: [randn(2, 3, 4, dtype=of)]
            yield f"fft_{op}2_{kind}_sizes", f"fft_{op}2", lambda: [randn(2, 3, 4, dtype=of), [4, 3], [0, 2], "ortho"]
            yield f"fft_{op}n_{kind}", f"fft_{op}n", lambda: [randn(2, 3, 4, dtype=of)]
            yield f"fft_{op}n_{kind}_sizes", f"fft_{op}n", lambda: [randn(2, 3, 4, dtype=of), [3, -1], None, "forward"]
        for op in ("fft", "ifft", "fft2"):
            yield f"fft_{op}_{kind}_of_real", f"fft_{op}", lambda: [randn(3, 5, dtype=real)]
        for op in ("fftshift", "ifftshift"):
            yield f"fft_{op}_{kind}", f"fft_{op}", lambda: [randn(3, 4, dtype=dtype)]
            yield f"fft_{op}_{kind}_along", f"fft_{op}", lambda: [randn(3, 5, dtype=dtype), [1]]
    for op in ("fftfreq", "rfftfreq"):
        yield f"fft_{op}", f"fft_{op}", lambda: [7, 0.5]
        yield f"fft_{op}_even", f"fft_{op}", lambda: [6]


def norms():
    yield "norm_count", "norm", lambda: [const(torch.tensor([[0.0, 1.5], [-2.0, math.nan]])), 0.0]
    yield "norm_count_dim", "norm", lambda: [const(torch.tensor([[0.0, 1.5], [-2.0, 3.0]])), 0.0, [1], True]
    for p in (3.0, 2.5, 1.5, 0.5, -1.0, math.inf, -math.inf):
        yield f"norm_{p}", "norm", lambda: [randn(3, 4), p]
        yield f"norm_{p}_dim", "norm", lambda: [randn(3, 4), p, [0]]
        yield f"norm_{p}_dims_kept", "norm", lambda: [randn(2, 3, 4, dtype=torch.float64), p, [0, -1], True]
    for p in (3.0, 1.5, 0.5, math.inf, -math.inf):
        yield f"norm_{p}_zeros", "norm", lambda: [torch.tensor([[0.0, 0.0], [0.0, -2.0]]), p, [1]]
        yield f"norm_{p}_nan", "norm", lambda: [const(torch.tensor([[1.0, math.nan], [0.5, -2.0]])), p, [0]]
        yield f"norm_{p}_one", "norm", lambda: [randn(3, 1), p, [1]]
    for dtype in (torch.float16, torch.bfloat16):
        yield f"norm_{str(dtype)[6:]}_as_float", "norm", lambda: [
            const(randn(3, 4, dtype=dtype)), 2.0, [1], False, torch.float32]
    yield "norm_3_as_double", "norm", lambda: [randn(3, 4), 3.0, [0], True, torch.float64]
    for op in ("clamp_min", "clamp_max"):
        yield f"{op}_of_tensor", op, lambda: [randn(3, 4), randn(4)]
        yield f"{op}_of_column", op, lambda: [randn(4), randn(3, 1)]
    yield "normalize_3", "normalize", lambda: [randn(3, 4), 3.0]
    yield "dist_3", "dist", lambda: [randn(3, 4), randn(4), 3.0]
    yield "pairwise_distance_3", "pairwise_distance", lambda: [randn(3, 4), randn(3, 4), 3.0]


def statistics():
    yield "cov", "cov", lambda: [randn(3, 5)]
    yield "cov_vector", "cov", lambda: [randn(6)]
    yield "cov_correction", "cov", lambda: [randn(3, 5, dtype=torch.float64), 0]
    yield "cov_integers", "cov", lambda: [integers(9, 3, 5)]
    yield "cov_counted", "cov", lambda: [randn(3, 4), 1, torch.tensor([1, 2, 0, 3])]
    yield "cov_weighed", "cov", lambda: [randn(3, 4), 1, None, const(positive(4))]
    yield "cov_both", "cov", lambda: [randn(3, 4), 2, torch.tensor([1, 2, 1, 3]), const(positive(4))]
    yield "cov_nothing_left", "cov", lambda: [const(randn(2, 1))]
    yield "corrcoef", "corrcoef", lambda: [randn(3, 5)]
    yield "corrcoef_vector", "corrcoef", lambda: [const(randn(5))]
    for op in ("hann_window", "hamming_window"):
        for periodic in (True, False):
            for length in (0, 1, 2, 7):
                yield f"{op}_{length}_{periodic}", op, lambda: [length, periodic]
    yield "hamming_window_weights", "hamming_window", lambda: [5, True, 0.6, 0.3]
    def transform(signal, n_fft, hop=None, win=None, window=None, center=True, mode="reflect", normalized=False):
        return [signal, n_fft, hop, win, window, center, mode, normalized, None, True]
    yield "stft", "stft", lambda: transform(randn(20), 8)
    yield "stft_window", "stft", lambda: transform(randn(2, 17), 6, 3, None, const(torch.hann_window(6)))
    yield "stft_narrow_window", "stft", lambda: transform(
        randn(2, 17, dtype=torch.float64), 6, 2, 3, const(torch.hann_window(3).double()), False)
    yield "stft_no_window", "stft", lambda: transform(randn(17), 6, 2, 3, None, True, "constant", True)
    for reduce in ("prod", "mean", "amax", "amin"):
        for include in (True, False):
            yield f"index_reduce_{reduce}_{include}", "index_reduce", lambda: [
                randn(3, 4), 1, torch.tensor([2, 0, 2]), randn(3, 3), reduce, include]
            yield f"index_reduce_{reduce}_{include}_ties", "index_reduce", lambda: [
                torch.tensor([[1.0, 2.0], [0.0, 1.0], [3.0, 0.0]]), 0, torch.tensor([0, 0, 1, 2]),
                torch.tensor([[1.0, 0.0], [1.0, 2.0], [0.0, 1.0], [3.0, 0.0]]), reduce, include]
        yield f"index_reduce__{reduce}", "index_reduce_", lambda: [
            const(randn(4, 2, dtype=torch.float64)), 0, torch.tensor([3, 1, 3]),
            const(randn(3, 2, dtype=torch.float64)), reduce, False]
    for p in (2.0, 3.0, 1.0):
        yield f"cdist_spread_{p}", "cdist", lambda: [randn(3, 4), randn(2, 5, 4), p]
        yield f"cdist_spread_both_{p}", "cdist", lambda: [randn(2, 1, 3, 4), randn(3, 2, 4), p]
    yield "cdist_spread_many", "cdist", lambda: [randn(2, 3, 4), randn(27, 4)]


FAMILIES = (norms, statistics, assembly, complex_numbers, fourier, writing, special, ranking, placing, pointwise, activation, reduction, matmul, view, arrange, indexing, softmax, loss, conv,
            padding, resizing, pooling, unpooling, volumes, sampling, normalization, embedding, attention, recurrent,
            copies,
            composition, selection, remainders, grids, powers)


def number(value):
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def encode_tensor(tensor):
    values = tensor.detach().resolve_conj().reshape(-1)
    if tensor.dtype.is_complex:
        values = torch.view_as_real(values).reshape(-1)
    if values.dtype.is_floating_point:
        digits = 17 if values.dtype == torch.float64 else 9
        values = [number(float(f"{v:.{digits}g}")) for v in values.double().tolist()]
    else:
        values = [int(v) for v in values.tolist()]
    return {"dtype": str(tensor.dtype)[6:], "shape": list(tensor.shape), "values": values}


def encode(argument):
    if isinstance(argument, Const):
        return encode(argument.tensor)
    if isinstance(argument, torch.Tensor):
        return encode_tensor(argument)
    if isinstance(argument, torch.dtype):
        return {"dtype": str(argument)[6:]}
    if isinstance(argument, list):
        return [encode(item) for item in argument]
    return number(argument)


def leaf_or_value(argument):
    if isinstance(argument, Const):
        return argument.tensor
    if isinstance(argument, torch.Tensor) and (argument.dtype.is_floating_point or argument.dtype.is_complex):
        return argument.clone().requires_grad_()
    if isinstance(argument, list):
        return [leaf_or_value(item) for item in argument]
    return argument


def leaves(argument):
    if isinstance(argument, list):
        return [leaf for item in argument for leaf in leaves(item)]
    return [argument] if isinstance(argument, torch.Tensor) and argument.requires_grad else []


def record(name, op, make):
    torch.manual_seed(zlib.crc32(name.encode()))
    arguments = make()
    called = [leaf_or_value(argument) for argument in arguments]
    call = CALLS.get(op) or getattr(torch, op)
    result = call(*called)
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    case = {"name": name, "op": op, "arguments": [encode(argument) for argument in arguments],
            "results": [encode_tensor(tensor) for tensor in results]}
    inputs = [leaf for argument in called for leaf in leaves(argument)]
    if inputs and results[0].requires_grad:
        outputs = [tensor for tensor in results if tensor.requires_grad]
        grads = [randn(*tensor.shape, dtype=tensor.dtype) for tensor in outputs]
        torch.autograd.backward(outputs, grads)
        case["result_gradients"] = [encode_tensor(grad) for grad in grads]
        case["gradients"] = [encode_tensor(leaf.grad) for leaf in inputs]
    return case


def write(family):
    cases = [json.dumps(record(*case)) for case in family()]
    text = '{"torch": "%s",\n"cases": [\n%s\n]}\n' % (torch.__version__, ",\n".join(cases))
    (OUT / f"{family.__name__}.json").write_text(text)
    print(f"{family.__name__}: {len(cases)} cases, {len(text)} bytes")


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for each in FAMILIES:
        if each.__name__ in sys.argv[1:] or not sys.argv[1:]:
            write(each)
