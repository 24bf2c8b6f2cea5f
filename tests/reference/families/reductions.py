"""Cases of sums, norms, orders and statistics."""
import math

import torch

from inputs import HALVES, SPECIAL, const, integers, positive, randn


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


def ranking():
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
