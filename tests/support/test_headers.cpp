// The headers that all tests share are precompiled with this source's flags.
