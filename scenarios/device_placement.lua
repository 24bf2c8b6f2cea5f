-- Symptom: "Expected all tensors to be on the same device", or a net that silently trains on the
-- CPU, or everything on GPU 0 although set_device was called.
--
-- `tensor:to(device)` returns a tensor, `module:to(device)` moves the module. `cuda()` without a
-- number is the current device. `new_*` makes tensors with the device and dtype of the tensor it is
-- called on. A result lives where its operands live. Nothing here is a leak: these are the rules.
--
-- Chapter: basics
-- PyTorch:
--     x = x.to(device)    # a tensor: assign the result
--     model.to(device)    # a module: moves in place

local nn = ohm.nn

local DEVICE_WHILE_LOADING = ohm.cuda.is_available() and "cuda:0" or "cpu"

local function where(tensor) return tensor.device .. " " .. tensor.dtype end

local function available(device_if_there_is_one)
  return ohm.cuda.is_available() and device_if_there_is_one or "cpu"
end

return ohm.scenario {
  name = "device_placement",
  summary = "Where tensors, modules and results live",
  gpu = {profile = "tiny-64m", count = 2, values = true},

  checks = {
    to_of_a_tensor_must_be_assigned = {
      returns = {left = "cpu float32", copy = "cuda:1 float32", assigned = "cuda:1 float32",
                 both = "cuda:0 float16"},
      run = function()
        local left, assigned = ohm.zeros(4), ohm.zeros(4)
        local copy = where(left:to("cuda:1"))
        assigned = assigned:to("cuda:1")
        return {left = where(left), copy = copy, assigned = where(assigned),
                both = where(left:to("cuda:0", ohm.float16))}
      end,
    },
    to_of_a_module_moves_it = {
      returns = {weight = "cuda:1 float32", buffer = "cuda:1 float32", half = "cuda:1 float16"},
      run = function()
        local net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        net:to("cuda:1")
        local places = {weight = where(net[1].weight), buffer = where(net[2].running_mean)}
        net:half()
        places.half = where(net[1].weight)
        return places
      end,
    },
    cuda_takes_a_number = {
      returns = {current = "cuda:0", first = "cuda:1", gpu = 1, back = "cpu"},
      run = function()
        local first = ohm.zeros(4):cuda(1)
        return {current = ohm.zeros(4):cuda().device, first = first.device,
                gpu = first:get_device(), back = first:cpu().device}
      end,
    },
    set_device_changes_the_current_one = {
      returns = {before = 0, after = 1, cuda = "cuda:1", new = "cuda:1"},
      run = function()
        local before = ohm.cuda.current_device()
        ohm.cuda.set_device(1)
        return {before = before, after = ohm.cuda.current_device(),
                cuda = ohm.zeros(4):cuda().device, new = ohm.zeros(4, {device = "cuda"}).device}
      end,
    },
    is_available_falls_back = {
      returns = {gpus = 2, device = "cuda:0", fallback = "cpu"},
      run = function()
        -- On a machine without GPUs `available` gives "cpu", as when a file is loaded.
        return {gpus = ohm.cuda.device_count(), device = available("cuda:0"),
                fallback = DEVICE_WHILE_LOADING}
      end,
    },
    new_tensors_follow_the_one_they_are_made_from = {
      returns = {ones = "cuda:1 float16", zeros = "cuda:1 float16", full = "cuda:1 float16",
                 tensor = "cuda:1 float16", empty = "cuda:1 float16", other = "cuda:0 int64",
                 like = "cuda:1 float16"},
      run = function()
        local t = ohm.zeros(4, {device = "cuda:1", dtype = ohm.float16})
        return {
          ones = where(t:new_ones(2)), zeros = where(t:new_zeros(2, 2)),
          full = where(t:new_full({2}, 7)), tensor = where(t:new_tensor({1, 2})),
          empty = where(t:new_empty(3)), like = where(ohm.ones_like(t)),
          other = where(t:new_ones({2}, {device = "cuda:0", dtype = "int64"})),
        }
      end,
    },
    result_lives_where_its_operands_do = {
      returns = {sum = "cuda:1", product = "cuda:1", narrow = "float16", wider = "float32"},
      run = function()
        local a = ohm.ones(4, 4, {device = "cuda:1"})
        local half = ohm.ones(4, 4, {device = "cuda:1", dtype = ohm.float16})
        return {sum = (a + a).device, product = ohm.matmul(a, a).device,
                narrow = (half + half).dtype, wider = (a + half).dtype}
      end,
    },
    operands_on_two_devices = {
      raises = "cuda:0 and cuda:1",
      run = function()
        return ohm.ones(4, {device = "cuda:0"}) + ohm.ones(4, {device = "cuda:1"})
      end,
    },
    module_here_input_there = {
      raises = "cuda:0",
      run = function() return nn.Linear(4, 4):cuda(0)(ohm.ones(2, 4)) end,
    },
    no_such_gpu = {
      raises = "cuda:2",
      run = function() return ohm.zeros(4, {device = "cuda:2"}) end,
    },
  },
}
