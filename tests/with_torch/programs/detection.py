"""Detectors of torchvision, which choose boxes by their values: training and evaluation."""
import torch
from torchvision.models.detection import fasterrcnn_resnet50_fpn, retinanet_resnet50_fpn

images = [torch.rand(3, 300, 300, device="cuda") for _ in range(2)]
boxes = torch.tensor([[10.0, 10.0, 100.0, 100.0], [30.0, 40.0, 90.0, 120.0]], device="cuda")
targets = [{"boxes": boxes, "labels": torch.tensor([1, 2], device="cuda")} for _ in images]
for make in (fasterrcnn_resnet50_fpn, retinanet_resnet50_fpn):
    model = make(weights=None, weights_backbone=None, num_classes=5).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(2):
        losses = model(images, targets)
        loss = sum(losses.values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        found = model.eval()(images)
    assert [sorted(one) for one in found] == [["boxes", "labels", "scores"]] * 2
print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
