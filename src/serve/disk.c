/* disk.c - see disk.h. What is written is durable when the call returns: the data by fdatasync, a new file by its own
 * sync, an atomic rename and a sync of the directory. */
#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool disk_write(int fd, const uint8_t *bytes, size_t len)
{
    while (len) {
        ssize_t some = write(fd, bytes, len);

        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0)
            return false;
        bytes += some;
        len -= (size_t)some;
    }
    return true;
}

static uint64_t disk_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static bool disk_tell(struct disk_file *d, uint64_t begin_ms, bool good)
{
    d->on_write(d->user, disk_now_ms() - begin_ms, good ? 0 : errno);
    return good;
}

static bool disk_append(void *user, const uint8_t *bytes, size_t len)
{
    struct disk_file *d = user;
    uint64_t begin = disk_now_ms();

    return disk_tell(d, begin, disk_write(d->file, bytes, len) && fdatasync(d->file) == 0);
}

static bool disk_write_anew(struct disk_file *d, const uint8_t *bytes, size_t len)
{
    int fd = openat(d->dir, d->next, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);

    if (fd < 0)
        return false;
    if (!disk_write(fd, bytes, len) || fsync(fd) != 0 || renameat(d->dir, d->next, d->dir, d->name) != 0 ||
        fsync(d->dir) != 0) {
        close(fd);
        return false;
    }
    close(d->file);
    d->file = fd;
    return true;
}

static bool disk_replace(void *user, const uint8_t *bytes, size_t len)
{
    struct disk_file *d = user;
    uint64_t begin = disk_now_ms();

    return disk_tell(d, begin, disk_write_anew(d, bytes, len));
}

/* The directory and those above it. */
static int disk_make_dir(const char *dir)
{
    char path[4096];

    snprintf(path, sizeof path, "%s", dir);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0755); /* if it cannot be made, the last one cannot either */
        *slash = '/';
    }
    mkdir(path, 0700);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool disk_read(struct disk_file *d)
{
    uint8_t some[4096];
    ssize_t len;

    while ((len = read(d->file, some, sizeof some)) > 0)
        memcpy(bytes_add(&d->content, (size_t)len), some, (size_t)len);
    return len == 0;
}

bool disk_open(struct disk_file *d, const char *dir, const char *name, struct dme_text *why)
{
    char lock[96];

    d->disk = (struct disk){d, disk_append, disk_replace};
    d->lock = d->file = -1;
    snprintf(d->name, sizeof d->name, "%s.journal", name);
    snprintf(d->next, sizeof d->next, "%s.journal.new", name);
    snprintf(lock, sizeof lock, "%s.lock", name);
    d->dir = disk_make_dir(dir);
    if (d->dir >= 0)
        d->lock = openat(d->dir, lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (d->lock >= 0 && flock(d->lock, LOCK_EX | LOCK_NB) != 0) {
        dme_print(why, "another daemon uses %s/%s; stop it, or choose another directory with --data", dir, d->name);
        disk_close(d);
        return false;
    }
    if (d->lock >= 0)
        d->file = openat(d->dir, d->name, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (d->file < 0 || !disk_read(d) || fsync(d->dir) != 0) {
        dme_print(why, "cannot use the data directory %s: %s; choose another one with --data", dir, strerror(errno));
        disk_close(d);
        return false;
    }
    return true;
}

void disk_close(struct disk_file *d)
{
    bytes_free(&d->content);
    for (unsigned k = 0; k < 3; k++) {
        int fd = k == 0 ? d->file : k == 1 ? d->lock : d->dir;

        if (fd >= 0)
            close(fd);
    }
    d->file = d->lock = d->dir = -1;
}
