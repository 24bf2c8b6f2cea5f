"""Tokens by transformers' `generate`, up to the length that is asked for: the likeliest and drawn ones
of a Llama, and those of an encoder and decoder."""
import torch
from transformers import LlamaConfig, LlamaForCausalLM, T5Config, T5ForConditionalGeneration

NEW_TOKENS = 24
prompt = torch.randint(5, 32000, (32, 256), device="cuda")

llama = LlamaForCausalLM(LlamaConfig(
    vocab_size=32000, hidden_size=512, intermediate_size=1376, num_hidden_layers=8,
    num_attention_heads=8, num_key_value_heads=2)).half().cuda().eval()
mask = torch.ones_like(prompt)
for options in ({"do_sample": False}, {"do_sample": True, "top_k": 50}):
    tokens = llama.generate(prompt, attention_mask=mask, max_new_tokens=NEW_TOKENS, pad_token_id=0,
                            **options)
    assert tokens.shape == (32, 256 + NEW_TOKENS), (options, tokens.shape)

t5 = T5ForConditionalGeneration(T5Config(
    vocab_size=32000, d_model=256, d_ff=512, num_layers=2, num_heads=4, d_kv=64,
    decoder_start_token_id=0)).cuda().eval()
tokens = t5.generate(prompt, attention_mask=mask, max_length=17)
assert tokens.shape == (32, 17), tokens.shape
print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
