/* list.h - the algorithms: one line each, in the order in which they are shown. Adding one is a file and a line here.
 */
#ifndef DIBS_ALG_LIST_H
#define DIBS_ALG_LIST_H

#include "core/dme.h"

#define DIBS_ALGORITHMS(X)                                                                                             \
    X(central)                                                                                                         \
    X(lamport)                                                                                                         \
    X(lamport_as_retold)                                                                                               \
    X(ricart_agrawala)                                                                                                 \
    X(ricart_agrawala_as_published)                                                                                    \
    X(ricart_agrawala_tempting)                                                                                        \
    X(joung_ra1)                                                                                                       \
    X(joung_ra2)                                                                                                       \
    X(ricart_agrawala_robust)                                                                                          \
    X(ricart_agrawala_robust_as_published)                                                                             \
    X(ricart_agrawala_pile)                                                                                            \
    X(ricart_agrawala_pile_as_published)                                                                               \
    X(ricart_agrawala_pile_tempting)                                                                                   \
    X(ricart_agrawala_implicit)                                                                                        \
    X(ricart_agrawala_implicit_broadcast)                                                                              \
    X(ricart_agrawala_implicit_as_published)                                                                           \
    X(ricart_agrawala_implicit_tempting)                                                                               \
    X(ricart_agrawala_broadcast)                                                                                       \
    X(ricart_agrawala_broadcast_tempting)                                                                              \
    X(ricart_agrawala_sequenced)                                                                                       \
    X(ricart_agrawala_sequenced_tempting)                                                                              \
    X(ricart_agrawala_ring)                                                                                            \
    X(ricart_agrawala_ring_notes)                                                                                      \
    X(ricart_agrawala_ring_notes_as_published)                                                                         \
    X(carvalho_roucairol)                                                                                              \
    X(carvalho_roucairol_tempting)                                                                                     \
    X(carvalho_roucairol_as_retold)                                                                                    \
    X(singhal_dynamic)                                                                                                 \
    X(singhal_dynamic_as_retold)                                                                                       \
    X(maekawa)                                                                                                         \
    X(maekawa_tempting)                                                                                                \
    X(maekawa_as_retold)                                                                                               \
    X(agrawal_el_abbadi)                                                                                               \
    X(agrawal_el_abbadi_robust)                                                                                        \
    X(raymond_k)                                                                                                       \
    X(raymond_k_as_retold)                                                                                             \
    X(suzuki_kasami)                                                                                                   \
    X(suzuki_kasami_robust)                                                                                            \
    X(suzuki_kasami_tempting)                                                                                          \
    X(suzuki_kasami_as_retold)                                                                                         \
    X(ricart_agrawala_token)                                                                                           \
    X(ricart_agrawala_token_as_retold)                                                                                 \
    X(chang_singhal_liu)                                                                                               \
    X(chang_singhal_liu_tempting)                                                                                      \
    X(singhal_heuristic)                                                                                               \
    X(singhal_heuristic_as_published)                                                                                  \
    X(singhal_heuristic_tempting)                                                                                      \
    X(singhal_heuristic_as_retold)                                                                                     \
    X(singhal_heuristic_robust)                                                                                        \
    X(singhal_heuristic_robust_as_published)                                                                           \
    X(singhal_heuristic_robust_tempting)                                                                               \
    X(singhal_heuristic_time_outs)                                                                                     \
    X(singhal_heuristic_time_outs_as_published)                                                                        \
    X(singhal_heuristic_time_outs_tempting)                                                                            \
    X(swaroop_singh)                                                                                                   \
    X(swaroop_singh_as_published)                                                                                      \
    X(swaroop_singh_tempting)                                                                                          \
    X(thiare_gueroui_naimi)                                                                                            \
    X(le_lann)                                                                                                         \
    X(raymond)                                                                                                         \
    X(raymond_tempting)                                                                                                \
    X(neilsen_mizuno)                                                                                                  \
    X(naimi_trehel)                                                                                                    \
    X(naimi_trehel_tempting)                                                                                           \
    X(naimi_trehel_as_retold)                                                                                          \
    X(naimi_trehel_queue)                                                                                              \
    X(banta_simple)                                                                                                    \
    X(banta_simple_as_published)                                                                                       \
    X(banta_first_draft)                                                                                               \
    X(banta_basic)                                                                                                     \
    X(banta_preliminary)                                                                                               \
    X(banta_efficient)                                                                                                 \
    X(banta_efficient_as_published)                                                                                    \
    X(banta_efficient_tempting)                                                                                        \
    X(banta_k)                                                                                                         \
    X(banta_k_as_published)                                                                                            \
    X(banta_k_tempting)

extern const struct dme_alg *const alg_list[]; /* ends with a null */

/* The algorithm of this name, or null. */
const struct dme_alg *alg_find(const char *name);

/* A hash of the names of all algorithms: builds that have the same ones have the same number. */
uint64_t alg_digest(void);

#endif
