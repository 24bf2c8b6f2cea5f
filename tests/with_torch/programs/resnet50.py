"""ResNet-50 on images that workers load into pinned memory; channels last, cuDNN's benchmark."""
import torch
import torchvision
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.full((3, 224, 224), float(index)), index % 10


def main():
    torch.backends.cudnn.benchmark = True
    model = torchvision.models.resnet50(num_classes=10).cuda()
    model = model.to(memory_format=torch.channels_last)
    weights = sum(p.numel() * p.element_size() for p in model.parameters())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    criterion = torch.nn.CrossEntropyLoss()
    loader = DataLoader(Images(), batch_size=16, num_workers=2, pin_memory=True)
    for images, labels in loader:
        assert images.is_pinned()
        images = images.cuda(non_blocking=True).to(memory_format=torch.channels_last)
        labels = labels.cuda(non_blocking=True)
        with torch.autocast("cuda", dtype=torch.float16):
            loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    assert model.bn1.num_batches_tracked.is_cuda
    assert torch.cuda.max_memory_allocated() > 3 * weights
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())


if __name__ == "__main__":
    main()
