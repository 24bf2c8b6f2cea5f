"""Attention of heads of any size, with masks and dropout."""
from random_program import Program, options_of


def attention_program(rng):
    """Attention of heads of any size, whose rows begin anywhere."""
    program = Program(rng)
    batch, heads, queries = rng.choice((1, 2)), rng.choice((1, 2, 4)), rng.choice((1, 7, 16, 33, 64))
    keys, size = rng.choice((queries, queries, 9, 40)), rng.choice((3, 4, 8, 12, 20, 33, 40, 64, 72, 130))
    options, grad = options_of(rng, ("float32", "float16", "float16", "bfloat16"))
    for name, length in (("q", queries), ("k", keys), ("v", keys)):
        layout = rng.choice(("plain", "plain", "heads behind", "sliced", "packed"))
        if layout == "heads behind":
            program.add(f"{name}0 = torch.randn({batch}, {length}, {heads}, {size}, {options}{grad})")
            program.add(f"{name} = {name}0.transpose(1, 2)")
        elif layout == "sliced":
            program.add(f"{name}0 = torch.randn({batch}, {heads}, {length}, {size + 8}, {options}{grad})")
            program.add(f"{name} = {name}0.narrow(3, {rng.choice((0, 1, 8))}, {size})")
        elif layout == "packed":
            program.add(f"{name}0 = torch.randn({batch}, {length}, {3 * heads * size}, {options}{grad})")
            first = rng.randrange(3) * heads * size
            program.add(f"{name} = {name}0.narrow(2, {first}, {heads * size})"
                        f".view({batch}, {length}, {heads}, {size}).transpose(1, 2)")
        else:
            program.add(f"{name} = torch.randn({batch}, {heads}, {length}, {size}, {options}{grad})")
    arguments = rng.choice(("", "", ", dropout_p=0.25", ", attn_mask=mask"))
    if queries == keys and not arguments.endswith("mask"):
        arguments += rng.choice(("", ", is_causal=True"))
    if arguments.endswith("mask"):
        program.add(f"mask = torch.zeros({queries}, {keys}, {options})")
    program.add(f"y = F.scaled_dot_product_attention(q, k, v{arguments})")
    program.add("layout(y)")
    if grad:
        program.backward("y")
    return program.lines
