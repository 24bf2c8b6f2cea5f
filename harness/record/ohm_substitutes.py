"""What the CPU computes for operators that only a GPU has: those of cuDNN, and others.

Each takes torch and the operator's arguments by name, as tensors of the CPU, and returns results in the
operator's order; None stands for one that nothing reads."""
import contextlib

from ohm_attention import ATTENTION
from ohm_gradients import gradients
from ohm_precision import widened
from ohm_synchronized import SYNCHRONIZED


# ---- cuDNN ----


def convolution(torch, a):
    return torch.convolution(a["self"], a["weight"], None, a["stride"], a["padding"], a["dilation"],
                             False, [0] * len(a["stride"]), a["groups"])


def convolution_transpose(torch, a):
    return torch.convolution(a["self"], a["weight"], None, a["stride"], a["padding"], a["dilation"],
                             True, a["output_padding"], a["groups"])


def convolution_relu(torch, a):
    return torch.convolution(a["self"], a["weight"], a["bias"], a["stride"], a["padding"],
                             a["dilation"], False, [0] * len(a["stride"]), a["groups"]).relu()


def convolution_add_relu(torch, a):
    made = torch.convolution(a["self"], a["weight"], a["bias"], a["stride"], a["padding"],
                             a["dilation"], False, [0] * len(a["stride"]), a["groups"])
    return (made + (1 if a["alpha"] is None else a["alpha"]) * a["z"]).relu()


def depthwise_convolution(torch, a):
    return torch.convolution(a["self"], a["weight"], a["bias"], a["stride"], a["padding"],
                             a["dilation"], False, [0] * len(a["stride"]), a["self"].shape[1])


def batch_norm(torch, a):
    """Without what cuDNN keeps for itself."""
    return [*normalized(torch, a, a["exponential_average_factor"], a["epsilon"]), None]


def native_batch_norm(torch, a):
    return normalized(torch, a, a["momentum"], a["eps"])


def normalized(torch, a, momentum, epsilon):
    """Of half precision in single, as the GPU computes it."""
    stated = [a["running_mean"], a["running_var"]]
    wide = [widened(torch, value) for value in (a["input"], a["weight"], a["bias"], *stated)]
    made = torch.native_batch_norm(*wide, a["training"], momentum, epsilon)
    for before, after in zip(stated, wide[3:]):
        if after is not before:
            before.copy_(after)
    return list(made)


def batch_norm_backward(torch, a):
    return normalized_backward(torch, {**a, "grad_out": a["grad_output"], "save_invstd": a["save_var"],
                                       "train": True, "eps": a["epsilon"], "output_mask": [True] * 3})


def normalized_backward(torch, a):
    kept = ("save_mean", "save_invstd") if a["train"] else ()
    named = ("grad_out", "input", "weight", "running_mean", "running_var", "save_mean", "save_invstd")
    wide = [widened(torch, a[name]) if name in kept or not name.startswith("save_") else None
            for name in named]
    return torch.ops.aten.native_batch_norm_backward(*wide, a["train"], a["eps"], a["output_mask"])


def grid_sampler(torch, a):
    return torch.grid_sampler_2d(widened(torch, a["self"]), widened(torch, a["grid"]), 0, 0, True)


def ctc_loss(torch, a):
    """cuDNN computes the gradients at once."""

    def forward(log_probs):
        return torch._ctc_loss(log_probs, a["targets"], a["input_lengths"], a["target_lengths"],
                               a["blank"], a["zero_infinity"])[:1]

    losses = forward(a["log_probs"])[0]
    return [losses, *gradients(torch, forward, [a["log_probs"]], [torch.ones_like(losses)])]


RECURRENT = ("rnn_relu", "rnn_tanh", "lstm", "gru")  # by cuDNN's number of the mode
GATES = {"lstm": 4, "gru": 3}
MOST_SEED = (1 << 63) - 1


def shaped(a, weights):
    """As the CPU takes them: what autocast has cast are rows of one buffer."""
    rows = GATES.get(RECURRENT[a["mode"]], 1) * a["hidden_size"]
    of_layer = a["weight_stride0"]  # two matrices, two biases or none, and one that projects or none
    for index, weight in enumerate(weights):
        place = index % of_layer
        if place < 2:
            yield weight.reshape(rows, -1)
        elif place == of_layer - 1 and of_layer in (3, 5):
            yield weight.reshape(-1, a["hidden_size"])
        else:
            yield weight.reshape(-1)


def recurrent(torch, a, inputs, hidden, cell, weights):
    """[output, hidden state, cell state] of layers as cuDNN has them."""
    kind = RECURRENT[a["mode"]]
    state = (hidden, cell) if kind == "lstm" else hidden
    has_biases = a["weight_stride0"] in (4, 5)  # of four weights of a layer, or five: projected
    options = (has_biases, a["num_layers"], a["dropout"], a["train"], a["bidirectional"])
    function = getattr(torch._VF, kind)
    weights = list(shaped(a, weights))
    with drawing_alike(torch, inputs, weights) if a["train"] and a["dropout"] else contextlib.nullcontext():
        if len(a["batch_sizes"]):
            return list(function(inputs, torch.tensor(a["batch_sizes"]), state, weights, *options))
        return list(function(inputs, state, weights, *options, a["batch_first"]))


@contextlib.contextmanager
def drawing_alike(torch, inputs, weights):
    """Dropout between layers: the pass back draws what the pass forward has drawn, and neither draws from the
    program's generator."""
    sums = torch.stack([inputs.detach().double().sum(), weights[0].detach().double().sum()])
    generator = torch.default_generator
    before = generator.get_state()
    generator.manual_seed(sums.view(torch.int64).sum().item() & MOST_SEED)
    try:
        yield
    finally:
        generator.set_state(before)


def cudnn_rnn(torch, a):
    return recurrent(torch, a, a["input"], a["hx"], a["cx"], list(a["weight"]))


def cudnn_rnn_backward(torch, a):
    count = len(a["weight"])

    def forward(inputs, hidden, cell, *weights):
        return recurrent(torch, {**a, "train": True}, inputs, hidden, cell, list(weights))

    found = gradients(torch, forward, [a["input"], a["hx"], a["cx"], *a["weight"]],
                      [a["grad_output"], a["grad_hy"], a["grad_cy"]])
    return [*found[:3], found[3:3 + count]]


def halves_of(a):
    """The gates of the input and of the state, with their biases."""
    gates = a["input_gates"], a["hidden_gates"]
    if a["input_bias"] is None:
        return gates
    return gates[0] + a["input_bias"], gates[1] + a["hidden_bias"]


def fused_lstm_cell(torch, a):
    of_input, of_state = halves_of(a)
    entry, forget, candidate, exit_ = (of_input + of_state).chunk(4, 1)
    gates = [entry.sigmoid(), forget.sigmoid(), candidate.tanh(), exit_.sigmoid()]
    cell = gates[1] * a["cx"] + gates[0] * gates[2]
    return [gates[3] * cell.tanh(), cell, torch.cat(gates, 1)]


def fused_lstm_cell_backward(torch, a):
    entry, forget, candidate, exit_ = a["workspace"].chunk(4, 1)
    squashed = a["cy"].tanh()
    of_state = 0 if a["grad_hy"] is None else a["grad_hy"]
    of_cell = of_state * exit_ * (1 - squashed * squashed)
    if a["grad_cy"] is not None:
        of_cell = of_cell + a["grad_cy"]
    gates = torch.cat([of_cell * candidate * entry * (1 - entry),
                       of_cell * a["cx"] * forget * (1 - forget),
                       of_cell * entry * (1 - candidate * candidate),
                       of_state * squashed * exit_ * (1 - exit_)], 1)
    return [gates, of_cell * forget, gates.sum(0) if a["has_bias"] else None]


def fused_gru_cell(torch, a):
    of_input, of_state = (gates.chunk(3, 1) for gates in halves_of(a))
    reset = (of_input[0] + of_state[0]).sigmoid()
    update = (of_input[1] + of_state[1]).sigmoid()
    candidate = (of_input[2] + reset * of_state[2]).tanh()
    made = candidate + update * (a["hx"] - candidate)
    return [made, torch.cat([reset, update, candidate, a["hx"], of_state[2]], 1)]


def fused_gru_cell_backward(torch, a):
    reset, update, candidate, before, of_state = a["workspace"].chunk(5, 1)
    grad = a["grad_hy"]
    of_update = grad * (before - candidate) * (1 - update) * update
    of_candidate = grad * (1 - update) * (1 - candidate * candidate)
    of_reset = of_candidate * of_state * (1 - reset) * reset
    inputs = torch.cat([of_reset, of_update, of_candidate], 1)
    states = torch.cat([of_reset, of_update, of_candidate * reset], 1)
    biases = [inputs.sum(0), states.sum(0)] if a["has_bias"] else [None, None]
    return [inputs, states, grad * update, *biases]


# ---- others ----


def grid_sampler_backward(torch, a):
    wide = [widened(torch, a[name]) for name in ("grad_output", "self", "grid")]
    return torch.ops.aten.grid_sampler_2d_backward(*wide, 0, 0, True, [True, True])


def embedding_bag(torch, a):
    """The GPU keeps the bag of each index, and the size of each bag."""
    made = torch._embedding_bag(
        a["weight"], a["indices"], a["offsets"], a["scale_grad_by_freq"], a["mode"], a["sparse"],
        a["per_sample_weights"], a["include_last_offset"], a["padding_idx"])
    starts = a["offsets"][:-1] if a["include_last_offset"] else a["offsets"]
    places = torch.arange(len(a["indices"]), dtype=starts.dtype)
    bags = torch.bucketize(places, starts, right=True) - 1
    sizes = made[2] if made[2].numel() else torch.bincount(bags, minlength=len(starts))
    return [made[0], bags, sizes, made[3]]


def log_sigmoid(torch, a):
    """The GPU keeps no buffer for the gradient."""
    return [torch.nn.functional.logsigmoid(a["self"]), None]


def log_sigmoid_backward(torch, a):
    return a["grad_output"] * (-a["self"]).sigmoid()


def rms_norm_backward(torch, a):
    kind = a["rstd"].dtype
    values, grad, scale = a["input"].to(kind), a["grad_out"].to(kind), a["rstd"]
    over = list(range(values.dim() - len(a["normalized_shape"]), values.dim()))
    weighted = grad if a["weight"] is None else grad * a["weight"].to(kind)
    of_scale = (weighted * values).mean(over, keepdim=True)
    of_values = scale * (weighted - values * scale * scale * of_scale)
    of_weight = None
    if a["weight"] is not None:
        of_weight = (grad * values * scale).reshape(-1, *a["normalized_shape"]).sum(0)
    return [of_values, of_weight]


def scaled_product(torch, a):
    """Of numbers of 8 bits."""
    made = (a["self"].float() * a["scale_a"]) @ (a["mat2"].float() * a["scale_b"])
    if a["bias"] is not None:
        made = made + a["bias"].float()
    return made.to(a["out_dtype"] or a["self"].dtype)


def masked_scale(torch, a):
    return (a["mask"].float() * a["self"] * a["scale"]).to(a["self"].dtype)


def histogram(torch, a):
    """Of integers the CPU has none."""
    values = a["self"] if a["self"].is_floating_point() else a["self"].double()
    return torch.histc(values, a["bins"], a["min"], a["max"]).to(a["self"].dtype)


def wide_product(torch, a):
    """Of a dtype that is wider than the factors'."""
    return a["self"].to(a["out_dtype"]) @ a["mat2"].to(a["out_dtype"])


def wide_sum(torch, a):
    batches = ("batch1", "batch2") if "batch1" in a else ("mat1", "mat2")
    first, second = (a[name].to(a["out_dtype"]) for name in batches)
    return a["beta"] * a["self"].to(a["out_dtype"]) + a["alpha"] * (first @ second)


def suppressed_boxes(torch, arguments, kept):
    """What torchvision's nms copies to the host until 0.21: for each box, in the order of their
    scores, a bit for each other one that it suppresses. The first one suppresses all that are."""
    order = arguments[1].sort(stable=True, descending=True)[1]
    is_suppressed = ~torch.isin(order, kept)
    count = len(order)
    words = [sum(1 << bit for bit, is_set in enumerate(block.tolist()) if is_set)
             for block in is_suppressed.split(64)]
    rows = torch.zeros(count, len(words), dtype=torch.int64)
    if count:
        rows[0] = torch.tensor([w - (1 << 64) if w >> 63 else w for w in words])
    return rows.reshape(-1)


# What operators of other libraries copy to the host before they make their results.
COPIED_TO_HOST = {"torchvision::nms": suppressed_boxes}

SUBSTITUTES = {
    **ATTENTION,
    **SYNCHRONIZED,
    "cudnn_convolution": convolution,
    "cudnn_convolution_transpose": convolution_transpose,
    "cudnn_convolution_relu": convolution_relu,
    "cudnn_convolution_add_relu": convolution_add_relu,
    "_conv_depthwise2d": depthwise_convolution,
    "conv_depthwise3d": depthwise_convolution,
    "native_batch_norm": native_batch_norm,
    "native_batch_norm_backward": normalized_backward,
    "cudnn_batch_norm": batch_norm,
    "cudnn_batch_norm_backward": batch_norm_backward,
    "cudnn_grid_sampler": grid_sampler,
    "_cudnn_ctc_loss": ctc_loss,
    "_cudnn_rnn": cudnn_rnn,
    "_cudnn_rnn_backward": cudnn_rnn_backward,
    "cudnn_grid_sampler_backward": grid_sampler_backward,
    "_scaled_mm": scaled_product,
    "_masked_scale": masked_scale,
    "histc": histogram,
    **{f"{name}.dtype{out}": wide_product for name in ("mm", "bmm") for out in ("", "_out")},
    **{f"{name}.dtype{out}": wide_sum for name in ("addmm", "baddbmm") for out in ("", "_out")},
    "_embedding_bag": embedding_bag,
    "_embedding_bag_forward_only": embedding_bag,
    "log_sigmoid_forward": log_sigmoid,
    "log_sigmoid_backward": log_sigmoid_backward,
    "_fused_rms_norm_backward": rms_norm_backward,
    "_thnn_fused_lstm_cell": fused_lstm_cell,
    "_thnn_fused_lstm_cell_backward_impl": fused_lstm_cell_backward,
    "_thnn_fused_gru_cell": fused_gru_cell,
    "_thnn_fused_gru_cell_backward": fused_gru_cell_backward,
}
