// Starts the program as glibc 2.28 does: the program runs its own initializers. glibc 2.34 and
// newer still support that.
#include <cstddef>

// NOLINTBEGIN(readability-identifier-naming): glibc's and the linker's names
#ifdef __aarch64__
__asm__(".symver old_start_main,__libc_start_main@GLIBC_2.17");
#else
__asm__(".symver old_start_main,__libc_start_main@GLIBC_2.2.5");
#endif

using Initializer = void (*)(int, char**, char**);

extern "C" {

extern Initializer __init_array_start[] __attribute__((visibility("hidden")));
extern Initializer __init_array_end[] __attribute__((visibility("hidden")));
void _init();

int old_start_main(int (*main)(int, char**, char**), int argc, char** argv, Initializer init,
                   void (*fini)(), void (*loader_fini)(), void* stack_end);

static void initialize(int argc, char** argv, char** environment) {
  _init();
  const auto count = static_cast<std::size_t>(__init_array_end - __init_array_start);
  for (std::size_t i = 0; i < count; ++i) __init_array_start[i](argc, argv, environment);
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, Initializer /*init*/,
                      void (* /*fini*/)(), void (*loader_fini)(), void* stack_end) {
  return old_start_main(main, argc, argv, initialize, nullptr, loader_fini, stack_end);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
