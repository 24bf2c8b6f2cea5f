"""The Trainer of transformers: fp16, accumulated gradients, evaluation, a checkpoint, resumed."""
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Sentences(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        tokens = (torch.arange(64) + index) % 1000
        return {"input_ids": tokens, "attention_mask": torch.ones(64, dtype=torch.long),
                "labels": index % 2}


def trainer_in(folder, epochs):
    config = BertConfig(vocab_size=1000, hidden_size=512, num_hidden_layers=4,
                        num_attention_heads=8, intermediate_size=2048)
    arguments = TrainingArguments(
        output_dir=folder, num_train_epochs=epochs, per_device_train_batch_size=8,
        gradient_accumulation_steps=2, fp16=True, save_strategy="epoch", logging_steps=2,
        report_to=[], dataloader_num_workers=1, disable_tqdm=True)
    return Trainer(BertForSequenceClassification(config), arguments, train_dataset=Sentences(),
                   eval_dataset=Sentences())


def main():
    with tempfile.TemporaryDirectory() as folder:
        trainer = trainer_in(folder, 1)
        assert trainer.args.device.type == "cuda"
        trainer.train()
        assert trainer.state.global_step == 4
        assert "eval_loss" in trainer.evaluate()
        resumed = trainer_in(folder, 2)
        resumed.train(resume_from_checkpoint=True)
        assert resumed.state.global_step == 8
    weights = sum(p.numel() * p.element_size() for p in resumed.model.parameters())
    # That of both trainers: weights and two moments each.
    assert torch.cuda.memory_allocated() > 4 * weights
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())


if __name__ == "__main__":
    main()
