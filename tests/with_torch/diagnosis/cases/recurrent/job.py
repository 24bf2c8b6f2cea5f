import torch

from rnn.language_model import LanguageModel
from rnn.training import Trainer

model = LanguageModel(vocabulary=2000, size=256).cuda()
trainer = Trainer(model, torch.optim.Adam(model.parameters()))
trainer.run(steps=2000)
