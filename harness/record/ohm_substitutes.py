"""What the CPU computes for operators that only a GPU has: fused attention, and those of cuDNN.

Each takes torch and the operator's arguments by name, as tensors of the CPU, and returns results in the
operator's order; None stands for one that nothing reads."""
import contextlib
import math


class _Autograd:
    """The dispatcher's keys as they are outside of any operator, on this thread."""

    included = excluded = None


def remember_keys(torch):
    """To be called outside of any operator."""
    _Autograd.included = torch._C._dispatch_tls_local_include_set()
    _Autograd.excluded = torch._C._dispatch_tls_local_exclude_set()


@contextlib.contextmanager
def autograd(torch):
    """Gradients may be computed within a kernel of the dispatcher, where they are switched off."""
    keys = torch._C._ForceDispatchKeyGuard(_Autograd.included, _Autograd.excluded)
    with keys, torch.enable_grad():
        yield


def gradients(torch, function, inputs, results):
    """Of inputs (None: not asked for), given those of what the function returns."""
    with autograd(torch):
        leaves = [None if t is None else t.detach().clone().requires_grad_() for t in inputs]
        outputs = function(*leaves)
        pairs = [(o, g) for o, g in zip(outputs, results) if g is not None and o.requires_grad]
        asked = [leaf for leaf in leaves if leaf is not None]
        found = iter(torch.autograd.grad([o for o, _ in pairs], asked,
                                         [g.to(o.dtype) for o, g in pairs], allow_unused=True))
    return [None if leaf is None else next(found) for leaf in leaves]


# ---- attention ----


def attend(torch, query, key, value, bias, a, seed):
    """(output, logsumexp), in float32 or better."""
    kind = torch.promote_types(query.dtype, torch.float32)
    groups = query.shape[1] // max(key.shape[1], 1)
    query, key, value = query.to(kind), key.to(kind), value.to(kind)
    if groups > 1:
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    scale = a.get("scale") or 1 / math.sqrt(query.shape[-1])
    scores = query @ key.transpose(-2, -1) * scale
    if bias is not None:
        scores = scores + bias.to(kind)
    if a.get("is_causal"):
        visible = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        scores = scores.masked_fill(~visible, -math.inf)
    weights = scores.softmax(-1)
    if a.get("dropout_p"):
        generator = torch.Generator().manual_seed(seed)
        kept = torch.rand(weights.shape, generator=generator, dtype=kind) >= a["dropout_p"]
        weights = weights * kept / (1 - a["dropout_p"])
    return weights @ value, scores.logsumexp(-1)


def attention(seed_at, gives_sums):
    """seed_at: the place of the result that keeps the seed for the gradients. The sums of some are
    padded, and only their own gradients read them."""

    def compute(torch, a):
        seed = torch.randint(1 << 31, (1,)).item()
        output, sums = attend(torch, a["query"], a["key"], a["value"], a.get("attn_bias"), a, seed)
        results = [output.to(a["query"].dtype), sums if gives_sums else None] + [None] * 7
        results[seed_at] = Filled(seed)
        return results

    return compute


def attention_backward(torch, a):
    seed = a["philox_seed"]
    seed = int(seed.reshape(-1)[0]) if seed is not None and seed.numel() else 0
    bias = a.get("attn_bias")
    wants_bias = bias is not None and a.get("grad_input_mask", [0] * 4)[3]

    def forward(query, key, value, learned):
        given = bias if learned is None else learned
        return attend(torch, query, key, value, given, a, seed)[:1]

    grad = a["grad_out_"] if "grad_out_" in a else a["grad_out"]
    return gradients(torch, forward, [a["query"], a["key"], a["value"],
                                      bias if wants_bias else None], [grad])


class Filled:
    """A result that holds this number."""

    def __init__(self, value):
        self.value = value


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
    made = torch.native_batch_norm(a["input"], a["weight"], a["bias"], a["running_mean"],
                                   a["running_var"], a["training"],
                                   a["exponential_average_factor"], a["epsilon"])
    return [*made, None]


def batch_norm_backward(torch, a):
    return torch.ops.aten.native_batch_norm_backward(
        a["grad_output"], a["input"], a["weight"], a["running_mean"], a["running_var"],
        a["save_mean"], a["save_var"], True, a["epsilon"], [True, True, True])


def grid_sampler(torch, a):
    return torch.grid_sampler_2d(a["self"], a["grid"], 0, 0, True)


def ctc_loss(torch, a):
    """cuDNN computes the gradients at once."""

    def forward(log_probs):
        return torch._ctc_loss(log_probs, a["targets"], a["input_lengths"], a["target_lengths"],
                               a["blank"], a["zero_infinity"])[:1]

    losses = forward(a["log_probs"])[0]
    return [losses, *gradients(torch, forward, [a["log_probs"]], [torch.ones_like(losses)])]


RECURRENT = ("rnn_relu", "rnn_tanh", "lstm", "gru")  # by cuDNN's number of the mode


def recurrent(torch, a, inputs, hidden, cell, weights):
    """[output, hidden state, cell state] of layers as cuDNN has them."""
    kind = RECURRENT[a["mode"]]
    state = (hidden, cell) if kind == "lstm" else hidden
    has_biases = a["weight_stride0"] in (4, 5)  # of four weights of a layer, or five: projected
    options = (has_biases, a["num_layers"], a["dropout"], a["train"], a["bidirectional"])
    function = getattr(torch._VF, kind)
    if len(a["batch_sizes"]):
        made = function(inputs, torch.tensor(a["batch_sizes"]), state, weights, *options)
    else:
        made = function(inputs, state, weights, *options, a["batch_first"])
    return list(made)


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
    return torch.ops.aten.grid_sampler_2d_backward(a["grad_output"], a["self"], a["grid"], 0, 0,
                                                   True, [True, True])


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
    "_scaled_dot_product_flash_attention": attention(6, True),
    "_scaled_dot_product_efficient_attention": attention(2, False),
    "_scaled_dot_product_cudnn_attention": attention(6, False),
    "_scaled_dot_product_flash_attention_backward": attention_backward,
    "_scaled_dot_product_efficient_attention_backward": attention_backward,
    "_scaled_dot_product_cudnn_attention_backward": attention_backward,
    "cudnn_convolution": convolution,
    "cudnn_convolution_transpose": convolution_transpose,
    "cudnn_convolution_relu": convolution_relu,
    "cudnn_convolution_add_relu": convolution_add_relu,
    "_conv_depthwise2d": depthwise_convolution,
    "conv_depthwise3d": depthwise_convolution,
    "cudnn_batch_norm": batch_norm,
    "cudnn_batch_norm_backward": batch_norm_backward,
    "cudnn_grid_sampler": grid_sampler,
    "_cudnn_ctc_loss": ctc_loss,
    "_cudnn_rnn": cudnn_rnn,
    "_cudnn_rnn_backward": cudnn_rnn_backward,
    "cudnn_grid_sampler_backward": grid_sampler_backward,
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
