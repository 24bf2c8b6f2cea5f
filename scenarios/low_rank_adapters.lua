-- Symptom: "the model fits for inference, and fine-tuning it needs four times as much."
--
-- Training all parameters costs their gradients and two states of Adam, and a temporary. What to
-- do: freeze the model and train adapters of low rank beside its layers (LoRA): two matrices of
-- rank x width instead of width x width. The result differs from full fine-tuning; it begins at the
-- same loss, since an adapter begins at zero. An adapter beside a model that is not frozen is more.
--
-- Chapter: parameters
-- PyTorch:
--     for p in model.parameters():
--         p.requires_grad = False
--     y = layer(x) + up(down(x))    # train up and down

local bytes, nets = require("bytes"), require("nets")
local add_adapters = require("models.lora")
local nn, F = ohm.nn, ohm.nn.functional

-- 4 layers of width 256, 256 KiB each. Adapters of rank 4 are 8 KiB for each layer.
local DEPTH, WIDTH, RANK, BATCH = 4, 256, 4, 32
local A = bytes.float32(BATCH, WIDTH)
local P = DEPTH * bytes.linear(WIDTH, WIDTH)
local ADAPTERS = DEPTH * 2 * bytes.float32(RANK, WIDTH)
-- The peak is where the second backward begins: the frozen model; adapters with two states; the
-- batch, of each layer its result and the adapter's inside; log-probabilities and two gradients (as
-- many classes as features); labels, the loss and the root of backward.
local ROOM = P + 3 * ADAPTERS + (1 + DEPTH + 3) * A + DEPTH * bytes.float32(BATCH, RANK)
  + bytes.int64(BATCH) + 2 * bytes.scalar

local function new_model(device)
  ohm.manual_seed(1)
  local layers = {}
  for i = 1, DEPTH do layers[i] = nn.Module {
    proj = nn.Linear(WIDTH, WIDTH), forward = function(self, x) return F.relu(self.proj(x)) end,
  } end
  return nn.Sequential(layers):to(device)
end

local function fine_tune(device, model)
  local trained, count = {}, 0
  for _, p in ipairs(model:parameters()) do
    if p.requires_grad then
      trained[#trained + 1] = p
      count = count + p:numel()
    end
  end
  local optimizer = ohm.optim.Adam(trained, {lr = 1e-3})
  local x, y = nets.batch(BATCH, WIDTH, device, WIDTH)
  local first_loss, loss
  for _ = 1, 3 do
    optimizer:zero_grad()
    loss = F.cross_entropy(model(x), y)
    first_loss = first_loss or loss:item()
    loss:backward()
    optimizer:step()
    ohm.step()
  end
  return {first_loss = first_loss, loss = loss:item(), learns = loss:item() < first_loss}, count
end

local function adapters(rank)
  return function(device)
    local model = add_adapters(new_model(device), {"proj"}, {rank = rank})
    return (fine_tune(device, model))
  end
end
local function lora(rank)
  return {
    trades = "which parameters are trained", must_agree = {"first_loss", "learns", "finite"},
    run = adapters(rank),
  }
end

return ohm.scenario {
  name = "low_rank_adapters",
  summary = "Adapters of low rank are trained instead of the model they stand beside",
  gpu = {profile = "tiny-64m", values = true},
  limits = {bytes.at_most("peak_allocated_bytes", ROOM)},

  problems = {full_fine_tuning = function(d) return (fine_tune(d, new_model(d))) end},
  mitigations = {rank_4 = lora(RANK), rank_1 = lora(1)},
  partials = {rank_64 = lora(64)},
  non_fixes = {
    model_not_frozen = {
      trades = "which parameters are trained", must_agree = {"first_loss"},
      run = function(d)
        local model = add_adapters(new_model(d), {"proj"}, {rank = RANK})
        for _, p in ipairs(model:parameters()) do p.requires_grad = true end
        return (fine_tune(d, model))
      end,
    },
  },
  checks = {
    share_of_parameters_trained = {
      returns = {full = DEPTH * (WIDTH * WIDTH + WIDTH), rank_4 = DEPTH * 2 * RANK * WIDTH},
      run = function(d)
        local _, full = fine_tune(d, new_model(d))
        local _, low = fine_tune(d, add_adapters(new_model(d), {"proj"}, {rank = RANK}))
        return {full = full, rank_4 = low}
      end,
    },
  },
}
