#include "tests/support/local_slurm.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>

#include "tests/support/golden.h"

namespace ohm::test {

namespace {

/// Where distributions put daemons.
const std::string kPath = "PATH=\"$PATH:/usr/sbin:/sbin\" ";

std::string output_of_shell(const std::string& command) {
  std::FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start a shell");
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  ::pclose(pipe);
  return text;
}

std::string line_of_shell(const std::string& command) {
  const std::string text = output_of_shell(command);
  return text.substr(0, text.find('\n'));
}

/// A port that nothing listens on now.
int free_port() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  const bool is_bound =
      ::bind(listener, any, size) == 0 && ::getsockname(listener, any, &size) == 0;
  ::close(listener);
  if (!is_bound) throw std::runtime_error("no port is free");
  return ntohs(address.sin_port);
}

constexpr const char* kConfiguration = R"(
ClusterName=ohm
AuthType=auth/munge
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SlurmdTimeout=30
KillWait=2
MinJobAge=30
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
)";

}  // namespace

std::string LocalSlurm::lack() {
  for (const char* const program : {"munged", "slurmctld", "slurmd", "sbatch"}) {
    if (line_of_shell(kPath + "command -v " + program).empty()) {
      return std::string(program) + " is not installed (slurm-wlm, munge)";
    }
  }
  return {};
}

LocalSlurm::LocalSlurm(const std::vector<std::string>& card_types) {
  write_configuration(card_types);
  start(
      "munged --force --socket=munge/socket --key-file=munge/key --pid-file=munge/pid "
      "--log-file=munge/log --seed-file=munge/seed");
  start("slurmctld -f slurm.conf");
  start("slurmd -f slurm.conf");
  wait_for_node();
}

LocalSlurm::~LocalSlurm() {
  try {
    output_of("scancel --me");
    for (const char* const daemon : {"slurmd.pid", "slurmctld.pid", "munge/pid"}) {
      end(daemon, SIGTERM);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "Slurm was not ended: %s\n", error.what());
  }
}

void LocalSlurm::write_configuration(const std::vector<std::string>& card_types) const {
  for (const char* const part : {"munge", "state", "spool"}) {
    std::filesystem::create_directory(folder_.path() / part);
  }
  ::chmod(folder_.file("munge").c_str(), 0700);
  std::string key;
  std::random_device entropy;
  for (int i = 0; i < 256; ++i) {
    const unsigned int word = entropy();
    key.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  ::chmod(folder_.write("munge/key", key).c_str(), 0600);
  const std::string host = line_of_shell("hostname -s");
  const std::string user = line_of_shell("id -un");
  const std::string in = folder_.path().string() + "/";
  constexpr std::array kDevices = {"/dev/null", "/dev/zero", "/dev/full"};
  std::string cards;
  std::string of_node;
  for (std::size_t i = 0; i < card_types.size(); ++i) {
    cards += "Name=gpu Type=" + card_types[i] + " File=" + kDevices.at(i) + "\n";
    of_node += (i == 0 ? " Gres=gpu:" : ",gpu:") + card_types[i] + ":1";
  }
  folder_.write("gres.conf", cards);
  folder_.write("slurm.conf",
                kConfiguration + ("AuthInfo=socket=" + in + "munge/socket\n") +
                    "SlurmUser=" + user + "\nSlurmdUser=" + user + "\n" + "SlurmctldHost=" + host +
                    "(127.0.0.1)\n" + "StateSaveLocation=" + in + "state\nSlurmdSpoolDir=" + in +
                    "spool\n" + "SlurmctldPidFile=" + in + "slurmctld.pid\nSlurmdPidFile=" + in +
                    "slurmd.pid\nSlurmctldLogFile=" + in + "slurmctld.log\nSlurmdLogFile=" + in +
                    "slurmd.log\nSlurmctldPort=" + std::to_string(free_port()) +
                    "\nSlurmdPort=" + std::to_string(free_port()) +
                    (cards.empty() ? "" : "\nGresTypes=gpu") + "\nNodeName=" + host +
                    " NodeAddr=127.0.0.1 CPUs=2 RealMemory=500 State=UNKNOWN" + of_node + "\n");
}

std::string LocalSlurm::output_of(const std::string& command) const {
  return output_of_shell("cd " + folder_.path().string() + " && SLURM_CONF=" + configuration() +
                         " " + kPath + command);
}

std::size_t LocalSlurm::running_tasks() const {
  const std::string tasks = output_of("squeue --noheader --states=RUNNING --format=%A");
  return static_cast<std::size_t>(std::count(tasks.begin(), tasks.end(), '\n'));
}

void LocalSlurm::start(const std::string& command) const {
  const std::string printed = output_of(command + " </dev/null; echo $?");
  if (printed.ends_with("0\n")) return;
  throw std::runtime_error(command + " failed: " + printed);
}

void LocalSlurm::wait_for_node() const {
  constexpr int kTries = 300;
  constexpr useconds_t kWaitMicroseconds = 100000;
  std::string state;
  for (int i = 0; i < kTries; ++i) {
    state = output_of("sinfo --noheader --format=%T");
    if (state == "idle\n" || state == "mixed\n" || state == "allocated\n") return;
    ::usleep(kWaitMicroseconds);
  }
  throw std::runtime_error("the node is " + state + read_file(folder_.file("slurmd.log")) +
                           read_file(folder_.file("slurmctld.log")));
}

void LocalSlurm::end(const std::string& pid_file, int signal) const {
  const pid_t pid = std::atoi(read_file(folder_.file(pid_file)).c_str());
  if (pid <= 0) return;
  ::kill(pid, signal);
  constexpr int kTries = 100;
  for (int i = 0; i < kTries && ::kill(pid, 0) == 0; ++i) ::usleep(50000);
}

void LocalSlurm::kill_node() const { end("slurmd.pid", SIGKILL); }

void LocalSlurm::restart_node() const {
  start("slurmd -f slurm.conf");
  wait_for_node();
}

}  // namespace ohm::test
