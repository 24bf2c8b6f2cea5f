-- Symptom: "the network is small, and the GPU is full before the first forward pass."
--
-- Every line of preprocessing makes a tensor as large as the batch, in float32: decoded, scaled,
-- shifted, flipped. On the GPU they are as many temporaries, of which two live at any moment,
-- beside the raw images. What to do: preprocess on the CPU and move what the net reads, in the
-- smallest dtype that will do.
--
-- Chapter: leaks
-- PyTorch:
--     x = augment(image).to(device)    # augment on the CPU, in the DataLoader's workers

local bytes = require("bytes")

-- 16 images of 3 x 64 x 64.
local SHAPE = {16, 3, 64, 64}
local RAW, READY = bytes.uint8(table.unpack(SHAPE)), bytes.float32(table.unpack(SHAPE))
-- The net reads one float32 batch. There is room for it and for the raw one, not for temporaries.
local ROOM = RAW + READY + bytes.scalar -- and for the last result

local function raw_images()
  ohm.manual_seed(1)
  return ohm.randint(256, SHAPE, {dtype = "uint8"})
end

local function preprocess(images)
  local x = images:float()
  x = x / 255
  x = x - 0.5
  return x:flip({3})
end

-- What the net would do: here, one number for each image.
local function net(x) return x:mean({1, 2, 3}) end

local function use(device, prepare)
  local out
  for _ = 1, 3 do
    out = net(prepare(raw_images(), device))
    ohm.step()
  end
  return {out = out}
end

local function on_gpu(images, device) return preprocess(images:to(device)) end
-- Whatever is in place, flip is not: bytes that wait, and float32 twice.
local function on_gpu_in_place(images, device)
  return images:to(device):float():div_(255):sub_(0.5):flip({3})
end
local function on_cpu(images, device) return preprocess(images):to(device) end
-- Flipped bytes are bytes: they are moved as such, and made float32 where the net reads them.
local function bytes_on_cpu(images, device)
  return images:flip({3}):to(device):float():div_(255):sub_(0.5)
end
local function on_gpu_and_empty_cache(images, device)
  local x = on_gpu(images, device)
  ohm.cuda.empty_cache()
  return x
end

return ohm.scenario {
  name = "preprocessing_on_gpu",
  summary = "Preprocessing on the GPU holds the batch several times over",
  gpu = {profile = "tiny-64m", values = true},
  limits = {bytes.at_most("peak_allocated_bytes", ROOM)},

  problems = {on_gpu = function(d) return use(d, on_gpu) end},
  mitigations = {
    on_cpu = function(d) return use(d, on_cpu) end,
    smallest_dtype = function(d) return use(d, bytes_on_cpu) end,
  },
  partials = {
    in_place_on_gpu = function(d) return use(d, on_gpu_in_place) end,
  },
  non_fixes = {empty_cache = function(d) return use(d, on_gpu_and_empty_cache) end},
}
