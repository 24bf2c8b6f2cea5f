import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.backends.cudnn.enabled = True


class Clips(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return torch.randn(3, 20, 20), i % 5


class Prefetcher:
    def __init__(self, loader):
        self.loader = iter(loader)
        self.stream = torch.cuda.Stream()
        self.mean = torch.tensor([0.4, 0.5, 0.6]).cuda().view(1, 3, 1, 1)
        self.std = torch.tensor([0.2, 0.2, 0.3]).cuda().view(1, 3, 1, 1)
        self.preload()

    def preload(self):
        try:
            self.next_input, self.next_target = next(self.loader)
        except StopIteration:
            self.next_input = None
            self.next_target = None
            return
        with torch.cuda.stream(self.stream):
            self.next_input = self.next_input.cuda(non_blocking=True)
            self.next_target = self.next_target.cuda(non_blocking=True)
            self.next_input = self.next_input.sub_(self.mean).div_(self.std)

    def next(self):
        torch.cuda.current_stream().wait_stream(self.stream)
        x = self.next_input
        y = self.next_target
        if x is not None:
            x.record_stream(torch.cuda.current_stream())
        if y is not None:
            y.record_stream(torch.cuda.current_stream())
        self.preload()
        return x, y


model = nn.Sequential(nn.Conv2d(3, 24, 3), nn.BatchNorm2d(24), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Conv2d(24, 32, 3), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 5)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
loader = DataLoader(Clips(14), batch_size=4, shuffle=True, pin_memory=False, drop_last=False)
mark("model")
for epoch in range(2):
    prefetcher = Prefetcher(loader)
    x, y = prefetcher.next()
    i = 0
    while x is not None:
        i += 1
        out = model(x)
        loss = F.cross_entropy(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mark(f"epoch {epoch} step {i}")
        x, y = prefetcher.next()
torch.cuda.synchronize()
mark("trained")
