"""xMem's training loop for language models: train_transformer.py MODEL OPTIMIZER BATCH.

Prints the peaks as a line of JSON. Models are built from their configuration.
"""
import json
import sys

import torch
from transformers import (AutoModelForCausalLM, AutoModelForSeq2SeqLM, GPT2Config, GPTNeoConfig,
                          OPTConfig, T5Config)

STEPS = 4
SEQUENCE = 128
CONFIGURATIONS = {
    "distilgpt2": GPT2Config(n_layer=6),
    "gpt2": GPT2Config(),
    "cerebras-111M": GPT2Config(
        n_layer=10, n_embd=768, n_head=12, n_positions=2048, n_inner=3072,
        activation_function="gelu", resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0),
    "gpt-neo-125M": GPTNeoConfig(
        hidden_size=768, num_layers=12, num_heads=12, max_position_embeddings=2048,
        attention_types=[[["global", "local"], 6]]),
    "opt-125m": OPTConfig(),
    "opt-350m": OPTConfig(
        hidden_size=1024, num_hidden_layers=24, ffn_dim=4096, num_attention_heads=16,
        word_embed_proj_dim=512, do_layer_norm_before=False),
    "t5-small": T5Config(decoder_start_token_id=0),
    "t5-base": T5Config(decoder_start_token_id=0, d_model=768, d_ff=3072, num_layers=12,
                        num_heads=12)}


def main():
    name, optimizer_name, batch = sys.argv[1], sys.argv[2], int(sys.argv[3])
    device = torch.device("cuda:0")
    kind = AutoModelForSeq2SeqLM if name.startswith("t5") else AutoModelForCausalLM
    model = kind.from_config(CONFIGURATIONS[name])
    optimizer = getattr(torch.optim, optimizer_name)(model.parameters(), lr=0.001)
    model.to(device).train()
    for _ in range(STEPS):
        tokens = torch.zeros(batch, SEQUENCE, dtype=torch.long)
        inputs = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "labels": tokens}
        optimizer.zero_grad()
        inputs = {key: value.to(device) for key, value in inputs.items()}
        outputs = model(**inputs)
        loss = outputs.loss
        loss.backward()
        optimizer.step()
    print(json.dumps({"reserved": torch.cuda.max_memory_reserved(),
                      "allocated": torch.cuda.max_memory_allocated()}))


main()
