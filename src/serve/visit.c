/* visit.c - see visit.h. */
#include "visit.h"

#include "base/memory.h"
#include "command/permit.h"
#include "protocol/resp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void visit_do(struct serve *s, struct node_output *out)
{
    struct visit *v = client_user(out->client);

    if (out->type == NODE_CLOSE_CLIENT) {
        v->client = NULL;
    } else if (*v->total + out->len > VISIT_REPLIES_MAX) {
        v->overflows = true;
    } else if (out->len) {
        memcpy(bytes_add(&v->reply, out->len), out->bytes, out->len);
        *v->total += out->len;
    }
    node_did(&s->node, out);
    v->heard(v->owner);
}

struct visit *visit_open(struct serve *s, const struct rights_who *who, const char *from, size_t *total,
                         void (*heard)(void *owner), void *owner)
{
    struct visit *v = mem_new(sizeof *v);

    v->user.carry_out = visit_do;
    v->total = total;
    v->heard = heard;
    v->owner = owner;
    v->client = client_open(&s->node, v);
    v->client->protocol = 3;
    snprintf(v->client->session->who, sizeof v->client->session->who, "web page");
    snprintf(v->client->session->from, sizeof v->client->session->from, "%s", from);
    permit_visit(v->client, rights_copy(who));
    return v;
}

void visit_say(struct serve *s, struct visit *v, const struct bytes *words)
{
    if (v->client)
        serve_step(s, (struct node_input){.type = NODE_CLIENT_BYTES,
                                          .client = v->client,
                                          .bytes = words->at + words->start,
                                          .len = bytes_len(words)});
}

void visit_read(struct visit *v)
{
    *v->total -= bytes_len(&v->reply);
    bytes_free(&v->reply);
}

void visit_forget(struct visit *v)
{
    visit_read(v);
    free(v);
}

void visit_close(struct serve *s, struct visit *v)
{
    if (v->client)
        serve_step(s, (struct node_input){.type = NODE_CLIENT_CLOSED, .client = v->client});
    visit_forget(v);
}

/* Another visit of the same request may ask before the last answer to this one has been carried out. */
bool visit_is_done(const struct visit *v)
{
    return !v->client || v->overflows ||
           (!bytes_len(&v->client->in) && !session_is_busy(v->client->session) && !bytes_len(&v->client->out));
}

void visit_command(struct bytes *words, const char *const word[VISIT_WORDS_MAX])
{
    size_t count = 0;

    while (count < VISIT_WORDS_MAX && word[count])
        count++;
    resp_array(words, count);
    for (size_t k = 0; k < count; k++)
        resp_text(words, word[k]);
}
