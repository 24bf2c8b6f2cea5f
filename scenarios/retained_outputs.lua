-- Symptom: "memory grows a little every step, and I only keep things for the log."
--
-- An output kept in a list keeps its memory, after backward() too: its graph is gone, its numbers
-- are not. A metric computed on the GPU is a block of 512 bytes. What to do: keep numbers
-- (`:item()`), or copies on the host (`:detach():cpu()`). How it is printed does not matter.
--
-- Chapter: leaks
-- PyTorch:
--     log.append(loss.item())
--     outputs.append(out.detach().cpu())

local nets = require("nets")
local nn, F = ohm.nn, ohm.nn.functional
local empty_cache = ohm.cuda.empty_cache

-- Each output is 64 rows of 512 numbers: 128 KiB a step.
local ROWS, CLASSES, STEPS = 64, 512, 10

-- `keep(out, y)` is what the log gets of a step.
-- What can be told of every kind of entry.
local function numbers_of(entry)
  if ohm.is_tensor(entry) then
    entry = entry:detach():cpu()
    return {mean = entry:mean(), largest = entry:max()}
  end
  return type(entry) == "number" and {mean = entry, largest = entry} or entry
end

local function train(device, keep, after)
  ohm.manual_seed(1)
  local net = nn.Linear(32, CLASSES):to(device)
  local optimizer = ohm.optim.SGD(net:parameters(), {lr = 0.1})
  local x, y = nets.batch(ROWS, 32, device, CLASSES)
  local log, out, loss = {}, nil, nil
  for step = 1, STEPS do
    optimizer:zero_grad()
    out = net(x)
    loss = F.cross_entropy(out, y)
    loss:backward()
    optimizer:step()
    log[step] = keep(out, y, loss)
    if after then after(log[step]) end
    ohm.step()
  end
  return numbers_of(log[STEPS])
end

local function output(out) return out end
local function mean_and_largest(out)
  return {mean = out:mean():item(), largest = out:max():item()}
end
local function accuracy(out, y) return out:argmax(1):eq(y):float():mean() end
local function print_briefly(out) print(("%.2f"):format(out:mean():item())) end

local function of(problem, keep, after)
  return {of = problem, run = function(d) return train(d, keep, after) end}
end

return ohm.scenario {
  name = "retained_outputs",
  summary = "Outputs and metrics kept for the log keep their memory on the GPU",
  gpu = {profile = "tiny-64m", values = true},
  limits = {"growth_bytes_per_step == 0"},

  problems = {
    outputs = function(d) return train(d, output) end,
    metrics = function(d) return train(d, accuracy) end,
  },
  mitigations = {
    detach_cpu = of("outputs", function(out) return out:detach():cpu() end),
    keep_numbers = {
      of = "outputs", trades = "all but two numbers of an output", must_agree = {"mean", "largest"},
      run = function(d) return train(d, mean_and_largest) end,
    },
    metrics_item = of("metrics", function(out, y) return accuracy(out, y):item() end),
    metrics_cpu = of("metrics", function(out, y) return accuracy(out, y):cpu() end),
  },
  -- The storage is the output's own, whatever shares it.
  non_fixes = {
    detach_alone = of("outputs", function(out) return out:detach() end),
    print_fewer_digits = of("outputs", output, print_briefly),
    empty_cache = of("outputs", output, empty_cache),
    empty_cache_for_metrics = of("metrics", accuracy, empty_cache),
  },
  controls = {
    printing_loss_item = of("outputs", function(_, _, loss)
      print(("%.6f"):format(loss:item()))
      return 0
    end),
  },
}
