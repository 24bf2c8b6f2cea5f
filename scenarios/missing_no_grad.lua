-- Symptom: "inference runs out of memory after a few dozen images, although one image is nothing."
--
-- Without no_grad every output holds the graph of its forward pass: the image and the result of
-- every ReLU. Outputs kept in a list keep all of that. What to do: run inference under no_grad (or
-- inference_mode), or detach what is kept; `:to("cpu")` alone moves the output, not the graph.
--
-- Chapter: leaks
-- PyTorch:
--     model.eval()
--     with torch.no_grad():
--         outputs.append(model(x).cpu())

local nn = ohm.nn

-- The net, and what the graph of one 1x300x300 image keeps (float32, blocks rounded to 512 bytes):
--   the image                       300 * 300 * 4 =   360,000 ->   360,448
--   first ReLU's result         3 * 300 * 300 * 4 = 1,080,000 -> 1,080,320
--   second ReLU's result        6 * 300 * 300 * 4 = 2,160,000 -> 2,160,128
--   pooled features and output                                     2 * 512
-- Images are small blocks: a segment of 2 MiB holds five. Results are large ones: a segment of
-- 20 MiB holds those of five images and what the next forward pass needs meanwhile.
--   25 images:  6 * 20 MiB + 5 * 2 MiB = 130 MiB  <=  CAPACITY
--   the 26th :  6 * 20 MiB + 6 * 2 MiB = 132 MiB  >   CAPACITY
local CAPACITY = "130 MiB"

local function new_net(device)
  return nn.Sequential(nn.Conv2d(1, 3, 3, {padding = 1}), nn.ReLU(),
                       nn.Conv2d(3, 6, 3, {padding = 1}), nn.ReLU(),
                       nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 10)):to(device)
end

local IMAGES = 40

-- Keeps what `keep(net, x)` returns for every image.
local function infer(device, keep, after)
  local net = new_net(device)
  local outputs, x = {}, nil
  for i = 1, IMAGES do
    x = ohm.randn(1, 1, 300, 300, {device = device})
    outputs[i] = keep(net, x)
    if after then after() end
    ohm.step()
  end
  return {outputs = ohm.cat(outputs):cpu()}
end

local function output(net, x) return net(x) end
local function output_on_cpu(net, x) return net(x):to("cpu") end
local function output_detached(net, x) return net(x):detach():cpu() end

-- The form of the guides: no_grad, move, release, empty the cache.
local function output_released(net, x)
  local out = ohm.no_grad(function() return net(x) end)
  local moved = out:to("cpu")
  out = nil
  ohm.cuda.empty_cache()
  return moved
end

local function infer_in_eval_mode(device)
  local net, outputs, x = new_net(device):eval(), {}, nil
  for i = 1, IMAGES do
    x = ohm.randn(1, 1, 300, 300, {device = device})
    outputs[i] = net(x)
    ohm.step()
  end
  return {outputs = ohm.cat(outputs):cpu()}
end

local function rebind(device)
  local net = new_net(device)
  local out, x
  for _ = 1, IMAGES do
    x = ohm.randn(1, 1, 300, 300, {device = device})
    out = net(x)
    ohm.step()
  end
  return {last = out:detach():cpu()}
end

-- How far the problem comes: 25 images, and the 26th raises.
local function count_images(device)
  local net, outputs, x = new_net(device), {}, nil
  local fits = pcall(function()
    for i = 1, IMAGES do
      x = ohm.randn(1, 1, 300, 300, {device = device})
      outputs[i] = net(x)
      ohm.step()
    end
  end)
  assert(not fits, "every image fits")
  return {}
end

local MOVED_OFF = {"growth_bytes_per_step == 0"}

return ohm.scenario {
  name = "missing_no_grad",
  summary = "Inference without no_grad keeps the graph of every output",
  gpu = {profile = "tiny-64m", capacity = CAPACITY, count = 1, values = true},
  limits = {"num_ooms == 0", "growth_bytes_per_step <= 512"}, -- one output of 10 floats

  problems = {
    outputs_in_list = function(d) return infer(d, output) end,
  },
  mitigations = {
    no_grad_and_release = {
      limits = MOVED_OFF, run = function(d) return infer(d, output_released) end,
    },
    detach_cpu = {limits = MOVED_OFF, run = function(d) return infer(d, output_detached) end},
    no_grad = function(d) return ohm.no_grad(function() return infer(d, output) end) end,
    inference_mode = function(d)
      return ohm.inference_mode(function() return infer(d, output) end)
    end,
  },
  non_fixes = {
    empty_cache = function(d) return infer(d, output, ohm.cuda.empty_cache) end,
    collect_garbage = function(d) return infer(d, output, ohm.gc.collect) end,
    collect_and_empty_cache = function(d)
      return infer(d, output, function()
        ohm.gc.collect()
        ohm.cuda.empty_cache()
      end)
    end,
    eval_alone = infer_in_eval_mode,
    to_cpu_alone = function(d) return infer(d, output_on_cpu) end,
  },
  controls = {
    output_rebound = rebind,
  },
  checks = {
    twenty_five_images = {
      limits = {"steps == 25", "num_ooms == 1", "peak_reserved_bytes == 130 MiB"},
      run = count_images,
    },
  },
}
