/* The decisions of the client library (client/belief.h) against a hostile daemon: bytes of any kind, in pieces of any length,
 * at any time, between any calls of the program. Every byte is understood, or the connection ends. A lock is held only if it
 * was asked for and granted, or is held already; it is lost once at most; and a program is not told that it holds a lock whose validity has
 * passed, nor after the connection has ended. Words of the protocol are among the bytes, else little would be reached.
 * Invariant: I20. */
#include "fuzz.h"

#include "client/belief.h"

#include <string.h>

static const char *const fuzz_words[] = {
    "*2\r\n$1\r\nx\r\n:7\r\n",
    "*2\r\n$1\r\ny\r\n:8\r\n",
    "*4\r\n$1\r\nx\r\n:7\r\n$1\r\ny\r\n:8\r\n",
    "_\r\n",
    "-LOST gone\r\n",
    "-ERR no\r\n",
    ">4\r\n$4\r\nlost\r\n$1\r\nx\r\n:7\r\n$3\r\nwhy\r\n",
    ">2\r\n$9\r\nmeanwhile\r\n:1000000\r\n",
    ">2\r\n$9\r\nmeanwhile\r\n:40\r\n",
    ">2\r\n$9\r\nmeanwhile\r\n-\r\n",
    "*2\r\n$1\r\nx\r\n:0\r\n",
    ">2\r\n$9\r\nmeanwhile\r\n+OK\r\n",
    ">2\r\n$9\r\nmeanwhile\r\n-NOTHELD no\r\n",
    ">2\r\n$9\r\nmeanwhile\r\n-NOQUORUM no\r\n",
    ">4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$1\r\nx\r\n$20\r\ngranted a 1 2 slot z\r\n",
    ">3\r\n$10\r\npsubscribe\r\n",
    "%1\r\n",
    "*1\r\n",
    "$3\r\n",
    ":9\r\n",
    "\r\n",
    "*",
    "$",
};

enum { FUZZ_NAMES = 2 };

/* The program: what it has been told. */
struct fuzz_user {
    struct belief b;
    uint64_t now_ms;
    bool told[FUZZ_NAMES];      /* that it holds the lock */
    unsigned again[FUZZ_NAMES]; /* how often besides */
    bool both;                  /* it has asked for both locks at once */
    int asked, about;           /* the lock that it asked for last; that it unlocks or renews */
};

static const char *const fuzz_names[FUZZ_NAMES] = {"x", "y"};

/* Bytes of the daemon arrive, and are cut in two somewhere. */
static void fuzz_hear(struct fuzz_user *u, struct fuzz_input *in)
{
    const char *word = fuzz_words[fuzz_take(in) % (sizeof fuzz_words / sizeof fuzz_words[0])];
    char byte[2] = {(char)fuzz_take(in), 0}, *at;
    size_t room, len;

    if ((byte[0] & 0x60) == 0x60)
        word = byte;
    len = strlen(word);
    if (len > 1 && (byte[0] & 0x1f) == 0x1f)
        len -= fuzz_take(in) % len;
    at = belief_room(&u->b, &room);
    FUZZ_EXPECT(at && room >= len, "there is no room");
    memcpy(at, word, len);
    belief_received(&u->b, len);
}

static void fuzz_result(struct fuzz_user *u, int code)
{
    if (code != DIBS_OK)
        return;
    FUZZ_EXPECT(!u->b.gone && u->b.fence && u->now_ms < u->b.vouched_ms,
                "told to hold a lock for which no member vouches");
    for (int k = 0; k < FUZZ_NAMES; k++)
        if (u->both || k == u->asked) {
            FUZZ_EXPECT(!u->told[k], "%s is granted twice", fuzz_names[k]);
            u->told[k] = true;
        }
}

/* What the program hears, and whether it agrees with what it heard before. */
static void fuzz_listen(struct fuzz_user *u)
{
    struct belief_news news;

    while (belief_next(&u->b, &news, u->now_ms)) {
        if (news.type == BELIEF_EVENT) {
            FUZZ_EXPECT(news.event.event && news.event.lock && news.event.member && news.event.who && news.event.mode,
                        "an event without a word");
            continue;
        }
        FUZZ_EXPECT(news.fence && news.why && *news.name, "a loss without a word");
        FUZZ_EXPECT(u->told[*news.name - 'x'], "%s is lost, and was not held", news.name);
        u->told[*news.name - 'x'] = false;
        u->again[*news.name - 'x'] = 0;
    }
}

/* The program requests both locks at once. */
static void fuzz_ask_both(struct fuzz_user *u)
{
    const struct dibs_part parts[FUZZ_NAMES] = {{.name = "x"}, {.name = "y"}};

    if (!u->b.wanted && belief_lock_many(&u->b, parts, FUZZ_NAMES, &(struct dibs_wish){0}, false, u->now_ms) == DIBS_OK)
        u->both = true;
}

/* The program requests once more a lock that it was told to hold. */
static void fuzz_ask_again(struct fuzz_user *u, int name)
{
    if (!u->told[name] || belief_lock(&u->b, fuzz_names[name], &(struct dibs_wish){.reentrant = true}, true, u->now_ms))
        return;
    FUZZ_EXPECT(belief_fence(&u->b, fuzz_names[name], u->now_ms), "told to hold %s once more, and it may be lost",
                fuzz_names[name]);
    u->again[name]++;
}

/* The program releases a lock as often as it holds it. */
static void fuzz_unlock(struct fuzz_user *u, int name, bool waits)
{
    int code = waits ? belief_unlock(&u->b, fuzz_names[name], u->now_ms) : belief_start_unlock(&u->b, fuzz_names[name]);

    if (u->again[name]) {
        FUZZ_EXPECT(code == DIBS_OK, "%s is held several times, and released at once", fuzz_names[name]);
        u->again[name]--;
    } else if (code == DIBS_WAITING) {
        u->about = name;
    } else if (!waits) {
        u->told[name] = false;
    }
}

/* The program calls. */
static void fuzz_call(struct fuzz_user *u, unsigned choice)
{
    const struct dibs_wish wish = {.wait_ms = choice & 1 ? 50 : 0};
    int name = choice >> 4 & 1;

    if (u->b.call)
        return; /* it is blocked */
    switch (choice & 15) {
    case 0:
    case 1:
    case 2:
    case 3:
        if (!u->b.wanted) {
            u->asked = name;
            u->both = false;
        }
        belief_lock(&u->b, fuzz_names[name], &wish, choice & 2, u->now_ms);
        break;
    case 4:
    case 5:
        fuzz_unlock(u, name, (choice & 15) == 4);
        break;
    case 6:
        if (belief_renew(&u->b, fuzz_names[name], 100, u->now_ms) == DIBS_WAITING)
            u->about = name;
        break;
    case 7:
        belief_start_renew(&u->b, fuzz_names[name], 100);
        break;
    case 8:
        belief_confirm(&u->b, fuzz_names[name], u->now_ms);
        break;
    case 9:
        belief_watch(&u->b, "*", u->now_ms);
        break;
    case 10:
        belief_ask(&u->b, (const char *[]){"STATUS"}, 1, u->now_ms);
        break;
    case 11:
        fuzz_ask_both(u);
        break;
    case 12:
        fuzz_ask_again(u, name);
        break;
    default:
        if (u->b.wanted)
            fuzz_result(u, belief_lock_result(&u->b, u->now_ms));
    }
}

/* Time passes, and the driver looks at the clock. */
static void fuzz_clock(struct fuzz_user *u, unsigned choice)
{
    enum belief_call call = u->b.call;
    size_t len;
    int code;

    u->now_ms += choice & 0x10 ? (choice & 15) * 5 : (choice & 15) == 15 ? 11000 : 0;
    belief_clock(&u->b, u->now_ms);
    fuzz_listen(u);
    belief_output(&u->b, &len);
    belief_sent(&u->b, len);
    FUZZ_EXPECT(u->b.gone || belief_due_ms(&u->b) > u->now_ms, "the deadline is over, and nothing is done");
    if (call && (code = belief_answer(&u->b)) != DIBS_WAITING) {
        if (call == BELIEF_LOCK)
            fuzz_result(u, code);
        if (call == BELIEF_UNLOCK || (call == BELIEF_RENEW && code == DIBS_LOST))
            u->told[u->about] = false, u->again[u->about] = 0;
        dibs_free(u->b.answer);
        u->b.answer = NULL;
    }
    for (int k = 0; k < FUZZ_NAMES; k++)
        FUZZ_EXPECT(!u->told[k] || (!u->b.gone && (u->b.call || belief_fence(&u->b, fuzz_names[k], u->now_ms))),
                    "%s is held no more, and the program has not been told", fuzz_names[k]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    struct fuzz_user u = {.now_ms = 1000};

    while (in.at < in.end && !u.b.gone) {
        unsigned choice = fuzz_take(&in);

        if (choice & 0x80)
            fuzz_call(&u, choice);
        else
            fuzz_hear(&u, &in);
        if (choice & 0x40) {
            fuzz_listen(&u);
            fuzz_clock(&u, choice);
        }
    }
    fuzz_listen(&u);
    belief_end(&u.b, "the input has ended");
    fuzz_clock(&u, 0);
    FUZZ_EXPECT(!u.told[0] && !u.told[1], "a lock outlives the connection");
    belief_free(&u.b);
    return 0;
}
