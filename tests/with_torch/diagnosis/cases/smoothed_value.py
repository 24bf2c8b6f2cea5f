import time
from collections import defaultdict, deque

import torch
from torch import nn


class SmoothedValue:
    """After torchvision's references."""

    def __init__(self, window_size=20):
        self.deque = deque(maxlen=window_size)
        self.total = 0.0
        self.count = 0

    def update(self, value, n=1):
        self.deque.append(value)
        self.count += n
        self.total += value * n

    @property
    def global_avg(self):
        return self.total / self.count


class MetricLogger:
    def __init__(self):
        self.meters = defaultdict(SmoothedValue)

    def update(self, **kwargs):
        for k, v in kwargs.items():
            self.meters[k].update(v)

    def log_every(self, iterable, print_freq):
        start = time.time()
        for i, obj in enumerate(iterable):
            yield obj
            if i % print_freq == 0:
                print(i, {k: len(m.deque) for k, m in self.meters.items()}, time.time() - start)


def train(model, optimizer, batches):
    logger = MetricLogger()
    for x, y in logger.log_every(batches, 100):
        out = model(x)
        loss = nn.functional.mse_loss(out, y)
        consistency = (model(x + 0.1) - out).pow(2).mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        logger.update(loss=loss.item(), consistency=consistency)


model = nn.Sequential(nn.Linear(512, 1024), nn.GELU(), nn.Linear(1024, 512)).cuda()
train(model, torch.optim.SGD(model.parameters(), lr=0.1),
      ((torch.randn(512, 512, device="cuda"), torch.randn(512, 512, device="cuda")) for _ in range(3000)))
