"""An LSTM: what cuDNN keeps for its backward is modelled."""
import torch

network = torch.nn.LSTM(64, 64).cuda()
network(torch.randn(8, 4, 64, device="cuda"))[0].sum().backward()
