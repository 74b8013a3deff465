/* logins.h - which browsers may see more on the daemon's page than members and numbers.
 *
 * A client of the daemon asks for a *token* (dibs page-token) and opens the page with it. The token works once and for
 * LOGINS_TOKEN_MS. The token opens a *login*, which has the identity of that client: what the client has proved (rights.h). So
 * the rules decide, at each request, what it may see and do.
 *
 * A login has two secrets, and a request has to show both. The *cookie* is kept by the browser, and no script can read
 * it; but a browser sends it to every port of the same host. The *pass* is kept by the page, in storage that belongs to
 * this port alone, and travels in a header, which a page of another site cannot set. So neither a server at another
 * port nor a page of another site can act for the user.
 *
 * There is room for a fixed number of tokens and logins. When one more comes, the oldest makes room for it. Operators
 * have their own room, so readers cannot displace them.
 *
 * This file does no I/O: the time and the random bytes are arguments. Secrets are compared in constant time. */
#ifndef DIBS_SERVE_LOGINS_H
#define DIBS_SERVE_LOGINS_H

#include "rights/rights.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    LOGINS_TOKENS_MAX = 16, /* of readers, and as many of operators */
    LOGINS_MAX = 32,        /* likewise */
    LOGINS_TOKEN_MS = 2 * 60 * 1000,
    LOGINS_MS = 8 * 60 * 60 * 1000,
    LOGINS_RANDOM = 16,                   /* random bytes of a secret */
    LOGINS_SECRET = 2 * LOGINS_RANDOM + 1 /* the size of a secret as text */
};

struct login_token {
    char secret[LOGINS_SECRET]; /* "": this place is free */
    char from[64];              /* see struct session */
    struct rights_who *who;     /* or null: this place is free */
    uint64_t since_ms;
};

struct login {
    char cookie[LOGINS_SECRET], pass[LOGINS_SECRET]; /* "": this place is free */
    char from[64];
    struct rights_who *who; /* or null */
    uint64_t since_ms;
    uint64_t number; /* no two logins have the same one */
};

struct logins {
    struct login_token token[2][LOGINS_TOKENS_MAX]; /* of readers; of operators */
    struct login login[2][LOGINS_MAX];
    uint64_t count; /* logins so far */
};

/* Makes a token for this client, which comes from `from`, and returns its text, which is valid until the next call. */
const char *logins_invite(struct logins *l, const struct rights_who *who, const char *from,
                          const uint8_t random[LOGINS_RANDOM], uint64_t now_ms);
/* Uses a token. Returns the login that it opens; or null if the token is unknown, too old or used already. */
const struct login *logins_open(struct logins *l, const char *token, const uint8_t random[2 * LOGINS_RANDOM],
                                uint64_t now_ms);
/* The login with this cookie and this pass, or null. Either may be null. */
const struct login *logins_find(const struct logins *l, const char *cookie, const char *pass, uint64_t now_ms);
/* Is the login of this number still open? */
bool logins_lasts(const struct logins *l, uint64_t number, uint64_t now_ms);
void logins_close(struct logins *l, uint64_t number);
void logins_free(struct logins *l);

#endif
