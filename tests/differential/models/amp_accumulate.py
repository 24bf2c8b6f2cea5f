import torch
from torch import nn
import torch.nn.functional as F

torch.backends.cudnn.enabled = True


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(inplace=True))
        self.down = nn.Conv2d(32, 64, 3, stride=2, padding=1)
        self.norm = nn.GroupNorm(8, 64)
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(64, 10))

    def forward(self, x):
        x = self.stem(x)
        x = F.gelu(self.norm(self.down(x)))
        return self.head(x)


model = Net().cuda()
decay = [p for n, p in model.named_parameters() if p.ndim > 1]
no_decay = [p for n, p in model.named_parameters() if p.ndim <= 1]
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.05}, {"params": no_decay, "weight_decay": 0.0}], lr=1e-3)
scaler = torch.amp.GradScaler("cuda", init_scale=1024.0)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=10)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
accumulate = 2
running = torch.zeros((), device="cuda")
mark("model")
for step in range(6):
    x = torch.randn(8, 3, 24, 24, device="cuda")
    y = torch.randint(0, 10, (8,), device="cuda")
    with torch.autocast(device_type="cuda", dtype=torch.float16):
        out = model(x)
        loss = criterion(out, y) / accumulate
    scaler.scale(loss).backward()
    running += loss.detach()
    if (step + 1) % accumulate == 0:
        scaler.unscale_(optimizer)
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
        scheduler.step()
    mark(f"step {step}")
average = running.item() / 6
mark("done")
