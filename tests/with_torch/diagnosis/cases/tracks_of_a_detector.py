import torch
from torch import nn


class Tracker:
    def __init__(self, detector):
        self.detector = detector
        self.tracks = {}

    def update(self, frame, number):
        with torch.no_grad():
            boxes = self.detector(frame)
        for identity in range(8):
            self.tracks.setdefault(identity, []).append(boxes[identity * 128:(identity + 1) * 128].clone())


detector = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 512)).cuda().eval()
tracker = Tracker(detector)
for number in range(120):
    tracker.update(torch.randn(1024, 64, device="cuda"), number)
