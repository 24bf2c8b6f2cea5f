"""LoRA on a frozen Llama in bfloat16, with gradient checkpointing: only adapters have gradients."""
import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(vocab_size=32000, hidden_size=1024, intermediate_size=2816,
                     num_hidden_layers=6, num_attention_heads=16, num_key_value_heads=4,
                     use_cache=False)
base = LlamaForCausalLM(config).to(torch.bfloat16)
model = get_peft_model(base, LoraConfig(r=8, lora_alpha=16, task_type="CAUSAL_LM",
                                        target_modules=["q_proj", "v_proj"])).cuda()
model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
model.enable_input_require_grads()
trainable = [p for p in model.parameters() if p.requires_grad]
weights = sum(p.numel() * p.element_size() for p in model.parameters())
adapters = sum(p.numel() * p.element_size() for p in trainable)
assert adapters < weights / 100

optimizer = torch.optim.AdamW(trainable, lr=1e-4)
held = torch.cuda.memory_allocated()
for step in range(2):
    tokens = torch.randint(0, 32000, (2, 512), device="cuda")
    model(input_ids=tokens, labels=tokens).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
# Two moments for each adapter, and nothing for what is frozen.
assert 2 * adapters <= torch.cuda.memory_allocated() - held < 2 * adapters + weights / 2
assert all(p.grad is None for p in model.parameters() if not p.requires_grad)
print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
