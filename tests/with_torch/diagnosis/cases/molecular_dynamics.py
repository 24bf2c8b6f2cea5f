import torch
from torch import nn


class Potential(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(),
                                 nn.Linear(width, 1))

    def forward(self, positions):
        distances = torch.cdist(positions, positions) + torch.eye(len(positions), device=positions.device)
        return self.net(distances.reshape(-1, 1)).sum()


def forces(potential, positions):
    positions = positions.detach().requires_grad_(True)
    energy = potential(positions)
    return -torch.autograd.grad(energy, positions)[0], energy.detach()


potential = Potential().cuda().eval()
q, v = torch.randn(200, 3, device="cuda"), torch.zeros(200, 3, device="cuda")
energies = []
for step in range(60):
    f, e = forces(potential, q)
    v = v + 0.01 * f
    q = q + 0.01 * v
    energies.append(e)
torch.stack(energies).cpu()
