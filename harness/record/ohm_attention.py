"""What the CPU computes for fused attention, which only a GPU has: functions of torch and of the
operator's arguments by name, as in ohm_substitutes.py."""
import math

from ohm_gradients import gradients


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
        visible = torch.ones(scores.shape[-2:], dtype=torch.bool).tril(a.get("diagonal", 0))
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


def seed_of(a):
    seed = a["rng_state"] if "rng_state" in a else a["philox_seed"]
    return int(seed.reshape(-1)[0]) if seed is not None and seed.numel() else 0


def attention_backward(torch, a):
    seed = seed_of(a)
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


# ---- of rows: [batch, row, head, element], or of sequences of different lengths, in a row ----

# What would change the scores, where it is given.
WINDOWS = ("window_size_left", "window_size_right", "window_size")
NO_WINDOW = -1
TENSORS = ("alibi_slopes", "block_table", "seqused_k", "seqlen_k")
CAUSAL_FROM_LAST = 2  # a custom_mask_type: the last query sees the last key


def attend_rows(torch, query, key, value, bias, a, seed):
    """The output."""
    if any(a.get(name) not in (None, NO_WINDOW) for name in WINDOWS) or any(
            a.get(name) is not None for name in TENSORS):
        raise NotImplementedError("a window, slopes or blocks of keys")
    starts = a["cum_seq_q"] if "cum_seq_q" in a else a["cu_seqlens_q"]
    if starts is None:
        return attend_one(torch, query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2),
                          bias, a, seed).transpose(1, 2)
    of_keys = a["cum_seq_k"] if "cum_seq_k" in a else a["cu_seqlens_k"]
    shape = query.shape[:-1] + value.shape[-1:]
    query, key, value = (t.reshape(-1, *t.shape[-2:]).transpose(0, 1) for t in (query, key, value))
    made = []
    for index in range(len(starts) - 1):
        rows = slice(int(starts[index]), int(starts[index + 1]))
        keys = slice(int(of_keys[index]), int(of_keys[index + 1]))
        made.append(attend_one(torch, query[None, :, rows], key[None, :, keys],
                               value[None, :, keys], bias, a, seed + index)[0])
    return torch.cat(made, 1).transpose(0, 1).reshape(shape)


def attend_one(torch, query, key, value, bias, a, seed):
    kind = a.get("custom_mask_type")
    from_last = kind is None or kind == CAUSAL_FROM_LAST
    diagonal = key.shape[-2] - query.shape[-2] if from_last else 0
    options = {**a, "diagonal": diagonal, "is_causal": a.get("is_causal") or bool(kind)}
    return attend(torch, query, key, value, bias, options, seed)[0]


def row_attention(torch, a):
    seed = torch.randint(1 << 31, (1,)).item()
    output = attend_rows(torch, a["query"], a["key"], a["value"], a.get("bias"), a, seed)
    return [output.to(a["query"].dtype), None, Filled(seed), None, None, None]


def row_attention_backward(torch, a):
    seed, bias = seed_of(a), a.get("bias")
    wants_bias = bias is not None and a.get("bias_requires_grad")

    def forward(query, key, value, learned):
        return (attend_rows(torch, query, key, value, bias if learned is None else learned, a, seed),)

    grad = a["grad_out_"] if "grad_out_" in a else a["grad_out"]
    return gradients(torch, forward, [a["query"], a["key"], a["value"],
                                      bias if wants_bias else None], [grad])


ATTENTION = {
    "_scaled_dot_product_flash_attention": attention(6, True),
    "_scaled_dot_product_efficient_attention": attention(2, False),
    "_scaled_dot_product_cudnn_attention": attention(6, False),
    "_scaled_dot_product_flash_attention_backward": attention_backward,
    "_scaled_dot_product_efficient_attention_backward": attention_backward,
    "_scaled_dot_product_cudnn_attention_backward": attention_backward,
    "_flash_attention_forward": row_attention,
    "_flash_attention_backward": row_attention_backward,
    "_efficient_attention_forward": row_attention,
    "_efficient_attention_backward": row_attention_backward,
}
