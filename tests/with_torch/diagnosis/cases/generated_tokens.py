import torch
from torch import nn

model = nn.Sequential(nn.Embedding(4000, 256), nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 4000)).cuda().eval()


@torch.no_grad()
def generate(prompt, length):
    tokens = prompt
    for _ in range(length):
        logits = model(tokens)[:, -1]
        tokens = torch.cat([tokens, logits.topk(1).indices], 1)
    return tokens


for request in range(4):
    generate(torch.randint(0, 4000, (16, 8), device="cuda"), 64).cpu()
