/* meant.h - the known word that is closest to a misspelled one. */
#ifndef DIBS_LAB_MEANT_H
#define DIBS_LAB_MEANT_H

/* The name in the list (ends with a null) that is close to the word, or null. */
const char *meant(const char *word, const char *const *names);

#endif
