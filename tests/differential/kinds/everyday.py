"""What programs write every day."""
from kinds.ops import operands
from random_program import Program

# What programs write every day, of tensors in any layout.
EVERYDAY = [
    *[(1, f"torch.{name}_like(x{more})") for name in ("zeros", "ones", "empty", "rand", "randn")
      for more in ("", ", dtype=torch.float16")],
    (1, "torch.full_like(x, 2.0)"), (1, "x.new_zeros(2, 3)"), (1, "x.new_ones(x.shape)"), (1, "x.half()"),
    (1, "x.to(torch.float64)"), (1, "x.half().float()"), (1, "x.double() + w"), (1, "x.half() * w.float()"),
    (1, "x.bfloat16() - w.half()"), (1, "(x > w).float()"), (1, "(x > 0).sum()"), (1, "(x > 0).float().mean()"),
    (1, "x.eq(w)"), (1, "x.ne(w).sum()"), (1, "x.long()"), (1, "x.long() + 1"), (1, "x.long() * x"), (1, "x.long() / 2"),
    (1, "x.argsort(dim=0)"), (2, "x.sort(dim=0, descending=True)[0]"), (2, "x.topk(1)[1]"), (2, "x.argmax(dim=-1)"),
    (2, "x.chunk(2, dim=0)[0]"), (2, "x.split(1, dim=-1)[0]"), (2, "x.unbind(-1)[0]"), (1, "torch.stack([x, x, w], dim=-1)"),
    (1, "torch.cat([x, w, x], dim=-1)"), (1, "torch.cat([x.half(), w.float()], dim=0)"), (1, "x.squeeze()"), (2, "x.squeeze(0)"),
    (1, "x.reshape(-1)"), (1, "x.reshape(-1, 1)"), (2, "x.flatten(-2)"), (1, "x.exp().log()"), (1, "x.clone()"),
    (1, "x.detach() * w"), (2, "x.sum(dim=(0, 1))"), (2, "x.mean(dim=(0, -1), keepdim=True)"), (2, "x.std(dim=(0, 1))"),
    (1, "x.sum(dtype=torch.float64)"), (1, "x.norm(p=1)"), (2, "x.norm(p=1, dim=-1)"), (2, "x.norm(p=2, dim=0, keepdim=True)"),
    (1, 'x.masked_fill(keep, float("-inf"))'), (1, "torch.where(x > 0, x, w)"), (1, "torch.where(keep, x, torch.zeros_like(x))"),
    (1, "x.clamp_min(0)"), (1, "F.leaky_relu(x, 0.1)"), (1, "F.gelu(x, approximate=\"tanh\")"), (1, "F.softplus(x)"),
    (2, "torch.softmax(x.float(), -1).half()"), (2, "F.softmax(x, dim=-1) @ w.transpose(-2, -1)"),
    (2, "x[0]"), (2, "x[:, 0]"), (2, "x[..., 0]"),
    (2, "x[:, line]"), (2, "x.index_select(-1, line)"), (1, "x * 2 + 1"), (1, "1 - x"), (1, "2 / (x * x + 1)"), (1, "-x"),
    (1, "x * x.sigmoid()"), (1, "(x - w).abs().mean()"), (1, "(x - x.mean()) / (x.std() + 1e-5)"),
    (2, "(x - x.mean(-1, keepdim=True)) / x.var(-1, keepdim=True)"), (1, "x.pow(2).mean().sqrt()"), (1, "x.sum().item() + x"),
    (2, "x.max(dim=-1, keepdim=True)[0] - x"), (2, "F.normalize(x, dim=-1) @ F.normalize(w, dim=-1).transpose(-2, -1)"),
    (2, "torch.tril(torch.ones_like(x)) * x"), (1, "torch.cumsum(x, 0) / 3"), (1, "F.dropout(F.relu(x), 0.1, True) + w"),
    (2, "torch.outer(x.reshape(-1), w.reshape(-1))"), (1, "torch.dot(x.reshape(-1), w.reshape(-1))"), (1, "torch.sigmoid(x) * torch.tanh(w)"),
    (1, "torch.exp(x - x.max())"), (2, "torch.logsumexp(x, dim=(0, 1))"), (1, "x.float().cpu()"),
    (2, "x.repeat_interleave(2, dim=0)"), (1, "x.roll(1)"), (1, "x.view_as(x.contiguous())"),
]


def everyday_program(rng):
    program = Program(rng)
    least, expression = rng.choice(EVERYDAY)
    leaf, has_grad = operands(program, rng.randint(least, max(least, 4)), expression)
    program.add(f"y = {expression}")
    program.add("layout(y)")
    if rng.random() < 0.3:
        program.add("y = y * 2.0")
    if has_grad and not any(part in expression for part in ("_like(x", "new_", "long()", "eq(", "ne(", "(x > ")):
        program.backward("y")
    return program.lines
