import torch
from torch import nn
import torch.nn.functional as F

model = nn.Sequential(
    nn.Linear(64, 256), nn.LayerNorm(256), nn.GELU(), nn.Dropout(0.1), nn.Linear(256, 10)
).to("cuda")
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, capturable=True)
x = torch.randn(128, 64, device="cuda")
y = torch.randint(0, 10, (128,), device="cuda")
mark("model")

side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
torch.cuda.current_stream().wait_stream(side)
del loss
mark("warm")

graph = torch.cuda.CUDAGraph()
optimizer.zero_grad(set_to_none=True)
with torch.cuda.graph(graph):
    static_loss = F.cross_entropy(model(x), y)
    static_loss.backward()
    optimizer.step()
mark("captured")

for step in range(3):
    batch = torch.randn(128, 64)
    x.copy_(batch)
    y.copy_(torch.randint(0, 10, (128,)))
    graph.replay()
    mark(f"step {step}")

with torch.no_grad():
    accuracy = (model(x).argmax(1) == y).float().mean()
mark("evaluated")
del static_loss
graph.reset()
mark("reset")
optimizer.zero_grad(set_to_none=True)
torch.cuda.empty_cache()
mark("emptied")
