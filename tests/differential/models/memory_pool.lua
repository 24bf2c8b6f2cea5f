local model, x, pool, y, cache, scratch, large, again, small
model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256)):to("cuda")
x = ohm.randn(64, 256, {device = "cuda"})
mark("model")

pool = ohm.cuda.MemPool()
ohm.cuda.use_mem_pool(pool, function()
  y = model(x)
  cache = ohm.zeros(8, 64, 1024, {device = "cuda"})
  scratch = ohm.empty(3 << 20, {device = "cuda"})
  scratch = nil
  mark("in the pool")
end)
large = ohm.empty(3 << 20, {device = "cuda"})
mark("outside")
large = nil
ohm.cuda.empty_cache()
mark("emptied")
y:sum():backward()
mark("backward")
y = nil
ohm.cuda.use_mem_pool(pool, function()
  again = ohm.empty(2 << 20, {device = "cuda"})
  small = ohm.ones(100, {device = "cuda"})
end)
mark("again")
cache, again = nil, nil
ohm.cuda.empty_cache()
mark("cached in the pool")
pool = nil
mark("pool gone")
small = nil
ohm.cuda.empty_cache()
mark("nothing left")
mark("end of program (globals alive)")
model = nil
x = nil
mark("globals deleted")
