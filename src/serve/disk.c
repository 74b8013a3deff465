/* disk.c - see disk.h. fdatasync makes an added record durable. A new file is made durable by its own sync, an atomic
 * rename and a sync of the directory. Before a sync, the system may write what was added in any order. So of several records that wait for
 * the disk, a crash could leave the last and not the first, which would look like damage (member/journal.h): they are written as a new file.
 *
 * Another user with write permission for the directory could make the daemon write elsewhere, or take its journal away.
 * So the directory must belong to the daemon's user or root, no other user may have write permission, and symbolic
 * links are not followed. */
#include "disk.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
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

static bool disk_write_anew(struct disk_file *d, const uint8_t *bytes, size_t len)
{
    int fd = openat(d->dir, d->next, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);

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

/* Returns 0, or the error. */
static int disk_write_durably(struct disk_file *d, const uint8_t *bytes, size_t len, bool anew)
{
    errno = 0;
    if (anew ? disk_write_anew(d, bytes, len) : disk_write(d->file, bytes, len) && fdatasync(d->file) == 0)
        return 0;
    return errno ? errno : EIO;
}

/* Runs in the thread. */
static void disk_work(uv_work_t *work)
{
    struct disk_file *d = work->data;
    uint64_t begin_ms = disk_now_ms();

    d->error = disk_write_durably(d, d->batch.at + d->batch.start, bytes_len(&d->batch), d->batch_anew);
    d->took_ms = disk_now_ms() - begin_ms;
}

static void disk_copy(struct bytes *to, const uint8_t *bytes, size_t len)
{
    bytes_free(to);
    if (len)
        memcpy(bytes_add(to, len), bytes, len);
}

static void disk_begin(struct disk_file *d);

static void disk_done(uv_work_t *work, int status)
{
    struct disk_file *d = work->data;
    unsigned records = d->records;

    (void)status; /* the work is never cancelled */
    assert(d->busy && records);
    d->busy = false;
    bytes_free(&d->batch);
    d->records = 0;
    if (!d->error && d->waiting_records)
        disk_begin(d);
    d->on_written(d->user, records, d->took_ms, d->error);
}

static void disk_begin(struct disk_file *d)
{
    assert(!d->busy && d->waiting_records);
    d->batch_anew = d->waiting_anew;
    if (d->batch_anew)
        disk_copy(&d->waiting, d->whole.at + d->whole.start, bytes_len(&d->whole));
    assert(d->records == 0); /* what was written before has been told */
    d->batch = d->waiting;
    d->records = d->waiting_records;
    d->waiting = (struct bytes){0};
    d->waiting_records = 0;
    d->waiting_anew = false;
    d->busy = true;
    d->work.data = d;
    uv_queue_work(d->loop, &d->work, disk_work, disk_done);
}

static enum disk_status disk_write_now(struct disk_file *d, const uint8_t *bytes, size_t len, bool anew)
{
    int error = disk_write_durably(d, bytes, len, anew);

    if (!error)
        return DISK_WRITTEN;
    d->on_written(d->user, 0, 0, error);
    return DISK_FAILED;
}

static enum disk_status disk_put(struct disk_file *d, const uint8_t *bytes, size_t len, bool anew)
{
    if (anew)
        disk_copy(&d->whole, bytes, len);
    else if (len)
        memcpy(bytes_add(&d->whole, len), bytes, len);
    if (!d->loop)
        return disk_write_now(d, bytes, len, anew);
    assert(d->busy || !d->waiting_records || d->error); /* else they would wait for ever */
    d->waiting_anew = anew || d->waiting_records;
    if (!d->waiting_anew)
        disk_copy(&d->waiting, bytes, len);
    d->waiting_records++;
    if (!d->busy)
        disk_begin(d);
    return DISK_WRITING;
}

static enum disk_status disk_append(void *user, const uint8_t *bytes, size_t len)
{
    return disk_put(user, bytes, len, false);
}

static enum disk_status disk_replace(void *user, const uint8_t *bytes, size_t len)
{
    return disk_put(user, bytes, len, true);
}

/* Makes durable that there is such a directory. */
static bool disk_sync_parent(const char *path)
{
    char parent[4096];
    int fd;
    bool good;

    snprintf(parent, sizeof parent, "%s", path);
    fd = open(dirname(parent), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    good = fd < 0 ? errno == EACCES : fsync(fd) == 0; /* not every user that may write there may open it */
    if (fd >= 0)
        close(fd);
    return good;
}

/* Makes the directory and those above it. Symbolic links in the path above it are followed. */
static int disk_make_dir(const char *dir)
{
    char path[4096];
    size_t len;

    snprintf(path, sizeof path, "%s", dir);
    for (len = strlen(path); len > 1 && path[len - 1] == '/'; len--)
        path[len - 1] = '\0'; /* without it, a symbolic link in this place would be followed */
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0755) == 0 && !disk_sync_parent(path)) /* if mkdir fails, the last one fails, too */
            return -1;
        *slash = '/';
    }
    if (mkdir(path, 0700) == 0 && !disk_sync_parent(path))
        return -1;
    return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Returns null, or what is wrong with the directory or a file in it. */
static const char *disk_objects(int fd, bool is_dir)
{
    struct stat file;

    if (fstat(fd, &file) != 0)
        return strerror(errno);
    if (!is_dir && !S_ISREG(file.st_mode))
        return "its journal is not a file";
    if (file.st_uid != geteuid() && file.st_uid != 0)
        return is_dir ? "it belongs to another user" : "its journal belongs to another user";
    if (file.st_mode & 022)
        return is_dir ? "others can write to it (chmod go-w)" : "others can write to its journal (chmod go-w)";
    return NULL;
}

static int disk_open_file(const struct disk_file *d, const char *name, int flags)
{
    return openat(d->dir, name, flags | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static bool disk_read(struct disk_file *d)
{
    uint8_t some[4096];
    ssize_t len;

    while ((len = read(d->file, some, sizeof some)) > 0)
        memcpy(bytes_add(&d->content, (size_t)len), some, (size_t)len);
    return len == 0;
}

/* Opens and locks the files. Returns false if that fails; the reason is in `*wrong`, or in errno if that is null. */
static bool disk_take(struct disk_file *d, const char *dir, const char **wrong)
{
    char lock[96];

    snprintf(lock, sizeof lock, "%.*s.lock", (int)(strlen(d->name) - strlen(".journal")), d->name);
    d->dir = disk_make_dir(dir);
    if (d->dir < 0 || (*wrong = disk_objects(d->dir, true)))
        return false;
    d->lock = disk_open_file(d, lock, O_RDWR);
    if (d->lock >= 0 && flock(d->lock, LOCK_EX | LOCK_NB) != 0)
        *wrong = "another daemon uses its journal (stop that daemon)";
    if (d->lock < 0 || *wrong)
        return false;
    d->file = disk_open_file(d, d->name, O_RDWR | O_APPEND);
    if (d->file < 0 || (*wrong = disk_objects(d->file, false)) || !disk_read(d) || fsync(d->dir) != 0)
        return false;
    disk_copy(&d->whole, d->content.at + d->content.start, bytes_len(&d->content));
    return true;
}

bool disk_open(struct disk_file *d, const char *dir, const char *name, struct dme_text *why)
{
    const char *wrong = NULL;

    d->disk = (struct disk){d, disk_append, disk_replace};
    d->lock = d->file = -1;
    snprintf(d->name, sizeof d->name, "%s.journal", name);
    snprintf(d->next, sizeof d->next, "%s.journal.new", name);
    if (disk_take(d, dir, &wrong))
        return true;
    if (!wrong)
        wrong = errno == ELOOP || errno == ENOTDIR ? "it is a symbolic link, or no directory, or its journal is a link"
                                                   : strerror(errno);
    dme_print(why, "cannot use the data directory %s: %s; choose another one with --data", dir, wrong);
    disk_close(d);
    return false;
}

void disk_use_loop(struct disk_file *d, uv_loop_t *loop)
{
    d->loop = loop;
}

void disk_close(struct disk_file *d)
{
    assert(!d->busy);
    bytes_free(&d->content);
    bytes_free(&d->whole);
    bytes_free(&d->batch);
    bytes_free(&d->waiting);
    for (unsigned k = 0; k < 3; k++) {
        int fd = k == 0 ? d->file : k == 1 ? d->lock : d->dir;

        if (fd >= 0)
            close(fd);
    }
    d->file = d->lock = d->dir = -1;
}
