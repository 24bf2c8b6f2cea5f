-- Symptom: "the batch I need is out of memory, a quarter of it fits."
--
-- Activations grow with the batch, gradients do not. What to do: run the batch in parts, divide
-- each loss so that the sum is the loss of the whole batch, let backward() add the gradients up,
-- and step once. The widely copied snippet calls zero_grad() inside that loop and does not divide:
-- it fits, and trains on a wrong gradient. Where parameters take the memory, accumulation costs
-- more than the batch: each new gradient is allocated beside the sum.
--
-- Chapter: activations
-- PyTorch:
--     optimizer.zero_grad()
--     for x, y in micro_batches:
--         (loss_fn(model(x), y) / len(micro_batches)).backward()
--     optimizer.step()

local bytes, nets = require("bytes"), require("nets")
local F = ohm.nn.functional

-- (a) Activations: 8 blocks of width 128; a batch of 512 keeps 256 KiB for each block's result. A
-- quarter of the batch is to fit: parameters, gradients and the last layer's new one, the whole
-- batch as input, a quarter of the other layers' results with two gradients of theirs; the loss
-- and the root of backward.
local DEPTH, WIDTH, BATCH = 8, 128, 512
local P = nets.deep_bytes(DEPTH, WIDTH)
local INPUTS = bytes.float32(BATCH, WIDTH) + bytes.int64(BATCH)
local FITS = 2 * P + bytes.linear(WIDTH, WIDTH) + INPUTS
  + (DEPTH - 1 + 2) * bytes.float32(BATCH // 4, WIDTH) + 2 * bytes.scalar

-- (b) Parameters: one block of width 1024, 4 MiB. On a card for parameters and gradients the batch
-- of 32 is some 400 kB too much; in parts it is 4 MiB too much.
local WIDE, SMALL_BATCH = 1024, 32
local WIDE_P = bytes.linear(WIDE, WIDE) + bytes.linear(WIDE, 10)
local PARAMETERS = 2 * WIDE_P

local function samples(device, batch)
  return nets.batch(batch, batch == BATCH and WIDTH or WIDE, device)
end

-- One optimizer step on `batch` samples in parts of `size`; `prepare(optimizer)` is called before
-- each part, `weight(rows)` is what its loss is multiplied by.
local function step(device, batch, size, weight, prepare)
  local net = batch == BATCH and nets.deep(DEPTH, WIDTH, device) or nets.deep(1, WIDE, device)
  local optimizer = ohm.optim.SGD(net:parameters(), {lr = 1})
  local change = nets.change_of(net[#net].bias)
  local x, y = samples(device, batch)
  local first, samples_seen = 0, 0
  while first < batch do
    local rows = math.min(size, batch - first)
    if prepare then prepare(optimizer) end
    (F.cross_entropy(net(x:narrow(0, first, rows)), y:narrow(0, first, rows))
      * weight(rows)):backward()
    first, samples_seen = first + rows, samples_seen + rows
  end
  local gradient = net[#net].weight.grad:cpu()
  optimizer:step()
  ohm.step()
  return {gradient = gradient, change = change(), samples_seen = samples_seen}
end

local function share_of(batch) return function(rows) return rows / batch end end
local function undivided() return 1 end
local function whole(size, weight, prepare)
  return {of = "whole_batch", run = function(d) return step(d, BATCH, size, weight, prepare) end}
end
local function wrong(variant)
  variant.must_differ = {"gradient", "change"}
  return variant
end

return ohm.scenario {
  name = "gradient_accumulation",
  summary = "A batch that does not fit, in parts that add up to the same gradient",
  gpu = {profile = "tiny-64m", values = true},

  problems = {
    whole_batch = {
      limits = {bytes.at_most("peak_allocated_bytes", FITS)},
      run = function(d) return step(d, BATCH, BATCH, share_of(BATCH)) end,
    },
    parameters_dominate = {
      limits = {bytes.at_most("peak_allocated_bytes", PARAMETERS)},
      run = function(d) return step(d, SMALL_BATCH, SMALL_BATCH, share_of(SMALL_BATCH)) end,
    },
  },
  mitigations = {
    four_parts = whole(BATCH // 4, share_of(BATCH)),
    -- 512 = 4 * 120 + 32: the last loss counts for its 32 samples only.
    shorter_last_part = whole(120, share_of(BATCH)),
    smaller_batch = {
      of = "whole_batch", trades = "the size of the batch",
      must_agree = {"steps", "shapes", "finite"},
      run = function(d)
        local net = nets.deep(DEPTH, WIDTH, d)
        local optimizer = ohm.optim.SGD(net:parameters(), {lr = 1})
        local change = nets.change_of(net[#net].bias)
        local x, y = nets.batch(BATCH // 4, WIDTH, d)
        F.cross_entropy(net(x), y):backward()
        optimizer:step()
        ohm.step()
        return {gradient = net[#net].weight.grad:cpu(), change = change(),
                samples_seen = x:size(0)}
      end,
    },
  },
  non_fixes = {
    zero_grad_in_the_loop = wrong(whole(BATCH // 4, undivided, function(o) o:zero_grad() end)),
    parts_not_divided = wrong(whole(BATCH // 4, undivided)),
    four_parts_of_parameters = {
      of = "parameters_dominate",
      run = function(d) return step(d, SMALL_BATCH, SMALL_BATCH // 4, share_of(SMALL_BATCH)) end,
    },
  },
}
