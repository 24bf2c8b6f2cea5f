import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.wq = nn.Linear(dim, dim, bias=False, device="cuda")
        self.wk = nn.Linear(dim, dim, bias=False, device="cuda")
        self.wv = nn.Linear(dim, dim, bias=False, device="cuda")
        self.wo = nn.Linear(dim, dim, bias=False, device="cuda")

    def forward(self, x, freqs_cis):
        b, s, d = x.shape
        q = self.wq(x).view(b, s, self.heads, -1)
        k = self.wk(x).view(b, s, self.heads, -1)
        v = self.wv(x).view(b, s, self.heads, -1)
        q, k = apply_rotary(q, k, freqs_cis)
        out = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True)
        return self.wo(out.transpose(1, 2).reshape(b, s, d))


def apply_rotary(xq, xk, freqs_cis):
    xq_ = torch.view_as_complex(xq.float().reshape(xq.shape[0], xq.shape[1], xq.shape[2], -1, 2))
    xk_ = torch.view_as_complex(xk.float().reshape(xk.shape[0], xk.shape[1], xk.shape[2], -1, 2))
    freqs_cis = freqs_cis.view(1, xq_.shape[1], 1, xq_.shape[-1])
    xq_out = torch.view_as_real(xq_ * freqs_cis).flatten(3)
    xk_out = torch.view_as_real(xk_ * freqs_cis).flatten(3)
    return xq_out.type_as(xq), xk_out.type_as(xk)


freqs = 1.0 / (10000.0 ** (torch.arange(0, 32, 2, device="cuda").float() / 32))
t = torch.arange(64, device="cuda", dtype=torch.float32)
freqs = torch.outer(t, freqs)
freqs_cis = torch.polar(torch.ones_like(freqs), freqs)
m = Attention(128, 4).to(torch.bfloat16)
opt = torch.optim.AdamW(m.parameters(), lr=1e-3)
for i in range(2):
    x = torch.randn(4, 64, 128, device="cuda", dtype=torch.bfloat16)
    y = m(x, freqs_cis)
    loss = y.float().pow(2).mean()
    loss.backward()
    opt.step()
    opt.zero_grad()

