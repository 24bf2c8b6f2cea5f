import torch
from torch import nn
import torch.nn.functional as F

left = nn.Sequential(nn.Linear(300, 900), nn.GELU(), nn.Linear(900, 300)).cuda()
right = nn.Sequential(nn.Linear(300, 900), nn.Tanh(), nn.Linear(900, 300)).cuda()
head = nn.Linear(600, 20).cuda()
optimizer = torch.optim.SGD(nn.ModuleList([left, right, head]).parameters(), lr=0.1)
s1 = torch.cuda.Stream()
s2 = torch.cuda.Stream()
mark("model")
for step in range(3):
    x = torch.randn(200, 300, device="cuda")
    y = torch.randint(0, 20, (200,), device="cuda")
    main = torch.cuda.current_stream()
    s1.wait_stream(main)
    s2.wait_stream(main)
    with torch.cuda.stream(s1):
        a = left(x)
    with torch.cuda.stream(s2):
        b = right(x)
    main.wait_stream(s1)
    main.wait_stream(s2)
    a.record_stream(main)
    b.record_stream(main)
    loss = F.cross_entropy(head(torch.cat([a, b], dim=1)), y)
    mark(f"forward {step}")
    optimizer.zero_grad()
    loss.backward()
    mark(f"backward {step}")
    optimizer.step()
    del a, b
    torch.cuda.synchronize()
    mark(f"step {step}")
