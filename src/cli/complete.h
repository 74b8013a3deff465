/* complete.h - completion: which words can stand at the end of a command line, by the tables of commands and options.
 * "dibs completion" prints a small function for each shell, which asks dibs for the words. */
#ifndef DIBS_CLI_COMPLETE_H
#define DIBS_CLI_COMPLETE_H

#include <stddef.h>

/* The words behind "dibs"; the last one is being typed, and may be empty. Prints "words" and a line "WORD<tab>TEXT" for each
 * word that is possible; or "files" if it is the name of a file; or "command N" if the words from N on are another command,
 * where word 0 is "dibs". */
void complete_words(int count, char **words);

/* ---- the parts */

struct complete {
    const char *prefix;                 /* of each word: "--format=", or "" */
    const char *typed;                  /* what has been typed of it, behind the prefix */
    unsigned offered;                   /* how many words were printed */
    const char *socket, *address, *key; /* of the daemon that is meant; or null */
    const char *cert, *cert_key, *ca;
};

/* Prints the word, of `len` bytes, if it begins as typed. */
void complete_offer(struct complete *c, const char *word, size_t len, const char *text);
/* complete_daemon.c */
void complete_locks(struct complete *c);
void complete_members(struct complete *c);

#endif
