import torch
from torch import nn
import torch.nn.functional as F


def convnet(width):
    return nn.Sequential(
        nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(width, 2 * width, 3, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(2 * width * 8 * 8, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 10))


teacher = convnet(16).cuda()
student = convnet(4).cuda()
teacher.eval()
student.train()
opt = torch.optim.Adam(student.parameters(), lr=1e-3)
T, soft, hard = 2.0, 0.25, 0.75
mark("models")
for step in range(3):
    inputs = torch.randn(8, 3, 32, 32).to("cuda")
    labels = torch.randint(0, 10, (8,)).to("cuda")
    opt.zero_grad()
    with torch.no_grad():
        teacher_logits = teacher(inputs)
    student_logits = student(inputs)
    targets = nn.functional.softmax(teacher_logits / T, dim=-1)
    prob = nn.functional.log_softmax(student_logits / T, dim=-1)
    kd = F.kl_div(prob, targets, reduction="batchmean") * (T ** 2)
    loss = soft * kd + hard * F.cross_entropy(student_logits, labels)
    mark(f"forward {step}")
    loss.backward()
    opt.step()
    mark(f"step {step}")
student.eval()
correct, total = 0, 0
with torch.no_grad():
    inputs = torch.randn(8, 3, 32, 32, device="cuda")
    labels = torch.randint(0, 10, (8,), device="cuda")
    _, predicted = torch.max(student(inputs).data, 1)
    total += labels.size(0)
    correct += (predicted == labels).sum().item()
mark("eval")
