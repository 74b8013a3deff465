/* Names of machines (serve/resolve.c): which of the addresses of a name is used, and which names are refused. The machine that knows names is the test
 * itself; tests/names.sh has daemons that find each other by names.
 * Invariant: I21. */
#include "served.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>

enum { NAMES_MAX = 4 };

/* The addresses of the only name, in the order in which the machine tells them. */
static const char *addresses[NAMES_MAX + 1];
static unsigned asked;
static struct conf_draft draft;
static struct serve_conf conf;
static char told[256]; /* what a lookup has found, or why it has found nothing */
static unsigned answers;

static struct addrinfo *make(const char *host, const char *port, struct addrinfo *next)
{
    struct addrinfo *a = calloc(1, sizeof *a + sizeof(struct sockaddr_in6));
    struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)(a + 1);
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)(a + 1);

    a->ai_addr = (struct sockaddr *)(void *)(a + 1);
    a->ai_family = strchr(host, ':') ? AF_INET6 : AF_INET;
    a->ai_addrlen = strchr(host, ':') ? sizeof *v6 : sizeof *v4;
    a->ai_next = next;
    if (a->ai_family == AF_INET)
        assert_int_equal(uv_ip4_addr(host, port ? atoi(port) : 0, v4), 0);
    else
        assert_int_equal(uv_ip6_addr(host, port ? atoi(port) : 0, v6), 0);
    return a;
}

int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **found)
{
    struct addrinfo *list = NULL;
    unsigned count = 0;

    (void)hints;
    asked++;
    *found = NULL;
    if (strcmp(host, "ant.test") != 0)
        return EAI_NONAME;
    while (addresses[count])
        count++;
    while (count)
        list = make(addresses[--count], port, list);
    *found = list;
    return 0;
}

void freeaddrinfo(struct addrinfo *a)
{
    while (a) {
        struct addrinfo *next = a->ai_next;

        free(a);
        a = next;
    }
}

static void know(const char *first, const char *second, const char *third)
{
    addresses[0] = first;
    addresses[1] = second;
    addresses[2] = second ? third : NULL;
    asked = 0;
}

static int setup(void **state)
{
    (void)state;
    served_init("ant");
    assert_int_equal(uv_loop_init(&served.loop), 0);
    conf_begin(&draft);
    memset(&conf, 0, sizeof conf);
    conf.n = 1;
    answers = 0;
    told[0] = '\0';
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    uv_run(&served.loop, UV_RUN_DEFAULT);
    assert_int_equal(served.resolving, 0);
    assert_int_equal(uv_loop_close(&served.loop), 0);
    return 0;
}

/* Clients shall connect at this host. Returns the address at which the daemon listens for them; or null after a mistake. */
static const char *listen_at(const char *host, bool has_key)
{
    conf_begin(&draft);
    draft.set[CONF_CLIENTS].text = host;
    draft.set[CONF_KEY].text = has_key ? "key" : NULL;
    snprintf(conf.clients.host, sizeof conf.clients.host, "%s", host);
    conf.clients.port = 7400;
    return conf_resolve(&draft, &conf) ? conf.clients.host : NULL;
}

static void a_daemon_listens_at_an_address_of_ipv4_if_there_is_one(void **state)
{
    (void)state;
    know("::1", "127.0.0.2", "127.0.0.3");
    assert_string_equal(listen_at("ant.test", false), "127.0.0.2");
    know("::1", NULL, NULL);
    assert_string_equal(listen_at("ant.test", false), "::1");
    assert_string_equal(listen_at("127.0.0.9", false), "127.0.0.9");
    assert_int_equal(asked, 1); /* numbers are not looked up */
}

/* Any process that reaches the address could be a client or a member. */
static void without_a_key_all_addresses_of_a_name_are_on_loopback(void **state)
{
    (void)state;
    know("127.0.0.2", "192.0.2.1", NULL);
    assert_null(listen_at("ant.test", false));
    assert_non_null(strstr(draft.mistake[0].text, "--clients: ant.test is not on loopback; without a key"));
    know("192.0.2.1", "127.0.0.2", NULL);
    assert_null(listen_at("ant.test", false));
    know("::1", "2001:db8::1", NULL);
    assert_null(listen_at("ant.test", false));
    know("192.0.2.1", "127.0.0.2", NULL);
    assert_string_equal(listen_at("ant.test", true), "192.0.2.1");
}

static void a_name_that_is_not_known_is_a_mistake(void **state)
{
    (void)state;
    assert_null(listen_at("bee.test", true));
    assert_int_equal(draft.mistakes, 1);
    assert_non_null(strstr(draft.mistake[0].text, "--clients: bee.test is not known here: Name or service not known"));
}

/* The names of other members are looked up later, and each time; without a key, they are looked at before as well. */
static void a_member_listens_at_its_own_name_and_names_of_others_are_left_alone(void **state)
{
    static const struct serve_member members[] = {{.name = "ant", .host = "ant.test", .port = 7401},
                                                  {.name = "bee", .host = "bee.test", .port = 7402}};

    (void)state;
    know("127.0.0.2", NULL, NULL);
    memcpy(conf.member, members, sizeof members);
    conf.n = 2;
    draft.set[CONF_KEY].text = "key";
    assert_true(conf_resolve(&draft, &conf));
    assert_string_equal(conf.listen.host, "127.0.0.2");
    assert_int_equal(conf.listen.port, 7401);
    assert_string_equal(conf.member[0].host, "ant.test"); /* that is how the others call it */
    assert_int_equal(asked, 1);
    memset(&conf.listen, 0, sizeof conf.listen);
    draft.set[CONF_KEY].text = NULL;
    draft.member[0] = (struct conf_setting){.text = "ant=ant.test:7401", .key = "member", .line = 3};
    draft.member[1] = (struct conf_setting){.text = "bee=bee.test:7402", .key = "member", .line = 4};
    draft.members = 2;
    draft.file = "dibs.conf";
    assert_false(conf_resolve(&draft, &conf));
    assert_int_equal(draft.mistakes, 1);
    assert_non_null(strstr(draft.mistake[0].text, "dibs.conf:4: bee.test is not known here"));
}

/* --------------------------------------------------------------------------------------------- while it is running */

static void on_found(void *user, const struct sockaddr_storage *address, const char *why)
{
    assert_ptr_equal(user, &answers);
    answers++;
    if (address)
        uv_ip_name((const struct sockaddr *)address, told, sizeof told);
    else
        snprintf(told, sizeof told, "%s", why);
}

static struct resolve *start(const char *host, unsigned turn)
{
    struct serve_member at = {.port = 7400};

    snprintf(at.host, sizeof at.host, "%s", host);
    return resolve_start(&served, &at, turn, on_found, &answers);
}

/* What the daemon finds when it looks up the name for the `turn`-th time. */
static const char *find(const char *host, unsigned turn)
{
    answers = 0;
    assert_non_null(start(host, turn));
    uv_run(&served.loop, UV_RUN_DEFAULT);
    assert_int_equal(answers, 1);
    return told;
}

/* Else a machine of which one address is dead could not be reached at the others. */
static void each_time_the_next_address_of_a_name_is_tried(void **state)
{
    (void)state;
    know("127.0.0.2", "::1", "127.0.0.3");
    assert_string_equal(find("ant.test", 0), "127.0.0.2");
    assert_string_equal(find("ant.test", 1), "::1");
    assert_string_equal(find("ant.test", 2), "127.0.0.3");
    assert_string_equal(find("ant.test", 3), "127.0.0.2");
    assert_string_equal(find("ant.test", UINT32_MAX), "127.0.0.2");
}

static void a_name_that_leads_away_from_this_machine_is_not_followed_without_a_key(void **state)
{
    (void)state;
    know("127.0.0.2", "192.0.2.1", NULL);
    assert_string_equal(find("ant.test", 0), "its name is not on loopback only, and this member has no key");
    served_conf.members_tls = (struct tls_keys *)&served; /* some keys: no connection is made here */
    assert_string_equal(find("ant.test", 1), "192.0.2.1");
}

static void a_name_without_an_address_is_told_with_the_reason(void **state)
{
    (void)state;
    assert_string_equal(find("bee.test", 0), "bee.test is not known here: unknown node or service");
    know(NULL, NULL, NULL);
    assert_string_equal(find("ant.test", 0), "ant.test is not known here: no address");
}

/* The member has been removed meanwhile, or the daemon ends: what `user` pointed to may be gone. */
static void a_lookup_that_is_forgotten_is_not_answered(void **state)
{
    (void)state;
    know("127.0.0.2", NULL, NULL);
    resolve_forget(start("ant.test", 0));
    uv_run(&served.loop, UV_RUN_DEFAULT);
    assert_int_equal(answers, 0);
    start("ant.test", 0);
    served.stopping = true;
    uv_run(&served.loop, UV_RUN_DEFAULT);
    assert_int_equal(answers, 0);
    resolve_forget(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_daemon_listens_at_an_address_of_ipv4_if_there_is_one, setup, teardown),
        cmocka_unit_test_setup_teardown(without_a_key_all_addresses_of_a_name_are_on_loopback, setup, teardown),
        cmocka_unit_test_setup_teardown(a_name_that_is_not_known_is_a_mistake, setup, teardown),
        cmocka_unit_test_setup_teardown(a_member_listens_at_its_own_name_and_names_of_others_are_left_alone, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(each_time_the_next_address_of_a_name_is_tried, setup, teardown),
        cmocka_unit_test_setup_teardown(a_name_that_leads_away_from_this_machine_is_not_followed_without_a_key, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_name_without_an_address_is_told_with_the_reason, setup, teardown),
        cmocka_unit_test_setup_teardown(a_lookup_that_is_forgotten_is_not_answered, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
