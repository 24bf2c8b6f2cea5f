"""Random numbers of a card, as any card of NVIDIA's draws them, and what follows from their layout."""
import torch
from torch.nn import functional as F


def drawn_by_a_card(device):
    """Printed by PyTorch on cards, to four digits."""
    found = []
    for seed, draw, count in ((0, torch.rand, 5), (0, torch.randn, 5), (42, torch.rand, 3),
                              (42, torch.randn, 3)):
        torch.manual_seed(seed)
        found += draw(count, device=device).tolist()
    return found


drawn_by_a_card.expected = [
    0.3990, 0.5167, 0.0249, 0.9401, 0.9459, -0.9247, -0.4253, -2.6438, 0.1452, -0.1209,
    0.6130, 0.0101, 0.3984, 0.1940, 2.1614, -0.1721]


def distributed(device):
    """Means and deviations of many."""
    torch.manual_seed(1)
    x = torch.empty(300, 1001, device=device)
    found = []
    for fill in (lambda: x.uniform_(-2, 3), lambda: x.normal_(1, 2), lambda: x.exponential_(2),
                 lambda: x.bernoulli_(0.3), lambda: x.random_(3, 9), lambda: x.geometric_(0.3),
                 lambda: F.dropout(torch.ones_like(x), 0.3),
                 lambda: torch.bernoulli(torch.full_like(x, 0.3)),
                 lambda: torch.normal(torch.full_like(x, 0.5), 0.3),
                 lambda: torch.multinomial(torch.tensor([0.1, 0.2, 0.7], device=device), 99999,
                                           replacement=True).float()):
        made = fill().double()
        found += [made.mean().item(), made.std().item()]
    order = torch.randperm(40000, device=device).sort()[0]
    return found + [float((order == torch.arange(40000, device=device)).all())]


distributed.tolerance = 0.02
distributed.expected = [0.5, 5 / 12**0.5, 1, 2, 0.5, 0.5, 0.3, 0.21**0.5, 5.5, (35 / 12) ** 0.5,
                        1 / 0.3, 0.7**0.5 / 0.3, 1, (3 / 7) ** 0.5, 0.3, 0.21**0.5, 0.5, 0.3,
                        1.6, 0.44**0.5, 1]


def offsets(device):
    """Numbers do not depend on how a tensor lies in memory, and go on where the last ones ended."""
    torch.manual_seed(0)
    lying = torch.empty(2, 3, 4, 5, device=device).to(memory_format=torch.channels_last).uniform_()
    torch.manual_seed(0)
    plain = torch.rand(2, 4, 5, 3, device=device)
    again = torch.rand(2, 4, 5, 3, device=device)
    return [float((lying.permute(0, 2, 3, 1) == plain).all()), float((again == plain).any())]


offsets.expected = [1.0, 0.0]

CASES = [drawn_by_a_card, distributed, offsets]
