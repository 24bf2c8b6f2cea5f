import torch
from torch import nn


class SessionState(dict):
    def __getattr__(self, name):
        return self[name]

    def __setattr__(self, name, value):
        self[name] = value


session_state = SessionState()
session_state.messages = []


@torch.no_grad()
def reply(model, text):
    hidden = model(torch.randn(64, len(text), 512, device="cuda"))
    session_state.messages.append({"role": "user", "text": text, "hidden": hidden})
    return hidden.mean().cpu()


model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512)).cuda()
for turn in range(100):
    reply(model, "hello, how are you?")
