/* alone.c - what a page does not have: threads, mmap and files. The Makefile compiles the module with these functions in
 * place of crew_search and lean_search (check/search.h), and of the functions for files and pictures in cli/cli.h.
 *
 * The page asks for no search with threads or fingerprints: page_check refuses both. The only file is standard
 * output. */
#include "check/search.h"
#include "cli/cli.h"

#include <assert.h>
#include <string.h>

void page_crew_search(struct search *s, uint32_t threads, struct search_finding *finding)
{
    (void)s;
    (void)threads;
    (void)finding;
    assert(!"there is one thread");
}

void page_lean_search(struct search *s, const uint32_t *start, struct search_finding *finding)
{
    (void)s;
    (void)start;
    (void)finding;
    assert(!"there is no mmap");
}

char *page_read_file(const char *path)
{
    cli_die("cannot read %s: a page has no files", path);
}

void page_write_file(const char *path, const char *text)
{
    page_check_output("writing", path);
    fputs(text, stdout);
}

void page_check_output(const char *option, const char *path)
{
    if (path && strcmp(path, "-") != 0)
        cli_die("%s %s: a page has no files; take the command line for that", option, path);
}

const char *page_picture_format(const char *path)
{
    (void)path;
    return NULL; /* SVG */
}

void page_check_picture(const char *option, const char *path, const char *format)
{
    (void)format;
    page_check_output(option, path);
}

void page_write_picture(const char *path, const char *svg, const char *format)
{
    (void)format;
    page_write_file(path, svg);
}
