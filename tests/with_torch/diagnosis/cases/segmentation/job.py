import argparse

import torch

from vision.engine import evaluate, train_one_epoch
from vision.model import build_model


def main(args):
    device = torch.device(args.device)
    model = build_model(args.width, num_classes=21).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    for epoch in range(args.epochs):
        train_one_epoch(model, optimizer, device, epoch, batch=4)
        score = evaluate(model, device, num_classes=21, batch=32)
        print(f"epoch {epoch}: {score:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=2)
    main(parser.parse_args())
