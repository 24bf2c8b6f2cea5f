"""Operators of PyTorch that the GPU computes in ways of its own, or whose results have sizes that
depend on values."""
import torch
from torch import nn
from torch.nn import functional as F

from cases import integers, numbers, sums


def linear_algebra(device):
    a, b = numbers(6, 6, seed=1).to(device), numbers(6, 3, seed=2).to(device)
    symmetric = a @ a.T + torch.eye(6, device=device)
    linalg = torch.linalg
    found = sums(linalg.eigvals(a), linalg.eigh(symmetric)[0], linalg.svdvals(a), linalg.solve(a, b),
                 linalg.inv(a), linalg.det(a), linalg.qr(a)[1], linalg.cholesky(symmetric),
                 linalg.lstsq(a, b)[0], linalg.pinv(a[:, :4]), linalg.matrix_exp(a * 0.1),
                 linalg.lu(a)[2], linalg.matrix_norm(a, 2), torch.cholesky_inverse(symmetric))
    large = numbers(20, 20, seed=4)
    large = (large @ large.T + 20 * torch.eye(20)).to(device)
    found += sums(torch.lobpcg(large, X=numbers(20, 2, seed=5).to(device), niter=100)[0])
    learned = a.clone().requires_grad_()
    (linalg.inv(learned).sum() + linalg.svdvals(learned).sum()
     + linalg.eigvalsh(learned @ learned.T).sum() + linalg.solve(learned, b).sum()).backward()
    for fails in (lambda: linalg.cholesky(-symmetric),
                  lambda: linalg.inv(torch.zeros(3, 3, device=device))):
        try:
            fails()
            found.append(0)
        except RuntimeError:
            found.append(1)
    return found + sums(learned.grad)


def transforms(device):
    x = numbers(4, 16).to(device).requires_grad_()
    window = torch.hann_window(8, device=device)
    found = []
    for transform in (torch.fft.fft, torch.fft.rfft, torch.fft.ifft, torch.fft.fft2,
                      lambda t: torch.fft.irfft(t, n=9),
                      lambda t: torch.stft(t, 8, return_complex=True, window=window)):
        x.grad = None
        made = transform(x)
        made.abs().pow(2).sum().backward()
        found += sums(made, x.grad)
    z = torch.complex(numbers(4, 4, seed=1), numbers(4, 4, seed=2)).to(device)
    return found + sums((z @ z.conj().T).real, z.angle(), z.mH, (z.conj() + 1).imag)


def orders(device):
    x = numbers(5, 40).to(device)
    whole = (x * 3).long()
    places = torch.arange(40.0, device=device)
    return sums(x.sort()[0] * places, x.argsort(0), x.topk(5)[0], x.kthvalue(3)[0], x.mode(1)[0],
                torch.unique(whole), torch.unique(whole, return_counts=True)[1],
                torch.unique_consecutive(whole[0]), x.cummax(1)[0], torch.histc(x, 10),
                torch.bincount(whole.flatten().abs()), x[x > 0], (x > 0).nonzero(),
                torch.repeat_interleave(x[0], whole[1].abs()), x.unfold(1, 8, 4), x.quantile(0.3),
                torch.searchsorted(x[0].sort()[0], x[1]), torch.tril_indices(4, 4, device=device),
                x.clone().masked_scatter_(x > 0, places.repeat(5)))


def layers(device):
    x = numbers(2, 3, 12, 12).to(device).requires_grad_()
    grid = (torch.rand(2, 5, 5, 2, generator=torch.Generator().manual_seed(0)) * 2 - 1).to(device)
    found = []
    for layer in (lambda t: F.unfold(t, 3), lambda t: F.grid_sample(t, grid, align_corners=True),
                  lambda t: F.grid_sample(t, grid, "bicubic", "border", align_corners=False),
                  lambda t: F.interpolate(t, scale_factor=1.5, mode="bicubic"),
                  lambda t: F.max_pool2d(t, 3, 2), lambda t: F.rms_norm(t, (12,)), F.logsigmoid,
                  lambda t: F.conv2d(t, numbers(3, 1, 3, 3).to(device), groups=3), F.rrelu,
                  lambda t: F.layer_norm(t, (12, 12)), lambda t: F.pad(t, (1, 2, 1, 2), "reflect")):
        x.grad = None
        made = layer(x)
        made.pow(2).sum().backward()
        found += sums(made, x.grad)
    logits = numbers(20, 2, 6, seed=4).to(device).requires_grad_()
    lengths = torch.tensor([20, 15], device=device), torch.tensor([3, 4], device=device)
    loss = F.ctc_loss(logits.log_softmax(2), integers(5, 2, 4).to(device) + 1, *lengths)
    loss.backward()
    return found + [loss.item(), *sums(logits.grad)]


def embedding_bags(device):
    found = []
    for mode in ("sum", "mean", "max"):
        torch.manual_seed(0)
        bags = nn.EmbeddingBag(30, 6, mode=mode).to(device)
        made = bags(integers(30, 25).to(device), torch.tensor([0, 4, 4, 12], device=device))
        made.pow(2).sum().backward()
        found += sums(made, bags.weight.grad)
    return found


def attention(device):
    found = []
    for kind in (torch.float32, torch.float16, torch.bfloat16):
        q, k, v = (numbers(2, 4, 9, 16, seed=s).to(device, kind).requires_grad_() for s in range(3))
        bias = numbers(2, 4, 9, 9, seed=5).to(device, kind)
        for options in ({}, {"is_causal": True}, {"attn_mask": bias}):
            q.grad = None
            made = F.scaled_dot_product_attention(q, k, v, **options).float()
            made.pow(2).sum().backward()
            found += sums(made, q.grad.float())
    return found


attention.tolerance = 1e-2


def sparse_tensors(device):
    places = torch.tensor([[0, 1, 1, 1], [2, 0, 2, 2]])
    matrix = torch.sparse_coo_tensor(places, torch.tensor([3.0, 4.0, 5.0, 6.0]), (4, 4),
                                     check_invariants=False).to(device)
    x = numbers(4, 3).to(device).requires_grad_()
    product = torch.sparse.mm(matrix, x)
    product.sum().backward()
    merged = matrix.coalesce()
    dense = numbers(4, 4).to(device).relu()
    rows = dense.to_sparse_csr()
    found = [merged._nnz(), rows._nnz(), dense.to_sparse()._nnz()]
    point = torch.sparse_coo_tensor(torch.zeros(0, 5, dtype=torch.int64), numbers(5, 2), (2,),
                                    check_invariants=False).to(device)
    found += sums(point.coalesce().values(), product, x.grad, merged.values(),
                  (merged + merged).to_dense(), rows @ x)
    embedding = nn.Embedding(20, 4, sparse=True).to(device)
    embedding.weight.data.copy_(numbers(20, 4))
    for _ in range(2):
        embedding(torch.tensor([1, 3, 3], device=device)).pow(2).sum().backward()
    gradient = embedding.weight.grad
    found += [gradient.coalesce()._nnz(), *sums(gradient.to_dense())]
    optimizer = torch.optim.SparseAdam(embedding.parameters(), lr=0.1)
    for step in range(3):
        optimizer.zero_grad()
        loss = embedding(torch.tensor([1, 5, 5, 7 + step], device=device)).pow(2).sum()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def checked_indices(device):
    """Of sparse tensors that operators make, while PyTorch checks them."""
    parameters, found = [nn.Parameter(numbers(*shape).to(device)) for shape in ((10, 5), (10,))], []
    optimizer = torch.optim.SparseAdam(parameters, lr=0.1)
    with torch.sparse.check_sparse_tensor_invariants():
        for step in range(12):
            optimizer.zero_grad()
            loss = (parameters[0].mv(numbers(5, seed=step).to(device)) + parameters[1]).pow(2).sum()
            loss.backward()
            for parameter in parameters:
                parameter.grad = parameter.grad.to_sparse()
            optimizer.step()
            found.append(loss.item())
    return found


def zeroed(device):
    """In whole, in part, at a place that no page begins at."""
    found = []
    for part in (lambda x: x, lambda x: x[7:], lambda x: x[:, ::2], lambda x: x.t(), lambda x: x[-1]):
        whole = torch.ones(1500, 1001, device=device)
        part(whole).zero_()
        found.append(whole.sum().item())
        part(whole).add_(2.0)
        found.append(whole.sum().item())
    half = torch.ones(1 << 20, device=device, dtype=torch.float16)[1:].zero_()
    return [*found, half.sum().item(), torch.zeros(1 << 20, device=device).fill_(3.0).sum().item()]


def kinds_of_arguments(device):
    """Numbers in place of tensors, results that are written to, dtypes that the CPU has no kernel for."""
    x, found = numbers(3, 4).to(device), []
    for made in (1 - x, x * 2, 3 + x, torch.where(x > 0, x, 0.5), torch.add(x, 1, alpha=2), 2.0 / x):
        found += sums(made)
    whole = torch.arange(1, 7, device=device)
    for made in ((whole > 2) & True, (whole > 2) | False, (whole > 1).eq(True), whole ^ 3):
        found += sums(made.int())
    found += sums(whole * 0.5, whole // 2, 7 - whole, whole / 2, whole.sum() * 2.5)
    written = torch.empty(0, device=device), numbers(4, 3).to(device).t()
    for place in written:
        F.logsigmoid(x, out=place)
    targets = torch.tensor([1, 3, -1, 0], device=device)
    half = torch.float16 if x.is_cuda else torch.float32
    margin = F.multilabel_margin_loss(x[0].to(half), targets)
    return found + sums(*written, margin.float())


kinds_of_arguments.tolerance = 1e-3


def half_precision(device):
    """Of the same numbers, which the CPU computes in single precision."""
    kind = torch.float16 if device == "cuda" else torch.float32
    x = numbers(4, 3, 6, 6).half().to(device, kind).requires_grad_()
    layer, found = nn.BatchNorm2d(3).to(device, kind), []
    for is_training in (True, False):
        x.grad = None
        made = layer.train(is_training)(x)
        made.float().pow(3).sum().backward()
        found += sums(made.float(), x.grad.float(), layer.running_var.float())
    x.grad = None
    shares = x.softmax(1, dtype=torch.float32)
    (shares.pow(2).sum() + x.log_softmax(1, dtype=torch.float32).sum()).backward()
    grid = (numbers(4, 5, 5, 2).half() / 2).to(device, kind)
    return found + sums(shares, x.grad.float(), F.layer_norm(x, (6, 6)).float(),
                        F.grid_sample(x, grid, align_corners=True).float())


half_precision.tolerance = 1e-2


def nested_tensors(device):
    rows = [numbers(4, 8).to(device), numbers(6, 8, seed=1).to(device)]
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
    for index, weight in enumerate(layer.parameters()):
        weight.data.copy_(numbers(*weight.shape, seed=index))
    layer = layer.to(device).eval()
    nested = torch.nested.nested_tensor(rows)
    with torch.no_grad():
        made = layer(nested).to_padded_tensor(0)
    return sums(nested.to_padded_tensor(0), made, *nested.unbind())


def same_memory(device):
    """Tensors of several shapes and dtypes on the same memory, one after the other."""
    found, x = [], numbers(4, 6).to(device)
    for _ in range(3):
        found += sums((x + 1).mean(), F.mse_loss(x, x * 0.5), (x > 0).float().sum(), x.t().exp()[1])
        x = x.view(6, 4) if x.shape[0] == 4 else x.view(4, 6)
        x.mul_(0.5)
    found += sums(x.to(torch.float64), x.view(torch.int32).abs(), x[::2, 1:3] * 3, x.max(1)[0])
    return found


def distributions(device):
    p = numbers(5, 4).to(device)
    made = torch.distributions
    found = sums(made.Categorical(logits=p).entropy(), made.Normal(p, p.exp()).log_prob(p + 1),
                 made.Dirichlet(p.exp()).log_prob(p.softmax(1)), made.Gamma(p.exp(), p.exp()).entropy())
    for wrong in (lambda: made.Normal(p, -p.exp()), lambda: made.Bernoulli(p.exp() + 1.5),
                  lambda: made.Normal(p, p.exp()).log_prob(p * float("nan"))):
        try:
            wrong()
            found.append(0)
        except ValueError:
            found.append(1)
    return found


CASES = [linear_algebra, transforms, orders, layers, embedding_bags, attention, sparse_tensors,
         checked_indices, zeroed, kinds_of_arguments, half_precision, nested_tensors, same_memory,
         distributions]
