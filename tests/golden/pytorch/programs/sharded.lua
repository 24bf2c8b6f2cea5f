-- Written by tests/differential/sharded.py from tests/differential/sharded: do not edit.

--== sharded_async_collectives gpus=2
-- x = torch.randn(1000, 1000, device="cuda")
-- work = dist.all_reduce(x, async_op=True)
-- mark("all_reduce")
-- del x
-- mark("x is gone")
-- work.wait()
-- mark("waited")
-- del work
-- mark("all_reduce is over")
-- x = torch.randn(1000, 1000, device="cuda")
-- work = dist.broadcast(x, 0, async_op=True)
-- work.wait()
-- del work
-- work = dist.reduce(x, 0, async_op=True)
-- del x
-- work.wait()
-- del work
-- mark("broadcast and reduce")
-- x = torch.randn(1000, 1000, device="cuda")
-- y = torch.empty(2000, 1000, device="cuda")
-- work = dist.all_gather_into_tensor(y, x, async_op=True)
-- mark("all_gather_into_tensor")
-- del x
-- mark("x is gone")
-- work.wait()
-- mark("waited")
-- del y
-- mark("y is gone")
-- del work
-- x = torch.randn(1000, 1000, device="cuda")
-- y = torch.randn(2000, 1000, device="cuda")
-- work = dist.reduce_scatter_tensor(x, y, async_op=True)
-- mark("reduce_scatter_tensor")
-- del y
-- mark("y is gone")
-- work.wait()
-- mark("waited")
-- del x
-- mark("x is gone")
-- del work
-- x = torch.randn(1000, 1000, device="cuda")
-- y = torch.randn(1000, 1000, device="cuda")
-- work = dist.all_to_all_single(y, x, [400, 600], [400, 600], async_op=True)
-- mark("all_to_all_single")
-- del x
-- del y
-- mark("both are gone")
-- work.wait()
-- mark("waited")
-- del work
-- mark("all_to_all_single is over")
-- x = torch.randn(1000, 1000, device="cuda")
-- first = torch.empty(1000, 1000, device="cuda")
-- second = torch.empty(1000, 1000, device="cuda")
-- work = dist.gather(x, [first, second], async_op=True)
-- mark("gather")
-- del x, first, second
-- mark("all are gone")
-- work.wait()
-- mark("waited")
-- del work
-- mark("gather is over")
-- x = torch.randn(1000, 1000, device="cuda")
-- first = torch.empty(1000, 1000, device="cuda")
-- second = torch.empty(1000, 1000, device="cuda")
-- work = dist.scatter(x, [first, second], async_op=True)
-- mark("scatter")
-- del x, first, second
-- mark("all are gone")
-- work.wait()
-- mark("waited")
-- del work
-- mark("scatter is over")
-- x = torch.randn(1000, 1000, device="cuda")
-- work = dist.gather(x, dst=1, async_op=True)
-- del x
-- mark("to the other rank")
-- work.wait()
-- del work
-- x = torch.randn(1000, 1000, device="cuda")
-- work = dist.scatter(x, src=1, async_op=True)
-- del x
-- mark("from the other rank")
-- work.wait()
-- del work
-- x = torch.randn(1000, 1000, device="cuda")
-- mark("all is over")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local model, opt, x, y, out, loss
  local dist = ohm.distributed
  local work, first, second
  x = ohm.randn(1000, 1000, {device = "cuda"})
  work = dist.all_reduce(x, {async_op = true})
  mark("all_reduce")
  x = nil; sweep()
  mark("x is gone")
  work:wait()
  mark("waited")
  work = nil; sweep()
  mark("all_reduce is over")
  x = ohm.randn(1000, 1000, {device = "cuda"})
  work = dist.broadcast(x, 0, {async_op = true})
  work:wait()
  work = nil; sweep()
  work = dist.reduce(x, 0, {async_op = true})
  x = nil; sweep()
  work:wait()
  work = nil; sweep()
  mark("broadcast and reduce")
  x = ohm.randn(1000, 1000, {device = "cuda"})
  y = ohm.empty(2000, 1000, {device = "cuda"})
  work = dist.all_gather_into_tensor(y, x, {async_op = true})
  mark("all_gather_into_tensor")
  x = nil; sweep()
  mark("x is gone")
  work:wait()
  mark("waited")
  y = nil; sweep()
  mark("y is gone")
  work = nil; sweep()
  x = ohm.randn(1000, 1000, {device = "cuda"})
  y = ohm.randn(2000, 1000, {device = "cuda"})
  work = dist.reduce_scatter_tensor(x, y, {async_op = true})
  mark("reduce_scatter_tensor")
  y = nil; sweep()
  mark("y is gone")
  work:wait()
  mark("waited")
  x = nil; sweep()
  mark("x is gone")
  work = nil; sweep()
  x = ohm.randn(1000, 1000, {device = "cuda"})
  y = ohm.randn(1000, 1000, {device = "cuda"})
  local splits = rank == 0 and {400, 600} or {600, 400}
  work = dist.all_to_all_single(y, x, splits, splits, {async_op = true})
  mark("all_to_all_single")
  x = nil; sweep()
  y = nil; sweep()
  mark("both are gone")
  work:wait()
  mark("waited")
  work = nil; sweep()
  mark("all_to_all_single is over")
  x = ohm.randn(1000, 1000, {device = "cuda"})
  first = ohm.empty(1000, 1000, {device = "cuda"})
  second = ohm.empty(1000, 1000, {device = "cuda"})
  work = dist.gather(x, rank == 0 and {first, second} or nil, {async_op = true})
  mark("gather")
  x = nil; sweep()
  first = nil; sweep()
  second = nil; sweep()
  mark("all are gone")
  work:wait()
  mark("waited")
  work = nil; sweep()
  mark("gather is over")
  x = ohm.randn(1000, 1000, {device = "cuda"})
  first = ohm.empty(1000, 1000, {device = "cuda"})
  second = ohm.empty(1000, 1000, {device = "cuda"})
  work = dist.scatter(x, rank == 0 and {first, second} or nil, {async_op = true})
  mark("scatter")
  x = nil; sweep()
  first = nil; sweep()
  second = nil; sweep()
  mark("all are gone")
  work:wait()
  mark("waited")
  work = nil; sweep()
  mark("scatter is over")
  x = ohm.randn(1000, 1000, {device = "cuda"})
  if rank == 1 then y = {ohm.empty_like(x), ohm.empty_like(x)} end
  work = dist.gather(x, y, {dst = 1, async_op = true})
  x = nil; sweep()
  mark("to the other rank")
  work:wait()
  work = nil; sweep()
  x = ohm.randn(1000, 1000, {device = "cuda"})
  work = dist.scatter(x, y, {src = 1, async_op = true})
  x = nil; sweep()
  mark("from the other rank")
  work:wait()
  work = nil; sweep()
  x = ohm.randn(1000, 1000, {device = "cuda"})
  mark("all is over")
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_async_lists gpus=2
-- x = torch.randn(1000, 1000, device="cuda")
-- first = torch.empty(1000, 1000, device="cuda")
-- second = torch.empty(1000, 1000, device="cuda")
-- work = dist.all_gather([first, second], x, async_op=True)
-- mark("all_gather")
-- del x, first, second
-- mark("all are gone")
-- work.wait()
-- mark("waited")
-- del work
-- x = torch.randn(1000, 1000, device="cuda")
-- first = torch.randn(1000, 1000, device="cuda")
-- second = torch.randn(1000, 1000, device="cuda")
-- work = dist.reduce_scatter(x, [first, second], async_op=True)
-- mark("reduce_scatter")
-- del x, first, second
-- mark("all are gone")
-- work.wait()
-- mark("waited")
-- del work
-- x = torch.randn(1000, 1000, device="cuda")
-- y = torch.randn(1000, 1000, device="cuda")
-- first = torch.randn(1000, 1000, device="cuda")
-- second = torch.randn(1000, 1000, device="cuda")
-- work = dist.all_to_all([x, y], [first, second], async_op=True)
-- mark("all_to_all")
-- del x, y, first, second
-- mark("all are gone")
-- work.wait()
-- mark("waited")
-- del work
-- x = torch.randn(1000, 1000, device="cuda")
-- first = torch.randn(1000, 1000, device="cuda")
-- second = torch.randn(500, 1000, device="cuda")
-- work = dist.all_gather([first, second], x, async_op=True)
-- mark("all_gather of other sizes")
-- del x, first, second
-- mark("all are gone")
-- work.wait()
-- mark("waited")
-- del work
-- x = torch.randn(1000, 1000, device="cuda")
-- first = torch.randn(1000, 1000, device="cuda")
-- second = torch.randn(500, 1000, device="cuda")
-- work = dist.reduce_scatter(x, [first, second], async_op=True)
-- mark("reduce_scatter of other sizes")
-- del x, first, second
-- mark("all are gone")
-- work.wait()
-- mark("waited")
-- del work
-- x = torch.randn(1000, 1000, device="cuda")
-- mark("all is over")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local model, opt, x, y, out, loss
  local dist = ohm.distributed
  local work, first, second, own
  local function drop_all()
    own = nil
    x = nil; sweep()
    y = nil; sweep()
    first = nil; sweep()
    second = nil; sweep()
  end
  x = ohm.randn(1000, 1000, {device = "cuda"})
  first = ohm.empty(1000, 1000, {device = "cuda"})
  second = ohm.empty(1000, 1000, {device = "cuda"})
  work = dist.all_gather({first, second}, x, {async_op = true})
  mark("all_gather")
  drop_all()
  mark("all are gone")
  work:wait()
  mark("waited")
  work = nil; sweep()
  x = ohm.randn(1000, 1000, {device = "cuda"})
  first = ohm.randn(1000, 1000, {device = "cuda"})
  second = ohm.randn(1000, 1000, {device = "cuda"})
  work = dist.reduce_scatter(x, {first, second}, {async_op = true})
  mark("reduce_scatter")
  drop_all()
  mark("all are gone")
  work:wait()
  mark("waited")
  work = nil; sweep()
  x = ohm.randn(1000, 1000, {device = "cuda"})
  y = ohm.randn(1000, 1000, {device = "cuda"})
  first = ohm.randn(1000, 1000, {device = "cuda"})
  second = ohm.randn(1000, 1000, {device = "cuda"})
  work = dist.all_to_all({x, y}, {first, second}, {async_op = true})
  mark("all_to_all")
  drop_all()
  mark("all are gone")
  work:wait()
  mark("waited")
  work = nil; sweep()
  x = ohm.randn(1000, 1000, {device = "cuda"})
  first = ohm.randn(1000, 1000, {device = "cuda"})
  second = ohm.randn(500, 1000, {device = "cuda"})
  own = rank == 0 and x or ohm.randn(500, 1000, {device = "cuda"})
  work = dist.all_gather({first, second}, own, {async_op = true})
  mark("all_gather of other sizes")
  drop_all()
  mark("all are gone")
  work:wait()
  mark("waited")
  work = nil; sweep()
  x = ohm.randn(1000, 1000, {device = "cuda"})
  first = ohm.randn(1000, 1000, {device = "cuda"})
  second = ohm.randn(500, 1000, {device = "cuda"})
  own = rank == 0 and x or ohm.randn(500, 1000, {device = "cuda"})
  work = dist.reduce_scatter(own, {first, second}, {async_op = true})
  mark("reduce_scatter of other sizes")
  drop_all()
  mark("all are gone")
  work:wait()
  mark("waited")
  work = nil; sweep()
  x = ohm.randn(1000, 1000, {device = "cuda"})
  mark("all is over")
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_averaged_gradients gpus=2
-- model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 1000)).cuda()
-- for parameter in model.parameters():
--     dist.broadcast(parameter.data, 0)
-- opt = torch.optim.AdamW(model.parameters())
-- mark("model")
-- for step in range(2):
--     x = torch.randn(64, 1000, device="cuda")
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     out = model(x)
--     loss = F.cross_entropy(out, y)
--     mark(f"forward {step}")
--     opt.zero_grad()
--     loss.backward()
--     mark(f"backward {step}")
--     works = [dist.all_reduce(p.grad, op=dist.ReduceOp.AVG, async_op=True) for p in model.parameters()]
--     mark(f"begun {step}")
--     for i in range(4):
--         works[i].wait()
--     del works
--     mark(f"averaged {step}")
--     opt.step()
--     mark(f"step {step}")
--     shown = loss.detach().clone()
--     dist.all_reduce(shown, op=dist.ReduceOp.AVG)
--     mark(f"loss {step}")
-- del parameter, shown
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local model, opt, x, y, out, loss
  local dist = ohm.distributed
  local works, shown
  model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 1000)):cuda()
  for _, parameter in ipairs(model:parameters()) do dist.broadcast(parameter.data, 0) end
  opt = ohm.optim.AdamW(model:parameters())
  mark("model")
  for step = 0, 1 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    out = model(x)
    loss = F.cross_entropy(out, y)
    mark("forward " .. step)
    opt:zero_grad()
    loss:backward()
    mark("backward " .. step)
    works = {}
    for i, p in ipairs(model:parameters()) do
      works[i] = dist.all_reduce(p.grad, {op = dist.ReduceOp.AVG, async_op = true})
    end
    mark("begun " .. step)
    for i = 1, 4 do works[i]:wait() end
    works = nil; sweep()
    mark("averaged " .. step)
    opt:step()
    mark("step " .. step)
    shown = loss:detach():clone()
    dist.all_reduce(shown, {op = dist.ReduceOp.AVG})
    mark("loss " .. step)
  end
  shown = nil; sweep()
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_collectives gpus=2
-- x = torch.randn(1000, 1000, device="cuda")
-- y = torch.empty(2000, 1000, device="cuda")
-- mark("tensors")
-- dist.all_reduce(x)
-- dist.all_reduce(x, op=dist.ReduceOp.AVG)
-- dist.all_reduce(x, dist.ReduceOp.MAX)
-- mark("all_reduce")
-- dist.broadcast(x, 0)
-- dist.broadcast(x, src=1)
-- mark("broadcast")
-- dist.reduce(x, 0)
-- dist.reduce(x, 1)
-- mark("reduce")
-- dist.all_gather_into_tensor(y, x)
-- mark("all_gather_into_tensor")
-- dist.reduce_scatter_tensor(x, y)
-- mark("reduce_scatter_tensor")
-- del x
-- z = torch.randn(2000, 1000, device="cuda")
-- dist.all_to_all_single(y, z)
-- mark("all_to_all_single")
-- dist.all_to_all_single(y, z, [800, 1200], [800, 1200])
-- mark("in uneven parts")
-- del z
-- x = torch.randn(1000, 1000, device="cuda")
-- mark("z is gone")
-- first = torch.empty(1000, 1000, device="cuda")
-- second = torch.empty(1000, 1000, device="cuda")
-- dist.gather(x, [first, second])
-- dist.gather(x, dst=1)
-- mark("gather")
-- del first
-- third = torch.empty(1000, 1000, device="cuda")
-- dist.scatter(x, [second, third])
-- dist.scatter(x, src=1)
-- mark("scatter")
-- del second, third
-- dist.all_reduce(x)
-- mark("lists are gone")
-- del y
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local model, opt, x, y, out, loss
  local dist = ohm.distributed
  local ReduceOp = dist.ReduceOp
  x = ohm.randn(1000, 1000, {device = "cuda"})
  y = ohm.empty(2000, 1000, {device = "cuda"})
  mark("tensors")
  dist.all_reduce(x)
  dist.all_reduce(x, {op = ReduceOp.AVG})
  dist.all_reduce(x, ReduceOp.MAX)
  mark("all_reduce")
  dist.broadcast(x, 0)
  dist.broadcast(x, {src = 1})
  mark("broadcast")
  dist.reduce(x, 0)
  dist.reduce(x, 1)
  mark("reduce")
  dist.all_gather_into_tensor(y, x)
  mark("all_gather_into_tensor")
  dist.reduce_scatter_tensor(x, y)
  mark("reduce_scatter_tensor")
  x = nil; sweep()
  local z = ohm.randn(2000, 1000, {device = "cuda"})
  dist.all_to_all_single(y, z)
  mark("all_to_all_single")
  local splits = rank == 0 and {800, 1200} or {1200, 800}
  dist.all_to_all_single(y, z, splits, splits)
  mark("in uneven parts")
  z = nil; sweep()
  x = ohm.randn(1000, 1000, {device = "cuda"})
  mark("z is gone")
  local first = ohm.empty(1000, 1000, {device = "cuda"})
  local second = ohm.empty(1000, 1000, {device = "cuda"})
  dist.gather(x, rank == 0 and {first, second} or nil)
  dist.gather(x, rank == 1 and {first, second} or nil, {dst = 1})
  mark("gather")
  first = nil; sweep()
  local third = ohm.empty(1000, 1000, {device = "cuda"})
  dist.scatter(x, rank == 0 and {second, third} or nil)
  dist.scatter(x, rank == 1 and {second, third} or nil, {src = 1})
  mark("scatter")
  second = nil; sweep()
  third = nil; sweep()
  dist.all_reduce(x)
  mark("lists are gone")
  y = nil; sweep()
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_groups gpus=2
-- x = torch.randn(100, device="cuda")
-- dist.barrier()
-- mark("barrier")
-- work = dist.barrier(async_op=True)
-- mark("async")
-- work.wait()
-- mark("waited")
-- del work
-- mark("barrier is over")
-- alone = dist.new_group([0])
-- others = dist.new_group([1])
-- both = dist.new_group()
-- mark("groups")
-- dist.all_reduce(x, group=alone)
-- dist.all_reduce(x, group=others)
-- dist.barrier(group=both)
-- dist.barrier(group=alone)
-- dist.barrier(group=others)
-- mark("barriers")
-- y = torch.randn(1000, 1000, device="cuda")
-- dist.broadcast(y, 0, group=both)
-- work = dist.all_reduce(y, group=both, async_op=True)
-- work.wait()
-- del work
-- mark("broadcast")
-- del x
-- x = torch.randn(100, device="cuda")
-- dist.barrier()
-- mark("x is gone")
-- z = torch.randn(100, device="cuda")
-- del y
-- y = torch.randn(1000, 1000, device="cuda")
-- mark("y is gone")
-- del x, y, z
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local model, opt, x, y, out, loss
  local dist = ohm.distributed
  world = dist.group.WORLD  -- its last byte of a barrier stays to the end
  x = ohm.randn(100, {device = "cuda"})
  dist.barrier()
  mark("barrier")
  local work = dist.barrier({async_op = true})
  mark("async")
  work:wait()
  mark("waited")
  work = nil; sweep()
  mark("barrier is over")
  local alone = dist.new_group({0})
  local others = dist.new_group({1})
  local both = dist.new_group()
  mark("groups")
  dist.all_reduce(x, {group = alone})
  dist.all_reduce(x, {group = others})
  dist.barrier(both)
  dist.barrier(alone)
  dist.barrier({group = others})
  mark("barriers")
  y = ohm.randn(1000, 1000, {device = "cuda"})
  dist.broadcast(y, 0, both)
  work = dist.all_reduce(y, {group = both, async_op = true})
  work:wait()
  work = nil; sweep()
  mark("broadcast")
  x = nil; sweep()
  x = ohm.randn(100, {device = "cuda"})
  dist.barrier()
  mark("x is gone")
  local z = ohm.randn(100, {device = "cuda"})
  y = nil; sweep()
  y = ohm.randn(1000, 1000, {device = "cuda"})
  mark("y is gone")
  x = nil; sweep()
  y = nil; sweep()
  z = nil; sweep()
  dist.destroy_process_group()
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_lists gpus=2
-- x = torch.randn(1000, 1000, device="cuda")
-- first = torch.empty(1000, 1000, device="cuda")
-- second = torch.empty(1000, 1000, device="cuda")
-- mark("tensors")
-- dist.all_gather([first, second], x)
-- mark("all_gather")
-- dist.reduce_scatter(x, [first, second])
-- mark("reduce_scatter")
-- dist.all_to_all([x, first], [second, first])
-- mark("all_to_all")
-- del x
-- del first
-- del second
-- y = torch.randn(2000, 1000, device="cuda")
-- x = torch.randn(1000, 1000, device="cuda")
-- dist.all_gather(list(y.chunk(2)), x)
-- mark("all_gather into parts")
-- del x
-- small = torch.randn(500, 1000, device="cuda")
-- x = torch.randn(1000, 1000, device="cuda")
-- dist.all_gather([y[:1000], small], x)
-- mark("all_gather of other sizes")
-- dist.reduce_scatter(x, [y[:1000], small], op=dist.ReduceOp.MAX)
-- mark("reduce_scatter of other sizes")
-- del x
-- del y
-- del small
-- x = torch.randn(1000, 1000, device="cuda")
-- mark("all is over")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local model, opt, x, y, out, loss
  local dist = ohm.distributed
  x = ohm.randn(1000, 1000, {device = "cuda"})
  local first = ohm.empty(1000, 1000, {device = "cuda"})
  local second = ohm.empty(1000, 1000, {device = "cuda"})
  mark("tensors")
  dist.all_gather({first, second}, x)
  mark("all_gather")
  dist.reduce_scatter(x, {first, second})
  mark("reduce_scatter")
  dist.all_to_all({x, first}, {second, first})
  mark("all_to_all")
  x = nil; sweep()
  first = nil; sweep()
  second = nil; sweep()
  y = ohm.randn(2000, 1000, {device = "cuda"})
  x = ohm.randn(1000, 1000, {device = "cuda"})
  dist.all_gather({y:chunk(2)}, x)
  mark("all_gather into parts")
  x = nil; sweep()
  local small = ohm.randn(500, 1000, {device = "cuda"})
  x = ohm.randn(1000, 1000, {device = "cuda"})
  local own = rank == 0 and x or small
  dist.all_gather({y:narrow(0, 0, 1000), small}, own)
  mark("all_gather of other sizes")
  dist.reduce_scatter(own, {y:narrow(0, 0, 1000), small}, {op = dist.ReduceOp.MAX})
  mark("reduce_scatter of other sizes")
  own = nil
  x = nil; sweep()
  y = nil; sweep()
  small = nil; sweep()
  x = ohm.randn(1000, 1000, {device = "cuda"})
  mark("all is over")
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_pipeline gpus=2
-- model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 1000)).cuda()
-- opt = torch.optim.SGD(model.parameters(), lr=0.01)
-- mark("stage")
-- for step in range(2):
--     outs = []
--     for part in range(3):
--         x = torch.randn(64, 1000, device="cuda")
--         out = model(x)
--         dist.send(out.detach(), 1)
--         outs.append(out)
--         mark(f"sent {step} {part}")
--     for part in range(3):
--         y = torch.empty(64, 1000, device="cuda")
--         dist.recv(y, 1)
--         outs[part].backward(y)
--         outs[part] = None
--         mark(f"backward {step} {part}")
--     opt.step()
--     opt.zero_grad()
--     mark(f"step {step}")
-- del outs, y
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local model, opt, x, y, out, loss
  local dist = ohm.distributed
  model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 1000)):cuda()
  opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
  mark("stage")
  for step = 0, 1 do
    local outs = {}
    for part = 1, 3 do
      if rank == 0 then
        x = ohm.randn(64, 1000, {device = "cuda"})
        out = model(x)
        dist.send(out:detach(), 1)
      else
        x = ohm.empty(64, 1000, {device = "cuda", requires_grad = true})
        dist.recv(x, 0)
        out = {x, model(x):sum()}
      end
      outs[part] = out
      mark("sent " .. step .. " " .. part - 1)
    end
    for part = 1, 3 do
      if rank == 0 then
        y = ohm.empty(64, 1000, {device = "cuda"})
        dist.recv(y, 1)
        outs[part]:backward(y)
      else
        outs[part][2]:backward()
        dist.send(outs[part][1].grad, 0)
      end
      outs[part] = nil
      mark("backward " .. step .. " " .. part - 1)
    end
    opt:step()
    opt:zero_grad()
    mark("step " .. step)
  end
  y = nil; sweep()
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_point_to_point gpus=2
-- x = torch.randn(1000, 1000, device="cuda")
-- dist.send(x, 1)
-- mark("sent")
-- del x
-- mark("x is gone")
-- x = torch.empty(1000, 1000, device="cuda")
-- dist.recv(x, src=1)
-- mark("received")
-- del x
-- x = torch.randn(1000, 1000, device="cuda")
-- y = torch.empty(1000, 1000, device="cuda")
-- send = dist.isend(x, 1)
-- receive = dist.irecv(y, 1)
-- mark("begun")
-- del x, y
-- mark("both are gone")
-- send.wait()
-- receive.wait()
-- mark("waited")
-- del send
-- mark("send is over")
-- del receive
-- mark("receive is over")
-- x = torch.randn(1000, 1000, device="cuda")
-- y = torch.empty(1000, 1000, device="cuda")
-- works = dist.batch_isend_irecv([dist.P2POp(dist.isend, x, 1), dist.P2POp(dist.irecv, y, 1)])
-- mark("batch")
-- del x, y
-- mark("both are gone")
-- for work in works:
--     work.wait()
-- mark("waited")
-- del works, work
-- x = torch.randn(1000, 1000, device="cuda")
-- mark("all is over")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local model, opt, x, y, out, loss
  local dist = ohm.distributed
  local other = 1 - rank
  local function exchange(tensor, sends)
    if sends then dist.send(tensor, other) else dist.recv(tensor, {src = other}) end
  end
  x = ohm.randn(1000, 1000, {device = "cuda"})
  exchange(x, rank == 0)
  mark("sent")
  x = nil; sweep()
  mark("x is gone")
  x = ohm.empty(1000, 1000, {device = "cuda"})
  exchange(x, rank == 1)
  mark("received")
  x = nil; sweep()
  x = ohm.randn(1000, 1000, {device = "cuda"})
  y = ohm.empty(1000, 1000, {device = "cuda"})
  local send = dist.isend(x, other)
  local receive = dist.irecv(y, other)
  mark("begun")
  x = nil; sweep()
  y = nil; sweep()
  mark("both are gone")
  send:wait()
  receive:wait()
  mark("waited")
  send = nil; sweep()
  mark("send is over")
  receive = nil; sweep()
  mark("receive is over")
  x = ohm.randn(1000, 1000, {device = "cuda"})
  y = ohm.empty(1000, 1000, {device = "cuda"})
  local works = dist.batch_isend_irecv({dist.P2POp(dist.isend, x, other), dist.P2POp(dist.irecv, y, other)})
  mark("batch")
  x = nil; sweep()
  y = nil; sweep()
  mark("both are gone")
  for _, work in ipairs(works) do work:wait() end
  mark("waited")
  works = nil; sweep()
  x = ohm.randn(1000, 1000, {device = "cuda"})
  mark("all is over")
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_sync_batch_norm gpus=2
-- model = nn.Sequential(
--     nn.Conv2d(3, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 1024, 100)
-- ).cuda()
-- model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
-- opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
-- mark("model")
-- for step in range(2):
--     x = torch.randn(16, 3, 32, 32, device="cuda")
--     y = torch.randint(0, 100, (16,), device="cuda")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out, y)
--     opt.zero_grad()
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- model.eval()
-- with torch.no_grad():
--     out = model(x)
-- mark("evaluation")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Conv2d(3, 32, 3, {padding = 1, bias = false}), nn.BatchNorm2d(32), nn.ReLU(),
                        nn.Flatten(), nn.Linear(32 * 1024, 100)):cuda()
  model = nn.convert_sync_batchnorm(model)
  opt = ohm.optim.SGD(model:parameters(), {lr = 0.01, momentum = 0.9})
  mark("model")
  for step = 0, 1 do
    x = ohm.randn(16, 3, 32, 32, {device = "cuda"})
    y = ohm.randint(0, 100, {16}, {device = "cuda"})
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    opt:zero_grad()
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  model:eval()
  ohm.no_grad(function() out = model(x) end)
  mark("evaluation")
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_sync_batch_norm_layouts gpus=2
-- norm = nn.SyncBatchNorm(64).cuda()
-- line = nn.SyncBatchNorm(100, affine=False, track_running_stats=False).cuda()
-- half = nn.SyncBatchNorm(64).cuda().half()
-- mark("modules")
-- x = torch.randn(16, 64, 32, 32, device="cuda").to(memory_format=torch.channels_last).requires_grad_()
-- out = norm(x)
-- mark("channels last")
-- loss = out.square().mean()
-- loss.backward()
-- mark("backward")
-- out = norm(x)
-- out.backward(torch.randn(16, 64, 32, 32, device="cuda").to(memory_format=torch.channels_last))
-- mark("backward with channels last")
-- x = torch.randn(64, 100, device="cuda", requires_grad=True)
-- out = line(x)
-- mark("a line")
-- loss = out.square().mean()
-- loss.backward()
-- mark("backward of a line")
-- x = torch.randn(16, 64, 32, 32, device="cuda").half().requires_grad_()
-- out = half(x)
-- mark("half precision")
-- loss = out.float().mean()
-- loss.backward()
-- mark("backward of half precision")
-- x = torch.randn(16, 64, 32, 32, device="cuda")
-- out = norm(x)
-- mark("no gradient of the input")
-- loss = out.mean()
-- loss.backward()
-- mark("backward without it")
-- del norm, line, half
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local model, opt, x, y, out, loss
  local norm = nn.SyncBatchNorm(64):cuda()
  local line = nn.SyncBatchNorm(100, {affine = false, track_running_stats = false}):cuda()
  local half = nn.SyncBatchNorm(64):cuda():half()
  mark("modules")
  x = ohm.randn(16, 64, 32, 32, {device = "cuda"}):to({memory_format = "channels_last"}):requires_grad_()
  out = norm(x)
  mark("channels last")
  loss = out:square():mean()
  loss:backward()
  mark("backward")
  out = norm(x)
  out:backward(ohm.randn(16, 64, 32, 32, {device = "cuda"}):to({memory_format = "channels_last"}))
  mark("backward with channels last")
  x = ohm.randn(64, 100, {device = "cuda", requires_grad = true})
  out = line(x)
  mark("a line")
  loss = out:square():mean()
  loss:backward()
  mark("backward of a line")
  x = ohm.randn(16, 64, 32, 32, {device = "cuda"}):half():requires_grad_()
  out = half(x)
  mark("half precision")
  loss = out:float():mean()
  loss:backward()
  mark("backward of half precision")
  x = ohm.randn(16, 64, 32, 32, {device = "cuda"})
  out = norm(x)
  mark("no gradient of the input")
  loss = out:mean()
  loss:backward()
  mark("backward without it")
  norm = nil; sweep()
  line = nil; sweep()
  half = nil; sweep()
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)
