#!/usr/bin/env python3
"""Records what PyTorch computes for every op: FAMILY.json of the recording tests/golden/reference.

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

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "comparisons"))

import torch

import golden_archives

from calls import CALLS
from families.elements import activation, pointwise, powers, remainders, special
from families.layers import attention, conv, embedding, grids, normalization, padding, pooling, recurrent, resizing, sampling, pool_indices, volumes
from families.losses import loss
from families.places import arrange, assembly, copies, indexing, placing, selection, view, writing
from families.products import composition, matmul
from families.reductions import norms, ranking, reduction, softmax, statistics
from inputs import Const, randn

FAMILIES = (
    norms, statistics, assembly, writing, special, ranking, placing,
    pointwise, activation, reduction, matmul, view, arrange, indexing, softmax, loss, conv, padding,
    resizing, pooling, pool_indices, volumes, sampling, normalization, embedding, attention, recurrent,
    copies, composition, selection, remainders, grids, powers,
)


def number(value):
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def encode_tensor(tensor):
    values = tensor.detach().reshape(-1)
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
    if isinstance(argument, torch.Tensor) and argument.dtype.is_floating_point:
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


def text_of(family):
    cases = [json.dumps(record(*case)) for case in family()]
    text = '{"torch": "%s",\n"cases": [\n%s\n]}\n' % (torch.__version__, ",\n".join(cases))
    print(f"{family.__name__}: {len(cases)} cases, {len(text)} bytes")
    return text


if __name__ == "__main__":
    golden_archives.write("reference", {f"{family.__name__}.json": text_of(family) for family in FAMILIES
                                        if family.__name__ in sys.argv[1:] or not sys.argv[1:]})
