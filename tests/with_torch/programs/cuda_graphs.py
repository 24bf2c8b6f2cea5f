"""A training step captured as a CUDA graph, in a pool of its own, and replayed."""
import torch
from torch import nn

model = nn.Sequential(nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 2048)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(1024, 2048, device="cuda")
y = torch.randn(1024, 2048, device="cuda")

side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        optimizer.zero_grad(set_to_none=True)
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
torch.cuda.current_stream().wait_stream(side)

graph = torch.cuda.CUDAGraph()
optimizer.zero_grad(set_to_none=True)
with torch.cuda.graph(graph):
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
pools = {}
for segment in torch.cuda.memory_snapshot():
    pool = tuple(segment["segment_pool_id"])
    pools[pool] = pools.get(pool, 0) + segment["total_size"]
graph_pool = tuple(graph.pool())
assert set(pools) == {(0, 0), graph_pool}, pools
assert pools[graph_pool] >= 1024 * 2048 * 4

allocated = torch.cuda.memory_allocated()
for _ in range(5):
    x.copy_(torch.randn(1024, 2048, device="cuda"))
    graph.replay()
assert torch.cuda.memory_allocated() == allocated, "a replay allocates nothing"

forward = torch.cuda.make_graphed_callables(nn.Linear(64, 64).cuda(),
                                            (torch.randn(8, 64, device="cuda"),))
forward(torch.randn(8, 64, device="cuda")).sum().backward()
print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
