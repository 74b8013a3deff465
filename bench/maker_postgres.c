/* maker_postgres.c - advisory locks of PostgreSQL, by prepared statements. The place is the directory of its socket. */
#include "contend.h"

#include <libpq-fe.h>
#include <stdint.h>
#include <stdio.h>

static void *postgres_begin(char **place, int places, int k)
{
    const char *key[] = {"host", "port", "dbname", "user", NULL};
    const char *value[] = {place[0], "5432", "postgres", "postgres", NULL};
    PGconn *c = PQconnectdbParams(key, value, 0);

    (void)places, (void)k;
    if (PQstatus(c) != CONNECTION_OK)
        die("PostgreSQL: %s", PQerrorMessage(c));
    PQclear(PQprepare(c, "take", "select pg_advisory_lock(hashtext($1))", 1, NULL));
    PQclear(PQprepare(c, "let_go", "select pg_advisory_unlock(hashtext($1))", 1, NULL));
    return c;
}

static void postgres_do(PGconn *c, const char *what, const char *name)
{
    PGresult *result = PQexecPrepared(c, what, 1, &name, NULL, NULL, 1);

    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        die("PostgreSQL: %s", PQerrorMessage(c));
    PQclear(result);
}

static void postgres_take(void *client, const char *name)
{
    postgres_do(client, "take", name);
}

static void postgres_let_go(void *client, const char *name)
{
    postgres_do(client, "let_go", name);
}

const struct maker maker_postgres = {"postgres", postgres_begin, postgres_take, postgres_let_go};
