"""Cases of ops that move elements, look them up and write them."""
import math

import torch

from inputs import HALVES, SPECIAL, const, integers, positive, randn


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
    yield "nanmedian", "nanmedian", lambda: [randn(3, 4)]
    yield "nanmedian_nan", "nanmedian", lambda: [torch.tensor(numbers)]
    yield "nanmedian_all_nan", "nanmedian", lambda: [const(torch.tensor([math.nan, math.nan]))]
    yield "nanmedian_dim", "nanmedian", lambda: [torch.tensor(numbers), 1]
    yield "nanmedian_dim_kept", "nanmedian", lambda: [randn(3, 4, 2), 1, True]
    yield "nanmedian_integers", "nanmedian", lambda: [integers(90, 7)]
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
