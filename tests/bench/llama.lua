-- Training a Llama with 7 billion parameters, size-only. Run it from a copy in scenarios/.
local llama, F = require("models.llama"), ohm.nn.functional
local params = ohm.params {batch = {default = 1, min = 1, summary = "samples at once"}}

local function step(device, trains_all)
  local model = llama {size = "7b", device = device, dtype = "bfloat16"}
  for _, p in ipairs(model:parameters()) do p.requires_grad = trains_all end
  model.lm_head.weight.requires_grad = true
  local optimizer = ohm.optim.AdamW(trains_all and model:parameters() or {model.lm_head.weight})
  local tokens = ohm.zeros(params.batch, 256, {dtype = "int64", device = device})
  F.cross_entropy(model(tokens):view(-1, 32000), tokens:view(-1)):backward()
  optimizer:step()
end

return ohm.scenario {
  name = "llama",
  summary = "Training a model of 7 billion parameters",
  gpu = {profile = "a100-80g", values = false},
  limits = {"num_ooms == 0"},
  problems = {
    head = function(device) step(device, false) end,
    everything = function(device) step(device, true) end,
  },
}
