"""Fine-tunes BERT base under bfloat16 autocast, then evaluates it."""
import torch
from transformers import BertConfig, BertForSequenceClassification

model = BertForSequenceClassification(BertConfig(num_labels=3)).cuda()
weights = sum(p.numel() * p.element_size() for p in model.parameters())
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
tokens = torch.randint(0, 30522, (16, 128)).cuda()
mask = torch.ones_like(tokens)
labels = torch.randint(0, 3, (16,)).cuda()

model.train()
for step in range(2):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        output = model(tokens, attention_mask=mask, labels=labels)
    output.loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
assert output.logits.dtype == torch.bfloat16
assert output.logits.shape == (16, 3)
training = torch.cuda.max_memory_allocated()
assert training > 3 * weights

del output
torch.cuda.reset_peak_memory_stats()
model.eval()
with torch.no_grad():
    logits = model(tokens, attention_mask=mask).logits
assert logits.dtype == torch.float32
assert torch.cuda.max_memory_allocated() < training
print("peak", training, torch.cuda.max_memory_reserved())
