import torch
import torch.nn as nn
import torch.nn.functional as F

EMBEDDINGS = []

def embed(model, batch):
    out = model(batch)
    EMBEDDINGS.append(out)
    return out

@torch.no_grad()
def index(model):
    for i in range(4000):
        embed(model, torch.randn(2048, 128, device="cuda"))

index(nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 256)).cuda().eval())
