"""Names in generated source: those a user may give, and new ones that meet no other.

A kernel's inputs and outputs have names of the user's choice, which become arguments in Python and C. An emitter takes them as
they are if its language has them free, and else makes others.
Everything else that an emitter names, temporaries above all, is named after them.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from torsor.errors import ArgumentError


def is_python_argument(name: str) -> bool:
    """Whether an argument of a Python function can have this name."""
    plain = name.isidentifier() and unicodedata.normalize("NFKC", name) == name
    return plain and not keyword.iskeyword(name) and name != "__debug__"


def is_free_in_c(name: str) -> bool:
    """Whether a function or variable in C, and in C++, can have this name in any program."""
    return bool(re.fullmatch(r"(?!_[_A-Z])[A-Za-z_][A-Za-z0-9_]*", name)) and name not in KEYWORDS | LIBRARY


def c_function(stem: str) -> str:
    """The C function that a file of this name holds, or the reason why there is none."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", stem):
        reason = "is no C identifier"
    elif stem in KEYWORDS:
        reason = "is a keyword of C or C++"
    elif stem in HEADERS:
        reason = f"would write {stem}.h, a header of the C library"
    elif not is_free_in_c(stem):
        reason = "is a name of the C library, or one that C keeps for itself"
    else:
        return stem
    raise ArgumentError(
        f"to_c: the file name gives the function its name; {stem!r:.60} {reason}. "
        f"Type another, for instance to_c('{identifier(stem)[:60]}_kernel.c')."
    )


def c_function_of(path: Path) -> str:
    """The C function that a file holds; its ending is .c, or left out."""
    if path.suffix not in ("", ".c"):
        raise ArgumentError(
            f"to_c: what is written is C; the file name ends in .c, got {path.name!r:.60}. "
            f"Type another, for instance to_c('{identifier(path.stem)[:60]}.c')."
        )
    return c_function(path.stem)


def identifier(name: str) -> str:
    """An identifier of ASCII letters that resembles a name: Greek letters are spelt out, what has no letter becomes _."""
    text = "".join(map(_spelt, unicodedata.normalize("NFKD", name)))
    text = f"x{text}" if text[:1].isdigit() else text
    plain = text.lstrip("_") if re.match(r"_[_A-Z]|_*$", text) else text
    return plain or "x"


def _spelt(letter: str) -> str:
    if letter.isascii():
        return letter if letter.isalnum() else "_"
    words = unicodedata.name(letter, "").split()
    if words[:1] == ["GREEK"] and "LETTER" in words:
        return words[-1].capitalize() if "CAPITAL" in words else words[-1].lower()
    return "" if unicodedata.combining(letter) else "_"


class Names:
    """The names of one piece of source. ``free`` tells whether its language allows a name."""

    def __init__(self, free: Callable[[str], bool], taken: Iterable[str] = ()) -> None:
        self._free, self._taken = free, set(taken)

    def of_ports(self, inputs: Sequence[str], outputs: Sequence[str] = ()) -> tuple[list[str], list[str]]:
        """A name for each input and output: its own if it is free, else one with "_in" or "_out" behind."""
        wanted = [*((name, "in") for name in inputs), *((name, "out") for name in outputs)]
        own = [(name if self._take(name) else None, name, role) for name, role in wanted]
        found = [name or self.fresh(f"{identifier(wish)}_{role}") for name, wish, role in own]
        return found[: len(inputs)], found[len(inputs) :]

    def fresh(self, wish: str) -> str:
        """A name like ``wish`` that nothing else has."""
        name, k = wish, 2
        while not self._take(name):
            name, k = f"{wish}_{k}", k + 1
        return name

    def numbered(self, wish: str) -> str:
        """What gives, with a number and more behind it, a name that nothing else has; ask for it after all others."""
        while any(re.match(rf"{wish}\d", name) for name in self._taken):
            wish += "_"
        return wish

    def _take(self, name: str) -> bool:
        if name in self._taken or not self._free(name):
            return False
        self._taken.add(name)
        return True


# Names that C and C++ have taken: keywords, and what the C library declares, defines as macros or links against


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


KEYWORDS = _words(
    """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    alignas alignof bool constexpr false nullptr static_assert thread_local true typeof typeof_unqual asm fortran
    and and_eq bitand bitor catch char8_t char16_t char32_t class compl concept const_cast consteval constinit co_await
    co_return co_yield decltype delete dynamic_cast explicit export friend mutable namespace new noexcept not not_eq
    operator or or_eq private protected public reinterpret_cast requires static_cast template this throw try typeid
    typename using virtual wchar_t xor xor_eq
    """
)

_FLOATING = _words(
    """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax fmin
    fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter
    nexttoward pow remainder remquo rint round scalbln scalbn sin sinh sqrt tan tanh tgamma trunc
    drem exp10 finite gamma j0 j1 jn pow10 scalb significand sincos y0 y1 yn
    cabs cacos cacosh carg casin casinh catan catanh ccos ccosh cexp cimag clog conj cpow cproj creal csin csinh csqrt ctan
    ctanh
    """
)

LIBRARY = frozenset(f"{name}{kind}" for name in _FLOATING for kind in ("", "f", "l")) | _words(
    """
    main linux unix i386 off_t pid_t mode_t uint ulong ushort isatty nice syscall sysconf strtok_r strerror_r mkstemp
    isinff isinfl isnanf isnanl lgamma_r lgammaf_r lgammal_r L_ctermid renameat tmpnam_r fmemopen ftrylockfile funlockfile
    clearerr_unlocked feof_unlocked ferror_unlocked fflush_unlocked fgetc_unlocked fileno_unlocked fputc_unlocked
    fread_unlocked fwrite_unlocked getc_unlocked getchar_unlocked putc_unlocked putchar_unlocked
    fpclassify isfinite isgreater isgreaterequal isinf isless islessequal islessgreater isnan isnormal isunordered signbit
    signgam float_t double_t HUGE_VAL HUGE_VALF HUGE_VALL INFINITY NAN FP_FAST_FMA FP_FAST_FMAF FP_FAST_FMAL FP_ILOGB0
    FP_ILOGBNAN FP_INFINITE FP_NAN FP_NORMAL FP_SUBNORMAL FP_ZERO MATH_ERREXCEPT MATH_ERRNO math_errhandling MAXFLOAT
    DOMAIN OVERFLOW PLOSS SING TLOSS UNDERFLOW X_TLOSS HUGE
    M_1_PI M_2_PI M_2_SQRTPI M_E M_LN10 M_LN2 M_LOG10E M_LOG2E M_PI M_PI_2 M_PI_4 M_SQRT1_2 M_SQRT2
    BUFSIZ EOF FILE FILENAME_MAX FOPEN_MAX L_tmpnam NULL SEEK_CUR SEEK_END SEEK_SET TMP_MAX P_tmpdir stderr stdin stdout
    clearerr ctermid dprintf fclose fdopen feof ferror fflush fgetc fgetpos fgets fileno flockfile fopen fpos_t fprintf fputc
    fputs fread freopen fscanf fseek fseeko fsetpos ftell ftello fwrite getc getchar getdelim getline gets getw open_memstream
    pclose perror popen printf putc putchar puts putw remove rename rewind scanf setbuf setbuffer setlinebuf setvbuf snprintf
    sprintf sscanf tempnam tmpfile tmpnam ungetc vdprintf vfprintf vfscanf vprintf vscanf vsnprintf vsprintf vsscanf
    abort abs alloca atexit atof atoi atol atoll bsearch calloc div div_t exit free getenv labs ldiv ldiv_t llabs lldiv
    lldiv_t malloc mblen mbstowcs mbtowc posix_memalign putenv qsort rand random realloc realpath setenv srand srandom strtod
    strtof strtol strtold strtoll strtoul strtoull system unsetenv wcstombs wctomb EXIT_FAILURE EXIT_SUCCESS MB_CUR_MAX
    RAND_MAX aligned_alloc quick_exit at_quick_exit
    bcmp bcopy bzero ffs index memccpy memchr memcmp memcpy memmove mempcpy memset rindex stpcpy strcasecmp strcat strchr
    strcmp strcoll strcpy strcspn strdup strerror strlen strncasecmp strncat strncmp strncpy strndup strnlen strpbrk strrchr
    strsep strspn strstr strtok strxfrm swab
    isalnum isalpha isascii isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit toascii tolower
    toupper iswalnum towlower towupper
    asctime clock clock_gettime clock_t CLOCKS_PER_SEC ctime difftime gmtime localtime mktime nanosleep strftime time time_t
    timegm timer_t times timespec tm tzset
    assert static_assert errno EDOM EILSEQ ERANGE raise signal sigaction sig_atomic_t SIGABRT SIGFPE SIGILL SIGINT SIGSEGV
    SIGTERM SIG_DFL SIG_ERR SIG_IGN jmp_buf longjmp setjmp localeconv setlocale lconv
    va_arg va_copy va_end va_list va_start max_align_t offsetof ptrdiff_t size_t ssize_t I complex imaginary noreturn
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intmax_t uintmax_t intptr_t uintptr_t
    CHAR_BIT CHAR_MAX CHAR_MIN INT_MAX INT_MIN LONG_MAX LONG_MIN LLONG_MAX LLONG_MIN SCHAR_MAX SCHAR_MIN SHRT_MAX SHRT_MIN
    UCHAR_MAX UINT_MAX ULONG_MAX ULLONG_MAX USHRT_MAX SIZE_MAX DBL_DIG DBL_EPSILON DBL_MAX DBL_MIN FLT_DIG FLT_EPSILON FLT_MAX
    FLT_MIN FLT_RADIX FLT_ROUNDS LDBL_DIG LDBL_EPSILON LDBL_MAX LDBL_MIN
    feclearexcept fegetenv fegetround feholdexcept feraiseexcept fesetenv fesetround fetestexcept feupdateenv
    FE_ALL_EXCEPT FE_DIVBYZERO FE_DOWNWARD FE_INEXACT FE_INVALID FE_OVERFLOW FE_TONEAREST FE_TOWARDZERO FE_UNDERFLOW FE_UPWARD
    accept access alarm bind brk chdir chmod chown close connect creat dup dup2 environ execl execle execlp execv execve execvp
    fcntl fork fstat fsync ftruncate getcwd getopt getpid getuid gettext ioctl kill link listen lseek lstat mkdir mmap mprotect
    munmap open optarg opterr optind optopt pause pipe poll pread pwrite read readlink recv rmdir sbrk select send sendto sleep
    socket stat symlink sync truncate umask unlink usleep vfork wait waitpid write thrd_create thrd_t mtx_lock
    """
)

HEADERS = _words(
    """
    assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic stdbit
    stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar unistd wchar wctype
    """
)
