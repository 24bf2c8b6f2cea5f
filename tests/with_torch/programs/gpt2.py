"""Trains GPT-2 small, with random weights on random tokens."""
import torch
from transformers import GPT2Config, GPT2LMHeadModel

model = GPT2LMHeadModel(GPT2Config()).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(3):
    tokens = torch.randint(0, model.config.vocab_size, (4, 512), device="cuda")
    loss = model(tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()

weights = sum(p.numel() * p.element_size() for p in model.parameters())
logits = 4 * 512 * model.config.vocab_size * 4
assert loss.dtype == torch.float32 and loss.is_cuda
# Weights, gradients, two moments; beside activations the logits and their gradient.
assert torch.cuda.memory_allocated() > 3 * weights
assert torch.cuda.max_memory_allocated() > 3 * weights + 2 * logits
print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
