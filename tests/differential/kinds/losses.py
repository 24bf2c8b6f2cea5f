"""Losses with margins, cosines and likelihoods."""
from random_program import LAYOUTS, Program, options_of

# Losses of two or three tensors: x and w are scores, t what they are compared with, c classes.
COMPARED = [
    *[f'{call}{more}, reduction="{reduction}")' for reduction in ("mean", "sum", "none")
      for call, more in (
          ("F.soft_margin_loss(x, t", ""),
          ("F.multi_margin_loss(x, c", ""), ("F.multi_margin_loss(x, c, p=2", ", margin=0.5"),
          ("F.multi_margin_loss(x, c", ", weight=u"), ("F.cosine_embedding_loss(x, w, s", ""),
          ("F.cosine_embedding_loss(x, w, s, margin=0.5", ""),
          ("F.gaussian_nll_loss(x, w, v", ""), ("F.gaussian_nll_loss(x, t, v", ", full=True"),
          ("F.gaussian_nll_loss(x, w, r", ""), ("F.gaussian_nll_loss(x, t, o", ", eps=1e-3"))],
]


def compared_program(rng):
    program = Program(rng)
    expression = rng.choice(COMPARED)
    shape = [rng.choice((1, 2, 3, 8, 40)), rng.choice((1, 2, 5, 8, 30))]
    options, grad = options_of(rng, ("float32", "float32", "float16", "bfloat16", "float64"))
    own_grads = [grad if rng.random() < 0.6 else "" for _ in range(2)]
    program.tensor("x", shape, options + (grad or ""), rng.choice(LAYOUTS))
    arguments = expression[expression.index("("):]
    for name, sizes in (("w", shape), ("t", shape), ("v", shape), ("r", shape[:1]), ("o", [shape[0], 1])):
        if f", {name}," in arguments or f", {name})" in arguments:
            with_grad = own_grads[0] if name != "t" else ""
            program.tensor(name, sizes, options + with_grad, rng.choice(("plain", "transposed", "sliced", "expanded")))
    if ", s," in arguments:
        program.add(f"s = torch.ones({shape[0]}, {options})")
    if ", c," in arguments:
        program.add(f'c = torch.zeros({shape[0]}, dtype=torch.long, device="cuda")')
    if "=u" in arguments:
        program.add(f"u = torch.ones({shape[1]}, {options})")
    if rng.random() < 0.2:
        program.add(f'with torch.autocast("cuda", dtype=torch.{rng.choice(("float16", "bfloat16"))}): y = {expression}')
    else:
        program.add(f"y = {expression}")
    program.add("layout(y)")
    if grad:
        program.backward("y")
    return program.lines
