import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20000, 512)
        self.layers = nn.ModuleList([nn.Linear(512, 2048) for _ in range(12)])

    def forward(self, ids):
        h = self.embed(ids)
        return sum(layer(h).mean() for layer in self.layers)


torch.save(Net().state_dict(), "weights.pt")


def load_model(path):
    weights = torch.load(path, map_location=torch.device("cuda"), weights_only=True)
    model = Net().to("cuda")
    model.load_state_dict(weights)
    return model, weights


model, weights = load_model("weights.pt")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(6):
    optimizer.zero_grad()
    model(torch.randint(0, 20000, (32, 64), device="cuda")).backward()
    optimizer.step()
