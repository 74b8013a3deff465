/* sessions_story.c - a move of the model of kept sessions as a sentence. */
#include "sessions.h"

static const char *const sessions_names[MODEL_MEMBERS_MAX] = {"ant", "bee", "cat", "dog", "elk"};

static void sessions_tell_view(const struct model_task *t, const struct sessions_view *v, uint32_t number, FILE *to)
{
    const char *before = "";

    fprintf(to, "{");
    for (uint32_t i = 0; i < t->members; i++)
        if (v->since[i]) {
            fprintf(to, "%s%s%s", before, sessions_names[i], v->since[i] == number ? " (new)" : "");
            before = ", ";
        }
    fprintf(to, "}");
}

static void sessions_tell_letter(const struct sessions_letter *letter, const char *who, const char *from, FILE *to)
{
    static const char *const letters[] = {"that it is granted the lock",
                                          "that the lock is released",
                                          "that the session is to move",
                                          "that this was all",
                                          "an acknowledgement",
                                          "a record of the session",
                                          "its MARK",
                                          "that it wants the session"};

    fprintf(to, "%s hears from %s %s%s", who, from, letters[letter->type],
            letter->which && letter->type <= SESSIONS_FREE ? " (the next one)"
            : letter->which                                ? " (of the next one)"
                                                           : "");
}

void sessions_tell_story(const struct model_task *t, const uint8_t *state, struct model_move move, const uint8_t *next,
                         FILE *to)
{
    static const char *const resumes[] = {": the session is not known there", ", which asks the session's owner",
                                          ": the lock is not there", ": the lock is shared there",
                                          ", and hears that the lock is exclusive"};
    const char *who = sessions_names[move.who];
    static struct sessions s, after;

    sessions_get(t, &s, state);
    sessions_get(t, &after, next ? next : state);
    switch ((enum sessions_move)move.what) {
    case SESSIONS_AGREE:
        fprintf(to, "the next view is agreed: ");
        sessions_tell_view(t, &after.view[after.views], after.views, to);
        break;
    case SESSIONS_INSTALL:
        fprintf(to, "%s installs the view ", who);
        sessions_tell_view(t, &s.view[move.arg], move.arg, to);
        break;
    case SESSIONS_HEAR:
        sessions_tell_letter(&s.letter[move.arg][move.who][0], who, sessions_names[move.arg], to);
        break;
    case SESSIONS_PASS:
        fprintf(to, "%s passes the barrier", who);
        break;
    case SESSIONS_OPEN:
        fprintf(to, "%s opens the view", who);
        break;
    case SESSIONS_LOCK:
        fprintf(to, "%s grants the lock to the session, and sends records of that", who);
        break;
    case SESSIONS_TELL:
        fprintf(to, "%s tells the %ssession's client that it holds the lock%s", who,
                move.arg && t->change == MODEL_FOLLOW ? "other " : "",
                move.arg && t->change == MODEL_UPGRADE ? " alone" : "");
        break;
    case SESSIONS_RELEASE:
        fprintf(to, "the %ssession's client releases the lock at %s, or the keep time is over",
                move.arg ? "other " : "", who);
        break;
    case SESSIONS_FOLLOW:
        fprintf(to, "%s passes the lock on to the other session, and sends records of that", who);
        break;
    case SESSIONS_UPGRADE:
        fprintf(to, "%s upgrades the lock: it sends the next record, and withdraws the one of before", who);
        break;
    case SESSIONS_DOWNGRADE:
        fprintf(to, "%s is to downgrade the lock, and sends records of that", who);
        break;
    case SESSIONS_RESUME:
        fprintf(to, "the client resumes the session at %s%s", who, resumes[move.arg]);
        break;
    case SESSIONS_BEGIN_MOVE:
        fprintf(to, "%s tells all that the session is to move", who);
        break;
    case SESSIONS_RIVAL:
        fprintf(to, "%s grants the lock to another client", who);
        break;
    case SESSIONS_RIVAL_LEAVES:
        fprintf(to, "the other client releases the lock at %s", who);
        break;
    }
}
