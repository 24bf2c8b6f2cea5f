"""A small classifier with four memory bugs, one in each function that says so."""
import torch
from torch import nn
from torch.nn import functional as F

WIDTH = 1024
CLASSES = 16

kept_features = []


def make_model():
    return nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, CLASSES)).cuda()


def make_batch(rows=1024):
    return torch.zeros(rows, WIDTH, device="cuda"), torch.zeros(rows, dtype=torch.long, device="cuda")


def train(model, optimizer, steps):
    for _ in range(steps):
        inputs, labels = make_batch()
        optimizer.zero_grad()
        F.cross_entropy(model(inputs), labels).backward()
        optimizer.step()


def extract_features(model):
    """Bug: the features stay in a list of the module."""
    with torch.no_grad():
        kept_features.append(model[:2](make_batch()[0]))


def predict(model, rows):
    """Bug: all rows at once, where batches would do."""
    with torch.no_grad():
        return model(make_batch(rows)[0]).argmax(dim=1)


def validate(model, batches):
    """Bug: without no_grad, the sum keeps the graph of every batch."""
    total = torch.zeros((), device="cuda")
    for _ in range(batches):
        inputs, labels = make_batch()
        total = total + F.cross_entropy(model(inputs), labels)
    return total
