"""torchvision's detectors, and small models of transformers, peft, accelerate and Lightning."""
import itertools
import logging
import tempfile

import torch
import torchvision
import transformers
from torch import nn
from torch.nn import functional as F

from cases import STEPS, generator, integers, losses, numbers

transformers.logging.set_verbosity_error()

# Samplers of detectors take all that there is: which ones they drew would follow from the GPU's
# random numbers.
SAMPLES = {"rpn_batch_size_per_image": 1 << 20, "box_batch_size_per_image": 1 << 20}
SIZES = {"num_classes": 3, "min_size": 64, "max_size": 96}


def backbone():
    make = torchvision.models.detection.backbone_utils.resnet_fpn_backbone
    return make(backbone_name="resnet18", weights=None, trainable_layers=5)


def target(height, width, device):
    masks = torch.zeros(2, height, width, dtype=torch.uint8)
    masks[:, 10:30] = 1
    boxes = torch.tensor([[5.0, 5, 40, 40], [10, 20, 50, 60]])
    return {"boxes": boxes.to(device), "labels": torch.tensor([1, 2]).to(device),
            "masks": masks.to(device)}


def detected(make, device, steps=2):
    """The losses, and what is found afterwards."""
    torch.manual_seed(0)
    model = make().to(device)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    found = []
    for step in range(steps):
        images = [torch.rand(3, 64, 64, generator=generator(step)).to(device),
                  torch.rand(3, 60, 72, generator=generator(step + 9)).to(device)]
        loss = sum(model(images, [target(64, 64, device), target(60, 72, device)]).values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    model.eval()
    with torch.no_grad():
        for result in model(images):
            found += [len(result["boxes"]), result["boxes"].sum().item(),
                      result["scores"].sum().item(), result["labels"].sum().item()]
    return found


def faster_rcnn(device):
    kind = torchvision.models.detection.FasterRCNN
    return detected(lambda: kind(backbone(), box_score_thresh=0.01, **SIZES, **SAMPLES), device)


def mask_rcnn(device):
    kind = torchvision.models.detection.MaskRCNN
    return detected(lambda: kind(backbone(), box_score_thresh=0.01, box_detections_per_img=8,
                                 **SIZES, **SAMPLES), device, steps=1)


def retinanet(device):
    kind = torchvision.models.detection.RetinaNet

    def make():
        sizes = tuple((size, int(size * 2 ** (1 / 3)), int(size * 2 ** (2 / 3)))
                      for size in (32, 64, 128, 256, 512))
        anchors = torchvision.models.detection.anchor_utils.AnchorGenerator(
            sizes, ((0.5, 1.0, 2.0),) * len(sizes))
        return kind(backbone(), anchor_generator=anchors, score_thresh=0.01, **SIZES)

    return detected(make, device)


def generated(device):
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=40, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, intermediate_size=64, eos_token_id=3, pad_token_id=0,
        bos_token_id=1)).to(device).eval()
    for parameter in model.parameters():
        parameter.data.mul_(3.0)
    prompt = integers(36, 3, 5).to(device) + 4
    found = []
    for options in ({}, {"num_beams": 3}, {"num_beams": 2, "num_return_sequences": 2},
                    {"repetition_penalty": 1.3}):
        tokens = model.generate(prompt, max_new_tokens=30, do_sample=False, **options)
        found += [tokens.shape[1], tokens.sum().item()]
    return found


def heard(device):
    torch.manual_seed(0)
    model = transformers.WhisperForConditionalGeneration(transformers.WhisperConfig(
        vocab_size=60, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, num_mel_bins=8,
        max_source_positions=50, max_target_positions=40, pad_token_id=0, bos_token_id=1,
        eos_token_id=2, decoder_start_token_id=1, suppress_tokens=None,
        begin_suppress_tokens=None)).to(device).eval()
    tokens = model.generate(numbers(2, 8, 100).to(device), num_beams=3, max_new_tokens=20,
                            do_sample=False)
    return [tokens.shape[1], tokens.sum().item()]


def small_gpt2():
    torch.manual_seed(0)
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=50, n_embd=32, n_layer=2, n_head=2, attn_pdrop=0.0, resid_pdrop=0.0,
        embd_pdrop=0.0))


def of_language(model, device):
    return losses(model, [(integers(50, 2, 9, seed=step),) for step in STEPS],
                  lambda model, tokens: model(input_ids=tokens, labels=tokens).loss, device)


def gpt2(device):
    return of_language(small_gpt2(), device)


def low_rank(device):
    import peft

    return of_language(peft.get_peft_model(small_gpt2(), peft.LoraConfig(
        r=4, target_modules=["c_attn"], fan_in_fan_out=True)), device)


def bert(device):
    torch.manual_seed(0)
    model = transformers.BertForSequenceClassification(transformers.BertConfig(
        vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, attention_probs_dropout_prob=0.0, hidden_dropout_prob=0.0))
    mask = (torch.arange(9)[None] < torch.tensor([[5], [9]])).long()
    batches = [(integers(50, 2, 9, seed=step), mask, torch.tensor([0, 1])) for step in STEPS]
    return losses(model, batches, lambda model, tokens, mask, kinds: model(
        input_ids=tokens, attention_mask=mask, labels=kinds).loss, device)


def resnet(device):
    torch.manual_seed(0)
    batches = [(numbers(4, 3, 32, 32, seed=step), integers(10, 4, seed=step)) for step in STEPS]
    return losses(torchvision.models.resnet50(num_classes=10), batches,
                  lambda model, images, kinds: F.cross_entropy(model(images), kinds), device)


def trained(device):
    rows = [{"input_ids": tokens, "labels": tokens} for tokens in integers(50, 32, 9)]
    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(
            output_dir=folder, per_device_train_batch_size=4, max_steps=len(STEPS), logging_steps=5,
            report_to=[], save_strategy="no", eval_strategy="steps", eval_steps=10,
            use_cpu=device == "cpu", seed=0, disable_tqdm=True, log_level="error")
        trainer = transformers.Trainer(small_gpt2(), arguments, train_dataset=rows,
                                       eval_dataset=rows[:8])
        trainer.remove_callback(transformers.PrinterCallback)
        trainer.train()
    return [row[name] for row in trainer.state.log_history
            for name in ("loss", "grad_norm", "eval_loss") if name in row]


def stopped_early(device):
    import lightning

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer, self.losses = nn.Linear(8, 1), []

        def training_step(self, batch, index):
            loss = F.mse_loss(self.layer(batch[0]), batch[1])
            self.losses.append(loss.item())
            return loss

        def validation_step(self, batch, index):
            self.log("loss", F.mse_loss(self.layer(batch[0]), batch[1]))

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.2)

    torch.manual_seed(0)
    model = Model()
    rows = torch.utils.data.TensorDataset(numbers(32, 8), numbers(32, 1, seed=1))
    trainer = lightning.Trainer(
        max_epochs=40, accelerator="gpu" if device == "cuda" else "cpu", devices=1, logger=False,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
        callbacks=[lightning.pytorch.callbacks.EarlyStopping("loss", patience=2, min_delta=0.01)])
    trainer.fit(model, torch.utils.data.DataLoader(rows, 8), torch.utils.data.DataLoader(rows, 32))
    assert trainer.current_epoch < 40
    return [trainer.current_epoch, *model.losses]


def accelerated(device):
    import accelerate

    accelerate.state.AcceleratorState._reset_state(True)
    accelerator = accelerate.Accelerator(cpu=device == "cpu", gradient_accumulation_steps=2)
    torch.manual_seed(0)
    model = nn.Linear(8, 3)
    rows = torch.utils.data.TensorDataset(numbers(32, 8), integers(3, 32))
    model, optimizer, rows = accelerator.prepare(
        model, torch.optim.AdamW(model.parameters(), 0.1), torch.utils.data.DataLoader(rows, 4))
    found = []
    for inputs, kinds in itertools.islice(itertools.cycle(rows), len(STEPS)):
        with accelerator.accumulate(model):
            loss = F.cross_entropy(model(inputs), kinds)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        found.append(accelerator.gather(loss).mean().item())
    return found


# A score at the threshold of suppression may fall on either side of it.
retinanet.tolerance = 2e-2

CASES = [resnet, faster_rcnn, mask_rcnn, retinanet, generated, heard, gpt2, low_rank, bert,
         trained, stopped_early, accelerated]
