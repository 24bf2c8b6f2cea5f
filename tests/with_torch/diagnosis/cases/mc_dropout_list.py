import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(128, 2048), nn.ReLU(), nn.Dropout(0.3), nn.Linear(2048, 2048), nn.ReLU(),
                    nn.Dropout(0.3), nn.Linear(2048, 10)).cuda()


def enable_dropout(model):
    for m in model.modules():
        if isinstance(m, nn.Dropout):
            m.train()


net.eval()
enable_dropout(net)
x = torch.randn(1024, 128).cuda()
samples = []
for t in range(500):
    samples.append(torch.softmax(net(x), dim=-1))
samples = torch.stack(samples)
print(samples.var(0).mean())
