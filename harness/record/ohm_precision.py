"""Operators in half precision that the CPU has for wider numbers alone, or rounds more often than the GPU
(ohm exec --values cpu)."""
import re

REFUSAL = re.compile(r"not implemented for '(Half|BFloat16)'|half to float conversion"
                     r"|expected scalar type (Float but found )?(Half|BFloat16)")
# The GPU rounds their results alone.
ROUNDED_ONCE = frozenset("""grid_sampler_2d grid_sampler_2d_backward grid_sampler_3d grid_sampler_3d_backward
    native_layer_norm native_layer_norm_backward native_group_norm native_group_norm_backward""".split())


def is_narrow(torch, dtype):
    return dtype in (torch.float16, torch.bfloat16)


def widened(torch, value):
    """A tensor, a dtype, or anything else, which stays as it is."""
    if isinstance(value, torch.Tensor):
        return value.float() if is_narrow(torch, value.dtype) else value
    return torch.float32 if isinstance(value, torch.dtype) and is_narrow(torch, value) else value


def is_rounded_once(torch, operator, arguments):
    return operator.base in ROUNDED_ONCE and is_narrow(torch, arguments[0].dtype)


def lacks_half_precision(error):
    return REFUSAL.search(str(error)) is not None


def in_single_precision(values, operator, arguments, named):
    """What the CPU computes of the same numbers with 32 bits. What the operator writes to is rounded again."""
    torch = values.torch
    copies = []  # (tensor, wider one)

    def wide_copy(value):
        if isinstance(value, (list, tuple)):
            return type(value)([wide_copy(item) for item in value])
        wide = widened(torch, value)
        if wide is not value and isinstance(value, torch.Tensor):
            copies.append((value, wide))
        return wide

    given = operator.with_tensors(wide_copy(values.moved(list(arguments))))
    full = operator.full_arguments(given, {k: wide_copy(values.moved(v)) for k, v in named.items()})
    if "half_to_float" in full:  # of softmax
        full["half_to_float"] = False
    found = operator.overload(**full)
    if operator.written_names:
        for tensor, wide in copies:
            tensor.copy_(wide)
    return found
