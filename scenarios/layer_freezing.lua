-- Symptom: "fine-tuning the whole network is out of memory."
--
-- A parameter that is trained costs its gradient and its optimizer state, and every layer in front
-- of it that needs a gradient keeps its activations. What to do: freeze the early layers, so that
-- backward ends where training begins: `p.requires_grad = False` for their parameters. Freezing
-- late layers keeps the activations of the early ones, and `module.requires_grad = False`, as a
-- guide has it, freezes nothing: it makes a new attribute of the module.
--
-- Chapter: parameters
-- PyTorch:
--     for p in model.early_layers.parameters():
--         p.requires_grad = False

local bytes, nets = require("bytes"), require("nets")
local F = ohm.nn.functional

-- 8 blocks of width 128 and a head; the first 6 are frozen. A batch of 512 makes 256 KiB a block.
local DEPTH, FROZEN, WIDTH, BATCH = 8, 6, 128, 512
local ACTIVATION = bytes.float32(BATCH, WIDTH)
local P, TRAINED = nets.deep_bytes(DEPTH, WIDTH), nets.deep_bytes(DEPTH - FROZEN, WIDTH)

-- The peak is where backward has come to the last block: all parameters, two Adam states of those
-- that are trained, gradients of the head, labels, two scalars; and of activations the batch, the
-- input of the first trained block, the results of the trained ones, and two gradients.
local ROOM = P + 2 * TRAINED + bytes.linear(WIDTH, 10) + bytes.int64(BATCH) + 2 * bytes.scalar
  + (1 + 1 + DEPTH - FROZEN + 2) * ACTIVATION

local function fine_tune(device, freeze)
  local net = nets.deep(DEPTH, WIDTH, device)
  freeze(net)
  local trained = {}
  for _, p in ipairs(net:parameters()) do
    if p.requires_grad then trained[#trained + 1] = p end
  end
  local optimizer = ohm.optim.Adam(trained)
  local x, y = nets.batch(BATCH, WIDTH, device)
  local first_loss, loss
  for _ = 1, 3 do
    optimizer:zero_grad()
    loss = F.cross_entropy(net(x), y)
    first_loss = first_loss or loss:item()
    loss:backward()
    optimizer:step()
    ohm.step()
  end
  return {first_loss = first_loss, loss = loss:item()}
end

local function nothing() end
local function freeze_between(first, last)
  return function(net)
    for i = first, last do
      for _, p in ipairs(net[i]:parameters()) do p.requires_grad = false end
    end
  end
end
local early = freeze_between(1, 2 * FROZEN) -- a Linear and a ReLU each
local late = freeze_between(2 * (DEPTH - FROZEN) + 1, 2 * DEPTH)

local function requires_grad_of_modules(net)
  for i = 1, 2 * FROZEN do net[i].requires_grad = false end
end
-- What should have been called: it sets the attribute of every parameter.
local function requires_grad_method(net)
  for i = 1, 2 * FROZEN do net[i]:requires_grad_(false) end
end

local function trade(freeze)
  return {
    trades = "which layers are trained", must_agree = {"first_loss", "finite"},
    run = function(d) return fine_tune(d, freeze) end,
  }
end

return ohm.scenario {
  name = "layer_freezing",
  summary = "Freezing early layers saves their gradients, optimizer state and activations",
  gpu = {profile = "tiny-64m", values = true},
  limits = {bytes.at_most("peak_allocated_bytes", ROOM)},

  problems = {full_fine_tuning = function(d) return fine_tune(d, nothing) end},
  mitigations = {
    early_layers_frozen = trade(early),
    requires_grad_method = trade(requires_grad_method),
  },
  -- Gradients and state of 6 blocks are saved, none of the activations.
  partials = {late_layers_frozen = trade(late)},
  non_fixes = {
    requires_grad_of_modules = function(d) return fine_tune(d, requires_grad_of_modules) end,
  },
}
