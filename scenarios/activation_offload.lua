-- Symptom: "activations do not fit, and computing them twice takes too long."
--
-- Tensors saved for backward lie idle until backward needs them. What to do: keep them in host
-- memory (`save_on_cpu`) and fetch them back layer by layer; the price is two transfers over the
-- bus. Moving the output to the host moves nothing that its graph keeps.
--
-- Chapter: activations
-- PyTorch:
--     with torch.autograd.graph.save_on_cpu(pin_memory=True):
--         loss = loss_fn(model(x), y)
--     loss.backward()

local bytes, nets = require("bytes"), require("nets")
local F = ohm.nn.functional
local graph = ohm.autograd.graph

-- 8 blocks of width 128: a batch of 512 makes 256 KiB (A) a block, parameters are 64 KiB each.
local DEPTH, WIDTH, BATCH = 8, 128, 512
local A = bytes.float32(BATCH, WIDTH)
local P = nets.deep_bytes(DEPTH, WIDTH)
-- The peak is in the second layer's backward: parameters; gradients but for two biases, of the
-- first layer its weight fetched back instead; labels, loss and the root of backward; the batch,
-- what the first layer wrote, fetched back, and two gradients.
local ROOM = 2 * P - 2 * bytes.float32(WIDTH) + bytes.int64(BATCH) + 2 * bytes.scalar
  + (1 + 1 + 2) * A

local function train(device, forward)
  local net = nets.deep(DEPTH, WIDTH, device)
  local x, y = nets.batch(BATCH, WIDTH, device)
  local loss = forward(function() return F.cross_entropy(net(x), y) end, net, x, y)
  loss:backward()
  ohm.step()
  return {loss = loss, gradient = net[#net].weight.grad}
end

local function plainly(body) return body() end
local function output_on_cpu(_, net, x, y) return F.cross_entropy(net(x):cpu(), y:cpu()) end

-- Hooks of one's own: half as many bytes, rounded.
local function in_half_precision(body)
  return graph.saved_tensors_hooks(function(t)
    return t.is_cuda and t.dtype == "float32" and t:half():cpu() or t
  end, function(t)
    return t.dtype == "float16" and t:to("cuda:0"):float() or t
  end, body)
end

return ohm.scenario {
  name = "activation_offload",
  summary = "What backward needs later can wait in the host's memory",
  gpu = {profile = "tiny-64m", values = true},
  limits = {bytes.at_most("peak_allocated_bytes", ROOM)},

  problems = {kept_on_the_gpu = function(d) return train(d, plainly) end},
  mitigations = {
    save_on_cpu = function(d) return train(d, graph.save_on_cpu) end,
    save_on_cpu_pinned = {
      limits = {"pinned_host_bytes > 0"},
      run = function(d)
        return train(d, function(body) return graph.save_on_cpu({pin_memory = true}, body) end)
      end,
    },
    hooks_in_half_precision = {
      compare_as = "float16", run = function(d) return train(d, in_half_precision) end,
    },
  },
  non_fixes = {
    output_to_cpu = function(d) return train(d, output_on_cpu) end,
    empty_cache = function(d)
      return train(d, function(body)
        local loss = body()
        ohm.cuda.empty_cache()
        return loss
      end)
    end,
  },
}
