local model, optimizer, x, y, side, graph, loss, static_loss, accuracy
model = nn.Sequential(
  nn.Linear(64, 256), nn.LayerNorm(256), nn.GELU(), nn.Dropout(0.1), nn.Linear(256, 10)
):to("cuda")
optimizer = ohm.optim.Adam(model:parameters(), {lr = 1e-3, capturable = true})
x = ohm.randn(128, 64, {device = "cuda"})
y = ohm.randint(0, 10, {128}, {device = "cuda"})
mark("model")

side = ohm.cuda.Stream()
side:wait_stream(ohm.cuda.current_stream())
ohm.cuda.stream(side, function()
  for _ = 1, 3 do
    optimizer:zero_grad({set_to_none = true})
    loss = F.cross_entropy(model(x), y)
    loss:backward()
    optimizer:step()
  end
end)
ohm.cuda.current_stream():wait_stream(side)
loss = nil
mark("warm")

graph = ohm.cuda.CUDAGraph()
optimizer:zero_grad({set_to_none = true})
ohm.cuda.graph(graph, function()
  static_loss = F.cross_entropy(model(x), y)
  static_loss:backward()
  optimizer:step()
end)
mark("captured")

for step = 0, 2 do
  local batch = ohm.randn(128, 64)
  x:copy_(batch)
  y:copy_(ohm.randint(0, 10, {128}))
  graph:replay()
  mark("step " .. step)
end

ohm.no_grad(function()
  accuracy = model(x):argmax(1):eq(y):float():mean()
end)
mark("evaluated")
static_loss = nil
graph:reset()
mark("reset")
optimizer:zero_grad({set_to_none = true})
ohm.cuda.empty_cache()
mark("emptied")
mark("end of program (globals alive)")
model = nil
optimizer = nil
x = nil
y = nil
side = nil
graph = nil
accuracy = nil
mark("globals deleted")
