/* redis_scripts.h - the Lua scripts of Redis lock libraries, and what each of them means. There is no Lua interpreter here.
 *
 * A library sends the text of a script (EVAL, SCRIPT LOAD), or the SHA-1 of that text (EVALSHA). Both are looked up in a
 * table. A text that is not in it is looked up again without its comments and white space, and with one sort of quotation
 * marks, since releases of a library often differ in nothing else. */
#ifndef DIBS_PROTOCOL_REDIS_SCRIPTS_H
#define DIBS_PROTOCOL_REDIS_SCRIPTS_H

#include "base/sha1.h"

/* The keys are names of locks, and the first argument is a token; of Redisson's scripts: see command_redisson.c. "or nothing" is
 * the null of Redis. */
enum script_means {
    SCRIPT_UNKNOWN,
    SCRIPT_ACQUIRE,     /* token, ms: all locks or none; returns the number of locks, or 0 */
    SCRIPT_ACQUIRE_SET, /* token, ms: one lock; OK, or nothing */
    SCRIPT_RELEASE,     /* token: releases the locks that the token owns; returns their number */
    SCRIPT_RELEASE_OR,  /* token: as RELEASE, of one lock; -1 if no token owns it */
    SCRIPT_EXTEND,      /* token, ms: all locks or none, if the token owns them; the number of locks, or 0 */
    SCRIPT_EXTEND_BY,   /* token, ms, replace: one lock; "0": the time is added to what is left */
    SCRIPT_OBTAIN,      /* token, ms: one lock, also if the token owns it; 1, or nothing */
    SCRIPT_RENEW,       /* token, ms: as EXTEND, of one lock; 1, or nothing */
    SCRIPT_GIVE_BACK,   /* token: as RELEASE, of one lock; 1, or nothing */
    /* Of Redisson. */
    SCRIPT_COUNT_UP,     /* ms, token: one lock, also if the token owns it; nothing, or when to ask again, in ms */
    SCRIPT_COUNT_DOWN,   /* message, ms, token: one lock; 1, 0 if it is still held, or nothing */
    SCRIPT_REFRESH,      /* ms, token: one lock; 1 or 0 */
    SCRIPT_REFRESH_EACH, /* ms, a token for each lock: 1 or 0 for each */
    SCRIPT_REMOVE,       /* one lock, whatever the token is; 1 or 0 */
};

/* What the script with this SHA-1 means. */
enum script_means script_by_sha1(const char hex[SHA1_HEX]);
/* What this text means. */
enum script_means script_by_text(const char *text, size_t len);
/* For a person: the libraries whose scripts are known. */
extern const char script_libraries[];

#endif
