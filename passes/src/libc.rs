//! What the passes know about external functions.

use crate::llvm::Value;

/// Functions that neither set errno nor call back, by name: the string, memory, character and integer parts
/// of libc, and the intrinsics of the analysers. Around all others errno is copied, so a name missing here
/// costs a few instructions and never correctness.
const QUIET: &[&str] = &[
    "__ctype_b_loc",
    "__ctype_tolower_loc",
    "__ctype_toupper_loc",
    "__errno_location",
    "__fpending",
    "__memcpy_chk",
    "__memmove_chk",
    "__memset_chk",
    "__stpcpy_chk",
    "__strcat_chk",
    "__strcpy_chk",
    "__strncat_chk",
    "__strncpy_chk",
    "abs",
    "bcmp",
    "bcopy",
    "bzero",
    "div",
    "ffs",
    "ffsl",
    "ffsll",
    "fabs",
    "fabsf",
    "fabsl",
    "free",
    "imaxabs",
    "isalnum",
    "isalpha",
    "isascii",
    "isblank",
    "iscntrl",
    "isdigit",
    "isgraph",
    "islower",
    "isprint",
    "ispunct",
    "isspace",
    "isupper",
    "isxdigit",
    "labs",
    "ldiv",
    "llabs",
    "lldiv",
    "memccpy",
    "memchr",
    "memcmp",
    "memcpy",
    "memmem",
    "memmove",
    "mempcpy",
    "memrchr",
    "memset",
    "p3_end_in_klee",
    "pthread_equal",
    "pthread_getspecific",
    "pthread_self",
    "rawmemchr",
    "stpcpy",
    "stpncpy",
    "strcasecmp",
    "strcasestr",
    "strcat",
    "strchr",
    "strchrnul",
    "strcmp",
    "strcpy",
    "strcspn",
    "strlen",
    "strncasecmp",
    "strncat",
    "strncmp",
    "strncpy",
    "strnlen",
    "strpbrk",
    "strrchr",
    "strsep",
    "strspn",
    "strstr",
    "strtok_r",
    "strverscmp",
    "swab",
    "toascii",
    "tolower",
    "toupper",
    "wcscat",
    "wcschr",
    "wcscmp",
    "wcscpy",
    "wcslen",
    "wcsncmp",
    "wcsncpy",
    "wmemchr",
    "wmemcmp",
    "wmemcpy",
    "wmemmove",
    "wmemset",
    "setjmp",
    "_setjmp",
    "__sigsetjmp",
    "sigsetjmp",
    "longjmp",
    "_longjmp",
    "siglongjmp",
    "__longjmp_chk",
];

/// Functions that may set errno but never call back, among those that programs call often.
const NO_CALLBACK: &[&str] = &[
    "__strdup",
    "__strndup",
    "__strtod_internal",
    "__strtol_internal",
    "__strtoul_internal",
    "aligned_alloc",
    "atof",
    "atoi",
    "atol",
    "atoll",
    "btowc",
    "calloc",
    "duplocale",
    "exp",
    "fmod",
    "freelocale",
    "gmtime_r",
    "log",
    "malloc",
    "mblen",
    "mbrlen",
    "mbrtowc",
    "mbsinit",
    "mbsnrtowcs",
    "mbsrtowcs",
    "mbstowcs",
    "mbtowc",
    "memalign",
    "newlocale",
    "nl_langinfo",
    "nl_langinfo_l",
    "p3_environ_changed",
    "posix_memalign",
    "pow",
    "pthread_setspecific",
    "realloc",
    "reallocarray",
    "register_printf_specifier",
    "sqrt",
    "strcoll",
    "strdup",
    "strndup",
    "strtod",
    "strtof",
    "strtoimax",
    "strtol",
    "strtold",
    "strtoll",
    "strtoul",
    "strtoull",
    "strtoumax",
    "strxfrm",
    "towlower",
    "towupper",
    "uselocale",
    "wcrtomb",
    "wcscoll",
    "wcsdup",
    "wcsrtombs",
    "wcstombs",
    "wcsxfrm",
    "wctob",
    "wctomb",
    "wcwidth",
];

/// The runtime's functions that make a version the one that the process's attributes belong to.
const SWITCHES: [&str; 4] = [SWITCH_ALL, SWITCH_FOR, SWITCH_LIGHT, SWITCH_TURN];
/// The one that exchanges everything.
pub(crate) const SWITCH_ALL: &str = "p3_enter";
/// The same before a call through a pointer, which is its second argument: not for functions of the versions.
pub(crate) const SWITCH_FOR: &str = "p3_enter_for";
/// The one that leaves out what functions of libc do not look at: descriptors 0-2, locale, `environ`.
pub(crate) const SWITCH_LIGHT: &str = "p3_touch";
/// The one that matters only if some version does something about signals.
pub(crate) const SWITCH_TURN: &str = "p3_take_turn";

/// Whether a function is one of those by which a version becomes the owner of the process.
pub(crate) fn switches_version(name: &str) -> bool {
    SWITCHES.contains(&name)
}

/// Whether this is a call by which a version becomes that before a call through a pointer.
pub(crate) fn switches_for_pointer(instruction: Value) -> bool {
    instruction.is_call()
        && instruction
            .called_function()
            .is_some_and(|callee| callee.name() == SWITCH_FOR.as_bytes())
}

/// The instruction right before this one, if by that a version becomes the owner for this call through a pointer.
pub(crate) fn switch_for(instruction: Value) -> Option<Value> {
    let before = instruction.previous_instruction()?;
    let is_switch = switches_for_pointer(before)
        && instruction.is_call()
        && instruction.called_operand() == before.operand(1);
    is_switch.then_some(before)
}

/// The functions of libc by which a program goes on in a child as well.
pub(crate) const FORKS: [&str; 8] = [
    "_Fork",
    "__fork",
    "__libc_fork",
    "__vfork",
    "daemon",
    "fork",
    "forkpty",
    "vfork",
];

/// Whether this function of libc may return in a new process as well: one of [`FORKS`], or one that makes the
/// system call.
pub(crate) fn returns_in_child(name: &str) -> bool {
    FORKS.contains(&name) || ["clone", "syscall"].contains(&name)
}

/// Whether this function of libc lets other code of the program begin while the program runs: handlers of
/// signals, timers, threads.
pub(crate) fn is_asynchronous(name: &str) -> bool {
    const ASYNCHRONOUS: [&str; 20] = [
        "__sysv_signal",
        "alarm",
        "bsd_signal",
        "fcntl",
        "getcontext",
        "mq_notify",
        "pthread_create",
        "setitimer",
        "sigaction",
        "signal",
        "sigset",
        "sigvec",
        "ssignal",
        "sysv_signal",
        "thrd_create",
        "timer_create",
        "timer_settime",
        "ualarm",
        "__sigaction",
        "__signal",
    ];
    ASYNCHRONOUS.contains(&name)
}

/// Functions of libc that depend on the current directory, the umask, the signals or the limits, or wait, but
/// not on descriptors 0-2, the locale and `environ`. Missing names cost time only: everything is exchanged for
/// them.
const LIGHT: &[&str] = &[
    "__overflow",
    "__fxstat",
    "__fxstatat",
    "__lxstat",
    "__mknod",
    "__xstat",
    "access",
    "chmod",
    "chown",
    "creat",
    "eaccess",
    "euidaccess",
    "faccessat",
    "fchmodat",
    "fchownat",
    "fgetpos",
    "fgetpos64",
    "fopen",
    "fopen64",
    "fseek",
    "fseeko",
    "fseeko64",
    "fsetpos",
    "fsetpos64",
    "fstatat",
    "fstatat64",
    "ftell",
    "ftello",
    "ftello64",
    "ftok",
    "ftw",
    "fts_open",
    "futimesat",
    "getcwd",
    "get_current_dir_name",
    "getwd",
    "getxattr",
    "glob",
    "lchmod",
    "lchown",
    "lgetxattr",
    "link",
    "linkat",
    "listxattr",
    "llistxattr",
    "lremovexattr",
    "lsetxattr",
    "lstat",
    "lstat64",
    "lutimes",
    "mkdir",
    "mkdirat",
    "mkdtemp",
    "mkfifo",
    "mkfifoat",
    "mknod",
    "mknodat",
    "mkostemp",
    "mkostemps",
    "mkstemp",
    "mkstemp64",
    "mkstemps",
    "name_to_handle_at",
    "nanosleep",
    "nftw",
    "open",
    "open64",
    "openat",
    "openat64",
    "opendir",
    "pathconf",
    "readlink",
    "readlinkat",
    "realpath",
    "remove",
    "removexattr",
    "rename",
    "renameat",
    "renameat2",
    "rewind",
    "rmdir",
    "scandir",
    "setxattr",
    "sleep",
    "stat",
    "stat64",
    "statfs",
    "statfs64",
    "statvfs",
    "statvfs64",
    "statx",
    "symlink",
    "symlinkat",
    "truncate",
    "truncate64",
    "unlink",
    "unlinkat",
    "usleep",
    "utime",
    "utimensat",
    "utimes",
];

/// Functions of libc that read from a FILE. Signals may interrupt them while they wait; before they do they may
/// write out a line-buffered standard output, which is the runtime's work.
const TURN: &[&str] = &[
    "_IO_getc",
    "__getdelim",
    "__uflow",
    "__underflow",
    "fgetc",
    "fgetc_unlocked",
    "fgets",
    "fgets_unlocked",
    "fread",
    "fread_unlocked",
    "getc",
    "getc_unlocked",
    "getdelim",
    "getline",
    "getw",
];

/// Functions of libc beside those of [`keeps_errno`] and [`NO_CALLBACK`] for which it does not matter which
/// version owns the process.
const INDIFFERENT: &[&str] = &[
    "__fbufsize",
    "__flbf",
    "__fpurge",
    "__freadable",
    "__freading",
    "__fsetlocking",
    "__fwritable",
    "__fwriting",
    "acos",
    "asin",
    "atan",
    "atan2",
    "bsearch",
    "cbrt",
    "ceil",
    "clearerr",
    "clearerr_unlocked",
    "closedir",
    "cos",
    "cosh",
    "endgrent",
    "endpwent",
    "exp2",
    "expm1",
    "feof",
    "feof_unlocked",
    "ferror",
    "ferror_unlocked",
    "flockfile",
    "floor",
    "frexp",
    "ftrylockfile",
    "funlockfile",
    "getegid",
    "geteuid",
    "getgid",
    "getgroups",
    "gethostname",
    "getpagesize",
    "getuid",
    "hypot",
    "ldexp",
    "lfind",
    "log10",
    "log1p",
    "log2",
    "lsearch",
    "madvise",
    "malloc_usable_size",
    "modf",
    "mprotect",
    "mremap",
    "munmap",
    "pthread_cond_broadcast",
    "pthread_cond_destroy",
    "pthread_cond_init",
    "pthread_cond_signal",
    "pthread_cond_wait",
    "pthread_mutex_destroy",
    "pthread_mutex_init",
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_mutex_unlock",
    "pthread_rwlock_destroy",
    "pthread_rwlock_init",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_tryrdlock",
    "pthread_rwlock_trywrlock",
    "pthread_rwlock_unlock",
    "pthread_rwlock_wrlock",
    "qsort",
    "qsort_r",
    "readdir",
    "readdir64",
    "regfree",
    "rewinddir",
    "round",
    "sin",
    "sinh",
    "strsignal",
    "sysconf",
    "tan",
    "tanh",
    "tdelete",
    "tfind",
    "trunc",
    "tsearch",
    "twalk",
    "uname",
    "ungetc",
];

/// What of the process's attributes a call of an external function needs to be the calling version's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Switch {
    /// Nothing.
    None,
    /// The signals, if any version does something about them.
    Turn,
    /// Current directory, umask, signals and limits.
    Light,
    /// Everything.
    All,
}

/// What a call of this external function needs. `in_runtime`: the caller is a shim, which exchanges by itself
/// what is not needed for paths and waiting.
pub(crate) fn switch_before(name: &str, in_runtime: bool) -> Switch {
    if LIGHT.contains(&name) {
        Switch::Light
    } else if TURN.contains(&name) && !in_runtime {
        Switch::Turn
    } else if in_runtime
        || !may_call_back(name)
        || INDIFFERENT.contains(&name)
        || INDIFFERENT
            .iter()
            .any(|known| name.strip_suffix(['f', 'l']) == Some(known))
    {
        Switch::None
    } else {
        Switch::All
    }
}

/// Whether a call of this external function leaves errno alone.
pub(crate) fn keeps_errno(name: &str) -> bool {
    name.starts_with("llvm.")
        || switches_version(name)
        || name.starts_with("klee_")
        || name.starts_with("p3_memory_")
        || name.starts_with("p3_spec_")
        || name.starts_with("__sanitizer_")
        || name.starts_with("__asan_")
        || name.starts_with("__ubsan_")
        || name.starts_with("_Unwind_")
        || name.starts_with("__cxa_")
        || QUIET.contains(&name)
}

/// Whether this external function may call back into the program, as far as its name tells: functions of
/// [`keeps_errno`] never do, nor those of [`NO_CALLBACK`].
pub(crate) fn may_call_back(name: &str) -> bool {
    !keeps_errno(name) && !NO_CALLBACK.contains(&name)
        || name.starts_with("__cxa_")
        || name.starts_with("_Unwind_")
}
