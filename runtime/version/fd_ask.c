/* Functions that ask about what a descriptor stands for or change its properties: they go to the real stream.
 */
#include "p3v_streams.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>

PASS(int, fsync, (int fd), META(fd))
PASS(int, fdatasync, (int fd), META(fd))
PASS(int, syncfs, (int fd), META(fd))
PASS(int, sync_file_range, (int fd, off_t offset, off_t size, unsigned flags), META(fd), offset, size, flags)
PASS(int, posix_fadvise, (int fd, off_t offset, off_t size, int advice), META(fd), offset, size, advice)
PASS(int, posix_fadvise64, (int fd, off_t offset, off_t size, int advice), META(fd), offset, size, advice)
PASS(ssize_t, readahead, (int fd, off64_t offset, size_t size), META(fd), offset, size)
PASS(int, fchmod, (int fd, mode_t mode), META(fd), mode)
PASS(int, fchown, (int fd, uid_t user, gid_t group), META(fd), user, group)
PASS(int, flock, (int fd, int operation), REAL(fd), operation)
PASS(int, lockf, (int fd, int command, off_t size), REAL(fd), command, size)
PASS(int, lockf64, (int fd, int command, off_t size), REAL(fd), command, size)
PASS(int, fstatfs, (int fd, struct statfs *result), META(fd), result)
PASS(int, fstatfs64, (int fd, struct statfs64 *result), META(fd), result)
PASS(int, fstatvfs, (int fd, struct statvfs *result), META(fd), result)
PASS(int, fstatvfs64, (int fd, struct statvfs64 *result), META(fd), result)
PASS(long, fpathconf, (int fd, int name), META(fd), name)
PASS(int, futimens, (int fd, const struct timespec times[2]), META(fd), times)
PASS(int, futimes, (int fd, const struct timeval times[2]), META(fd), times)

PASS(ssize_t, fgetxattr, (int fd, const char *name, void *value, size_t size), META(fd), name, value, size)
PASS(ssize_t, flistxattr, (int fd, char *list, size_t size), META(fd), list, size)
PASS(int, fsetxattr, (int fd, const char *name, const void *value, size_t size, int flags), META(fd), name,
     value, size, flags)
PASS(int, fremovexattr, (int fd, const char *name), META(fd), name)

PASS(int, tcgetattr, (int fd, struct termios *terminal), META(fd), terminal)
PASS(int, tcsetattr, (int fd, int when, const struct termios *terminal), META(fd), when, terminal)
PASS(int, tcsendbreak, (int fd, int duration), META(fd), duration)
PASS(int, tcdrain, (int fd), META(fd))
PASS(int, tcflush, (int fd, int queue), META(fd), queue)
PASS(int, tcflow, (int fd, int action), META(fd), action)
PASS(int, grantpt, (int fd), META(fd))
PASS(int, unlockpt, (int fd), META(fd))

PASS(void *, mmap, (void *address, size_t size, int protection, int flags, int fd, off_t offset), address,
     size, protection, flags, META(fd), offset)
PASS(void *, mmap64, (void *address, size_t size, int protection, int flags, int fd, off_t offset), address,
     size, protection, flags, META(fd), offset)
