"""A Llama in half precision: inference with a key-value cache that grows by a token each step."""
import torch
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

config = LlamaConfig(vocab_size=32000, hidden_size=512, intermediate_size=1376,
                     num_hidden_layers=8, num_attention_heads=8, num_key_value_heads=2)
model = LlamaForCausalLM(config).half().cuda().eval()
weights = sum(p.numel() * p.element_size() for p in model.parameters())
assert torch.cuda.memory_allocated() >= weights

prompt = torch.randint(0, 32000, (8, 512), device="cuda")
cache = DynamicCache()
grown = []
with torch.inference_mode():
    output = model(prompt, past_key_values=cache, use_cache=True)
    for position in range(16):
        token = output.logits[:, -1:].argmax(-1)
        output = model(token, past_key_values=cache, use_cache=True)
        grown.append(torch.cuda.memory_allocated())
assert output.logits.dtype == torch.float16
assert cache.get_seq_length() == 512 + 16
# Keys and values of each layer, 2 heads of 64, in half precision.
assert grown[-1] - weights > 8 * 2 * 8 * (512 + 16) * 2 * 64 * 2
print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
