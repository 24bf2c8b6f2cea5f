import torch
import torch.nn as nn

EMB, HID, T, B = 128, 512, 16, 64
lstm = nn.LSTM(EMB, HID, num_layers=2).to("cuda")
decoder = nn.Linear(HID, 100).to("cuda")
params = list(lstm.parameters()) + list(decoder.parameters())


def repackage_hidden(h):
    # After the word language model of PyTorch's examples, but clone() keeps the graph.
    if isinstance(h, torch.Tensor):
        return h.clone()
    return tuple(repackage_hidden(v) for v in h)


hidden = (torch.zeros(2, B, HID, device="cuda"), torch.zeros(2, B, HID, device="cuda"))
total = None
for batch in range(2000):
    data = torch.randn(T, B, EMB, device="cuda")
    targets = torch.randint(100, (T * B,), device="cuda")
    hidden = repackage_hidden(hidden)
    output, hidden = lstm(data, hidden)
    loss = nn.functional.cross_entropy(decoder(output).view(-1, 100), targets)
    for p in params:
        p.grad = None
    loss.backward(retain_graph=True)
    for p in params:
        p.data.add_(p.grad, alpha=-0.1)
