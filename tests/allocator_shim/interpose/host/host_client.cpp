// A program for tests of libohm_host.so: does with memory what its arguments say, one after the
// other, and prints what came of it.
#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// What is used is not optimised away.
void use(void* block) { asm volatile("" : : "r"(block) : "memory"); }

void print(const char* name, const void* block) {
  std::printf("%s %s\n", name, block == nullptr ? std::strerror(errno) : "ok");
  std::fflush(stdout);
}

// Not static, so that its name is known.
}  // namespace

__attribute__((noinline)) void* keep_blocks(std::size_t count, std::size_t bytes) {
  void* last = nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    last = std::malloc(bytes);
    use(last);
  }
  return last;
}

namespace {

void every_function() {
  print("malloc", std::malloc(kMiB));
  print("calloc", std::calloc(kMiB, 1));
  print("realloc", std::realloc(nullptr, kMiB));
  print("reallocarray", reallocarray(nullptr, kMiB, 1));
  print("aligned_alloc", aligned_alloc(64, kMiB));
  void* aligned = nullptr;
  errno = posix_memalign(&aligned, 64, kMiB);
  print("posix_memalign", errno == 0 ? aligned : nullptr);
  print("memalign", memalign(64, kMiB));
  print("valloc", valloc(kMiB));
  print("pvalloc", pvalloc(kMiB));
  print("new", ::operator new(kMiB, std::nothrow));
  print("aligned new", ::operator new(kMiB, std::align_val_t(64), std::nothrow));
  void* pages = mmap(nullptr, kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  print("mmap", pages == MAP_FAILED ? nullptr : pages);
}

void free_in_parts() {
  auto* pages = static_cast<char*>(
      mmap(nullptr, 4 * kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  munmap(pages + kMiB, kMiB);
  munmap(pages, kMiB);
}

void grow_pages() {
  void* pages = mmap(nullptr, kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pages = mremap(pages, kMiB, 8 * kMiB, MREMAP_MAYMOVE);
  print("mremap", pages == MAP_FAILED ? nullptr : pages);
}

void grow_block() {
  void* block = std::malloc(kMiB);
  std::memset(block, 1, kMiB);
  void* larger = std::realloc(block, 400 * kMiB);
  print("realloc", larger);
  std::printf("kept %d\n", static_cast<int>(static_cast<char*>(block)[kMiB - 1]));
}

void in_threads() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([] {
      for (std::size_t turn = 0; turn < 2000; ++turn) {
        void* block = std::malloc(16 + turn);
        use(block);
        block = std::realloc(block, 16 + turn * 2);
        std::free(block);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void forks_beside_threads() {
  bool goes_on = true;
  std::thread busy([&goes_on] {
    while (__atomic_load_n(&goes_on, __ATOMIC_RELAXED)) std::free(std::malloc(100));
  });
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      std::free(std::malloc(100));
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
  }
  __atomic_store_n(&goes_on, false, __ATOMIC_RELAXED);
  busy.join();
  std::puts("forked");
}

volatile sig_atomic_t signals = 0;

void in_signals() {
  std::signal(SIGPROF, [](int) { signals = signals + 1; });
  const itimerval often = {{0, 200}, {0, 200}};
  setitimer(ITIMER_PROF, &often, nullptr);
  while (signals < 50) {
    for (int i = 0; i < 1000; ++i) std::free(std::malloc(64));
  }
  std::puts("signalled");
}

void uncaught() { use(new char[400 * kMiB]); }

void swallowed() {
  // Goes on without its greeting where there is no memory for it.
  auto* greeting = static_cast<char*>(std::malloc(64));
  if (greeting == nullptr) return;
  std::strcpy(greeting, "hello");
  std::puts(greeting);
}

void checked() {
  auto* text = static_cast<char*>(std::malloc(64));
  if (text == nullptr) {
    std::fputs("host_client: no memory\n", stderr);
    std::exit(1);
  }
  std::free(text);
}

void unchecked() {
  auto* text = static_cast<volatile char*>(std::malloc(64));
  text[0] = 'x';
}

void retried() {
  void* block = std::malloc(64);
  while (block == nullptr) block = std::malloc(64);
  std::free(block);
}

void silent() {
  if (std::malloc(64) == nullptr) _exit(3);
}

void hangs_without() {
  if (std::malloc(64) != nullptr) return;
  for (;;) pause();
}

void writes_a_file() {
  FILE* const file = std::fopen("written", "w");
  checked();
  std::fputs("whole\n", file);
  std::fclose(file);
}

// A block that is alive where a request for 64 bytes fails.
void* global_block = nullptr;

/// Says that there is no memory.
int out_of_memory() {
  std::fputs("host_client: no memory\n", stderr);
  return 1;
}

/// Returns without it where the request fails.
__attribute__((noinline)) bool loses_a_block() {
  void* const first = std::malloc(1000);
  use(first);
  void* const second = std::malloc(64);
  if (second == nullptr) return false;
  std::free(second);
  std::free(first);
  return true;
}

/// The same, with a block that a variable still leads to.
__attribute__((noinline)) bool keeps_a_block() {
  global_block = std::malloc(1000);
  void* const second = std::malloc(64);
  if (second == nullptr) return false;
  std::free(second);
  std::free(global_block);
  return true;
}

/// Ends the process where the request fails, with a block that a function still has.
__attribute__((noinline)) void ends_with_a_block() {
  void** const first = static_cast<void**>(std::malloc(sizeof(void*)));
  *first = std::malloc(1000);
  checked();
  std::free(*first);
  std::free(first);
}

/// The same, as where the compiler sees no more use for the pointer.
__attribute__((noinline)) void ends_without_a_pointer() {
  void* volatile first = std::malloc(1000);
  void* const second = std::malloc(64);
  if (second == nullptr) {
    first = nullptr;
    std::exit(out_of_memory());
  }
  std::free(second);
  std::free(first);
}

/// The last of three words needs the request.
int writes_words(const char* path, const char* first, const char* last) {
  FILE* const file = std::fopen(path, "w");
  std::setvbuf(file, nullptr, _IONBF, 0);
  std::fputs(first, file);
  void* const block = std::malloc(64);
  if (block != nullptr) std::fputs(last, file);
  std::fclose(file);
  std::free(block);
  return block == nullptr ? out_of_memory() : 0;
}

int writes_lines(const char* path) { return writes_words(path, "one\ntwo\n", "three\n"); }

int writes_a_secret() {
  close(open("secret", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const int status = writes_words("secret", "one, ", "two\n");
  if (status != 0) std::remove("secret");
  return status;
}

/// 65 MiB, of which most is a hole.
int writes_a_large_file() {
  const int status = writes_words("large", "one, ", "two\n");
  truncate("large", static_cast<off_t>(65 * kMiB));
  return status;
}

/// Each run another, of the same length: "1764376000".
int writes_the_time() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  void* const block = std::malloc(64);
  const long seconds = now.tv_sec + (block == nullptr ? 1 : 0);
  std::free(block);
  return writes_words("times", std::to_string(seconds).c_str(), "");
}

int reads_what_it_may_write() {
  close(open("lines", O_RDWR | O_CLOEXEC));
  void* const block = std::malloc(64);
  std::free(block);
  return block == nullptr ? out_of_memory() : 0;
}

int renames_a_file() {
  const int status = writes_lines("new");
  if (status == 0) std::rename("new", "whole");
  if (status != 0) std::remove("new");
  return status;
}

int uses_a_temporary_file(bool is_removed) {
  std::string name = "temporary-XXXXXX";
  const int file = mkstemp(name.data());
  close(file);
  void* const block = std::malloc(64);
  if (block != nullptr || is_removed) unlink(name.c_str());
  std::free(block);
  return block == nullptr ? out_of_memory() : 0;
}

/// Writes a file only where the request fails.
int writes_of_its_failure() {
  void* const block = std::malloc(64);
  std::free(block);
  if (block != nullptr) return 0;
  close(open("failure", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  return out_of_memory();
}

void prints_addresses() {
  void* const unused = std::malloc(64);
  use(unused);
  std::free(unused);
  int on_the_stack = 0;
  void* const pages =
      mmap(nullptr, kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::printf("%p %p\n", static_cast<void*>(&on_the_stack), pages);
}

/// A copy of it leaves the file to be found by what it is a copy of.
void leaves_a_mark() {
  void* const block = std::malloc(64);
  use(block);
  std::free(block);
  std::printf(access("mark", F_OK) == 0 ? "marked\n" : "no mark\n");
  if (block == nullptr) close(open("mark", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

void reads_a_file() {
  // The place in a file that a copy reads on is its own.
  FILE* const file = std::fopen("lines", "r");
  std::vector<char> line(256);
  std::setvbuf(file, nullptr, _IONBF, 0);
  while (std::fgets(line.data(), static_cast<int>(line.size()), file) != nullptr) {
    void* block = std::malloc(16);
    std::printf("%s%s", block == nullptr ? "none: " : "", line.data());
    std::free(block);
  }
  std::fclose(file);
}

void reads_a_folder() {
  // As find and tar open one.
  DIR* const folder = fdopendir(open(".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  do {
    void* const block = std::malloc(16);
    use(block);
    std::free(block);
  } while (readdir(folder) != nullptr);
  closedir(folder);
}

const std::map<std::string, std::function<void()>>& actions() {
  static const std::map<std::string, std::function<void()>> kActions = {
      {"every_function", every_function},
      {"free_in_parts", free_in_parts},
      {"grow_pages", grow_pages},
      {"grow_block", grow_block},
      {"keep", [] { keep_blocks(10, kMiB); }},
      {"in_threads", in_threads},
      {"forks_beside_threads", forks_beside_threads},
      {"in_signals", in_signals},
      {"uncaught", uncaught},
      {"swallowed", swallowed},
      {"checked", checked},
      {"unchecked", unchecked},
      {"retried", retried},
      {"silent", silent},
      {"hangs_without", hangs_without},
      {"loses_a_block", [] { std::exit(loses_a_block() ? 0 : out_of_memory()); }},
      {"loses_a_block_and_goes_on", [] { loses_a_block(); }},
      {"keeps_a_block", [] { std::exit(keeps_a_block() ? 0 : out_of_memory()); }},
      {"keeps_a_block_and_goes_on", [] { keeps_a_block(); }},
      {"ends_with_a_block", ends_with_a_block},
      {"ends_without_a_pointer", ends_without_a_pointer},
      {"writes_words", [] { std::exit(writes_words("lines", "one, two, ", "three\n")); }},
      {"writes_a_secret", [] { std::exit(writes_a_secret()); }},
      {"writes_a_large_file", [] { std::exit(writes_a_large_file()); }},
      {"writes_the_time", [] { writes_the_time(); }},
      {"reads_what_it_may_write", [] { std::exit(reads_what_it_may_write()); }},
      {"writes_lines", [] { std::exit(writes_lines("lines")); }},
      {"writes_fewer_lines", [] { writes_lines("lines"); }},
      {"renames_a_file", [] { std::exit(renames_a_file()); }},
      {"leaves_a_temporary_file", [] { std::exit(uses_a_temporary_file(false)); }},
      {"removes_a_temporary_file", [] { std::exit(uses_a_temporary_file(true)); }},
      {"writes_of_its_failure", [] { std::exit(writes_of_its_failure()); }},
      {"writes_a_file", writes_a_file},
      {"leaves_a_mark", leaves_a_mark},
      {"reads_a_file", reads_a_file},
      {"reads_a_folder", reads_a_folder},
      {"prints_addresses", prints_addresses},
      {"environment", [] { std::system("env | grep -c -e LD_PRELOAD -e OHM_HOST"); }},
  };
  return kActions;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) actions().at(argv[i])();
}
