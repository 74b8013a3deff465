/* longest.c - the largest number of messages that any run of bounded requests can send.
 *
 * The states form a graph without cycles, unless messages circulate for ever. So the number is the weight of a heaviest
 * path: from each state on, the most that can still be sent is that of its best edge, and of the state behind it. One
 * depth-first walk computes it; a way back to a state that is still open is a cycle. */
#include "base/memory.h"
#include "search.h"

#include <stdlib.h>

#define LONGEST_NEW UINT32_MAX
#define LONGEST_OPEN (UINT32_MAX - 1)

struct longest_frame {
    uint32_t state, best;
    struct search_cursor at;
};

uint64_t longest_messages(struct search *s)
{
    size_t frames = 0, room = 1024;
    struct longest_frame *frame = mem_new(room * sizeof *frame);
    uint32_t *most = mem_new(states_count(&s->states) * sizeof *most); /* messages that can still be sent, by state */
    uint64_t result;

    for (size_t k = 0, count = states_count(&s->states); k < count; k++)
        most[k] = LONGEST_NEW;
    frame[frames++] = (struct longest_frame){.state = 0};
    while (frames && !check_stopped(s->task)) {
        struct longest_frame *f = &frame[frames - 1];
        struct search_cursor before = f->at;
        struct search_edge e;

        if (!search_next(s, f->state, &f->at, &e)) {
            most[f->state] = f->best;
            frames--;
        } else if (most[e.to] == LONGEST_OPEN) {
            break;
        } else if (most[e.to] == LONGEST_NEW) {
            f->at = before; /* come back to this edge when the state behind it is known */
            if (frames == room) {
                room *= 2;
                frame = mem_grow(frame, room * sizeof *frame);
            }
            frame[frames++] = (struct longest_frame){.state = e.to};
            most[e.to] = LONGEST_OPEN;
        } else if (f->best < most[e.to] + s->space.transition[e.transition].messages) {
            f->best = most[e.to] + s->space.transition[e.transition].messages;
        }
    }
    result = frames ? UINT64_MAX : most[0];
    free(frame);
    free(most);
    return result;
}
