// OHM_ASSERT: for our own bugs. What a user can cause is an exception with a message instead.
#pragma once

#include <cstdio>
#include <cstdlib>

#define OHM_ASSERT(condition, message)                                                        \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      std::fprintf(stderr, "%s:%d: internal error: %s (%s)\n", __FILE__, __LINE__, (message), \
                   #condition);                                                               \
      std::abort();                                                                           \
    }                                                                                         \
  } while (false)
