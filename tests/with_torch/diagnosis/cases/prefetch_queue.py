import queue
import threading
import time

import torch
import torch.nn as nn

batches = queue.Queue()


def prefetch():
    for _ in range(400):
        batches.put(torch.randn(1024, 1024, device="cuda"))
    batches.put(None)


model = nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
thread = threading.Thread(target=prefetch, daemon=True)
thread.start()
while (batch := batches.get()) is not None:
    optimizer.zero_grad()
    model(batch).mean().backward()
    optimizer.step()
    time.sleep(0.01)
