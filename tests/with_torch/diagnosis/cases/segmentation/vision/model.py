from torch import nn


def block(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU())


def build_model(width, num_classes):
    return nn.Sequential(block(3, width), block(width, 2 * width), block(2 * width, 2 * width),
                         nn.Conv2d(2 * width, num_classes, 1))
