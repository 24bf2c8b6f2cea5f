#!/usr/bin/env python3
"""Records what PyTorch's modules compute: modules.json of the recording tests/golden/modules.

Run it with any PyTorch for the CPU (Debian: python3-torch). Each case names a module with its
options as a script gives them, its parameters and buffers by name, its inputs, and what comes out:
the results, the gradients of inputs and parameters, the buffers afterwards.
"""
import json
import zlib

import torch
from torch import nn

from calls import rms_norm
from generate import encode, encode_tensor, golden_archives
from inputs import integers, positive, randn


class RMSNorm(nn.Module):
    """Younger than some PyTorch that this may run with."""

    def __init__(self, normalized_shape, eps):
        super().__init__()
        self.shape, self.eps = [normalized_shape], eps
        self.weight = nn.Parameter(torch.ones(self.shape))

    def forward(self, x):
        return rms_norm(x, self.shape, self.weight, self.eps)


# Modules without parameters, from one tensor to one: their names and options.
FUNCTIONS = {
    "Identity": [{}], "ReLU": [{}], "ReLU6": [{}], "GELU": [{}, {"approximate": "tanh"}],
    "SiLU": [{}], "Mish": [{}], "ELU": [{}, {"alpha": 0.5}], "SELU": [{}],
    "CELU": [{}, {"alpha": 0.5}], "Sigmoid": [{}], "LogSigmoid": [{}], "Tanh": [{}],
    "Softplus": [{}, {"beta": 2.0, "threshold": 1.0}],
    "LeakyReLU": [{}, {"negative_slope": 0.3}], "Hardtanh": [{}, {"min_val": -0.5, "max_val": 0.3}],
    "Hardsigmoid": [{}], "Hardswish": [{}], "Hardshrink": [{}, {"lambd": 0.2}],
    "Softshrink": [{}, {"lambd": 0.2}], "Threshold": [{"threshold": 0.1, "value": 2.0}],
    "GLU": [{}, {"dim": 1}], "Flatten": [{}, {"start_dim": 0, "end_dim": 1}],
    "Softsign": [{}], "Tanhshrink": [{}], "Softmin": [{"dim": 1}],
    "Softmax": [{"dim": 1}], "LogSoftmax": [{"dim": -1}],
}


def functions():
    for name, variants in FUNCTIONS.items():
        for options in variants:
            yield name, options, lambda: [randn(2, 2, 4) * 2]
    images = lambda: [randn(1, 2, 6, 5)]
    yield "MaxPool2d", {"kernel_size": [2]}, images
    yield "MaxPool2d", {"kernel_size": [3, 2], "stride": [2, 1], "padding": [1, 0]}, images
    yield "AvgPool2d", {"kernel_size": [3], "stride": [2], "padding": [1]}, images
    yield "AdaptiveAvgPool2d", {"output_size": [3, 2]}, images
    lines = lambda: [randn(2, 3, 8)]
    for dims, make in ((1, lines), (2, images), (3, images)):
        yield f"ZeroPad{dims}d", {"padding": [2]}, make
        pairs = [1, 0, 2, -1, 1, 1][:2 * dims]
        yield f"ZeroPad{dims}d", {"padding": pairs}, make
        yield f"ConstantPad{dims}d", {"padding": pairs, "value": 1.5}, make
    volumes = lambda: [randn(1, 2, 4, 3, 3)]
    for dims, make in ((1, lines), (2, images), (3, volumes)):
        for kind in ("Reflection", "Replication", "Circular"):
            yield f"{kind}Pad{dims}d", {"padding": [2]}, make
            yield f"{kind}Pad{dims}d", {"padding": [1, 0, 2, -1, 1, 1][:2 * dims]}, make
    yield "MaxPool3d", {"kernel_size": [2], "padding": [1]}, volumes
    yield "MaxPool3d", {"kernel_size": [3, 2, 1], "stride": [2, 1, 1], "dilation": [1, 2, 1],
                        "ceil_mode": True}, volumes
    yield "AvgPool3d", {"kernel_size": [3], "stride": [2], "padding": [1]}, volumes
    yield "AvgPool3d", {"kernel_size": [2], "stride": [1], "ceil_mode": True, "padding": [1],
                        "count_include_pad": False, "divisor_override": 3}, volumes
    yield "AdaptiveAvgPool3d", {"output_size": [3, 2, 1]}, volumes
    yield "MaxPool1d", {"kernel_size": [3], "stride": [2], "padding": [1]}, lines
    for dims, make in ((1, lines), (2, images), (3, volumes)):
        yield f"MaxPool{dims}d", {"kernel_size": [2], "return_indices": True}, make
    yield "AvgPool1d", {"kernel_size": [3], "stride": [2]}, lines
    yield "AdaptiveAvgPool1d", {"output_size": [3]}, lines
    yield "AdaptiveMaxPool2d", {"output_size": [3, 2]}, images
    yield "AdaptiveMaxPool1d", {"output_size": [3]}, lines
    yield "Unfold", {"kernel_size": [3, 2], "padding": [1, 0], "stride": [2, 1]}, images
    yield "Fold", {"output_size": [4, 3], "kernel_size": [2, 2], "dilation": [1, 1],
                   "padding": [1, 1], "stride": [2, 2]}, lambda: [randn(2, 8, 6)]
    yield "PixelUnshuffle", {"downscale_factor": 2}, lambda: [randn(1, 2, 4, 6)]
    yield "ChannelShuffle", {"groups": 2}, lambda: [randn(1, 4, 2, 3)]
    yield "LocalResponseNorm", {"size": 3, "alpha": 0.5, "beta": 0.6, "k": 2.0}, images
    yield "Softmax2d", {}, images
    yield "UpsamplingNearest2d", {"scale_factor": [2.0]}, images
    yield "UpsamplingBilinear2d", {"size": [5, 9]}, images
    yield "Upsample", {"scale_factor": [2.0]}, images
    yield "Upsample", {"size": [5, 9], "mode": "bilinear", "align_corners": True}, images
    yield "Upsample", {"scale_factor": [1.5], "mode": "bicubic", "align_corners": False}, images


def signs(*shape):
    return integers(2, *shape) * 2 - 1


def losses():
    for reduction in ("none", "mean", "sum"):
        options = {"reduction": reduction}
        for name in ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss"):
            yield name, options, lambda: [randn(3, 4), randn(3, 4)]
        yield "HingeEmbeddingLoss", options, lambda: [randn(3, 4), randn(3, 4).sign()]
        yield "PoissonNLLLoss", options, lambda: [randn(3, 4), torch.rand(3, 4)]
        yield "KLDivLoss", options, lambda: [randn(3, 4), torch.rand(3, 4)]
        yield "MultiLabelSoftMarginLoss", options, lambda: [randn(3, 4), torch.rand(3, 4)]
        yield "SoftMarginLoss", options, lambda: [randn(3, 4), signs(3, 4)]
        yield "MultiMarginLoss", options, lambda: [randn(5, 3), integers(3, 5)]
        yield "CosineEmbeddingLoss", options, lambda: [randn(3, 4), randn(3, 4), signs(3)]
        yield "GaussianNLLLoss", options, lambda: [randn(3, 4), randn(3, 4), torch.rand(3, 4) + 0.1]
        yield "MarginRankingLoss", options, lambda: [randn(3), randn(3), signs(3)]
        yield "BCELoss", options, lambda: [torch.rand(3, 4), torch.rand(3, 4)]
        yield "BCEWithLogitsLoss", options, lambda: [randn(3, 4), torch.rand(3, 4)]
        yield "NLLLoss", options, lambda: [randn(5, 3), integers(3, 5)]
        yield "CrossEntropyLoss", options, lambda: [randn(5, 3), integers(3, 5)]
        yield "TripletMarginLoss", options, lambda: [randn(3, 4), randn(3, 4), randn(3, 4)]
    yield "CosineSimilarity", {}, lambda: [randn(3, 4), randn(3, 4)]
    yield "CosineSimilarity", {"dim": 0, "eps": 0.5}, lambda: [randn(3, 4), randn(3, 4)]
    yield "PairwiseDistance", {}, lambda: [randn(3, 4), randn(3, 4)]
    yield "PairwiseDistance", {"p": 1.0, "eps": 0.01, "keepdim": True}, lambda: [
        randn(3, 4), randn(3, 4)]
    yield "TripletMarginLoss", {"margin": 0.3, "p": 1.0}, lambda: [
        randn(3, 4), randn(3, 4), randn(3, 4)]
    yield "TripletMarginLoss", {"margin": 0.8, "eps": 1e-5, "swap": True}, lambda: [
        randn(3, 4), randn(3, 4), randn(3, 4)]
    sequences = lambda: [randn(6, 2, 4), torch.tensor([[1, 1], [1, 2]]), torch.tensor([2, 6]),
                         torch.tensor([2, 2])]
    yield "CTCLoss", {"blank": 3, "zero_infinity": True}, sequences
    yield "CTCLoss", {"reduction": "none", "zero_infinity": True}, sequences
    yield "MultiMarginLoss", {"p": 2, "margin": 0.5}, lambda: [randn(5, 3), integers(3, 5)]
    yield "CosineEmbeddingLoss", {"margin": -0.3}, lambda: [
        randn(3, 4), randn(3, 4), signs(3)]
    yield "GaussianNLLLoss", {"full": True, "eps": 0.1}, lambda: [
        randn(3, 4), randn(3, 4), torch.rand(3, 4)]
    yield "MarginRankingLoss", {"margin": 0.5}, lambda: [randn(3), randn(3), signs(3)]
    yield "SmoothL1Loss", {"beta": 0.4}, lambda: [randn(3, 4), randn(3, 4)]
    yield "HuberLoss", {"delta": 0.4}, lambda: [randn(3, 4), randn(3, 4)]
    yield "KLDivLoss", {"reduction": "batchmean", "log_target": True}, lambda: [
        randn(3, 4), randn(3, 4)]
    yield "NLLLoss", {"ignore_index": 1}, lambda: [randn(5, 3), integers(3, 5)]
    yield "CrossEntropyLoss", {"label_smoothing": 0.2, "ignore_index": 1}, lambda: [
        randn(5, 3), torch.tensor([0, 1, 2, 2, 0])]


def layers():
    yield "Linear", {"in_features": 4, "out_features": 3}, lambda: [randn(2, 4)]
    yield "Linear", {"in_features": 4, "out_features": 3, "bias": False}, lambda: [randn(2, 5, 4)]
    images = lambda: [randn(1, 4, 5, 4)]
    yield "Conv1d", {"in_channels": 4, "out_channels": 6, "kernel_size": [3], "stride": [2],
                     "padding": [1], "groups": 2}, lambda: [randn(2, 4, 8)]
    yield "Conv1d", {"in_channels": 2, "out_channels": 3, "kernel_size": [2], "dilation": [2],
                     "bias": False}, lambda: [randn(2, 2, 7)]
    yield "Conv2d", {"in_channels": 4, "out_channels": 3, "kernel_size": [3]}, images
    yield "Conv2d", {"in_channels": 4, "out_channels": 6, "kernel_size": [3, 2], "stride": [2],
                     "padding": [1, 0], "groups": 2, "bias": False}, images
    yield "Conv1d", {"in_channels": 4, "out_channels": 3, "kernel_size": [4],
                     "padding": "same"}, lambda: [randn(2, 4, 8)]
    yield "Conv1d", {"in_channels": 4, "out_channels": 3, "kernel_size": [4], "dilation": [2],
                     "padding": "same", "padding_mode": "reflect"}, lambda: [randn(2, 4, 8)]
    yield "Conv2d", {"in_channels": 4, "out_channels": 6, "kernel_size": [3, 2], "padding": "same",
                     "groups": 2}, images
    for mode in ("reflect", "replicate", "circular"):
        yield "Conv1d", {"in_channels": 4, "out_channels": 3, "kernel_size": [3], "padding": [2],
                         "padding_mode": mode}, lambda: [randn(2, 4, 8)]
        yield "Conv2d", {"in_channels": 4, "out_channels": 3, "kernel_size": [3], "stride": [2],
                         "padding": [2, 1], "padding_mode": mode}, images
        yield "Conv2d", {"in_channels": 4, "out_channels": 3, "kernel_size": [2], "padding": "valid",
                         "padding_mode": mode}, images
    yield "ConvTranspose1d", {"in_channels": 4, "out_channels": 6, "kernel_size": [3], "stride": [2],
                              "padding": [1], "output_padding": [1], "groups": 2}, lambda: [
        randn(2, 4, 8)]
    yield "ConvTranspose2d", {"in_channels": 4, "out_channels": 3, "kernel_size": [2]}, images
    yield "ConvTranspose2d", {"in_channels": 4, "out_channels": 6, "kernel_size": [3], "stride": [2],
                              "padding": [1], "output_padding": [1], "groups": 2}, images
    volumes = lambda: [randn(1, 2, 3, 4, 3)]
    yield "Conv3d", {"in_channels": 2, "out_channels": 4, "kernel_size": [2, 3, 1], "stride": [1, 2, 1],
                     "padding": [1, 0, 1], "dilation": [2, 1, 1], "groups": 2, "bias": False}, volumes
    for mode in ("zeros", "reflect", "replicate", "circular"):
        yield "Conv3d", {"in_channels": 2, "out_channels": 2, "kernel_size": [2], "padding": "same",
                         "padding_mode": mode}, volumes
    yield "ConvTranspose3d", {"in_channels": 2, "out_channels": 2, "kernel_size": [2, 1, 3]}, volumes
    yield "ConvTranspose3d", {"in_channels": 2, "out_channels": 4, "kernel_size": [2], "stride": [2, 1, 3],
                              "padding": [1], "output_padding": [1, 0, 2], "groups": 2,
                              "dilation": [1, 2, 1], "bias": False}, volumes
    for name, inputs in (("BatchNorm1d", lambda: [randn(6, 3)]),
                         ("BatchNorm2d", lambda: [randn(2, 3, 4, 2)]),
                         ("BatchNorm3d", lambda: [randn(2, 3, 2, 1, 2)])):
        for options in ({}, {"affine": False, "momentum": 0.3}, {"track_running_stats": False}):
            yield name, {"num_features": 3, **options}, inputs
    yield "GroupNorm", {"num_groups": 2, "num_channels": 4}, lambda: [randn(2, 4, 3)]
    yield "GroupNorm", {"num_groups": 3, "num_channels": 6, "affine": False}, lambda: [randn(2, 6, 4)]
    yield "InstanceNorm1d", {"num_features": 3}, lambda: [randn(2, 3, 5)]
    yield "InstanceNorm2d", {"num_features": 3, "affine": True}, lambda: [randn(2, 3, 2, 4)]
    yield "InstanceNorm3d", {"num_features": 3, "affine": True}, lambda: [randn(2, 3, 2, 1, 3)]
    yield "InstanceNorm1d", {"num_features": 3, "track_running_stats": True}, lambda: [randn(3, 5)]
    yield "InstanceNorm2d", {"num_features": 3, "affine": True, "track_running_stats": True,
                             "momentum": 0.3, "eps": 0.1}, lambda: [randn(2, 3, 2, 4)]
    yield "InstanceNorm3d", {"num_features": 3, "track_running_stats": True}, lambda: [
        randn(2, 3, 2, 1, 3)]
    yield "RMSNorm", {"normalized_shape": [5], "eps": 1e-5}, lambda: [randn(3, 5)]
    yield "PReLU", {}, lambda: [randn(2, 3, 4)]
    yield "PReLU", {"num_parameters": 3, "init": 0.1}, lambda: [randn(2, 3, 4)]
    yield "PixelShuffle", {"upscale_factor": 2}, lambda: [randn(1, 8, 2, 3)]
    yield "LayerNorm", {"normalized_shape": [5]}, lambda: [randn(3, 5)]
    yield "LayerNorm", {"normalized_shape": [2, 5], "elementwise_affine": False}, lambda: [
        randn(3, 2, 5)]
    yield "Embedding", {"num_embeddings": 5, "embedding_dim": 3}, lambda: [integers(5, 2, 4)]
    yield "Embedding", {"num_embeddings": 5, "embedding_dim": 3, "padding_idx": 1}, lambda: [
        integers(5, 2, 4)]
    yield "Embedding", {"num_embeddings": 5, "embedding_dim": 3, "max_norm": 0.5}, lambda: [
        integers(5, 2, 4)]
    yield "Embedding", {"num_embeddings": 9, "embedding_dim": 3, "max_norm": 0.7, "norm_type": 1.0}, lambda: [
        integers(9, 4)]
    yield "EmbeddingBag", {"num_embeddings": 5, "embedding_dim": 3}, lambda: [integers(5, 2, 4)]
    yield "EmbeddingBag", {"num_embeddings": 5, "embedding_dim": 3}, lambda: [
        integers(5, 7), torch.tensor([0, 3, 4])]
    yield "EmbeddingBag", {"num_embeddings": 5, "embedding_dim": 3, "mode": "sum"}, lambda: [
        integers(5, 2, 4)]
    yield "EmbeddingBag", {"num_embeddings": 5, "embedding_dim": 3, "mode": "max"}, lambda: [
        integers(5, 2, 4)]
    yield "EmbeddingBag", {"num_embeddings": 3, "embedding_dim": 3, "padding_idx": 1,
                           "include_last_offset": True}, lambda: [
        integers(3, 7), torch.tensor([0, 3, 7])]
    yield "EmbeddingBag", {"num_embeddings": 5, "embedding_dim": 3, "mode": "sum"}, lambda: [
        integers(5, 2, 4), None, randn(2, 4)]
    yield "Unflatten", {"dim": 1, "unflattened_size": [2, 3]}, lambda: [randn(2, 6)]
    for name in ("Dropout", "Dropout1d", "AlphaDropout"):
        yield name, {"p": 0.0}, lambda: [randn(3, 4)]


def sequences():
    sizes = {"input_size": 3, "hidden_size": 3}
    for name, states in (("RNN", 1), ("GRU", 1), ("LSTM", 2)):
        yield name, sizes, lambda: [randn(3, 2, 3)]
        yield name, {**sizes, "num_layers": 2, "bidirectional": True}, lambda: [randn(3, 2, 3)]
        yield name, {**sizes, "batch_first": True, "bias": False}, lambda: [randn(2, 3, 3)]
        yield name, sizes, lambda: [randn(3, 3)]
    yield "RNN", {**sizes, "nonlinearity": "relu"}, lambda: [randn(4, 2, 3)]
    for options in ({}, {"num_layers": 2, "bidirectional": True}, {"bias": False, "batch_first": True}):
        yield "LSTM", {"input_size": 3, "hidden_size": 4, "proj_size": 2, **options}, lambda: [randn(3, 2, 3)]
    yield "LSTM", {"input_size": 3, "hidden_size": 4, "proj_size": 2, "num_layers": 2}, lambda: [randn(3, 3)]
    yield "GRU", {**sizes, "bidirectional": True}, lambda: [randn(3, 3), randn(2, 3)]
    for name in ("RNNCell", "GRUCell", "LSTMCell"):
        yield name, sizes, lambda: [randn(3)]
        yield name, sizes, lambda: [randn(2, 3)]
        yield name, {**sizes, "bias": False}, lambda: [randn(2, 3)]
    yield "RNNCell", {**sizes, "nonlinearity": "relu"}, lambda: [randn(2, 3)]
    heads = {"embed_dim": 4, "num_heads": 2}
    attended = lambda: [randn(4, 2, 4), randn(5, 2, 4), randn(5, 2, 4)]
    mask = lambda *shape: torch.tril(torch.ones(shape)) == 0
    yield "MultiheadAttention", heads, attended
    yield "MultiheadAttention", {**heads, "bias": False, "batch_first": True}, lambda: [
        randn(2, 4, 4), randn(2, 5, 4), randn(2, 5, 4), None, False]
    yield "MultiheadAttention", heads, lambda: attended() + [
        torch.tensor([[False, False, True, False, True], [False] * 5]), True, mask(4, 5), False]
    other = {**heads, "kdim": 3, "vdim": 5}
    crossed = lambda: [randn(4, 2, 4), randn(5, 2, 3), randn(5, 2, 5)]
    padded = lambda: [torch.tensor([[False, False, True, False, True], [False] * 5]), True, mask(4, 5)]
    yield "MultiheadAttention", other, crossed
    yield "MultiheadAttention", {**other, "bias": False, "add_bias_kv": True}, lambda: crossed() + padded()
    yield "MultiheadAttention", {**heads, "add_zero_attn": True}, lambda: attended() + padded()
    yield "MultiheadAttention", {**heads, "add_bias_kv": True, "add_zero_attn": True}, lambda: (
        attended() + [None, False])
    layer = {"d_model": 4, "nhead": 2, "dim_feedforward": 3, "dropout": 0.0}
    yield "TransformerEncoderLayer", layer, lambda: [randn(4, 2, 4)]
    yield "TransformerEncoderLayer", {**layer, "activation": "gelu", "batch_first": True,
                                      "norm_first": True}, lambda: [randn(2, 4, 4)]
    yield "TransformerEncoderLayer", layer, lambda: [randn(4, 2, 4), mask(4, 4)]
    decoded = lambda: [randn(4, 2, 4), randn(5, 2, 4)]
    yield "TransformerDecoderLayer", layer, decoded
    yield "TransformerDecoderLayer", {**layer, "activation": "gelu", "batch_first": True,
                                      "norm_first": True}, lambda: [randn(2, 4, 4), randn(2, 5, 4)]
    yield "TransformerDecoderLayer", layer, lambda: decoded() + [mask(4, 4), mask(4, 5)]
    whole = {**layer, "num_encoder_layers": 2, "num_decoder_layers": 1}
    yield "Transformer", whole, lambda: [randn(5, 2, 4), randn(4, 2, 4)]
    yield "Transformer", {**whole, "batch_first": True, "norm_first": True}, lambda: [
        randn(2, 5, 4), randn(2, 4, 4), None, mask(4, 4)]


def leaf(argument):
    if isinstance(argument, torch.Tensor) and argument.dtype.is_floating_point:
        return argument.clone().requires_grad_()
    return argument


def flat(result):
    if isinstance(result, torch.Tensor):
        return [result]
    return [] if result is None else [tensor for part in result for tensor in flat(part)]


def single(option):
    """A list of one is a number to PyTorch."""
    return option[0] if isinstance(option, list) and len(option) == 1 else option


def as_tuple(option):
    return tuple(option) if isinstance(option, list) else option


def tensors_by_name(named):
    return {name: encode_tensor(tensor) for name, tensor in named}


def draw_state(module):
    """Values that no initialisation gives: biases that are not 0, statistics that are not 0 and 1."""
    with torch.no_grad():
        for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
            if tensor.dtype.is_floating_point:
                tensor.copy_(positive(*tensor.shape) if "var" in name else randn(*tensor.shape) / 2)


def record(name, options, make, is_training, has_graph=True):
    torch.manual_seed(zlib.crc32(f"{name} {options} {is_training}".encode()))
    make_module = getattr(nn, name, RMSNorm)
    module = make_module(**{key: as_tuple(single(value)) for key, value in options.items()})
    module.train(is_training)
    if name.startswith("Lazy"):
        module(*make())  # gives it its parameters
    draw_state(module)
    arguments = make()
    case = {"module": name, "options": options, "is_training": is_training,
            "parameters": tensors_by_name(module.named_parameters()),
            "buffers": tensors_by_name(module.named_buffers()),
            "inputs": [encode(argument) for argument in arguments]}
    if not has_graph:
        return without_graph(case, module, arguments)
    inputs = [leaf(argument) for argument in arguments]
    results = flat(module(*inputs))
    outputs = [result for result in results if result.requires_grad]
    grads = [randn(*output.shape) for output in outputs]
    torch.autograd.backward(outputs, grads)
    case["results"] = [encode_tensor(result) for result in results]
    case["result_gradients"] = [encode_tensor(grad) for grad in grads]
    case["input_gradients"] = [encode_tensor(i.grad) if isinstance(i, torch.Tensor) and
                               i.grad is not None else None for i in inputs]
    case["parameter_gradients"] = {n: encode_tensor(p.grad) for n, p in module.named_parameters()}
    case["buffers_after"] = tensors_by_name(module.named_buffers())
    return case


def without_graph(case, module, arguments):
    with torch.no_grad():
        results = flat(module(*arguments))
    return {**case, "has_graph": False, "results": [encode_tensor(result) for result in results],
            "result_gradients": [], "input_gradients": [None] * len(arguments),
            "parameter_gradients": {}, "buffers_after": case["buffers"]}


def evaluated():
    """What PyTorch computes in one call where it records no graph."""
    heads = {"embed_dim": 4, "num_heads": 2, "batch_first": True}
    layer = {"d_model": 4, "nhead": 2, "dim_feedforward": 3, "dropout": 0.1, "batch_first": True}
    padding = torch.tensor([[False] * 5, [False, False, True, False, True]])
    later = torch.triu(torch.ones(5, 5, dtype=torch.bool), diagonal=1)
    one_of_each = torch.stack([later, later.T, later, ~torch.eye(5, dtype=torch.bool)])

    def attended(*masks):
        x = randn(2, 5, 4)
        return [x, x, x, *masks]

    for masks in ((), (padding,), (None, True, later), (padding, True, later),
                  (padding, True, one_of_each, False), (padding, False, later), (None, False)):
        yield "MultiheadAttention", heads, lambda: attended(*masks)
    number = torch.triu(torch.full((5, 5), float("-inf")), diagonal=1)
    bias = torch.tril(torch.full((5, 5), -0.5), diagonal=-1)  # leaves out what it is not 0 for
    for masks in ((), (later,), (number, padding), (None, padding), (bias,)):
        yield "TransformerEncoderLayer", layer, lambda: [randn(2, 5, 4), *masks]
    yield "TransformerEncoderLayer", {**layer, "norm_first": True}, lambda: [
        randn(2, 5, 4), None, padding]


def cases():
    for family in (functions, losses, layers, sequences):
        for name, options, make in family():
            for is_training in ((True, False) if "Norm" in name or "Dropout" in name else (True,)):
                yield record(name, options, make, is_training)
    yield record("Dropout", {"p": 0.5}, lambda: [randn(3, 4)], False)
    yield record("Dropout2d", {"p": 0.0}, lambda: [randn(2, 3, 2, 2)], True)
    yield record("Dropout2d", {"p": 0.5}, lambda: [randn(2, 3, 2, 2)], False)
    yield record("Dropout3d", {"p": 0.0}, lambda: [randn(2, 3, 1, 2, 2)], True)
    yield record("Dropout3d", {"p": 0.5}, lambda: [randn(2, 3, 1, 2, 2)], False)
    for name, options, make in evaluated():
        yield record(name, options, make, False, has_graph=False)


def main():
    lines = [json.dumps(case) for case in cases()]
    text = '{"torch": "%s",\n"cases": [\n%s\n]}\n' % (torch.__version__, ",\n".join(lines))
    golden_archives.write("modules", {"modules.json": text})
    print(f"{len(lines)} cases, {len(text)} bytes")


if __name__ == "__main__":
    main()
