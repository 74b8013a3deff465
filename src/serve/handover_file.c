/* handover_file.c - the kept sessions of a daemon that is alone, from a process that ends in order to the next one
 * (node/handover.h), as a file beside its socket: SOCKET.sessions.
 *
 * The process that ends writes the file before it closes the socket. The next process reads the file when it has the socket, or the lock on
 * its journal, and removes the file before it uses the content: so at most one process uses it, and once. If the next process is a member of a cluster, it
 * removes the file without using it: its clients may be granted what the sessions held, so a later process must not use it either. The file has the secrets of the
 * sessions. It is the owner's alone (0600), is never followed through a symbolic link, and appears under its name as a
 * whole. A file that does not look like that is not used. It need not survive a crash of the machine, so it is not synced:
 * the handover of another boot is of no use. */
#include "serve.h"

#include "node/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 512 };

static void handover_path(const struct serve *s, const char *suffix, char path[PATH_ROOM])
{
    snprintf(path, PATH_ROOM, "%s.sessions%s", s->conf->socket, suffix);
}

/* A name for the time since the machine was booted; "" if there is none. */
static void handover_boot(char boot[HANDOVER_BOOT_MAX + 1])
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? 0 : read(fd, boot, HANDOVER_BOOT_MAX);

    boot[len > 0 ? len : 0] = '\0';
    boot[strcspn(boot, "\n")] = '\0';
    if (fd >= 0)
        close(fd);
}

/* ------------------------------------------------------------------------------------------------------------- writing */

static bool handover_put(const char *path, const struct bytes *b)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    size_t done = 0, len = bytes_len(b);

    while (fd >= 0 && done < len) {
        ssize_t some = write(fd, b->at + b->start + done, len - done);

        if (some < 0 && errno != EINTR)
            break;
        done += some > 0 ? (size_t)some : 0;
    }
    return fd >= 0 && close(fd) == 0 && done == len;
}

void serve_hand_over(struct serve *s)
{
    char path[PATH_ROOM], next[PATH_ROOM], boot[HANDOVER_BOOT_MAX + 1];
    const char *wrong = NULL;
    struct bytes b = {0};
    uint32_t sessions;

    handover_boot(boot);
    sessions = handover_write(&s->node, boot, &b);
    if (sessions) {
        handover_path(s, "", path);
        handover_path(s, ".new", next);
        unlink(next); /* left by a process that was killed meanwhile */
        if (!*boot)
            wrong = "the kernel does not tell which boot of the machine this is (/proc/sys/kernel/random/boot_id)";
        else if (!handover_put(next, &b) || rename(next, path) != 0)
            wrong = strerror(errno);
        if (wrong) {
            serve_warn(s, "cannot write %s: %s; the kept sessions (%" PRIu32 ") are lost", path, wrong, sessions);
            unlink(next);
        } else {
            serve_log(s, "kept sessions (%" PRIu32 ") wait in %s for its next process", sessions, path);
        }
    }
    bytes_free(&b);
}

/* ------------------------------------------------------------------------------------------------------------- reading */

/* Returns null, or why the file is not used. */
static const char *handover_objects(int fd)
{
    struct stat file;

    if (fstat(fd, &file) != 0)
        return strerror(errno);
    if (!S_ISREG(file.st_mode) || file.st_nlink != 1)
        return "it is not a file of its own";
    if (file.st_uid != geteuid() || file.st_mode & 077)
        return "it belongs to another user, or others can read it";
    return file.st_size > HANDOVER_MAX ? "it is too large" : NULL;
}

static const char *handover_get(int fd, struct bytes *b)
{
    const char *wrong = handover_objects(fd);
    uint8_t some[4096];
    ssize_t len = 0;

    while (!wrong && bytes_len(b) <= HANDOVER_MAX && (len = read(fd, some, sizeof some)) > 0)
        memcpy(bytes_add(b, (size_t)len), some, (size_t)len);
    return wrong ? wrong : len < 0 ? strerror(errno) : NULL;
}

void serve_take_over(struct serve *s, bool alone, uint64_t now_ms)
{
    char path[PATH_ROOM], boot[HANDOVER_BOOT_MAX + 1];
    struct bytes b = {0};
    const char *wrong;
    uint32_t sessions = 0;
    int fd;

    handover_path(s, "", path);
    fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return;
    wrong = !alone ? "this daemon is a member of a cluster now" : fd < 0 ? strerror(errno) : handover_get(fd, &b);
    if (unlink(path) != 0 && !wrong)
        wrong = "it cannot be removed, and must not be used twice";
    if (!wrong) {
        handover_boot(boot);
        sessions = handover_read(&s->node, boot, now_ms, b.at + b.start, bytes_len(&b), &wrong);
    }
    if (wrong)
        serve_warn(s, "the kept sessions in %s are lost: %s", path, wrong);
    else
        serve_log(s, "keeps the sessions of its last process (%" PRIu32 ")", sessions);
    if (fd >= 0)
        close(fd);
    bytes_free(&b);
}
