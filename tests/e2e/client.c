/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a client comes back, to which address, and what is left when its engine
 * goes.
 */
#include <netdb.h>

#include "test_both_ends.h"

/* Stands before the system's: a name with two addresses, 127.0.0.2 and .3. */
int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                struct addrinfo **ret)
{
	static struct sockaddr_in sa[2];
	static struct addrinfo list[2];
	unsigned n = strcmp(host, "two.example") == 0 ? 2 : 1;

	for (unsigned i = 0; i < 2; i++) {
		sa[i] = (struct sockaddr_in){.sin_family = AF_INET,
		                             .sin_port = htons((uint16_t)atoi(service)),
		                             .sin_addr.s_addr =
		                                     n == 2 ? htonl(0x7f000002 + i)
		                                            : inet_addr(host)};
		list[i] = (struct addrinfo){.ai_family = AF_INET,
		                            .ai_socktype = SOCK_STREAM,
		                            .ai_addr = (struct sockaddr *)&sa[i],
		                            .ai_addrlen = sizeof(sa[i]),
		                            .ai_next = i + 1 < n ? &list[i + 1] : NULL};
	}
	*ret = list;
	return 0;
}

void freeaddrinfo(struct addrinfo *list)
{
}

static void connect_to(const char *host)
{
	assert_int_equal(rpcrdma_connect(both.engine, host, both.port, &both.options,
	                                 both_on_event, NULL, &both.conn),
	                 0);
}

static uint32_t peer(void)
{
	struct rpcrdma_conn_info i;

	rpcrdma_conn_get_info(both.conn, &i, sizeof(i));
	assert_true(i.connected);
	return ntohl(((struct sockaddr_in *)&i.peer)->sin_addr.s_addr);
}

/* A server knows a call that is sent again by the address that it comes from,
 * which may be another one on the way to another address.  V2-4.5.5-03 */
static void it_comes_back_to_the_address_that_worked(void **state)
{
	struct rpcrdma_call_options o;
	struct wait x;

	both_listen("0.0.0.0:0");
	connect_to("two.example");
	both_spin_until(&both.ups, 1);
	assert_int_equal(peer(), 0x7f000002);
	for (unsigned i = 1; i < 5; i++) {
		o = both_call(P_NULL, &x);
		assert_int_equal(both_run(both.conn, &o, &x), 0);
		both_cut();
		both_spin_until(&both.ups, i + 1);
		assert_int_equal(peer(), 0x7f000002);
	}
}

/* ... but tries the others when that one works no longer, or never did. */
static void it_tries_all_addresses(void **state)
{
	char at[32];

	both_listen("127.0.0.3:0");
	connect_to("two.example");
	both_spin_until(&both.ups, 1);
	assert_int_equal(peer(), 0x7f000003);
	both_cut();
	both_spin_until(&both.ups, 2);
	assert_int_equal(peer(), 0x7f000003);
	rpcrdma_listener_close(both.listener, 0);
	both.listener = NULL;
	both_spin_until(&both.downs, 3);
	snprintf(at, sizeof(at), "127.0.0.2:%s", both.port);
	both_listen(at);
	both_spin_until(&both.ups, 3);
	assert_int_equal(peer(), 0x7f000002);
}

/* Three times in a row, and nothing was answered: it may be the way there. */
static void it_leaves_an_address_that_is_lost_again_and_again(void **state)
{
	both_listen("0.0.0.0:0");
	connect_to("two.example");
	for (unsigned i = 1; i < 4; i++) {
		both_spin_until(&both.ups, i);
		assert_int_equal(peer(), 0x7f000002);
		both_cut();
		both_spin_until(&both.downs, i);
	}
	both_spin_until(&both.ups, 4);
	assert_int_equal(peer(), 0x7f000003);
}

/* In version 1 a connection is up before the server has said anything. */
static void a_server_that_says_nothing_did_not_work(void **state)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
	                         .sin_addr.s_addr = htonl(0x7f000003)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	both.options.version = 1;
	both_listen("127.0.0.2:0");
	sa.sin_port = htons((uint16_t)atoi(both.port));
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(fd, 1), 0); /* for the next address */
	connect_to("two.example");
	both_spin_until(&both.ups, 1);
	both_cut();
	both_spin_until(&both.downs, 1);
	both_spin_for(50); /* not to the same one again, which would be up */
	assert_int_equal(both.ups, 1);
	close(fd);
	both_spin_until(&both.ups, 2);
}

static unsigned posts;

static void posted(void *arg)
{
	posts++;
}

static void post_in_done(struct rpcrdma_call *k, const struct rpcrdma_reply *r,
                         void *arg)
{
	both_on_done(k, r, arg);
	assert_int_equal(rpcrdma_engine_post(both.engine, posted, NULL), 0);
}

/* What a callback posts while the engine goes is run as well, and not lost. */
static void nothing_posted_is_lost_with_the_engine(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_PARK, &x);

	posts = 0;
	o.done = post_in_done;
	both_start();
	assert_int_equal(rpcrdma_call(both.conn, &o, NULL), 0);
	both_spin_until(&both.server.n_parked, 1);
	rpcrdma_engine_free(both.engine);
	rpcrdma_service_free(both.service);
	rpcrdma_service_free(both.callbacks);
	both_set_up(state);
	assert_int_equal(x.done, 1);
	assert_int_equal(posts, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(it_comes_back_to_the_address_that_worked),
	        TEST(it_tries_all_addresses),
	        TEST(it_leaves_an_address_that_is_lost_again_and_again),
	        TEST(a_server_that_says_nothing_did_not_work),
	        TEST(nothing_posted_is_lost_with_the_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
