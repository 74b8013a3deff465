/* leases_story.c - a move of the model of leases as a sentence. */
#include "leases.h"

static const char *const leases_names[MODEL_MEMBERS_MAX] = {"ant", "bee", "cat", "dog", "elk"};

/* "ant bee, and dog is added". */
static void leases_tell_view(const struct model_task *t, const struct leases_view *v, FILE *to)
{
    static const char *const standings[] = {"", " (added)", "", " (to be removed)"};
    const char *before = "";

    fprintf(to, "{");
    for (uint32_t i = 0; i < t->members; i++)
        if (v->standing[i]) {
            fprintf(to, "%s%s%s%s", before, leases_names[i], standings[v->standing[i]], v->part[i] ? "" : " (outside)");
            before = ", ";
        }
    fprintf(to, "}");
}

void leases_tell(const struct model_task *t, const uint8_t *state, struct model_move move, const uint8_t *next,
                 FILE *to)
{
    const char *who = leases_names[move.who], *x = leases_names[t->observed];
    struct leases s, after;

    leases_get(t, &s, state);
    leases_get(t, &after, next ? next : state);
    switch ((enum leases_move)move.what) {
    case LEASES_TIME:
        break;
    case LEASES_BEAT:
        fprintf(to, "%s receives a heartbeat of %s, and promises", who, x);
        break;
    case LEASES_ACK:
        fprintf(to, "%s receives an acknowledgement of %s that was under way", x, who);
        break;
    case LEASES_REPORT:
        if (move.who == t->observed)
            fprintf(to, "%s reports that no client of it believes in a lock", x);
        else
            fprintf(to, "%s has dropped %s, and reports that it owes it nothing", who, x);
        break;
    case LEASES_GRANT:
        fprintf(to, "%s grants the lock to a client", x);
        break;
    case LEASES_VOUCH:
        fprintf(to, "%s vouches for the lock of its client", x);
        break;
    case LEASES_RIVAL_GRANT:
        fprintf(to, "%s grants the lock to a client", who);
        break;
    case LEASES_RESTART:
        fprintf(to, "%s crashes and starts again", who);
        break;
    case LEASES_INSTALL:
        fprintf(to, "%s installs the view ", who);
        leases_tell_view(t, &s.view[move.arg], to);
        break;
    case LEASES_INSTALL_ALL:
        fprintf(to, "all but %s install the view ", x);
        leases_tell_view(t, &s.view[move.arg], to);
        break;
    case LEASES_COUNTED:
        fprintf(to, "%s leads, and all members have reported the agreed view", who);
        break;
    case LEASES_AGREE:
        fprintf(to, "%s leads, and the next view is agreed: ", who);
        leases_tell_view(t, &after.view[leases_latest(&after)], to);
        break;
    }
}
