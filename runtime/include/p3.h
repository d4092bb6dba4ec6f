/* p3.h: what a program says about itself to p3-ir, which runs all of its versions together.
 *
 *   pp_assert(PP1(found) == PP2(found));      must hold whenever both versions are here in lock-step
 *   pp_assume(PP1(n) == PP2(n));              inputs for which it does not hold are of no interest
 *   pp_output("sum", &sum, sizeof sum);       what the check `output` compares, instead of stdout and stderr
 *   pp_input(buffer, sizeof buffer, "text");  the same symbolic or fuzzed bytes in every version
 *
 * PPi(E), i from 1 to 16, is the value of E in version i's own scope there. A specification stands in all versions
 * that it names, word for word, and E compiles in all of them; or it stands in the newest one only and says
 * PPi_VAR(TYPE, PATH) for what it wants of an older one: a variable of version i by its name, `first`, or what it
 * leads to, `first.value`, `list->next->size`, `words[2]`, found through debug info (compile with -g).
 *
 * The relation is computed by one version's code, with that version's types: values of the others are converted,
 * so it is the version with the widest types that does it. Arrays are pointers to their first elements. An
 * operand is computed only if the relation asks for it (`PP1(p) && PP2(p) && strcmp(PP1(p), PP2(p)) == 0`). It must
 * have no effect but its value, and an aggregate in it must be laid out alike in the versions named.
 *
 * In a program that is no product all of this does nothing: nothing is evaluated, and no library is needed. With
 * P3_OFF defined, or a compiler that does not speak GNU C, there is not even code. */
#ifndef P3_H
#define P3_H

#if defined __GNUC__
#pragma GCC system_header
#endif

#if defined P3_OFF || !defined __GNUC__

#define pp_assert(...) ((void)0)
#define pp_assume(...) ((void)0)
#define pp_output(name, pointer, size) ((void)0)
#define pp_input(pointer, size, name) ((void)0)

#else

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Null in a program that is no product. A call that the compiler merged with another one would have lost its
 * place. */
#if defined __has_attribute
#if __has_attribute(nomerge)
#define P3_CALL_ __attribute__((weak, nothrow, nomerge))
#endif
#endif
#ifndef P3_CALL_
#define P3_CALL_ __attribute__((weak, nothrow))
#endif

struct p3_spec;
P3_CALL_ struct p3_spec *p3_spec_begin(int what, const char *file, int line, const char *text);
P3_CALL_ int p3_spec_operand(struct p3_spec *spec, int version, int number, const char *text);
P3_CALL_ void p3_spec_put(struct p3_spec *spec, int number, const void *value, size_t size, int kind);
P3_CALL_ int p3_spec_get(struct p3_spec *spec, int number, void *value, size_t size, int kind);
P3_CALL_ void p3_spec_end(struct p3_spec *spec, int holds);
P3_CALL_ void p3_output(const char *name, const void *pointer, size_t size);
P3_CALL_ void p3_input(void *pointer, size_t size, const char *name);
P3_CALL_ int p3_model_failed(int what, const char *file, int line, const char *text);

#ifdef __cplusplus
}

/* By value an array is a pointer, a bit-field a value, and nothing is const. */
template <class T> T p3_value_(T);

template <class T, bool is_integer> struct p3_kind_of_ { enum { value = 0 }; };
template <class T> struct p3_kind_of_<T, true> { enum { value = (T)-1 < (T)1 ? 1 : 2 }; };
template <> struct p3_kind_of_<bool, true> { enum { value = 2 }; };
template <> struct p3_kind_of_<float, false> { enum { value = 3 }; };
template <> struct p3_kind_of_<double, false> { enum { value = 3 }; };
template <> struct p3_kind_of_<long double, false> { enum { value = 3 }; };
template <class T> struct p3_kind_of_<T *, false> { enum { value = 4 }; };
template <> struct p3_kind_of_<char *, false> { enum { value = 5 }; };
template <> struct p3_kind_of_<const char *, false> { enum { value = 5 }; };
template <class T> struct p3_is_integer_ { enum { value = __is_enum(T) }; };
#define P3_INTEGER_(T) template <> struct p3_is_integer_<T> { enum { value = 1 }; };
P3_INTEGER_(bool) P3_INTEGER_(char) P3_INTEGER_(signed char) P3_INTEGER_(unsigned char) P3_INTEGER_(short)
P3_INTEGER_(unsigned short) P3_INTEGER_(int) P3_INTEGER_(unsigned) P3_INTEGER_(long) P3_INTEGER_(unsigned long)
P3_INTEGER_(long long) P3_INTEGER_(unsigned long long) P3_INTEGER_(wchar_t)
#undef P3_INTEGER_
#define P3_TYPE_(...) __typeof__(p3_value_((__VA_ARGS__)))
#define P3_KIND_(of) p3_kind_of_<__typeof__(of), p3_is_integer_<__typeof__(of)>::value>::value

#else

/* Behind a comma an array is a pointer, a bit-field a value, and nothing is const. */
#define P3_TYPE_(...) __typeof__(((void)0, (__VA_ARGS__)))
#define P3_KIND_(of)                                                                                        \
  _Generic((of), _Bool: 2, char: (char)-1 < 0 ? 1 : 2, signed char: 1, short: 1, int: 1, long: 1,           \
           long long: 1, __int128: 1, unsigned char: 2, unsigned short: 2, unsigned: 2, unsigned long: 2,      \
           unsigned long long: 2, unsigned __int128: 2, float: 3, double: 3, long double: 3, char *: 5,        \
           const char *: 5, default: __builtin_classify_type(of) == 5 ? 4 : 0)

#endif

#define P3_ASSERT_ 0
#define P3_ASSUME_ 1

#ifdef P3_MODEL

/* In a hand-written product function (`merge --spec`) all versions' values are there. */
#define P3_SPEC_(what, text, ...)                                                                              \
  do {                                                                                                         \
    if (!(__VA_ARGS__) && p3_model_failed(what, __FILE__, __LINE__, text))                                     \
      __builtin_abort();                                                                              \
  } while (0)

#else

/* Operands are numbered: __COUNTER__ has grown by the same in every version between an operand, which is expanded
 * as an argument, and the place around it. */
#define P3_SPEC_(what, text, ...)                                                                              \
  do {                                                                                                         \
    __label__ p3_out_;                                                                                         \
    enum { p3_base_ = __COUNTER__ };                                                                           \
    if (p3_spec_begin) {                                                                                       \
      struct p3_spec *p3_spec_ = p3_spec_begin(what, __FILE__, __LINE__, text);                                \
      if (p3_spec_) {                                                                                          \
        int p3_holds_ = -1;                                                                                    \
        p3_holds_ = (__VA_ARGS__) ? 1 : 0;                                                                     \
      p3_out_:                                                                                                 \
        p3_spec_end(p3_spec_, p3_holds_);                                                                      \
      }                                                                                                        \
    }                                                                                                          \
  } while (0)

#endif

/* The version's own operand is computed, another's taken; if that is not known yet, this version has to wait. */
#define P3_OPERAND_(version, number, text, ...)                                                                \
  __extension__({                                                                                              \
    P3_TYPE_(__VA_ARGS__) p3_value_;                                                                           \
    int p3_way_ = p3_spec_operand(p3_spec_, version, p3_base_ - (number), text);                               \
    if (p3_way_ == 1) {                                                                                        \
      p3_value_ = (__VA_ARGS__);                                                                               \
      p3_spec_put(p3_spec_, p3_base_ - (number), &p3_value_, sizeof p3_value_, P3_KIND_(p3_value_));           \
    } else if (p3_way_ == 2 ||                                                                                 \
               !p3_spec_get(p3_spec_, p3_base_ - (number), &p3_value_, sizeof p3_value_, P3_KIND_(p3_value_))) \
      goto p3_out_;                                                                                            \
    p3_value_;                                                                                                 \
  })

/* Computed by nobody's code: p3-ir writes some for the version. */
#define P3_VARIABLE_(version, number, type, path)                                                              \
  __extension__({                                                                                              \
    type p3_value_;                                                                                            \
    if (p3_spec_operand(p3_spec_, -(version), p3_base_ - (number), #path) ||                                   \
        !p3_spec_get(p3_spec_, p3_base_ - (number), &p3_value_, sizeof p3_value_, P3_KIND_(p3_value_)))        \
      goto p3_out_;                                                                                            \
    p3_value_;                                                                                                 \
  })

#define pp_assert(...) P3_SPEC_(P3_ASSERT_, #__VA_ARGS__, __VA_ARGS__)
#define pp_assume(...) P3_SPEC_(P3_ASSUME_, #__VA_ARGS__, __VA_ARGS__)

#define pp_output(name, pointer, size)                                                                         \
  do {                                                                                                         \
    if (p3_output)                                                                                             \
      p3_output(name, pointer, size);                                                                          \
  } while (0)
#define pp_input(pointer, size, name)                                                                          \
  do {                                                                                                         \
    if (p3_input)                                                                                              \
      p3_input(pointer, size, name);                                                                           \
  } while (0)

#define PP1(...) P3_OPERAND_(1, __COUNTER__, #__VA_ARGS__, __VA_ARGS__)
#define PP2(...) P3_OPERAND_(2, __COUNTER__, #__VA_ARGS__, __VA_ARGS__)
#define PP3(...) P3_OPERAND_(3, __COUNTER__, #__VA_ARGS__, __VA_ARGS__)
#define PP4(...) P3_OPERAND_(4, __COUNTER__, #__VA_ARGS__, __VA_ARGS__)
#define PP5(...) P3_OPERAND_(5, __COUNTER__, #__VA_ARGS__, __VA_ARGS__)
#define PP6(...) P3_OPERAND_(6, __COUNTER__, #__VA_ARGS__, __VA_ARGS__)
#define PP7(...) P3_OPERAND_(7, __COUNTER__, #__VA_ARGS__, __VA_ARGS__)
#define PP8(...) P3_OPERAND_(8, __COUNTER__, #__VA_ARGS__, __VA_ARGS__)
#define PP9(...) P3_OPERAND_(9, __COUNTER__, #__VA_ARGS__, __VA_ARGS__)
#define PP10(...) P3_OPERAND_(10, __COUNTER__, #__VA_ARGS__, __VA_ARGS__)
#define PP11(...) P3_OPERAND_(11, __COUNTER__, #__VA_ARGS__, __VA_ARGS__)
#define PP12(...) P3_OPERAND_(12, __COUNTER__, #__VA_ARGS__, __VA_ARGS__)
#define PP13(...) P3_OPERAND_(13, __COUNTER__, #__VA_ARGS__, __VA_ARGS__)
#define PP14(...) P3_OPERAND_(14, __COUNTER__, #__VA_ARGS__, __VA_ARGS__)
#define PP15(...) P3_OPERAND_(15, __COUNTER__, #__VA_ARGS__, __VA_ARGS__)
#define PP16(...) P3_OPERAND_(16, __COUNTER__, #__VA_ARGS__, __VA_ARGS__)
#define PP1_VAR(type, ...) P3_VARIABLE_(1, __COUNTER__, type, __VA_ARGS__)
#define PP2_VAR(type, ...) P3_VARIABLE_(2, __COUNTER__, type, __VA_ARGS__)
#define PP3_VAR(type, ...) P3_VARIABLE_(3, __COUNTER__, type, __VA_ARGS__)
#define PP4_VAR(type, ...) P3_VARIABLE_(4, __COUNTER__, type, __VA_ARGS__)
#define PP5_VAR(type, ...) P3_VARIABLE_(5, __COUNTER__, type, __VA_ARGS__)
#define PP6_VAR(type, ...) P3_VARIABLE_(6, __COUNTER__, type, __VA_ARGS__)
#define PP7_VAR(type, ...) P3_VARIABLE_(7, __COUNTER__, type, __VA_ARGS__)
#define PP8_VAR(type, ...) P3_VARIABLE_(8, __COUNTER__, type, __VA_ARGS__)
#define PP9_VAR(type, ...) P3_VARIABLE_(9, __COUNTER__, type, __VA_ARGS__)
#define PP10_VAR(type, ...) P3_VARIABLE_(10, __COUNTER__, type, __VA_ARGS__)
#define PP11_VAR(type, ...) P3_VARIABLE_(11, __COUNTER__, type, __VA_ARGS__)
#define PP12_VAR(type, ...) P3_VARIABLE_(12, __COUNTER__, type, __VA_ARGS__)
#define PP13_VAR(type, ...) P3_VARIABLE_(13, __COUNTER__, type, __VA_ARGS__)
#define PP14_VAR(type, ...) P3_VARIABLE_(14, __COUNTER__, type, __VA_ARGS__)
#define PP15_VAR(type, ...) P3_VARIABLE_(15, __COUNTER__, type, __VA_ARGS__)
#define PP16_VAR(type, ...) P3_VARIABLE_(16, __COUNTER__, type, __VA_ARGS__)

#endif
#endif
