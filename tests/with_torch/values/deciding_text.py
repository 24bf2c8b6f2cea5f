"""Text that is made of unknown numbers, and decides."""
import argparse
import configparser
import re

import torch

from cases import case


def choice(device, rows=1, count=4):
    return (torch.randn(rows, 8).to(device) @ torch.randn(8, count).to(device)).argmax(1)


@case
def text_that_stops_generation(device):
    text = "".join("ab."[index] for index in choice(device, 20, 3).tolist())  # branch
    if text.endswith("."):
        torch.zeros(8, device=device)


@case
def words_of_text(device):
    text = "".join("ab "[index] for index in choice(device, 20, 3).tolist())  # branch
    return [torch.zeros(8, device=device) for _ in text.split()]


@case
def pattern_in_text(device):
    text = "".join("0a"[index] for index in choice(device, 20, 2).tolist())  # branch
    if re.search(r"\d\d", text):
        torch.zeros(8, device=device)


@case
def layer_by_its_name(device):
    layers = torch.nn.ModuleDict({f"layer_{i}": torch.nn.Linear(8, 8 * (i + 1)) for i in range(4)}).to(device)
    return layers[f"layer_{choice(device).item()}"](torch.randn(2, 8).to(device)).dim()  # branch


@case
def attribute_by_its_name(device):
    holder = torch.nn.Module()
    for index in range(4):
        setattr(holder, f"size_{index}", 8 * index)
    return torch.zeros(getattr(holder, f"size_{choice(device).item()}"), device=device).dim()  # branch


@case
def table_by_text(device):
    sizes = {"0": 8, "1": 16, "2": 32, "3": 64}
    return torch.zeros(sizes[str(choice(device).item())], device=device).dim()  # shape


@case
def model_by_its_mode(device):
    models = {"small": torch.nn.Linear(8, 8).to(device), "large": torch.nn.Linear(8, 800).to(device)}
    confidence = models["small"](torch.randn(4, 8).to(device)).softmax(-1).max().item()  # branch
    mode = "large" if confidence > 0.1 else "small"
    return models[mode](torch.randn(4, 8).to(device)).dim()


@case
def cache_by_text(device):
    cache = {}
    for _ in range(3):
        key = f"k{choice(device).item()}"  # branch
        cache.setdefault(key, torch.zeros(8, device=device))


@case
def buffer_by_its_name(device):
    holder = torch.nn.Module()
    holder.register_buffer(f"buffer_{choice(device).item()}", torch.zeros(8, device=device))  # branch


@case
def names_that_are_printed(device):
    names = ["low", "high", "other", "none"]
    text = f"{names[choice(device).item()]:>10} {choice(device).item()}"
    print(text.strip().upper(), "loss".ljust(8))


@case
def arguments_of_text(device):
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int)
    return torch.zeros(parser.parse_args(["--width", str(choice(device).item())]).width + 1, device=device).dim()  # branch


@case
def settings_of_text(device):
    settings = configparser.ConfigParser()
    settings["model"] = {"width": str(choice(device).item())}  # shape
    return torch.zeros(settings.getint("model", "width") + 1, device=device).dim()


@case
def text_of_a_tensor(device):
    text = repr(choice(device, 8))  # branch
    return torch.zeros(len(re.findall("1", text)) + 1, device=device).dim()


@case
def table_that_is_printed(device):
    cells = [f"{value:.2f}" for value in choice(device, 8).tolist()]
    width = max(len(cell) for cell in cells)
    print(" | ".join(cell.rjust(width) for cell in cells))
