import torch
import torch.nn as nn

callbacks = []


def step(model, optimizer, x):
    output = model(x)
    loss = output.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    callbacks.append(lambda: print(output.norm()))


def main():
    model = nn.Linear(1024, 1024).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(600):
        step(model, optimizer, torch.randn(1024, 1024, device="cuda"))


main()
