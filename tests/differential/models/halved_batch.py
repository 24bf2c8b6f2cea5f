import gc
import torch
from torch import nn
import torch.nn.functional as F

torch.cuda.set_per_process_memory_fraction(0.003)


class Wide(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(512, 2048)
        self.fc2 = nn.Linear(2048, 2048)
        self.fc3 = nn.Linear(2048, 16)
        self.norm = nn.LayerNorm(2048)

    def forward(self, x):
        h = F.gelu(self.fc1(x))
        h = self.norm(h + F.gelu(self.fc2(h)))
        return self.fc3(h)


def train_step(model, optimizer, batch):
    x = torch.randn(batch, 512, device="cuda")
    y = torch.randint(0, 16, (batch,), device="cuda")
    optimizer.zero_grad(set_to_none=True)
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.detach()


model = Wide().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
mark("model")
loss = train_step(model, optimizer, 16)
mark("warm")
batch = 4096
steps = 0
failed = 0
while steps < 3:
    is_out_of_memory = False
    try:
        loss = train_step(model, optimizer, batch)
    except torch.cuda.OutOfMemoryError:
        is_out_of_memory = True
    if is_out_of_memory:
        failed += 1
        optimizer.zero_grad(set_to_none=True)
        batch = batch // 2
        mark(f"failed {failed}")
        gc.collect()
        torch.cuda.empty_cache()
        mark(f"emptied {failed}")
    else:
        steps += 1
        mark(f"step {steps} of {batch}")
