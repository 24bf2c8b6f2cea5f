-- Symptom: "activations fill the card; one answer says 'use AMP', another 'AMP made it worse'."
--
-- Under autocast matrix products read and write half precision, so what is kept for backward is
-- half as large. Parameters, gradients and the optimizer's state stay float32, and each weight gets
-- a half copy: where memory is parameters, the peak rises. What to do: autocast with a GradScaler
-- for float16, or bfloat16, which needs none; where parameters count too, train a half model with
-- float32 master weights. nvidia-smi does not show it: the cache keeps the segments of the peak.
--
-- Chapter: precision
-- PyTorch:
--     with torch.autocast("cuda", dtype=torch.float16):
--         loss = loss_fn(model(x), y)
--     scaler.scale(loss).backward()
--     scaler.step(optimizer)
--     scaler.update()
-- Keras: tf.keras.mixed_precision.set_global_policy("mixed_float16")

local bytes, nets = require("bytes"), require("nets")
local F = ohm.nn.functional

-- (a) 8 blocks of width 128: a batch of 512 makes 256 KiB (A) a block in float32. Half of that,
-- for results and two gradients; the batch in both precisions, labels; parameters, the head's
-- gradients, half copies of the other layers' weights but one. The loss as computed and as scaled,
-- the root of backward, and the scaler's two numbers. When more gradients are made, more
-- activations are gone.
local DEPTH, WIDTH, BATCH = 8, 128, 512
local P = nets.deep_bytes(DEPTH, WIDTH)
local A = bytes.float32(BATCH, WIDTH)
local HALVED = P + bytes.linear(WIDTH, 10) + (DEPTH - 1) * bytes.float16(WIDTH, WIDTH)
  + A + (1 + DEPTH + 2) * A // 2 + bytes.int64(BATCH) + 5 * bytes.scalar

-- (b) One block of width 1,024 and a batch of 16, trained with fused Adam: parameters, gradients
-- and state are 4 P. Half copies do not make any of them smaller.
local WIDE, FEW = 1024, 16
local PARAMETERS = 4 * (bytes.linear(WIDE, WIDE) + bytes.linear(WIDE, 10))

local function full(body) return body() end
local function autocast(dtype)
  return function(body) return ohm.autocast("cuda", {dtype = dtype}, body) end
end

local function train(device, mode, options)
  local depth, width, batch = DEPTH, WIDTH, BATCH
  if options.wide then depth, width, batch = 1, WIDE, FEW end
  local net = nets.deep(depth, width, device)
  local optimizer = options.wide and ohm.optim.Adam(net:parameters(), {fused = not options.foreach})
    or ohm.optim.SGD(net:parameters(), {lr = 0.01})
  local scaler = ohm.amp.GradScaler({enabled = options.scaled or false, init_scale = 1024})
  local x, y = nets.batch(batch, width, device)
  local change, loss = nets.change_of(net[#net].weight), nil
  for _ = 1, 2 do
    optimizer:zero_grad()
    loss = mode(function() return F.cross_entropy(net(x), y) end)
    scaler:scale(loss):backward()
    scaler:step(optimizer)
    scaler:update()
    ohm.step()
  end
  return {loss = loss:item(), change = change():norm()}
end

-- O2, or Keras' mixed_float16: a half net, and float32 master weights that the optimizer updates.
local function master_weights(device)
  local net = nets.deep(DEPTH, WIDTH, device)
  local masters, SCALE = {}, 1024
  for i, p in ipairs(net:parameters()) do masters[i] = p:detach():clone() end
  net:half()
  local optimizer = ohm.optim.SGD(masters, {lr = 0.01})
  local x, y = nets.batch(BATCH, WIDTH, device)
  x = x:half()
  local change, loss = nets.change_of(masters[#masters - 1]), nil -- of the head's weight
  for _ = 1, 2 do
    loss = F.cross_entropy(net(x):float(), y)
    local scaled = loss * SCALE
    scaled:backward()
    for i, p in ipairs(net:parameters()) do
      masters[i].grad = p.grad:float() / SCALE
      p.grad = nil
    end
    optimizer:step()
    ohm.no_grad(function()
      for i, p in ipairs(net:parameters()) do p:copy_(masters[i]) end
    end)
    for _, master in ipairs(masters) do master.grad = nil end
    ohm.step()
  end
  -- What the masters lose in half precision is too little to be seen in a loss. Without values the
  -- distance is no number.
  for i, p in ipairs(net:parameters()) do
    local distance = (p:detach():cpu() - masters[i]:cpu():half()):abs():max():item()
    assert(distance == 0 or distance ~= distance, "a parameter is not its master's")
  end
  return {loss = loss:item(), change = change():norm()}
end

-- Float32 first, then autocast, in one process: what nvidia-smi shows after each, and the peaks.
local function what_smi_shows(device)
  local function after(mode)
    ohm.cuda.reset_peak_memory_stats()
    train(device, mode, {})
    return ohm.smi {query_gpu = "memory.used", format = "csv,noheader,nounits"},
           ohm.cuda.max_memory_allocated()
  end
  local used, peak = after(full)
  local used_by_autocast, peak_of_autocast = after(autocast("bfloat16"))
  return {same_in_smi = used == used_by_autocast, lower_peak = peak_of_autocast < peak}
end

local function deep(mode, options)
  return {
    of = "deep_float32", compare_as = options.compare_as,
    run = function(d) return train(d, mode, options) end,
  }
end

return ohm.scenario {
  name = "mixed_precision",
  summary = "Half precision halves activations, but not parameters and optimizer state",
  gpu = {profile = "tiny-64m", values = true},

  problems = {
    deep_float32 = {
      limits = {bytes.at_most("peak_allocated_bytes", HALVED)},
      run = function(d) return train(d, full, {}) end,
    },
    parameters = {
      limits = {bytes.at_most("peak_allocated_bytes", PARAMETERS)},
      run = function(d) return train(d, full, {wide = true}) end,
    },
  },
  mitigations = {
    autocast_and_scaler = deep(autocast("float16"), {scaled = true, compare_as = "float16"}),
    bfloat16_autocast = deep(autocast("bfloat16"), {compare_as = "bfloat16"}),
    master_weights = {
      of = "deep_float32", compare_as = "float16", run = master_weights,
    },
  },
  non_fixes = {
    autocast_of_parameters = {
      of = "parameters", compare_as = "bfloat16",
      run = function(d) return train(d, autocast("bfloat16"), {wide = true}) end,
    },
    autocast_with_foreach_adam = {
      of = "parameters", compare_as = "bfloat16",
      run = function(d) return train(d, autocast("bfloat16"), {wide = true, foreach = true}) end,
    },
  },
  checks = {
    smi_does_not_show_autocast = {
      returns = {same_in_smi = true, lower_peak = true}, run = what_smi_shows,
    },
  },
}
