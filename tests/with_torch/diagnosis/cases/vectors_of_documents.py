import torch
import torch.nn as nn


class Document:
    def __init__(self, text):
        self.text = text
        self.embedding = None


def load(n):
    docs = []
    for i in range(n):
        docs.append(Document(torch.randint(0, 1000, (512,))))
    return docs


encoder = nn.Sequential(nn.Embedding(1000, 512), nn.Linear(512, 1024), nn.Tanh()).cuda().eval()
docs = load(1000)
with torch.no_grad():
    for doc in docs:
        doc.embedding = encoder(doc.text[None].cuda())
