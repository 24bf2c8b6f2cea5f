"""Trains small models on the CPU and on the GPU, whose losses are the same where values are computed."""
import sys

import torch
import torch.nn.functional as F
from torch import nn

STEPS = 5
TOLERANCE = {torch.float32: 1e-5, torch.bfloat16: 1e-2}


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.layers = kind(16, 32, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(64, 3)

    def forward(self, rows):
        lengths = torch.arange(12, 12 - len(rows), -1)
        packed = nn.utils.rnn.pack_padded_sequence(rows, lengths, batch_first=True)
        output, _ = nn.utils.rnn.pad_packed_sequence(self.layers(packed)[0], batch_first=True)
        return self.head(output[:, 0])


class Attention(nn.Module):
    def __init__(self, dtype):
        super().__init__()
        self.projection = nn.Linear(64, 192)
        self.bias = nn.Parameter(torch.zeros(1, 1, 16, 16))
        self.dtype = dtype

    def forward(self, rows):
        inputs = self.projection(rows).to(self.dtype).view(4, 16, 3, 4, 16).permute(2, 0, 3, 1, 4)
        causal = F.scaled_dot_product_attention(*inputs, is_causal=True)
        biased = F.scaled_dot_product_attention(*inputs, attn_mask=self.bias.to(self.dtype))
        return (causal + biased).float()


def convolutions():
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, 2, 1), nn.GroupNorm(4, 16), nn.SiLU(), nn.Conv2d(16, 16, 3, 1, 1, groups=16),
        nn.BatchNorm2d(16), nn.ConvTranspose2d(16, 3, 4, 2, 1), nn.Upsample(scale_factor=2, mode="bilinear"),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(3 * 32 * 32, 3))


def transformer():
    return nn.Sequential(
        nn.Embedding(100, 64), nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True),
        nn.Linear(64, 100))


def classified(model, rows):
    labels = torch.arange(len(rows), device=rows.device) % 3
    return F.cross_entropy(model(rows), labels)


def predicted(model, tokens):
    return F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())


def squared(model, rows):
    return model(rows).square().mean()


def numbers(*shape):
    return lambda: torch.randn(shape)


CASES = {
    "LSTM, packed": (lambda: Recurrent(nn.LSTM), numbers(8, 12, 16), classified, torch.float32),
    "GRU, packed": (lambda: Recurrent(nn.GRU), numbers(8, 12, 16), classified, torch.float32),
    "attention": (lambda: Attention(torch.float32), numbers(4, 16, 64), squared, torch.float32),
    "attention in bfloat16": (lambda: Attention(torch.bfloat16), numbers(4, 16, 64), squared,
                              torch.bfloat16),
    "convolutions": (convolutions, numbers(6, 3, 32, 32), classified, torch.float32),
    "transformer": (transformer, lambda: torch.randint(0, 100, (4, 16)), predicted, torch.float32),
}


def losses(make_model, make_batch, loss_of, device):
    torch.manual_seed(0)
    model = make_model().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    found = []
    for _ in range(STEPS):
        loss = loss_of(model, make_batch().to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        found.append(loss.item())
    return found


def main():
    different = []
    for name, (make_model, make_batch, loss_of, dtype) in CASES.items():
        on_gpu = losses(make_model, make_batch, loss_of, "cuda")
        on_cpu = losses(make_model, make_batch, loss_of, "cpu")
        most = max(abs(a - b) / max(1, abs(b)) for a, b in zip(on_gpu, on_cpu))
        print(f"{name:24} {on_cpu[-1]:.6f} on the CPU, {most:.1e} away on the GPU")
        if most > TOLERANCE[dtype]:
            different.append(name)
    if different:
        sys.exit(f"other losses: {', '.join(different)}")


if __name__ == "__main__":
    main()
