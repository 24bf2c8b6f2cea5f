-- Symptom: "inf", "nan", or a network that does not learn, as soon as half precision is on.
--
-- float16 overflows above 65,504 and underflows below 6e-8. The area of a box of 300 x 300 pixels
-- is 90,000: inf. A gradient of 1e-9 is 0. The running variance of a BatchNorm of wide activations
-- is inf, and its output 0. What to do: compute what may leave the range in float32 (as autocast
-- does for some ops), or bring it into range: normalised coordinates, scaled losses, bfloat16.
--
-- Chapter: precision
-- PyTorch:
--     with torch.autocast("cuda"):
--         out = model(x)
--     union = area(a.float()) + area(b.float()) - overlap.float()
-- Keras: tf.keras.mixed_precision.set_global_policy("mixed_float16"): its loss is scaled by a
--   LossScaleOptimizer.

local nn, F = ohm.nn, ohm.nn.functional
local HALF, BFLOAT, FULL = ohm.float16, ohm.bfloat16, ohm.float32

-- (a) Intersection over union of boxes {x1, y1, x2, y2} in pixels. Each box comes with features, so
-- most of the memory is the detector's and must stay half.
local BOXES = {{0, 0, 300, 300}, {0, 0, 300, 300}, {0, 0, 60, 40}, {20, 20, 240, 220}}
local TRUTH = {{0, 0, 300, 290}, {100, 100, 200, 200}, {0, 0, 50, 40}, {0, 0, 200, 200}}
local REPEAT, FEATURES = 2000, 64

-- Width times height; 300 * 300 = 90,000 is inf in float16.
local function areas(boxes)
  local width = boxes:select(1, 2) - boxes:select(1, 0)
  local height = boxes:select(1, 3) - boxes:select(1, 1)
  return width * height
end

local function repeated(rows, device, dtype)
  return ohm.tensor(rows, {device = device, dtype = dtype}):unsqueeze(0)
    :expand({REPEAT, -1, -1}):reshape({-1, 4})
end

local function iou(device, dtype, area, prepare)
  local features = ohm.randn(REPEAT * #BOXES, FEATURES, {device = device, dtype = dtype})
  local boxes, truth = repeated(BOXES, device, dtype), repeated(TRUTH, device, dtype)
  if prepare then boxes, truth = prepare(boxes), prepare(truth) end
  local low = ohm.maximum(boxes:narrow(1, 0, 2), truth:narrow(1, 0, 2))
  local high = ohm.minimum(boxes:narrow(1, 2, 2), truth:narrow(1, 2, 2))
  local overlap = area(ohm.cat({low, ohm.maximum(high, low)}, 1))
  local result = overlap / (area(boxes) + area(truth) - overlap)
  return {iou = result:narrow(0, 0, #BOXES):clone(), features = features:sum():isfinite()}
end

-- (b) A net whose loss is small: the gradients of its activations are about 1e-9, below float16;
-- or large: they are about 1e5, above it.
local SMALL, LARGE = 1e-4, 1e10
local function gradients_of(device, train, factor)
  ohm.manual_seed(3)
  local net = nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 64)):to(device)
  local x, y = ohm.randn(256, 64, {device = device}), ohm.randn(256, 64, {device = device})
  train(net, function() return F.mse_loss(net(x), y) * factor end)
  return {gradient = net[1].weight.grad * (100 / factor)}
end

local function plain_step(dtype)
  return function(_, loss_of)
    local loss = dtype and ohm.autocast("cuda", {dtype = dtype}, loss_of) or loss_of()
    loss:backward()
  end
end

-- A scaler finds its scale: what is inf is skipped, and tried again with half of it.
local function scaled_step(init_scale)
  return function(net, loss_of)
    local scaler = ohm.amp.GradScaler({init_scale = init_scale})
    local optimizer = ohm.optim.SGD(net:parameters(), {lr = 0})
    repeat
      local skipped = scaler.skipped_steps
      optimizer:zero_grad()
      scaler:scale(ohm.autocast("cuda", {dtype = HALF}, loss_of)):backward()
      scaler:step(optimizer) -- unscales the gradients
      scaler:update()
    until scaler.skipped_steps == skipped
  end
end

-- A step whose scaled gradients overflow is skipped, and the scale halves.
local function skipped_step(device)
  local net = nn.Linear(8, 8):to(device)
  local before = net.weight:detach():clone()
  local scaler = ohm.amp.GradScaler({init_scale = 2.0 ^ 24, growth_interval = 2})
  local optimizer = ohm.optim.SGD(net:parameters(), {lr = 0.1})
  local function step()
    optimizer:zero_grad()
    local x = ohm.ones(8, 8, {device = device})
    scaler:scale(ohm.autocast("cuda", function() return (net(x) * 64):sum() end)):backward()
    scaler:step(optimizer)
    scaler:update()
  end
  local function change() return (net.weight - before):abs():max():item() end
  local function moved() return change() > 0 end
  step()
  local result = {scale_after_inf = scaler:get_scale(), moved_by_inf = moved()}
  for _ = 1, 30 do
    if moved() then break end
    step()
  end
  local good = scaler:get_scale()
  result.moved_by_the_first_good = change()
  step() -- the second good step in a row: the scale grows
  result.growth = scaler:get_scale() / good
  return result
end

-- (c) model:half() with a BatchNorm over activations of about 1,000: variance 1e6.
local function batch_norm(device, convert, call)
  ohm.manual_seed(4)
  local net = nn.Sequential(nn.Conv2d(3, 8, 3, {padding = 1}), nn.BatchNorm2d(8))
  local model = convert(net:to(device))
  local dtype = model[1].weight.dtype
  local x = (ohm.randn(8, 3, 32, 32, {device = device}) * 2000):to(dtype)
  local forward = call or function(m, input) return m(input) end
  forward(model, x) -- training: the running statistics move
  model:eval()
  return {out = ohm.no_grad(function() return forward(model, x) end)}
end

local function halve_all(model) return model:half() end
local function keep_norm(model)
  model:half()
  model[2]:float()
  return model
end
local function cast_around_norm(model, x) return model[2](model[1](x):float()):half() end

local function areas_in_float32(boxes) return areas(boxes:float()) end
local function clamped_areas(boxes) return areas(boxes):clamp({max = 65504}) end
-- log and exp are on autocast's float32 list.
local function areas_by_autocast(boxes)
  local sides = boxes:narrow(1, 2, 2) - boxes:narrow(1, 0, 2)
  return ohm.autocast("cuda", function() return sides:log():sum({dim = 1}):exp() end)
end
local function normalised(boxes) return boxes / 300 end

local MEMORY_GAIN = {"peak_allocated_bytes <= 0.6 * pixels_in_float32"}
local function half_iou(options)
  return {
    of = "pixels", reference = "pixels_in_float32", limits = MEMORY_GAIN,
    compare_as = options.compare_as,
    run = function(d)
      return iou(d, options.dtype or HALF, options.area or areas, options.prepare)
    end,
  }
end
local function small(train, dtype)
  return {
    of = "underflow", reference = "gradients_in_float32", compare_as = dtype,
    run = function(d) return gradients_of(d, train, SMALL) end,
  }
end
local function large(train, dtype)
  return {
    of = "overflow", reference = "large_gradients_in_float32", compare_as = dtype,
    run = function(d) return gradients_of(d, train, LARGE) end,
  }
end
local function norm(convert, call)
  return {
    of = "half_batch_norm", reference = "batch_norm_in_float32", compare_as = "float16",
    run = function(d) return batch_norm(d, convert, call) end,
  }
end

return ohm.scenario {
  name = "fp16_overflow",
  summary = "Half precision overflows at 65,504 and underflows below 6e-8",
  gpu = {profile = "tiny-64m", count = 1, values = true},
  limits = {"non_finite == 0", "error_vs_reference <= 0.02"},

  problems = {
    pixels = {
      reference = "pixels_in_float32",
      run = function(d) return iou(d, HALF, areas) end,
    },
    underflow = {
      reference = "gradients_in_float32",
      run = function(d) return gradients_of(d, plain_step(HALF), SMALL) end,
    },
    overflow = {
      reference = "large_gradients_in_float32",
      run = function(d) return gradients_of(d, plain_step(HALF), LARGE) end,
    },
    half_batch_norm = {
      reference = "batch_norm_in_float32",
      run = function(d) return batch_norm(d, halve_all) end,
    },
  },
  mitigations = {
    areas_in_float32 = half_iou {area = areas_in_float32},
    normalised_coordinates = half_iou {prepare = normalised, compare_as = "float16"},
    bfloat16 = half_iou {dtype = BFLOAT, compare_as = "bfloat16"},
    autocast_float32_list = half_iou {area = areas_by_autocast},
    grad_scaler = small(scaled_step(2.0 ^ 16), "float16"),
    bfloat16_autocast = small(plain_step(BFLOAT), "bfloat16"),
    scaler_that_halves = large(scaled_step(1.0), "float16"),
    bfloat16_autocast_of_large = large(plain_step(BFLOAT), "bfloat16"),
    norm_in_float32 = norm(keep_norm),
    casts_around_norm = norm(keep_norm, cast_around_norm),
  },
  non_fixes = {
    clamp_afterwards = {
      of = "pixels", reference = "pixels_in_float32",
      run = function(d) return iou(d, HALF, clamped_areas) end,
    },
  },
  checks = {
    inf_at_90000 = {
      limits = {"non_finite == 1"},
      run = function(d)
        return {area = areas(ohm.tensor({{0, 0, 300, 300}}, {device = d, dtype = HALF}))}
      end,
    },
    skipped_step = {
      returns = {scale_after_inf = 2.0 ^ 23, moved_by_inf = false, growth = 2.0,
                 moved_by_the_first_good = 0.1 * 64 * 8}, -- of 8 samples of ones
      run = skipped_step,
    },
  },
  references = {
    pixels_in_float32 = function(d) return iou(d, FULL, areas) end,
    gradients_in_float32 = function(d) return gradients_of(d, plain_step(), SMALL) end,
    large_gradients_in_float32 = function(d) return gradients_of(d, plain_step(), LARGE) end,
    batch_norm_in_float32 = function(d) return batch_norm(d, function(m) return m end) end,
  },
}
