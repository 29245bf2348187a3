/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Identifies a context's client: the client's principal, the server's principal that
 * the client addressed, and the user on this system (auth_to_local in krb5.conf, then
 * passwd and group).  A principal without a user on this system is mapped to nobody.
 *                                                                [RFC 2623 §2.3]
 *
 * Also acquires the credential with which contexts are accepted.  The credential is for
 * Kerberos V5 only.  Kerberos needs one token in each direction, so no incomplete
 * context is ever kept.
 */
#include <errno.h>
#include <grp.h>
#include <gssapi/gssapi_ext.h>
#include <gssapi/gssapi_krb5.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gss/context.h"

enum { MAX_PASSWD_BYTES = 1 << 20, FIRST_GROUPS = 64 };
_Static_assert(sizeof(gid_t) == sizeof(uint32_t), "groups are passed on unchanged");
#define RETRY_NS RR_SEC(5)

static char *display_name(gss_name_t name)
{
	gss_buffer_desc b = GSS_C_EMPTY_BUFFER;
	OM_uint32 minor;
	char *s = NULL;

	if (gss_display_name(&minor, name, &b, NULL) == GSS_S_COMPLETE)
		s = strndup(b.value, b.length);
	(void)gss_release_buffer(&minor, &b);
	return s;
}

static char *get_target(gss_ctx_id_t id)
{
	gss_name_t name = GSS_C_NO_NAME;
	OM_uint32 minor;
	char *s = NULL;

	if (gss_inquire_context(&minor, id, NULL, &name, NULL, NULL, NULL, NULL,
	                        NULL) == GSS_S_COMPLETE)
		s = display_name(name);
	(void)gss_release_name(&minor, &name);
	return s;
}

/* Loads the user's groups.  Omits groups beyond RR_GSS_MAX_GROUPS, which is the
 * kernel's limit.  If there is no memory, the list is empty; a missing group can only
 * deny access. */
static void load_groups(struct rr_gss_identity *w, const struct passwd *pw)
{
	int most = FIRST_GROUPS, n = most;
	gid_t *groups = malloc((size_t)most * sizeof(*groups));

	while (groups && getgrouplist(pw->pw_name, pw->pw_gid, groups, &n) < 0) {
		if (most == RR_GSS_MAX_GROUPS) {
			n = most;
			break;
		}
		/* glibc has set @n to the required number of groups. */
		most = n > most ? RR_MIN(n, (int)RR_GSS_MAX_GROUPS) : RR_GSS_MAX_GROUPS;
		n = most;
		free(groups);
		groups = malloc((size_t)most * sizeof(*groups));
	}
	w->groups = groups;
	w->n_groups = groups ? (unsigned)n : 0;
}

static void map_user(struct rr_gss_identity *w)
{
	struct passwd pwd, *pw = NULL;
	size_t size = 1024;
	OM_uint32 minor;
	char *buf = NULL;
	uid_t uid;
	int err;

	w->uid = w->gid = RR_GSS_NOBODY;
	if (gss_pname_to_uid(&minor, w->name, w->mech, &uid) != GSS_S_COMPLETE)
		return;
	do {
		free(buf);
		size *= 2;
		buf = malloc(size);
		err = buf ? getpwuid_r(uid, &pwd, buf, size, &pw) : ENOMEM;
	} while (err == ERANGE && size < MAX_PASSWD_BYTES);
	if (!err && pw) {
		w->mapped = true;
		w->uid = pw->pw_uid;
		w->gid = pw->pw_gid;
		load_groups(w, pw);
	}
	free(buf);
}

int rr_gss_identity_init(struct rr_gss_identity *w, gss_name_t name, gss_OID mech,
                         gss_ctx_id_t id)
{
	w->name = name;
	w->mech = mech;
	w->principal = display_name(name);
	w->target = get_target(id);
	if (!w->principal || !w->target)
		return -ENOMEM;
	map_user(w);
	return 0;
}

void rr_gss_identity_fini(struct rr_gss_identity *w)
{
	OM_uint32 minor;

	(void)gss_release_name(&minor, &w->name);
	free(w->principal);
	free(w->target);
	free(w->groups);
}

/* -- the acceptor's credential --------------------------------------------- */

static OM_uint32 acquire_cred(struct rr_gss *g, OM_uint32 *minor)
{
	gss_OID_set_desc krb5 = {1, gss_mech_krb5};
	gss_buffer_desc b = {.value = g->principal};
	gss_name_t name = GSS_C_NO_NAME;
	OM_uint32 major = GSS_S_COMPLETE, ignored;

	if (g->principal) {
		b.length = strlen(g->principal);
		major = gss_import_name(minor, &b, GSS_C_NT_HOSTBASED_SERVICE, &name);
	}
	if (major == GSS_S_COMPLETE)
		major = gss_acquire_cred(minor, name, GSS_C_INDEFINITE, &krb5,
		                         GSS_C_ACCEPT, &g->cred, NULL, NULL);
	(void)gss_release_name(&ignored, &name);
	return major;
}

bool rr_gss_cred(struct rr_gss *g, rr_time now, gss_cred_id_t *ret,
                 OM_uint32 *ret_major, OM_uint32 *ret_minor)
{
	pthread_mutex_lock(&g->cred_lock);
	if (g->cred == GSS_C_NO_CREDENTIAL && now >= g->cred_again) {
		g->cred_minor = 0;
		g->cred_major = acquire_cred(g, &g->cred_minor);
		g->cred_again = now == RR_TIME_NEVER ? 0 : now + RETRY_NS;
	}
	*ret = g->cred;
	*ret_major = g->cred_major;
	*ret_minor = g->cred_minor;
	pthread_mutex_unlock(&g->cred_lock);
	return *ret_major == GSS_S_COMPLETE;
}

static void print_status(OM_uint32 code, int type, char *to, size_t size)
{
	gss_buffer_desc b = GSS_C_EMPTY_BUFFER;
	OM_uint32 minor, more = 0;

	if (gss_display_status(&minor, code, type, gss_mech_krb5, &more, &b) ==
	    GSS_S_COMPLETE)
		snprintf(to, size, "%.*s", (int)b.length, (const char *)b.value);
	(void)gss_release_buffer(&minor, &b);
}

int rr_gss_check(struct rr_gss *g, char *ret_reason, size_t size)
{
	OM_uint32 major, minor;
	gss_cred_id_t cred;

	if (rr_gss_cred(g, RR_TIME_NEVER, &cred, &major, &minor))
		return 0;
	if (size)
		*ret_reason = '\0';
	/* The mechanism's text is preferred, since only this text contains the keytab's
	 * name. */
	print_status(minor ? minor : major, minor ? GSS_C_MECH_CODE : GSS_C_GSS_CODE,
	             ret_reason, size);
	return -ENOKEY;
}
