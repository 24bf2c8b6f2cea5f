import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
                      nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)).cuda()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


def get_loader(n, bs):
    return ((torch.rand(bs, 3, 64, 64), torch.randint(10, (bs,))) for _ in range(n))


def run_epoch():
    model.train()
    for images, labels in get_loader(6, 16):
        optimizer.zero_grad()
        loss = criterion(model(images.cuda()), labels.cuda())
        loss.backward()
        optimizer.step()


def test():
    model.eval()
    torch.no_grad()
    correct, seen, test_loss = 0, 0, 0.0
    for images, labels in get_loader(6, 256):
        images, labels = images.cuda(), labels.cuda()
        outputs = model(images)
        test_loss += criterion(outputs, labels).item()
        _, predicted = torch.max(outputs.data, 1)
        correct += (predicted == labels).sum().item()
        seen += labels.size(0)
    return correct / seen


for epoch in range(3):
    run_epoch()
    print(test())
