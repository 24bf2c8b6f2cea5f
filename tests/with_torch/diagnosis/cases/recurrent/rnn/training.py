import torch
from torch.nn import functional as F


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def batches(self, steps):
        for _ in range(steps):
            tokens = torch.randint(0, 2000, (9, 512), device="cuda")
            yield tokens[:-1], tokens[1:]

    def run(self, steps):
        for source, target in self.batches(steps):
            self.optimizer.zero_grad()
            logits = self.model(source)
            loss = F.cross_entropy(logits.flatten(0, 1), target.flatten())
            # RuntimeError: Trying to backward through the graph a second time
            loss.backward(retain_graph=True)
