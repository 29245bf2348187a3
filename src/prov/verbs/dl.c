/* SPDX-License-Identifier: BSD-3-Clause */
#include "prov/verbs/dl.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* Written only once, by load_libraries(). */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct rr_rdma_lib table;
static bool loaded;
static char reason[256];

struct lib_symbol {
	const char *name;
	size_t at; /* offset of its field in the table */
};

#define X(f) {#f, offsetof(struct rr_rdma_lib, f)},
static const struct lib_symbol verbs_names[] = {RR_RDMA_VERBS(X)};
static const struct lib_symbol cm_names[] = {RR_RDMA_CM(X)};
#undef X

static bool load_functions(const char *file, const struct lib_symbol *names, size_t n)
{
	/* The library is never unloaded, because drivers and threads use its code. */
	void *lib = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

	if (!lib) {
		snprintf(reason, sizeof(reason),
		         "no %s here: install rdma-core (libibverbs1, librdmacm1, "
		         "ibverbs-providers)",
		         file);
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		void *f = dlsym(lib, names[i].name);

		if (!f) {
			snprintf(reason, sizeof(reason),
			         "%s has no %s: install a newer rdma-core", file,
			         names[i].name);
			return false;
		}
		memcpy((char *)&table + names[i].at, &f, sizeof(f));
	}
	return true;
}

static void load_libraries(void)
{
	loaded = load_functions("libibverbs.so.1", verbs_names,
	                        RR_ARRAY_SIZE(verbs_names)) &&
	         load_functions("librdmacm.so.1", cm_names, RR_ARRAY_SIZE(cm_names));
}

const struct rr_rdma_lib *rr_rdma_lib(void)
{
	(void)pthread_once(&once, load_libraries); /* fails only for a bad argument */
	return loaded ? &table : NULL;
}

int rr_rdma_channel(const struct rr_rdma_lib *lib, struct rdma_event_channel **ret)
{
	int fd = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);
	struct rdma_event_channel *ch;

	if (fd >= 0)
		close(fd);
	else if (errno == EACCES || errno == EPERM)
		return -errno;
	ch = lib->rdma_create_event_channel(); /* loads the kernel module if needed */
	if (!ch)
		return errno > 0 ? -errno : -EIO;
	*ret = ch;
	return 0;
}

const char *rr_rdma_reason(void)
{
	(void)rr_rdma_lib();
	return reason;
}
