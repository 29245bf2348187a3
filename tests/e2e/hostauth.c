/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Host authentication over real connections: policy of both ends, identities,
 * channel binding, and a relay between them that flips a bit of a property,
 * records and replays.  Whoever is refused is so before any RPC.
 *                                     [V2-5.2.6-01 to -03, V2-11.1.1-03, P14, P15]
 */
#include <pthread.h>

#include "test_both_ends.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <stdatomic.h>

#include <rpcrdma/hostauth.h>

#include "test_certs.h"

enum {
	OFF = RPCRDMA_HOSTAUTH_OFF,
	PREFER = RPCRDMA_HOSTAUTH_PREFER,
	REQUIRE = RPCRDMA_HOSTAUTH_REQUIRE
};

static struct certs certs;
static struct rpcrdma_hostauth *creds[2]; /* of the client, the server */
static int last_error;
static bool over;
static char seen_identity[256], seen_binding[65];

static struct rpcrdma_hostauth *load(const char *cert, const char *psk)
{
	struct rpcrdma_hostauth_options o =
	        RPCRDMA_OPTIONS(struct rpcrdma_hostauth_options);
	struct rpcrdma_hostauth *h;
	char name[2][64];

	snprintf(name[0], sizeof(name[0]), "%s.pem", cert ? cert : "");
	snprintf(name[1], sizeof(name[1]), "%s.key", cert ? cert : "");
	o.psk_file = psk ? certs_path(&certs, psk) : NULL;
	o.ca_file = psk ? NULL : certs_path(&certs, "ca.pem");
	o.cert_file = cert ? certs_path(&certs, name[0]) : NULL;
	o.key_file = cert ? certs_path(&certs, name[1]) : NULL;
	assert_int_equal(rpcrdma_hostauth_new(&o, &h, NULL, 0), 0);
	return h;
}

static int begin(void **state)
{
	certs_begin(&certs);
	over = false;
	last_error = 0;
	return both_set_up(state);
}

static int finish(void **state)
{
	int err = both_tear_down(state);

	for (unsigned i = 0; i < 2; i++) {
		rpcrdma_hostauth_free(creds[i]);
		creds[i] = NULL;
	}
	certs_end(&certs);
	return err;
}

static void on_auth_event(struct rpcrdma_conn *c, int error, bool final, void *arg)
{
	if (error)
		last_error = error;
	over = over || final;
	both.ups += !error;
}

static void hex(const uint8_t *p, char *to)
{
	for (unsigned i = 0; i < 32; i++)
		snprintf(to + 2 * i, 3, "%02x", p[i]);
}

/* Tells who asks. */
static void h_who(struct rpcrdma_request *q, void *arg)
{
	uint8_t b[32];

	both.server.executed++;
	snprintf(seen_identity, sizeof(seen_identity), "%s",
	         rpcrdma_request_identity(q));
	seen_binding[0] = '\0';
	if (rpcrdma_request_channel_binding(q, b) == 0)
		hex(b, seen_binding);
	assert_int_equal(rpcrdma_request_reply(q, NULL, 0, NULL, NULL), 0);
}

static const struct rpcrdma_procedure who_procs[] = {{"WHO", h_who, 0, 0, 0, false}};
static const struct rpcrdma_program who = {PROG + 1, VERS, who_procs, 1};

static void open_both(int client, int server)
{
	both.options.callbacks = NULL;
	both.options.hostauth_policy = (enum rpcrdma_hostauth_policy)client;
	both.options.hostauth = creds[0];
	both.options.retry_ns = 3000ull * MS;
	both.listen_options.hostauth_policy = (enum rpcrdma_hostauth_policy)server;
	both.listen_options.hostauth = creds[1];
	assert_int_equal(rpcrdma_service_add(both.service, &who, NULL), 0);
	both_listen("127.0.0.1:0");
}

static void connect_to(const char *port)
{
	assert_int_equal(rpcrdma_connect(both.engine, "127.0.0.1", port, &both.options,
	                                 on_auth_event, NULL, &both.conn),
	                 0);
}

static int ask(void)
{
	struct wait x;
	struct rpcrdma_call_options o = both_call(0, &x);

	o.program = PROG + 1;
	return both_run(both.conn, &o, &x);
}

/* -- policies -------------------------------------------------------------- */

static void both_know_each_other(void **state)
{
	struct rpcrdma_conn_info info;
	uint8_t b[32];
	char own[65];

	creds[0] = load("client", NULL);
	creds[1] = load("server", NULL);
	open_both(REQUIRE, REQUIRE);
	connect_to(both.port);
	assert_int_equal(rpcrdma_conn_channel_binding(both.conn, b), -ENOTCONN);
	assert_int_equal(ask(), 0);
	rpcrdma_conn_get_info(both.conn, &info, sizeof(info));
	assert_string_equal(info.identity, "CN=server");
	assert_string_equal(seen_identity, "CN=client");
	assert_int_equal(rpcrdma_conn_channel_binding(both.conn, b), 0);
	hex(b, own);
	assert_string_equal(own, seen_binding);
	assert_int_equal(info.version, 2);
}

static void again_after_a_loss(void **state)
{
	char first[65];

	creds[0] = load(NULL, "psk");
	creds[1] = load(NULL, "psk");
	open_both(REQUIRE, REQUIRE);
	connect_to(both.port);
	assert_int_equal(ask(), 0);
	assert_string_equal(seen_identity, "psk:host1");
	strcpy(first, seen_binding);
	both_cut();
	assert_int_equal(ask(), 0);
	assert_string_equal(seen_identity, "psk:host1");
	assert_string_not_equal(first, seen_binding); /* another connection */
}

/* Either way it is the caller that proved something. */
static void a_server_is_known_when_it_calls(void **state)
{
	struct rpcrdma_conn_info info;
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_BIND, &x);

	creds[0] = load("client", NULL);
	creds[1] = load("server", NULL);
	open_both(REQUIRE, REQUIRE);
	assert_int_equal(rpcrdma_service_add(both.callbacks, &who, NULL), 0);
	both.options.callbacks = both.callbacks;
	connect_to(both.port);
	assert_int_equal(both_run(both.conn, &o, &x), 0);
	assert_int_equal(both.bind_status, 0);
	o = both_call(0, &x);
	o.program = PROG + 1;
	assert_int_equal(both_run(both.back, &o, &x), 0);
	assert_string_equal(seen_identity, "CN=server");
	rpcrdma_conn_get_info(both.back, &info, sizeof(info));
	assert_string_equal(info.identity, "CN=client");
}

/* Nor is a server of version 1 spoken to. */
static void a_server_of_version_1_proves_nothing(void **state)
{
	creds[0] = load("client", NULL);
	both.listen_options.version = 1;
	open_both(REQUIRE, OFF);
	connect_to(both.port);
	assert_int_equal(ask(), -EPROTONOSUPPORT);
	assert_true(over);
	assert_int_equal(both.server.executed, 0);
}

/* client, server, error of the call, who the server saw */
static const struct {
	int client, server, want;
	const char *seen;
} policies[] = {
        {OFF, OFF, 0, ""},
        {OFF, PREFER, 0, ""},
        {OFF, REQUIRE, 1, ""},
        {PREFER, OFF, 0, ""},
        {PREFER, PREFER, 0, "CN=client"},
        {PREFER, REQUIRE, 0, "CN=client"},
        {REQUIRE, OFF, -EACCES, ""},
        {REQUIRE, PREFER, 0, "CN=client"},
};

static void one_policy(unsigned i)
{
	int got;

	creds[0] = load("client", NULL);
	creds[1] = load("server", NULL);
	open_both(policies[i].client, policies[i].server);
	connect_to(both.port);
	seen_identity[0] = '\0';
	got = ask();
	if (policies[i].want == 1)
		assert_int_not_equal(got, 0);
	else
		assert_int_equal(got, policies[i].want);
	assert_int_equal(both.server.executed, got == 0);
	assert_string_equal(seen_identity, policies[i].seen);
}

#define POLICY(n)                                                                      \
	static void policy_##n(void **state)                                           \
	{                                                                              \
		one_policy(n);                                                         \
	}                                                                              \
	_Static_assert(n < sizeof(policies) / sizeof(policies[0]), "no such policy")
POLICY(0);
POLICY(1);
POLICY(2);
POLICY(3);
POLICY(4);
POLICY(5);
POLICY(6);
POLICY(7);

/* -- the command ------------------------------------------------------------- */

/* Runs it beside our server, its output in a file; returns its exit code. */
static int command(const char *options, const char *out)
{
	uint64_t end = now_ns() + 20000ull * MS;
	char line[1024];
	int status = 0;
	pid_t pid;

	snprintf(line, sizeof(line),
	         "cd '%s' && exec '%s' ping -v -c 1 --program %u --version %u "
	         "--hostauth require %s 127.0.0.1:%s >%s 2>&1",
	         certs.dir, RPCRDMA_TOOL, PROG, VERS, options, both.port, out);
	pid = fork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", line, (char *)NULL);
		_exit(127);
	}
	assert_true(pid > 0);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		assert_int_equal(rpcrdma_engine_process(both.engine, 5), 0);
		if (now_ns() > end)
			kill(pid, SIGKILL);
	}
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void says(const char *file, const char *words)
{
	char text[4096];
	FILE *f = fopen(certs_path(&certs, file), "r");

	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	if (!strstr(text, words))
		fail_msg("\"%s\" is not in: %s", words, text);
}

#define OWN "--cert client.pem --key client.key "

static void the_commands_options_are_heard(void **state)
{
	static const struct {
		const char *options;
		int code;
		const char *words;
	} t[] = {
	        {OWN "--ca ca.pem", 0, "server is 'CN=server'"},
	        {OWN "--ca ca.pem --peer-name server.example", 0,
	         "server is 'CN=server'"},
	        {OWN "--ca ca.pem --peer-name ''", 0, "server is 'CN=server'"},
	        {OWN "--ca ca.pem --peer-name else.example", 1, "hostname mismatch"},
	        {OWN "--ca other.pem", 1, "certificate"},
	        {"--ca ca.pem", 1, "certificate required"},
	        {"--cert client.pem --ca ca.pem", 1, "client.pem"},
	};

	creds[1] = load("server", NULL);
	open_both(OFF, REQUIRE);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		if (command(t[i].options, "out") != t[i].code)
			says("out", "another exit code");
		says("out", t[i].words);
	}
	assert_int_equal(both.server.executed, 3);
}

/* -- refusals --------------------------------------------------------------------- */

/* Both ends end it at once, the client knows why, nothing was executed. */
static void expect_refusal(const char *words)
{
	struct rpcrdma_conn_info info;
	uint64_t began = now_ns();

	connect_to(both.port);
	assert_int_equal(ask(), -EACCES);
	assert_true(over);
	assert_int_equal(both.server.executed, 0);
	rpcrdma_conn_get_info(both.conn, &info, sizeof(info));
	if (!strstr(info.reason, words))
		fail_msg("\"%s\" is not in \"%s\"", words, info.reason);
	assert_true(now_ns() - began < 2500ull * MS); /* not tried again and again */
}

static void refused(const char *client, const char *server, const char *words)
{
	creds[0] = load(client, NULL);
	creds[1] = load(server, NULL);
	open_both(REQUIRE, REQUIRE);
	expect_refusal(words);
}

static void a_client_of_another_authority(void **state)
{
	refused("stranger", "server", "unknown ca");
}

static void a_server_of_another_authority(void **state)
{
	refused("client", "stranger", "issuer certificate");
}

static void an_expired_client(void **state)
{
	refused("expired", "server", "certificate expired");
}

static void an_expired_server(void **state)
{
	refused("client", "expired", "has expired");
}

static void a_client_without_certificate(void **state)
{
	refused(NULL, "server", "certificate required");
}

static void a_server_of_another_name(void **state)
{
	both.options.hostauth_name = "elsewhere.example";
	refused("client", "server", "hostname mismatch");
}

/* Without a name it is the host that was asked for. */
static void a_server_that_the_host_does_not_name(void **state)
{
	struct rpcrdma_conn_info info;

	creds[0] = load("client", NULL);
	creds[1] = load("server", NULL);
	open_both(REQUIRE, REQUIRE);
	assert_int_equal(rpcrdma_connect(both.engine, "localhost", both.port,
	                                 &both.options, on_auth_event, NULL,
	                                 &both.conn),
	                 0);
	assert_int_equal(ask(), -EACCES);
	assert_int_equal(both.server.executed, 0);
	rpcrdma_conn_get_info(both.conn, &info, sizeof(info));
	assert_non_null(strstr(info.reason, "hostname mismatch"));
}

static void another_shared_key(void **state)
{
	creds[0] = load(NULL, "psk");
	creds[1] = load(NULL, "psk2");
	open_both(REQUIRE, REQUIRE);
	expect_refusal("illegal parameter");
}

static void options_that_cannot_be(void **state)
{
	struct rpcrdma_conn *c;
	char name[257] = "";

	both.options.hostauth_policy =
	        RPCRDMA_HOSTAUTH_REQUIRE; /* without credentials */
	assert_int_equal(rpcrdma_connect(both.engine, "127.0.0.1", "9", &both.options,
	                                 NULL, NULL, &c),
	                 -EINVAL);
	creds[0] = load("client", NULL);
	both.options.hostauth = creds[0];
	both.options.version = 1;
	assert_int_equal(rpcrdma_connect(both.engine, "127.0.0.1", "9", &both.options,
	                                 NULL, NULL, &c),
	                 -EPROTONOSUPPORT);
	both.options.version = 0;
	both.options.hostauth_name = "";
	both.options.hostauth_policy = (enum rpcrdma_hostauth_policy)3;
	assert_int_equal(rpcrdma_connect(both.engine, "127.0.0.1", "9", &both.options,
	                                 NULL, NULL, &c),
	                 -EINVAL);
	both.options.hostauth_policy = RPCRDMA_HOSTAUTH_REQUIRE;
	both.options.hostauth_name = memset(name, 'x', 256);
	assert_int_equal(rpcrdma_connect(both.engine, "127.0.0.1", "9", &both.options,
	                                 NULL, NULL, &c),
	                 -EINVAL);
	both_listen("127.0.0.1:0");
}

/* It could prove itself to nobody. */
static void a_server_without_credentials_does_not_listen(void **state)
{
	struct rpcrdma_listener *none;

	creds[0] = load(NULL, NULL);
	for (int policy = PREFER; policy <= REQUIRE; policy++) {
		both.listen_options.hostauth_policy =
		        (enum rpcrdma_hostauth_policy)policy;
		both.listen_options.hostauth = creds[0];
		assert_int_equal(rpcrdma_listen(both.engine, "127.0.0.1:0",
		                                &both.listen_options, both.service, 8,
		                                &none),
		                 -EINVAL);
	}
	both.listen_options.hostauth_policy = RPCRDMA_HOSTAUTH_OFF;
	both_listen("127.0.0.1:0");
}

/* Whom it would believe was not said. */
static void a_server_without_authorities_does_not_listen(void **state)
{
	struct rpcrdma_hostauth_options o =
	        RPCRDMA_OPTIONS(struct rpcrdma_hostauth_options);
	struct rpcrdma_listener *none;

	o.cert_file = certs_path(&certs, "server.pem");
	o.key_file = certs_path(&certs, "server.key");
	assert_int_equal(rpcrdma_hostauth_new(&o, &creds[1], NULL, 0), 0);
	for (int policy = PREFER; policy <= REQUIRE; policy++) {
		both.listen_options.hostauth_policy =
		        (enum rpcrdma_hostauth_policy)policy;
		both.listen_options.hostauth = creds[1];
		assert_int_equal(rpcrdma_listen(both.engine, "127.0.0.1:0",
		                                &both.listen_options, both.service, 8,
		                                &none),
		                 -ENOKEY);
	}
	both.listen_options.hostauth_policy = RPCRDMA_HOSTAUTH_OFF;
	both_listen("127.0.0.1:0");
}

/* -- somebody between ------------------------------------------------------------- */

enum { NOBODY = 2, MUTE };

struct relay {
	int listener, client, server;
	unsigned flip_from; /* 0: from the client, 1: from the server, NOBODY, MUTE */
	bool mute;          /* the server's words of authentication go nowhere */
	atomic_bool muted, flipped, stop;
	uint8_t heard[65536]; /* what the client said */
	size_t n_heard;
	char port[16];
	pthread_t thread;
};

static int dial(const char *port)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
	                         .sin_port = htons((uint16_t)atoi(port))};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)))
		abort();
	return fd;
}

/* The value of property 4 (max segments: 16) of the first set that has it. */
static void flip_property(struct relay *r, uint8_t *p, size_t n)
{
	static const uint8_t want[12] = {0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 16};

	for (size_t i = 0; i + sizeof(want) <= n && !r->flipped; i++) {
		if (memcmp(p + i, want, sizeof(want)) == 0) {
			p[i + 11] ^= 1;
			r->flipped = true;
		}
	}
}

/* One property, and it is the sixth. */
static bool is_word(const uint8_t *p, size_t n)
{
	static const uint8_t want[8] = {0, 0, 0, 1, 0, 0, 0, 6};

	for (size_t i = 0; i + sizeof(want) <= n; i++)
		if (memcmp(p + i, want, sizeof(want)) == 0)
			return true;
	return false;
}

static bool pass(struct relay *r, unsigned from)
{
	int in = from ? r->server : r->client, out = from ? r->client : r->server;
	static uint8_t buf[65536];
	ssize_t n = recv(in, buf, sizeof(buf), 0);

	if (n <= 0)
		return false;
	if (!from && r->n_heard + (size_t)n <= sizeof(r->heard)) {
		memcpy(r->heard + r->n_heard, buf, (size_t)n);
		r->n_heard += (size_t)n;
	}
	if (r->mute && from && is_word(buf, (size_t)n))
		r->muted = true;
	if (r->muted && from)
		return true;
	if (from == r->flip_from)
		flip_property(r, buf, (size_t)n);
	return send(out, buf, (size_t)n, MSG_NOSIGNAL) == n;
}

/* One connection, as long as it lasts; further ones are left alone. */
static void *relay_thread(void *arg)
{
	struct relay *r = arg;
	bool open = true;

	r->client = accept(r->listener, NULL, NULL);
	r->server = dial(both.port);
	while (open && !r->stop) {
		struct pollfd p[2] = {{.fd = r->client, .events = POLLIN},
		                      {.fd = r->server, .events = POLLIN}};

		(void)poll(p, 2, 50);
		for (unsigned i = 0; i < 2 && open; i++)
			open = !p[i].revents || pass(r, i);
	}
	close(r->client);
	close(r->server);
	close(r->listener);
	return NULL;
}

static void relay_start(struct relay *r, unsigned flip_from)
{
	struct sockaddr_in sa = {.sin_family = AF_INET};
	socklen_t len = sizeof(sa);

	memset(r, 0, sizeof(*r));
	r->flip_from = flip_from;
	r->mute = flip_from == MUTE;
	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	r->listener = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(r->listener, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(r->listener, 1), 0);
	assert_int_equal(getsockname(r->listener, (struct sockaddr *)&sa, &len), 0);
	snprintf(r->port, sizeof(r->port), "%u", ntohs(sa.sin_port));
	assert_int_equal(pthread_create(&r->thread, NULL, relay_thread, r), 0);
}

static void relay_end(struct relay *r)
{
	r->stop = true;
	pthread_join(r->thread, NULL);
}

static struct relay relay;

/* Without CRC, so that the flip is an attack and not a damaged segment. */
static void between(int policy, unsigned flip_from)
{
	creds[0] = load("client", NULL);
	creds[1] = load("server", NULL);
	both.options.provider = both.listen_options.provider = "iwarp:crc=0";
	open_both(policy, policy);
	relay_start(&relay, flip_from);
	connect_to(relay.port);
}

static void a_flipped_bit(unsigned from)
{
	struct rpcrdma_conn_info info;

	between(REQUIRE, from);
	assert_int_equal(ask(), -EACCES);
	assert_true(relay.flipped);
	assert_int_equal(both.server.executed, 0);
	rpcrdma_conn_get_info(both.conn, &info, sizeof(info));
	assert_non_null(strstr(info.reason, "transport propert"));
	relay_end(&relay);
}

static void a_flipped_bit_of_the_clients_property(void **state)
{
	a_flipped_bit(0);
}

static void a_flipped_bit_of_the_servers_property(void **state)
{
	a_flipped_bit(1);
}

/* Somebody between lets the server's words vanish: it ends in time, and unspoken. */
static void a_dialogue_that_stands_still_ends(void **state)
{
	uint64_t began = now_ns();

	both.options.handshake_ns = 500ull * MS;
	both.options.no_reconnect = true;
	between(REQUIRE, MUTE);
	assert_int_equal(ask(), -ETIMEDOUT);
	assert_true(now_ns() - began >= 500ull * MS);
	assert_true(over);
	assert_int_equal(both.server.executed, 0);
	rpcrdma_conn_close(both.conn);
	both.conn = NULL;
	both_spin_for(50);
	relay_end(&relay);
	assert_true(relay.muted);
}

/* So that the two tests before cannot fail for the relay's sake. */
static void a_flipped_bit_passes_without_authentication(void **state)
{
	between(OFF, 1);
	assert_int_equal(ask(), 0);
	assert_true(relay.flipped);
	rpcrdma_conn_close(both.conn);
	both.conn = NULL;
	both_spin_for(50);
	relay_end(&relay);
}

static void a_replayed_conversation_executes_nothing(void **state)
{
	uint8_t buf[4096];
	uint64_t end;
	ssize_t n = 1;
	int fd;

	between(REQUIRE, NOBODY);
	assert_int_equal(ask(), 0);
	assert_int_equal(both.server.executed, 1);
	rpcrdma_conn_close(both.conn);
	both.conn = NULL;
	both_spin_for(50);
	relay_end(&relay);
	assert_true(relay.n_heard > 500);

	fd = dial(both.port);
	assert_int_equal(send(fd, relay.heard, relay.n_heard, MSG_NOSIGNAL),
	                 (ssize_t)relay.n_heard);
	end = now_ns() + 8000ull * MS;
	while (n != 0 && now_ns() < end) {
		both_spin_for(10);
		n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (n < 0 && errno == ECONNRESET)
			n = 0;
	}
	assert_int_equal(n, 0); /* closed */
	close(fd);
	assert_int_equal(both.server.executed, 1);
}

#undef TEST
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(both_know_each_other),
	        TEST(again_after_a_loss),
	        TEST(policy_0),
	        TEST(policy_1),
	        TEST(policy_2),
	        TEST(policy_3),
	        TEST(policy_4),
	        TEST(policy_5),
	        TEST(policy_6),
	        TEST(policy_7),
	        TEST(a_client_of_another_authority),
	        TEST(a_server_of_another_authority),
	        TEST(an_expired_client),
	        TEST(an_expired_server),
	        TEST(a_client_without_certificate),
	        TEST(a_server_of_another_name),
	        TEST(a_server_that_the_host_does_not_name),
	        TEST(another_shared_key),
	        TEST(options_that_cannot_be),
	        TEST(the_commands_options_are_heard),
	        TEST(a_server_is_known_when_it_calls),
	        TEST(a_server_of_version_1_proves_nothing),
	        TEST(a_server_without_credentials_does_not_listen),
	        TEST(a_server_without_authorities_does_not_listen),
	        TEST(a_dialogue_that_stands_still_ends),
	        TEST(a_flipped_bit_of_the_clients_property),
	        TEST(a_flipped_bit_of_the_servers_property),
	        TEST(a_flipped_bit_passes_without_authentication),
	        TEST(a_replayed_conversation_executes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
