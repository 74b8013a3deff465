/* files.c - text files, read whole and written whole or not at all. See cli.h. */
#include "base/memory.h"
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_LEN_MAX = 256 << 20 }; /* bytes of a text: a bound for what does not end */

char *cli_read_file(const char *path)
{
    FILE *from = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    char *text = NULL;
    size_t len = 0, got;

    if (!from)
        cli_die("cannot read %s: %s", path, strerror(errno));
    do {
        text = mem_grow(text, len + 4097);
        got = fread(text + len, 1, 4096, from);
        if (memchr(text + len, 0, got))
            cli_die("%s is not a text: it has zero bytes", path);
        len += got;
        if (len > FILES_LEN_MAX)
            cli_die("%s is too long: a text may have %d MB", path, FILES_LEN_MAX >> 20);
    } while (got);
    if (ferror(from))
        cli_die("cannot read %s: %s", path, strerror(errno));
    if (from != stdin)
        fclose(from);
    text[len] = 0;
    return text;
}

bool cli_is_replaceable(const char *path, char real[CLI_PATH_MAX])
{
    struct stat at;

    /* /dev/stdout may lead to a regular file, which the shell has open and does not expect to be replaced. */
    if (strcmp(path, "-") == 0 || strncmp(path, "/dev/std", 8) == 0 || strncmp(path, "/dev/fd/", 8) == 0 ||
        strncmp(path, "/proc/", 6) == 0)
        return false;
    if (stat(path, &at) == 0)
        return S_ISREG(at.st_mode) && realpath(path, real);
    /* A link that leads to no file yet is written through: open makes the file where the link leads. */
    return errno == ENOENT && lstat(path, &at) != 0 && snprintf(real, CLI_PATH_MAX, "%s", path) < CLI_PATH_MAX;
}

void cli_check_output(const char *option, const char *path)
{
    char real[CLI_PATH_MAX], *slash;
    struct stat at;

    if (!path || strcmp(path, "-") == 0)
        return;
    if (stat(path, &at) == 0) {
        if (S_ISDIR(at.st_mode))
            errno = EISDIR;
        else if (access(path, W_OK) == 0)
            return;
    } else if (cli_is_replaceable(path, real)) {
        slash = strrchr(real, '/');
        if (slash)
            slash[slash == real] = 0;
        if (access(slash ? real : ".", W_OK | X_OK) == 0)
            return;
    } else if (errno == ENOENT) {
        return; /* the target of a link; opening it will tell */
    }
    cli_die("%s %s: %s", option, path, strerror(errno));
}

static bool files_put(FILE *to, const void *data, size_t len)
{
    bool fine = fwrite(data, 1, len, to) == len;

    return (to == stdout ? fflush(to) : fclose(to)) == 0 && fine;
}

/* The mode of a new file, as open would make it. */
static mode_t files_mode(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return 0666 & ~mask;
}

/* A temporary file takes the other's place. False if the directory takes no new file. */
static bool files_replace(const char *path, const char *real, const void *data, size_t len)
{
    char temporary[CLI_PATH_MAX + 8];
    struct stat old;
    FILE *to;
    int fd;

    snprintf(temporary, sizeof temporary, "%s.XXXXXX", real);
    fd = mkstemp(temporary);
    if (fd < 0)
        return false;
    fchmod(fd, stat(real, &old) == 0 ? old.st_mode & 07777 : files_mode());
    to = fdopen(fd, "w");
    if (!to || !files_put(to, data, len) || rename(temporary, real) != 0) {
        int error = errno;

        unlink(temporary);
        cli_die("cannot write %s: %s", path, strerror(error));
    }
    return true;
}

void cli_write_bytes(const char *path, const void *data, size_t len)
{
    char real[CLI_PATH_MAX];
    FILE *to;

    if (cli_is_replaceable(path, real) && files_replace(path, real, data, len))
        return;
    to = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (!to || !files_put(to, data, len))
        cli_die("cannot write %s: %s", path, strerror(errno));
}

void cli_write_file(const char *path, const char *text)
{
    cli_write_bytes(path, text, strlen(text));
}
