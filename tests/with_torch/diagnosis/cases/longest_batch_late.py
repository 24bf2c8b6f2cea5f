import torch
from torch import nn

encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(128, 4, 512, batch_first=True), 2,
                                enable_nested_tensor=False).cuda()
head = nn.Linear(128, 30).cuda()
params = [*encoder.parameters(), *head.parameters()]
optimizer = torch.optim.Adam(params)
lengths = [40, 64, 50, 33, 48, 61, 35, 57, 44, 62, 39, 47, 55, 300, 420, 900]
for n in lengths:
    x = torch.randn(8, n, 128, device="cuda")
    y = torch.randint(30, (8, n), device="cuda")
    loss = nn.functional.cross_entropy(head(encoder(x)).flatten(0, 1), y.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
