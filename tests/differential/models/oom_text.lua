local model, kept, text, x, out
ohm.cuda.set_per_process_memory_fraction(0.02)
model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 10)):cuda()
mark("model")
for step = 0, 11 do
  local is_done, problem = pcall(function()
    x = ohm.randn(20000 * (step + 1), 1000, {device = "cuda"})
    out = model(x)
    out:sum():backward()
  end)
  if not is_done then
    text = tostring(problem)
    problem = nil
    mark(text)
    x = nil
    out = nil
    model:zero_grad({set_to_none = true})
    ohm.cuda.empty_cache()
    ohm.cuda.reset_peak_memory_stats()
  end
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
x = nil
out = nil
mark("globals deleted")
