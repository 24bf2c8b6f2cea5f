from functools import lru_cache

import torch
from torch import nn

model = nn.Sequential(nn.Linear(300, 1024), nn.ReLU(), nn.Linear(1024, 2048)).cuda().eval()


@lru_cache(maxsize=None)
def embedding(document):
    with torch.no_grad():
        return model(torch.randn(256, 300, device="cuda"))


def main():
    for document in range(200):
        embedding(f"document {document}").norm().cpu()


main()
