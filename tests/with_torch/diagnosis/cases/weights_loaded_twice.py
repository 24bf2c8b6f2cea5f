import torch
import torch.nn as nn

net = nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(24)])
torch.save({"model": net.state_dict()}, "checkpoint.pt")


def main():
    model = net.cuda()
    checkpoint = torch.load("checkpoint.pt", map_location="cuda")
    model.load_state_dict(checkpoint["model"])
    for step in range(5):
        loss = model(torch.randn(256, 1024, device="cuda")).pow(2).mean()
        loss.backward()
        model.zero_grad()


main()
