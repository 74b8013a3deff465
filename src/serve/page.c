/* page.c - see page.h. */
#include "page.h"

#include "base/memory.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const page_headers[][2] = {
    {"Content-Type", "text/html; charset=utf-8"},
    {"Cache-Control", "no-store"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Content-Security-Policy", "frame-ancestors 'none'"},
    {NULL, NULL},
};

bool page_path(char *path, size_t size)
{
    static const char *const places[] = {"dibs-lab.html", "../share/dibs/dibs-lab.html"};
    char program[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);

    if (len < 0)
        return false;
    program[len] = 0;
    *(strrchr(program, '/') + 1) = 0;
    for (unsigned k = 0; k < sizeof places / sizeof places[0]; k++)
        if ((size_t)snprintf(path, size, "%s%s", program, places[k]) < size && access(path, R_OK) == 0)
            return true;
    return false;
}

char *page_read(const char *path, size_t *len, char *wrong, size_t wrong_size)
{
    char found[PATH_MAX];
    const char *at = path ? path : page_path(found, sizeof found) ? found : NULL;
    FILE *file = at ? fopen(at, "r") : NULL;
    char *text;
    long size;

    if (!file && path)
        snprintf(wrong, wrong_size, "cannot read %s: %s", path, strerror(errno));
    else if (!file)
        snprintf(wrong, wrong_size,
                 "there is no dibs-lab.html beside the program or in ../share/dibs; \"./run page\" builds it");
    if (!file)
        return NULL;
    size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    rewind(file);
    text = size > 0 && size <= PAGE_SIZE_MAX ? mem_try((size_t)size) : NULL;
    *len = text ? fread(text, 1, (size_t)size, file) : 0;
    if (!text || *len != (size_t)size) {
        snprintf(wrong, wrong_size, "%s is no page: it is empty, too large or cannot be read",
                 path ? path : "dibs-lab.html");
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}
