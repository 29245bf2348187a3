/* SPDX-License-Identifier: BSD-3-Clause */
/* The version of the library at run time. */
#include <rpcrdma/rpcrdma.h>

const char *rpcrdma_library_version(void)
{
	return RPCRDMA_LIBRARY_VERSION;
}

unsigned rpcrdma_library_version_number(void)
{
	return RPCRDMA_LIBRARY_VERSION_NUMBER;
}
