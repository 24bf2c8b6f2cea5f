"""Cases of losses."""
import torch

from inputs import const, integers, positive, randn


def loss():
    for reduction_name in ("none", "mean", "sum"):
        for op in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
            yield f"{op}_{reduction_name}", op, lambda: [randn(3, 4), randn(3, 4), reduction_name]
        yield f"binary_cross_entropy_{reduction_name}", "binary_cross_entropy", lambda: [
            torch.rand(3, 4), torch.rand(3, 4), None, reduction_name]
        yield f"bce_with_logits_{reduction_name}", "binary_cross_entropy_with_logits", lambda: [
            randn(3, 4), torch.rand(3, 4), None, reduction_name]
        yield f"nll_loss_{reduction_name}", "nll_loss", lambda: [
            randn(4, 3), integers(3, 4), None, -100, reduction_name]
        yield f"cross_entropy_{reduction_name}", "cross_entropy", lambda: [
            randn(4, 3), integers(3, 4), const(positive(3)), 1, reduction_name]
        yield f"cross_entropy_images_{reduction_name}", "cross_entropy", lambda: [
            randn(2, 3, 2, 2), integers(3, 2, 2, 2), const(positive(3)), 1, reduction_name]
    yield "mse_loss_broadcast", "mse_loss", lambda: [randn(3, 4), randn(4)]
    yield "smooth_l1_loss_beta", "smooth_l1_loss", lambda: [randn(3, 4), randn(3, 4), "mean", 0.3]
    yield "huber_loss_delta", "huber_loss", lambda: [randn(3, 4), randn(3, 4), "mean", 0.3]
    yield "binary_cross_entropy_weight", "binary_cross_entropy", lambda: [
        torch.rand(3, 4), torch.rand(3, 4), const(positive(4))]
    yield "bce_with_logits_weights", "binary_cross_entropy_with_logits", lambda: [
        randn(3, 4), torch.rand(3, 4), const(positive(4)), "sum", const(positive(4))]
    yield "cross_entropy_one_sample", "cross_entropy", lambda: [randn(3), torch.tensor(2)]
    yield "cross_entropy_float64", "cross_entropy", lambda: [
        randn(4, 3, dtype=torch.float64), integers(3, 4)]
    for reduction_name in ("none", "mean", "sum"):
        yield f"cross_entropy_smoothed_{reduction_name}", "cross_entropy", lambda: [
            randn(4, 3), torch.tensor([0, 2, 1, 1]), None, 1, reduction_name, 0.2]
        yield f"cross_entropy_probabilities_{reduction_name}", "cross_entropy", lambda: [
            randn(4, 3, 2), torch.rand(4, 3, 2), const(positive(3)), -100, reduction_name, 0.1]
        yield f"kl_div_{reduction_name}", "kl_div", lambda: [
            randn(3, 4), torch.rand(3, 4), reduction_name]
    yield "cross_entropy_smoothed_weights", "cross_entropy", lambda: [
        randn(4, 3), torch.tensor([0, 2, 1, 1]), const(positive(3)), 1, "mean", 0.2]
    yield "kl_div_batch_mean", "kl_div", lambda: [randn(3, 4), torch.rand(3, 4), "batchmean", True]
    yield "cross_entropy_sequences", "cross_entropy", lambda: [randn(2, 3, 5), integers(3, 2, 5)]
    yield "margin_ranking", "margin_ranking_loss", lambda: [
        randn(3, 4), randn(3, 4), const(randn(3, 4).sign()), 0.3]
    yield "hinge_embedding", "hinge_embedding_loss", lambda: [
        randn(3, 4), const(randn(3, 4).sign()), 1.0, "sum"]
    yield "triplet_margin", "triplet_margin_loss", lambda: [
        randn(3, 4), randn(3, 4), randn(3, 4), 2.0]
    yield "triplet_margin_swap", "triplet_margin_loss", lambda: [
        randn(3, 4), randn(3, 4), randn(3, 4), 2.0, 2.0, 1e-6, True, "none"]
    for reduction_name in ("none", "mean", "sum"):
        yield f"ctc_loss_{reduction_name}", "ctc_loss", lambda: [
            randn(6, 3, 4), torch.tensor([[1, 1, 2], [3, 1, 3], [2, 1, 1]]),
            torch.tensor([6, 5, 4]), torch.tensor([3, 2, 0]), 0, reduction_name]
    yield "ctc_loss_one_dimension", "ctc_loss", lambda: [
        randn(6, 2, 4, dtype=torch.float64), torch.tensor([1, 3, 0]), torch.tensor([6, 2]),
        torch.tensor([2, 1]), 2, "sum"]
    # Two equal labels do not fit two steps.
    yield "ctc_loss_impossible", "ctc_loss", lambda: [
        randn(6, 2, 4), torch.tensor([[1, 1], [1, 2]]), torch.tensor([2, 6]), torch.tensor([2, 2]),
        0, "none", True]
    yield "ctc_loss_one_sequence", "ctc_loss", lambda: [
        randn(5, 4), torch.tensor([3, 3]), torch.tensor(5), torch.tensor(2)]
    yield "poisson_nll", "poisson_nll_loss", lambda: [randn(3, 4), positive(3, 4)]
    yield "poisson_nll_rate", "poisson_nll_loss", lambda: [
        positive(3, 4), positive(3, 4), False, 1e-8, "none"]
