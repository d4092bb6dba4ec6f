//! What the passes know about external functions.

/// Functions that neither set errno nor call back, by name: the string, memory, character and integer parts
/// of libc, and the intrinsics of the analysers. Around all others errno is copied, so a name missing here
/// costs a few instructions and never correctness.
const QUIET: &[&str] = &[
    "__ctype_b_loc",
    "__ctype_tolower_loc",
    "__ctype_toupper_loc",
    "__errno_location",
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

/// Whether a call of this external function leaves errno alone.
pub(crate) fn keeps_errno(name: &str) -> bool {
    name.starts_with("llvm.")
        || name.starts_with("klee_")
        || name.starts_with("__sanitizer_")
        || name.starts_with("__asan_")
        || name.starts_with("__ubsan_")
        || name.starts_with("_Unwind_")
        || name.starts_with("__cxa_")
        || QUIET.contains(&name)
}

/// Whether this external function may call back into the program, as far as its name tells: functions of
/// [`keeps_errno`] never do.
pub(crate) fn may_call_back(name: &str) -> bool {
    !keeps_errno(name) || name.starts_with("__cxa_") || name.starts_with("_Unwind_")
}
