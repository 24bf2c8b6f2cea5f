import torch
import torch.nn as nn
import torch.nn.functional as F

class Cache:
    store = {}

    @classmethod
    def put(cls, key, value):
        cls.store[key] = value

net = nn.Linear(256, 1024).cuda()
for i in range(4000):
    Cache.put(i, net(torch.randn(512, 256, device="cuda")).relu())
