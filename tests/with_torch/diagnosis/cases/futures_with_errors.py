import concurrent.futures

import torch
from torch import nn

encoder = nn.Sequential(nn.Linear(1024, 2048), nn.ReLU(), nn.Linear(2048, 1024)).cuda().eval()


def embed(document):
    with torch.no_grad():
        vectors = encoder(torch.randn(512, 1024, device="cuda"))
    if len(document) % 2 == 0:
        raise ValueError(f"no text in {document}")
    return vectors.cpu()


def main():
    pending = {}
    with concurrent.futures.ThreadPoolExecutor(max_workers=1) as pool:
        for number in range(2000):
            future = pool.submit(embed, f"document-{number:05}")
            future_id = number
            pending[future_id] = future
            concurrent.futures.wait([future])
    print(sum(1 for future in pending.values() if future.exception()))


main()
