-- Symptom: "at 224 pixels it trains, at 448 it is out of memory."
--
-- Twice the resolution is four times the pixels: the input and every activation of a convolution
-- grow with them, parameters do not. And an image read as float32 is four times its bytes. What to
-- do: train on crops; keep images as uint8 until the forward pass that needs them, so that what is
-- queued on the device is a quarter.
--
-- Chapter: basics
-- PyTorch:
--     x = images.to(device).float() / 255    # uint8 until here

local bytes = require("bytes")
local nn, F = ohm.nn, ohm.nn.functional

-- (a) Four images of 3 x 96 x 96 through a small convolutional net. It keeps the images, and two
-- results of 8 channels (ReLU's, which the next convolution and the pool read); backward holds two
-- gradients of such a result. Crops of half the side are to fit: a quarter of all that.
local BATCH, CHANNELS, SIDE = 4, 8, 96
local function activations(side)
  return bytes.float32(BATCH, 3, side, side) + 4 * bytes.float32(BATCH, CHANNELS, side, side)
end
local PARAMETERS = bytes.float32(CHANNELS, 3, 3, 3) + bytes.float32(CHANNELS, CHANNELS, 3, 3)
  + bytes.float32(10, CHANNELS) + 3 * bytes.scalar
-- The head's two gradients, the loss and the root of backward: no other gradient is there yet.
local HEAD = bytes.float32(10, CHANNELS) + 3 * bytes.scalar

local function new_net(device)
  ohm.manual_seed(1)
  return nn.Sequential(nn.Conv2d(3, CHANNELS, 3, {padding = 1}), nn.ReLU(),
                       nn.Conv2d(CHANNELS, CHANNELS, 3, {padding = 1}), nn.ReLU(),
                       nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(CHANNELS, 10)):to(device)
end

local function train(device, side)
  local net = new_net(device)
  ohm.manual_seed(2)
  local images = ohm.randint(256, {BATCH, 3, SIDE, SIDE}, {dtype = "uint8"})
  local first = (SIDE - side) // 2
  local crop = images:narrow(2, first, side):narrow(3, first, side):contiguous()
  local x = crop:to(device):float() / 255
  local loss = F.cross_entropy(net(x), ohm.arange(BATCH, {device = device}))
  loss:backward()
  ohm.step()
  return {loss = loss, gradient = net[1].weight.grad:cpu(), samples_seen = x:size(0)}
end

-- (b) Eight batches wait on the device for their turn.
local QUEUED, ROWS, PIXELS = 8, 16, 3 * 64 * 64
-- Eight in bytes, the one whose turn it is in float32, twice: before and after division by 255.
local QUEUE = QUEUED * bytes.uint8(ROWS, PIXELS) + 2 * bytes.float32(ROWS, PIXELS)

local function prefetch(device, load, read)
  local queue, mean = {}, 0
  for i = 1, QUEUED do
    ohm.manual_seed(i)
    queue[i] = load(ohm.randint(256, {ROWS, PIXELS}, {dtype = "uint8"})):to(device)
  end
  for i = 1, QUEUED do
    mean = mean + read(queue[i]):mean():item()
    ohm.step()
  end
  return {mean = mean / QUEUED}
end
local function as_it_is(images) return images end
local function normalised(images) return images:float() / 255 end

return ohm.scenario {
  name = "input_size",
  summary = "Activations grow with the pixels, queued inputs with their dtype",
  gpu = {profile = "tiny-64m", values = true},

  problems = {
    full_resolution = {
      limits = {bytes.at_most("peak_allocated_bytes",
                              PARAMETERS + activations(SIDE // 2) + HEAD)},
      run = function(d) return train(d, SIDE) end,
    },
    queued_in_float32 = {
      limits = {bytes.at_most("peak_allocated_bytes", QUEUE)},
      run = function(d) return prefetch(d, normalised, as_it_is) end,
    },
  },
  mitigations = {
    crops_of_half_the_side = {
      of = "full_resolution", trades = "what the net sees",
      must_agree = {"samples_seen", "finite"},
      run = function(d) return train(d, SIDE // 2) end,
    },
    uint8_until_its_turn = {
      of = "queued_in_float32", run = function(d) return prefetch(d, as_it_is, normalised) end,
    },
  },
  partials = {
    crops_of_three_quarters = {
      of = "full_resolution", trades = "what the net sees",
      must_agree = {"samples_seen", "finite"},
      run = function(d) return train(d, SIDE * 3 // 4) end,
    },
    queued_in_float16 = {
      of = "queued_in_float32", compare_as = "float16",
      run = function(d)
        return prefetch(d, function(images) return normalised(images):half() end,
                        function(images) return images:float() end)
      end,
    },
  },
}
