/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which provider an address gets is found out with no device opened: a siw that was
 * looked at can be removed.  The kernel (played/kernel.h) and rdma-core are played.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "link/choose.h"
#include "played/kernel.h"
#include "prov/iwarp/iwarp.h"
#include "prov/verbs/dl.h"
#include "prov/verbs/serves.h"
#include "prov/verbs/verbs.h"

static struct played_kernel *const k = &played_kernel;
static struct {
	const char *listed; /* by libibverbs */
	unsigned listings, loads;
} core;

/* -- rdma-core -------------------------------------------------------------- */

static struct ibv_device device;
static struct ibv_device *list[2];

static struct ibv_device **get_list(int *n)
{
	core.listings++;
	list[0] = core.listed ? &device : NULL;
	snprintf(device.dev_name, sizeof(device.dev_name), "%s",
	         core.listed ? core.listed : "");
	if (n)
		*n = list[0] != NULL;
	return list;
}

static void free_list(struct ibv_device **l)
{
	core.listings--;
}

/* All else is NULL: to open something would end the test. */
const struct rr_rdma_lib *__wrap_rr_rdma_lib(void);
const struct rr_rdma_lib *__wrap_rr_rdma_lib(void)
{
	static const struct rr_rdma_lib lib = {.ibv_get_device_list = get_list,
	                                       .ibv_free_device_list = free_list};

	core.loads++;
	return &lib;
}

/* -- tests ------------------------------------------------------------------ */

static int setup(void **state)
{
	*k = (struct played_kernel){.manager_fd = -1, .netlink_far = -1};
	memset(&core, 0, sizeof(core));
	k->driver = RDMA_DRIVER_RXE;
	k->serves = k->manager = true;
	core.listed = "uverbs3";
	return 0;
}

static unsigned count_open(void)
{
	DIR *d = __real_opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static struct sockaddr_in at(const char *ip)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(20049)};

	assert_int_equal(1, inet_pton(AF_INET, ip, &in.sin_addr));
	return in;
}

/* What `auto` takes to listen at a device's address; leaves nothing open. */
static const struct rr_prov_ops *chosen(void)
{
	struct sockaddr_in in = at("192.0.2.1");
	const struct rr_prov_ops *ops[RR_CHOICES];
	unsigned before = count_open();

	assert_int_equal(1, rr_choose_listen((struct sockaddr *)&in, sizeof(in), ops));
	assert_int_equal(before, count_open());
	assert_int_equal(0, k->opened);
	assert_int_equal(0, core.listings);
	return ops[0];
}

static void siw_is_left_to_software_and_stays_closed(void **state)
{
	k->driver = RDMA_DRIVER_SIW;
	assert_ptr_equal(&rr_iwarp_ops, chosen());
	assert_int_equal(1, k->binds);
	assert_int_equal(0, core.loads); /* of rdma-core */
}

static void other_devices_are_preferred_and_stay_closed(void **state)
{
	assert_ptr_equal(&rr_verbs_ops, chosen());
	assert_int_equal(htonl(0xc0000201), k->bound.sin_addr.s_addr);
	assert_int_equal(0, k->bound.sin_port);
}

static void loopback_is_asked_about_by_nobody(void **state)
{
	struct sockaddr_in in = at("127.0.0.1");
	unsigned before = count_open();

	assert_ptr_equal(&rr_iwarp_ops,
	                 rr_choose_connect((struct sockaddr *)&in, sizeof(in)));
	assert_int_equal(0, k->binds);
	assert_int_equal(before, count_open());
}

static void address_of_no_device_is_software(void **state)
{
	k->serves = false;
	assert_ptr_equal(&rr_iwarp_ops, chosen());
	k->serves = true;
	k->bind_errno = EADDRNOTAVAIL;
	assert_ptr_equal(&rr_iwarp_ops, chosen());
}

static void device_that_cannot_be_used_is_software(void **state)
{
	k->forbidden = true;
	assert_ptr_equal(&rr_iwarp_ops, chosen());
	k->forbidden = false;
	core.listed = "uverbs4"; /* libibverbs has no driver for 3 */
	assert_ptr_equal(&rr_iwarp_ops, chosen());
	core.listed = NULL;
	assert_ptr_equal(&rr_iwarp_ops, chosen());
}

/* One that has no siw yet. */
static void old_kernel_is_believed(void **state)
{
	k->old_kernel = true;
	assert_ptr_equal(&rr_verbs_ops, chosen());
	core.listed = NULL;
	assert_ptr_equal(&rr_iwarp_ops, chosen());
}

static void manager_is_loaded_first(void **state)
{
	k->manager = false;
	assert_ptr_equal(&rr_verbs_ops, chosen());
	assert_true(k->manager);
	k->manager = false;
	k->old_kernel = true; /* does not load it */
	assert_ptr_equal(&rr_iwarp_ops, chosen());
}

#define T(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        T(siw_is_left_to_software_and_stays_closed),
	        T(other_devices_are_preferred_and_stay_closed),
	        T(loopback_is_asked_about_by_nobody),
	        T(address_of_no_device_is_software),
	        T(device_that_cannot_be_used_is_software),
	        T(old_kernel_is_believed),
	        T(manager_is_loaded_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
