/* A disk that fails and remembers, for tests: preloaded into a test's own process, it stands between the program and libc.
 *
 * Everything below one folder, the root, is watched. A test steers it by opening paths that don't exist:
 *   /daybook-disk/root/PATH               what is watched
 *   /daybook-disk/arm/N/ERRNO/TIMES       the N-th call from now and TIMES - 1 after it fail; ERRNO -1 is a short write,
 *                                         -2 fails syncs only
 *   /daybook-disk/off                     no more failures
 *   /daybook-disk/report                  gives a file: calls that failed, and the first of them
 *   /daybook-disk/journal/PATH            from now on each change is appended to this file, in the order it was made
 *   /daybook-disk/mark/TEXT               puts a word of the test among them
 * A journal's record is: one letter, a file's number (4), an offset (8), a length (4), and that many bytes; all little-endian.
 *   C created or opened (name)   O opened, not made (name)   W written   T cut to the offset   S synced   F sync refused
 *   R renamed (old NUL new)      U unlinked (name)   D folder made (name)   M mark
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FDS 4096
#define FILES 65536
#define CONTROL "/daybook-disk/"
#define REAL(type, name, ...) static type (*real_##name)(__VA_ARGS__)
#define FIND(name) if (!real_##name) real_##name = dlsym(RTLD_NEXT, #name)

REAL(int, open64, const char *, int, ...);
REAL(int, close, int);
REAL(ssize_t, write, int, const void *, size_t);
REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t);
REAL(int, fsync, int);
REAL(int, fdatasync, int);
REAL(int, ftruncate64, int, off64_t);
REAL(int, rename, const char *, const char *);
REAL(int, unlink, const char *);
REAL(int, mkdir, const char *, mode_t);
REAL(void *, mmap64, void *, size_t, int, int, int, off64_t);

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static char root[PATH_MAX];
static size_t root_length;
static int file_of[FDS]; /* number of the file behind a descriptor, 0: not ours */
static char *names[FILES];
static int last_file, journal = -1;
static long countdown, times, failed;
static char first[PATH_MAX];
static int armed, fault;

__attribute__((constructor)) static void find(void) {
    FIND(open64); FIND(close); FIND(write); FIND(pwrite64); FIND(fsync); FIND(fdatasync);
    FIND(ftruncate64); FIND(rename); FIND(unlink); FIND(mkdir); FIND(mmap64);
}

static int ours(const char *path) {
    return root_length && path && !strncmp(path, root, root_length) && (path[root_length] == '/' || !path[root_length]);
}

static const char *inside(const char *path) { return path[root_length] ? path + root_length + 1 : ""; }

static int behind(int fd) { return fd >= 0 && fd < FDS ? file_of[fd] : 0; }

static void record(char what, uint32_t file, uint64_t at, const void *bytes, uint32_t length) {
    char head[17];
    if (journal < 0) return;
    head[0] = what;
    memcpy(head + 1, &file, 4); memcpy(head + 5, &at, 8); memcpy(head + 13, &length, 4);
    if (real_write(journal, head, 17) != 17 || (length && real_write(journal, bytes, length) != (ssize_t)length)) abort();
}

enum kind { LOOKS, CHANGES, WRITES, SYNCS };

/* Does this call fail? Then errno says why. Only what changes something can meet a full or a read-only disk. */
static int fails(enum kind kind, const char *call, const char *name) {
    if (!armed) return 0;
    if ((fault == -1 && kind != WRITES) || (fault == -2 && kind != SYNCS)) return 0;
    if ((fault == ENOSPC || fault == EROFS) && kind == LOOKS) return 0;
    if (countdown > 1) { countdown--; return 0; }
    if (times <= 0) return 0;
    times--;
    if (!failed++) snprintf(first, sizeof first, "%s %s", call, name ? name : "?");
    errno = fault == -2 ? EIO : fault;
    return 1;
}

static int number(const char *name) {
    for (int n = 1; n <= last_file; n++)
        if (names[n] && !strcmp(names[n], name)) return n;
    if (last_file + 1 >= FILES) abort();
    names[++last_file] = strdup(name);
    return last_file;
}

static int control(const char *order) {
    int result = -1;
    if (!strncmp(order, "root/", 5)) {
        snprintf(root, sizeof root, "%s", order + 4);
        root_length = strlen(root);
    } else if (sscanf(order, "arm/%ld/%d/%ld", &countdown, &fault, &times) == 3) {
        failed = 0;
        first[0] = 0;
        armed = 1;
    } else if (!strcmp(order, "off")) {
        armed = 0;
    } else if (!strncmp(order, "journal/", 8)) {
        if (journal >= 0) real_close(journal);
        for (int n = 1; n <= last_file; n++) { free(names[n]); names[n] = NULL; }
        memset(file_of, 0, sizeof file_of);
        last_file = 0;
        journal = real_open64(order + 7, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    } else if (!strncmp(order, "mark/", 5)) {
        record('M', 0, 0, order + 5, strlen(order + 5));
    } else if (!strcmp(order, "report")) {
        char text[PATH_MAX + 64];
        int length = snprintf(text, sizeof text, "%ld %s\n", failed, first);
        result = memfd_create("report", MFD_CLOEXEC);
        if (result < 0 || real_write(result, text, length) != length || lseek(result, 0, SEEK_SET)) abort();
        return result;
    }
    errno = ENOENT;
    return result;
}

static int opened(const char *path, int flags, mode_t mode) {
    if (path && !strncmp(path, CONTROL, sizeof CONTROL - 1)) {
        pthread_mutex_lock(&lock);
        int result = control(path + sizeof CONTROL - 1);
        pthread_mutex_unlock(&lock);
        return result;
    }
    if (!ours(path)) {
        int fd = real_open64(path, flags, mode);
        if (fd >= 0 && fd < FDS) file_of[fd] = 0;
        return fd;
    }
    pthread_mutex_lock(&lock);
    int fd = fails(flags & (O_WRONLY | O_RDWR | O_CREAT) ? CHANGES : LOOKS, "open", inside(path)) ? -1 : real_open64(path, flags, mode);
    if (fd >= 0 && fd < FDS) {
        file_of[fd] = number(inside(path));
        record(flags & O_CREAT ? 'C' : 'O', file_of[fd], 0, inside(path), strlen(inside(path)));
        if (flags & O_TRUNC) record('T', file_of[fd], 0, NULL, 0);
    }
    pthread_mutex_unlock(&lock);
    return fd;
}

#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }

int open(const char *path, int flags, ...) { MODE(flags); find(); return opened(path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags); find(); return opened(path, flags, mode); }

int close(int fd) {
    find();
    if (fd >= 0 && fd < FDS) file_of[fd] = 0;
    return real_close(fd);
}

static ssize_t written(int fd, const void *bytes, size_t length, off64_t at, int placed) {
    if (!behind(fd)) return placed ? real_pwrite64(fd, bytes, length, at) : real_write(fd, bytes, length);
    pthread_mutex_lock(&lock);
    ssize_t result = -1;
    int broken = fails(WRITES, "write", names[behind(fd)]);
    if (broken && fault == -1 && length > 1) { length /= 2; broken = 0; }
    if (!broken || fault == -1) {
        if (!placed) at = lseek(fd, 0, fcntl(fd, F_GETFL) & O_APPEND ? SEEK_END : SEEK_CUR);
        result = placed ? real_pwrite64(fd, bytes, length, at) : real_write(fd, bytes, length);
        if (result > 0) record('W', behind(fd), at, bytes, result);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

ssize_t write(int fd, const void *bytes, size_t length) { find(); return written(fd, bytes, length, 0, 0); }
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) { find(); return written(fd, bytes, length, at, 1); }
ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) { find(); return written(fd, bytes, length, at, 1); }

static int synced(int fd, int (*real)(int)) {
    if (!behind(fd)) return real(fd);
    pthread_mutex_lock(&lock);
    int result = fails(SYNCS, "sync", names[behind(fd)]) ? -1 : real(fd);
    record(result ? 'F' : 'S', behind(fd), 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    return result;
}

int fsync(int fd) { find(); return synced(fd, real_fsync); }
int fdatasync(int fd) { find(); return synced(fd, real_fdatasync); }

static int cut(int fd, off64_t length) {
    if (!behind(fd)) return real_ftruncate64(fd, length);
    pthread_mutex_lock(&lock);
    int result = fails(CHANGES, "cut", names[behind(fd)]) ? -1 : real_ftruncate64(fd, length);
    if (!result) record('T', behind(fd), length, NULL, 0);
    pthread_mutex_unlock(&lock);
    return result;
}

int ftruncate(int fd, off_t length) { find(); return cut(fd, length); }
int ftruncate64(int fd, off64_t length) { find(); return cut(fd, length); }

int rename(const char *from, const char *to) {
    find();
    if (!ours(from) || !ours(to)) return real_rename(from, to);
    pthread_mutex_lock(&lock);
    int result = fails(CHANGES, "rename", inside(from)) ? -1 : real_rename(from, to);
    if (!result) {
        char both[2 * PATH_MAX];
        int moved = number(inside(from)), gone = number(inside(to));
        int length = snprintf(both, sizeof both, "%s%c%s", inside(from), 0, inside(to));
        free(names[moved]); free(names[gone]);
        names[gone] = NULL;
        names[moved] = strdup(inside(to));
        record('R', moved, 0, both, length);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

int unlink(const char *path) {
    find();
    if (!ours(path)) return real_unlink(path);
    pthread_mutex_lock(&lock);
    int result = fails(CHANGES, "unlink", inside(path)) ? -1 : real_unlink(path);
    if (!result) {
        int gone = number(inside(path));
        record('U', gone, 0, inside(path), strlen(inside(path)));
        free(names[gone]);
        names[gone] = NULL;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

int mkdir(const char *path, mode_t mode) {
    find();
    if (!ours(path)) return real_mkdir(path, mode);
    pthread_mutex_lock(&lock);
    int result = fails(CHANGES, "mkdir", inside(path)) ? -1 : real_mkdir(path, mode);
    if (!result) record('D', number(inside(path)), 0, inside(path), strlen(inside(path)));
    pthread_mutex_unlock(&lock);
    return result;
}

static void *mapped(void *place, size_t length, int how, int flags, int fd, off64_t at) {
    if (behind(fd)) {
        pthread_mutex_lock(&lock);
        int broken = fails(LOOKS, "map", names[behind(fd)]);
        pthread_mutex_unlock(&lock);
        if (broken) return MAP_FAILED;
    }
    return real_mmap64(place, length, how, flags, fd, at);
}

void *mmap(void *place, size_t length, int how, int flags, int fd, off_t at) {
    find();
    return mapped(place, length, how, flags, fd, at);
}
void *mmap64(void *place, size_t length, int how, int flags, int fd, off64_t at) {
    find();
    return mapped(place, length, how, flags, fd, at);
}
