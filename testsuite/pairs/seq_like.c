// Prints numbers, as seq does. The new version has a fast path for whole numbers in steps of one; its guard looks
// at the wrong operand when a step is given.
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINES 10000
#define MAX_WIDTH 40

enum { OK = 0, USAGE = 2 };

// A number as it was written.
struct operand {
  const char *text;
  double value;
  int width;     // characters before the point, the sign included
  int precision; // digits behind it
};

struct options {
  const char *separator;
  const char *terminator;
  const char *format; // one %[FLAGS][WIDTH][.PRECISION](e|f|g) with any text around it
  bool equal_width;
};

// What -f asks for, in parts.
struct format {
  const char *prefix, *suffix;
  int prefix_length;
  bool left, zeros, sign;
  int width, precision;
  char conversion;
};

static int complain(const char *message, const char *about) {
  if (about)
    fprintf(stderr, "seq: %s: '%s'\n", message, about);
  else
    fprintf(stderr, "seq: %s\n", message);
  return USAGE;
}

static bool is_digits(const char *text) {
  size_t length = strspn(text, "0123456789");
  return length > 0 && !text[length];
}

// Reads a decimal number without an exponent.
static bool read_operand(const char *text, struct operand *operand) {
  const char *p = text;
  operand->text = text;
  operand->precision = 0;
  if (*p == '-' || *p == '+')
    p++;
  size_t whole = strspn(p, "0123456789");
  const char *point = p + whole;
  size_t fraction = 0;
  if (*point == '.') {
    fraction = strspn(point + 1, "0123456789");
    operand->precision = (int)fraction;
    point += 1 + fraction;
  }
  if (*point || whole + fraction == 0 || whole + fraction > 15)
    return false;
  operand->width = (int)(p - text) + (int)whole;
  if (*text == '+')
    operand->width--;
  errno = 0;
  operand->value = strtod(text, NULL);
  return errno == 0;
}

static bool read_count(const char **text, int *count) {
  *count = 0;
  while (**text >= '0' && **text <= '9') {
    *count = *count * 10 + (*(*text)++ - '0');
    if (*count > MAX_WIDTH)
      return false;
  }
  return true;
}

// Takes a format apart. %% stands for itself nowhere: a text has one percent sign.
static bool read_format(const char *text, struct format *format) {
  const char *percent = strchr(text, '%');
  if (!percent)
    return false;
  *format = (struct format){.prefix = text, .prefix_length = (int)(percent - text), .precision = -1};
  const char *p = percent + 1;
  for (;; p++) {
    if (*p == '-')
      format->left = true;
    else if (*p == '0')
      format->zeros = true;
    else if (*p == '+')
      format->sign = true;
    else
      break;
  }
  if (!read_count(&p, &format->width))
    return false;
  if (*p == '.') {
    p++;
    if (!read_count(&p, &format->precision))
      return false;
  }
  if (*p != 'e' && *p != 'f' && *p != 'g')
    return false;
  format->conversion = *p++;
  format->suffix = p;
  return !strchr(p, '%');
}

static void print_formatted(const struct format *format, double value) {
  char directive[16] = "%", *to = directive + 1;
  if (format->left)
    *to++ = '-';
  if (format->zeros)
    *to++ = '0';
  if (format->sign)
    *to++ = '+';
  *to++ = '*';
  if (format->precision >= 0) {
    *to++ = '.';
    *to++ = '*';
  }
  *to++ = format->conversion;
  *to = 0;
  printf("%.*s", format->prefix_length, format->prefix);
  if (format->precision >= 0)
    printf(directive, format->width, format->precision, value);
  else
    printf(directive, format->width, value);
  fputs(format->suffix, stdout);
}

static const char *skip_zeros(const char *digits) {
  while (*digits == '0' && digits[1])
    digits++;
  return digits;
}

// Orders two strings of digits without leading zeros by value.
static int compare_digits(const char *a, const char *b) {
  size_t length_a = strlen(a), length_b = strlen(b);
  if (length_a != length_b)
    return length_a < length_b ? -1 : 1;
  return strcmp(a, b);
}

#if V == 2
// Adds one to a string of digits that ends at `end`; returns its new start. There is room for one digit more.
static char *increment(char *start, char *end) {
  char *digit = end - 1;
  while (digit >= start && *digit == '9')
    *digit-- = '0';
  if (digit >= start) {
    ++*digit;
    return start;
  }
  *--start = '1';
  return start;
}

// Prints the numbers from first to last, which are digits, without computing with them.
static int print_fast(const char *first, const char *last, const struct options *options) {
  char buffer[MAX_WIDTH];
  first = skip_zeros(first);
  last = skip_zeros(last);
  size_t length = strlen(first);
  char *end = buffer + sizeof buffer - 1;
  char *start = end - length;
  memcpy(start, first, length + 1);
  if (compare_digits(start, last) > 0)
    return OK;
  for (int lines = 0; lines < MAX_LINES; lines++) {
    fputs(start, stdout);
    if (compare_digits(start, last) == 0)
      break;
    fputs(options->separator, stdout);
    start = increment(start, end);
    if (compare_digits(start, last) > 0)
      break;
  }
  fputs(options->terminator, stdout);
  return OK;
}
#endif

// Prints the numbers one by one; each is computed from the first, so that errors do not add up.
static int print_slow(const struct operand *first, const struct operand *step, const struct operand *last,
                      const struct options *options) {
  struct format format;
  if (options->format && !read_format(options->format, &format))
    return complain("not a format", options->format);
  int precision = first->precision > step->precision ? first->precision : step->precision;
  int width = 0;
  if (options->equal_width) {
    width = first->width > last->width ? first->width : last->width;
    if (precision)
      width += 1 + precision;
  }
  bool any = false;
  for (int lines = 0; lines < MAX_LINES; lines++) {
    double value = first->value + lines * step->value;
    if (step->value > 0 ? value > last->value : value < last->value)
      break;
    if (any)
      fputs(options->separator, stdout);
    if (options->format)
      print_formatted(&format, value);
    else if (width)
      printf("%0*.*f", width, precision, value);
    else
      printf("%.*f", precision, value);
    any = true;
  }
  if (any)
    fputs(options->terminator, stdout);
  return OK;
}

// The options come first; a number that is negative is none.
static int read_options(int argc, char **argv, struct options *options) {
  int at = 1;
  while (at < argc && argv[at][0] == '-' && argv[at][1] && !strchr("0123456789.", argv[at][1])) {
    const char *option = argv[at++];
    if (strcmp(option, "--") == 0)
      return at;
    if (strcmp(option, "-w") == 0) {
      options->equal_width = true;
    } else if (strcmp(option, "-s") == 0 || strcmp(option, "-f") == 0 || strcmp(option, "-t") == 0) {
      if (at == argc) {
        complain("an option needs a value", option);
        return -1;
      }
      const char **value = option[1] == 's'   ? &options->separator
                           : option[1] == 'f' ? &options->format
                                              : &options->terminator;
      *value = argv[at++];
    } else {
      complain("unknown option", option);
      return -1;
    }
  }
  return at;
}

int main(int argc, char **argv) {
  struct options options = {.separator = "\n", .terminator = "\n"};
  int at = read_options(argc, argv, &options);
  if (at < 0)
    return USAGE;
  if (options.format && options.equal_width)
    return complain("a format has a width of its own", NULL);
  int count = argc - at;
  if (count < 1)
    return complain("missing operand", NULL);
  if (count > 3)
    return complain("extra operand", argv[at + 3]);

  char **operands = argv + at;
#if V == 2
  // The step is the second of three operands.
  bool steps_by_one = count < 3 || strcmp(operands[0], "1") == 0;
  if (steps_by_one && !options.equal_width && !options.format && is_digits(operands[count - 1]) &&
      (count == 1 || is_digits(operands[0])) && strlen(operands[0]) < 16 && strlen(operands[count - 1]) < 16)
    return print_fast(count == 1 ? "1" : operands[0], operands[count - 1], &options);
#endif

  struct operand first = {"1", 1, 1, 0}, step = {"1", 1, 1, 0}, last;
  if (!read_operand(operands[count - 1], &last))
    return complain("not a number", operands[count - 1]);
  if (count > 1 && !read_operand(operands[0], &first))
    return complain("not a number", operands[0]);
  if (count > 2 && !read_operand(operands[1], &step))
    return complain("not a number", operands[1]);
  if (step.value == 0)
    return complain("the step is zero", step.text);
  if (is_digits(first.text) && is_digits(last.text) && step.value > 0 &&
      compare_digits(skip_zeros(first.text), skip_zeros(last.text)) > 0)
    return OK;
  return print_slow(&first, &step, &last, &options);
}
