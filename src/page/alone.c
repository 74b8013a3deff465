/* alone.c - what a page does not have: threads, mmap, files and a terminal. The Makefile compiles the module with these
 * functions in place of parallel_search and fingerprint_search (check/search.h), of the line of progress and the colours
 * (cli/progress.h), and of files and pictures (cli/cli.h).
 *
 * The page asks for no search with threads or fingerprints: page_check refuses both. The only file is standard
 * output. */
#include "check/search.h"
#include "cli/cli.h"
#include "cli/progress.h"

#include <assert.h>
#include <string.h>

void page_parallel_search(struct search *s, uint32_t threads, struct search_finding *finding)
{
    (void)s;
    (void)threads;
    (void)finding;
    assert(!"there is one thread");
}

void page_fingerprint_search(struct search *s, const uint32_t *start, struct search_finding *finding)
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

void page_progress_begin(const char *what, uint64_t all)
{
    (void)what;
    (void)all;
}

void page_progress_set(uint64_t done, uint64_t all)
{
    (void)done;
    (void)all;
}

void page_progress_end(void)
{
}

const char *page_colour_of(enum verdict_colour colour)
{
    (void)colour;
    return "";
}

const char *page_colour_end(void)
{
    return "";
}
