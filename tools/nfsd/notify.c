/* SPDX-License-Identifier: BSD-3-Clause */
/* Contract in notify.h. */
#include "notify.h"
#include "tool.h"
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

enum { SEND_SECONDS = 5 }; /* send timeout, for a manager that does not read */

static struct {
	int fd; /* -1 = there is no manager */
	struct sockaddr_un to;
	socklen_t to_len;
} manager = {.fd = -1};

/* Stores the address @name: a path, or '@' followed by a name in the abstract
 * namespace.  Returns 0 or a negative errno. */
static int take_notify_address(const char *name)
{
	size_t len = strlen(name);

	if ((*name != '/' && *name != '@') || len < 2)
		return -EAFNOSUPPORT;
	if (len >= sizeof(manager.to.sun_path))
		return -ENAMETOOLONG;
	manager.to.sun_family = AF_UNIX;
	memcpy(manager.to.sun_path, name, len);
	manager.to_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
	if (*name == '@')
		manager.to.sun_path[0] =
		        0; /* without a final NUL, which would be part of the name */
	else
		manager.to_len++;
	return 0;
}

static int open_notify_socket(void)
{
	const struct timeval patience = {.tv_sec = SEND_SECONDS};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	manager.fd = fd;
	return 0;
}

void notify_init(void)
{
	const char *name = getenv("NOTIFY_SOCKET");
	int e;

	if (!name || !*name)
		return;
	e = take_notify_address(name);
	if (!e)
		e = open_notify_socket();
	if (e)
		tool_log(TOOL_WARNING,
		         "cannot notify the service manager at NOTIFY_SOCKET=%s: %s",
		         tool_quote(name), strerror(-e));
	unsetenv("NOTIFY_SOCKET");
}

static void send_notice(const char *text)
{
	if (manager.fd >= 0 &&
	    sendto(manager.fd, text, strlen(text), MSG_NOSIGNAL,
	           (const struct sockaddr *)&manager.to, manager.to_len) < 0)
		tool_log(TOOL_WARNING, "cannot notify the service manager: %s",
		         strerror(errno));
}

static void send_status(const char *what, const char *status)
{
	char text[512];

	snprintf(text, sizeof(text), "%s\nSTATUS=%s\n", what, status);
	send_notice(text);
}

void notify_ready(const char *status)
{
	send_status("READY=1", status);
}

void notify_reloading(void)
{
	char text[96];

	snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64 "\n",
	         tool_now_ns() / 1000);
	send_notice(text);
}

void notify_stopping(const char *status)
{
	send_status("STOPPING=1", status);
}
