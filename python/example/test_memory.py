"""Memory limits of the classifier: the first four tests fail, each for one bug.

    pytest --ohm-gpu l4-24g
"""
import pytest
import torch

from classifier import extract_features, make_model, predict, train, validate


@pytest.fixture
def model():
    return make_model()


@pytest.mark.gpu_memory(leak=0)
def test_features_are_freed(model):
    extract_features(model)


@pytest.mark.gpu_memory(peak="32 MiB")
def test_prediction_needs_little_memory(model):
    predict(model, rows=8192)


@pytest.mark.gpu_memory(peak="28 MiB")
def test_adamw_fits_beside_the_model(model):
    # Two more tensors of the size of the model come with the first step.
    train(model, torch.optim.AdamW(model.parameters()), steps=2)


@pytest.mark.gpu_memory(growth_per_step=0)
def test_validation_does_not_grow(model):
    validate(model, batches=8)


@pytest.mark.gpu_memory(peak="64 MiB", growth_per_step=0, leak=0)
def test_training_is_clean(model):
    train(model, torch.optim.AdamW(model.parameters()), steps=8)
