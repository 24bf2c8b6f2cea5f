-- What cuDNN takes beside operands and results, which on a virtual GPU is nothing, modelled as far
-- as PyTorch decides it. With `benchmark` the first convolution of a shape tries the algorithms:
-- PyTorch allocates the largest of their workspaces that fits into free memory, runs them, and
-- empties its cache. Here there are two: one without a workspace, which wins, and one that unfolds
-- the batch.
local nn = ohm.nn

-- workspace_limit: what CUDNN_CONV_WSCAP_DBG is, in bytes.
local cudnn = {benchmark = false, workspace_limit = math.huge}
local known = {}

local function try_algorithms(x, size)
  local free = ohm.cuda.mem_get_info()
  local unfolded = x:numel() * size * size * x:element_size()
  if unfolded <= math.min(free, cudnn.workspace_limit) then
    local workspace = ohm.empty(unfolded, {dtype = "uint8", device = x.device})
    workspace = nil -- luacheck: ignore
  end
  ohm.cuda.empty_cache()
end

function cudnn.Conv2d(inputs, outputs, size, options)
  return nn.Module {
    conv = nn.Conv2d(inputs, outputs, size, options),
    forward = function(self, x)
      local shape = table.concat({inputs, outputs, size, table.unpack(x.shape)}, "x")
      if cudnn.benchmark and not known[shape] then
        known[shape] = true
        try_algorithms(x, size)
      end
      return self.conv(x)
    end,
  }
end

return cudnn
