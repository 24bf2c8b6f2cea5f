import torch

W = torch.randn(512, 512, device="cuda", requires_grad=True)


def advance(state, control):
    return torch.tanh(state @ W + control)


path = None
state = torch.zeros(256, 512, device="cuda")
with torch.no_grad():
    for tick in range(20000):
        control = torch.randn(256, 512, device="cuda")
        state = advance(state, control)
        path = (state, path)
