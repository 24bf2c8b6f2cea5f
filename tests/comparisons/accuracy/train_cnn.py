"""xMem's training loop for image classifiers: train_cnn.py MODEL OPTIMIZER BATCH.

Prints the peaks as a line of JSON. Models are built from their configuration.
"""
import json
import sys

import torch
import torchvision.models as models

STEPS = 4
IMAGE_SIZE = 86
MODELS = {
    "VGG16": models.vgg16, "VGG19": models.vgg19, "ResNet101": models.resnet101,
    "ResNet152": models.resnet152, "MobileNetV2": models.mobilenet_v2,
    "MnasNet": lambda: models.MNASNet(alpha=1.0, num_classes=10),
    "ConvNeXtTiny": models.convnext_tiny, "ConvNeXtBase": models.convnext_base,
    "RegNetX400MF": models.regnet_x_400mf, "RegNetY400MF": models.regnet_y_400mf}


def main():
    name, optimizer_name, batch = sys.argv[1], sys.argv[2], int(sys.argv[3])
    device = torch.device("cuda:0")
    model = MODELS[name]().to(device).train()
    optimizer = getattr(torch.optim, optimizer_name)(model.parameters(), lr=0.001)
    criterion = torch.nn.CrossEntropyLoss()
    for _ in range(STEPS):
        images = torch.zeros(batch, 3, IMAGE_SIZE, IMAGE_SIZE)
        labels = torch.zeros(batch, dtype=torch.long)
        optimizer.zero_grad()
        images, labels = images.to(device), labels.to(device)
        outputs = model(images)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        _, predictions = torch.max(outputs, 1)  # kept alive to the next step, as in xMem's loop
    print(json.dumps({"reserved": torch.cuda.max_memory_reserved(),
                      "allocated": torch.cuda.max_memory_allocated()}))


main()
