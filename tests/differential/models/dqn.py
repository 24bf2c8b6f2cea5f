import torch
from torch import nn
import torch.nn.functional as F


class QNetwork(nn.Module):
    def __init__(self, actions=6):
        super().__init__()
        self.conv1 = nn.Conv2d(4, 16, 8, stride=4)
        self.conv2 = nn.Conv2d(16, 32, 4, stride=2)
        self.fc1 = nn.Linear(32 * 4 * 4, 128)
        self.fc2 = nn.Linear(128, actions)

    def forward(self, x):
        x = F.relu(self.conv1(x / 255.0))
        x = F.relu(self.conv2(x))
        x = x.view(x.size(0), -1)
        return self.fc2(F.relu(self.fc1(x)))


policy = QNetwork().cuda()
target = QNetwork().cuda()
target.load_state_dict(policy.state_dict())
target.eval()
opt = torch.optim.RMSprop(policy.parameters(), lr=2.5e-4, alpha=0.95, eps=0.01)
frames = torch.randint(0, 256, (32, 4, 44, 44), dtype=torch.uint8, device="cuda")
actions = torch.randint(0, 6, (32,), device="cuda")
rewards = torch.randn(32, device="cuda")
dones = torch.zeros(32, device="cuda")
gamma = 0.99
mark("replay")
for step in range(3):
    with torch.no_grad():
        action = policy(frames[:1].float()).max(1)[1].item()
    index = torch.randint(0, 31, (8,), device="cuda")
    state = frames[index].float()
    following = frames[index + 1].float()
    a, r, d = actions[index], rewards[index], dones[index]
    q = policy(state).gather(1, a.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        best = policy(following).argmax(dim=1, keepdim=True)
        next_q = target(following).gather(1, best).squeeze(1)
        expected = r + gamma * (1 - d) * next_q
    loss = F.smooth_l1_loss(q, expected)
    mark(f"forward {step}")
    opt.zero_grad()
    loss.backward()
    for p in policy.parameters():
        p.grad.data.clamp_(-1, 1)
    opt.step()
    mark(f"step {step}")
    with torch.no_grad():
        for tp, p in zip(target.parameters(), policy.parameters()):
            tp.mul_(0.995).add_(p, alpha=0.005)
    mark(f"soft update {step}")
target.load_state_dict(policy.state_dict())
mark("hard update")
