import gc
import io

import torch
from torch import nn
import torch.nn.functional as F


def new_model():
    return nn.Sequential(
        nn.Linear(32, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Linear(256, 600, bias=False)
    ).to("cuda")


def train(model, optimizer):
    x = torch.randn(64, 32, device="cuda")
    y = torch.randint(0, 600, (64,), device="cuda")
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()


model = new_model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
mark("model")
for step in range(2):
    train(model, optimizer)
    mark(f"step {step}")
whole = torch.randn(40, 300, device="cuda")
file = io.BytesIO()
torch.save(
    {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "step": 2,
        "rows": whole[3:5],
        "same rows": whole[4:],
    },
    file,
)
mark("saved")
del model, optimizer, whole
mark("gone")
gc.collect()
mark("collected")
file.seek(0)
state = torch.load(file)
mark("loaded")
model = new_model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
model.load_state_dict(state["model"])
mark("model taken")
optimizer.load_state_dict(state["optimizer"])
mark("optimizer taken")
rows = state["rows"] * 2
del state
mark("state gone")
train(model, optimizer)
mark("step 2")
file.seek(0)
state = torch.load(file, map_location="cpu")
mark("loaded on the host")
model.load_state_dict(state["model"])
optimizer.load_state_dict(state["optimizer"])
mark("taken from the host")
del state
train(model, optimizer)
mark("step 3")
torch.save(nn.Parameter(torch.ones(700, device="cuda")), "weight")
weight = torch.load("weight", map_location=torch.device("cuda", 0))
weight.sum().backward()
mark("parameter")
