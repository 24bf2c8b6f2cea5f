import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(8)]).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
net(torch.randn(8, 1024, device="cuda")).mean().backward()
opt.step()
torch.save([net.state_dict(), opt.state_dict()], "ck5.pt")
del net, opt

def resume():
    with torch.device("meta"):
        net = nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(8)])
    weights, state = torch.load("ck5.pt", map_location="cuda")
    net.load_state_dict(weights, assign=True)
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    opt.load_state_dict(state)
    return net, opt

net, opt = resume()
for i in range(6):
    loss = net(torch.randn(64, 1024, device="cuda")).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
