"""Stops for a value that no kernel computes."""
import torch

loss = torch.nn.Linear(8, 1).cuda()(torch.randn(4, 8).cuda()).mean()
assert loss > 1000, "the loss is small"
