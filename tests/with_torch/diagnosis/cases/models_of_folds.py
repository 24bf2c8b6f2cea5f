import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

device = "cuda" if torch.cuda.is_available() else "cpu"
dataset = TensorDataset(torch.randn(640, 512), torch.randint(0, 10, (640,)))
K = 40
indices = torch.arange(len(dataset)).chunk(K)
folds = {}
for fold in range(K):
    train = Subset(dataset, torch.cat([indices[i] for i in range(K) if i != fold]).tolist())
    model = nn.Sequential(nn.Linear(512, 4096), nn.ReLU(), nn.Linear(4096, 2048), nn.ReLU(),
                          nn.Linear(2048, 10)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for x, y in DataLoader(train, batch_size=128, shuffle=True):
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    folds[fold] = {"model": model, "optimizer": optimizer}
    print(f"fold {fold}: {loss.item():.3f}")
