/* lookup.c - the users and groups that agreed rights name, and which numbers they have on this machine (node/rules.h).
 *
 * A lookup may take the network, so a thread of libuv makes it, and the loop goes on meanwhile. Before the loop begins, the daemon waits for
 * it. If the machine has no such name, no client of this machine can be that user, and the rule no longer refuses as unsure. If the machine cannot tell,
 * the rule goes on refusing. SIGHUP has all names looked up again. */
#include "serve.h"

#include "base/memory.h"
#include "node/rules.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct lookup {
    uv_work_t work;
    struct serve *serve;
    unsigned count;
    struct {
        struct rights_subject subject;
        int error;
    } name[RIGHTS_RULES_MAX + RIGHTS_LIMITS_MAX];
};

static bool lookup_has(const struct lookup *l, const struct rights_subject *s)
{
    for (unsigned k = 0; k < l->count; k++)
        if (l->name[k].subject.kind == s->kind && strcmp(l->name[k].subject.name, s->name) == 0)
            return true;
    return false;
}

/* A name that the machine has to be asked for: one that is not a number. */
static void lookup_add(struct lookup *l, const struct rights_subject *s, bool all)
{
    bool named = (s->kind == RIGHTS_USER || s->kind == RIGHTS_GROUP) && s->name[strspn(s->name, "0123456789")];

    if (!named || !(s->unsure || all) || lookup_has(l, s))
        return;
    l->name[l->count].subject = *s;
    l->name[l->count++].subject.known = false;
}

static struct lookup *lookup_new(struct serve *s, bool all)
{
    struct lookup *l = mem_new(sizeof *l);
    const struct rights *t = s->node.rules.agreed;

    l->serve = s;
    for (unsigned k = 0; t && k < t->rules; k++)
        lookup_add(l, &t->rule[k].who, all);
    for (unsigned k = 0; t && k < t->limits; k++)
        lookup_add(l, &t->limit[k].who, all);
    return l;
}

static void lookup_ask(uv_work_t *work)
{
    struct lookup *l = work->data;

    for (unsigned k = 0; k < l->count; k++)
        l->name[k].error = conf_ask_subject(&l->name[k].subject);
}

static void lookup_tell(struct lookup *l)
{
    struct serve *s = l->serve;
    bool newest = s->looked == s->node.rules.version; /* the rights have not changed meanwhile */
    char label[RIGHTS_LABEL_MAX];

    for (unsigned k = 0; k < l->count; k++) {
        const struct rights_subject *is = &l->name[k].subject;

        rights_print_subject(is, label);
        if (l->name[k].error) {
            serve_warn(
                s,
                "cannot look up %s, which the agreed rights name: %s; rules about it refuse until SIGHUP makes this "
                "daemon look again",
                label, strerror(l->name[k].error));
            continue;
        }
        if (!is->known)
            serve_warn(s,
                       "the agreed rights name %s, which this machine does not have; add it, and send this daemon a "
                       "SIGHUP",
                       label);
        rules_learn(&s->node, is);
    }
    if (newest)
        s->looked = s->node.rules.version; /* what was learnt is no reason to look again */
    free(l);
}

static void lookup_done(uv_work_t *work, int status)
{
    struct lookup *l = work->data;
    struct serve *s = l->serve;

    (void)status;
    s->resolving--;
    s->looking = false;
    lookup_tell(l);
    if (!s->stopping)
        serve_mind_lookups(s);
}

void serve_look_up_now(struct serve *s)
{
    struct lookup *l = lookup_new(s, false);

    l->work.data = l;
    s->looked = s->node.rules.version;
    lookup_ask(&l->work);
    lookup_tell(l);
}

void serve_look_up_again(struct serve *s)
{
    struct lookup *l;

    if (s->looking) { /* it is being done for some of them; then for all */
        s->look_again = true;
        return;
    }
    l = lookup_new(s, true);
    l->work.data = l;
    s->look_again = false;
    s->looked = s->node.rules.version;
    if (l->count && uv_queue_work(&s->loop, &l->work, lookup_ask, lookup_done) == 0) {
        s->resolving++;
        s->looking = true;
    } else {
        free(l);
    }
}

void serve_mind_lookups(struct serve *s)
{
    if (s->looking || (!s->look_again && (!s->node.rules.unsure || s->looked == s->node.rules.version)))
        return;
    serve_look_up_again(s);
}
