"""Batch norms whose statistics are those of all ranks (SyncBatchNorm): the CPU has no operators for them.

Channels are the second dimension of the input; there is one mean and one inverse deviation for each."""


def of_channels(values, like):
    """For each channel, in the shape that goes with the input."""
    return values.reshape(-1, *[1] * (like.dim() - 2))


def dimensions_summed(values):
    return [dimension for dimension in range(values.dim()) if dimension != 1]


def statistics(torch, a):
    values = a["input"].float() if a["input"].element_size() < 4 else a["input"]
    over = dimensions_summed(values)
    variance = values.var(over, unbiased=False)
    return [values.mean(over), (variance + a["eps"]).rsqrt()]


def gathered_statistics(torch, a):
    """Of several ranks, one row each: counts are how many values each has of a channel."""
    means, deviations = a["mean"], a["invstd"]
    counts = a["counts"] if "counts" in a else torch.full((len(means),), float(a["count"]))
    counts = counts.to(means.dtype).reshape(-1, 1)
    total = counts.sum()
    mean = (counts * means).sum(0) / total
    squares = (counts * (deviations ** -2 - a["eps"] + (means - mean) ** 2)).sum(0)
    for running, value in ((a["running_mean"], mean), (a["running_var"], squares / (total - 1))):
        if running is not None:
            running.mul_(1 - a["momentum"]).add_(value.to(running.dtype), alpha=a["momentum"])
    return [mean, (squares / total + a["eps"]).rsqrt()]


def normalized(torch, a):
    values = a["input"]
    made = (values - of_channels(a["mean"], values)) * of_channels(a["invstd"], values)
    if a["weight"] is not None:
        made = made * of_channels(a["weight"], values)
    if a["bias"] is not None:
        made = made + of_channels(a["bias"], values)
    return made.to(values.dtype)


def sums_of_gradients(torch, a):
    """[of the gradient, of it times the distance from the mean, of the weight, of the bias]"""
    over = dimensions_summed(a["input"])
    grad = a["grad_out"].to(a["mean"].dtype)
    total = grad.sum(over)
    weighted = (grad * (a["input"] - of_channels(a["mean"], a["input"]))).sum(over)
    wanted = a["input_g"], a["input_g"], a["weight_g"], a["bias_g"]
    return [value if is_wanted else None
            for value, is_wanted in zip((total, weighted, weighted * a["invstd"], total), wanted)]


def gradient_of_input(torch, a):
    values, count = a["input"], a["count"].sum()
    scale = a["invstd"] if a["weight"] is None else a["invstd"] * a["weight"]
    slope = a["invstd"] ** 2 * a["sum_dy_xmu"] / count
    distance = values - of_channels(a["mean"], values)
    grad = a["grad_out"] - of_channels(a["sum_dy"] / count, values)
    made = (grad - distance * of_channels(slope, values)) * of_channels(scale, values)
    return made.to(values.dtype)


SYNCHRONIZED = {
    "batch_norm_stats": statistics,
    "batch_norm_gather_stats": gathered_statistics,
    "batch_norm_gather_stats_with_counts": gathered_statistics,
    "batch_norm_elemt": normalized,
    "batch_norm_backward_reduce": sums_of_gradients,
    "batch_norm_backward_elemt": gradient_of_input,
}
