#define _GNU_SOURCE
#include "CUprightWorker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

// --- Files: Landlock. Its header may be older than the kernel.

enum {
  EXECUTE = 1 << 0,
  WRITE_FILE = 1 << 1,
  READ_FILE = 1 << 2,
  READ_DIR = 1 << 3,
  REMOVE_FILE = 1 << 5,
  MAKE_REG = 1 << 8,
  TRUNCATE = 1 << 14,
};

static const int rulesetVersion = 1, pathBeneath = 1;

int upright_worker_rules(void) {
  // All rights of the first version, and from the third on the right to truncate.
  long version = syscall(444, NULL, 0, rulesetVersion);
  if (version < 1) return -1;
  uint64_t handled = (1 << 13) - 1;
  if (version >= 3) handled |= TRUNCATE;
  return (int)syscall(444, &handled, sizeof handled, 0);
}

int upright_worker_allow(int rules, const char *path, bool writes) {
  struct {
    uint64_t allowed;
    int32_t parent;
  } __attribute__((packed)) rule = {.parent = open(path, O_PATH | O_CLOEXEC)};
  if (rule.parent < 0) return -1;
  struct stat status;
  bool isFolder = fstat(rule.parent, &status) == 0 && S_ISDIR(status.st_mode);
  long version = syscall(444, NULL, 0, rulesetVersion);
  rule.allowed = READ_FILE;
  if (writes) rule.allowed |= WRITE_FILE | (version >= 3 ? TRUNCATE : 0);
  if (isFolder) rule.allowed |= READ_DIR | (writes ? MAKE_REG | REMOVE_FILE : 0);
  int result = (int)syscall(445, rules, pathBeneath, &rule, 0);
  close(rule.parent);
  return result;
}

// Of the capabilities of root, those for its own files and for ports are left. With others it could read the environment
// of any process in /proc.
static int drop_capabilities(void) {
  const uint32_t kept = 1 << CAP_DAC_OVERRIDE | 1 << CAP_FOWNER | 1 << CAP_NET_BIND_SERVICE;
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct sets[2];
  if (syscall(SYS_capget, &header, sets) != 0) return -1;
  if (!(sets[0].permitted & ~kept) && !sets[1].permitted) return 0;
  sets[0].effective &= kept;
  sets[0].permitted &= kept;
  sets[0].inheritable &= kept;
  sets[1] = (struct __user_cap_data_struct){0};
  return (int)syscall(SYS_capset, &header, sets);
}

int upright_worker_enforce(int rules) {
  int dropped = drop_capabilities();
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  int result = rules < 0 ? 0 : (int)syscall(446, rules, 0);
  if (rules >= 0) close(rules);
  return result == 0 ? dropped : result;
}

// --- System calls: seccomp.

#ifdef ARCHITECTURE
// What starts programs, looks into other processes, or changes the system.
static const int refused[] = {
    SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp,
    SYS_pidfd_open, SYS_pidfd_getfd, SYS_pidfd_send_signal, SYS_tkill, SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo, SYS_perf_event_open, SYS_bpf, SYS_userfaultfd, SYS_io_uring_setup,
    SYS_add_key, SYS_keyctl, SYS_request_key, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot,
    SYS_setns, SYS_unshare, SYS_open_by_handle_at, SYS_init_module, SYS_finit_module,
    SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_personality,
    SYS_setuid, SYS_setgid, SYS_setresuid, SYS_setresgid,
#ifdef SYS_fork
    SYS_fork, SYS_vfork,
#endif
};
// What this process may do to itself alone: the first argument is its number.
static const int own[] = {SYS_kill, SYS_tgkill};

enum { COUNT = sizeof refused / sizeof *refused, OWN = sizeof own / sizeof *own };

#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define IF(test, value, yes, no) BPF_JUMP(BPF_JMP | (test) | BPF_K, (value), (yes), (no))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, (value))
#endif

int upright_worker_filter(void) {
#ifdef ARCHITECTURE
  enum { THREAD = 0x00010000 };
  const uint32_t refuse = SECCOMP_RET_ERRNO | EPERM;
  struct sock_filter code[16 + 2 * COUNT + 5 * OWN];
  unsigned short n = 0;
  code[n++] = (struct sock_filter)LOAD(arch);
  code[n++] = (struct sock_filter)IF(BPF_JEQ, ARCHITECTURE, 1, 0);
  code[n++] = (struct sock_filter)RETURN(SECCOMP_RET_KILL_PROCESS);
  code[n++] = (struct sock_filter)LOAD(nr);
  // The other calls of x86-64, x32's, have their own numbers.
  code[n++] = (struct sock_filter)IF(BPF_JGE, 0x40000000, 0, 1);
  code[n++] = (struct sock_filter)RETURN(refuse);
  for (unsigned i = 0; i < COUNT; i++) {
    code[n++] = (struct sock_filter)IF(BPF_JEQ, (uint32_t)refused[i], 0, 1);
    code[n++] = (struct sock_filter)RETURN(refuse);
  }
  // The C library then uses clone, whose flags a filter can read.
  code[n++] = (struct sock_filter)IF(BPF_JEQ, SYS_clone3, 0, 1);
  code[n++] = (struct sock_filter)RETURN(SECCOMP_RET_ERRNO | ENOSYS);
  code[n++] = (struct sock_filter)IF(BPF_JEQ, SYS_clone, 0, 4);
  code[n++] = (struct sock_filter)LOAD(args[0]);
  code[n++] = (struct sock_filter)IF(BPF_JSET, THREAD, 0, 1);
  code[n++] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
  code[n++] = (struct sock_filter)RETURN(refuse);
  for (unsigned i = 0; i < OWN; i++) {
    code[n++] = (struct sock_filter)IF(BPF_JEQ, (uint32_t)own[i], 0, 4);
    code[n++] = (struct sock_filter)LOAD(args[0]);
    code[n++] = (struct sock_filter)IF(BPF_JEQ, (uint32_t)getpid(), 0, 1);
    code[n++] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
    code[n++] = (struct sock_filter)RETURN(refuse);
  }
  code[n++] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
  struct sock_fprog program = {.len = n, .filter = code};
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
#else
  errno = ENOSYS;
  return -1;
#endif
}

// --- Processors.

int upright_worker_yield(int niceness) {
  // Linux shares the processors among sessions of the system first (sched(7), autogroup), however many threads each has.
  setsid();
  upright_worker_weigh(niceness);
  // From that of the service on.
  int own = getpriority(PRIO_PROCESS, 0);
  return setpriority(PRIO_PROCESS, 0, own + niceness < 19 ? own + niceness : 19);
}

int upright_worker_weigh(int niceness) {
  // Where Linux has autogroups, the priority of a process counts only within its session.
  int file = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t written = dprintf(file, "%d", niceness);
  // One program in a tenth of a second may set one.
  int answer = written > 0 ? 0 : errno == EAGAIN ? 1 : -1;
  close(file);
  return answer;
}

// --- Memory.

// There in a program with that sanitizer, which reserves more address space than there is memory.
extern void __asan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));

int upright_worker_limit(unsigned long long memory) {
  if (__asan_init || __tsan_init) return 0;
  struct rlimit none = {0, 0}, space = {memory, memory};
  // A crash is followed by another process within a second, and writing this one to a file would take longer.
  return setrlimit(RLIMIT_CORE, &none) == 0 ? setrlimit(RLIMIT_AS, &space) : -1;
}
