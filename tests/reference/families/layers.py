"""Cases of what layers compute."""
import math

import torch
import torch.nn.functional as F

from inputs import HALVES, SPECIAL, const, integers, positive, randn


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


def pool_indices():
    yield "max_pool1d_with_indices", "max_pool1d", lambda: [
        randn(2, 3, 8), [3], [2], [1], [1], False, True]
    yield "max_pool2d_with_indices", "max_pool2d", lambda: [
        randn(2, 3, 6, 7), [2], None, [0], [1], False, True]
    yield "max_pool3d_with_indices", "max_pool3d", lambda: [
        randn(2, 4, 4, 5), [3, 2, 2], [2, 1, 2], [1, 0, 1], [1], False, True]


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
