import torch
import torch.nn as nn
import torch.nn.functional as F

class Probe:
    def __init__(self, model):
        self.seen = []
        for m in model:
            m.register_forward_hook(self.hook)

    def hook(self, module, inputs, output):
        self.seen.append(output)

def main():
    model = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)).cuda()
    probe = Probe(model)
    opt = torch.optim.AdamW(model.parameters())
    for step in range(2000):
        x = torch.randn(2048, 512).cuda()
        y = torch.randint(0, 10, (2048,)).cuda()
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()

main()
