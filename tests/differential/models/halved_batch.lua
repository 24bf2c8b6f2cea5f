local Wide, train_step, model, optimizer, batch, steps, failed, loss
ohm.cuda.set_per_process_memory_fraction(0.003)
Wide = nn.Module:extend("Wide")
function Wide:__init()
  self.fc1 = nn.Linear(512, 2048)
  self.fc2 = nn.Linear(2048, 2048)
  self.fc3 = nn.Linear(2048, 16)
  self.norm = nn.LayerNorm(2048)
end
function Wide:forward(x)
  local h
  h = F.gelu(self.fc1(x))
  h = self.norm(h + F.gelu(self.fc2(h)))
  return self.fc3(h)
end
function train_step(model, optimizer, batch)
  local x, y, loss
  x = ohm.randn(batch, 512, {device = "cuda"})
  y = ohm.randint(0, 16, {batch}, {device = "cuda"})
  optimizer:zero_grad({set_to_none = true})
  loss = F.cross_entropy(model(x), y)
  loss:backward()
  optimizer:step()
  return loss:detach()
end
model = Wide():cuda()
optimizer = ohm.optim.AdamW(model:parameters(), {lr = 0.001})
mark("model")
loss = train_step(model, optimizer, 16)
mark("warm")
batch = 4096
steps = 0
failed = 0
while steps < 3 do
  local is_done, problem = pcall(function()
    loss = train_step(model, optimizer, batch)
  end)
  if is_done then
    steps = steps + 1
    mark("step " .. steps .. " of " .. batch)
  else
    assert(tostring(problem):find("out of memory"), tostring(problem))
    problem = nil
    failed = failed + 1
    optimizer:zero_grad({set_to_none = true})
    batch = batch // 2
    mark("failed " .. failed)
    ohm.gc.collect()
    ohm.cuda.empty_cache()
    mark("emptied " .. failed)
  end
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss = nil
mark("globals deleted")
