-- LoRA: a frozen linear layer with a trained update of low rank beside it.
local nn = ohm.nn

local LoraLinear = nn.Module:extend("LoraLinear")

function LoraLinear:__init(base, rank, alpha)
  local outputs, inputs = base.weight:size(0), base.weight:size(1)
  local place = {bias = false, device = base.weight.device, dtype = base.weight.dtype}
  self.base = base
  self.lora_A, self.lora_B = nn.Linear(inputs, rank, place), nn.Linear(rank, outputs, place)
  self.scaling = alpha / rank
  ohm.no_grad(function() self.lora_B.weight:zero_() end)
end

function LoraLinear:forward(x)
  return self.base(x) + self.lora_B(self.lora_A(x)) * self.scaling
end

-- Freezes `model` and puts an adapter around the layers that `names` lists, wherever they are
-- ("q_proj", "v_proj"): lora(model, {"q_proj", "v_proj"}, {rank = 8, alpha = 16}).
return function(model, names, options)
  local wanted = {}
  for _, name in ipairs(names) do wanted[name] = true end
  for _, parameter in ipairs(model:parameters()) do parameter.requires_grad = false end
  local places = {}
  for path, module in model:named_modules() do
    for name, child in module:named_children() do
      if wanted[name] then places[#places + 1] = {module, name, child, path} end
    end
  end
  for _, place in ipairs(places) do
    place[1][place[2]] = LoraLinear(place[3], options.rank, options.alpha or options.rank)
  end
  return model
end
