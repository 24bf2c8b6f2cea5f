import torch
from torch import nn
import torch.nn.functional as F

vocab, dim, classes, lengths = 90, 32, 4, [12, 5, 9]


# On a virtual GPU masks have no values: what PyTorch reads of them is said here. All it allocates
# on the way is its own.
def is_left_aligned(x, mask, look=torch._nested_tensor_from_mask_left_aligned):
    look(x, mask)
    return True


def without_padding(x, mask, mask_check):
    batch, length, width = x.shape
    end = torch.zeros(batch, 1, dtype=torch.bool, device="cuda")
    closed = torch.cat([mask, end], 1)
    numbers = closed.to(torch.int32)
    gaps = numbers.argmin(1)
    del numbers, closed
    counts = mask.cumsum(1).select(1, length - 1).reshape(batch, 1)
    widths = torch.full_like(counts, width)
    sizes = torch.cat([counts, widths], 1)
    del sizes, counts
    result = torch._nested_from_padded(x, torch.tensor([[size, width] for size in lengths]), False)
    del widths, gaps, end
    return result


torch._nested_tensor_from_mask_left_aligned = is_left_aligned
torch._nested_tensor_from_mask = without_padding


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        layer = nn.TransformerEncoderLayer(dim, 4, 64, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(dim))
        self.fc = nn.Linear(dim, classes)

    def forward(self, x, pad):
        h = self.encoder(self.emb(x), src_key_padding_mask=pad)
        return self.fc(h.select(1, 0))


model = Classifier().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randint(1, vocab, (3, 12), device="cuda")
pad = torch.arange(12, device="cuda").unsqueeze(0) >= torch.tensor(lengths, device="cuda").unsqueeze(1)
y = torch.randint(0, classes, (3,), device="cuda")
loss = F.cross_entropy(model(x, pad), y)
optimizer.zero_grad()
loss.backward()
optimizer.step()
mark("trained")
model.eval()
with torch.no_grad():
    logits = model(x, pad)
mark("evaluated")
model.half()
with torch.no_grad():
    logits = model(x, pad)
mark("evaluated in half precision")
# Heads of 10 columns have no kernel: their attention is computed step by step.
narrow = nn.TransformerEncoder(nn.TransformerEncoderLayer(20, 2, 24, batch_first=True), 1)
narrow = narrow.cuda().eval()
z = torch.randn(3, 12, 20, device="cuda")
with torch.inference_mode():
    z = narrow(z, src_key_padding_mask=pad)
mark("evaluated step by step")
