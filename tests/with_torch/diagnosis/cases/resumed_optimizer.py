import torch
import torch.nn as nn
import torch.nn.functional as F

model = nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(10)]).cuda()
opt = torch.optim.Adam(model.parameters())
model(torch.randn(8, 1024, device="cuda")).mean().backward()
opt.step()
torch.save({"model": model.state_dict(), "opt": opt.state_dict()}, "ck.pt")
del model, opt
torch.cuda.empty_cache()

def resume():
    state = torch.load("ck.pt", map_location="cuda:0")
    model = nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(10)]).cuda()
    model.load_state_dict(state["model"])
    opt = torch.optim.Adam(model.parameters())
    opt.load_state_dict(state["opt"])
    return model, opt, state

model, opt, state = resume()
for i in range(6):
    loss = model(torch.randn(64, 1024, device="cuda")).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
