/* picture.c - space-time diagrams as files; see cli.h. rsvg-convert (librsvg) makes PDF and PNG of SVG. */
#include "base/memory.h"
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const picture_formats[] = {"pdf", "png", NULL};

const char *cli_picture_format(const char *path)
{
    const char *dot = path ? strrchr(path, '.') : NULL;

    for (unsigned k = 0; dot && picture_formats[k]; k++)
        if (strcmp(dot + 1, picture_formats[k]) == 0)
            return picture_formats[k];
    return NULL;
}

void cli_check_picture(const char *option, const char *path, const char *format)
{
    cli_check_output(option, path);
    if (path && format && system("command -v rsvg-convert >/dev/null 2>&1") != 0)
        cli_die("rsvg-convert, which makes %s of SVG, is not installed; apt-get install librsvg2-bin, or take svg",
                format);
}

void cli_write_picture(const char *path, const char *svg, const char *format)
{
    char temporary[] = "/tmp/dibs-picture.XXXXXX", command[96], *picture = NULL;
    FILE *to, *from;
    size_t len = 0, got;
    int fd;

    if (!format) {
        cli_write_file(path, svg);
        return;
    }
    fd = mkstemp(temporary);
    to = fd < 0 ? NULL : fdopen(fd, "w");
    if (!to || fputs(svg, to) < 0 || fclose(to) != 0)
        cli_die("%s: %s", temporary, strerror(errno));
    snprintf(command, sizeof command, "rsvg-convert -f %s %s", format, temporary);
    from = popen(command, "r");
    do {
        picture = mem_grow(picture, len + 65536);
        got = from ? fread(picture + len, 1, 65536, from) : 0;
        len += got;
    } while (got);
    if (!from || pclose(from) != 0 || !len) {
        unlink(temporary);
        cli_die("rsvg-convert could not make a picture for %s", path);
    }
    unlink(temporary);
    cli_write_bytes(path, picture, len);
    free(picture);
}
