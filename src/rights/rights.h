/* rights.h - which client may do what with which lock: rules, and the decision by them. Pure: no I/O, no clock (I34).
 *
 * A *subject* is what a client can prove to be: a Unix user or one of its groups (as the kernel says), the holder of a client key
 * with a name, the holder of a certificate with a name, or a name that has logged in with its password (AUTH). A client may
 * be several subjects at once: `struct rights_who`.
 *
 * A *right* is about names of locks, but for `admin`, which is about the member as a whole:
 *
 *   lock          acquire it, in every mode; includes `shared`
 *   shared        acquire it in shared mode
 *   watch         see its holders, its waiters and its events
 *   force-unlock  take it away from its holders
 *   admin         change the members, drain a member, ask what others may do; and change the rights on which the members agree, so a client
 *                 with it can give itself every other
 *
 * A client may always release, extend and confirm a lock that it holds: the grant was the decision. A kept session that a client resumes holds what it held.
 * But no client holds a lock that a token owns. Each operation with the token takes the right `lock`: a client that has lost this right can
 * neither extend nor release the lock, which ends with its TTL.
 *
 * A *rule* is "allow WHO RIGHTS PATTERN". The first rule whose subject the client is, and whose pattern matches the name,
 * decides: the client has the rights of that rule for that name, and no others. The right `none` makes a rule that refuses.
 * Since `admin` is about no name, only rules with the pattern * are looked at for it. A client that no rule is about has no
 * rights. An *operator* (the owner of the daemon's socket, root, the cluster key) has all of them, whatever the rules are.
 *
 * Without any rule, every client may lock and watch, and only operators may do the rest.
 *
 * A table comes from the configuration of a member, which knows the numbers of the users and groups that the table names. Or the members have agreed on the table
 * (node/rules.h): each of them knows the same text, and finds out later which numbers these names have on its machine.
 * Until then a rule for such a name is *unsure*. If its pattern matches, and the client might be its subject, it decides, and refuses: the rule might be one that refuses. */
#ifndef DIBS_RIGHTS_RIGHTS_H
#define DIBS_RIGHTS_RIGHTS_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RIGHT_LOCK = 1,
    RIGHT_SHARED = 2,
    RIGHT_WATCH = 4,
    RIGHT_FORCE = 8,
    RIGHT_ADMIN = 16,
    RIGHTS_ALL = 31,
    RIGHTS_BITS = 5,
};

enum {
    RIGHTS_RULES_MAX = 256,
    RIGHTS_LIMITS_MAX = 64,
    RIGHTS_LOGINS_MAX = 64,
    RIGHTS_NAME_MAX = 127,    /* bytes in the name of a subject */
    RIGHTS_PATTERN_MAX = 255, /* bytes in a pattern */
    RIGHTS_HASH_MAX = 159,    /* bytes in the hash of a password */
    RIGHTS_FILE_MAX = 255,
    RIGHTS_WHY_MAX = 2048,      /* room for any sentence of this file */
    RIGHTS_STEPS_MAX = 1 << 17, /* of one decision: as many rules as there may be, without ? and sets behind a star */
};

enum rights_kind { RIGHTS_ANY, RIGHTS_USER, RIGHTS_GROUP, RIGHTS_KEY, RIGHTS_CERT, RIGHTS_AUTH, RIGHTS_KINDS };

struct rights_subject {
    enum rights_kind kind;
    bool known;      /* USER, GROUP: its number is known; the parser knows it if it was written as a number */
    bool unsure;     /* USER, GROUP: it is not known yet whether this machine has one of that name */
    uint32_t number; /* USER, GROUP */
    char name[RIGHTS_NAME_MAX + 1];
};

struct rights_rule {
    struct rights_subject who;
    unsigned rights; /* RIGHT_.. together */
    unsigned line;   /* of the file */
    char pattern[RIGHTS_PATTERN_MAX + 1];
};

/* How much each client to which the limit applies may use at one member, over all its connections. 0: no limit. */
struct rights_limit {
    struct rights_subject who;
    unsigned line;
    uint32_t locks, waiters, connections;
};

/* A name that can log in, and the hash of its password (tls/password.h). */
struct rights_login {
    unsigned line;
    char name[RIGHTS_NAME_MAX + 1];
    char hash[RIGHTS_HASH_MAX + 1];
};

struct rights {
    char file[RIGHTS_FILE_MAX + 1]; /* where the rules are, for people */
    bool agreed;                    /* not in a file: the members have agreed on them */
    unsigned rules, limits, logins;
    struct rights_rule rule[RIGHTS_RULES_MAX];
    struct rights_limit limit[RIGHTS_LIMITS_MAX];
    struct rights_login login[RIGHTS_LOGINS_MAX];
};

/* What a client has proved. The caller owns the memory that it points to. */
struct rights_who {
    bool operates;  /* it is an operator, by the daemon's defaults */
    bool certified; /* its certificate makes it an operator, but only while there are no rules */
    bool has_user;
    uint32_t user;
    uint32_t groups; /* how many */
    uint32_t *group;
    char *key;   /* the name of its client key, or null */
    char *certs; /* the names of its certificate, each with a zero byte behind it, and one more at the end; or null */
    char auth[RIGHTS_NAME_MAX + 1]; /* the name that has logged in, or "" */
};

/* Returns a copy that the caller owns; a copy of null is a client that has proved nothing. rights_free frees it. */
struct rights_who *rights_copy(const struct rights_who *who);
void rights_free(struct rights_who *who);

struct rights_verdict {
    bool allowed;
    bool by_default;                /* there are no rules, or the client is an operator */
    bool unsure;                    /* it is refused because it is not known whether the rule is about the client */
    const struct rights_rule *rule; /* the rule that decided; null: no rule did */
    uint64_t steps;                 /* steps that were made to compare the name with patterns */
};

/* May this client (null: one that has proved nothing) do something that takes one of these rights with this name? For `admin` the name
 * is empty. A null table has no rules. */
struct rights_verdict rights_decide(const struct rights *t, const struct rights_who *who, unsigned any_of,
                                    const char *name, size_t name_len);
/* Is the client an operator, while these rules apply? */
bool rights_operates(const struct rights *t, const struct rights_who *who);
/* How many steps the pattern of a rule can take for one name at most. A decision takes those of all rules, and a client may ask for many
 * (I31): a configuration whose rules take more than RIGHTS_STEPS_MAX together is refused. */
uint32_t rights_steps_max(const struct rights_rule *r);
/* The first limit that applies to this client; or null. */
const struct rights_limit *rights_limit(const struct rights *t, const struct rights_who *who);
const struct rights_login *rights_login(const struct rights *t, const char *name, size_t len);

/* Where a line of the table is: "dibs.conf:7", or "the agreed rights, line 3". */
enum { RIGHTS_PLACE_MAX = RIGHTS_FILE_MAX + 24 };
void rights_place(const struct rights *t, unsigned line, char text[RIGHTS_PLACE_MAX]);
/* Says in a sentence why it is allowed or refused: which right, and the rule with its place. */
void rights_explain(const struct rights *t, const struct rights_who *who, unsigned any_of, const char *name,
                    size_t name_len, struct rights_verdict v, char text[RIGHTS_WHY_MAX]);
/* The label of the client, for people, and for counting what it uses: the name that has logged in, else its key, its certificate or its user:
 * "auth:web", "key:ci", "cert:ci.example", "user:1000", "any". */
enum { RIGHTS_LABEL_MAX = RIGHTS_NAME_MAX + 8 };
void rights_label(const struct rights_who *who, char text[RIGHTS_LABEL_MAX]);

/* ------------------------------------------------------------------------------------------------------------- text */

/* Each reads what follows the key of a line. Returns false, with a sentence in `why`, if the text is wrong. */
bool rights_parse_rule(struct rights_rule *r, const char *text, char why[RIGHTS_WHY_MAX]);
bool rights_parse_limit(struct rights_limit *l, const char *text, char why[RIGHTS_WHY_MAX]);
bool rights_parse_login(struct rights_login *l, const char *text, char why[RIGHTS_WHY_MAX]);
bool rights_parse_subject(struct rights_subject *s, const char *text, size_t len, char why[RIGHTS_WHY_MAX]);
/* "lock,watch". Returns false if some word is no right. */
bool rights_parse_rights(unsigned *rights, const char *text, size_t len, char why[RIGHTS_WHY_MAX]);
/* As rights_parse_rule reads it. */
void rights_print_rule(const struct rights_rule *r, char text[RIGHTS_WHY_MAX]);
void rights_print_rights(unsigned rights, char text[64]);
void rights_print_subject(const struct rights_subject *s, char text[RIGHTS_LABEL_MAX]);
void rights_print_limit(const struct rights_limit *l, char text[RIGHTS_WHY_MAX]);
/* The name of a key or a login: letters, digits, dots, dashes and underscores. */
bool rights_is_name(const char *text, size_t len);

/* ------------------------------------------------------------------------------------------------- whole tables: list.c */

/* Each looks at the last line that was added to the table. Returns false, with a sentence in `why`, if it makes no sense there: a rule that
 * decides nothing, or with which a decision takes too many steps; a limit for no client; a name that has a password already. The logins come first. */
bool rights_check_rule(const struct rights *t, char why[RIGHTS_WHY_MAX]);
bool rights_check_limit(const struct rights *t, char why[RIGHTS_WHY_MAX]);
bool rights_check_login(const struct rights *t, char why[RIGHTS_WHY_MAX]);

/* Reads the text of a whole table, without comments: lines "allow ..", "limit .." and "login .." in any order, each with a line feed at its
 * end. Users and groups that are not numbers are unsure. Returns false, with the first mistake and its line in `why`. */
bool rights_read(struct rights *t, const char *text, size_t len, char why[RIGHTS_WHY_MAX]);
/* Prints the canonical text of the table: all rules, then all limits, then all logins. rights_read reads it. */
void rights_print(const struct rights *t, struct bytes *to);
/* "3 rules, 1 limits, 2 logins". */
enum { RIGHTS_COUNTS_MAX = 64 };
void rights_count(const struct rights *t, char text[RIGHTS_COUNTS_MAX]);

/* The first user or group of which the table is unsure; or null. */
const struct rights_subject *rights_unsure(const struct rights *t);
/* Every user or group of this name has this number (`known`), or does not exist on this machine. Returns false if the table knew that. rights_learn_from does the same
 * for all users and groups of which `before`, which may be null, is sure. */
bool rights_learn(struct rights *t, const struct rights_subject *learnt);
void rights_learn_from(struct rights *t, const struct rights *before);

#endif
