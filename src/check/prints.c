/* prints.c - see prints.h. */
#include "prints.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Places behind the last home, for those that do not get theirs. The last of them stays free, so that a look-up ends there at the latest: if
 * all others are taken, the segment grows. */
enum { PRINTS_SLACK = 64 };
enum { PRINTS_PAGE = 4096 / sizeof(struct print) };

static struct prints_segment *prints_segment(const struct prints *p, struct print print)
{
    return (struct prints_segment *)&p->segment[print.high >> 56];
}

static size_t prints_homes(const struct prints_segment *s)
{
    return s->room - PRINTS_SLACK;
}

static size_t prints_home(const struct prints_segment *s, struct print print)
{
    return (size_t)((unsigned __int128)(print.high << 8) * prints_homes(s) >> 64);
}

static bool prints_free_place(struct print print)
{
    return (print.high | print.low) == 0;
}

static bool prints_less(struct print a, struct print b)
{
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

static size_t prints_next_room(const struct prints_segment *s)
{
    return s->room + (s->room / 32 / PRINTS_PAGE + 1) * PRINTS_PAGE;
}

/* Whole pages of the system's: these it can move without a copy, and without a hole where they were. */
static void prints_map(struct prints_segment *s, size_t room)
{
    size_t size = sizeof *s->at;

    s->at = s->room ? mremap(s->at, s->room * size, room * size, MREMAP_MAYMOVE)
                    : mmap(NULL, room * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (s->at == MAP_FAILED) {
        fprintf(stderr, "dibs: out of memory for fingerprints; --memory BYTES sets a limit\n");
        exit(2);
    }
}

/* All fingerprints slide to the end of the larger segment, and from there, one after the other, to their new places.
 * These are never behind the one where it stands meanwhile, as there must be room for those that follow; and they fit,
 * with the last place free, since a home is no nearer to the end than it was. */
static void prints_grow(struct prints_segment *s)
{
    size_t room = prints_next_room(s), from = room, to = 0;

    prints_map(s, room);
    for (size_t k = s->room; k-- > 0;)
        if (!prints_free_place(s->at[k]))
            s->at[--from] = s->at[k];
    s->room = room;
    for (; from < room; from++) {
        struct print print = s->at[from];
        size_t home = prints_home(s, print);

        assert(to <= from && home <= from);
        while (to < home)
            s->at[to++] = (struct print){0};
        s->at[to++] = print;
    }
    memset(s->at + to, 0, (room - to) * sizeof *s->at);
}

/* The place of this fingerprint, or where it belongs. */
static size_t prints_place(const struct prints_segment *s, struct print print)
{
    size_t k = prints_home(s, print);

    while (!prints_free_place(s->at[k]) && prints_less(s->at[k], print))
        k++;
    return k;
}

bool prints_add(struct prints *p, struct print print)
{
    struct prints_segment *s = prints_segment(p, print);
    size_t place, end;

    if (prints_free_place(print))
        print.low = 1;
    place = end = prints_place(s, print);
    if (s->at[place].high == print.high && s->at[place].low == print.low)
        return false;
    while (!prints_free_place(s->at[end]))
        end++;
    if (end == s->room - 1 || s->count >= prints_homes(s) / 32 * 31) {
        prints_grow(s);
        return prints_add(p, print);
    }
    memmove(s->at + place + 1, s->at + place, (end - place) * sizeof *s->at);
    s->at[place] = print;
    s->count++;
    p->count++;
    return true;
}

void prints_prefetch(const struct prints *p, struct print print)
{
    const struct prints_segment *s = prints_segment(p, print);

    __builtin_prefetch(&s->at[prints_home(s, print)]);
}

void prints_init(struct prints *p)
{
    memset(p, 0, sizeof *p);
    for (unsigned k = 0; k < PRINTS_SEGMENTS; k++) {
        prints_map(&p->segment[k], PRINTS_PAGE);
        p->segment[k].room = PRINTS_PAGE;
    }
}

void prints_free(struct prints *p)
{
    for (unsigned k = 0; k < PRINTS_SEGMENTS; k++)
        munmap(p->segment[k].at, p->segment[k].room * sizeof *p->segment[k].at);
}

size_t prints_memory(const struct prints *p)
{
    size_t places = 0;

    for (unsigned k = 0; k < PRINTS_SEGMENTS; k++)
        places += p->segment[k].room;
    return places * sizeof(struct print);
}

size_t prints_memory_ahead(const struct prints *p)
{
    size_t places = 0;

    for (unsigned k = 0; k < PRINTS_SEGMENTS; k++)
        places += prints_next_room(&p->segment[k]);
    return places * sizeof(struct print);
}
