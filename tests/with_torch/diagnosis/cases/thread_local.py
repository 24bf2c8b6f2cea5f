import threading

import torch
from torch import nn

local = threading.local()
model = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 512)).cuda().eval()


def worker(requests):
    local.answers = []
    for request in range(requests):
        with torch.inference_mode():
            y = model(torch.randn(2048, 512, device="cuda"))
        local.answers.append(y)
    print(len(local.answers))


threads = [threading.Thread(target=worker, args=(3000,)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
