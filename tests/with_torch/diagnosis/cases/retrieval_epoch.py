import torch
from torch import nn

tower = nn.Sequential(nn.Linear(300, 512), nn.ReLU(), nn.Linear(512, 128)).cuda()
opt = torch.optim.Adam(tower.parameters())


def recall():
    tower.eval()
    queries, keys = [], []
    with torch.inference_mode():
        for _ in range(30):
            x = torch.randn(128, 300, device="cuda")
            queries.append(tower(x))
            keys.append(tower(x + 0.01))
        sims = torch.cat(queries) @ torch.cat(keys).T
        hit = sims.argmax(1) == torch.arange(len(sims), device="cuda")
    tower.train()
    return hit.float().mean().item()


for epoch in range(3):
    for _ in range(10):
        a = torch.randn(1024, 300, device="cuda")
        za, zb = tower(a), tower(a + 0.01 * torch.randn_like(a))
        loss = nn.functional.cross_entropy(za @ zb.T, torch.arange(1024, device="cuda"))
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(recall())
