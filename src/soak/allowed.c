/* allowed.c - rights of clients that operators set, and what is checked of them (node/rules.h; I34).
 *
 * Every client has one of a few keys. Operators draw rules that give each key some locks and take others from it, while its clients hold them and
 * wait for them. A client is granted a lock only if the rights of the view that its member has installed allow that, as a second, naive reader
 * of their text finds. And once some member has told that no change is under way, no member that still has earlier rights grants anything. */
#include "world.h"

#include "command/permit.h"
#include "node/rules.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

enum { KEYS = 3, LINE_MAX_BYTES = 80 };

void allowed_meet(struct world *w, struct soak_conn *x)
{
    struct rights_who *who;
    char key[8];

    if (!w->mix.rights || !x->end)
        return;
    who = rights_copy(NULL);
    snprintf(key, sizeof key, "k%u", x->client % KEYS);
    who->key = strdup(key);
    permit_meet(x->end, who);
}

/* Some rules for each key, in an order in which each can decide something. */
static void allowed_draw(struct world *w, char *text, size_t size)
{
    static const char *const patterns[] = {"apple", "m*", "2?pears", "[a-p]*", "*"};
    static const char *const rights[] = {"lock,watch", "lock,watch", "all", "shared", "watch", "none"};
    size_t len = 0;

    *text = '\0';
    for (unsigned key = 0; key < KEYS; key++)
        for (unsigned p = 0; p < sizeof patterns / sizeof patterns[0]; p++)
            if (world_below(w, 2))
                len += (size_t)snprintf(text + len, size - len, "allow key:k%u %s %s\n", key,
                                        rights[world_below(w, sizeof rights / sizeof rights[0])], patterns[p]);
    if (len == 0 || world_below(w, 3))
        snprintf(text + len, size - len, "allow any lock,watch *\n");
}

void allowed_set(struct world *w)
{
    uint32_t i = (uint32_t)world_below(w, w->n);
    bool unset = world_below(w, 6) == 0;
    char text[KEYS * 5 * LINE_MAX_BYTES], command[sizeof text + 120];
    const char *wrong;

    allowed_draw(w, text, sizeof text);
    if (!w->machine[i].runs || world_is_stopped(w, i) || w->alone)
        return;
    if (unset)
        snprintf(command, sizeof command, "CONFIG UNSET rights\n");
    else
        snprintf(command, sizeof command, "*4\r\n$6\r\nCONFIG\r\n$3\r\nSET\r\n$6\r\nrights\r\n$%zu\r\n%s\r\n",
                 strlen(text), text);
    wrong = conns_operate(w, i, command);
    world_trace(w, "other rights: %s\n%s", wrong ? wrong : "asked for", unset ? "none" : text);
    if (!wrong && world_below(w, 2))
        operators_harm_by_shorter(w);
}

/* Does the first line of the text that is about the client and the name have the right? */
static bool allowed_by(const char *text, const struct soak_conn *x, const char *name)
{
    char who[16], rights[40], pattern[40], key[16];
    int used;

    snprintf(key, sizeof key, "key:k%u", x->client % KEYS);
    for (; sscanf(text, "allow %15s %39s %39s\n%n", who, rights, pattern, &used) == 3; text += used)
        if ((strcmp(who, "any") == 0 || strcmp(who, key) == 0) && fnmatch(pattern, name, 0) == 0)
            return strstr(rights, "lock") || strcmp(rights, "all") == 0 ||
                   (x->mode == LOCK_SHARED && strstr(rights, "shared"));
    return false;
}

void allowed_check_grant(struct world *w, uint32_t i, const struct soak_conn *x)
{
    const struct settings_text *rights = &w->machine[i].node.view.rights;

    if (!w->mix.rights)
        return;
    if (rights->len && !allowed_by(rights->text, x, clients_names[x->name]))
        world_fail(w, "I34: client %u of %s is granted %s, which the rights of view %llu do not allow", x->client,
                   w->machine[i].name, clients_names[x->name], (unsigned long long)rights->set);
    if (rights->set < w->settled_rights)
        world_fail(
            w,
            "I34: client %u of %s is granted %s by the rights of view %llu, though an operator was told that all "
            "members have those of view %llu",
            x->client, w->machine[i].name, clients_names[x->name], (unsigned long long)rights->set,
            (unsigned long long)w->settled_rights);
}

void allowed_look(struct world *w, uint32_t i)
{
    const struct node *node = &w->machine[i].node;

    if (w->mix.rights && w->machine[i].runs && node->view.rights.set > w->settled_rights && !rules_are_changing(node))
        w->settled_rights = node->view.rights.set;
}

/* A machine has installed this view. */
void allowed_check(struct world *w, const struct view *view)
{
    if (view->number > w->newest.number && w->newest.number && view->rights.set < w->newest.rights.set)
        world_fail(w, "I34: the rights that were agreed are forgotten in view %llu", (unsigned long long)view->number);
    for (uint32_t k = 0; view->rights.set == view->number && k < w->n; k++) {
        uint32_t place = view_find_name(view, w->machine[k].name, strlen(w->machine[k].name));

        if ((w->mix.unsettled | w->mix.unpoliced | w->mix.unruled) >> k & 1 && place != VIEW_MEMBERS_MAX &&
            view->member[place].incarnation)
            world_fail(w, "I34: rights are agreed, though %s is of an earlier build", w->machine[k].name);
    }
}
