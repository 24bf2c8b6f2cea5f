-- Symptom: "eight GPUs, and the first of them is out of memory while seven are half empty."
--
-- DataParallel is one process: GPU 0 keeps the parameters, gathers every output, computes the loss
-- and reduces all gradients. What to do: DistributedDataParallel, one process for each GPU. Every
-- rank holds the same: parameters, gradients, and the buckets in which gradients are averaged, as
-- large again. `gradient_as_bucket_view` makes gradients views of the buckets and saves that copy.
--
-- Chapter: gpus
-- PyTorch:
--     model = DistributedDataParallel(model, device_ids=[rank], gradient_as_bucket_view=True)
-- Keras: with tf.distribute.MirroredStrategy().scope(): build and compile the model.

local bytes = require("bytes")
local nn, F = ohm.nn, ohm.nn.functional

-- 6 layers of width 128, 64 KiB each, and a head of 500 classes.
local GPUS, ROWS, DEPTH, WIDTH, CLASSES = 8, 128, 6, 128, 500
local LARGEST = bytes.linear(WIDTH, CLASSES)
local P = DEPTH * bytes.linear(WIDTH, WIDTH) + LARGEST
-- A rank has 16 samples. At the end of backward: parameters, gradients and the bucket; the batch
-- and a gradient; the loss and the root of backward.
local SHARE = ROWS // GPUS
local A = bytes.float32(SHARE, WIDTH)
local RANK = 3 * P + 2 * A + 2 * bytes.scalar
-- With views a gradient is only there until it is in its bucket: the peak is in the head's
-- backward, whose gradient stands beside. The batch, the results of all layers and a gradient;
-- that of the log-probabilities; the loss and the root.
local RANK_WITH_VIEWS = 2 * P + LARGEST + (1 + DEPTH + 1) * A + bytes.float32(SHARE, CLASSES)
  + 2 * bytes.scalar

local function new_net()
  ohm.manual_seed(1)
  local layers = {}
  for _ = 1, DEPTH do
    layers[#layers + 1] = nn.Linear(WIDTH, WIDTH)
    layers[#layers + 1] = nn.ReLU()
  end
  layers[#layers + 1] = nn.Linear(WIDTH, CLASSES)
  return nn.Sequential(layers)
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
  return ohm.randn(ROWS, WIDTH), ohm.randint(CLASSES, {ROWS})
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
  limits = {"imbalance == 1", bytes.at_most("peak_allocated_bytes", RANK)},

  problems = {data_parallel = data_parallel},
  mitigations = {
    distributed = function() return distributed() end,
    gradients_as_views_of_buckets = {
      limits = {bytes.at_most("peak_allocated_bytes", RANK_WITH_VIEWS)},
      run = function() return distributed {gradient_as_bucket_view = true} end,
    },
  },
}
