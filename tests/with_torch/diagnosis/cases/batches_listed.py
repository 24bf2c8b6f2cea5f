import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Spectrograms(Dataset):
    def __len__(self):
        return 6000

    def __getitem__(self, i):
        return torch.randn(1, 128, 256), i % 10


def collate(samples):
    x, y = zip(*samples)
    return torch.stack(x).cuda(non_blocking=True), torch.tensor(y).cuda(non_blocking=True)


loader = DataLoader(Spectrograms(), batch_size=32, shuffle=True, collate_fn=collate)
batches = list(loader)
model = nn.Sequential(nn.Conv2d(1, 16, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(10)).cuda()
optimizer = None
for x, y in batches:
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer = optimizer or torch.optim.Adam(model.parameters())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
