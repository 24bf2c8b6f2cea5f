# REINFORCE, after the example of PyTorch; the author forgot `del policy.rewards[:]`.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self):
        super(Policy, self).__init__()
        self.affine1 = nn.Linear(64, 128)
        self.affine2 = nn.Linear(128, 8)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        return F.softmax(self.affine2(F.relu(self.affine1(x))), dim=1)


policy = Policy().to("cuda")
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)


def select_action(state):
    probs = policy(state)
    m = Categorical(probs, validate_args=False)
    action = m.sample()
    policy.saved_log_probs.append(m.log_prob(action))
    return action


def finish_episode():
    rewards = torch.tensor(policy.rewards[-10:], device="cuda")
    losses = [-p.mean() * r for p, r in zip(policy.saved_log_probs[-10:], rewards)]
    optimizer.zero_grad()
    torch.stack(losses).sum().backward()
    optimizer.step()


def main():
    for i_episode in range(150):
        for t in range(1, 11):
            select_action(torch.randn(16384, 64, device="cuda"))
            policy.rewards.append(1.0)
        finish_episode()
        # rewards and log probabilities are still there


if __name__ == "__main__":
    main()
