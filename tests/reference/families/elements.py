"""Cases of ops on single elements."""
import math

import torch

from inputs import HALVES, SPECIAL, const, integers, positive, randn


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


def powers():
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
