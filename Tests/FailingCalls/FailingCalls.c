// A library for LD_PRELOAD that lets one system call of a process fail.
//
// The kernel sends SIGSYS for each system call of the kinds below (seccomp), so calls inside the C library count, too. The handler
// counts the calls that concern a path below a folder. The n-th call of one kind fails; every other call is passed on.
//
// Environment:
//   FAILING_FOLDER  the folder; paths elsewhere do not count
//   FAILING_LOG     the file that gets a line for each counted call: its kind and its path, with "!" before a failed call
//   FAILING_CALL    the kind of the call that fails
//   FAILING_NUMBER  the number of the call that fails, from 1
//   FAILING_ERROR   the value of errno; 0 to kill the program instead
//   FAILING_WAITS   if set, counting begins when the program calls failing_calls(1), and ends with failing_calls(0)
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

// Performs a system call. The filter lets pass the calls that are made here.
long raw_call(long number, long a, long b, long c, long d, long e, long f);
extern const char raw_call_end[];
#if defined(__x86_64__)
__asm__(".text\n.globl raw_call\n.hidden raw_call\n.globl raw_call_end\n.hidden raw_call_end\n"
        "raw_call: mov %rdi, %rax\n mov %rsi, %rdi\n mov %rdx, %rsi\n mov %rcx, %rdx\n mov %r8, %r10\n mov %r9, %r8\n"
        " mov 8(%rsp), %r9\n syscall\nraw_call_end: ret\n");
#define MACHINE AUDIT_ARCH_X86_64
#define REGISTER(context, index) (&(context)->uc_mcontext.gregs[(int[]){REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9}[index]])
#define RESULT(context) (&(context)->uc_mcontext.gregs[REG_RAX])
#elif defined(__aarch64__)
__asm__(".text\n.globl raw_call\n.hidden raw_call\n.globl raw_call_end\n.hidden raw_call_end\n"
        "raw_call: mov x8, x0\n mov x0, x1\n mov x1, x2\n mov x2, x3\n mov x3, x4\n mov x4, x5\n mov x5, x6\n svc #0\n"
        "raw_call_end: ret\n");
#define MACHINE AUDIT_ARCH_AARCH64
#define REGISTER(context, index) (&(context)->uc_mcontext.regs[index])
#define RESULT(context) (&(context)->uc_mcontext.regs[0])
#endif

// The position of a call's path: a path relative to the current folder, one relative to a folder's descriptor, a descriptor, or
// the link in /proc that says where a descriptor lies.
enum place { AT_PATH, AT_FOLDER, AT_DESCRIPTOR, AT_LINK };

static const struct {
    const char *kind;
    int number;
    enum place place;
    // The index of the argument with the path, the folder's descriptor or the descriptor.
    int argument;
} calls[] = {
    {"open", SYS_openat, AT_FOLDER, 0}, {"open", SYS_openat2, AT_FOLDER, 0},
    {"read", SYS_read, AT_DESCRIPTOR, 0}, {"read", SYS_pread64, AT_DESCRIPTOR, 0}, {"read", SYS_readv, AT_DESCRIPTOR, 0},
    {"mmap", SYS_mmap, AT_DESCRIPTOR, 4},
    {"write", SYS_write, AT_DESCRIPTOR, 0}, {"write", SYS_pwrite64, AT_DESCRIPTOR, 0}, {"write", SYS_writev, AT_DESCRIPTOR, 0},
    {"write", SYS_sendfile, AT_DESCRIPTOR, 0}, {"write", SYS_copy_file_range, AT_DESCRIPTOR, 2},
    {"fsync", SYS_fsync, AT_DESCRIPTOR, 0}, {"fsync", SYS_fdatasync, AT_DESCRIPTOR, 0},
    {"rename", SYS_renameat, AT_FOLDER, 0}, {"rename", SYS_renameat2, AT_FOLDER, 0},
    {"unlink", SYS_unlinkat, AT_FOLDER, 0},
    {"stat", SYS_fstat, AT_DESCRIPTOR, 0}, {"stat", SYS_newfstatat, AT_FOLDER, 0}, {"stat", SYS_statx, AT_FOLDER, 0},
    {"list", SYS_getdents64, AT_DESCRIPTOR, 0},
    {"mkdir", SYS_mkdirat, AT_FOLDER, 0}, {"link", SYS_linkat, AT_FOLDER, 0}, {"place", SYS_readlinkat, AT_LINK, 1},
#ifdef SYS_open
    {"open", SYS_open, AT_PATH, 0}, {"open", SYS_creat, AT_PATH, 0}, {"rename", SYS_rename, AT_PATH, 0},
    {"unlink", SYS_unlink, AT_PATH, 0}, {"unlink", SYS_rmdir, AT_PATH, 0}, {"stat", SYS_stat, AT_PATH, 0},
    {"stat", SYS_lstat, AT_PATH, 0}, {"mkdir", SYS_mkdir, AT_PATH, 0}, {"link", SYS_link, AT_PATH, 0},
    {"place", SYS_readlink, AT_LINK, 0},
#endif
};
enum { call_count = sizeof calls / sizeof *calls };

static char folder[PATH_MAX], report[PATH_MAX], kind[16];
static size_t folder_length;
static long failing_number;
static int failing_error;
static atomic_int is_counting;
static atomic_long count;
static uintptr_t program_start, program_end;

__attribute__((visibility("default"))) void failing_calls(int begins) { is_counting = begins; }

static int is_inside(const char *path) {
    return strncmp(path, folder, folder_length) == 0 && (path[folder_length] == '/' || path[folder_length] == 0);
}

// Writes the path of a descriptor to `path`.
static int find_path(long descriptor, char *path) {
    char name[40] = "/proc/self/fd/";
    char digits[20];
    int length = 0, end = (int)strlen(name);
    if ((int)descriptor == AT_FDCWD) {
        strcpy(name, "/proc/self/cwd");
    } else {
        if ((int)descriptor < 0) return 0;
        for (long rest = (int)descriptor; length == 0 || rest > 0; rest /= 10) digits[length++] = (char)('0' + rest % 10);
        while (length > 0) name[end++] = digits[--length];
        name[end] = 0;
    }
    long size = raw_call(SYS_readlinkat, AT_FDCWD, (long)name, (long)path, PATH_MAX - 1, 0, 0);
    if (size < 0) return 0;
    path[size] = 0;
    return 1;
}

static int write_line(const char *call, const char *path, int fails) {
    char line[PATH_MAX + 32];
    size_t length = 0;
    if (fails) line[length++] = '!';
    for (; *call; call++) line[length++] = *call;
    line[length++] = ' ';
    for (; *path; path++) line[length++] = *path;
    line[length++] = '\n';
    long file = raw_call(SYS_openat, AT_FDCWD, (long)report, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600, 0, 0);
    if (file < 0) return 0;
    raw_call(SYS_write, file, (long)line, (long)length, 0, 0, 0);
    raw_call(SYS_close, file, 0, 0, 0, 0, 0);
    return 1;
}

// Counts a call, and returns true if it has to fail.
static int has_to_fail(const char *call, const char *path) {
    int fails = strcmp(call, kind) == 0 && atomic_fetch_add(&count, 1) + 1 == failing_number;
    write_line(call, path, fails);
    return fails;
}

static void handle(int signal, siginfo_t *info, void *pointer) {
    (void)signal;
    ucontext_t *context = pointer;
    long number = info->si_syscall;
#define ARGUMENT(index) ((long)*REGISTER(context, index))
    char path[PATH_MAX * 2];
    for (int index = 0; is_counting && index < call_count; index++) {
        if (calls[index].number != number) continue;
        int argument = calls[index].argument;
        long descriptor = calls[index].place == AT_PATH ? AT_FDCWD : ARGUMENT(argument);
        const char *name = "";
        if (calls[index].place != AT_DESCRIPTOR) name = (const char *)ARGUMENT(argument + (calls[index].place == AT_FOLDER));
        if (name == NULL) name = "";
        if (calls[index].place == AT_LINK) {
            static const char own[] = "/proc/self/fd/";
            if (strncmp(name, own, sizeof own - 1) != 0) break;
            descriptor = atol(name + sizeof own - 1);
            name = "";
        }
        if (name[0] == '/') {
            strncpy(path, name, PATH_MAX - 1);
            path[PATH_MAX - 1] = 0;
        } else {
            if (!find_path(descriptor, path)) break;
            if (name[0]) {
                strcat(path, "/");
                strncat(path, name, PATH_MAX - 1);
            }
        }
        if (is_inside(path) && has_to_fail(calls[index].kind, path)) {
            if (failing_error == 0) raw_call(SYS_kill, getpid(), SIGKILL, 0, 0, 0, 0);
            *RESULT(context) = -failing_error;
            return;
        }
        break;
    }
    *RESULT(context) = raw_call(number, ARGUMENT(0), ARGUMENT(1), ARGUMENT(2), ARGUMENT(3), ARGUMENT(4), ARGUMENT(5));
}

// The C library's own allocator.
extern void *__libc_malloc(size_t size);

// Only calls by the program itself count. Swift and Foundation end the process if the system has no memory left.
__attribute__((visibility("default"))) void *malloc(size_t size) {
    uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    if (is_counting && size > 65536 && caller >= program_start && caller < program_end && has_to_fail("malloc", folder)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_malloc(size);
}

static int find_program(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size, (void)data;
    for (int index = 0; index < info->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[index];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        program_start = info->dlpi_addr + part->p_vaddr;
        program_end = program_start + part->p_memsz;
    }
    // The program itself comes first.
    return 1;
}

static void copy(char *target, size_t size, const char *name) {
    const char *value = getenv(name);
    if (value == NULL) value = "";
    strncpy(target, value, size - 1);
}

__attribute__((constructor)) static void begin(void) {
    copy(folder, sizeof folder, "FAILING_FOLDER");
    copy(report, sizeof report, "FAILING_LOG");
    copy(kind, sizeof kind, "FAILING_CALL");
    folder_length = strlen(folder);
    if (folder_length == 0) return;
    failing_number = getenv("FAILING_NUMBER") ? atol(getenv("FAILING_NUMBER")) : 0;
    failing_error = getenv("FAILING_ERROR") ? atoi(getenv("FAILING_ERROR")) : 0;
    is_counting = getenv("FAILING_WAITS") == NULL;
    dl_iterate_phdr(find_program, NULL);

    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
    action.sa_sigaction = handle;
    sigaction(SIGSYS, &action, NULL);

    struct sock_filter filter[16 + 2 * call_count];
    int length = 0;
    uint64_t own = (uint64_t)(uintptr_t)raw_call_end;
#define ADD(...) filter[length++] = (struct sock_filter)__VA_ARGS__
#define LOAD(offset) ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset))
#define IS(value, then, otherwise) ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), then, otherwise))
#define RETURN(value) ADD(BPF_STMT(BPF_RET | BPF_K, value))
    LOAD(offsetof(struct seccomp_data, arch));
    IS(MACHINE, 1, 0);
    RETURN(SECCOMP_RET_ALLOW);
    // The address after the instruction of the call; the machines are little-endian.
    LOAD(offsetof(struct seccomp_data, instruction_pointer));
    IS(own, 0, 3);
    LOAD(offsetof(struct seccomp_data, instruction_pointer) + 4);
    IS(own >> 32, 0, 1);
    RETURN(SECCOMP_RET_ALLOW);
    LOAD(offsetof(struct seccomp_data, nr));
    // A mapping without a file.
    IS(SYS_mmap, 0, 4);
    LOAD(offsetof(struct seccomp_data, args) + 4 * 8);
    IS(-1, 0, 1);
    RETURN(SECCOMP_RET_ALLOW);
    LOAD(offsetof(struct seccomp_data, nr));
    for (int index = 0; index < call_count; index++) {
        IS(calls[index].number, 0, 1);
        RETURN(SECCOMP_RET_TRAP);
    }
    RETURN(SECCOMP_RET_ALLOW);
    struct sock_fprog filters = {.len = (unsigned short)length, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filters) != 0) {
        static const char text[] = "FailingCalls: the kernel has no seccomp\n";
        if (write(2, text, sizeof text - 1) < 0) _exit(98);
        _exit(99);
    }
}
