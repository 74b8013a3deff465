/* files.c - text files, read whole and written whole or not at all. See cli.h. */
#include "base/memory.h"
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
        len += got;
    } while (got);
    if (ferror(from))
        cli_die("cannot read %s: %s", path, strerror(errno));
    if (from != stdin)
        fclose(from);
    text[len] = 0;
    if (strlen(text) != len)
        cli_die("%s is not a text: it has zero bytes", path);
    return text;
}

void cli_write_file(const char *path, const char *text)
{
    char temporary[4096];
    struct stat old;
    FILE *to;
    int fd;

    if (snprintf(temporary, sizeof temporary, "%s.XXXXXX", path) >= (int)sizeof temporary)
        cli_die("the name %s is too long", path);
    fd = mkstemp(temporary);
    to = fd < 0 ? NULL : fdopen(fd, "w");
    if (!to)
        cli_die("cannot write %s: %s", temporary, strerror(errno));
    if (stat(path, &old) == 0)
        fchmod(fd, old.st_mode & 07777);
    fputs(text, to);
    if (ferror(to) | fclose(to) || rename(temporary, path) != 0) {
        unlink(temporary);
        cli_die("cannot write %s: %s", path, strerror(errno));
    }
}
