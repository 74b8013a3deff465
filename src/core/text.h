/* text.h - text into a buffer of fixed size, cut where it ends; and the canonical text of messages and events. */
#ifndef DIBS_CORE_TEXT_H
#define DIBS_CORE_TEXT_H

#include "dme.h"

struct dme_text {
    char *buf; /* always ends with a zero byte */
    size_t size, len;
};

void dme_text_init(struct dme_text *text, char *buf, size_t size);
void dme_print(struct dme_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

const char *dme_rule_name(unsigned rule);
const char *dme_need_name(unsigned bit); /* bit 0 is DME_FIFO */
const char *dme_family_name(unsigned family);
const char *dme_phase_name(unsigned phase);
const char *dme_kind_name(const struct dme_alg *alg, unsigned kind); /* also of news */

/* "REQUEST[3.1]": the kind, and its tickets as clock.site, with /mode where that is not 0; "-" where there is no site.
 *
 * "TOKEN LN=[0,1,2] Q=[1]": where alg->fields names the columns. The names of a kind are words, one for each fixed ticket
 * and then one for each ticket per site. A word "CLOCK,MODE,SITE" names the columns of a ticket, or of n tickets, that are
 * shown; an empty name hides its column. A list of sites leaves out DME_NONE. "*NAME" shows n tickets as they are, without
 * empty ones; "*" shows a fixed ticket in brackets. */
void dme_print_msg(const struct dme_conf *conf, const struct dme_msg *m, struct dme_text *text);
/* "clock=3 missing=1 deferred=2": what the algorithm's show handler says of this node. */
void dme_print_state(const struct dme_conf *conf, const struct dme_node *node, struct dme_text *text);
/* "deferred=0,2": the sites whose peer record has a byte other than 0 at this address. First is the byte of site 0. */
void dme_print_set(struct dme_text *text, const char *key, const uint8_t *first, size_t stride, uint32_t n);
/* "asked=0,2,1": a number from every peer record. First is that of site 0. */
void dme_print_numbers(struct dme_text *text, const char *key, const uint64_t *first, size_t stride, uint32_t n);
/* "queue=2,0", or "queue=-": a line of `len` sites. */
void dme_print_line(struct dme_text *text, const char *key, const dme_id *first, size_t stride, uint32_t len);
/* "father=3", or "father=-" for DME_NONE. */
void dme_print_site(struct dme_text *text, const char *key, dme_id site);

#endif
