/* recorded.c - the commands of scenarios that were recorded (replay.h): where the run begins, and what the record says of a move. */
#include "scenario_inside.h"

#include "base/memory.h"
#include "core/wire.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* What the record and the algorithm disagree about, at the last move. */
static void __attribute__((format(printf, 2, 3))) play_judge(struct play *p, const char *format, ...)
{
    char text[sizeof p->error->text];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(p->output, "NOT AS RECORDED: %s\n", text);
    p->verdict = mem_grow(p->verdict, (p->verdicts + 1) * sizeof *p->verdict);
    p->verdict[p->verdicts++] = (struct moves_verdict){p->moved, strdup(text)};
}

/* A move is impossible. That is an error, but in a recorded run it is what is to be found out. */
bool play_impossible(struct play *p, const char *why)
{
    if (!p->recorded)
        return play_wrong(p, "%s", why);
    play_judge(p, "%s was recorded next, but %s", p->word[0], why);
    p->stopped = true;
    return true;
}

/* Of a recorded run: what is about to arrive. */
void play_keep_message(struct play *p, const struct world_move *move)
{
    size_t k = p->recorded && move->type == DME_RECEIVE ? world_find(p->world, move) : SIZE_MAX;
    struct dme_msg *m;
    uint64_t fence;

    p->got_len = 0;
    if (k == SIZE_MAX)
        return;
    m = p->world->flight[k].msg;
    fence = m->fence;
    m->fence = 0;
    p->got = mem_grow(p->got, dme_wire_size(m));
    p->got_len = dme_encode(m, p->got);
    m->fence = fence;
}

void play_free_verdicts(struct moves_verdict *verdict, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        free(verdict[k].text);
    free(verdict);
}

static unsigned play_digit(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;
}

/* Bytes as hexadecimal digits, into p->word[k]; false if they are not. */
static bool play_bytes(struct play *p, unsigned k, size_t *len)
{
    char *word = p->word[k];

    *len = strlen(word) / 2;
    if (strlen(word) % 2 || strspn(word, "0123456789abcdef") < 2 * *len)
        return play_wrong(p, "bytes are written as two digits each, 0 to f");
    for (size_t i = 0; i < *len; i++)
        word[i] = (char)(play_digit(word[2 * i]) << 4 | play_digit(word[2 * i + 1]));
    return true;
}

/* Makes the node, which is as at first, what the bytes say (lock/dormant.h). Returns their end, or null if they make no sense. */
static const uint8_t *play_unpack(const uint8_t *at, const uint8_t *end, uint8_t *node, size_t size)
{
    for (size_t done = 0; done < size;) {
        size_t same, other;

        if (end - at < 2)
            return NULL;
        same = *at++;
        other = *at++;
        if ((size_t)(end - at) < other || same + other > size - done || same + other == 0)
            return NULL;
        memcpy(node + done + same, at, other);
        at += other;
        done += same + other;
    }
    return at;
}

/* May the run begin in the midst? */
static bool play_midst(struct play *p)
{
    if (!p->believes)
        return play_wrong(p, "a run that begins in the midst can be played on the page only: open it there");
    if (p->moved)
        return play_wrong(p, "%s comes before the first move", p->word[0]);
    p->recorded = p->midst = true;
    return true;
}

bool play_state(struct play *p)
{
    uint32_t site, count, last;
    size_t len;
    const uint8_t *at, *end;

    if (!play_midst(p) || !play_site(p, 1, &site) ||
        !play_number(p, p->word[2], "number of sites", p->conf.n - site + 1, &count) || !play_bytes(p, 3, &len))
        return false;
    at = (const uint8_t *)p->word[3];
    end = at + len;
    for (uint32_t first; count--; site++) {
        struct dme_node *node = p->world->node[site];

        at = play_unpack(at, end, (uint8_t *)node + sizeof node->fence,
                         dme_node_size(&p->conf, site) - sizeof node->fence);
        dme_modes(&p->conf, &first, &last);
        if (!at || node->self != site || node->phase > DME_INSIDE || node->armed || node->down || node->zero ||
            node->incarnation || node->mode > last)
            return play_wrong(p, "this is no state of site %u", site);
    }
    return at == end ? true : play_wrong(p, "there are bytes behind the states");
}

static bool play_decode(struct play *p, dme_id from, dme_id to, unsigned k, struct dme_msg *m)
{
    size_t len;
    const char *wrong;

    if (!play_bytes(p, k, &len))
        return false;
    wrong = dme_decode(&p->conf, from, to, (const uint8_t *)p->word[k], len, m);
    m->fence = 0; /* fences are the daemon's own */
    return wrong ? play_wrong(p, "this is no message: %s", wrong) : true;
}

/* An event of a site before the run begins, by itself. It belongs to a member with COUNT sites from FIRST on: what it sends to
 * others is forgotten, since what is in flight when the run begins is told by `inflight`. */
bool play_before(struct play *p)
{
    static const struct {
        const char *verb;
        uint32_t type;
        unsigned words;
    } verbs[] = {
        {"request", DME_REQUEST, 6}, {"release", DME_RELEASE, 5}, {"get", DME_RECEIVE, 7}, {"local", DME_RECEIVE, 6}};
    struct world_move move = {0};
    struct dme_msg *m = mem_new(dme_msg_size_max(&p->conf));
    uint32_t first, count, last, k = 0;
    const char *objection;
    bool fine;

    while (k < 4 && strcmp(verbs[k].verb, p->word[3]) != 0)
        k++;
    fine = k < 4 && p->words == verbs[k].words ? play_midst(p) : play_wrong(p, "this event cannot come before the run");
    fine = fine && play_site(p, 1, &first) &&
           play_number(p, p->word[2], "number of sites", p->conf.n - first + 1, &count) && play_site(p, 4, &move.site);
    dme_modes(&p->conf, &last, &last);
    if (fine && k == 0)
        fine = play_number(p, p->word[5], "mode", last == UINT32_MAX ? last : last + 1, &move.arg);
    if (fine && k >= 2)
        fine = play_site(p, 5, &move.from);
    if (fine && k == 2 && (fine = play_decode(p, move.from, move.site, 6, m))) {
        move.kind = m->kind;
        world_send(p->world, m);
    }
    free(m);
    for (size_t f = 0; fine && k == 3 && f < p->world->flights; f++)
        if (p->world->flight[f].msg->from == move.from && p->world->flight[f].msg->to == move.site) {
            move = world_delivery(p->world, f);
            break;
        }
    if (!fine)
        return false;
    move.type = verbs[k].type;
    objection = world_move(p->world, &move);
    if (!objection && p->world->out->fault)
        objection = p->world->out->fault;
    world_forget(p->world, first, count);
    return objection ? play_wrong(p, "what was recorded makes no sense: %s", objection) : true;
}

bool play_inflight(struct play *p)
{
    struct dme_msg *m = mem_new(dme_msg_size_max(&p->conf));
    dme_id from, to;
    bool fine = play_midst(p) && play_site(p, 1, &from) && play_site(p, 2, &to) && play_decode(p, from, to, 3, m);

    if (fine)
        world_send(p->world, m);
    free(m);
    return fine;
}

bool play_recorded(struct play *p)
{
    struct dme_msg *m;
    uint8_t *bytes;
    bool enters;
    size_t len;

    p->recorded = true;
    if (p->words == 1)
        return p->moved ? play_wrong(p, "the command is: recorded AGE enters|- BYTES") : true;
    if (p->words != 4 || !p->moved)
        return play_wrong(p, "behind a move, the command is: recorded AGE enters|- BYTES");
    p->age_ms[p->moved - 1] = strtoull(p->word[1], NULL, 10);
    enters = strcmp(p->word[2], "enters") == 0;
    if (enters != p->world->out->entered)
        play_judge(p, enters ? "the site has entered, and the algorithm does not let it"
                             : "the site has not entered, and the algorithm lets it");
    if (strcmp(p->word[3], "-") == 0)
        return true;
    if (p->moves[p->moved - 1].type != DME_RECEIVE)
        return play_wrong(p, "no message has arrived");
    m = mem_new(dme_msg_size_max(&p->conf));
    if (play_decode(p, p->moves[p->moved - 1].from, p->moves[p->moved - 1].site, 3, m)) {
        bytes = mem_new(dme_wire_size(m));
        len = dme_encode(m, bytes);
        if (len != p->got_len || memcmp(bytes, p->got, len) != 0)
            play_judge(p, "another message has arrived than the algorithm has sent");
        free(bytes);
    } else {
        play_judge(p, "what has arrived is no message of this algorithm");
    }
    free(m);
    return true;
}
