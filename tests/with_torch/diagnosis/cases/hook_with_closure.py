import torch
import torch.nn as nn
import torch.nn.functional as F

def attach(model):
    acts = {}

    def save(name):
        def hook(module, args, output):
            acts.setdefault(name, []).append(output.detach())
        return hook

    for name, m in model.named_children():
        m.register_forward_hook(save(name))
    return model

def main():
    model = attach(nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 10)).cuda())
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(100):
        for i in range(20):
            x = torch.randn(1024, 512, device="cuda")
            loss = F.cross_entropy(model(x), torch.zeros(1024, dtype=torch.long, device="cuda"))
            opt.zero_grad()
            loss.backward()
            opt.step()

main()
