-- One training step of a GPT with 65 billion parameters, size-only. Run it from a copy in scenarios/.
local gpt, F = require("models.gpt2"), ohm.nn.functional

return ohm.scenario {
  name = "gpt",
  summary = "One training step of 65 billion parameters",
  gpu = {profile = "h200-141g", capacity = "2 TiB", values = false},
  checks = {
    step = {
      limits = {"num_ooms == 0"},
      run = function(device)
        local model = gpt {width = 8192, layers = 80, heads = 64, device = device}
        local optimizer = ohm.optim.AdamW(model:parameters())
        local tokens = ohm.zeros(1, 256, {dtype = "int64", device = device})
        F.cross_entropy(model(tokens):view(256, -1), tokens:view(-1)):backward()
        optimizer:step()
      end,
    },
  },
}
