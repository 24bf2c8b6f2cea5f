#!/usr/bin/env python3
"""Two layers of a Llama, which a package has, in one line of a program; recorded with its modules in
tests/golden/recorded_modules/llama.pickle, beside PyTorch 2.6.0 and transformers 4.49.

    ohm exec --gpu l4-24g --no-record -- ohm record --modules -o llama.pickle -- python llama.py
    python llama.py llama.pickle

The second command takes the folders of the machine out of the record.
"""
import pickle
import re
import sys


def train():
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(vocab_size=512, hidden_size=128, intermediate_size=256,
                         num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2)
    model = LlamaForCausalLM(config).cuda()
    tokens = torch.randint(0, 512, (16, 64), device="cuda")
    return model(tokens, labels=tokens).loss


def without_folders(path):
    with open(path, "rb") as file:
        snapshot = pickle.load(file)
    renamed = {}
    for owner in [*snapshot["device_traces"][0], *snapshot["segments"]]:
        frames = owner.get("frames", [])
        for block in owner.get("blocks", []):
            frames = frames + block["frames"]
        for frame in frames:
            name = frame["filename"]
            if name not in renamed:
                inside = re.sub(r".*/lib/python", "/venv/lib/python", name)
                renamed[name] = re.sub(r".*/(?=llama\.py$)", "/home/", inside)
            frame["filename"] = renamed[name]
    with open(path, "wb") as file:
        pickle.dump(snapshot, file, protocol=4)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        without_folders(sys.argv[1])
    else:
        loss = train()
