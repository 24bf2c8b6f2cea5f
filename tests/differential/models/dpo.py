import copy
import torch
from torch import nn
import torch.nn.functional as F


class Tiny(nn.Module):
    def __init__(self, vocabulary=200, width=64):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(64, width)
        layer = nn.TransformerEncoderLayer(width, 4, 128, dropout=0.0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids):
        t = ids.size(1)
        x = self.embed(ids) + self.position(torch.arange(t, device=ids.device))
        mask = nn.Transformer.generate_square_subsequent_mask(t, device=ids.device)
        return self.head(self.body(x, mask=mask, is_causal=True))


def log_probabilities(model, ids, mask):
    logits = model(ids)[:, :-1]
    labels = ids[:, 1:]
    chosen = torch.gather(logits.log_softmax(-1), 2, labels.unsqueeze(2)).squeeze(2)
    return (chosen * mask[:, 1:]).sum(-1)


policy = Tiny().cuda()
reference = copy.deepcopy(policy).eval().requires_grad_(False)
optimizer = torch.optim.RMSprop(policy.parameters(), lr=5e-5)
mark("models")
for step in range(2):
    chosen = torch.randint(0, 200, (4, 32), device="cuda")
    rejected = torch.randint(0, 200, (4, 32), device="cuda")
    mask = torch.ones(8, 32, device="cuda")
    mask[:, :10] = 0
    both = torch.cat([chosen, rejected], dim=0)
    with torch.no_grad():
        reference_logs = log_probabilities(reference, both, mask)
    policy_logs = log_probabilities(policy, both, mask)
    policy_chosen, policy_rejected = policy_logs.split(4)
    reference_chosen, reference_rejected = reference_logs.split(4)
    logits = (policy_chosen - policy_rejected) - (reference_chosen - reference_rejected)
    loss = -F.logsigmoid(0.1 * logits).mean()
    rewards = 0.1 * (policy_chosen - reference_chosen).detach()
    accuracy = (rewards > 0).float().mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 10.0)
    optimizer.step()
    mark(f"step {step}")
