/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of optional features that a user chooses, as text.              [ext §2.1]
 *
 * The list is "all", "none", or items separated by commas.  An item is
 *   NAME           switches a feature on: "rprc", "reminv", "rtr", "htfam", "all",
 *                  or "default" for those that an end offers if the user
 *                  does not choose: rprc, reminv and rtr [O12]
 *   reminv=POLICY  switches the feature on, and sets how a Requester chooses the handle
 *                  that a Reply may invalidate
 *   KEY=NUMBER     sets a limit of a feature that is on; the table is in
 *                  feature_options.c
 * A number is decimal, without sign or space, within the range of its key.  If a key is
 * repeated, the last value is used.
 */
#ifndef RR_LINK_FEATURE_OPTIONS_H
#define RR_LINK_FEATURE_OPTIONS_H

#include "base/reason.h"
#include "conn/feature_config.h"

struct rr_feature_options {
	struct rr_feature_config config;
	uint64_t rprc_total_bytes; /* maximum number of octets that all connections of
	                            * the process expose when this connection exposes
	                            * another reply; default 1 GiB */
};

/* Parses @text; NULL = "default".  Fills in the defaults of all limits.
 * Returns 0, or -EINVAL with a message in @reason. */
int rr_feature_options_parse(const char *text, struct rr_feature_options *ret,
                             struct rr_reason reason) RR_MUST_CHECK;

#endif
