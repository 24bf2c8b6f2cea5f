import pytest
import torch

from counting.data import make_loader
from counting.model import CountingModel
from counting.training import train


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def loader():
    return make_loader()


@pytest.fixture
def model():
    return CountingModel().cuda()


@pytest.fixture(scope="session")
def trained(loader):
    torch.manual_seed(0)
    model = CountingModel().cuda()
    train(model, loader, steps=100, device="cuda")
    return model.eval()
