"""A loop for `accelerate launch`: prepared model, gathered metrics, a checkpoint."""
import tempfile

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    accelerator = Accelerator(mixed_precision="fp16", gradient_accumulation_steps=2)
    assert accelerator.device.type == "cuda"
    model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1024))
    weights = sum(p.numel() * p.element_size() for p in model.parameters())
    optimizer = torch.optim.Adam(model.parameters())
    rows = TensorDataset(torch.randn(256, 1024), torch.randn(256, 1024))
    model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(rows, 16))
    assert len(loader) == 16 // accelerator.num_processes
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = nn.functional.mse_loss(model(x).float(), y)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    gathered = accelerator.gather(loss.detach().reshape(1))
    assert gathered.shape == (accelerator.num_processes,)
    if accelerator.is_main_process:
        with tempfile.TemporaryDirectory() as folder:
            torch.save(accelerator.unwrap_model(model).state_dict(), folder + "/model.pt")
    accelerator.wait_for_everyone()
    assert torch.cuda.max_memory_allocated() > 4 * weights
    accelerator.print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
    accelerator.end_training()


if __name__ == "__main__":
    main()
