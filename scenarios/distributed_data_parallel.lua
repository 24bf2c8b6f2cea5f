-- Symptom: "eight GPUs, and the first of them is out of memory while seven are half empty."
--
-- DataParallel is one process: GPU 0 keeps the parameters, gathers every output, computes the loss
-- and reduces all gradients. What to do: DistributedDataParallel, one process for each GPU. Every
-- rank holds the same: parameters, gradients, and the buckets in which gradients are averaged, as
-- large again. `gradient_as_bucket_view` makes gradients views of the buckets and saves that copy.

local bytes = require("bytes")
local nn, F = ohm.nn, ohm.nn.functional

local GPUS, ROWS, FEATURES, HIDDEN, CLASSES = 8, 256, 64, 256, 2000
local P = bytes.linear(FEATURES, HIDDEN) + bytes.linear(HIDDEN, CLASSES)
-- Of a rank: parameters, gradients and buckets (P each), and of its 32 samples the input, the
-- hidden layer twice, and four tensors of the output's size in the loss and its backward.
local SHARE = ROWS // GPUS
local STEP = bytes.float32(SHARE, FEATURES) + 2 * bytes.float32(SHARE, HIDDEN)
  + 4 * bytes.float32(SHARE, CLASSES) + bytes.int64(SHARE) + 4 * bytes.scalar
local RANK = 3 * P + STEP
local RANK_WITH_VIEWS = 2 * P + STEP

local function new_net()
  ohm.manual_seed(1)
  return nn.Sequential(nn.Linear(FEATURES, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, CLASSES))
end

local function train(net, forward, x, y)
  local optimizer = ohm.optim.SGD(net:parameters(), {lr = 0.1})
  local loss
  for _ = 1, 3 do
    optimizer:zero_grad()
    local out = forward(x)
    loss = F.cross_entropy(out, y:to(out.device))
    out = nil
    loss:backward()
    optimizer:step()
    ohm.step()
  end
  return {loss = loss:item()}
end

local function batch()
  ohm.manual_seed(2)
  return ohm.randn(ROWS, FEATURES), ohm.randint(CLASSES, {ROWS})
end

local function data_parallel()
  local net = new_net():cuda(0)
  local x, y = batch()
  return train(net, nn.DataParallel(net), x, y)
end

local function distributed(options)
  local losses = ohm.distributed.spawn(GPUS, function(rank)
    local net = new_net():cuda(rank)
    local x, y = batch()
    local first = rank * SHARE
    return train(net, nn.parallel.DistributedDataParallel(net, options),
                 x:narrow(0, first, SHARE):cuda(rank), y:narrow(0, first, SHARE)).loss
  end)
  local sum = 0
  for _, of_rank in ipairs(losses) do sum = sum + of_rank[1] end
  return {loss = sum / GPUS}
end

return ohm.scenario {
  name = "distributed_data_parallel",
  summary = "DataParallel's first GPU carries what DistributedDataParallel shares out",
  gpu = {profile = "tiny-64m", count = GPUS, values = true},
  limits = {"num_ooms == 0", "imbalance == 1", bytes.at_most("peak_allocated_bytes", RANK)},

  problems = {data_parallel = data_parallel},
  mitigations = {
    distributed = function() return distributed() end,
    gradients_as_views_of_buckets = {
      limits = {bytes.at_most("allocated_at_end_bytes", 0), "peak_allocated_bytes < distributed"},
      run = function() return distributed {gradient_as_bucket_view = true} end,
    },
  },
}
