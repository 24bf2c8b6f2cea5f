-- Symptom: "memory grows a little with every iteration, until CUDA out of memory."
--
-- A loss is a tensor, and a tensor that was computed holds the graph it was computed with.
-- `total = total + loss` therefore keeps alive what every step's graph keeps alive: leaves, saved
-- activations. What to do: add up numbers, `total = total + loss:item()`, or detach the loss.
--
-- Chapter: leaks
-- PyTorch:
--     total_loss += loss.item()

local nn, F = ohm.nn, ohm.nn.functional

-- (a) The example of the guides: ten leaves, added up. Each leaf is one block of 512 bytes.
local function add_leaves(device, add)
  local total, iter_loss = 0, nil
  for _ = 1, 10 do
    iter_loss = ohm.randn(3, 4, {device = device}):mean():requires_grad_()
    total = add(total, iter_loss)
    ohm.step()
  end
  return {total = total}
end

-- (b) A validation loop that never calls backward: what each step saves stays. Most of that is the
-- ReLU's result, 128 * 4096 * 4 bytes = 2 MiB a step, so a card of 64 MiB lasts for about 27 steps.
local function validate(device, add)
  local model = nn.Sequential(nn.Linear(32, 4096), nn.ReLU(), nn.Linear(4096, 10)):to(device)
  local total, x, y, loss = 0, nil, nil, nil
  for _ = 1, 40 do
    x = ohm.randn(128, 32, {device = device})
    y = ohm.randint(10, {128}, {device = device})
    loss = F.cross_entropy(model(x), y)
    total = add(total, loss)
    ohm.step()
  end
  return {total = total}
end

-- (c) Losses kept in a list for the log, after backward. Their graphs are gone, but an MSE loss
-- owns a storage of its prediction's size: 64 * 2048 * 4 bytes = 512 KiB each.
local function log_losses(device, keep)
  local model = nn.Linear(64, 2048):to(device)
  local losses, x, y, loss = {}, nil, nil, nil
  for step = 1, 12 do
    model:zero_grad()
    x = ohm.randn(64, 64, {device = device})
    y = ohm.randn(64, 2048, {device = device})
    loss = F.mse_loss(model(x), y)
    loss:backward()
    losses[step] = keep(loss)
    ohm.step()
  end
  local sum = 0.0
  for _, value in ipairs(losses) do
    sum = sum + (ohm.is_tensor(value) and value:item() or value)
  end
  return {mean = sum / #losses}
end

-- A sum after backward is harmless: backward has released what the graph had saved.
local function train(device, log)
  local model = nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 10)):to(device)
  local total, x, y, loss = 0, nil, nil, nil
  for _ = 1, 10 do
    model:zero_grad()
    x = ohm.randn(128, 32, {device = device})
    y = ohm.randint(10, {128}, {device = device})
    loss = F.cross_entropy(model(x), y)
    loss:backward()
    total = log(total, loss)
    ohm.step()
  end
  return {total = total}
end

local function add(total, loss) return total + loss end
local function add_item(total, loss) return total + loss:item() end
local function add_detached(total, loss) return total + loss:detach() end
local function item(loss) return loss:item() end

-- The popular advice, done after the sum in every step.
local function add_and(advice)
  return function(total, loss)
    total = total + loss
    advice()
    return total
  end
end
local empty_cache = ohm.cuda.empty_cache
local function empty_cache_twice()
  empty_cache()
  empty_cache()
end

return ohm.scenario {
  name = "leaked_loss_graph",
  summary = "Summing or keeping loss tensors keeps every step's memory alive",
  gpu = {profile = "tiny-64m", count = 1, values = true},
  limits = {"growth_bytes_per_step == 0", "num_ooms == 0"},

  problems = {
    leaves = function(d) return add_leaves(d, add) end,
    validation = function(d) return validate(d, add) end,
    loss_log = function(d) return log_losses(d, function(loss) return loss end) end,
  },
  mitigations = {
    leaves_item = {of = "leaves", run = function(d) return add_leaves(d, add_item) end},
    leaves_detach = {of = "leaves", run = function(d) return add_leaves(d, add_detached) end},
    validation_item = {of = "validation", run = function(d) return validate(d, add_item) end},
    validation_detach = {of = "validation", run = function(d) return validate(d, add_detached) end},
    validation_no_grad = {
      of = "validation",
      run = function(d) return ohm.no_grad(function() return validate(d, add) end) end,
    },
    loss_log_item = {of = "loss_log", run = function(d) return log_losses(d, item) end},
  },
  non_fixes = {
    loss_log_detach = {
      of = "loss_log",
      run = function(d) return log_losses(d, function(loss) return loss:detach() end) end,
    },
    loss_set_to_nil = {
      of = "validation",
      run = function(d)
        return validate(d, function(total, loss)
          total = total + loss
          loss = nil -- the sum still holds the graph
          return total
        end)
      end,
    },
    empty_cache = {
      of = "validation",
      run = function(d) return validate(d, add_and(empty_cache)) end,
    },
    empty_cache_twice = {
      of = "validation",
      run = function(d) return validate(d, add_and(empty_cache_twice)) end,
    },
    collect_garbage = {
      of = "validation",
      run = function(d) return validate(d, add_and(ohm.gc.collect)) end,
    },
  },
  controls = {
    sum_after_backward = {of = "validation", run = function(d) return train(d, add) end},
    printing_item = {
      of = "validation",
      run = function(d)
        return train(d, function(lines, loss)
          return lines + #string.format("%g\n", loss:item())
        end)
      end,
    },
  },
}
