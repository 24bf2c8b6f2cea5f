import torch
from torch import nn
import torch.nn.functional as F

torch.cuda.memory._set_allocator_settings("expandable_segments:True")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(2000, 256)
        self.rnn = nn.LSTM(256, 256, batch_first=True)
        self.out = nn.Linear(256, 2000)

    def forward(self, ids):
        h, (n, c) = self.rnn(self.embed(ids))
        return self.out(h)


torch.backends.cudnn.enabled = True
model = Net().cuda()
optimizer = torch.optim.Adam(model.parameters())
mark("model")
for step in range(4):
    length = 20 + 15 * step
    ids = torch.randint(0, 2000, (16, length), device="cuda")
    loss = F.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
    mark(f"forward {step}")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 2:
        torch.cuda.empty_cache()
    mark(f"step {step}")
del loss, ids
torch.cuda.empty_cache()
mark("emptied")
torch.cuda.memory._set_allocator_settings("expandable_segments:False")
x = torch.randn(3000, 3000, device="cuda")
mark("plain")
