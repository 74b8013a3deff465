/* line.h - a waiting line of sites inside a node.
 *
 * The sites stand in slots 0, 1, .. of an array that is usually one column of the peer records: slot k lies stride
 * bytes behind slot k-1. Slots behind the end are 0, so two lines with the same sites in the same order are the same
 * bytes, as the checker needs it. No site is in a line twice, so n slots are always enough. */
#ifndef DIBS_CORE_LINE_H
#define DIBS_CORE_LINE_H

#include "dme.h"

#include <assert.h>

struct dme_line {
    uint32_t *len;
    dme_id *first; /* slot 0 */
    size_t stride, slots;
};

static inline dme_id *dme_line_slot(struct dme_line line, uint32_t k)
{
    return (dme_id *)((char *)line.first + k * line.stride);
}

static inline bool dme_line_has(struct dme_line line, dme_id site)
{
    for (uint32_t k = 0; k < *line.len; k++)
        if (*dme_line_slot(line, k) == site)
            return true;
    return false;
}

/* The last in the line, which is not empty. */
static inline dme_id dme_line_last(struct dme_line line)
{
    assert(*line.len > 0);
    return *dme_line_slot(line, *line.len - 1);
}

/* For `malformed`: has the line no more sites than slots, and is what stands in each of them below n? */
static inline bool dme_line_is_sound(struct dme_line line, uint32_t n)
{
    for (uint32_t k = 0; k < line.slots; k++)
        if (*dme_line_slot(line, k) >= n)
            return false;
    if (*line.len > line.slots)
        return false;
    return true;
}

/* False if all slots are taken, which only nonsense from a peer can bring about. */
static inline bool dme_line_push(struct dme_line line, dme_id site)
{
    if (*line.len == line.slots)
        return false;
    *dme_line_slot(line, (*line.len)++) = site;
    return true;
}

/* Takes the k-th out; those behind it move up. */
static inline void dme_line_cut(struct dme_line line, uint32_t k)
{
    assert(k < *line.len);
    for (--*line.len; k < *line.len; k++)
        *dme_line_slot(line, k) = *dme_line_slot(line, k + 1);
    *dme_line_slot(line, k) = 0;
}

static inline dme_id dme_line_pop(struct dme_line line)
{
    dme_id site = *line.first;

    dme_line_cut(line, 0);
    return site;
}

/* Takes the site out, wherever it stands, if it does. */
static inline void dme_line_remove(struct dme_line line, dme_id site)
{
    for (uint32_t k = 0; k < *line.len; k++)
        if (*dme_line_slot(line, k) == site) {
            dme_line_cut(line, k);
            return;
        }
}

/* Moves the line into a message: the k-th site becomes the site of the k-th ticket, and the line is empty. There are as
 * many tickets as slots, and they name no site yet. */
static inline void dme_line_pack(struct dme_line line, struct dme_ticket *ticket)
{
    for (uint32_t k = 0; k < *line.len; k++) {
        ticket[k].site = *dme_line_slot(line, k);
        *dme_line_slot(line, k) = 0;
    }
    *line.len = 0;
}

/* Moves the tickets of a message into an empty line. Returns false if there is a gap. It does not check whether a site
 * occurs twice, because comparing all pairs is slow for many sites: algorithms that rely on that check it themselves. */
static inline bool dme_line_unpack(struct dme_line line, const struct dme_ticket *ticket)
{
    for (uint32_t k = 0; k < line.slots; k++)
        if (ticket[k].site != DME_NONE) {
            if (*line.len != k)
                return false;
            dme_line_push(line, ticket[k].site);
        }
    return true;
}

#endif
