local seen, report, model, optimizer, x, out, loss, reserved, big, small, y
seen = {}
function report(label)
  local stats, allocated, text, free, total
  stats = ohm.cuda.memory_stats()
  allocated = ohm.cuda.memory_allocated()
  seen[#seen + 1] = {stats["allocated_bytes.all.peak"], stats["num_alloc_retries"], allocated}
  text = ohm.cuda.memory_summary({abbreviated = true})
  free, total = ohm.cuda.mem_get_info()
  mark(label)
end
model = nn.Sequential(nn.Linear(333, 1111), nn.GELU(), nn.Linear(1111, 777), nn.LayerNorm(777), nn.Linear(777, 3)):cuda()
optimizer = ohm.optim.Adam(model:parameters())
report("model")
for step = 0, 2 - 1 do
  ohm.cuda.reset_peak_memory_stats()
  x = ohm.randn(301, 333, {device = "cuda"})
  out = model(x)
  report("forward " .. step)
  loss = out:square():mean()
  loss:backward()
  report("backward " .. step)
  optimizer:step()
  optimizer:zero_grad({set_to_none = step == 0})
  report("step " .. step)
end
out = nil
loss = nil
ohm.cuda.empty_cache()
report("emptied")
reserved = ohm.cuda.memory_reserved() - ohm.cuda.memory_allocated()
big = ohm.empty(5, 1000, 1000, {device = "cuda"})
small = collect(7, function(i) return ohm.empty((100 * i) + 1, {device = "cuda"}) end)
report("filled")
big = nil
for i = 5, 3, -1 do table.remove(small, i); sweep() end
ohm.cuda.empty_cache()
report("holes")
x = slice(x, 0, 0, 100)
ohm.cuda.empty_cache()
report("slice keeps all")
x = x:clone()
ohm.cuda.synchronize()
ohm.cuda.empty_cache()
report("clone")
model:cpu()
optimizer.state = {}
ohm.cuda.empty_cache()
report("model on the host")
model:half():cuda()
y = model(x:half())
report("half")
mark("end of program (globals alive)")
seen = nil
model = nil
optimizer = nil
x = nil
reserved = nil
small = nil
y = nil
mark("globals deleted")
