-- Written by tests/comparisons/translate_programs.py: do not edit.

--== check_hopper
local model, inputs, outputs
model = nn.Linear(10000, 50000, {device = "cuda"})
do
  local mode1 <close> = ohm.no_grad()
  for _ = 0, 2 do
    inputs = ohm.randn(5000, 10000, {device = "cuda"})
    outputs = model(inputs)
    mark("iteration")
  end
end
mark("end of program (globals alive)")
model = nil
inputs = nil
outputs = nil
mark("globals deleted")
