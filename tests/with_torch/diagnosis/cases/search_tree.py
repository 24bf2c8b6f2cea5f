import math

import torch
from torch import nn


class Node:
    def __init__(self, hidden, parent=None):
        self.hidden = hidden
        self.parent = parent
        self.children = {}
        self.visits = 0
        self.value = 0.0


class Dynamics(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(width // 4, width // 4, 3, padding=1), nn.ReLU())

    def forward(self, hidden, action):
        return self.net(hidden + action)


class Search:
    def __init__(self, model, simulations):
        self.model, self.simulations = model, simulations
        self.root = None

    @torch.no_grad()
    def expand(self, node):
        for action in range(4):
            node.children[action] = Node(self.model(node.hidden, action), node)

    def select(self, node):
        while node.children:
            node.visits += 1
            node = min(node.children.values(), key=lambda child: child.visits)
        node.visits += 1
        return node

    def move(self):
        for _ in range(self.simulations):
            self.expand(self.select(self.root))
        best = max(self.root.children, key=lambda a: self.root.children[a].visits)
        self.root = self.root.children[best]
        return best


def play(games):
    model = Dynamics().cuda().eval()
    search = Search(model, simulations=12)
    search.root = Node(torch.randn(1, 64, 64, 64, device="cuda"))
    for ply in range(games):
        search.move()


play(400)
