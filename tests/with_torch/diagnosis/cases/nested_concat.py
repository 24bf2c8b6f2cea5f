import torch
from torch import nn


def nested_concat(tensors, new):
    return torch.cat((tensors, new), dim=0)


class Evaluator:
    def __init__(self, model):
        self.model = model

    def loop(self, batches):
        all_preds = None
        all_labels = None
        self.model.eval()
        for inputs, labels in batches:
            with torch.no_grad():
                logits = self.model(inputs)
            all_preds = logits if all_preds is None else nested_concat(all_preds, logits)
            all_labels = labels if all_labels is None else nested_concat(all_labels, labels)
        return (all_preds.argmax(-1) == all_labels).float().mean()


model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 1000)).cuda()
data = ((torch.randn(256, 128, device="cuda"), torch.randint(1000, (256,), device="cuda")) for _ in range(2000))
print(Evaluator(model).loop(data))
