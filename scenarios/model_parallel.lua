-- Symptom: "the network does not fit one GPU, and DataParallel on two did not help."
--
-- DataParallel and DistributedDataParallel share the batch: every GPU holds the whole net. What to
-- do: put the first half of the layers on one GPU and the second on another, and move the
-- activations between them in forward; backward moves the gradients the other way. The price is
-- time: the second GPU waits for the first, so each works half of the time at best.
--
-- Chapter: gpus
-- PyTorch:
--     def forward(self, x):
--         x = self.first(x.to("cuda:0"))
--         return self.second(x.to("cuda:1"))

local bytes, nets = require("bytes"), require("nets")
local nn, F = ohm.nn, ohm.nn.functional

-- 6 layers of width 512: 1 MiB each, with gradients twice that. A card of 9 MiB has no room for
-- 12 MiB of layers and gradients, and has for half of them.
local DEPTH, WIDTH, BATCH = 6, 512, 64
local CAPACITY = "9 MiB"
-- Of half the layers, at the end of its backward: parameters and gradients; the targets, what came
-- from the other half, the loss's difference and two gradients; the root of backward.
local LAYER, A = bytes.linear(WIDTH, WIDTH), bytes.float32(BATCH, WIDTH)
local HALF = 2 * (DEPTH // 2) * LAYER + 5 * A + bytes.scalar

local function layers(first, last)
  local list = {}
  for _ = first, last do
    list[#list + 1] = nn.Linear(WIDTH, WIDTH)
    list[#list + 1] = nn.ReLU()
  end
  return nn.Sequential(list)
end

local TwoHalves = nn.Module:extend("TwoHalves")
function TwoHalves:__init(first_device, second_device)
  ohm.manual_seed(1)
  self.first, self.second = layers(1, DEPTH // 2), layers(DEPTH // 2 + 1, DEPTH)
  self.first:to(first_device)
  self.second:to(second_device)
end
function TwoHalves:forward(x)
  local device = self.second[1].weight.device
  return self.second(self.first(x):to(device))
end

local function batch()
  ohm.manual_seed(2)
  return ohm.randn(BATCH, WIDTH), ohm.randn(BATCH, WIDTH)
end

local function train(net, forward, first_device, last_device)
  local optimizer = ohm.optim.SGD(net:parameters(), {lr = 0.1})
  local x, y = batch()
  x, y = x:to(first_device), y:to(last_device)
  local change, loss = nets.change_of(net.first[1].weight), nil
  for _ = 1, 3 do
    optimizer:zero_grad()
    loss = F.mse_loss(forward(x), y)
    loss:backward()
    optimizer:step()
    ohm.step()
  end
  return {loss = loss:item(), change = change()}
end

local function on(first_device, second_device)
  local net = TwoHalves(first_device, second_device)
  return train(net, net, first_device, second_device)
end

local function data_parallel()
  local net = TwoHalves("cuda:0", "cuda:0")
  return train(net, nn.DataParallel(net), "cuda:0", "cuda:0")
end

local function distributed()
  local results = {}
  ohm.distributed.spawn(2, function(rank)
    local device = "cuda:" .. rank
    local net = TwoHalves(device, device)
    results[rank] = train(net, nn.parallel.DistributedDataParallel(net), device, device)
  end)
  return results[0]
end

-- Multiplications and additions of one sample in a module's linear layers.
local function operations(module)
  local sum = 0
  for _, p in ipairs(module:parameters()) do sum = sum + (p.ndim == 2 and 2 * p:numel() or 0) end
  return sum
end

return ohm.scenario {
  name = "model_parallel",
  summary = "A net too large for one GPU: layers on two GPUs, not copies of all of them",
  gpu = {profile = "tiny-64m", capacity = CAPACITY, count = 2, values = true},
  limits = {"num_ooms == 0", bytes.at_most("peak_allocated_bytes", HALF)},

  problems = {one_gpu = function() return on("cuda:0", "cuda:0") end},
  mitigations = {two_halves = function() return on("cuda:0", "cuda:1") end},
  non_fixes = {data_parallel = data_parallel, distributed_data_parallel = distributed},
  checks = {
    operands_on_two_gpus = {
      raises = "cuda:0 and cuda:1",
      run = function()
        return ohm.ones(4, {device = "cuda:0"}) * ohm.ones(4, {device = "cuda:1"})
      end,
    },
    -- One half works while the other waits.
    idle_share_of_each_gpu = {
      returns = {first = 0.5, second = 0.5},
      run = function()
        local net = TwoHalves("cuda:0", "cuda:1")
        local first, second = operations(net.first), operations(net.second)
        return {first = second / (first + second), second = first / (first + second)}
      end,
    },
  },
}
