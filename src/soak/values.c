/* values.c - clients that tell others something with their locks (LOCK .. VALUE), and what HOLDERS shows of it.
 *
 * In the case SOAK_LEADERS, three of four requests have a value, which no other request has. When a client hears that it holds a lock,
 * another client asks a member for the holders of that lock, and of another one. What a member shows of an
 * exclusive holder must be the value with which that holder has requested the lock, whichever member is asked, and whatever has
 * happened to the holder's member and session. A fence tells one holder from all others (I6, I29). */
#include "world.h"

#include "base/pack.h"

#include <stdlib.h>

const char *values_draw(struct world *w, uint32_t k, char text[SOAK_VALUE_MAX])
{
    struct soak_client *c = &w->client[k];

    text[0] = '\0';
    if (w->mix.values && ++c->asked % 4) /* this draws no random number, so other cases stay as they were */
        snprintf(text, SOAK_VALUE_MAX, "%u.%u", k, c->asked);
    return text;
}

/* According to `whose`, the holder of the lock with this fence has this value. Checks that it is the value that was noted before. */
static void values_note(struct world *w, int name, uint64_t fence, const char *text, const char *whose)
{
    struct soak_value *all = w->value[name], *v = &all[0];

    for (unsigned j = 0; j < SOAK_VALUES_KEPT && v->fence != fence; j++)
        if (all[j].fence == fence || all[j].fence < v->fence)
            v = &all[j];
    if (v->fence == fence && strcmp(v->text, text) != 0)
        world_fail(w, "%s shows the value \"%s\" of the holder of %s with fence %llu, and %s has shown \"%s\"", whose,
                   text, clients_names[name], (unsigned long long)fence, v->whose, v->text);
    if (v->fence >= fence) /* noted already, or older than all that are kept */
        return;
    *v = (struct soak_value){.fence = fence};
    snprintf(v->text, sizeof v->text, "%s", text);
    snprintf(v->whose, sizeof v->whose, "%s", whose);
}

void values_granted(struct world *w, uint32_t k, int name, const struct soak_use *u, const char *text)
{
    if (!w->mix.values)
        return;
    if (u->mode == LOCK_ALONE && !u->slots)
        values_note(w, name, u->fence, text, "its client");
    world_plan(w, 0, SOAK_LOOK, (uint32_t)((k + u->fence) % w->n), (uint32_t)name);
    world_plan(w, 0, SOAK_LOOK, (uint32_t)((k + u->fence / 2) % w->n), (uint32_t)(u->fence / 2 % SOAK_NAMES));
}

void values_look(struct world *w, uint32_t i, int name)
{
    struct soak_machine *m = &w->machine[i];
    char line[64];

    if (!m->runs || world_is_stopped(w, i))
        return;
    snprintf(line, sizeof line, "*2\r\n$7\r\nHOLDERS\r\n$%zu\r\n%s\r\n", strlen(clients_names[name]),
             clients_names[name]);
    if (!m->looks)
        m->looks = client_open(&m->node, NULL);
    world_deliver(
        w, i,
        (struct node_input){
            .type = NODE_CLIENT_BYTES, .client = m->looks, .bytes = (const uint8_t *)line, .len = strlen(line)});
}

void values_hear(struct world *w, uint32_t i, const struct query *q)
{
    int name = clients_find_name(q->text, q->text_len);

    for (uint32_t k = 0; k < q->count; k++) {
        struct unpack u = unpack_bytes(&q->answer[k].rows);
        struct claim_row row;
        char text[SOAK_VALUE_MAX], whose[SOAK_WHOSE_MAX];

        while (u.at < u.end && query_claim_row(&u, &row)) {
            if (row.mode != LOCK_MODE_EXCLUSIVE || row.state == ROW_TOKEN)
                continue;
            snprintf(text, sizeof text, "%.*s", (int)row.value_len, row.value);
            snprintf(whose, sizeof whose, "%s, asked by %s,", q->answer[k].name, w->machine[i].name);
            values_note(w, name, row.fence, text, whose);
        }
    }
}
