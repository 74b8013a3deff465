/* check_all.h - everything in the catalogue, checked: the tables that the documentation shows. */
#ifndef DIBS_CLI_CHECK_ALL_H
#define DIBS_CLI_CHECK_ALL_H

#include "core/dme.h"

#include <stdbool.h>
#include <stdint.h>

/* Every algorithm without a flaw, under every rule that it knows and exactly the promises that it needs (and on FIFO
 * channels too, where it does not need them): `sites` sites, `requests` requests each, giving up beyond `states`
 * states. Returns the exit status: 1 if anything is violated. Ctrl-C ends the searches, here and below, and the table says which. */
int check_all(uint32_t sites, uint8_t requests, uint64_t states);

/* Every published mistake, and the smallest system in which the checker finds it. */
int check_all_mistakes(uint64_t states);

/* The mistakes of one algorithm, each with the command that shows it in the smallest system. Returns the exit status of
 * a command line that does not say which is meant. */
int check_mistakes_of(const struct dme_alg *alg);

#endif
