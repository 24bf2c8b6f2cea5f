import copy

import torch

from counting.data import VOCABULARY, make_loader
from counting.training import load_checkpoint, save_checkpoint, top_k_accuracy


def test_outputs_equal_the_cpus(model, loader):
    tokens = next(iter(loader))[:, :-1]
    expected = copy.deepcopy(model).cpu()(tokens)
    torch.testing.assert_close(model(tokens.cuda()).cpu(), expected, rtol=1e-4, atol=1e-4)


def test_a_checkpoint_restores_the_outputs(model, trained, loader, tmp_path):
    tokens = next(iter(loader))[:, :-1].cuda()
    save_checkpoint(tmp_path / "model.pt", trained)
    assert not torch.allclose(model(tokens), trained(tokens))
    load_checkpoint(tmp_path / "model.pt", model, "cuda")
    torch.testing.assert_close(model(tokens), trained(tokens))


def test_top_3_accuracy_is_far_above_chance(trained):
    accuracy = top_k_accuracy(trained, make_loader(64, seed=1), k=3, device="cuda")
    assert accuracy > 2 * 3 / VOCABULARY


def test_it_counts_on(trained):
    prompt = torch.arange(4).expand(2, 4).cuda()
    generated = trained.generate(prompt, 8)
    assert generated.tolist() == [list(range(12))] * 2
