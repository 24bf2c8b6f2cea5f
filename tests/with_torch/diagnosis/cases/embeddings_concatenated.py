import torch
from torch import nn

encoder = nn.Sequential(nn.Linear(256, 512), nn.Tanh(), nn.Linear(512, 768)).cuda().eval()


def embed(corpus):
    embeddings = None
    for batch in corpus:
        with torch.no_grad():
            vector = encoder(batch)
        embeddings = vector if embeddings is None else torch.cat((embeddings, vector), dim=0)
    return embeddings


def corpus():
    for _ in range(150):
        yield torch.randn(256, 256, device="cuda")


index = embed(corpus())
print(index.shape)
